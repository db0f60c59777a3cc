//! Small sets of words that the meanings of phrases are made of.

use serde::Deserialize;

use crate::algebra::{Depth, Part};

/// A verb for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActWord {
    Create,
    /// "mkdir".
    CreateFolder,
    Copy,
    Move,
    Rename,
    /// "change the extension of".
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
    /// "one", in place of a noun.
    One,
    /// "again": the whole request before.
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

/// A question about a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Disk {
    Free,
    Used,
    /// The used share, in percent.
    Share,
    /// The space that one file or folder takes.
    OfFolder,
    Total,
}

/// A verb that asks.
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
    /// Size or age, decided by the unit that follows.
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
    /// Within the range; needs no word such as "modified" before it.
    From,
    /// Within the range; only after a word such as "modified".
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
    /// "recursively".
    Whole,
    /// "directly in", before a place.
    Direct,
    /// "not including subfolders", after a place.
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
