//! The trait by which a program observes model calls: received characters, waits, and whole exchanges.

use std::time::Duration;

use artoo_proto::{ModelRequest, Role, SubTaskId, TaskId};
use serde::Serialize;

/// The role and task that made a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Caller {
    pub role: Role,
    pub task_id: TaskId,
    pub subtask_id: Option<SubTaskId>,
}

impl Caller {
    /// The role and task in a model request.
    pub(crate) fn of(request: &ModelRequest) -> Self {
        Self { role: request.role, task_id: request.task_id.clone(), subtask_id: request.subtask_id }
    }
}

/// Progress of a model call: text received, a wait before a retry, and the like. No text contains a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// More of the answer was received.
    Writing {
        /// Length of the answer received so far, in bytes of UTF-8.
        chars: usize,
        /// Length of the separate reasoning received so far, in bytes of UTF-8.
        reasoning_chars: usize,
    },
    /// The next try begins after a wait.
    Waiting {
        wait: Duration,
        /// Number of tries of the call made so far.
        tries: u32,
        /// Maximum number of tries of the call.
        tries_max: u32,
        /// The error of the last try, as text.
        why: String,
    },
    /// Another model is asked instead of one that failed.
    FellBack {
        /// Name of the model that failed.
        from: String,
        /// Name of the model asked next.
        to: String,
        /// The error of the failed model.
        why: String,
    },
    /// The call has ended.
    Done,
}

/// One HTTP request and its response, with every spelling of the key removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    #[serde(flatten)]
    pub caller: Caller,
    /// URL of the request, without its query.
    pub url: String,
    /// Body of the request.
    pub request: String,
    /// Status of the response, if one was received.
    pub status: Option<u16>,
    /// Body of the response, as far as it was received.
    pub response: String,
    /// The error that ended the exchange early; `None` if the exchange is complete.
    pub trouble: Option<String>,
}

/// Receives the progress of calls. Called during each call, so it must not block.
pub trait Observer: Send + Sync {
    /// Called with each step of progress of a model call; by default does nothing.
    fn step(&self, _caller: &Caller, _step: &Step) {}

    /// Whether [`Self::exchange`] is called for this observer, which requires copies of every request and response.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// Called with each finished HTTP request and response, if `wants_exchanges` is true; by default does nothing.
    fn exchange(&self, _exchange: &Exchange) {}
}
