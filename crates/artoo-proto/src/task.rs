//! The perceiver's answer: the task as it understood the request, or the reason for which it did not.

use serde::{Deserialize, Serialize};

use crate::{Abstention, ModelFailure, Reading, SessionTurn, TaskId, Timestamp};

/// The user's goal, restated. It has no success criteria: the planner writes those.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// The task id that the runtime assigned.
    pub task_id: TaskId,
    /// The model's short snake_case name for the task, only a label.
    pub label: String,
    /// The user's goal in one sentence.
    pub intent: String,
    /// Limits the user named.
    pub constraints: Constraints,
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The last turns of the session, oldest first: they explain words like "those" and "again".
    #[serde(default)]
    pub session: Vec<SessionTurn>,
    /// Text that the user gave with the request; data, never instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// The clauses of the request and the steps that code read in them.
    #[serde(default)]
    pub reading: Reading,
    /// Whether the user can answer questions.
    #[serde(default)]
    pub interactive: bool,
}

/// Limits that the user named: where the task may act and when it must have ended; each is `null` if not named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraints {
    /// Where the task may look or act.
    pub scope: Option<String>,
    /// Time by which the task must have ended.
    pub deadline: Option<Timestamp>,
}

/// The perceiver's report that it could not turn the request into a task; nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerceptionFailed {
    /// The task that ends with this message.
    pub task_id: TaskId,
    /// The user's words, verbatim.
    pub raw_input: String,
    /// Why the request was not understood.
    pub failure: PerceptionFailure,
}

/// Why a request could not be turned into a task: bad input, an abstention, or a model failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PerceptionFailure {
    /// The model could not be used, or gave no usable reply.
    Model {
        /// Why the call to the model failed.
        failure: ModelFailure,
    },
    /// The embedded parser understood only a part of the request.
    Abstained {
        /// Which part of the request was understood and which was not.
        abstention: Abstention,
    },
    /// The request is empty or too large, or a required check can't be read.
    BadInput {
        /// What is wrong and what to do, for the user.
        detail: String,
    },
}
