//! The query algebra: the meaning of a request, independent of its wording.

mod act;
mod columns;
mod fact;
mod normal;
mod pred;
mod ty;
mod walk;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use act::{Act, GitAction, ModeChange, NameChange, ProcessName, Step, Target};
pub use fact::Fact;
pub(crate) use fact::{Command, Source};
pub use pred::{NameTest, Pred};
pub use ty::{Ty, TypeError};
pub(crate) use walk::Layers;

/// A question about files, text or the machine: a tree of operators over sources.
///
/// Paths are absolute. Lists of paths are not empty, sorted, and without duplicates; texts to search for are not empty;
/// numbers of lines and columns count from 1. `of` is the operand: the query whose result an operator works on.
/// [`Query::ty`] gives the type of the result; [`Query::normalise`] brings equal meanings to one form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Query {
    /// Source: the entries of one kind below one or several folders, each once. `hidden` includes entries whose names
    /// start with a dot, and everything below such folders.
    Tree { roots: Vec<String>, depth: Depth, hidden: bool, kind: Kind },
    /// Source: the entries at the given paths. A path that doesn't exist, or is of another kind, gives no element.
    Paths { paths: Vec<String>, kind: Kind },
    /// Source: the lines of one file.
    TextFile { path: String },
    /// Source: the names of an archive's entries (tar, tar.gz, zip) as lines, in the archive's order.
    ArchiveEntries { path: String },
    /// Source: the running processes.
    Processes,
    /// Source: a fact of the machine, such as its memory or the date.
    System { fact: Fact },
    /// Source: the answer to a question of a kind of its own, as lines.
    Known { known: Known },
    /// The lines of several files, the files in the order of their paths; shown as `path:line`.
    TextOf { of: Box<Self> },
    /// The files, lines or processes that satisfy a predicate.
    Filter { of: Box<Self>, keep: Pred },
    /// Files, lines, groups or processes, sorted by at least one key, the most important first. Equal files are sorted by
    /// path, other equal elements keep their order.
    Sort { of: Box<Self>, keys: Vec<SortKey> },
    /// At most `count` files, groups or processes, after the first `skip`; files without a [`Query::Sort`] are in order
    /// of path.
    Limit { of: Box<Self>, skip: u64, count: u64 },
    /// A range of the lines of a text, such as its first 5.
    Part { of: Box<Self>, part: Part },
    /// Each distinct line of a text once, in the order of first occurrence.
    Unique { of: Box<Self> },
    /// The lines that occur more than once in a text, each shown once, in the order of first occurrence.
    Repeated { of: Box<Self> },
    /// The words of a text as lines: runs of letters, digits and apostrophes, ASCII letters in lowercase.
    Words { of: Box<Self> },
    /// One field (column) of each line; an empty line where a line has fewer fields.
    Column { of: Box<Self>, number: u64, separator: Separator },
    /// The lines with every occurrence of a text replaced.
    Replace { of: Box<Self>, find: String, with: String },
    /// The occurrences of a text as lines, from left to right, without overlaps. `ignore_case` ignores ASCII case;
    /// `whole_word` leaves out occurrences with an ASCII letter, digit or underscore beside them.
    Matches { of: Box<Self>, text: String, ignore_case: bool, whole_word: bool },
    /// A text transformed: its case, order or line breaks changed.
    Rewritten { of: Box<Self>, how: Rewrite },
    /// A part of each file's path as a line, in the order of the files.
    Names { of: Box<Self>, part: NamePart },
    /// The lines of files, possibly filtered or a range of them, with their line numbers, as `number:line`.
    Numbered { of: Box<Self> },
    /// A comparison of two texts.
    Compare { of: Box<Self>, with: Box<Self>, relation: Relation },
    /// The files with their sizes and modification times.
    Details { of: Box<Self> },
    /// One property of each file or folder, as `value<tab>path`.
    Field { of: Box<Self>, field: Field },
    /// The files whose content equals that of at least one other file, as `sha256<tab>path`, sorted.
    Duplicates { of: Box<Self> },
    /// One number for each group of files, or of equal lines, as `number<tab>group`: the largest number first, ties by
    /// group name. Groups of lines are only counted.
    Group { of: Box<Self>, by: GroupKey, function: Function },
    /// A single number computed from all elements of a query, such as their count.
    Aggregate { of: Box<Self>, function: Function },
}

/// A question that the query algebra has no operator for: the name of its kind in `kinds`, and its values by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Known {
    /// The name of the kind.
    pub(crate) kind: String,
    pub(crate) given: BTreeMap<String, String>,
}

/// How many levels below a folder a query includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Only the folder's direct children.
    Direct,
    /// Everything below the folder, at any depth.
    Whole,
}

