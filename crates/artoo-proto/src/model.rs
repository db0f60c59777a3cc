//! The model seam: what a role asks, what comes back, how it fails.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    CorrectionSignal, Criterion, ExecutionResult, MemoryRecall, Now, PlanDirective, RecipePlan, Role, SessionTurn,
    SubTask, SubTaskId, SubTaskOutcome, TaskId, TaskSpec, ToolCall, ToolSpec,
};

/// Facts of the machine that every role may state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Where the user stands.
    pub cwd: String,
    /// The user's home folder.
    pub home: String,
    /// Where artoo may create files.
    pub workspace: String,
    /// `linux`, `macos` …
    pub os: String,
    /// Offset of local time from UTC, in seconds.
    pub utc_offset_s: i32,
}

/// One call to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// Who asks.
    pub role: Role,
    /// For which task.
    pub task_id: TaskId,
    /// For which subtask.
    pub subtask_id: Option<SubTaskId>,
    /// What the role knows, typed.
    pub context: RoleContext,
    /// The same, rendered for a language model.
    pub prompt: Prompt,
    /// Name of the reply's schema.
    pub schema_name: String,
    /// JSON schema the reply must fit.
    pub schema: Value,
    /// Cap on the reply.
    pub max_tokens: u32,
    /// How the same is put to an endpoint that calls tools in its own way; where the reply is about no calls, nothing. It
    /// is not written with the request.
    #[serde(skip)]
    pub by_tools: Option<InCalls>,
}

impl ModelRequest {
    /// The same in calls of tools; `None` where it can't be put so.
    #[must_use]
    pub fn in_calls(&self) -> Option<ByTools> {
        let InCalls(put) = self.by_tools?;
        put(self)
    }
}

/// How a request is put in calls of tools: made of the request alone, when it is wanted, since most endpoints never want
/// it.
#[derive(Debug, Clone, Copy)]
pub struct InCalls(pub fn(&ModelRequest) -> Option<ByTools>);

/// The address of a function tells nothing; that there is one tells two requests apart.
impl PartialEq for InCalls {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A request whose reply is calls of tools. They become the reply that [`ModelRequest::schema`] describes: the calls of
/// `tools` are its list `calls` of `{tool, input}`, the input of `ending` are its other fields.
#[derive(Debug, Clone, PartialEq)]
pub struct ByTools {
    /// The prompt, without the list of tools and without the schema.
    pub prompt: Prompt,
    /// What may be called, first choice first.
    pub tools: Vec<OfferedTool>,
    /// The tool by which the model says that it has come to an end.
    pub ending: OfferedTool,
    /// The reply's other fields while the model has not come to an end.
    pub going_on: Map<String, Value>,
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Exact name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its input, an object.
    pub input_schema: Value,
}

/// A rendered prompt; the first part is stable between calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The role's standing instructions.
    pub system: String,
    /// This call's material.
    pub user: String,
}

/// A role's material, typed: what the embedded parser reads and cassettes key on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RoleContext {
    /// R1.
    Perceive(PerceiveContext),
    /// R2.
    Plan(Box<PlanContext>),
    /// R3.
    Execute(Box<ExecuteContext>),
    /// R4a.
    ValidateSubtask(Box<ValidateSubtaskContext>),
    /// R4b.
    ValidateTask(Box<ValidateTaskContext>),
}

/// What R1 knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerceiveContext {
    /// The user's words.
    pub raw_input: String,
    /// The last turns of the session, oldest first.
    pub session: Vec<SessionTurn>,
    /// Questions already asked and their answers.
    pub clarifications: Vec<(String, String)>,
    /// Whether a question may be asked.
    pub may_ask: bool,
    /// The machine.
    pub environment: Environment,
    /// Now.
    pub now: Now,
}

/// What R2 knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanContext {
    /// The task.
    pub spec: TaskSpec,
    /// The machine.
    pub environment: Environment,
    /// Tools there are.
    pub tools: Vec<ToolSpec>,
    /// Memory, formatted by R2.
    pub calibration: Calibration,
    /// Memory, as data.
    pub recall: MemoryRecall,
    /// R7's directive, on a replan.
    pub directive: Option<PlanDirective>,
    /// Problems found in earlier drafts of this round.
    pub problems: Vec<String>,
    /// Now.
    pub now: Now,
}

/// Memory's advice as R2 words it; at most ten entries in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// MUST NOT.
    pub must_not: Vec<String>,
    /// SHOULD PREFER.
    pub should_prefer: Vec<String>,
    /// Proceed with a confirmation gate.
    pub caution: Vec<String>,
}

/// What R3 knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecuteContext {
    /// The subtask.
    pub subtask: SubTask,
    /// The tools it may use.
    pub tools: Vec<ToolSpec>,
    /// Calls made so far in this attempt.
    pub calls: Vec<ToolCall>,
    /// Calls of earlier attempts.
    pub earlier_calls: Vec<ToolCall>,
    /// R4a's correction, from the second attempt on.
    pub correction: Option<CorrectionSignal>,
    /// Remarks on the last reply (an unknown tool, a repeated call …).
    pub remarks: Vec<String>,
    /// Calls still allowed.
    pub calls_left: u32,
    /// The machine.
    pub environment: Environment,
}

/// What R4a asks a model about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidateSubtaskContext {
    /// The subtask.
    pub subtask: SubTask,
    /// R3's claim and the ground truth.
    pub result: ExecutionResult,
    /// The criteria left to judge, in order; the others were decided in code.
    pub open: Vec<Criterion>,
}

