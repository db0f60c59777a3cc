//! Messages between the operator (the user, or a program in their place) and the System.

use serde::{Deserialize, Serialize};

use crate::{ConsentHash, EffectId, OfferedReading, Role, SubTaskId, TaskId};

/// One earlier request of the session, with a summary of its result; a later request may refer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTurn {
    /// The user's words in the earlier request.
    pub input: String,
    /// How the task of the earlier request ended, in one or two lines.
    pub summary: String,
    /// Whether the task was accepted or delivered a result, so that later requests can refer to it.
    #[serde(default = "answered", skip_serializing_if = "Clone::clone")]
    pub answered: bool,
}

/// The default of a turn without the field: it counts as answered.
fn answered() -> bool {
    true
}

/// The user's request, from the operator to the perceiver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRequest {
    /// The task id that the runtime assigned.
    pub task_id: TaskId,
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The last five earlier requests of the session, oldest first.
    pub session: Vec<SessionTurn>,
    /// Text that the user gave with the request, such as the standard input of the program; data, never instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Whether the user can answer questions.
    pub interactive: bool,
    /// Time limit of the whole task, in milliseconds.
    pub hard_limit_ms: u64,
    /// Checks that a script requires besides the words of the request (`--require`), verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// Whether the required checks decide, and not the words of the request (`--exit-by-required`).
    #[serde(default)]
    pub by_required: bool,
}

/// The perceiver's question to the user about an unclear request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationRequest {
    /// The task's id.
    pub task_id: TaskId,
    /// Number of this request for clarification: 1 or 2.
    pub round: u32,
    /// The question to the user.
    pub question: String,
}

/// The user's answer to the perceiver; an empty one means: continue without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationAnswer {
    /// The task's id.
    pub task_id: TaskId,
    /// The user's answer, verbatim.
    pub answer: String,
}

/// An executor's request to the user to approve a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentRequest {
    /// The task's id.
    pub task_id: TaskId,
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// Digest of exactly what would be approved.
    pub hash: ConsentHash,
    /// The call as it would run, escaped for display.
    pub shown: String,
    /// What the call would change or reach, one line each: first what it changes, last whether it can be undone.
    pub effects: Vec<String>,
    /// Every entry that would change with its kind and size, and what its content would become, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Why the call needs approval.
    pub reason: String,
    /// Wider approvals that the user may give instead of one for this call only.
    #[serde(default)]
    pub offers: ConsentOffers,
    /// Readings of the request that an approval of this call also confirms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<OfferedReading>,
}

/// How much an approval covers: this call, the task's calls with the same effects, or some folders for some days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ConsentScope {
    /// The approval covers this call, once.
    #[default]
    Once,
    /// Any call of this task whose effects are all among those of this one.
    Task,
    /// Any call of any task that does the same in the same folders: a rule, until it expires or is revoked.
    Path {
        /// Days until the rule expires.
        days: u32,
    },
}

/// What each wider approval would cover, as text. A scope without text is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsentOffers {
    /// What [`ConsentScope::Task`] would cover, one line each.
    pub task: Vec<String>,
    /// What [`ConsentScope::Path`] would cover, one line each.
    pub path: Vec<String>,
}

impl ConsentOffers {
    /// Whether the user may choose this scope of approval.
    #[must_use]
    pub fn include(&self, scope: ConsentScope) -> bool {
        match scope {
            ConsentScope::Once => true,
            ConsentScope::Task => !self.task.is_empty(),
            ConsentScope::Path { .. } => !self.path.is_empty(),
        }
    }
}

/// The user's approval or denial, from the operator to the executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentAnswer {
    /// The task's id.
    pub task_id: TaskId,
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// Digest from the approval request that this answers.
    pub hash: ConsentHash,
    /// Whether the user approves; no answer counts as a denial.
    pub allowed: bool,
    /// How much the approval covers.
    #[serde(default)]
    pub scope: ConsentScope,
    /// Why the call was denied, if there was no user to ask.
    pub note: Option<String>,
    /// Readings of the request that the user confirmed with this approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<OfferedReading>,
}

/// The meta-validator's question to the user whether readings of the request are right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadingRequest {
    /// The task's id.
    pub task_id: TaskId,
    /// The readings that a model proposed and code understood.
    pub readings: Vec<OfferedReading>,
}

/// The user's answer to the meta-validator, whether the proposed readings of the request are right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingAnswer {
    /// The task's id.
    pub task_id: TaskId,
    /// Whether the user confirmed the readings; no answer counts as a denial.
    pub confirmed: bool,
}

/// The operator asks the solver to cancel a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// The task's id.
    pub task_id: TaskId,
}

/// The solver tells every instance of a task to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abort {
    /// The task's id.
    pub task_id: TaskId,
}

/// The user's feedback on a task, to be stored in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFeedback {
    /// The task that the feedback is about.
    pub task_id: TaskId,
    /// What the user said.
    pub feedback: MemoryFeedbackKind,
}

/// The solver passes the user's feedback on a task to memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryCorrection {
    /// The task that the feedback is about; it may have ended in an earlier run.
    pub task_id: TaskId,
    /// What the user said.
    pub feedback: MemoryFeedbackKind,
}

/// The kinds of feedback from the user: a text to remember, or that a result was wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MemoryFeedbackKind {
    /// The user asks memory to remember something.
    Remember {
        /// The text to remember.
        content: String,
    },
    /// The user says that the task's result was wrong.
    Wrong {
        /// Why the result was wrong.
        content: String,
    },
}

/// The runtime's report to the solver that a role failed; its task must end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleFailed {
    /// The id of the task that the solver must end because the role failed.
    pub task_id: TaskId,
    /// The role that failed.
    pub role: Role,
    /// The role's error.
    pub detail: String,
    /// The id of the work whose result the role was handling, if any.
    pub effect_id: Option<EffectId>,
}
