//! The list of changes that one command made, and its digest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::digest;
use crate::paths;
use crate::undo::{Identity, RecordedChanges, State, Touched};
pub(crate) use crate::view::Layer;

/// Digests of user attributes before and after; `None` where there are none.
pub(super) type AttributeDigests = (Option<String>, Option<String>);

/// How one path differs from what it was.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing was there.
    Created,
    /// The same kind of thing, with other content.
    #[default]
    Changed,
    /// The same content; mode, owner or attributes differ.
    Mode,
    /// A file of which the times alone differ.
    Times,
    Deleted,
    /// Another kind of thing.
    Replaced,
    /// A folder that was at another path.
    Renamed {
        from: PathBuf,
    },
}

/// One path that differs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) before: State,
    pub(crate) after: State,
    pub(crate) attributes: AttributeDigests,
    /// Whether it lies in a folder that was created or deleted as a whole.
    pub(crate) is_inside: bool,
    /// Whether whoever runs the file has rights by it that it did not give before.
    pub(crate) gains_capability: bool,
    /// A file whose new name this is: both names stay one file.
    pub(crate) link_of: Option<PathBuf>,
    /// Whether the new file has names that are not in this list.
    pub(crate) has_other_names: bool,
    /// Where the new thing lies.
    pub(super) source: PathBuf,
    pub(super) old: Option<Identity>,
    pub(super) new: Option<Identity>,
    /// Digest of the tree that was deleted, replaced or renamed.
    pub(super) tree: Option<String>,
}

/// What one command changed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ChangeSet {
    /// In the order of paths.
    pub(crate) entries: Vec<Entry>,
    /// Paths whose changes are thrown away, each with the reason.
    pub(crate) incidental: Vec<(PathBuf, &'static str)>,
    /// When the command was started: seconds and nanoseconds since 1970.
    pub(super) started: (i64, i64),
    /// Times that differ.
    pub(super) touched: Vec<Touched>,
    /// Times of the other folders in the layers: what is committed in them must not change these.
    pub(super) folders: Vec<Touched>,
    /// Things in the layers that carry attributes of the overlay.
    pub(super) marked: Vec<PathBuf>,
    /// Deletions in new folders of a layer: nothing to commit, and nothing to leave there.
    pub(super) residue: Vec<PathBuf>,
}

impl Kind {
    /// One word for it.
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
    /// Names of the real file, where it has more than one.
    pub(crate) fn names_before(&self) -> Option<u64> {
        self.before.file().map(|file| file.links).filter(|links| *links > 1)
    }

    /// The path a folder was at before.
    pub(super) fn renamed_from(&self) -> Option<&Path> {
        if let Kind::Renamed { from } = &self.kind { Some(from) } else { None }
    }

    /// Whether undo can't bring back what it changes: owner or attributes of something that stays where it is.
    pub(crate) fn is_left_out(&self) -> bool {
        let owner = |state: &State| state.facts().map(|facts| (facts.owner, facts.group));
        self.kind == Kind::Mode && (owner(&self.before) != owner(&self.after) || self.attributes.0 != self.attributes.1)
    }

    /// Bytes of the new content.
    pub(crate) fn bytes(&self) -> u64 {
        self.after.file().map_or(0, |file| file.bytes)
    }
}

impl ChangeSet {
    /// Whether all that differs is new.
    pub(crate) fn only_creates(&self) -> bool {
        self.retimed().next().is_none() && self.entries.iter().all(|entry| entry.kind == Kind::Created)
    }

    /// Paths of which the times alone differ, without folders that hold something else that does.
    fn retimed(&self) -> impl Iterator<Item = &Path> {
        let entries = self.entries.iter().filter(|entry| entry.kind != Kind::Times);
        let folders: BTreeSet<&Path> = entries.flat_map(|entry| entry.path.ancestors().skip(1)).collect();
        let paths = self.touched.iter().map(|touched| touched.path.as_path());
        paths.filter(move |path| !folders.contains(path))
    }

    /// Whether nothing is to be committed, not even a time.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.touched.is_empty()
    }

    /// The time that a file was given; one that it got while the command ran is only that.
    pub(crate) fn time(&self, entry: &Entry) -> String {
        let given = entry.after.facts().map_or(0, |facts| facts.modified_s);
        if given >= self.started.0 { "now".to_owned() } else { Timestamp::from_millis(given * 1000).to_string() }
    }

    /// What an approval is for: the same changes have the same digest, whenever and in whichever layer they were made.
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
        changes.add_times(self.retimed());
        changes
    }
}

/// Kind, mode, owner and content in one line, without times and inodes.
fn content(state: &State) -> String {
    let facts = state.facts().map(|facts| format!("{:o} {} {}", facts.mode, facts.owner, facts.group));
    let content = match state {
        State::File(file) => format!("{} {}", file.bytes, file.digest.as_deref().unwrap_or("not read")),
        State::Link { target } => target.clone(),
        State::Absent | State::Folder(_) | State::Pipe(_) | State::Odd { .. } => String::new(),
    };
    format!("{} {} {content}", state.name(), facts.unwrap_or_default())
}
