//! The closed set of messages that can pass the bus.

use serde::{Deserialize, Serialize};

use crate::{
    Abort, CancelRequest, ClarificationAnswer, ClarificationRequest, ConsentAnswer, ConsentRequest, CorrectionSignal,
    DispatchManifest, ExecutionResult, FinalResult, MegramDraft, MemoryCorrection, MemoryFeedback, MemoryQuery,
    MemoryRecall, OutcomeSummary, PerceptionFailed, Plan, PlanDirective, PlanRejected, ReadingAnswer, ReadingRequest,
    ReplanRequest, RoleFailed, SubTask, SubTaskId, SubTaskMissing, SubTaskOutcome, TaskId, TaskSpec, UserRequest,
    Wording, WordingRequest,
};

/// Defines the messages with their kinds, and the task and subtask that each belongs to.
macro_rules! messages {
    ($($(#[$doc:meta])* $kind:ident($payload:ty) $task:expr, $subtask:expr;)*) => {
        /// A message on the bus, with one variant for each kind.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "content", rename_all = "snake_case")]
        pub enum Message {
            $($(#[$doc])* $kind($payload),)*
        }

        /// The kind of a message, without its content.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum MessageKind {
            $($(#[$doc])* $kind,)*
        }

        impl MessageKind {
            /// Every kind, in the order in which a task uses them.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];
        }

        impl Message {
            /// The kind of this message.
            #[must_use]
            pub fn kind(&self) -> MessageKind {
                match self {
                    $(Self::$kind(_) => MessageKind::$kind,)*
                }
            }

            /// The task that the message belongs to, if any.
            #[must_use]
            pub fn task_id(&self) -> Option<&TaskId> {
                match self {
                    $(Self::$kind(content) => ($task as fn(&$payload) -> Option<&TaskId>)(content),)*
                }
            }

            /// The subtask that the message belongs to, if any.
            #[must_use]
            pub fn subtask_id(&self) -> Option<SubTaskId> {
                match self {
                    $(Self::$kind(content) => ($subtask as fn(&$payload) -> Option<SubTaskId>)(content),)*
                }
            }
        }

        $(impl From<$payload> for Message {
            /// Wraps the content in the message variant of its type.
            fn from(content: $payload) -> Self {
                Self::$kind(content)
            }
        })*
    };
}

messages! {
    /// The user's request, from the operator.
    UserRequest(UserRequest) |m| Some(&m.task_id), |_| None;
    /// The perceiver's question to the user.
    ClarificationRequest(ClarificationRequest) |m| Some(&m.task_id), |_| None;
    /// The user's answer to the perceiver.
    ClarificationAnswer(ClarificationAnswer) |m| Some(&m.task_id), |_| None;
    /// The task as the perceiver understood it.
    TaskSpec(TaskSpec) |m| Some(&m.task_id), |_| None;
    /// The perceiver did not understand the request.
    PerceptionFailed(PerceptionFailed) |m| Some(&m.task_id), |_| None;
    /// The planner's question to memory.
    MemoryQuery(MemoryQuery) |m| Some(&m.task_id), |_| None;
    /// Memory's answer to the planner.
    MemoryRecall(MemoryRecall) |m| Some(&m.task_id), |_| None;
    /// A validated plan, to the dispatcher.
    Plan(Plan) |m| Some(&m.task_id), |_| None;
    /// The planner found no acceptable plan.
    PlanRejected(PlanRejected) |m| Some(&m.task_id), |_| None;
    /// The list of subtasks that the dispatcher releases.
    DispatchManifest(DispatchManifest) |m| Some(&m.task_id), |_| None;
    /// One subtask, to its executor.
    SubTask(SubTask) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// The executor asks the user to approve a call.
    ConsentRequest(ConsentRequest) |m| Some(&m.task_id), |m| Some(m.subtask_id);
    /// The user's approval or denial.
    ConsentAnswer(ConsentAnswer) |m| Some(&m.task_id), |m| Some(m.subtask_id);
    /// The executor's report on a subtask.
    ExecutionResult(ExecutionResult) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// The agent-validator asks the executor for another attempt.
    CorrectionSignal(CorrectionSignal) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// The agent-validator's final verdict on a subtask.
    SubTaskOutcome(SubTaskOutcome) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// The dispatcher reports a subtask that will not report.
    SubTaskMissing(SubTaskMissing) |m| Some(&m.parent_task_id), |m| Some(m.subtask_id);
    /// The meta-validator asks the user to confirm readings of the request.
    ReadingRequest(ReadingRequest) |m| Some(&m.task_id), |_| None;
    /// The user's answer to the meta-validator.
    ReadingAnswer(ReadingAnswer) |m| Some(&m.task_id), |_| None;
    /// The meta-validator found the round not good enough.
    ReplanRequest(ReplanRequest) |m| Some(&m.task_id), |_| None;
    /// The meta-validator found every criterion met.
    OutcomeSummary(OutcomeSummary) |m| Some(&m.task_id), |_| None;
    /// The solver tells the planner what to change.
    PlanDirective(PlanDirective) |m| Some(&m.task_id), |_| None;
    /// The solver asks the planner to describe the end of an abandoned task.
    WordingRequest(WordingRequest) |m| Some(&m.task_id), |_| None;
    /// The planner's description of the end of an abandoned task.
    Wording(Wording) |m| Some(&m.task_id), |_| None;
    /// An experience that the solver asks memory to store.
    Megram(MegramDraft) |m| Some(&m.task_id), |_| None;
    /// The one result of a task, to the user.
    FinalResult(FinalResult) |m| Some(&m.task_id), |_| None;
    /// The user cancels a task.
    CancelRequest(CancelRequest) |m| Some(&m.task_id), |_| None;
    /// The solver stops a task's instances.
    Abort(Abort) |m| Some(&m.task_id), |_| None;
    /// The user's feedback, to be stored in memory.
    MemoryFeedback(MemoryFeedback) |m| Some(&m.task_id), |_| None;
    /// The user's feedback, passed on by the solver.
    MemoryCorrection(MemoryCorrection) |m| Some(&m.task_id), |_| None;
    /// A role failed with an internal error.
    RoleFailed(RoleFailed) |m| Some(&m.task_id), |_| None;
}

impl std::fmt::Display for MessageKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}
