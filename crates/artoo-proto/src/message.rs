//! The closed set of messages.

use serde::{Deserialize, Serialize};

use crate::{
    Abort, AuditQuery, CancelRequest, ClarificationAnswer, ClarificationRequest, ConsentAnswer, ConsentRequest,
    CorrectionSignal, DispatchManifest, ExecutionResult, FinalResult, MegramDraft, MemoryFeedback, MemoryQuery,
    MemoryRecall, OutcomeSummary, PerceptionFailed, Plan, PlanDirective, PlanRejected, ReplanRequest, RoleFailed,
    SubTask, SubTaskId, SubTaskMissing, SubTaskOutcome, TaskId, TaskSpec, UserRequest,
};

macro_rules! messages {
    ($($(#[$doc:meta])* $kind:ident($payload:ty) $task:expr, $subtask:expr;)*) => {
        /// Everything that can be said on the bus, one variant a contract.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "content", rename_all = "snake_case")]
        pub enum Message {
            $($(#[$doc])* $kind($payload),)*
        }

        /// The name of a message, without its content.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum MessageKind {
            $($(#[$doc])* $kind,)*
        }

        impl MessageKind {
            /// Every kind, in the order of the flow.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];
        }

        impl Message {
            /// Which kind it is.
            #[must_use]
            pub fn kind(&self) -> MessageKind {
                match self {
                    $(Self::$kind(_) => MessageKind::$kind,)*
                }
            }

            /// The task it belongs to, where it belongs to one.
            #[must_use]
            pub fn task_id(&self) -> Option<&TaskId> {
                match self {
                    $(Self::$kind(content) => ($task as fn(&$payload) -> Option<&TaskId>)(content),)*
                }
            }

            /// The subtask it belongs to, where it belongs to one.
            #[must_use]
            pub fn subtask_id(&self) -> Option<SubTaskId> {
                match self {
                    $(Self::$kind(content) => ($subtask as fn(&$payload) -> Option<SubTaskId>)(content),)*
                }
            }
        }

        $(impl From<$payload> for Message {
            fn from(content: $payload) -> Self {
                Self::$kind(content)
            }
        })*
    };
}

messages! {
    /// The user's words.
    UserRequest(UserRequest) |m| Some(&m.task_id), |_| None;
    /// R1 asks.
    ClarificationRequest(ClarificationRequest) |m| Some(&m.task_id), |_| None;
    /// The user answers.
    ClarificationAnswer(ClarificationAnswer) |m| Some(&m.task_id), |_| None;
    /// The task as understood.
    TaskSpec(TaskSpec) |m| Some(&m.task_id), |_| None;
    /// It was not understood.
    PerceptionFailed(PerceptionFailed) |m| Some(&m.task_id), |_| None;
    /// R2 asks memory.
    MemoryQuery(MemoryQuery) |m| Some(&m.task_id), |_| None;
    /// Memory answers.
    MemoryRecall(MemoryRecall) |m| Some(&m.task_id), |_| None;
    /// A validated plan.
    Plan(Plan) |m| Some(&m.task_id), |_| None;
    /// No acceptable plan.
    PlanRejected(PlanRejected) |m| Some(&m.task_id), |_| None;
    /// What was dispatched.
    DispatchManifest(DispatchManifest) |m| Some(&m.task_id), |_| None;
    /// One subtask.
    SubTask(SubTask) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// Law 1 asks.
    ConsentRequest(ConsentRequest) |m| Some(&m.task_id), |m| Some(m.subtask_id);
    /// The user allows or refuses.
    ConsentAnswer(ConsentAnswer) |m| Some(&m.task_id), |m| Some(m.subtask_id);
    /// R3 reports.
    ExecutionResult(ExecutionResult) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// R4a corrects.
    CorrectionSignal(CorrectionSignal) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// R4a's final word.
    SubTaskOutcome(SubTaskOutcome) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// A subtask that will not report.
    SubTaskMissing(SubTaskMissing) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// The gate is shut.
    ReplanRequest(ReplanRequest) |m| Some(&m.task_id), |_| None;
    /// All is met.
    OutcomeSummary(OutcomeSummary) |m| Some(&m.task_id), |_| None;
    /// What must change.
    PlanDirective(PlanDirective) |m| Some(&m.task_id), |_| None;
    /// An experience to keep.
    Megram(MegramDraft) |m| Some(&m.task_id), |_| None;
    /// The one result.
    FinalResult(FinalResult) |m| Some(&m.task_id), |_| None;
    /// The user stops a task.
    CancelRequest(CancelRequest) |m| Some(&m.task_id), |_| None;
    /// R7 stops a task's instances.
    Abort(Abort) |m| Some(&m.task_id), |_| None;
    /// The user's word on memory.
    MemoryFeedback(MemoryFeedback) |m| Some(&m.task_id), |_| None;
    /// A role failed.
    RoleFailed(RoleFailed) |m| Some(&m.task_id), |_| None;
    /// The human asks the auditor.
    AuditQuery(AuditQuery) |_| None, |_| None;
}

impl std::fmt::Display for MessageKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}
