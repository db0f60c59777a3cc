//! The query algebra: the meaning of a request, independent of its wording.

mod act;
mod columns;
mod fact;
mod normal;
mod pred;
mod ty;
mod walk;

use serde::{Deserialize, Serialize};

pub use act::{Act, GitAction, ModeChange, NameChange, ProcessName, Step, Target};
pub use fact::Fact;
pub(crate) use fact::{Command, Source};
pub use pred::{NameTest, Pred};
pub use ty::{Ty, TypeError};
pub(crate) use walk::Layers;

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
        /// How many levels below the folders are included.
        depth: Depth,
        /// Whether entries are included whose names start with a dot, and everything below such folders.
        hidden: bool,
        /// The kind of entries included: files, folders, links or all.
        kind: Kind,
    },
    /// Source: files or folders given by path. A path that doesn't exist, or is of another kind, gives no element.
    Paths {
        /// Absolute paths of the files or folders: at least one, sorted, without duplicates.
        paths: Vec<String>,
        /// The kind of entries included; a path of another kind is left out.
        kind: Kind,
    },
    /// Source: the lines of one file.
    TextFile {
        /// Absolute path of the file whose lines are read.
        path: String,
    },
    /// Source: the names of an archive's entries (tar, tar.gz, zip) as lines, in the archive's order.
    ArchiveEntries {
        /// Absolute path of the archive to list.
        path: String,
    },
    /// Source: the running processes.
    Processes,
    /// Source: a fact of the machine, such as its memory or the date.
    System {
        /// The fact that is asked for.
        fact: Fact,
    },
    /// The lines of several files, the files in the order of their paths; shown as `path:line`.
    TextOf {
        /// The query for the files whose lines are read.
        of: Box<Self>,
    },
    /// The elements of a query that satisfy a predicate.
    Filter {
        /// The query to filter; it yields files, lines or processes.
        of: Box<Self>,
        /// The predicate that an element must satisfy to stay in the result.
        keep: Pred,
    },
    /// The elements of a query, sorted; equal files are sorted by path, other equal elements keep their order.
    Sort {
        /// The query to sort; it yields files, lines, groups or processes.
        of: Box<Self>,
        /// The sort keys, the most important first; at least one.
        keys: Vec<SortKey>,
    },
    /// At most `count` elements of a query, after its first `skip`; files without a [`Query::Sort`] are in order of
    /// path.
    Limit {
        /// The query to limit; it yields files, groups or processes.
        of: Box<Self>,
        /// The number of elements left out at the start of the list.
        skip: u64,
        /// The maximum number of elements that follow the skipped ones.
        count: u64,
    },
    /// A range of the lines of a text, such as its first 5.
    Part {
        /// The query for the lines to take a range of.
        of: Box<Self>,
        /// The range of lines to take.
        part: Part,
    },
    /// Each distinct line of a text once, in the order of first occurrence.
    Unique {
        /// The query for the lines to remove duplicates from.
        of: Box<Self>,
    },
    /// The lines that occur more than once in a text, each shown once, in the order of first occurrence.
    Repeated {
        /// The query for the lines to search for repetitions.
        of: Box<Self>,
    },
    /// The words of a text as lines: runs of letters, digits and apostrophes, ASCII letters in lower case.
    Words {
        /// The query for the lines to split into words.
        of: Box<Self>,
    },
    /// One field (column) of each line; an empty line where a line has fewer fields.
    Column {
        /// The query for the lines to split into fields.
        of: Box<Self>,
        /// The number of the field to show, from 1.
        number: u64,
        /// What separates the fields of a line.
        separator: Separator,
    },
    /// The lines with every occurrence of a text replaced.
    Replace {
        /// The query for the lines in which text is replaced.
        of: Box<Self>,
        /// The text to replace, never empty.
        find: String,
        /// The text that replaces each occurrence.
        with: String,
    },
    /// The occurrences of a text as lines, from left to right, without overlaps.
    Matches {
        /// The query for the lines to search for the text.
        of: Box<Self>,
        /// The text whose occurrences are listed, never empty.
        text: String,
        /// Whether the search for the text ignores ASCII case.
        ignore_case: bool,
        /// Whether an occurrence counts only without an ASCII letter, digit or `_` beside it.
        whole_word: bool,
    },
    /// A text transformed: its case, order or line breaks changed.
    Rewritten {
        /// The query for the lines to transform.
        of: Box<Self>,
        /// The transformation of the text.
        how: Rewrite,
    },
    /// A part of each file's path as a line, in the order of the files.
    Names {
        /// The query for the files whose paths are taken apart.
        of: Box<Self>,
        /// The part of the path to show: name, folder or extension.
        part: NamePart,
    },
    /// The lines with their line numbers, as `number:line`.
    Numbered {
        /// The query for the lines to number: lines of files, possibly filtered or a range of them.
        of: Box<Self>,
    },
    /// A comparison of two texts.
    Compare {
        /// The query for the lines of the first text.
        of: Box<Self>,
        /// The query for the lines of the second text.
        with: Box<Self>,
        /// The question about the two texts, such as whether they are identical.
        relation: Relation,
    },
    /// The files with their sizes and modification times.
    Details {
        /// The query for the files to list with size and modification time.
        of: Box<Self>,
    },
    /// One property of each file or folder, as `value<tab>path`.
    Field {
        /// The query for the files or folders whose property is shown.
        of: Box<Self>,
        /// The property to show, such as the owner.
        field: Field,
    },
    /// The files whose content equals that of at least one other file, as `sha256<tab>path`, sorted.
    Duplicates {
        /// The query for the files to search for equal content.
        of: Box<Self>,
    },
    /// One number for each group of elements, as `number<tab>group`: the largest number first, ties by group name.
    Group {
        /// The query for the elements to group: files, or lines (grouped by text and only counted).
        of: Box<Self>,
        /// The property that the elements of a group share.
        by: GroupKey,
        /// The function that computes the number of each group, such as the count.
        function: Function,
    },
    /// A single number computed from all elements of a query.
    Aggregate {
        /// The query for the elements that the number is computed from.
        of: Box<Self>,
        /// The function that computes the number, such as a count or a total size.
        function: Function,
    },
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
    /// The property that elements are sorted by.
    pub by: Key,
    /// The sort direction, ascending or descending.
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
    Range {
        /// Number of the first line of the range, from 1.
        from: u64,
        /// Number of the last line of the range, itself included.
        to: u64,
    },
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
