//! What an undo would do, found without touching anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::format::Done;
use super::restore::Told;
use super::resumed::Resumed;
use super::state::{self, State};
use super::store::{Item, ItemOutcome, items};
use super::verdict::{has_other_time, judge, moved_from};
use crate::limit::Limit;
use crate::paths;

/// What an undo would do, as far as nothing in between changes it.
#[derive(Default)]
pub(super) struct Preview {
    pub(super) items: Vec<Item>,
    seen: BTreeSet<PathBuf>,
}

impl Preview {
    pub(super) fn add(&mut self, done: &Done, resumed: &Resumed, limit: &Limit) {
        let (mut told, mut seen): (Vec<Told>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        match done {
            Done::Changed { changes } => {
                for change in changes {
                    let action = if change.before == State::Absent { "removed" } else { "brought back" };
                    let outcome = if self.is_touched(&change.path) || resumed.has_brought(&change.path, &change.before)
                    {
                        ItemOutcome::Done
                    } else {
                        match state::at(&change.path, limit) {
                            Ok(present) => judge(change, &present, resumed)
                                .filter(|told| *told != ItemOutcome::Already || !has_other_time(change, &present))
                                .unwrap_or(ItemOutcome::Done),
                            Err(error) => ItemOutcome::Impossible { reason: error.to_string() },
                        }
                    };
                    told.push((change.path.clone(), action, outcome));
                    seen.push(change.path.clone());
                }
            }
            Done::Moved { from, to, .. } => {
                let reason = "something else stands there now".to_owned();
                let stands = !self.is_touched(from) && from.symlink_metadata().is_ok();
                let outcome = match (stands, to.symlink_metadata().is_ok()) {
                    (true, true) => ItemOutcome::Conflict { reason },
                    (true, false) => ItemOutcome::Already,
                    (false, _) => ItemOutcome::Done,
                };
                told.push((from.clone(), moved_from(to), outcome));
                seen.extend([from.clone(), to.clone()]);
            }
            Done::Torn { from, to } => {
                let reason = format!("it was being moved to {}; what is at both places is left", paths::line(to));
                told.push((from.clone(), "moved back", ItemOutcome::Impossible { reason }));
            }
        }
        self.items.extend(items(told));
        self.seen.extend(seen);
    }

    fn is_touched(&self, path: &Path) -> bool {
        // Sorted, what lies below a path comes right behind it.
        path.ancestors().any(|above| self.seen.contains(above))
            || self.seen.range(path.to_path_buf()..).next().is_some_and(|seen| seen.starts_with(path))
    }
}
