//! Predicates: conditions on one file, one line or one process.

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

/// A condition on one file, one line or one process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pred {
    /// All of these predicates hold; an empty list always holds.
    All(Vec<Self>),
    /// At least one of these predicates holds; an empty list never holds.
    Any(Vec<Self>),
    /// The inner predicate does not hold.
    Not(Box<Self>),
    /// The file name ends in a dot and this extension, ignoring ASCII case. Stored in lower case without the dot.
    Extension(String),
    /// A test of the name of a file, folder or process; case-sensitive.
    Name(NameTest),
    /// A test of a file or folder name that ignores ASCII case.
    NameIgnoringCase(NameTest),
    /// The file is below the folder at this absolute path.
    Inside(String),
    /// The name of some folder between the search root (excluded) and the file passes a test; case-sensitive.
    Below(NameTest),
    /// The file is at least this many bytes long.
    MinBytes(u64),
    /// The file is at most this many bytes long.
    MaxBytes(u64),
    /// The file was modified at this time or later.
    ModifiedFrom(Timestamp),
    /// The file was modified before this time.
    ModifiedBefore(Timestamp),
    /// The file was modified later than the file at this absolute path.
    NewerThan(String),
    /// The file was last read at this time or later.
    AccessedFrom(Timestamp),
    /// The file was last read before this time.
    AccessedBefore(Timestamp),
    /// The folder has no entries, not even hidden ones.
    EmptyFolder,
    /// The file is a regular file with at least one of the three execute bits set.
    Executable,
    /// The permission bits (the lowest nine and the three special ones) are exactly these.
    Mode(u32),
    /// All of these permission bits are set; others may be set too.
    ModeAll(u32),
    /// The owning group has this name.
    Group(String),
    /// The owner of the file or process has this name.
    Owner(String),
    /// The content of a file, or the text of a line, contains a text, which is not empty; `ignore_case` ignores ASCII
    /// case.
    Contains { text: String, ignore_case: bool },
    /// The same for a text as a whole word: with no ASCII letter, digit or underscore beside it.
    Word { text: String, ignore_case: bool },
    /// A test of a whole line; case-sensitive. Never [`NameTest::Has`], which is [`Pred::Contains`].
    Line(NameTest),
    /// The line is empty or white space only.
    Blank,
    /// The line has at least this many characters.
    MinLength(u64),
    /// The line has at most this many characters.
    MaxLength(u64),
}

impl Pred {
    /// The predicate with each leaf (a condition other than `All`, `Any`, `Not`) replaced by the function's result.
    pub(crate) fn map(self, replace: &impl Fn(Self) -> Self) -> Self {
        let each = |parts: Vec<Self>| parts.into_iter().map(|part| part.map(replace)).collect();
        match self {
            Self::All(parts) => Self::All(each(parts)),
            Self::Any(parts) => Self::Any(each(parts)),
            Self::Not(inner) => Self::Not(Box::new(inner.map(replace))),
            property => replace(property),
        }
    }

    /// Whether the predicate holds, given a function that says whether a leaf (a single condition) holds.
    pub(crate) fn holds(&self, property: &impl Fn(&Self) -> bool) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(property)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(property)),
            Self::Not(inner) => !inner.holds(property),
            leaf => property(leaf),
        }
    }

    /// Whether any leaf (a single condition) of the predicate passes a test, negated or not.
    pub(crate) fn has(&self, test: &impl Fn(&Self) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.has(test)),
            Self::Not(inner) => inner.has(test),
            property => test(property),
        }
    }
}

/// A test of a file name or of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameTest {
    /// The name or line is equal to this text.
    Is(String),
    /// The name or line starts with this text.
    Starts(String),
    /// The name or line ends with this text.
    Ends(String),
    /// The name or line contains this text.
    Has(String),
    /// The name or line matches this pattern of `*`, `?` and `[…]`.
    Glob(String),
    /// A part of the line matches this extended regular expression.
    Pattern(String),
}

impl NameTest {
    /// The same test with its text changed by a function.
    pub(crate) fn map(self, change: impl Fn(String) -> String) -> Self {
        match self {
            Self::Is(text) => Self::Is(change(text)),
            Self::Starts(text) => Self::Starts(change(text)),
            Self::Ends(text) => Self::Ends(change(text)),
            Self::Has(text) => Self::Has(change(text)),
            Self::Glob(pattern) => Self::Glob(change(pattern)),
            Self::Pattern(pattern) => Self::Pattern(change(pattern)),
        }
    }
}
