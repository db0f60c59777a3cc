//! Acts: what a request changes. Each is over a selection, which is listed and checked before anything is touched.

use serde::{Deserialize, Serialize};

use super::Query;

/// One step of a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A question.
    Ask(Query),
    /// A change.
    Do(Act),
}

/// A change of the machine. A selection (`of`) yields files and has no [`Query::Details`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// Creates folders, with those above them; one that is there already stays as it is.
    CreateFolder {
        /// Absolute paths, never none.
        paths: Vec<String>,
    },
    /// Creates a file; what is there already is never overwritten.
    CreateFile {
        /// Absolute path.
        path: String,
        /// Its whole content, perhaps empty. A text that is not empty ends with a line end.
        text: String,
    },
    /// Copies; nothing is overwritten.
    Copy {
        /// What.
        of: Query,
        /// Where to.
        to: Target,
    },
    /// Moves; nothing is overwritten.
    Move {
        /// What.
        of: Query,
        /// Where to.
        to: Target,
    },
    /// Gives new names in the same folder; nothing is overwritten.
    Rename {
        /// What.
        of: Query,
        /// How a name changes.
        change: NameChange,
    },
    /// Packs into one new archive, whose name's end says its form: `.tar.gz`, `.tgz`, `.tar` or `.zip`.
    Archive {
        /// What; a folder with all it holds.
        of: Query,
        /// Absolute path of the archive.
        to: String,
    },
    /// Unpacks archives into a folder, which is created; nothing is overwritten.
    Extract {
        /// Archives.
        of: Query,
        /// Absolute path of the folder.
        to: String,
    },
    /// Deletes; a folder with all it holds.
    Delete {
        /// What.
        of: Query,
    },
    /// Writes a file's text with every occurrence of a text replaced into a new file; the first stays as it is.
    Replace {
        /// Absolute path of the file that is read.
        path: String,
        /// The text, never empty.
        find: String,
        /// What takes its place.
        with: String,
        /// Absolute path of the new file.
        to: String,
    },
}

/// Where something is copied or moved to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Into this folder (absolute), under their own names; it is created where it is not there.
    Into(String),
    /// To this path (absolute) itself; only for a selection of one.
    As(String),
}

/// How a name changes. The stem is what stands before the last dot, or the whole name where that dot is the first sign.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameChange {
    /// The whole name becomes this; only for a selection of one.
    To(String),
    /// A template of text with `{stem}`, `{ext}`, `{name}`, `{n}` or `{n:3}` (the element's number in the order, from 1,
    /// perhaps with leading zeros) and `{modified}` (day of last change).
    Template(String),
    /// What follows the last dot becomes this (no dot); a name without one gets it.
    Extension(String),
    /// This text comes before the name.
    Prefix(String),
    /// This text comes after the stem.
    Suffix(String),
    /// Letters become small.
    LowerCase,
    /// Letters become capital.
    UpperCase,
    /// Every occurrence of a text is replaced.
    Replace {
        /// The text, never empty.
        find: String,
        /// What takes its place.
        with: String,
    },
}

impl Act {
    /// The selection it is over; an act that creates has none.
    #[must_use]
    pub fn selection(&self) -> Option<&Query> {
        match self {
            Self::CreateFolder { .. } | Self::CreateFile { .. } | Self::Replace { .. } => None,
            Self::Copy { of, .. }
            | Self::Move { of, .. }
            | Self::Rename { of, .. }
            | Self::Archive { of, .. }
            | Self::Extract { of, .. }
            | Self::Delete { of } => Some(of),
        }
    }

    /// The same act with its selection in normal form.
    #[must_use]
    pub fn normalise(self) -> Self {
        match self {
            Self::Copy { of, to } => Self::Copy { of: of.normalise(), to },
            Self::Move { of, to } => Self::Move { of: of.normalise(), to },
            Self::Rename { of, change } => Self::Rename { of: of.normalise(), change },
            Self::Archive { of, to } => Self::Archive { of: of.normalise(), to },
            Self::Extract { of, to } => Self::Extract { of: of.normalise(), to },
            Self::Delete { of } => Self::Delete { of: of.normalise() },
            same @ (Self::CreateFolder { .. } | Self::CreateFile { .. } | Self::Replace { .. }) => same,
        }
    }
}
