//! The second meaning of a query: an interpreter that knows nothing of the tools a query is lowered to.
//!
//! *Is*: a walk and a test of each element, straight from the algebra's definitions.
//! *Is not*: fast, or an I/O layer. It reads through [`FileSystem`], which the caller implements.

mod glob;
mod pred;
mod text;
mod verify;

use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::algebra::{Depth, Function, Key, Kind, Order, Query};

pub use verify::{Verification, verify};

/// Most elements walked for one recomputation; a larger tree is reported as not verified, never guessed.
pub const MAX_ENTRIES: usize = 5_000_000;

/// Read access to a file system.
pub trait FileSystem {
    /// The entries directly in a folder, in any order.
    ///
    /// # Errors
    /// When it is not there, is no folder, or can't be read.
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError>;

    /// What lies at a path; a symbolic link is not followed.
    ///
    /// # Errors
    /// When nothing is there or it can't be read.
    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError>;

    /// Opens a regular file for reading from its start.
    ///
    /// # Errors
    /// When it is not there, is no regular file, or can't be read.
    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn std::io::Read + 'a>, FileSystemError>;
}

/// One element of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Absolute path.
    pub path: PathBuf,
    /// What it is, without following links.
    pub kind: EntryKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Time of last change, rounded down to milliseconds.
    pub modified: Timestamp,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, a device, a pipe or a socket.
    Other,
}

/// Why something can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileSystemError {
    /// Nothing is there.
    #[error("not found")]
    NotFound,
    /// It is there and may not be read.
    #[error("not readable")]
    Denied,
    /// It is something else than was asked for (a file where a folder is meant).
    #[error("of another kind")]
    OtherKind,
    /// Anything else the system reports.
    #[error("input or output failed")]
    Failed,
}

/// Why a query has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The folder or file the query is about can't be read.
    #[error("{path} can't be read")]
    Unreadable {
        /// Which, escaped for display.
        path: String,
        /// Why.
        #[source]
        source: FileSystemError,
    },
    /// More elements than are walked.
    #[error("more than {MAX_ENTRIES} elements")]
    TooMany,
    /// More text than is held.
    #[error("more than {max} bytes of text")]
    TooMuchText {
        /// The limit.
        max: usize,
    },
    /// An operator over something it does not apply to.
    #[error("the query has no meaning")]
    Meaningless,
}

/// A query's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Files, in order where the query orders them.
    Files(Vec<Entry>),
    /// Lines, without their ends.
    Lines(Vec<Vec<u8>>),
    /// A number.
    Number(u64),
}

/// Evaluates a query.
///
/// Folders and files below the root that can't be read are passed over, as a listing does.
///
/// # Errors
/// When the root can't be read or a limit is met.
pub fn evaluate(query: &Query, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    match query {
        Query::Tree { root, depth, hidden, kind } => {
            let mut found = Vec::new();
            walk(Path::new(root), *depth, *hidden, fs, &mut found)?;
            found.retain(|entry| matches(*kind, entry.kind));
            found.sort_by(|a, b| path_bytes(a).cmp(path_bytes(b)));
            Ok(Answer::Files(found))
        }
        Query::TextFile { path } => text::lines(Path::new(path), fs).map(Answer::Lines),
        Query::Filter { of, keep } => match evaluate(of, fs)? {
            Answer::Files(mut files) => {
                files.retain(|entry| pred::holds_of_file(keep, entry, fs));
                Ok(Answer::Files(files))
            }
            Answer::Lines(mut lines) => {
                lines.retain(|line| pred::holds_of_line(keep, line));
                Ok(Answer::Lines(lines))
            }
            Answer::Number(_) => Err(EvalError::Meaningless),
        },
        Query::Sort { of, by, order } => {
            let mut files = files(of, fs)?;
            files.sort_by(|a, b| match order {
                Order::Ascending => compare(*by, a, b),
                Order::Descending => compare(*by, b, a),
            });
            Ok(Answer::Files(files))
        }
        Query::Limit { of, count } => {
            let mut files = files(of, fs)?;
            files.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
            Ok(Answer::Files(files))
        }
        Query::Details { of } => files(of, fs).map(Answer::Files),
        Query::Part { of, part } => match evaluate(of, fs)? {
            Answer::Lines(lines) => Ok(Answer::Lines(text::part(lines, *part))),
            Answer::Files(_) | Answer::Number(_) => Err(EvalError::Meaningless),
        },
        Query::Aggregate { of, function } => match (function, evaluate(of, fs)?) {
            (Function::Count, Answer::Files(files)) => Ok(Answer::Number(files.len() as u64)),
            (Function::Count, Answer::Lines(lines)) => Ok(Answer::Number(lines.len() as u64)),
            (Function::TotalBytes, Answer::Files(files)) => {
                let regular = files.iter().filter(|entry| entry.kind == EntryKind::File);
                Ok(Answer::Number(regular.fold(0, |sum: u64, entry| sum.saturating_add(entry.bytes))))
            }
            (_, Answer::Lines(_) | Answer::Number(_)) => Err(EvalError::Meaningless),
        },
    }
}

fn files(query: &Query, fs: &dyn FileSystem) -> Result<Vec<Entry>, EvalError> {
    match evaluate(query, fs)? {
        Answer::Files(files) => Ok(files),
        Answer::Lines(_) | Answer::Number(_) => Err(EvalError::Meaningless),
    }
}

fn matches(wanted: Kind, found: EntryKind) -> bool {
    match wanted {
        Kind::Any => true,
        Kind::File => found == EntryKind::File,
        Kind::Folder => found == EntryKind::Folder,
    }
}

pub(crate) fn path_bytes(entry: &Entry) -> &[u8] {
    entry.path.as_os_str().as_encoded_bytes()
}

pub(crate) fn name_bytes(entry: &Entry) -> &[u8] {
    entry.path.file_name().map_or(&[], |name| name.as_encoded_bytes())
}

/// The order of a key alone; equal keys are equal.
fn compare(by: Key, a: &Entry, b: &Entry) -> std::cmp::Ordering {
    match by {
        Key::Size => a.bytes.cmp(&b.bytes),
        Key::Modified => a.modified.cmp(&b.modified),
        Key::Name => name_bytes(a).cmp(name_bytes(b)),
        Key::Path => path_bytes(a).cmp(path_bytes(b)),
    }
}

/// Everything below a folder, the folder itself left out.
fn walk(root: &Path, depth: Depth, hidden: bool, fs: &dyn FileSystem, found: &mut Vec<Entry>) -> Result<(), EvalError> {
    let unreadable = |source| EvalError::Unreadable {
        path: artoo_proto::escape::path_line(root.as_os_str().as_encoded_bytes()),
        source,
    };
    let mut open = fs.list(root).map_err(unreadable)?;
    while let Some(entry) = open.pop() {
        if !hidden && name_bytes(&entry).starts_with(b".") {
            continue;
        }
        if found.len() + open.len() >= MAX_ENTRIES {
            return Err(EvalError::TooMany);
        }
        if depth == Depth::Whole && entry.kind == EntryKind::Folder {
            open.extend(fs.list(&entry.path).unwrap_or_default());
        }
        found.push(entry);
    }
    Ok(())
}
