//! The typed query algebra: what a request means, free of its wording.

mod normal;
mod ty;

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

pub use ty::{Ty, TypeError};

/// A question about files or about the text of one file.
///
/// A tree of operators over one source. [`Query::ty`] says what it yields, [`Query::normalise`] brings equal meanings
/// to one form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Query {
    /// Source: what lies under a folder.
    Tree {
        /// Absolute path of the folder.
        root: String,
        /// How far down.
        depth: Depth,
        /// Whether names that start with a dot, and what lies below them, belong to it.
        hidden: bool,
        /// What counts as an element.
        kind: Kind,
    },
    /// Source: the lines of one file.
    TextFile {
        /// Absolute path of the file.
        path: String,
    },
    /// The elements that satisfy a predicate.
    Filter {
        /// Files, or lines (then the predicate is about the line's text).
        of: Box<Self>,
        /// What they must satisfy.
        keep: Pred,
    },
    /// The same files, ordered.
    Sort {
        /// Files.
        of: Box<Self>,
        /// What decides.
        by: Key,
        /// Which end comes first.
        order: Order,
    },
    /// The first `count` files of an order; without [`Query::Sort`] below, of the order of paths.
    Limit {
        /// Files.
        of: Box<Self>,
        /// At most this many.
        count: u64,
    },
    /// A stretch of lines.
    Part {
        /// Lines.
        of: Box<Self>,
        /// Which.
        part: Part,
    },
    /// Files with their length and time of last change.
    Details {
        /// Files.
        of: Box<Self>,
    },
    /// One number.
    Aggregate {
        /// Files, or lines (only counted).
        of: Box<Self>,
        /// Which number.
        function: Function,
    },
}

/// How far below a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Only what lies directly in it.
    Direct,
    /// Everything below it.
    Whole,
}

/// What counts as an element of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Regular files.
    File,
    /// Folders.
    Folder,
    /// Everything: files, folders, links, devices.
    Any,
}

/// What orders files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Length in bytes.
    Size,
    /// Time of last change.
    Modified,
    /// The file's own name, bytewise.
    Name,
    /// The whole path, bytewise.
    Path,
}

/// Which end of an order comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Smallest, oldest, A first.
    Ascending,
    /// Largest, newest, Z first.
    Descending,
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The first lines.
    First(u64),
    /// The last lines.
    Last(u64),
    /// Lines by number, from 1, both ends included.
    Range {
        /// First line.
        from: u64,
        /// Last line.
        to: u64,
    },
}

/// A number made of many elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// How many.
    Count,
    /// Sum of the lengths of the regular files, in bytes.
    TotalBytes,
}

/// A property of one file, or of one line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pred {
    /// Every one holds; empty: always true.
    All(Vec<Self>),
    /// At least one holds; empty: never true.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// The name ends in a dot and this extension, whatever the case of ASCII letters. Stored in lower case, no dot.
    Extension(String),
    /// A property of the file's own name; case counts.
    Name(NameTest),
    /// The length in bytes is at least this.
    MinBytes(u64),
    /// The length in bytes is at most this.
    MaxBytes(u64),
    /// Last changed at this moment or later.
    ModifiedFrom(Timestamp),
    /// Last changed before this moment.
    ModifiedBefore(Timestamp),
    /// The content (of a file) or the text (of a line) holds this text.
    Contains {
        /// The text, never empty.
        text: String,
        /// Whether the case of ASCII letters is ignored.
        ignore_case: bool,
    },
}

/// A property of a file's own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameTest {
    /// It is exactly this.
    Is(String),
    /// It starts with this.
    Starts(String),
    /// It ends with this.
    Ends(String),
    /// It contains this.
    Has(String),
    /// It matches a pattern of `*`, `?` and `[…]`.
    Glob(String),
}
