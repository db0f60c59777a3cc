//! A unified diff of a changed text file, bounded in time and length.

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use super::set::{Entry, Kind};
use crate::openat::Place;
use crate::undo::State;

/// Maximum size, in bytes, of a text that is compared line by line.
const TEXT_MAX_BYTES: u64 = 1024 * 1024;

/// Maximum number of compared pairs of lines; beyond it the whole changed part is shown as removed and added.
const PAIRS_MAX: usize = 4_000_000;

/// Number of unchanged lines shown before and after a change in a diff.
const CONTEXT: usize = 3;

/// One line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Kept(&'a str),
    RemovedContents(&'a str),
    New(&'a str),
}

impl Entry {
    /// The unified diff of a created, changed or deleted file, cut after `lines_max` lines (headers apart); `None` if
    /// one side is not a text file of at most 1 MiB, or only mode or times change.
    pub(crate) fn diff(&self, lines_max: usize) -> Option<String> {
        let is_text = |state: &State| matches!(state, State::File(_) | State::Absent);
        if !is_text(&self.before) || !is_text(&self.after) || matches!(self.kind, Kind::Mode | Kind::Times) {
            return None;
        }
        let read = |state: &State, path: &Path| if *state == State::Absent { Some(String::new()) } else { text(path) };
        let (before, after) = (read(&self.before, &self.path)?, read(&self.after, &self.source)?);
        Some(unified(&before, &after, lines_max))
    }
}

/// The unified diff between the file at `path` and the text that is to replace it, cut after `lines_max` lines; `None`
/// if the file is missing, larger than 1 MiB or not text.
pub(crate) fn with_text(path: &Path, after: &str, lines_max: usize) -> Option<String> {
    Some(unified(&text(path)?, after, lines_max))
}

/// The content of a text file that is small enough to be compared; `None` for any other file.
fn text(path: &Path) -> Option<String> {
    let file = Place::of(path).ok()?.open_file().ok()?;
    if file.metadata().ok()?.len() > TEXT_MAX_BYTES {
        return None;
    }
    let mut text = String::new();
    file.take(TEXT_MAX_BYTES).read_to_string(&mut text).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// The unified diff of two texts, cut after `lines_max` lines.
fn unified(before: &str, after: &str, lines_max: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let lines = compare(&old, &new);
    let is_near = |at: usize| {
        let near = lines.get(at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(lines.len())).unwrap_or_default();
        near.iter().any(|line| !matches!(line, Line::Kept(_)))
    };
    let (mut out, mut shown, mut old_at, mut new_at, mut is_open) = (String::new(), 0, 0, 0, false);
    for (at, line) in lines.iter().enumerate() {
        if is_near(at) {
            if shown == lines_max {
                let _ = writeln!(out, "… {} more lines", lines.len() - at);
                break;
            }
            if !is_open {
                let _ = writeln!(out, "@@ -{} +{} @@", old_at + 1, new_at + 1);
            }
            let (sign, text) = match line {
                Line::Kept(text) => (' ', text),
                Line::RemovedContents(text) => ('-', text),
                Line::New(text) => ('+', text),
            };
            let _ = writeln!(out, "{sign}{text}");
            shown += 1;
        }
        is_open = is_near(at);
        old_at += usize::from(!matches!(line, Line::New(_)));
        new_at += usize::from(!matches!(line, Line::RemovedContents(_)));
    }
    out
}

/// The lines of two texts as one diff: equal lines at both ends, and between them by the longest common subsequence.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let start = old.iter().zip(new).take_while(|(one, two)| one == two).count();
    let (old_rest, new_rest) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, two)| one == two).count();
    let kept = |lines: &[&'a str]| lines.iter().map(|line| Line::Kept(line)).collect::<Vec<_>>();
    let (old_mid, old_end) = old_rest.split_at(old_rest.len() - end);
    let new_mid = new_rest.get(..new_rest.len() - end).unwrap_or_default();
    let mut lines = kept(old.get(..start).unwrap_or_default());
    lines.extend(middle(old_mid, new_mid));
    lines.extend(kept(old_end));
    lines
}

/// The diff of the parts between the common lines at both ends; beyond [`PAIRS_MAX`], all old lines and then all new
/// ones.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    if old.len().saturating_mul(new.len()) > PAIRS_MAX {
        return old
            .iter()
            .map(|line| Line::RemovedContents(line))
            .chain(new.iter().map(|line| Line::New(line)))
            .collect();
    }
    // Length of the longest common subsequence from each pair of lines on.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    let length = |common: &[u32], row, column| common.get(at(row, column)).copied().unwrap_or(0);
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let longest = if old.get(row) == new.get(column) {
                length(&common, row + 1, column + 1) + 1
            } else {
                length(&common, row + 1, column).max(length(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(at(row, column)) {
                *cell = longest;
            }
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(row), new.get(column)) {
            (Some(one), Some(two)) if one == two => {
                lines.push(Line::Kept(one));
                (row, column) = (row + 1, column + 1);
            }
            (Some(one), two)
                if two.is_none() || length(&common, row + 1, column) >= length(&common, row, column + 1) =>
            {
                lines.push(Line::RemovedContents(one));
                row += 1;
            }
            (_, Some(two)) => {
                lines.push(Line::New(two));
                column += 1;
            }
            _ => return lines,
        }
    }
}

/// Tests of diffs.
#[cfg(test)]
mod tests {
    use super::unified;

    /// A diff shows the changed lines with some unchanged lines around them.
    #[test]
    fn diff_shows_changes_with_context() {
        let old: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 10\n", "ten\nand more\n").replace("line 20\n", "");
        let diff = unified(&old, &new, 100);
        assert_eq!(
            diff,
            "@@ -7 +7 @@\n line 7\n line 8\n line 9\n-line 10\n+ten\n+and more\n line 11\n line 12\n line 13\n\
             @@ -17 +18 @@\n line 17\n line 18\n line 19\n-line 20\n"
        );
        assert_eq!(unified("", "a\nb\n", 1), "@@ -1 +1 @@\n+a\n… 1 more lines\n");
        assert_eq!(unified(&old, &old, 100), "");
    }
}
