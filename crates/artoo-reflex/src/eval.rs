//! Evaluates queries independently of the tools that answer them, so that checks can compare both results.
//!
//! It walks and tests files straight from the definitions of the algebra. It reads only through [`FileSystem`], which
//! the caller implements, and makes no attempt to be fast.

pub(crate) mod archive;
pub(crate) mod decimal;
pub(crate) mod digest;
mod disk;
mod fact;
pub(crate) mod files;
mod glob;
mod group;
mod lines;
mod number;
mod pred;
mod process;
pub(crate) mod regex;
pub(crate) mod rename;
mod rewrite;
pub(crate) mod text;
mod verify;

use std::cmp::Ordering;
use std::path::Path;

use crate::algebra::{Key, Order, Query, Relation, SortKey};

pub use disk::{Entry, EntryKind, FileSystem, FileSystemError, Space};
pub use lines::Line;
pub use process::Process;
pub use verify::{Verification, verify};

/// Maximum number of entries walked in one evaluation; a larger tree is reported as not verified.
#[doc(alias = "limit")]
pub const MAX_ENTRIES: usize = 5_000_000;

/// Why a query can't be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The file or folder of the query can't be read.
    #[error("{path} can't be read: {source}")]
    Unreadable {
        /// The path of the unreadable file or folder, escaped for display.
        path: String,
        /// The file system's error for the path.
        source: FileSystemError,
    },
    /// The folder walk meets more than [`MAX_ENTRIES`] entries.
    #[error("more than {MAX_ENTRIES} elements")]
    TooMany,
    /// The text to read exceeds the limit of what is held in memory.
    #[error("more than {max} bytes of text")]
    TooMuchText {
        /// The maximum size of a text, in bytes.
        max: usize,
    },
    /// An operator of the query is applied to an operand of the wrong type.
    #[error("the query has no meaning")]
    Meaningless,
    /// The fact can't be read independently of its command on this machine; the text names what is missing.
    #[error("{0} can't be learnt a second way here")]
    NoSecondSource(&'static str),
    /// A number was to be computed from lines of which none starts with a number.
    #[error("no line begins with a number")]
    NoNumber,
}

/// The result of evaluating a query: files, lines, a number or another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Files or folders, in the query's order.
    Files(Vec<Entry>),
    /// Lines of text, in the query's order.
    Lines(Vec<Line>),
    /// Files, each with one property of the file.
    Rows(Vec<Row>),
    /// Group names, each with the number computed for the group.
    Groups(Vec<(Vec<u8>, u64)>),
    /// Running processes.
    Processes(Vec<Process>),
    /// A whole number, such as a count.
    Number(u64),
    /// A decimal number computed from a text, in billionths.
    Decimal(i128),
    /// A text that is not a list of lines, such as a date.
    Text(String),
    /// The answer to a yes/no question.
    Truth(bool),
}

/// A file with one of its properties, such as its owner, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The property, as text.
    pub value: String,
    /// The file that has the property.
    pub of: Entry,
}

