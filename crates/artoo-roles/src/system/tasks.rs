//! What the System keeps of its tasks: which are open, whose result is on its way, which are over.

use std::collections::{BTreeMap, HashSet, VecDeque};

use artoo_proto::{MessageId, TaskId};

use crate::limits::ENDED_REMEMBERED;

/// Every task of this process, as far as it is remembered.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    open: BTreeMap<TaskId, OpenTask>,
    ended: VecDeque<TaskId>,
}

/// A task that has begun and whose result was not handed out yet.
#[derive(Debug, Default)]
struct OpenTask {
    /// Its result is on the bus: nothing more is done for it.
    concluded: bool,
    /// What the operator was handed, so that nothing is asked twice.
    told: HashSet<MessageId>,
}

impl Tasks {
    /// Opens a task; `false` for an id that was used before.
    pub(super) fn begin(&mut self, task: &TaskId) -> bool {
        if self.open.contains_key(task) || self.ended.contains(task) {
            return false;
        }
        self.open.insert(task.clone(), OpenTask::default());
        true
    }

    /// Tasks whose result was not handed out yet.
    pub(super) fn open(&self) -> impl Iterator<Item = &TaskId> {
        self.open.keys()
    }

    pub(super) fn is_open(&self, task: &TaskId) -> bool {
        self.open.contains_key(task)
    }

    /// Whether work for it still makes sense: it has begun and no result of it is on the bus.
    pub(super) fn is_working(&self, task: &TaskId) -> bool {
        self.open.get(task).is_some_and(|open| !open.concluded)
    }

    /// Its result is on the bus.
    pub(super) fn conclude(&mut self, task: &TaskId) {
        if let Some(open) = self.open.get_mut(task) {
            open.concluded = true;
        }
    }

    /// Notes that the operator is handed this message; `false` for one it had, or of a task that is over.
    pub(super) fn tell(&mut self, task: &TaskId, message: MessageId) -> bool {
        self.open.get_mut(task).is_some_and(|open| !open.concluded && open.told.insert(message))
    }

    /// Its result was handed out; gives the tasks that are no longer remembered for it, or nothing if it was before.
    pub(super) fn end(&mut self, task: &TaskId) -> Option<Vec<TaskId>> {
        self.open.remove(task)?;
        self.ended.push_back(task.clone());
        let too_many = self.ended.len().saturating_sub(ENDED_REMEMBERED);
        Some(self.ended.drain(..too_many).collect())
    }
}
