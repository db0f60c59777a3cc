//! What undos of the same entry have done that were cut off in the middle: the next one goes on from there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::format::{Change, Done, Ended};
use super::state::State;

/// What stands as an undo left it.
#[derive(Debug, Default)]
pub(super) struct Resumed {
    brought: BTreeMap<PathBuf, Vec<State>>,
    moved: BTreeSet<(PathBuf, PathBuf)>,
}

impl Resumed {
    /// Adds what one of them did, oldest first.
    pub(super) fn add(&mut self, undo: Ended) {
        for done in undo.done {
            match done {
                Done::Changed { changes } => {
                    for Change { path, after, .. } in changes {
                        self.brought.entry(path).or_default().push(after);
                    }
                }
                Done::Moved { from, to, .. } => drop(self.moved.insert((from, to))),
                Done::Torn { .. } => {}
            }
        }
    }

    /// Whether this path was brought to this state already; what has become of it since is not an act's doing.
    pub(super) fn has_brought(&self, path: &Path, state: &State) -> bool {
        self.brought.get(path).is_some_and(|states| states.iter().any(|brought| brought.same(state)))
    }

    /// Whether it was moved like this already.
    pub(super) fn has_moved(&self, from: &Path, to: &Path) -> bool {
        self.moved.contains(&(from.to_path_buf(), to.to_path_buf()))
    }

    /// Whether this is what an undo left of a path, perhaps half done.
    pub(super) fn has_left(&self, path: &Path, state: &State) -> bool {
        self.brought.get(path).and_then(|states| states.last()).is_some_and(|left| left.same(state))
    }
}
