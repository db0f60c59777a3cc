//! Lists the changes that an act made, for the record of a call.

use std::path::Path;

use artoo_proto::{FOLDER, FileChange};

use super::format::Done;
use super::state::State;
use crate::paths;

/// Maximum number of changes in one record: a build makes thousands.
const LISTED_MAX: usize = 256;

/// The changes that the undo journal found after a call, and whether they are all.
#[derive(Debug, Default)]
pub(crate) struct RecordedChanges {
    /// The changes in the order of paths, at most [`LISTED_MAX`].
    pub(crate) changed: Vec<FileChange>,
    /// Whether the list has every change of the paths that were read.
    pub(crate) is_whole: bool,
}

impl RecordedChanges {
    /// Lists the journal's changes for the record of a call, without moves; `sees_all`: every change is known.
    pub(super) fn of(done: &[Done], sees_all: bool) -> Self {
        let changes = done.iter().flat_map(|done| match done {
            Done::Changed { changes } => changes.as_slice(),
            Done::Moved { .. } | Done::Torn { .. } => &[],
        });
        Self::of_changes(changes.map(|change| (change.path.as_path(), &change.before, &change.after)), sees_all)
    }

    /// Lists these changes for the record of a call; `sees_all`: whether every change is known.
    pub(crate) fn of_changes<'a>(
        changes: impl Iterator<Item = (&'a Path, &'a State, &'a State)>,
        sees_all: bool,
    ) -> Self {
        let mut changed: Vec<FileChange> = changes.take(LISTED_MAX + 1).map(recorded_change).collect();
        let is_whole = sees_all && changed.len() <= LISTED_MAX;
        changed.truncate(LISTED_MAX);
        Self { changed, is_whole }
    }

    /// Adds paths whose times changed and nothing else; the list is not whole if they exceed [`LISTED_MAX`].
    pub(crate) fn add_times<'a>(&mut self, paths: impl Iterator<Item = &'a Path>) {
        for path in paths {
            if self.changed.len() == LISTED_MAX {
                self.is_whole = false;
                return;
            }
            let (before, after) = (Some("its times".to_owned()), Some("other times".to_owned()));
            self.changed.push(FileChange { path: paths::line(path), before, after });
        }
    }
}

/// A change of a path in the form in which a record lists it.
fn recorded_change((path, was, is): (&Path, &State, &State)) -> FileChange {
    let (mut before, mut after) = (name(was), name(is));
    if before == after {
        before = before.map(|name| name + &particulars(was));
        after = after.map(|name| name + &particulars(is));
    }
    FileChange { path: paths::line(path), before, after }
}

/// How a record names a state: a file's digest, a link's target or the kind; `None` if the path does not exist.
fn name(state: &State) -> Option<String> {
    match state {
        State::Absent => None,
        State::File(file) => Some(file.digest.clone().unwrap_or_else(|| "a file that was not read".to_owned())),
        State::Folder(_) => Some(FOLDER.to_owned()),
        State::Link { target } => Some(format!("link to {target}")),
        State::Pipe(_) | State::Odd { .. } => Some(state.name().to_owned()),
    }
}

/// Mode, and of a file the modification time, as text, to tell apart states whose content is the same; empty for other
/// states.
fn particulars(state: &State) -> String {
    match state {
        State::File(file) => {
            let facts = &file.facts;
            format!(" mode {:04o} modified {}.{:09}", facts.mode, facts.modified_s, facts.modified_ns)
        }
        State::Folder(facts) | State::Pipe(facts) => format!(" mode {:04o}", facts.mode),
        State::Absent | State::Link { .. } | State::Odd { .. } => String::new(),
    }
}
