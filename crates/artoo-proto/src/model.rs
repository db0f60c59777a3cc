//! Requests to a language model, and its replies.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Abstention, CorrectionSignal, Criterion, ExecutionResult, MemoryRecall, Now, PlanDirective, RecipePlan, Role,
    SessionTurn, SubTask, SubTaskId, SubTaskOutcome, TaskId, TaskSpec, ToolCall, ToolSpec, Usage, WordingRequest,
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

/// One call to a model: prompt, schema of the reply, and the typed context of the role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The role that calls the model.
    pub role: Role,
    /// The task that the call belongs to.
    pub task_id: TaskId,
    /// The subtask that the call belongs to, if any.
    pub subtask_id: Option<SubTaskId>,
    /// The role's material as typed data.
    pub context: RoleContext,
    /// The same material as text for a language model.
    pub prompt: Prompt,
    /// Name of the reply's JSON schema.
    pub schema_name: String,
    /// JSON schema that the reply must match.
    pub schema: Value,
    /// Maximum length of the reply, in tokens.
    pub max_tokens: u32,
    /// Builds the same request for an endpoint with native tool calls; `None` if the reply contains no calls. Not
    /// serialized.
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

/// The form of a request for an endpoint with native tool calls.
///
/// The client turns the model's calls back into the reply that [`ModelRequest::schema`] describes: calls of `tools`
/// become its list `calls` of `{tool, input}`, and the input of `ending` becomes its other fields.
#[derive(Debug, Clone, PartialEq)]
pub struct ByTools {
    /// The prompt, without the list of tools and without the schema.
    pub prompt: Prompt,
    /// Tools the model may call, the preferred one first.
    pub tools: Vec<OfferedTool>,
    /// The tool that the model calls to say that it has finished.
    pub ending: OfferedTool,
    /// The values of the reply's other fields while the model has not called `ending`.
    pub going_on: Map<String, Value>,
}

/// A tool as it is described to a model: name, description and input schema.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Exact name of the tool.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON schema of the tool's input, which is an object.
    pub input_schema: Value,
}

/// The text of a model call. The first part stays the same between calls, so that it can be cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The role's fixed instructions.
    pub system: String,
    /// The material of this call.
    pub user: String,
}

/// The input of a role as typed data: the embedded parser reads it, and recordings are found by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RoleContext {
    /// The perceiver's input.
    Perceive(Box<PerceiveContext>),
    /// The planner's input.
    Plan(Box<PlanContext>),
    /// An executor's input.
    Execute(Box<ExecuteContext>),
    /// An agent-validator's input.
    ValidateSubtask(Box<ValidateSubtaskContext>),
    /// The meta-validator's input.
    ValidateTask(Box<ValidateTaskContext>),
    /// The planner's input for the end of an abandoned task.
    Word(Box<WordingRequest>),
    /// The text of a rule that memory made, for a model that improves its wording.
    WordRule(String),
}

/// The typed input of the perceiver's model call: the request, earlier turns, the answers to questions, the
/// environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerceiveContext {
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The last turns of the session, oldest first.
    pub session: Vec<SessionTurn>,
    /// Text that the user gave with the request; data, never instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Questions already asked, with their answers.
    pub clarifications: Vec<(String, String)>,
    /// Whether the perceiver may ask the user a question.
    pub may_ask: bool,
    /// The machine and the user's folders.
    pub environment: Environment,
    /// The current time.
    pub now: Now,
}

/// The typed input of the planner's model call: the task, the tools, the directive and memory's advice.
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

/// Memory's advice in words that code wrote for the planner's prompt; at most ten entries besides lessons and notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Approaches that MUST NOT be used.
    pub must_not: Vec<String>,
    /// Approaches that SHOULD be preferred.
    pub should_prefer: Vec<String>,
    /// Approaches that need a confirmation by the user.
    pub caution: Vec<String>,
    /// Lessons from corrections in similar tasks; data, never instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
    /// Notes of the user that fit the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The typed input of an executor's model call: its subtask, the calls so far and remarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecuteContext {
    /// The subtask to carry out.
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

/// The typed input of an agent-validator's model call, in which a model judges the open criteria of a subtask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidateSubtaskContext {
    /// The subtask to judge.
    pub subtask: SubTask,
    /// The executor's claim and its tool calls.
    pub result: ExecutionResult,
    /// Criteria left to judge, in order; code decided the others.
    pub open: Vec<Criterion>,
}

/// The typed input of the meta-validator's model call, in which a model judges the open criteria of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidateTaskContext {
    /// The user's words, verbatim.
    pub raw_input: String,
    /// The task's goal in one sentence.
    pub intent: String,
    /// Text that the user gave with the request; data, never instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Criteria left to judge, in order.
    pub open: Vec<Criterion>,
    /// The joined output of the subtasks.
    pub merged_output: String,
    /// The outcome of every subtask.
    pub outcomes: Vec<SubTaskOutcome>,
}

/// A model's reply, with the calls and tokens it cost and the model's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The reply itself.
    pub body: ReplyBody,
    /// Model calls and tokens that the reply cost.
    pub usage: Usage,
    /// Name of the model that answered.
    pub model: String,
}

/// The content of a model's reply: a value from a language model, or what the embedded parser built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReplyBody {
    /// One JSON value, parsed strictly; its fields are not checked yet.
    Json {
        /// The JSON value that the model replied.
        value: Value,
    },
    /// A plan of recipes, built by code.
    Recipes {
        /// The plan that the embedded parser built.
        plan: RecipePlan,
    },
    /// The embedded parser did not understand the request.
    Abstain {
        /// Which part of the request was understood and which was not.
        abstention: Abstention,
    },
}
