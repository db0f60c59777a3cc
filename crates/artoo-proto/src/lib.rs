//! The data types that artoo's parts exchange: messages, their envelope, ids, and requests to models and tools.
//!
//! *Is*: plain data with serde, the closed set of messages ([`Message`]), and the table of who may send what to whom.
//! *Is not*: behaviour. Nothing here decides, performs I/O or reads a clock.
//!
//! Roles have numbers in the specification, which prompts and logs use: perceiver R1, planner R2, executor R3,
//! agent-validator R4a, meta-validator R4b, memory R5, auditor R6, solver R7.
//!
//! ```
//! use artoo_proto::{Criterion, Mode};
//! // A plain string is a valid criterion on the wire and means `plausible`.
//! let criterion: Criterion = serde_json::from_str(r#""the count is stated""#).unwrap();
//! assert_eq!(criterion.mode(), Mode::Plausible);
//! ```

#![deny(missing_docs)]

pub mod answer;
mod audit;
pub mod check;
pub mod coverage;
pub mod directive;
pub mod effect;
pub mod envelope;
pub mod escape;
pub mod failure;
pub mod id;
pub mod memory;
pub mod message;
pub mod model;
pub mod operator;
pub mod pipeline;
pub mod recipe;
pub mod redact;
pub mod role;
pub mod route;
pub mod run_by;
pub mod shape;
pub mod subtask;
pub mod task;
pub mod timestamp;
pub mod tool;
pub mod units;
pub mod verdict;

pub use answer::{Answer, Column, KeptOutput};
pub use audit::{AuditReport, GapTrend, TaskTrend, ToolHealth, Trigger};
pub use check::{Check, CheckOutcome, Criterion, Mode};
pub use coverage::{
    Clause, Coverage, CoverageState, Covered, Obligation, OfferedReading, ProposedReading, Reading, Unasked, Unread,
};
pub use directive::{
    AbandonReason, Basis, CriterionMark, CriterionReport, Ending, FailureMix, FinalResult, Loss, ModelWords,
    PlanDirective, PrevDirective, ReplanDirective, TerminalDirective, TriedSubtask, Urgency, Wording, WordingRequest,
};
pub use effect::{EffectFinished, EffectKind, EffectStarted};
pub use envelope::{Address, Envelope};
pub use failure::{Abstention, ModelFailure, Offer, Usage};
pub use id::{ConsentHash, EffectId, EvidenceId, MegramId, MessageId, SubTaskId, TaskId};
pub use memory::{
    Advice, AdviceCap, Lesson, MacroState, Megram, MegramDraft, MegramLevel, MemoryAction, MemoryQuery, MemoryRecall,
    Potentials, RecalledLesson, Sop,
};
pub use message::{Message, MessageKind};
pub use model::{
    ByTools, Calibration, Environment, ExecuteContext, InCalls, ModelReply, ModelRequest, OfferedTool, PerceiveContext,
    PlanContext, Prompt, ReplyBody, RoleContext, ValidateSubtaskContext, ValidateTaskContext,
};
pub use operator::{
    Abort, CancelRequest, ClarificationAnswer, ClarificationRequest, ConsentAnswer, ConsentOffers, ConsentRequest,
    ConsentScope, MemoryCorrection, MemoryFeedback, MemoryFeedbackKind, ReadingAnswer, ReadingRequest, RoleFailed,
    SessionTurn, UserRequest,
};
pub use recipe::{Recipe, RecipePlan, RecipeStep, RecipeSubtask};
pub use role::Role;
pub use shape::shape;
pub use subtask::{
    DispatchManifest, ManifestEntry, MissingReason, Plan, PlanDraft, PlanRejected, PlannedSubtask, SubTask,
    SubTaskMissing, SubtaskDraft,
};
pub use task::{Constraints, PerceptionFailed, PerceptionFailure, TaskSpec};
pub use timestamp::{Now, Timestamp};
pub use tool::{
    Approval, CallStatus, DeniedAction, EffectClass, FOLDER, FileChange, ToolCall, ToolClass, ToolOrder, ToolOutcome,
    ToolRequest, ToolSpec,
};
pub use verdict::{
    CorrectionSignal, CriterionVerdict, ExecutionResult, ExecutionStatus, FailureClass, GapPoint, MissingOutcome,
    OutcomeStatus, OutcomeSummary, ReplanRequest, SubTaskOutcome, UnverifiedOutput, Verdict, VerdictSource,
};
