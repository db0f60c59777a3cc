//! The list of changes that one command made, and its digest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::digest;
use crate::paths;
use crate::undo::{Identity, RecordedChanges, State, Touched};
pub(crate) use crate::view::Layer;

/// Digests of a file's or folder's extended attributes before and after the change; `None` if it has none.
pub(super) type AttributeDigests = (Option<String>, Option<String>);

/// The kind of a change: created, changed, replaced, mode, times, deleted or renamed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Created,
    /// The same file type with other content.
    #[default]
    Changed,
    /// The same content; mode, owner or attributes differ.
    Mode,
    /// A file of which only the times differ.
    Times,
    Deleted,
    /// Another file type.
    Replaced,
    /// A folder from another path.
    Renamed {
        from: PathBuf,
    },
}

/// An entry of a change set: the change of one path, with its state before and after.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) before: State,
    pub(crate) after: State,
    pub(crate) attributes: AttributeDigests,
    /// Whether the path is in a folder that was created or deleted as a whole.
    pub(crate) is_inside: bool,
    /// Whether the file gives new capabilities to any user who runs it.
    pub(crate) gains_capability: bool,
    /// The existing file that this is a new name of.
    pub(crate) link_of: Option<PathBuf>,
    /// Whether the new file has names that are not in this list.
    pub(crate) has_other_names: bool,
    /// The path of the new file or folder in the layer.
    pub(super) source: PathBuf,
    pub(super) old: Option<Identity>,
    pub(super) new: Option<Identity>,
    /// Digest of the tree that was deleted, replaced or renamed.
    pub(super) tree: Option<String>,
}

/// The changes of one command: entries to commit, incidental ones that are not, and new times.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ChangeSet {
    /// The changes in the order of paths.
    pub(crate) entries: Vec<Entry>,
    /// Paths of incidental changes, which are not committed, each with the reason.
    pub(crate) incidental: Vec<(PathBuf, &'static str)>,
    /// When the command was started: seconds and nanoseconds since 1970.
    pub(super) started: (i64, i64),
    /// Times that changed.
    pub(super) touched: Vec<Touched>,
    /// Times of the other folders in the layers, which are restored after the commit.
    pub(super) folders: Vec<Touched>,
    /// Files and folders in the layers with attributes of the overlay.
    pub(super) marked: Vec<PathBuf>,
    /// The overlay's marks for deletions in new folders, which must not be committed.
    pub(super) residue: Vec<PathBuf>,
}

impl Kind {
    /// The kind of change in one word, such as `created`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Mode => "mode",
            Self::Times => "times",
            Self::Deleted => "deleted",
            Self::Replaced => "replaced",
            Self::Renamed { .. } => "renamed",
        }
    }
}

impl Entry {
    /// The number of hard links of the real file before the change; `None` if it has only one or was no regular file.
    pub(crate) fn names_before(&self) -> Option<u64> {
        self.before.file().map(|file| file.links).filter(|links| *links > 1)
    }

    /// The old path if the entry is a renamed folder; `None` otherwise.
    pub(super) fn renamed_from(&self) -> Option<&Path> {
        if let Kind::Renamed { from } = &self.kind { Some(from) } else { None }
    }

    /// Whether an undo can't revert this entry: it changes owner or attributes of a folder that stays in its place.
    pub(crate) fn is_left_out(&self) -> bool {
        let is_kept = self.before.same_owner(&self.after) && self.attributes.0 == self.attributes.1;
        self.kind == Kind::Mode && !is_kept
    }

    /// The size in bytes of the entry's new content; 0 if it is not a file.
    pub(crate) fn bytes(&self) -> u64 {
        self.after.file().map_or(0, |file| file.bytes)
    }
}

impl ChangeSet {
    /// Whether every change creates a new path, and no times of existing paths differ.
    pub(crate) fn only_creates(&self) -> bool {
        self.paths_with_new_times().next().is_none() && self.entries.iter().all(|entry| entry.kind == Kind::Created)
    }

    /// Paths without an entry whose times differ, except folders in which an entry lies.
    fn paths_with_new_times(&self) -> impl Iterator<Item = &Path> {
        let entries = self.entries.iter().filter(|entry| entry.kind != Kind::Times);
        let changed: BTreeSet<&Path> = entries.flat_map(|entry| entry.path.ancestors()).collect();
        let paths = self.touched.iter().map(|touched| touched.path.as_path());
        paths.filter(move |path| !changed.contains(path))
    }

    /// Whether the change set has nothing to commit, not even a change of times.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.touched.is_empty()
    }

    /// The time that a command set on a file, as text for a question: `now` for the time of the run.
    pub(crate) fn time(&self, entry: &Entry) -> String {
        let set = entry.after.facts().map_or(0, |facts| facts.modified_s);
        if set >= self.started.0 { "now".to_owned() } else { Timestamp::from_millis(set * 1000).to_string() }
    }

    /// The digest to which an approval of the change set is bound. It does not depend on the time of the run, inodes
    /// and layers.
    pub(crate) fn digest(&self) -> String {
        let mut parts: Vec<String> = Vec::with_capacity(self.entries.len() * 5);
        for entry in &self.entries {
            let from = entry.renamed_from().map(paths::line).unwrap_or_default();
            let link_of = entry.link_of.as_deref().map(paths::line).unwrap_or_default();
            let attributes = format!("{:?}", entry.attributes);
            parts.extend([paths::line(&entry.path), entry.kind.name().to_owned(), from, link_of, attributes]);
            parts.extend([content(&entry.before), content(&entry.after)]);
            if entry.kind == Kind::Times {
                parts.push(self.time(entry));
            }
        }
        digest::of_parts(parts.iter().map(String::as_bytes))
    }

    /// The changes as a record lists them.
    pub(crate) fn changes(&self) -> RecordedChanges {
        let nothing = &State::Absent;
        let changes = self.entries.iter().filter(|entry| entry.kind != Kind::Times).flat_map(move |entry| {
            let gone = entry.renamed_from().map(|from| (from, &entry.before, nothing));
            let before = if gone.is_some() { nothing } else { &entry.before };
            gone.into_iter().chain([(entry.path.as_path(), before, &entry.after)])
        });
        let mut changes = RecordedChanges::of_changes(changes, true);
        changes.add_times(self.paths_with_new_times());
        changes
    }
}

/// Kind, mode, owner and content of a state in one line, without times and inodes, for the change set's digest.
fn content(state: &State) -> String {
    let facts = state.facts().map(|facts| format!("{:o} {} {}", facts.mode, facts.owner, facts.group));
    let content = match state {
        State::File(file) => format!("{} {}", file.bytes, file.digest.as_deref().unwrap_or("not read")),
        State::Link { target } => target.clone(),
        State::Absent | State::Folder(_) | State::Pipe(_) | State::Odd { .. } => String::new(),
    };
    format!("{} {} {content}", state.name(), facts.unwrap_or_default())
}
