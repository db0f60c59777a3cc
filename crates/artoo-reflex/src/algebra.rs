//! The typed query algebra: what a request means, free of its wording.

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

/// A question about files, about text, or about the machine.
///
/// A tree of operators over sources. [`Query::ty`] says what it yields, [`Query::normalise`] brings equal meanings
/// to one form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Query {
    /// Source: what lies under one or several folders, each thing once.
    Tree {
        /// Absolute paths of the folders, never none; sorted, each once.
        roots: Vec<String>,
        /// How far down.
        depth: Depth,
        /// Whether names that start with a dot, and what lies below them, belong to it.
        hidden: bool,
        /// What counts as an element.
        kind: Kind,
    },
    /// Source: things named one by one. What is not there, or of another kind, is no element.
    Paths {
        /// Absolute paths, never none; sorted, each once.
        paths: Vec<String>,
        /// What counts as an element.
        kind: Kind,
    },
    /// Source: the lines of one file.
    TextFile {
        /// Absolute path of the file.
        path: String,
    },
    /// Source: the names of what one archive (tar, tar.gz, zip) holds, one a line, in the archive's order.
    ArchiveEntries {
        /// Absolute path of the archive.
        path: String,
    },
    /// Source: the running processes.
    Processes,
    /// Source: a fact of the machine.
    System {
        /// Which.
        fact: Fact,
    },
    /// The lines of many files, one file after the other in the order of their paths; shown as `path:line`.
    TextOf {
        /// Files.
        of: Box<Self>,
    },
    /// The elements that satisfy a predicate.
    Filter {
        /// Files, lines (then the predicate is about the line's text) or processes (about the command's name).
        of: Box<Self>,
        /// What they must satisfy.
        keep: Pred,
    },
    /// The same elements, ordered; what no key tells apart stays in the order of paths (files) or as it was.
    Sort {
        /// Files, lines, groups or processes.
        of: Box<Self>,
        /// What decides, the first key first; never none.
        keys: Vec<SortKey>,
    },
    /// `count` elements of an order after the first `skip`; without [`Query::Sort`] below, of the order of paths.
    Limit {
        /// Files, groups or processes.
        of: Box<Self>,
        /// Elements passed over.
        skip: u64,
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
    /// Each line once, where it occurs first.
    Unique {
        /// Lines.
        of: Box<Self>,
    },
    /// The lines that occur more than once, each once, where it occurs first.
    Repeated {
        /// Lines.
        of: Box<Self>,
    },
    /// The words of a text, one a line: runs of letters, digits and apostrophes, A to Z in lower case.
    Words {
        /// Lines.
        of: Box<Self>,
    },
    /// One field of each line; a line with fewer fields has an empty one.
    Column {
        /// Lines.
        of: Box<Self>,
        /// Which, from 1.
        number: u64,
        /// What stands between fields.
        separator: Separator,
    },
    /// The lines with every occurrence of a text replaced.
    Replace {
        /// Lines.
        of: Box<Self>,
        /// The text, never empty.
        find: String,
        /// What takes its place.
        with: String,
    },
    /// The occurrences of a text, one a line, as they stand there, from the left, none overlapping another.
    Matches {
        /// Lines.
        of: Box<Self>,
        /// The text, never empty.
        text: String,
        /// Whether the case of ASCII letters is ignored.
        ignore_case: bool,
        /// Whether neither an ASCII letter, a digit nor `_` may stand beside it.
        whole_word: bool,
    },
    /// The text written otherwise.
    Rewritten {
        /// Lines.
        of: Box<Self>,
        /// How.
        how: Rewrite,
    },
    /// A part of each path as a line, in the order of the files.
    Names {
        /// Files.
        of: Box<Self>,
        /// Which part.
        part: NamePart,
    },
    /// The lines with their numbers in their file, as `number:line`.
    Numbered {
        /// Lines of files, perhaps filtered or a stretch of them.
        of: Box<Self>,
    },
    /// Two texts, or two files' content, held against each other.
    Compare {
        /// Lines.
        of: Box<Self>,
        /// Lines.
        with: Box<Self>,
        /// What is asked of the two.
        relation: Relation,
    },
    /// Files with their length and time of last change.
    Details {
        /// Files.
        of: Box<Self>,
    },
    /// One property of each element, as `value<tab>path`.
    Field {
        /// Files or folders.
        of: Box<Self>,
        /// Which property.
        field: Field,
    },
    /// The files whose content at least one other of them has too, as `sha256<tab>path`, sorted.
    Duplicates {
        /// Files.
        of: Box<Self>,
    },
    /// One number for each group of elements, as `number<tab>group`: the greatest number first, equal ones by the groups'
    /// names, bytewise.
    Group {
        /// Files, or lines (only by their text, only counted).
        of: Box<Self>,
        /// What a group has in common.
        by: GroupKey,
        /// Which number.
        function: Function,
    },
    /// One number.
    Aggregate {
        /// What the number is made of.
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
    /// Symbolic links.
    Link,
    /// Everything: files, folders, links, devices.
    Any,
}

/// One key of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SortKey {
    /// What decides.
    pub by: Key,
    /// Which end comes first.
    pub order: Order,
}

