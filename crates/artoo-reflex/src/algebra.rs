//! The query algebra: the meaning of a request, independent of its wording.

mod act;
mod fact;
mod normal;
mod pred;
mod ty;
mod walk;

use serde::{Deserialize, Serialize};

pub use act::{Act, NameChange, Step, Target};
pub use fact::Fact;
pub(crate) use fact::{Command, Source};
pub use pred::{NameTest, Pred};
pub use ty::{Ty, TypeError};

/// A question about files, text or the machine: a tree of operators over sources.
///
/// [`Query::ty`] gives the type of the result; [`Query::normalise`] brings equal meanings to one form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Query {
    /// Source: the entries below one or several folders, each once.
    Tree {
        /// Absolute paths of the folders: at least one, sorted, without duplicates.
        roots: Vec<String>,
        /// How many levels are included.
        depth: Depth,
        /// Whether names that start with a dot, and everything below them, are included.
        hidden: bool,
        /// The kind of entries included.
        kind: Kind,
    },
    /// Source: files or folders listed by path. A missing one, or one of another kind, is not an element.
    Paths {
        /// Absolute paths: at least one, sorted, without duplicates.
        paths: Vec<String>,
        /// The kind of entries included.
        kind: Kind,
    },
    /// Source: the lines of one file.
    TextFile {
        /// Absolute path of the file.
        path: String,
    },
    /// Source: the names of an archive's entries (tar, tar.gz, zip) as lines, in the archive's order.
    ArchiveEntries {
        /// Absolute path of the archive.
        path: String,
    },
    /// Source: the running processes.
    Processes,
    /// Source: a fact of the machine.
    System {
        /// The fact.
        fact: Fact,
    },
    /// The lines of several files, the files in the order of their paths; shown as `path:line`.
    TextOf {
        /// The files.
        of: Box<Self>,
    },
    /// The elements that satisfy a predicate.
    Filter {
        /// Files, lines or processes.
        of: Box<Self>,
        /// The predicate on a file, on a line's text or on a process.
        keep: Pred,
    },
    /// The elements, sorted; ties keep the order of paths (files) or their order before.
    Sort {
        /// Files, lines, groups or processes.
        of: Box<Self>,
        /// The sort keys, the most important first; at least one.
        keys: Vec<SortKey>,
    },
    /// At most `count` elements after the first `skip`; without a [`Query::Sort`] below, in the order of paths.
    Limit {
        /// Files, groups or processes.
        of: Box<Self>,
        /// The number of elements skipped.
        skip: u64,
        /// The maximum number of elements.
        count: u64,
    },
    /// A range of lines.
    Part {
        /// The lines.
        of: Box<Self>,
        /// The range.
        part: Part,
    },
    /// Each distinct line once, in the order of first occurrence.
    Unique {
        /// The lines.
        of: Box<Self>,
    },
    /// Each line that occurs more than once, once, in the order of first occurrence.
    Repeated {
        /// The lines.
        of: Box<Self>,
    },
    /// The words of a text as lines: runs of letters, digits and apostrophes, ASCII letters in lower case.
    Words {
        /// The lines.
        of: Box<Self>,
    },
    /// One field of each line; empty where the line has fewer fields.
    Column {
        /// The lines.
        of: Box<Self>,
        /// The field's number, from 1.
        number: u64,
        /// What separates fields.
        separator: Separator,
    },
    /// The lines with every occurrence of a text replaced.
    Replace {
        /// The lines.
        of: Box<Self>,
        /// The text to look for, never empty.
        find: String,
        /// The replacement.
        with: String,
    },
    /// The occurrences of a text as lines, from left to right, without overlaps.
    Matches {
        /// The lines.
        of: Box<Self>,
        /// The text to look for, never empty.
        text: String,
        /// Whether ASCII case is ignored.
        ignore_case: bool,
        /// Whether an occurrence counts only without an ASCII letter, digit or `_` beside it.
        whole_word: bool,
    },
    /// The text transformed: case, order or line breaks changed.
    Rewritten {
        /// The lines.
        of: Box<Self>,
        /// The transformation.
        how: Rewrite,
    },
    /// A part of each file's path as a line, in the order of the files.
    Names {
        /// The files.
        of: Box<Self>,
        /// The part of the path.
        part: NamePart,
    },
    /// The lines with their line numbers, as `number:line`.
    Numbered {
        /// Lines of files, possibly filtered or a range of them.
        of: Box<Self>,
    },
    /// A comparison of two texts.
    Compare {
        /// The lines of the first text.
        of: Box<Self>,
        /// The lines of the second text.
        with: Box<Self>,
        /// The question about the two texts.
        relation: Relation,
    },
    /// The files with their sizes and modification times.
    Details {
        /// The files.
        of: Box<Self>,
    },
    /// One property of each file or folder, as `value<tab>path`.
    Field {
        /// The files or folders.
        of: Box<Self>,
        /// The property.
        field: Field,
    },
    /// The files with the same content as at least one other, as `sha256<tab>path`, sorted.
    Duplicates {
        /// The files.
        of: Box<Self>,
    },
    /// One number for each group of elements, as `number<tab>group`: the largest number first, ties by group name.
    Group {
        /// Files, or lines (grouped by text and counted only).
        of: Box<Self>,
        /// The property that the elements of a group share.
        by: GroupKey,
        /// How the number is computed.
        function: Function,
    },
    /// A single number computed from all elements.
    Aggregate {
        /// The elements.
        of: Box<Self>,
        /// How the number is computed.
        function: Function,
    },
}

/// How many levels below a folder are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Direct children only.
    Direct,
    /// Everything below, at any depth.
    Whole,
}

/// The kind of entries in a tree.
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
    /// The property to sort by.
    pub by: Key,
    /// The direction.
    pub order: Order,
}

/// A property to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Files: size in bytes.
    Size,
    /// Folders: total size of the files below, hidden ones included.
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
    /// Groups: the group's number.
    Value,
    /// Processes: resident memory.
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

/// A range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// This many lines from the start.
    First(u64),
    /// This many lines from the end.
    Last(u64),
    /// Lines from one number to another, both included, counted from 1.
    Range {
        /// Number of the first line.
        from: u64,
        /// Number of the last line.
        to: u64,
    },
    /// From this line number (counted from 1) to the end.
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
    /// Whether both are equal byte by byte.
    Identical,
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
