//! Predicates: properties of one file, one line or one process.

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

/// A property of one file, one line, or one process.
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
    /// A property of the file's, folder's or process's own name; case counts.
    Name(NameTest),
    /// The same, the case of ASCII letters ignored.
    NameIgnoringCase(NameTest),
    /// It lies below the folder at this absolute path.
    Inside(String),
    /// A folder between the root (itself not counted) and the file has such a name; case counts.
    Below(NameTest),
    /// The length in bytes is at least this.
    MinBytes(u64),
    /// The length in bytes is at most this.
    MaxBytes(u64),
    /// Last changed at this moment or later.
    ModifiedFrom(Timestamp),
    /// Last changed before this moment.
    ModifiedBefore(Timestamp),
    /// Last changed later than what lies at this absolute path.
    NewerThan(String),
    /// Last read at this moment or later.
    AccessedFrom(Timestamp),
    /// Last read before this moment.
    AccessedBefore(Timestamp),
    /// A folder with nothing in it, hidden things included.
    EmptyFolder,
    /// A regular file that somebody may execute (one of the three execute bits is set).
    Executable,
    /// The permission bits are these, of the lowest nine and the three special ones.
    Mode(u32),
    /// All of these permission bits are set, perhaps more.
    ModeAll(u32),
    /// The owning group has this name.
    Group(String),
    /// The owner has this name.
    Owner(String),
    /// The content (of a file) or the text (of a line) holds this text.
    Contains {
        /// The text, never empty.
        text: String,
        /// Whether the case of ASCII letters is ignored.
        ignore_case: bool,
    },
    /// The same with neither an ASCII letter, a digit nor `_` beside it.
    Word {
        /// The text, never empty.
        text: String,
        /// Whether the case of ASCII letters is ignored.
        ignore_case: bool,
    },
    /// A property of a line as a whole; case counts. Never [`NameTest::Has`], which is [`Pred::Contains`].
    Line(NameTest),
    /// A line of nothing but white space.
    Blank,
    /// A line of at least this many characters.
    MinLength(u64),
    /// A line of at most this many characters.
    MaxLength(u64),
}

impl Pred {
    /// The same tree with every property that is no `All`, `Any` or `Not` replaced.
    pub(crate) fn map(self, replace: &impl Fn(Self) -> Self) -> Self {
        let each = |parts: Vec<Self>| parts.into_iter().map(|part| part.map(replace)).collect();
        match self {
            Self::All(parts) => Self::All(each(parts)),
            Self::Any(parts) => Self::Any(each(parts)),
            Self::Not(inner) => Self::Not(Box::new(inner.map(replace))),
            property => replace(property),
        }
    }

    /// Whether the whole holds, by what its properties say.
    pub(crate) fn holds(&self, property: &impl Fn(&Self) -> bool) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(property)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(property)),
            Self::Not(inner) => !inner.holds(property),
            leaf => property(leaf),
        }
    }

    /// Whether the tree holds a property that passes a test, negated or not.
    pub(crate) fn has(&self, test: &impl Fn(&Self) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.has(test)),
            Self::Not(inner) => inner.has(test),
            property => test(property),
        }
    }
}

/// A property of a name, or of a line.
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