/// The kind of entries that a query selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Regular files.
    File,
    /// Folders.
    Folder,
    /// Symbolic links.
    Link,
    /// Files, folders, links and devices.
    Any,
}

/// A sort key and its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SortKey {
    pub by: Key,
    pub order: Order,
}

/// A property to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Files: size in bytes.
    Size,
    /// Folders: total size in bytes of the files below, hidden ones included.
    TotalSize,
    /// Files and folders: modification time.
    Modified,
    /// Files, folders, processes, groups: the name, bytewise.
    Name,
    /// Files and folders: the path, bytewise.
    Path,
    /// Files: the extension in lower case, empty if there is none, bytewise.
    Extension,
    /// Lines: the text, bytewise.
    Text,
    /// Lines: the number at the start of the line, 0 if there is none.
    Numeric,
    /// Lines: the number of characters.
    Length,
    /// Groups: the number computed for the group.
    Value,
    /// Processes: resident memory (RAM in use).
    Memory,
    /// Processes: share of processor time.
    Cpu,
}

/// A sort direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Smallest, oldest or A first.
    Ascending,
    /// Largest, newest or Z first.
    Descending,
}

/// A range of the lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// This many lines from the start of the text.
    First(u64),
    /// This many lines from the end of the text.
    Last(u64),
    /// Lines from one number to another, both included, counted from 1.
    Range { from: u64, to: u64 },
    /// The lines from this line number (counted from 1) to the end of the text.
    From(u64),
}

/// What separates the fields of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Separator {
    /// Runs of spaces and tabs; leading ones are ignored.
    Whitespace,
    /// This text, at each occurrence; quotation marks have no meaning.
    Text(String),
}

/// A transformation of a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rewrite {
    /// ASCII letters in upper case.
    UpperCase,
    /// ASCII letters in lower case.
    LowerCase,
    /// The characters of each line in reverse order.
    Mirrored,
    /// The lines in reverse order.
    Reversed,
    /// Lines wrapped at this many columns.
    Wrapped(u64),
    /// All lines joined into one, with this separator: nothing or one character.
    Joined(String),
    /// The last white-space separated field of each line; an empty line for a blank one.
    LastField,
}

/// A part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamePart {
    /// The file name without its folder.
    Name,
    /// The path of the containing folder.
    Folder,
    /// The extension in lower case; a name without one gives no line.
    Extension,
}

/// A question about two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Which lines of the first also occur in the second, each once.
    Common,
    /// Which lines of the first don't occur in the second, each once.
    OnlyFirst,
    /// Whether both are equal byte by byte: yes or no.
    Identical,
    /// Whether both are equal byte by byte, in a sentence that names them.
    Told,
    /// The changes from the first to the second, as `diff` prints them.
    Difference,
}

/// A property of one file or folder, shown beside its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// SHA-256 of the content, in hexadecimal.
    Sha256,
    /// SHA-1 of the content, in hexadecimal.
    Sha1,
    /// MD5 of the content, in hexadecimal.
    Md5,
    /// The type of the content, detected from its first bytes.
    FileType,
    /// The permission bits, in octal.
    Permissions,
    /// The owner's name.
    Owner,
    /// The modification time.
    Modified,
    /// The number of lines.
    Lines,
    /// The number of white-space separated words.
    Words,
    /// Of a folder: total size of the files below, hidden ones included.
    TotalSize,
}

/// The property by which elements are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKey {
    /// The extension in lower case; empty if there is none.
    Extension,
    /// The containing folder.
    Folder,
    /// The local date of the last change, as `2024-05-15`.
    Day,
    /// The local month of the last change, as `2024-05`.
    Month,
    /// The local year of the last change.
    Year,
    /// The kind of entry: file, folder, link or other.
    Kind,
    /// The owner's name.
    Owner,
    /// Lines: the text itself.
    Text,
}

/// A number computed from many elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// The number of elements.
    Count,
    /// Whether there is at least one element: yes or no.
    Any,
    /// Files: total size of the regular files, in bytes.
    TotalBytes,
    /// Files: average size in bytes, rounded down; 0 for no files.
    AverageBytes,
    /// Files: largest size; 0 for no files.
    LargestBytes,
    /// Files: smallest size; 0 for no files.
    SmallestBytes,
    /// Lines: number of white-space separated words.
    Words,
    /// Lines: number of characters, newlines included.
    Characters,
    /// Lines: sum of the numbers at the start of each line; lines without one are ignored.
    Sum,
    /// Lines: average of the numbers at the start of each line; lines without one are ignored.
    Average,
    /// Lines: smallest number at the start of a line.
    Minimum,
    /// Lines: largest number at the start of a line.
    Maximum,
}
