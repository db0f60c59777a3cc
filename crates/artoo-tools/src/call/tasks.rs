//! State of the tasks in progress: open questions, approvals, denials and failed calls.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_proto::{ConsentHash, TaskId};
use serde_json::Value;

use super::dedupe::FailedCalls;
use crate::consent::denial::Denial;
use crate::consent::scope::{self, ApprovalScope};
use crate::effects::{CallEffects, EffectSet};
use crate::tool::Pending;

/// Maximum number of tasks whose state is stored. Beyond it the oldest task loses its approvals, denials and pending
/// changes.
const TASKS_MAX: usize = 256;

/// Maximum number of open questions of one task; more than its subtasks run in parallel.
const QUESTIONS_MAX: usize = 64;

/// How long the changes of a run wait for the user's approval until they are discarded.
pub(super) const PENDING_TIME: Duration = Duration::from_secs(30 * 60);

/// The state of all tasks. Its lock is never held across an await.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    states: Mutex<States>,
}

/// The state of each task, with the order in which the tasks came, to remove the oldest.
#[derive(Debug, Default)]
struct States {
    by_id: BTreeMap<TaskId, TaskState>,
    /// Oldest first.
    order: VecDeque<TaskId>,
}

/// State of one task: open questions, approvals, denials and failed calls.
#[derive(Debug, Default)]
struct TaskState {
    questions: VecDeque<OpenQuestion>,
    /// Scopes approved for the task, each for one tool.
    approved: Vec<(String, ApprovalScope)>,
    denials: Vec<Denial>,
    failed: FailedCalls,
}

/// A question that the user has not answered yet: its digest, effects and pending changes.
#[derive(Debug)]
struct OpenQuestion {
    hash: ConsentHash,
    effects: CallEffects,
    /// The changes that the question is about, if the call has run already, and since when they are kept.
    pending: Option<(Pending, Instant)>,
}

impl Tasks {
    /// Adds an open question to the task's state; the oldest is dropped beyond the maximum.
    pub(crate) fn asked(&self, task: &TaskId, hash: &ConsentHash, effects: CallEffects) {
        let question = OpenQuestion { hash: hash.clone(), effects, pending: None };
        self.with(task, |state| {
            state.questions.retain(|known| known.hash != question.hash);
            state.questions.push_back(question);
            if state.questions.len() > QUESTIONS_MAX {
                state.questions.pop_front();
            }
        });
    }

    /// Stores a run's pending changes with their question until it is answered.
    pub(crate) fn hold(&self, task: &TaskId, hash: &ConsentHash, pending: Pending) {
        self.with(task, |state| {
            if let Some(question) = state.questions.iter_mut().find(|known| known.hash == *hash) {
                question.pending = Some((pending, Instant::now()));
            }
        });
    }

    /// Removes and returns the pending changes whose question has this digest; `None` if there are none or they waited
    /// too long.
    pub(crate) fn take_pending(&self, task: &TaskId, hash: &ConsentHash) -> Option<Pending> {
        self.discard_old();
        let pending =
            self.with(task, |state| state.questions.iter_mut().find(|known| known.hash == *hash)?.pending.take());
        pending.map(|(pending, _)| pending)
    }

    /// Discards changes that have waited for [`PENDING_TIME`]; if their question is approved later, the call runs
    /// again.
    pub(crate) fn discard_old(&self) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let questions = states.by_id.values_mut().flat_map(|state| &mut state.questions);
        for question in questions {
            question.pending.take_if(|(_, since)| since.elapsed() >= PENDING_TIME);
        }
    }

    /// Closes a question that the user denied, discards its pending changes, and stores the denial unless the call only
    /// reads.
    pub(crate) fn deny(&self, task: &TaskId, hash: &ConsentHash) {
        self.with(task, |state| {
            if let Some(at) = state.questions.iter().position(|known| known.hash == *hash)
                && let Some(question) = state.questions.remove(at)
                && !question.effects.is_read_only()
            {
                state.denials.push(Denial::of(&question.effects));
            }
        });
    }

    /// The user's denials in a task as JSON.
    pub(crate) fn denials(&self, task: &TaskId) -> Value {
        self.with(task, |state| serde_json::to_value(&state.denials).unwrap_or_default())
    }

    /// Adds denials of a resumed task that were stored as JSON.
    pub(crate) fn restore_denials(&self, task: &TaskId, denials: Value) -> serde_json::Result<()> {
        let denials: Vec<Denial> = serde_json::from_value(denials)?;
        self.with(task, |state| state.denials.extend(denials));
        Ok(())
    }

    /// The denied effect that a call would repeat, as text for the user; `None` if it repeats none or only reads.
    pub(crate) fn denied(&self, task: &TaskId, effects: &CallEffects) -> Option<String> {
        if effects.is_read_only() {
            return None;
        }
        self.with(task, |state| state.denials.iter().find_map(|denial| denial.repeated_by(effects)))
    }

    /// Approves these effects of this tool for the rest of the task, as the user chose.
    pub(crate) fn approve(&self, task: &TaskId, tool: &str, effects: &EffectSet) {
        let scopes = scope::exact(effects).into_iter().map(|scope| (tool.to_owned(), scope));
        self.with(task, |state| state.approved.extend(scopes));
    }

    /// Whether each of these effects was approved for the rest of the task, for this tool.
    pub(crate) fn approves(&self, task: &TaskId, tool: &str, effects: &EffectSet) -> bool {
        self.with(task, |state| {
            let scopes = state.approved.iter().filter(|(own, _)| own == tool).map(|(_, scope)| scope);
            scope::covers(scopes, effects)
        })
    }

    /// Calls a function with the failed calls of a task, to read or change them.
    pub(crate) fn failed<T>(&self, task: &TaskId, act: impl FnOnce(&mut FailedCalls) -> T) -> T {
        self.with(task, |state| act(&mut state.failed))
    }

    /// Removes the state of a task that has ended.
    pub(crate) fn forget(&self, task: &TaskId) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.by_id.remove(task);
        states.order.retain(|known| known != task);
    }

    /// Calls `act` with the state of a task; creates the state if the task has none.
    fn with<T>(&self, id: &TaskId, act: impl FnOnce(&mut TaskState) -> T) -> T {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if !states.by_id.contains_key(id) {
            if states.order.len() >= TASKS_MAX
                && let Some(oldest) = states.order.pop_front()
            {
                states.by_id.remove(&oldest);
            }
            states.order.push_back(id.clone());
        }
        act(states.by_id.entry(id.clone()).or_default())
    }
}
