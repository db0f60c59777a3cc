//! Evaluates queries about lines of text.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Entry, EvalError, FileSystem, archive, by_keys, decimal, text};
use crate::algebra::{Key, Part, Separator, SortKey};
use crate::ensure::ensure;

/// A line of a text, with the file and the line number that it is shown with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The bytes of the line, without the newline.
    pub text: Vec<u8>,
    /// The file that the line comes from; `None` if its path is not shown with the line.
    pub file: Option<Arc<PathBuf>>,
    /// The line number in its file, from 1; 0 for a line that has none.
    pub number: u64,
    /// Whether the line is shown with its line number.
    pub is_numbered: bool,
}

impl Line {
    /// A line shown without path and line number.
    pub(super) fn plain(text: Vec<u8>) -> Self {
        Self { text, file: None, number: 0, is_numbered: false }
    }

    /// The line as printed: `path:number:text`, with only the parts that are shown.
    #[must_use]
    pub fn shown(&self) -> Vec<u8> {
        let mut shown = Vec::new();
        if let Some(file) = &self.file {
            shown.extend_from_slice(file.as_os_str().as_encoded_bytes());
            shown.push(b':');
        }
        if self.is_numbered {
            shown.extend_from_slice(format!("{}:", self.number).as_bytes());
        }
        shown.extend_from_slice(&self.text);
        shown
    }
}

/// The lines of the file at a path.
pub(super) fn of_file(path: &Path, with_path: bool, fs: &dyn FileSystem) -> Result<Vec<Line>, EvalError> {
    let file = with_path.then(|| Arc::new(path.to_owned()));
    let line = |(index, text): (usize, Vec<u8>)| Line {
        text,
        file: file.clone(),
        number: index as u64 + 1,
        is_numbered: false,
    };
    Ok(text::split(text::content(path, fs)?).into_iter().enumerate().map(line).collect())
}

/// The lines of several files, the files sorted by path.
pub(super) fn of_files(files: &[Entry], fs: &dyn FileSystem) -> Result<Vec<Line>, EvalError> {
    let mut files: Vec<&Entry> = files.iter().collect();
    files.sort_by(|a, b| a.path_bytes().cmp(b.path_bytes()));
    let mut lines = Vec::new();
    let mut bytes = 0;
    for entry in files {
        bytes += usize::try_from(entry.bytes).unwrap_or(usize::MAX).min(text::MAX_TEXT_BYTES + 1);
        ensure(bytes <= text::MAX_TEXT_BYTES, || EvalError::TooMuchText { max: text::MAX_TEXT_BYTES })?;
        lines.extend(of_file(&entry.path, true, fs)?);
    }
    Ok(lines)
}

/// The names of an archive's entries as lines.
pub(super) fn of_archive(path: &Path, fs: &dyn FileSystem) -> Result<Vec<Line>, EvalError> {
    Ok(archive::members(path, fs)?.into_iter().map(|member| Line::plain(member.shown_name())).collect())
}

/// Sorts lines by the sort keys and drops their paths and numbers; equal lines keep their order.
pub(super) fn sort(mut lines: Vec<Line>, keys: &[SortKey]) -> Vec<Line> {
    let number = |line: &Line| decimal::leading(&line.text).unwrap_or(0);
    lines.sort_by(|a, b| {
        by_keys(keys, |key| match key {
            Key::Text => a.text.cmp(&b.text),
            Key::Numeric => number(a).cmp(&number(b)),
            Key::Length => characters(&a.text).cmp(&characters(&b.text)),
            _ => Ordering::Equal,
        })
    });
    plain(lines)
}

/// The lines without their paths and line numbers.
fn plain(lines: Vec<Line>) -> Vec<Line> {
    lines.into_iter().map(|line| Line::plain(line.text)).collect()
}

/// The number of characters of a line.
fn characters(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).chars().count()
}

/// Those of the lines that are in a range such as "first 5".
pub(super) fn part(lines: Vec<Line>, part: Part) -> Vec<Line> {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (skip, take) = match part {
        Part::First(count) => (0, size(count)),
        Part::Last(count) => (lines.len().saturating_sub(size(count)), usize::MAX),
        Part::Range { from, to } if from == 0 || from > to => (0, 0),
        Part::Range { from, to } => (size(from - 1), size(to - from).saturating_add(1)),
        Part::From(from) => (size(from.saturating_sub(1)), usize::MAX),
    };
    lines.into_iter().skip(skip).take(take).collect()
}

/// Each line that occurs at least this often, once, in the order of first occurrence, without path and number.
pub(super) fn unique(lines: Vec<Line>, at_least: usize) -> Vec<Line> {
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for line in &lines {
        *counts.entry(line.text.clone()).or_default() += 1;
    }
    let mut first = lines;
    // `remove` succeeds only for the first occurrence of a line.
    first.retain(|line| counts.remove(&line.text).is_some_and(|count| count >= at_least));
    plain(first)
}

/// The words of all lines: runs of letters, digits and apostrophes, ASCII letters in lower case.
pub(super) fn words(lines: &[Line]) -> Vec<Line> {
    let mut words = Vec::new();
    for line in lines {
        let text = String::from_utf8_lossy(&line.text).to_ascii_lowercase();
        let runs = text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|run| !run.is_empty());
        words.extend(runs.map(|run| Line::plain(run.as_bytes().to_vec())));
    }
    words
}

/// The field of each line in this column, from 1; empty where a line has fewer fields.
pub(super) fn column(lines: &[Line], number: u64, separator: &Separator) -> Vec<Line> {
    let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
    let field = |line: &Line| match separator {
        Separator::Whitespace => {
            let fields = line.text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
            fields.into_iter().nth(index).map(<[u8]>::to_vec)
        }
        Separator::Text(separator) => text::split_at(&line.text, separator.as_bytes()).into_iter().nth(index),
    };
    lines.iter().map(|line| Line::plain(field(line).unwrap_or_default())).collect()
}

/// The lines with every occurrence of a text replaced.
pub(super) fn replace(lines: &[Line], find: &str, with: &str) -> Vec<Line> {
    let replaced = |line: &Line| text::replace(&line.text, find.as_bytes(), with.as_bytes());
    lines.iter().map(|line| Line::plain(replaced(line))).collect()
}

/// The lines, marked to be shown with their line numbers.
pub(super) fn numbered(lines: Vec<Line>) -> Vec<Line> {
    lines.into_iter().map(|line| Line { is_numbered: true, ..line }).collect()
}
