//! Predicts the outcome of an undo without changing anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::format::{Change, Done};
use super::restore::Told;
use super::resumed::Resumed;
use super::state::{self, State};
use super::store::{Item, ItemOutcome, items};
use super::verdict::{has_other_time, interrupted_move, judge, moved_from};
use crate::limit::Limit;
use crate::texts;

/// What an undo would do, found out without changing anything.
#[derive(Default)]
pub(super) struct Preview {
    pub(super) items: Vec<Item>,
    seen: BTreeSet<PathBuf>,
}

impl Preview {
    /// Adds what an undo would do with one group of changes, or with one move.
    pub(super) fn add(&mut self, done: &Done, resumed: &Resumed, limit: &Limit) {
        let told: Vec<Told> = match done {
            Done::Changed { changes } => changes.iter().map(|change| self.changed(change, resumed, limit)).collect(),
            Done::Moved { from, to, .. } => {
                let stands = !self.is_touched(from) && from.symlink_metadata().is_ok();
                let outcome = match (stands, to.symlink_metadata().is_ok()) {
                    (true, true) => ItemOutcome::Conflict { reason: texts::STANDS_THERE.to_owned() },
                    (true, false) => ItemOutcome::Already,
                    (false, _) => ItemOutcome::Done,
                };
                self.seen.insert(to.clone());
                vec![(from.clone(), moved_from(to), outcome)]
            }
            Done::Torn { from, to } => {
                self.items.extend(items([interrupted_move(from, to)]));
                return;
            }
        };
        // Added only now, since the changes of one act are judged independently.
        self.seen.extend(told.iter().map(|(path, ..)| path.clone()));
        self.items.extend(items(told));
    }

    /// What an undo would do with the path of one recorded change.
    fn changed(&self, change: &Change, resumed: &Resumed, limit: &Limit) -> Told {
        let action = if change.before == State::Absent { "removed" } else { "brought back" };
        let is_done = self.is_touched(&change.path) || resumed.has_brought(&change.path, &change.before);
        let outcome = if is_done {
            ItemOutcome::Done
        } else {
            match state::at(&change.path, limit) {
                Ok(present) => judge(change, &present, resumed)
                    .filter(|outcome| *outcome != ItemOutcome::Already || !has_other_time(change, &present))
                    .unwrap_or(ItemOutcome::Done),
                Err(error) => ItemOutcome::Impossible { reason: error.to_string() },
            }
        };
        (change.path.clone(), action, outcome)
    }

    /// Whether an earlier change of this undo concerns the path, or one above or below it.
    fn is_touched(&self, path: &Path) -> bool {
        // In sorted order, paths below a path follow it directly.
        path.ancestors().any(|above| self.seen.contains(above))
            || self.seen.range(path.to_path_buf()..).next().is_some_and(|seen| seen.starts_with(path))
    }
}
