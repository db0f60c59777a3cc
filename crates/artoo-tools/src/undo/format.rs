//! What the journal writes down of an act: before it starts, while it goes on, when it is over.

use std::path::PathBuf;

use artoo_proto::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::state::{Identity, State};

/// The version of these files; a file of a later version is an error and stays as it is.
pub(super) const VERSION: u8 = 2;

/// The oldest version read: it has no commits and no trees told by their facts.
const OLDEST_VERSION: u8 = 1;

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
    /// These are about to be taken away: files are moved to where contents are kept, empty folders are removed.
    Removing { all: Vec<Before> },
    /// These are about to be done, in their order; which of them were is told by what stands where.
    Committing {
        /// Part of the passing names that copies go by.
        nonce: String,
        operations: Vec<Operation>,
    },
    /// It has been.
    Done { done: Done },
}

/// One operation of a commit. Stored under a number: in the act's own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub(crate) enum Operation {
    /// A folder goes from one path to the other.
    Rename {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
        old: Identity,
        tree: String,
    },
    /// What stands at the path is stored.
    Store {
        #[serde(with = "line")]
        path: PathBuf,
        before: State,
        old: Identity,
        tree: String,
        number: u64,
    },
    /// A new thing comes from the layer, a folder with all in it.
    Put {
        #[serde(with = "line")]
        path: PathBuf,
        #[serde(with = "line")]
        source: PathBuf,
        after: State,
        new: Identity,
        number: u64,
        /// What it holds, as far as the process that planned it knows.
        #[serde(skip)]
        below: Vec<Change>,
    },
    /// A thing from the layer takes the place of the one at the path, which is stored.
    Exchange {
        #[serde(with = "line")]
        path: PathBuf,
        #[serde(with = "line")]
        source: PathBuf,
        before: State,
        after: State,
        old: Identity,
        new: Identity,
        /// Digest of what is stored as it is; `None` where the state tells enough to make it again.
        tree: Option<String>,
        number: u64,
        #[serde(skip)]
        below: Vec<Change>,
    },
    /// Mode, owner and user attributes of what stays where it is.
    Facts {
        #[serde(with = "line")]
        path: PathBuf,
        before: State,
        after: State,
        old: Identity,
        /// The mode it gets in the end, where this only opens a folder for what changes in it.
        closes_to: Option<u32>,
        /// Whose attributes it gets.
        #[serde(skip)]
        source: Option<PathBuf>,
    },
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
pub(crate) struct Change {
    #[serde(with = "line")]
    pub(crate) path: PathBuf,
    pub(crate) before: State,
    pub(crate) after: State,
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
        version @ OLDEST_VERSION..=VERSION => Ok(version),
        other => Err(de::Error::custom(format_args!(
            "it has version {other}, and this artoo reads versions {OLDEST_VERSION} to {VERSION}"
        ))),
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

#[cfg(test)]
mod tests {
    use super::Ended;

    #[test]
    fn earlier_versions_are_read_and_later_ones_are_not() {
        let ended = |version: u8| {
            let header = serde_json::json!({
                "version": version, "at": "2026-01-02T03:04:05.678Z", "tool": "shell", "what": "w",
                "not_undoable": null, "undoes": null,
            });
            let change = serde_json::json!({"path": "/a", "before": {"kind": "absent"}, "after": {"kind": "link", "target": "b"}});
            let done = serde_json::json!([{"done": "changed", "changes": [change]}]);
            let text = serde_json::json!({"header": header, "done": done, "interrupted": false, "complete": false});
            serde_json::from_value::<Ended>(text)
        };
        assert!(ended(1).is_ok() && ended(2).is_ok(), "{:?}", ended(1));
        let error = ended(3).unwrap_err().to_string();
        assert!(error.contains("version 3") && error.contains("versions 1 to 2"), "{error}");
        assert!(ended(0).is_err());
    }
}
