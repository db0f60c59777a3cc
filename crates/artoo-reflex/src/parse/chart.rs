//! A chart over all stretches of the request: every item each stretch can be, built from its parts.

use super::item::{Context, Item};
use super::lexical::{Phrases, lexical};
use super::rules::combine;
use crate::lex::Token;

/// Readings kept for one stretch; everyday requests need fewer than twenty, and a stretch with more is refused, since
/// a dropped reading could be the second one that makes the request ambiguous.
const MAX_ITEMS: usize = 96;

/// Every item of every stretch.
pub(super) struct Chart {
    width: usize,
    cells: Vec<Vec<Item>>,
    /// Where a step may end.
    ends: Vec<usize>,
    /// Whether some stretch had more readings than are kept.
    pub(super) overflown: bool,
}

impl Chart {
    /// Fills the chart, short stretches first.
    pub(super) fn fill(context: &Context<'_>, tokens: &[Token], phrases: Phrases, ends: &[usize]) -> Self {
        let width = tokens.len();
        let cells = vec![Vec::new(); (width + 1) * (width + 1)];
        let mut chart = Self { width, cells, ends: ends.to_vec(), overflown: false };
        for found in lexical(context, tokens, phrases) {
            chart.add(found.start, found.end, found.item);
        }
        for length in 2..=width {
            for start in 0..=width - length {
                let end = start + length;
                for middle in start + 1..end {
                    chart.join(context, start, middle, end);
                }
            }
        }
        chart
    }

    fn join(&mut self, context: &Context<'_>, start: usize, middle: usize, end: usize) {
        let mut built = Vec::new();
        for left in self.items(start, middle) {
            for right in self.items(middle, end) {
                built.extend(combine(context, left, right, self.ends.contains(&end)));
            }
        }
        for item in built {
            self.add(start, end, item);
        }
    }

    fn add(&mut self, start: usize, end: usize, item: Item) {
        let at = start * (self.width + 1) + end;
        let Some(cell) = self.cells.get_mut(at) else { return };
        if cell.contains(&item) {
            return;
        }
        if cell.len() >= MAX_ITEMS {
            self.overflown = true;
            return;
        }
        cell.push(item);
    }

    /// What the stretch `start..end` can be.
    pub(super) fn items(&self, start: usize, end: usize) -> &[Item] {
        self.cells.get(start * (self.width + 1) + end).map_or(&[], Vec::as_slice)
    }
}
