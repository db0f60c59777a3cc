//! Enums of the words that the meanings of phrases consist of, such as verbs and units.

use serde::Deserialize;

use crate::algebra::Part;

/// A verb for a change of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActWord {
    /// Create a file or a folder.
    Create,
    /// Create a folder: a word such as "mkdir".
    CreateFolder,
    /// Copy files.
    Copy,
    /// Move files.
    Move,
    /// Rename files.
    Rename,
    /// Change the extension of names: a phrase such as "change the extension of".
    ChangeExtension,
    /// Pack files into an archive.
    Archive,
    /// Unpack archives.
    Extract,
    /// Delete files.
    Delete,
    /// Replace a text in a file.
    Replace,
}

/// A word that refers to an earlier result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reference {
    /// The word "it": an earlier result.
    It,
    /// A word such as "those": the elements of an earlier result.
    Those,
    /// The word "one" in place of a noun.
    One,
    /// The word "again": the whole previous request.
    Again,
}

/// A unit that a text is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextUnit {
    /// One word, after "the most common" or "the longest".
    Word,
    /// The words of a text.
    Words,
    /// The characters of a text.
    Characters,
    /// The numbers in a text.
    Numbers,
    /// The entries of an archive.
    Entries,
}

/// What a question about a file system or its use asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Disk {
    /// The free space of a file system.
    Free,
    /// The used space of a file system.
    Used,
    /// The used share of a file system, in percent.
    Share,
    /// The space on disk that one file or folder takes.
    OfFolder,
    /// The size of a file system.
    Total,
}

/// A verb that asks a question instead of changing something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    List,
    Show,
    Find,
    Read,
    Sort,
}

/// The start or the end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Edge {
    /// The start of the list.
    First,
    /// The end of the list.
    Last,
}

/// The direction of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    /// More than the quantity.
    Above,
    /// The quantity or more.
    AtLeast,
    /// Exactly the quantity.
    Exactly,
    /// The quantity or less.
    AtMost,
    /// Less than the quantity.
    Below,
}

impl Edge {
    /// The range of this many lines at this end of a text.
    pub(crate) fn part(self, count: u64) -> Part {
        match self {
            Self::First => Part::First(count),
            Self::Last => Part::Last(count),
        }
    }
}

/// The quantity in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// The size of a file.
    Size,
    /// The time since a file was modified.
    Age,
    /// Size or age; the unit that follows decides which.
    Either,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeUnit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Year,
}

/// How a modification time relates to a time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Relation {
    /// In the time range or later.
    Since,
    /// Before the time range.
    Before,
    /// After the time range.
    After,
    /// In the time range or earlier.
    Until,
    /// Within the time range; needs no word such as "modified" before the range.
    From,
    /// Within the time range; allowed only after a word such as "modified".
    During,
}

/// A named time range of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Calendar {
    Today,
    Yesterday,
    DayBeforeYesterday,
    ThisMorning,
    ThisWeek,
    LastWeek,
    ThisMonth,
    LastMonth,
    ThisYear,
    LastYear,
}

/// Whether hidden files are included, excluded, or the only ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hidden {
    /// Hidden files are included.
    Include,
    /// Hidden files are left out.
    Exclude,
    /// Only hidden files are included.
    Only,
}

/// How a name relates to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NameRelation {
    /// The name is the text, or matches it if the text has wildcards.
    Is,
    /// The name starts with the text.
    Starts,
    /// The name ends with the text.
    Ends,
    /// The name contains the text.
    Has,
    /// The name matches the text as a pattern with wildcards.
    Glob,
    /// Equal to the text, even if it contains wildcards.
    Literally,
    /// A part of the line matches the text as a regular expression.
    Pattern,
}
