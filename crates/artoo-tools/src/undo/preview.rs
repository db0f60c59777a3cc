//! What an undo would do, without changing anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::format::{Change, Done};
use super::restore::Told;
use super::resumed::Resumed;
use super::state::{self, State};
use super::store::{Item, ItemOutcome, items};
use super::verdict::{has_other_time, judge, moved_from, torn};
use crate::limit::Limit;
use crate::texts;

/// The outcome of an undo if nothing changes in between.
#[derive(Default)]
pub(super) struct Preview {
    pub(super) items: Vec<Item>,
    seen: BTreeSet<PathBuf>,
}

impl Preview {
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
                self.items.extend(items([torn(from, to)]));
                return;
            }
        };
        // Only now: the changes of one act are each judged as they stand.
        self.seen.extend(told.iter().map(|(path, ..)| path.clone()));
        self.items.extend(items(told));
    }

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

    fn is_touched(&self, path: &Path) -> bool {
        // Sorted, what lies below a path comes right behind it.
        path.ancestors().any(|above| self.seen.contains(above))
            || self.seen.range(path.to_path_buf()..).next().is_some_and(|seen| seen.starts_with(path))
    }
}
