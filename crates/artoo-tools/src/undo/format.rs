//! What the journal writes down of an act: before it starts, while it goes on, when it is over.

use std::path::PathBuf;

use artoo_proto::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::state::State;

/// The version of these files; a file of another version is an error and stays as it is.
pub(super) const VERSION: u8 = 1;

/// What an act is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(deserialize_with = "known_version")]
    pub(super) version: u8,
    pub(super) at: Timestamp,
    pub(super) tool: String,
    /// What is done, in one line.
    pub(super) what: String,
    /// Why what it changes can't be brought back, where that is so.
    pub(super) not_undoable: Option<String>,
    /// The entry that this act takes back, for an undo.
    pub(super) undoes: Option<String>,
}

/// Written and synced before an act starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) header: Header,
    /// What is watched: these paths and all below.
    #[serde(with = "lines")]
    pub(super) roots: Vec<PathBuf>,
    /// What stood there.
    pub(super) before: Vec<Before>,
}

/// What stood at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    #[serde(with = "line")]
    pub(super) path: PathBuf,
    pub(super) state: State,
}

/// One line while an act goes on; each is written before what it tells of, except [`Step::Done`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step {
    /// Nothing stands here; what will is the act's.
    Creating {
        #[serde(with = "line")]
        root: PathBuf,
    },
    /// All of it goes from one place to the other.
    Moving {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
        /// Digest of everything in it.
        tree: String,
    },
    /// This path is about to be brought back; what stood there goes by way of the name beside it.
    Bringing { before: Before, aside: Option<String> },
    /// It has been.
    Done { done: Done },
}

/// Something an act did, in the order of doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub(super) enum Done {
    Changed {
        changes: Vec<Change>,
    },
    Moved {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
        tree: String,
    },
    /// Cut off in the middle: both places hold something.
    Torn {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
    },
}

/// One path, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Change {
    #[serde(with = "line")]
    pub(super) path: PathBuf,
    pub(super) before: State,
    pub(super) after: State,
}

/// Written and synced when an act is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) header: Header,
    pub(super) done: Vec<Done>,
    /// artoo did not see its end: what was found later counts as its doing.
    pub(super) interrupted: bool,
    /// An undo that brought back all it was to bring back.
    pub(super) complete: bool,
}

fn known_version<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    match u8::deserialize(from)? {
        VERSION => Ok(VERSION),
        other => Err(de::Error::custom(format_args!("it has version {other}, and this artoo reads version {VERSION}"))),
    }
}

/// A path as one line with escapes: any byte a file name may hold.
mod line {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&crate::paths::line(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = artoo_proto::escape::path_from_line(&text).ok_or_else(|| de::Error::custom("no path"))?;
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }
}

mod lines {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Line(#[serde(with = "super::line")] PathBuf);

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().cloned().map(Line))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Line>::deserialize(from)?.into_iter().map(|Line(path)| path).collect())
    }
}
