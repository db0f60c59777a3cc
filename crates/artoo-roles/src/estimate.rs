//! How many characters the model calls of a simple task send and receive, from a table of prompt sizes.
//!
//! The table holds the prompts without the parts that vary; a test compares it with the calls of the real roles.
//! Corrections, replans and further steps are not included.

use artoo_proto::{Environment, Role, SessionTurn, ToolSpec};
use serde_json::Value;

use crate::limits::{
    CALLS_PER_ATTEMPT, CLARIFICATION_ROUNDS, ENTRY_CHARS, IDLE_REPLIES_MAX, PLAN_DRAFTS_MAX, REPLY_SUBTASKS,
    REPLY_TOKENS, RETRIES_MAX,
};

/// Maximum number of rounds of a task: the first plan and three replans.
const ROUNDS_MAX: u64 = 4;

/// Maximum number of model calls for one request: an unreadable reply is requested once more.
const TIMES_ASKED: u64 = 2;

/// Maximum number of characters of the user's request that a criterion repeats in the meta-validator's prompt.
const CLAIM_CHARS: usize = 3_955;

/// The facts about a task that its estimate depends on, known before the first model call.
#[derive(Debug, Clone, Copy)]
pub struct TaskInput<'a> {
    /// The machine's folders, which most prompts contain.
    pub environment: &'a Environment,
    /// The tools that a plan may use.
    pub tools: &'a [ToolSpec],
    /// The user's words.
    pub request: &'a str,
    /// Earlier turns that the request may refer to.
    pub session: &'a [SessionTurn],
}

/// The assumed way in which a simple task is solved: with a checked call, by words alone, or with a judged call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// One step with one tool call, checked in code; every reply as short as possible.
    Checked,
    /// An answer without tools, judged by models; every reply as short as possible.
    Words,
    /// One step with one tool call, judged by models; replies and output of ordinary length.
    Judged,
}

/// Size of one model call, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSize {
    /// The role that calls the model.
    pub role: Role,
    /// Characters of the prompt and the reply's schema.
    pub sent: usize,
    /// Characters of the reply.
    pub received: usize,
    /// Longest reply that the call allows, in tokens.
    pub max_tokens: u32,
}

/// For each call of a task: the role, and the characters sent and received without the parts that vary.
type Sizes = &'static [(Role, usize, usize)];

/// Sizes of the model calls of a task with one tool call that code checks ([`Course::Checked`]).
const CHECKED: Sizes = &[
    (Role::Perceiver, 1_618, 88),
    (Role::Planner, 8_899, 153),
    (Role::Executor, 1_743, 105),
    (Role::MetaValidator, 2_243, 208),
];

/// Sizes of the model calls of a task answered without tools ([`Course::Words`]).
const WORDS: Sizes = &[
    (Role::Perceiver, 1_618, 88),
    (Role::Planner, 8_899, 122),
    (Role::Executor, 1_699, 85),
    (Role::AgentValidator, 2_114, 109),
    (Role::MetaValidator, 2_099, 186),
];

/// Sizes of the model calls of a task with one tool call that models judge ([`Course::Judged`]).
const JUDGED: Sizes = &[
    (Role::Perceiver, 1_618, 88),
    (Role::Planner, 8_899, 835),
    (Role::Executor, 2_119, 274),
    (Role::AgentValidator, 6_905, 281),
    (Role::MetaValidator, 8_574, 530),
];

/// The estimated model calls of a simple task, in order.
#[must_use]
pub fn calls(task: &TaskInput<'_>, course: Course) -> Vec<CallSize> {
    let (sizes, tool) = match course {
        Course::Checked => (CHECKED, task.tools.iter().min_by_key(|tool| tool.input_schema.to_string().len())),
        Course::Words => (WORDS, None),
        Course::Judged => (JUDGED, task.tools.iter().min_by_key(|tool| tool.priority)),
    };
    let request = task.request.chars().count();
    let Environment { cwd, home, workspace, .. } = task.environment;
    let [cwd, home, workspace] = [cwd, home, workspace].map(|path| path.chars().count());
    // The intent repeats the request only in a reply of ordinary length.
    let intent = if course == Course::Judged { request } else { 0 };
    sizes
        .iter()
        .map(|(role, sent, received)| {
            let (more_sent, more_received) = match role {
                Role::Perceiver => (request + session(task.session) + cwd + home, intent),
                Role::Planner => (request + intent + planned(task.tools) + cwd + home + workspace, 0),
                Role::Executor => (tool.map_or(0, executed) + cwd + home + workspace, 0),
                Role::MetaValidator => (request + intent + request.min(CLAIM_CHARS), 0),
                Role::AgentValidator
                | Role::Dispatcher
                | Role::Memory
                | Role::Auditor
                | Role::Solver
                | Role::Operator
                | Role::Runtime => (0, 0),
            };
            CallSize {
                role: *role,
                sent: sent + more_sent,
                received: received + more_received,
                max_tokens: REPLY_TOKENS,
            }
        })
        .collect()
}

/// Number of characters that the session's earlier turns add to the perceiver's prompt.
fn session(turns: &[SessionTurn]) -> usize {
    let turn = |turn: &SessionTurn| turn.input.chars().count() + turn.summary.chars().count() + 33;
    if turns.is_empty() { 0 } else { 31 + turns.iter().map(turn).sum::<usize>() }
}

/// Number of characters that the list of tools adds to the planner's prompt and schema.
fn planned(tools: &[ToolSpec]) -> usize {
    let line = |tool: &ToolSpec| {
        let name = tool.name.chars().count();
        name + (name + 2 + tool.description.chars().count()).min(ENTRY_CHARS) + 6
    };
    tools.iter().map(line).sum()
}

/// Number of characters that one tool adds to the executor's prompt and schema.
fn executed(tool: &ToolSpec) -> usize {
    let form = artoo_proto::shape(&tool.input_schema).chars().count();
    let schema = tool.input_schema.to_string().chars().count() - descriptions(&tool.input_schema);
    3 * tool.name.chars().count() + tool.description.chars().count() + form + schema + 190
}

/// Number of characters of the descriptions in a JSON schema, which the executor's schema leaves out.
fn descriptions(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => fields.iter().map(|(name, part)| described(name, part)).sum(),
        Value::Array(parts) => parts.iter().map(descriptions).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Number of characters of the descriptions in one field of a JSON schema.
fn described(name: &str, part: &Value) -> usize {
    match part.as_str() {
        Some(text) if name == "description" => text.chars().count() + "\"description\":\"\",".len(),
        _ => descriptions(part),
    }
}

/// Maximum number of model calls of any task, from the limits of the roles.
#[must_use]
pub fn calls_max() -> u64 {
    calls_max_of(u64::try_from(REPLY_SUBTASKS).unwrap_or(u64::MAX))
}

/// Maximum number of model calls of a task whose plans have `subtasks` subtasks each.
fn calls_max_of(subtasks: u64) -> u64 {
    let attempts = u64::from(RETRIES_MAX) + 1;
    let replies = u64::from(CALLS_PER_ATTEMPT) + u64::from(IDLE_REPLIES_MAX) + 1;
    // R3's replies and R4a's verdict, for each attempt of each subtask; R2's drafts; R4b's verdict.
    let round = u64::from(PLAN_DRAFTS_MAX) + subtasks * attempts * (replies + 1) + 1;
    // The words of an abandoned task are asked for once.
    (u64::from(CLARIFICATION_ROUNDS) + 1 + ROUNDS_MAX * round) * TIMES_ASKED + 1
}

#[cfg(test)]
mod tests;
