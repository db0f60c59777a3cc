//! The files of the undo journal: the notes written before, during and after an act.

use std::path::PathBuf;

use artoo_proto::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::state::{Identity, State};

/// The format version of the journal's files. A file of a later version is an error and is not changed.
pub(super) const VERSION: u8 = 2;

/// The oldest journal format version that is read: it has no commits and no fingerprints of trees.
const OLDEST_VERSION: u8 = 1;

/// Describes an act in both of its journal notes: format version, time, tool, and whether it can't be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(deserialize_with = "known_version")]
    pub(super) version: u8,
    pub(super) at: Timestamp,
    pub(super) tool: String,
    /// The command or action in one line.
    pub(super) what: String,
    /// Why an undo can't revert the changes, if so.
    pub(super) not_undoable: Option<String>,
    /// The entry that is reverted, for an undo.
    pub(super) undoes: Option<String>,
    /// The call that acts, or that is undone; `None` before format 2 and for undos.
    #[serde(default)]
    pub(super) call: Option<String>,
}

/// The note that is written and synced before an act starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) header: Header,
    /// Paths that are compared afterwards, with everything below them.
    #[serde(with = "lines")]
    pub(super) roots: Vec<PathBuf>,
    /// Their states before the act.
    pub(super) before: Vec<Before>,
}

/// A path and its state before the act, as the journal stores them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    #[serde(with = "line")]
    pub(super) path: PathBuf,
    pub(super) state: State,
}

/// One line of the log of an act. Each line except [`Step::Done`] is written before the step is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step {
    /// A path that does not exist yet is about to be created.
    Creating {
        #[serde(with = "line")]
        root: PathBuf,
    },
    /// A file or folder is about to be moved.
    Moving {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
        /// The digest of the file or folder.
        tree: String,
    },
    /// An undo is about to revert this path, by way of a temporary name beside it.
    Bringing { before: Before, aside: Option<String> },
    /// An undo is about to move these files into the journal and to remove these empty folders.
    Removing { all: Vec<Before> },
    /// A commit is about to perform these operations in order.
    Committing {
        /// Part of the commit's temporary names.
        nonce: String,
        operations: Vec<Operation>,
    },
    /// The step before this one was made.
    Done { done: Done },
}

/// One operation of a commit, as the journal stores it. `number` identifies the displaced file or folder in the
/// journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub(crate) enum Operation {
    /// A folder is renamed.
    Rename {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
        old: Identity,
        tree: String,
    },
    /// A file or folder is moved into the journal.
    Store {
        #[serde(with = "line")]
        path: PathBuf,
        before: State,
        old: Identity,
        tree: String,
        number: u64,
    },
    /// A new file or folder is moved from the layer.
    Put {
        #[serde(with = "line")]
        path: PathBuf,
        #[serde(with = "line")]
        source: PathBuf,
        after: State,
        new: Identity,
        number: u64,
        /// The entries of a new folder; known only to the process that planned the commit.
        #[serde(skip)]
        below: Vec<Change>,
    },
    /// A file or folder from the layer replaces another, which is moved into the journal.
    Exchange {
        #[serde(with = "line")]
        path: PathBuf,
        #[serde(with = "line")]
        source: PathBuf,
        before: State,
        after: State,
        old: Identity,
        new: Identity,
        /// Tree digest of what is stored unchanged; `None` if the state is enough to create it again.
        tree: Option<String>,
        number: u64,
        #[serde(skip)]
        below: Vec<Change>,
    },
    /// Mode, owner or user attributes are set.
    Facts {
        #[serde(with = "line")]
        path: PathBuf,
        before: State,
        after: State,
        old: Identity,
        /// The final mode of a folder that is made writable for changes in it.
        closes_to: Option<u32>,
        /// The folder in the layer whose attributes are copied.
        #[serde(skip)]
        source: Option<PathBuf>,
    },
}

/// A change that an act made, as the journal stores it: changed paths, a move, or a move that was torn.
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
    /// A move that was cut off: both paths exist.
    Torn {
        #[serde(with = "line")]
        from: PathBuf,
        #[serde(with = "line")]
        to: PathBuf,
    },
}

/// The states of one path before and after a change, as the journal stores them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    #[serde(with = "line")]
    pub(crate) path: PathBuf,
    pub(crate) before: State,
    pub(crate) after: State,
}

/// The note written and synced at the end of an act: its changes, and whether the act was interrupted or, if an undo,
/// complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) header: Header,
    pub(super) done: Vec<Done>,
    /// The process ended before the act did; the changes found later count as its own.
    pub(super) interrupted: bool,
    /// Whether an undo reverted every change.
    pub(super) complete: bool,
}

/// Deserialises a format version; rejects unknown ones.
fn known_version<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    match u8::deserialize(from)? {
        version @ OLDEST_VERSION..=VERSION => Ok(version),
        other => Err(de::Error::custom(format_args!(
            "it has version {other}, and this artoo reads versions {OLDEST_VERSION} to {VERSION}"
        ))),
    }
}

/// Serialises a path as one line of text with escapes, whatever bytes the path has.
mod line {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer, de};

    /// Serialises a path as one line of text with escapes.
    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&crate::paths::line(path))
    }

    /// Deserialises a path from one line of text with escapes.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = artoo_proto::escape::path_from_line(&text).ok_or_else(|| de::Error::custom("no path"))?;
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }
}

/// Serialises paths, each as by [`line`].
mod lines {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A path serialised as one line, for lists of paths.
    #[derive(Serialize, Deserialize)]
    struct Line(#[serde(with = "super::line")] PathBuf);

    /// Serialises a list of paths.
    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().cloned().map(Line))
    }

    /// Deserialises a list of paths.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Line>::deserialize(from)?.into_iter().map(|Line(path)| path).collect())
    }
}

/// Tests which versions of the journal's format are read.
#[cfg(test)]
mod tests {
    use super::Ended;

    /// Journal notes of earlier format versions are read; those of later versions are an error.
    #[test]
    fn earlier_formats_are_read_later_refused() {
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