/// What orders elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Files: length in bytes.
    Size,
    /// Folders: sum of the lengths of the files below, hidden ones included.
    TotalSize,
    /// Files and folders: time of last change.
    Modified,
    /// Files, folders, processes: their own name, bytewise.
    Name,
    /// Files and folders: the whole path, bytewise.
    Path,
    /// Files: what follows the name's last dot, in lower case, empty where there is none, bytewise.
    Extension,
    /// Lines: the text, bytewise.
    Text,
    /// Lines: the number the line begins with, 0 where it begins with none.
    Numeric,
    /// Lines: length in characters.
    Length,
    /// Groups: their number.
    Value,
    /// Processes: resident memory.
    Memory,
    /// Processes: share of processor time.
    Cpu,
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
    /// From this line number on, from 1.
    From(u64),
}

/// What stands between the fields of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Separator {
    /// Runs of spaces and tabs; those at the line's start separate nothing.
    Whitespace,
    /// This text, each occurrence. Quotation marks mean nothing.
    Text(String),
}

/// How a text is written otherwise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rewrite {
    /// ASCII letters become capital.
    UpperCase,
    /// ASCII letters become small.
    LowerCase,
    /// The signs of each line in reversed order.
    Mirrored,
    /// The lines in reversed order.
    Reversed,
    /// Lines are cut after so many columns.
    Wrapped(u64),
    /// All lines as one, this between them: nothing, or one sign.
    Joined(String),
    /// Of each line the last field between runs of spaces and tabs; of a blank one nothing.
    LastField,
}

/// A part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamePart {
    /// The name without its folder.
    Name,
    /// The folder it lies in.
    Folder,
    /// What follows the name's last dot, in lower case; a name without one gives no line.
    Extension,
}

/// What is asked of two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The lines of the first that the second has too, each once.
    Common,
    /// The lines of the first that the second has not, each once.
    OnlyFirst,
    /// Whether both are the same, byte by byte.
    Identical,
    /// What is to be changed in the first file to get the second, as `diff` tells it.
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
    /// What the content is, told from its first bytes.
    FileType,
    /// The permission bits, in octal.
    Permissions,
    /// The owner's name.
    Owner,
    /// Time of last change.
    Modified,
    /// Number of lines.
    Lines,
    /// Number of words, separated by white space.
    Words,
    /// Of a folder: sum of the lengths of the files below, hidden ones included.
    TotalSize,
}

/// What the elements of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKey {
    /// What follows the name's last dot, in lower case; empty where there is none.
    Extension,
    /// The folder they lie in.
    Folder,
    /// The day of their last change, local, as `2024-05-15`.
    Day,
    /// The month of their last change, local, as `2024-05`.
    Month,
    /// The year of their last change, local.
    Year,
    /// Whether file, folder, link or other.
    Kind,
    /// The owner's name.
    Owner,
    /// Lines: their text.
    Text,
}

/// A number made of many elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// How many.
    Count,
    /// Whether there is any: yes or no.
    Any,
    /// Files: sum of the lengths of the regular files, in bytes.
    TotalBytes,
    /// Files: mean of their lengths, in bytes, rounded down; 0 of none.
    AverageBytes,
    /// Files: the greatest length; 0 of none.
    LargestBytes,
    /// Files: the least length; 0 of none.
    SmallestBytes,
    /// Lines: number of words, separated by white space.
    Words,
    /// Lines: number of characters, line ends included.
    Characters,
    /// Lines: sum of the numbers they begin with; a line that begins with none adds nothing.
    Sum,
    /// Lines: mean of the numbers they begin with; lines that begin with none don't count.
    Average,
    /// Lines: the least number a line begins with.
    Minimum,
    /// Lines: the greatest number a line begins with.
    Maximum,
}
