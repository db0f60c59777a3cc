//! The System's record of tasks: open, with a result published but not delivered, and recently ended.

use std::collections::{BTreeMap, HashSet, VecDeque};

use artoo_proto::{MessageId, TaskId};

use crate::limits::ENDED_REMEMBERED;

/// The open tasks of this process, and the ids of recently ended ones.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    open: BTreeMap<TaskId, OpenTask>,
    ended: VecDeque<TaskId>,
}

/// A task that has begun and whose result was not delivered to the operator yet.
#[derive(Debug, Default)]
struct OpenTask {
    /// Whether the task's result was published; no more work is done for the task then.
    concluded: bool,
    /// Ids of the messages that the operator received, so that no question is asked twice.
    told: HashSet<MessageId>,
}

impl Tasks {
    /// Opens a task. Returns `false` if its id belongs to an open or recently ended task.
    pub(super) fn begin(&mut self, task: &TaskId) -> bool {
        if self.open.contains_key(task) || self.ended.contains(task) {
            return false;
        }
        self.open.insert(task.clone(), OpenTask::default());
        true
    }

    /// Tasks whose result was not delivered to the operator yet.
    pub(super) fn open(&self) -> impl Iterator<Item = &TaskId> {
        self.open.keys()
    }

    /// Whether the task has begun and its result was not delivered to the operator yet.
    pub(super) fn is_open(&self, task: &TaskId) -> bool {
        self.open.contains_key(task)
    }

    /// Whether the task has begun and its result was not published yet.
    pub(super) fn is_working(&self, task: &TaskId) -> bool {
        self.open.get(task).is_some_and(|open| !open.concluded)
    }

    /// Notes that the task's result was published.
    pub(super) fn conclude(&mut self, task: &TaskId) {
        if let Some(open) = self.open.get_mut(task) {
            open.concluded = true;
        }
    }

    /// Notes that the operator gets this message. Returns `false` if the message was sent before, or if the task has a
    /// result.
    pub(super) fn tell(&mut self, task: &TaskId, message: MessageId) -> bool {
        self.open.get_mut(task).is_some_and(|open| !open.concluded && open.told.insert(message))
    }

    /// Notes that the task's result was delivered. Returns the ended tasks that are now forgotten, or `None` if the
    /// task was not open.
    pub(super) fn end(&mut self, task: &TaskId) -> Option<Vec<TaskId>> {
        self.open.remove(task)?;
        self.ended.push_back(task.clone());
        let too_many = self.ended.len().saturating_sub(ENDED_REMEMBERED);
        Some(self.ended.drain(..too_many).collect())
    }
}
