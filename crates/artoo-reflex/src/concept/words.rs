//! Small sets of words that the meanings of phrases are made of.

use serde::Deserialize;

use crate::algebra::{Depth, Part};

/// A verb for a change of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActWord {
    Create,
    /// Create a folder: a word such as "mkdir".
    CreateFolder,
    Copy,
    Move,
    Rename,
    /// Change the extension of names: a phrase such as "change the extension of".
    ChangeExtension,
    Archive,
    Extract,
    Delete,
    Replace,
}

/// A word that refers to an earlier result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reference {
    It,
    Those,
    /// The word "one" in place of a noun.
    One,
    /// The word "again": the whole previous request.
    Again,
}

/// What "how often does each … occur" counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Counted {
    Words,
    Lines,
}

/// A unit that a text is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextUnit {
    Words,
    Characters,
    Numbers,
    Entries,
}

/// What a question about a file system or its use asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Disk {
    Free,
    Used,
    /// The used share of a file system, in percent.
    Share,
    /// The space on disk that one file or folder takes.
    OfFolder,
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
    First,
    Last,
}

/// The direction of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    Above,
    AtLeast,
    Exactly,
    AtMost,
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
    Size,
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
    Since,
    Before,
    After,
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

/// A phrase for the depth of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DepthWord {
    /// Everything below a folder: a word such as "recursively".
    Whole,
    /// Direct children only: a phrase such as "directly in", before a folder.
    Direct,
    /// Direct children only: a phrase such as "not including subfolders", after a folder.
    DirectAdverb,
}

impl DepthWord {
    /// The depth that the phrase means.
    pub(crate) fn depth(self) -> Depth {
        match self {
            Self::Whole => Depth::Whole,
            Self::Direct | Self::DirectAdverb => Depth::Direct,
        }
    }
}

/// Whether hidden files are included, excluded, or the only ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hidden {
    Include,
    Exclude,
    Only,
}

/// How a name relates to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NameRelation {
    Is,
    Starts,
    Ends,
    Has,
    Glob,
    /// Equal to the text, even if it contains wildcards.
    Literally,
}
