//! What the System keeps of its tasks: which are open, whose result is on its way, which are over.

use std::collections::{BTreeMap, HashSet, VecDeque};

use artoo_proto::{Address, MessageId, TaskId};

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
    /// Instances that panicked, with how often; no message brings one back.
    fallen: BTreeMap<Address, u32>,
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

    /// Notes a panic; how often this instance has panicked in its task.
    pub(super) fn fall(&mut self, task: &TaskId, address: &Address) -> u32 {
        let Some(open) = self.open.get_mut(task) else { return 0 };
        let falls = open.fallen.entry(address.clone()).or_default();
        *falls = falls.saturating_add(1);
        *falls
    }

    pub(super) fn has_fallen(&self, address: &Address) -> bool {
        let open = address.task_id.as_ref().and_then(|task| self.open.get(task));
        open.is_some_and(|open| open.fallen.contains_key(address))
    }

    /// Its result was handed out; `false` if it was before.
    pub(super) fn end(&mut self, task: &TaskId) -> bool {
        if self.open.remove(task).is_none() {
            return false;
        }
        if self.ended.len() == ENDED_REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(task.clone());
        true
    }
}
