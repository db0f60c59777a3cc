//! What passes between the human (or the program standing for one) and the system.

use serde::{Deserialize, Serialize};

use crate::{ConsentHash, EffectId, Role, SubTaskId, TaskId};

/// One earlier turn of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTurn {
    /// What the user said.
    pub input: String,
    /// How it ended.
    pub summary: String,
}

/// Operator to R1: the user's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRequest {
    /// Assigned by the runtime.
    pub task_id: TaskId,
    /// The words, verbatim.
    pub raw_input: String,
    /// The last five turns, oldest first.
    pub session: Vec<SessionTurn>,
    /// Whether a person can answer questions.
    pub interactive: bool,
    /// Hard limit on the whole task, in milliseconds.
    pub hard_limit_ms: u64,
}

/// R1 to operator: what it can't resolve, batched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationRequest {
    /// The task.
    pub task_id: TaskId,
    /// 1 or 2.
    pub round: u32,
    /// The question.
    pub question: String,
}

/// Operator to R1; an empty answer means: go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationAnswer {
    /// The task.
    pub task_id: TaskId,
    /// The answer.
    pub answer: String,
}

/// R3 to operator: Law 1 asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRequest {
    /// The task.
    pub task_id: TaskId,
    /// The subtask.
    pub subtask_id: SubTaskId,
    /// What exactly would be allowed.
    pub hash: ConsentHash,
    /// The call as it would run, escaped for display.
    pub shown: String,
    /// What it would touch.
    pub effects: Vec<String>,
    /// Why it needs a yes.
    pub reason: String,
    /// Wider answers that may be given besides a yes to this once.
    #[serde(default)]
    pub offers: ConsentOffers,
}

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ConsentScope {
    /// This call, once.
    #[default]
    Once,
    /// Any call of this task whose effects are all among those of this one.
    Task,
    /// Any call, of any task, that does the same in the same folders: a rule, until it ends or is revoked.
    Path {
        /// Days from now.
        days: u32,
    },
}

/// What a wider yes would cover, in words. A scope without words is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsentOffers {
    /// What [`ConsentScope::Task`] would cover, a line each.
    pub task: Vec<String>,
    /// What [`ConsentScope::Path`] would cover, a line each.
    pub path: Vec<String>,
}

impl ConsentOffers {
    /// Whether an answer of this scope was offered.
    #[must_use]
    pub fn include(&self, scope: ConsentScope) -> bool {
        match scope {
            ConsentScope::Once => true,
            ConsentScope::Task => !self.task.is_empty(),
            ConsentScope::Path { .. } => !self.path.is_empty(),
        }
    }
}

/// Operator to R3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentAnswer {
    /// The task.
    pub task_id: TaskId,
    /// The subtask.
    pub subtask_id: SubTaskId,
    /// What was asked about.
    pub hash: ConsentHash,
    /// Yes or no; silence is no.
    pub allowed: bool,
    /// How far a yes reaches.
    #[serde(default)]
    pub scope: ConsentScope,
    /// Why no, where nobody could be asked.
    pub note: Option<String>,
}

/// Operator to R7: stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// The task.
    pub task_id: TaskId,
}

/// R7 to every instance of a task: it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abort {
    /// The task.
    pub task_id: TaskId,
}

/// Operator to R7: what to keep, drop or distrust in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFeedback {
    /// The task it is about.
    pub task_id: TaskId,
    /// Which.
    pub feedback: MemoryFeedbackKind,
}

/// Kinds of feedback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MemoryFeedbackKind {
    /// Keep this.
    Remember {
        /// What.
        content: String,
    },
    /// The result was wrong.
    Wrong {
        /// Why.
        content: String,
    },
}

/// The System to R7: a role panicked; its task must end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleFailed {
    /// The task.
    pub task_id: TaskId,
    /// Which role.
    pub role: Role,
    /// What it said.
    pub detail: String,
    /// The effect it had just been given, where there was one.
    pub effect_id: Option<EffectId>,
}
