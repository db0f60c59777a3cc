//! R1's contract: the task as understood, or why it could not be.

use serde::{Deserialize, Serialize};

use crate::{Abstention, ModelFailure, SessionTurn, TaskId, Timestamp};

/// The user's goal, faithfully restated. Carries no success criteria: those are R2's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Assigned by the runtime.
    pub task_id: TaskId,
    /// The model's short snake_case name for the task; only a label.
    pub label: String,
    /// The user's goal, restated.
    pub intent: String,
    /// Limits the user named.
    pub constraints: Constraints,
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The session's last turns, oldest first: what "those" and "again" stand for.
    #[serde(default)]
    pub session: Vec<SessionTurn>,
}

/// Limits that came with the request; `null` where the user named none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraints {
    /// Where the task may look or act.
    pub scope: Option<String>,
    /// When it must be over.
    pub deadline: Option<Timestamp>,
}

/// R1 could not turn the words into a task; nothing was dispatched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerceptionFailed {
    /// The task that ends here.
    pub task_id: TaskId,
    /// The user's words, verbatim.
    pub raw_input: String,
    /// Why.
    pub failure: PerceptionFailure,
}

/// Why a request never became a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PerceptionFailure {
    /// The model could not be asked or gave no usable reply.
    Model {
        /// What happened.
        failure: ModelFailure,
    },
    /// The embedded parser understood only a part, and says so.
    Abstained {
        /// What it understood and what not.
        abstention: Abstention,
    },
    /// The request is empty or too large.
    BadInput {
        /// What is wrong and what to do, for the user.
        detail: String,
    },
}
