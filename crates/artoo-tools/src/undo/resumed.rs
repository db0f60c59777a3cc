//! Changes that earlier, interrupted undos made: the next undo of the same entry continues from there.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::commit::ASIDE;
use super::format::{Change, Done, Ended};
use super::restore::Told;
use super::state::State;
use super::store::ItemOutcome;
use crate::texts;

/// What earlier, interrupted undos of a journal entry have already restored and moved, so that a new undo continues.
#[derive(Debug, Default)]
pub(super) struct Resumed {
    brought: BTreeMap<PathBuf, Vec<State>>,
    moved: BTreeSet<(PathBuf, PathBuf)>,
    /// Temporary names that remain because their content is not known.
    leftovers: BTreeSet<PathBuf>,
}

impl Resumed {
    /// Adds the recorded changes of an earlier, interrupted undo; the oldest undo must be added first.
    pub(super) fn add(&mut self, undo: Ended) {
        for done in undo.done {
            match done {
                Done::Changed { changes } => {
                    for Change { path, after, .. } in changes {
                        self.brought.entry(path).or_default().push(after);
                    }
                }
                Done::Moved { from, to, .. } => drop(self.moved.insert((from, to))),
                Done::Torn { to, .. } => {
                    let is_aside = to.file_name().is_some_and(|name| name.as_bytes().starts_with(ASIDE.as_bytes()));
                    self.leftovers.extend(is_aside.then_some(to));
                }
            }
        }
    }

    /// Temporary names of interrupted undos that still exist, to be named in the report.
    pub(super) fn leftovers(&self) -> impl Iterator<Item = Told> {
        let outcome = || ItemOutcome::Impossible { reason: texts::LEFT_BY_UNDO.to_owned() };
        let still = self.leftovers.iter().filter(|path| path.symlink_metadata().is_ok());
        still.map(move |path| (path.clone(), "removed", outcome()))
    }

    /// Whether an interrupted undo restored the path to this state already; later changes of the path are not the
    /// act's.
    pub(super) fn has_brought(&self, path: &Path, state: &State) -> bool {
        self.brought.get(path).is_some_and(|states| states.iter().any(|brought| brought.same(state)))
    }

    /// Whether an earlier, interrupted undo has moved `from` to `to` already.
    pub(super) fn has_moved(&self, from: &Path, to: &Path) -> bool {
        self.moved.contains(&(from.to_path_buf(), to.to_path_buf()))
    }

    /// Whether an earlier, interrupted undo left the path in this state, perhaps half done.
    pub(super) fn has_left(&self, path: &Path, state: &State) -> bool {
        self.brought.get(path).and_then(|states| states.last()).is_some_and(|left| left.same(state))
    }
}
