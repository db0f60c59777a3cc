//! What a client tells while it works: pieces, waits, whole exchanges. Lossy and one-way; nobody waits for a listener.

use std::time::Duration;

use artoo_proto::{ModelRequest, Role, SubTaskId, TaskId};
use serde::Serialize;

/// Whose call something is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Caller {
    /// The role.
    pub role: Role,
    /// Its task.
    pub task_id: TaskId,
    /// Its subtask.
    pub subtask_id: Option<SubTaskId>,
}

impl Caller {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        Self { role: request.role, task_id: request.task_id.clone(), subtask_id: request.subtask_id }
    }
}

/// Something worth telling while a call is under way. No text here holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The answer has grown.
    Writing {
        /// Characters of it so far.
        chars: usize,
        /// Characters of reasoning kept apart.
        reasoning_chars: usize,
    },
    /// The endpoint is asked again after a wait.
    Waiting {
        /// How long.
        wait: Duration,
        /// Tries made.
        tries: u32,
        /// Tries there will be at most.
        tries_max: u32,
        /// What went wrong.
        why: String,
    },
    /// Another model answers in place of one that can't.
    FellBack {
        /// The one that can't.
        from: String,
        /// The one that is asked now.
        to: String,
        /// What was wrong.
        why: String,
    },
    /// The call is over.
    Done,
}

/// One HTTP exchange as it went over the wire, with every spelling of the key taken out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// Whose.
    #[serde(flatten)]
    pub caller: Caller,
    /// Where it went, without its query.
    pub url: String,
    /// What was sent.
    pub request: String,
    /// The status of the answer, where one came.
    pub status: Option<u16>,
    /// What came, as far as it came.
    pub response: String,
    /// How the answer ended before its end, or why none came.
    pub trouble: Option<String>,
}

/// Someone who looks on. Called on the way of every call: must not wait.
pub trait Observer: Send + Sync {
    /// A call has come along.
    fn step(&self, _caller: &Caller, _step: &Step) {}

    /// Whether whole exchanges are wanted; they cost copies.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// A try is over.
    fn exchange(&self, _exchange: &Exchange) {}
}
