//! The chart of the parser: for every span of words, all items (meanings) of the span.

use super::item::{Context, Item};
use super::lexical::{Phrases, lexical};
use super::rules::combine;
use crate::lex::Token;

/// Maximum number of items (meanings) of one span. A request that exceeds it is refused, as a dropped item could be the
/// second reading of an ambiguous request.
const MAX_ITEMS: usize = 96;

/// The table of the parser: all items (meanings) found for every span of words.
pub(super) struct Chart {
    width: usize,
    /// The tokens that the spans are made of.
    pub(super) tokens: Vec<Token>,
    cells: Vec<Vec<Item>>,
    /// Whether the forms of acts are tried too.
    pub(super) has_forms: bool,
    /// Token positions where a step may end.
    ends: Vec<usize>,
    /// Whether some span exceeded [`MAX_ITEMS`].
    pub(super) overflown: bool,
}

impl Chart {
    /// Parses tokens into a chart, shortest spans first; `ends` are the positions where a step can end.
    pub(super) fn fill(context: &Context<'_>, tokens: &[Token], phrases: Phrases, ends: &[usize]) -> Self {
        let width = tokens.len();
        let cells = vec![Vec::new(); (width + 1) * (width + 1)];
        let mut chart =
            Self { width, tokens: tokens.to_vec(), has_forms: true, cells, ends: ends.to_vec(), overflown: false };
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

    /// Adds to the span `start..end` what its parts, split at `middle`, mean together.
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

    /// Adds a meaning to the span `start..end`, unless the span has it; notes an overflow if the span is full.
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

    /// The meanings found for the span `start..end`.
    pub(super) fn items(&self, start: usize, end: usize) -> &[Item] {
        self.cells.get(start * (self.width + 1) + end).map_or(&[], Vec::as_slice)
    }
}
