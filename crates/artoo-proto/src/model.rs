//! Requests to a language model, its replies, and how a call fails.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    CorrectionSignal, Criterion, ExecutionResult, MemoryRecall, Now, PlanDirective, RecipePlan, Role, SessionTurn,
    SubTask, SubTaskId, SubTaskOutcome, TaskId, TaskSpec, ToolCall, ToolSpec,
};

/// Facts about the machine and the user's folders that prompts may state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The user's working folder.
    pub cwd: String,
    /// The user's home folder.
    pub home: String,
    /// The folder in which artoo may create files.
    pub workspace: String,
    /// The operating system: `linux`, `macos` …
    pub os: String,
    /// Offset of local time from UTC, in seconds.
    pub utc_offset_s: i32,
}

/// One call to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The role that asks.
    pub role: Role,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The subtask it belongs to, if any.
    pub subtask_id: Option<SubTaskId>,
    /// The role's material as typed data.
    pub context: RoleContext,
    /// The same material as text for a language model.
    pub prompt: Prompt,
    /// Name of the reply's JSON schema.
    pub schema_name: String,
    /// JSON schema that the reply must match.
    pub schema: Value,
    /// Maximum length of the reply.
    pub max_tokens: u32,
    /// Builds the same request for an endpoint with native tool calls; `None` if the reply contains no calls. Not serialized.
    #[serde(skip)]
    pub by_tools: Option<InCalls>,
}

impl ModelRequest {
    /// The same request for an endpoint with native tool calls; `None` if it has no such form.
    #[must_use]
    pub fn in_calls(&self) -> Option<ByTools> {
        let InCalls(put) = self.by_tools?;
        put(self)
    }
}

/// A function that rewrites a request for native tool calls. It runs on demand, since most endpoints never need it.
#[derive(Debug, Clone, Copy)]
pub struct InCalls(pub fn(&ModelRequest) -> Option<ByTools>);

/// Always equal: the address of a function says nothing, so only its presence distinguishes two requests.
impl PartialEq for InCalls {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A request for an endpoint with native tool calls.
///
/// The client turns the model's calls back into the reply that [`ModelRequest::schema`] describes: calls of `tools` become
/// its list `calls` of `{tool, input}`, and the input of `ending` becomes its other fields.
#[derive(Debug, Clone, PartialEq)]
pub struct ByTools {
    /// The prompt, without the list of tools and without the schema.
    pub prompt: Prompt,
    /// Tools the model may call, the preferred one first.
    pub tools: Vec<OfferedTool>,
    /// The tool that the model calls to say that it has finished.
    pub ending: OfferedTool,
    /// The reply's other fields as long as the model has not finished.
    pub going_on: Map<String, Value>,
}

/// A tool as it is described to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Exact name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its input, an object.
    pub input_schema: Value,
}

/// The text of a model call; the first part stays the same between calls, so that it can be cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The role's fixed instructions.
    pub system: String,
    /// This call's material.
    pub user: String,
}

/// A role's material as typed data: the embedded parser reads it, and recordings are found by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RoleContext {
    /// Material of the perceiver.
    Perceive(PerceiveContext),
    /// Material of the planner.
    Plan(Box<PlanContext>),
    /// Material of an executor.
    Execute(Box<ExecuteContext>),
    /// Material of an agent-validator.
    ValidateSubtask(Box<ValidateSubtaskContext>),
    /// Material of the meta-validator.
    ValidateTask(Box<ValidateTaskContext>),
}

/// What the perceiver works from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerceiveContext {
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The last turns of the session, oldest first.
    pub session: Vec<SessionTurn>,
    /// Questions already asked, with their answers.
    pub clarifications: Vec<(String, String)>,
    /// Whether the perceiver may ask the user a question.
    pub may_ask: bool,
    /// The machine and the user's folders.
    pub environment: Environment,
    /// The current time.
    pub now: Now,
}

/// What the planner works from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanContext {
    /// The task as the perceiver understood it.
    pub spec: TaskSpec,
    /// The machine and the user's folders.
    pub environment: Environment,
    /// Available tools.
    pub tools: Vec<ToolSpec>,
    /// Memory's advice in words.
    pub calibration: Calibration,
    /// Memory's advice as data.
    pub recall: MemoryRecall,
    /// On a replan: the solver's directive.
    pub directive: Option<PlanDirective>,
    /// Problems found in earlier drafts of this round.
    pub problems: Vec<String>,
    /// The current time.
    pub now: Now,
}