/// What R4b asks a model about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidateTaskContext {
    /// The user's words.
    pub raw_input: String,
    /// The goal.
    pub intent: String,
    /// The criteria left to judge, in order.
    pub open: Vec<Criterion>,
    /// The joined output.
    pub merged_output: String,
    /// Every outcome.
    pub outcomes: Vec<SubTaskOutcome>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The answer.
    pub body: ReplyBody,
    /// What it cost.
    pub usage: Usage,
    /// Which model answered.
    pub model: String,
}

/// An answer: a value a language model wrote, or what the embedded parser built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReplyBody {
    /// One JSON value, read strictly; its fields are still unchecked.
    Json {
        /// The value.
        value: Value,
    },
    /// A plan of recipes, built by code.
    Recipes {
        /// The plan.
        plan: RecipePlan,
    },
    /// The embedded parser declines.
    Abstain {
        /// What it understood and what not.
        abstention: Abstention,
    },
}

/// A refusal to guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    /// The part that was understood, in English; may be empty.
    pub understood: String,
    /// The words that were not.
    pub not_understood: Vec<String>,
    /// What the user can do.
    pub remedy: String,
}

/// What calls cost. Sums add field by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls to a language model; the embedded parser counts none.
    pub model_calls: u32,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
}

impl Usage {
    /// Whether nothing was spent.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

/// How asking a model failed. Text in `detail` never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelFailure {
    /// No connection.
    Unreachable {
        /// What the transport said.
        detail: String,
    },
    /// The key is missing or not accepted.
    Unauthorized {
        /// HTTP status.
        status: u16,
        /// What the endpoint said.
        detail: String,
    },
    /// The endpoint does not accept this request; with status 402 or 429 because the account's quota is used up.
    Rejected {
        /// HTTP status.
        status: u16,
        /// What the endpoint said.
        detail: String,
    },
    /// Too many requests, or overloaded, to the end of the retries.
    Overloaded {
        /// HTTP status.
        status: u16,
        /// What the endpoint said.
        detail: String,
    },
    /// No answer in time.
    TimedOut {
        /// After how long, in milliseconds.
        after_ms: u64,
        /// What was paid for all the same.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
    },
    /// The reply ended before it was complete.
    Cut {
        /// How that was seen.
        detail: String,
        /// What was paid for it.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
    },
    /// The reply holds no acceptable JSON value.
    Unreadable {
        /// What is wrong.
        detail: String,
        /// Its beginning, escaped.
        excerpt: String,
        /// What was paid for it.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
    },
    /// The prompt and its reply would not fit the model's context; nothing was sent.
    DoesNotFit {
        /// Tokens they would take, estimated.
        needed: u64,
        /// Tokens there are.
        room: u64,
    },
    /// The call might have cost more than is left of the budget; nothing was sent.
    OverBudget {
        /// Which bound, what is spent, what the call might have added.
        detail: String,
    },
    /// The task was cancelled.
    Cancelled,
    /// No reply is recorded for this request.
    NotRecorded {
        /// Which request.
        detail: String,
    },
}

impl ModelFailure {
    /// Whether asking once more, with the problem named, may help.
    #[must_use]
    pub fn is_worth_asking_again(&self) -> bool {
        match self {
            Self::Cut { .. } | Self::Unreadable { .. } => true,
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Overloaded { .. }
            | Self::TimedOut { .. }
            | Self::DoesNotFit { .. }
            | Self::OverBudget { .. }
            | Self::Cancelled
            | Self::NotRecorded { .. } => false,
        }
    }

    /// What the failed call cost. One that came to nothing was a call all the same, unless it was never made.
    #[must_use]
    pub fn usage(&self) -> Usage {
        match self {
            Self::TimedOut { usage, .. } | Self::Cut { usage, .. } | Self::Unreadable { usage, .. } => {
                Usage { model_calls: usage.model_calls.max(1), ..*usage }
            }
            Self::Unreachable { .. } | Self::Unauthorized { .. } | Self::Rejected { .. } | Self::Overloaded { .. } => {
                Usage { model_calls: 1, ..Usage::default() }
            }
            Self::DoesNotFit { .. } | Self::OverBudget { .. } | Self::Cancelled | Self::NotRecorded { .. } => {
                Usage::default()
            }
        }
    }

    /// The same failure with what was paid for it, where its kind can carry that.
    #[must_use]
    pub fn with_usage(mut self, paid: Usage) -> Self {
        match &mut self {
            Self::TimedOut { usage, .. } | Self::Cut { usage, .. } | Self::Unreadable { usage, .. } => *usage = paid,
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Overloaded { .. }
            | Self::DoesNotFit { .. }
            | Self::OverBudget { .. }
            | Self::Cancelled
            | Self::NotRecorded { .. } => {}
        }
        self
    }
}

impl std::fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable { detail } => write!(f, "the model can't be reached: {detail}"),
            Self::Unauthorized { status, detail } => write!(f, "the key was not accepted ({status}): {detail}"),
            Self::Rejected { status: status @ (402 | 429), detail } => {
                write!(f, "your quota is used up ({status}): {detail}")
            }
            Self::Rejected { status, detail } => write!(f, "the model rejected the request ({status}): {detail}"),
            Self::Overloaded { status, detail } => write!(f, "the model is overloaded ({status}): {detail}"),
            Self::TimedOut { after_ms, .. } => write!(f, "the model gave no answer within {after_ms} ms"),
            Self::Cut { detail, .. } => write!(f, "the model's reply was cut off: {detail}"),
            Self::Unreadable { detail, .. } => write!(f, "the model's reply could not be read: {detail}"),
            Self::DoesNotFit { needed, room } => {
                write!(f, "the prompt does not fit the model: about {needed} tokens, and its context has {room}")
            }
            Self::OverBudget { detail } => write!(f, "the budget is spent: {detail}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::NotRecorded { detail } => write!(f, "no recorded reply: {detail}"),
        }
    }
}