/// Evaluates a query on the files and facts of a file system.
///
/// Entries below a search root that can't be read are skipped.
///
/// # Errors
/// `EvalError` if a search root can't be read, a limit is exceeded, or the query does not type-check.
pub fn evaluate(query: &Query, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    match query {
        Query::Tree { roots, depth, hidden, kind } => files::tree(roots, *depth, *hidden, *kind, fs).map(Answer::Files),
        Query::Paths { paths, kind } => files::named(paths, *kind, fs).map(Answer::Files),
        Query::TextFile { path } => lines::of_file(Path::new(path), false, fs).map(Answer::Lines),
        Query::ArchiveEntries { path } => lines::of_archive(Path::new(path), fs).map(Answer::Lines),
        Query::Processes => process::all(fs).map(Answer::Processes),
        Query::System { fact } => fact::value(fact, fs),
        Query::Known { known } => {
            let row = known.row().ok_or(EvalError::Meaningless)?;
            let lines = (row.eval)(known, fs)?.into_iter().map(|line| Line::plain(line.into_bytes()));
            Ok(Answer::Lines(lines.collect()))
        }
        Query::TextOf { of } => lines::of_files(&self::files(of, fs)?, fs).map(Answer::Lines),
        Query::Filter { of, keep } => match evaluate(of, fs)? {
            Answer::Files(files) => files::keep(files, keep, of, fs).map(Answer::Files),
            Answer::Lines(mut lines) => {
                lines.retain(|line| pred::holds_of_line(keep, &line.text));
                Ok(Answer::Lines(lines))
            }
            Answer::Processes(mut processes) => {
                processes.retain(|process| pred::holds_of_process(keep, process));
                Ok(Answer::Processes(processes))
            }
            _ => Err(EvalError::Meaningless),
        },
        Query::Sort { of, keys } => match evaluate(of, fs)? {
            Answer::Files(files) => files::sort(files, keys, fs).map(Answer::Files),
            Answer::Lines(lines) => Ok(Answer::Lines(lines::sort(lines, keys))),
            Answer::Groups(mut groups) => {
                groups.sort_by(|a, b| group::compare(keys, a, b));
                Ok(Answer::Groups(groups))
            }
            Answer::Processes(processes) => Ok(Answer::Processes(process::sort(processes, keys))),
            _ => Err(EvalError::Meaningless),
        },
        Query::Limit { of, skip, count } => Ok(match evaluate(of, fs)? {
            Answer::Files(files) => Answer::Files(limited(files, *skip, *count)),
            Answer::Groups(groups) => Answer::Groups(limited(groups, *skip, *count)),
            Answer::Processes(processes) => Answer::Processes(limited(processes, *skip, *count)),
            _ => return Err(EvalError::Meaningless),
        }),
        Query::Part { of, part } => Ok(Answer::Lines(lines::part(self::lines(of, fs)?, *part))),
        Query::Unique { of } => Ok(Answer::Lines(lines::unique(self::lines(of, fs)?, 1))),
        Query::Repeated { of } => Ok(Answer::Lines(lines::unique(self::lines(of, fs)?, 2))),
        Query::Words { of } => Ok(Answer::Lines(lines::words(&self::lines(of, fs)?))),
        Query::Column { of, number, separator } => {
            Ok(Answer::Lines(lines::column(&self::lines(of, fs)?, *number, separator)))
        }
        Query::Replace { of, find, with } => Ok(Answer::Lines(lines::replace(&self::lines(of, fs)?, find, with))),
        Query::Matches { of, text, ignore_case, whole_word } => {
            Ok(Answer::Lines(rewrite::matches(&self::lines(of, fs)?, text, *ignore_case, *whole_word)))
        }
        Query::Rewritten { of, how } => rewrite::rewritten(self::lines(of, fs)?, how).map(Answer::Lines),
        Query::Names { of, part } => Ok(Answer::Lines(rewrite::names(&self::files(of, fs)?, *part))),
        Query::Numbered { of } => Ok(Answer::Lines(lines::numbered(self::lines(of, fs)?))),
        Query::Compare { of, with, relation } => compare(of, with, *relation, fs),
        Query::Details { of } => files(of, fs).map(Answer::Files),
        Query::Field { of, field } => group::field(files(of, fs)?, *field, fs).map(Answer::Rows),
        Query::Duplicates { of } => group::duplicates(files(of, fs)?, fs).map(Answer::Rows),
        Query::Group { of, by, function } => group::groups(evaluate(of, fs)?, *by, *function, fs).map(Answer::Groups),
        Query::Aggregate { of, function } => number::aggregate(of, *function, fs),
    }
}

/// The files that a query yields; an error if it yields anything else.
fn files(query: &Query, fs: &dyn FileSystem) -> Result<Vec<Entry>, EvalError> {
    match evaluate(query, fs)? {
        Answer::Files(files) => Ok(files),
        _ => Err(EvalError::Meaningless),
    }
}

/// The lines that a query yields; an error if it yields anything else.
fn lines(query: &Query, fs: &dyn FileSystem) -> Result<Vec<Line>, EvalError> {
    match evaluate(query, fs)? {
        Answer::Lines(lines) => Ok(lines),
        _ => Err(EvalError::Meaningless),
    }
}

/// Evaluates a comparison of two texts: whether they are equal, their common lines, or the lines of the first alone; an
/// error for a difference, which is checked by applying it.
fn compare(of: &Query, with: &Query, relation: Relation, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    match (relation, of, with) {
        (Relation::Identical | Relation::Told, Query::TextFile { path: one }, Query::TextFile { path: two }) => {
            let content = |path: &str| text::content(Path::new(path), fs);
            Ok(Answer::Truth(content(one)? == content(two)?))
        }
        (Relation::Identical | Relation::Told, ..) => {
            let texts = |query| lines(query, fs).map(|lines| lines.into_iter().map(|line| line.text));
            Ok(Answer::Truth(texts(of)?.eq(texts(with)?)))
        }
        (Relation::Difference, ..) => Err(EvalError::NoSecondSource("a difference by itself")),
        (Relation::Common | Relation::OnlyFirst, ..) => {
            let second: std::collections::HashSet<Vec<u8>> =
                lines(with, fs)?.into_iter().map(|line| line.text).collect();
            let mut first = lines(of, fs)?;
            first.retain(|line| second.contains(&line.text) == (relation == Relation::Common));
            Ok(Answer::Lines(lines::unique(first, 1)))
        }
    }
}

/// Compares two elements by several sort keys, in each key's direction; `by` compares them by one key in ascending
/// order.
fn by_keys(keys: &[SortKey], by: impl Fn(Key) -> Ordering) -> Ordering {
    let ordered = |key: &SortKey| if key.order == Order::Descending { by(key.by).reverse() } else { by(key.by) };
    keys.iter().map(ordered).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The elements of a list after the first `skip`, at most `count`.
fn limited<T>(elements: Vec<T>, skip: u64, count: u64) -> Vec<T> {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    elements.into_iter().skip(size(skip)).take(size(count)).collect()
}

/// A function that turns a file system error into the error that this path can't be read.
fn unreadable(path: &Path) -> impl Fn(FileSystemError) -> EvalError + '_ {
    |source| EvalError::Unreadable { path: artoo_proto::escape::path_line(path.as_os_str().as_encoded_bytes()), source }
}