/// Memory's advice as the planner puts it into words, at most ten entries in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Approaches that MUST NOT be used.
    pub must_not: Vec<String>,
    /// Approaches that SHOULD be preferred.
    pub should_prefer: Vec<String>,
    /// Approaches that need a confirmation by the user.
    pub caution: Vec<String>,
}

/// What an executor works from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecuteContext {
    /// The subtask.
    pub subtask: SubTask,
    /// Tools the subtask may use.
    pub tools: Vec<ToolSpec>,
    /// Calls made so far in this attempt.
    pub calls: Vec<ToolCall>,
    /// Calls of earlier attempts.
    pub earlier_calls: Vec<ToolCall>,
    /// From the second attempt on: the agent-validator's correction.
    pub correction: Option<CorrectionSignal>,
    /// Remarks on the last reply, such as an unknown tool or a repeated call.
    pub remarks: Vec<String>,
    /// How many more calls are allowed.
    pub calls_left: u32,
    /// The machine and the user's folders.
    pub environment: Environment,
}

/// What an agent-validator asks a model to judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidateSubtaskContext {
    /// The subtask.
    pub subtask: SubTask,
    /// The executor's claim and its tool calls.
    pub result: ExecutionResult,
    /// Criteria left to judge, in order; code decided the others.
    pub open: Vec<Criterion>,
}

/// What the meta-validator asks a model to judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidateTaskContext {
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The goal.
    pub intent: String,
    /// Criteria left to judge, in order.
    pub open: Vec<Criterion>,
    /// The joined output of the subtasks.
    pub merged_output: String,
    /// The outcome of every subtask.
    pub outcomes: Vec<SubTaskOutcome>,
}

/// A model's reply, with its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The reply itself.
    pub body: ReplyBody,
    /// Model calls and tokens it cost.
    pub usage: Usage,
    /// Name of the model that answered.
    pub model: String,
}

/// What a model replied: a value from a language model, or what the embedded parser built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReplyBody {
    /// One JSON value, parsed strictly; its fields are not checked yet.
    Json {
        /// The value.
        value: Value,
    },
    /// A plan of recipes, built by code.
    Recipes {
        /// The plan.
        plan: RecipePlan,
    },
    /// The embedded parser did not understand the request.
    Abstain {
        /// What it understood and what it did not.
        abstention: Abstention,
    },
}

/// What the embedded parser understood of a request it can't answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    /// The understood part, in English; may be empty.
    pub understood: String,
    /// The words it did not understand.
    pub not_understood: Vec<String>,
    /// What the user can do.
    pub remedy: String,
}

/// Model calls and tokens. Adding two adds each field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls to a language model; the embedded parser counts as none.
    pub model_calls: u32,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
}

impl Usage {
    /// Whether every count is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
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

/// Why a call to a model failed. `detail` never contains a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelFailure {
    /// There was no connection to the endpoint.
    Unreachable {
        /// Error of the transport.
        detail: String,
    },
    /// The key is missing or was not accepted.
    Unauthorized {
        /// HTTP status.
        status: u16,
        /// Error text of the endpoint.
        detail: String,
    },
    /// The endpoint rejected the request; with status 402 or 429 because the quota of the account is used up.
    Rejected {
        /// HTTP status.
        status: u16,
        /// Error text of the endpoint.
        detail: String,
    },
    /// Too many requests, or the endpoint was overloaded, until the retries ran out.
    Overloaded {
        /// HTTP status.
        status: u16,
        /// Error text of the endpoint.
        detail: String,
    },
    /// The reply did not arrive in time.
    TimedOut {
        /// Time waited, in milliseconds.
        after_ms: u64,
        /// What the failed call cost all the same.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The reply ended before it was complete.
    Cut {
        /// How the end was noticed.
        detail: String,
        /// What the failed call cost all the same.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The reply contains no valid JSON value.
    Unreadable {
        /// What is wrong with the reply.
        detail: String,
        /// The beginning of the reply, escaped.
        excerpt: String,
        /// What the failed call cost all the same.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The prompt and its reply would exceed the model's context; nothing was sent.
    DoesNotFit {
        /// Estimated tokens of prompt and reply.
        needed: u64,
        /// Tokens of the model's context.
        room: u64,
    },
    /// The call might have exceeded the budget; nothing was sent.
    OverBudget {
        /// Which limit, what is spent, and what the call might have added.
        detail: String,
    },
    /// The task was cancelled.
    Cancelled,
    /// The recording contains no reply to this request.
    NotRecorded {
        /// The request.
        detail: String,
    },
}

impl ModelFailure {
    /// Whether repeating the request, with the problem named, may help.
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

    /// What the failed call cost: at least one call, unless nothing was sent.
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

    /// The same failure with what the call cost, if its kind records that.
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
