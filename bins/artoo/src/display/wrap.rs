//! Wraps lines to the terminal's width; continuations are indented, so that they can't imitate artoo's own lines.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use super::{QUOTE, QUOTE_GOES_ON};

/// Minimum terminal width for wrapping, in columns; narrower terminals get unwrapped lines.
const COLUMNS_MIN: usize = 20;

/// Number of columns that a tab counts as when the width of a text is measured.
const TAB_COLUMNS: usize = 8;

/// Number of columns reserved for the note in a line shortened by [`shorten`] that says how many characters are left
/// out.
const GAP_COLUMNS: usize = 18;

/// Wraps a text to rows of at most `columns` columns: quoted text may break anywhere, other text breaks at spaces.
/// Below [`COLUMNS_MIN`] columns lines are not wrapped.
pub(crate) fn rows(text: &str, columns: usize) -> Vec<String> {
    text.split('\n').flat_map(|line| rows_of(line, columns)).collect()
}

/// Wraps one line of text to rows of at most `columns` columns.
fn rows_of(line: &str, columns: usize) -> Vec<String> {
    if columns < COLUMNS_MIN || width(line) <= columns {
        return vec![line.to_owned()];
    }
    if let Some(quoted) = line.strip_prefix(QUOTE) {
        return fill(quoted.graphemes(true), QUOTE, QUOTE_GOES_ON, columns);
    }
    let start = line.trim_start();
    let margin = line.len() - start.len();
    let first = " ".repeat(margin);
    let next = " ".repeat((margin + 2).min(columns / 2));
    // A word longer than a row may be cut anywhere; other words are not cut.
    let room = columns - width(&next);
    let pieces = words(start).flat_map(|word| {
        let is_long = width(word) > room;
        let parts: Vec<&str> = if is_long { word.graphemes(true).collect() } else { vec![word] };
        parts
    });
    fill(pieces, &first, &next, columns)
}

/// Joins pieces into rows of at most `columns` columns; the first row begins with `first`, each further row with
/// `next`.
fn fill<'a>(pieces: impl Iterator<Item = &'a str>, first: &str, next: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = first.to_owned();
    let mut used = width(first);
    let mut is_begun = false;
    for piece in pieces {
        let is_too_much = used + width(piece) > columns;
        if is_too_much && is_begun {
            let is_prose = next.trim().is_empty();
            rows.push(if is_prose { row.trim_end().to_owned() } else { row });
            row = next.to_owned();
            used = width(next);
            is_begun = false;
            if is_prose && piece.trim().is_empty() {
                continue;
            }
        }
        row.push_str(piece);
        used += width(piece);
        is_begun = true;
    }
    if is_begun || rows.is_empty() {
        rows.push(row);
    }
    rows
}

/// Shortens a line to at most `columns` columns, or 18 if those are fewer, with a note of how many characters are left
/// out. 1/`end` of the shown part is the line's end; with 0 none is.
pub(crate) fn shorten(line: &str, columns: usize, end: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let room = columns.saturating_sub(GAP_COLUMNS);
    let at_end = room.checked_div(end).unwrap_or(0);
    let head = bytes_within(room - at_end, line.graphemes(true));
    let tail = line.len() - bytes_within(at_end, line.graphemes(true).rev());
    let part = |bytes| line.get(bytes).unwrap_or_default();
    format!("{} […{} more…]{}", part(0..head), part(head..tail).chars().count(), part(tail..line.len()))
}

/// Length in bytes of as many pieces from the first on as fit into this many columns.
fn bytes_within<'a>(columns: usize, pieces: impl Iterator<Item = &'a str>) -> usize {
    let fitting = pieces.scan(0, |used, piece| {
        *used += width(piece);
        (*used <= columns).then_some(piece.len())
    });
    fitting.sum()
}

/// Width of a text on a terminal, in columns. Joined emoji count as their parts, as simple terminals show them.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| if c == '\t' { TAB_COLUMNS } else { c.width().unwrap_or(0) }).sum()
}

/// Splits a text into words and the runs of spaces between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_space = rest.starts_with(' ');
        let end = rest.find(|c: char| (c == ' ') != is_space).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
