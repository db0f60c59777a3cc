//! What is remembered of a task at the hand: what a person allowed and refused in it, and which calls failed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use artoo_proto::{ConsentHash, TaskId};

use super::failed::{CallKey, FailedCalls};
use super::reach::{Cover, Reach};
use super::refusal::{Footprint, Refusal};
use crate::record::Record;

/// Tasks remembered at a time; many more than run at once. The oldest goes first, and asks again for what it needs.
const TASKS_MAX: usize = 256;

/// Questions of a task that may stand at a time: more than subtasks run in parallel.
const ASKED_MAX: usize = 64;

/// The memories of all tasks.
///
/// Never held over an await: each use is a look-up or a note.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    tasks: Mutex<Memories>,
}

#[derive(Debug, Default)]
struct Memories {
    by_id: BTreeMap<TaskId, Task>,
    /// Oldest first.
    order: VecDeque<TaskId>,
}

#[derive(Debug, Default)]
struct Task {
    /// What stands behind each question until it is answered.
    asked: VecDeque<(ConsentHash, Footprint)>,
    allowed: Vec<(String, Cover)>,
    refused: Vec<Refusal>,
    failed: FailedCalls,
}

impl Tasks {
    /// A question stands.
    pub(crate) fn asked(&self, task: &TaskId, hash: &ConsentHash, footprint: Footprint) {
        self.with(task, |task| {
            task.asked.retain(|(known, _)| known != hash);
            task.asked.push_back((hash.clone(), footprint));
            if task.asked.len() > ASKED_MAX {
                task.asked.pop_front();
            }
        });
    }

    /// A person, or the lack of one, said no: what the call would have done is not done in this task.
    pub(crate) fn refused(&self, task: &TaskId, hash: &ConsentHash) {
        self.with(task, |task| {
            if let Some(at) = task.asked.iter().position(|(known, _)| known == hash)
                && let Some((_, footprint)) = task.asked.remove(at)
            {
                task.refused.push(Refusal::of(&footprint));
            }
        });
    }

    /// What of the call has been refused before, for a person.
    pub(crate) fn refusal(&self, task: &TaskId, footprint: &Footprint) -> Option<String> {
        self.with(task, |task| task.refused.iter().find_map(|refusal| refusal.hit_by(footprint)))
    }

    /// A yes for the rest of the task.
    pub(crate) fn allow(&self, task: &TaskId, tool: &str, reach: &Reach) {
        let covers = reach.covers().into_iter().map(|cover| (tool.to_owned(), cover));
        self.with(task, |task| task.allowed.extend(covers));
    }

    /// Whether each effect of the call was allowed for the task.
    pub(crate) fn allows(&self, task: &TaskId, tool: &str, reach: &Reach) -> bool {
        self.with(task, |task| {
            let own = task.allowed.iter().filter(|(own, _)| own == tool).map(|(_, cover)| cover);
            reach.is_within(own)
        })
    }

    /// The record of a call that failed before and is not made again.
    pub(crate) fn failed(&self, task: &TaskId, key: &CallKey, looks: &str, now: Instant) -> Option<Record> {
        self.with(task, |task| task.failed.refusal(key, looks, now))
    }

    /// A call has ended.
    pub(crate) fn ended(&self, task: &TaskId, key: CallKey, looks: String, record: &Record, now: Instant) {
        self.with(task, |task| task.failed.ended(key, looks, record, now));
    }

    /// The task is over.
    pub(crate) fn forget(&self, task: &TaskId) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.by_id.remove(task);
        tasks.order.retain(|known| known != task);
    }

    fn with<T>(&self, id: &TaskId, act: impl FnOnce(&mut Task) -> T) -> T {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if !tasks.by_id.contains_key(id) {
            if tasks.order.len() >= TASKS_MAX
                && let Some(oldest) = tasks.order.pop_front()
            {
                tasks.by_id.remove(&oldest);
            }
            tasks.order.push_back(id.clone());
        }
        act(tasks.by_id.entry(id.clone()).or_default())
    }
}
