//! Whole tasks through the System: scripted models and tools, real roles and decisions.

mod costs;
mod faults;
mod flows;
mod laws;
mod lies;
#[cfg(feature = "runtime")]
mod prefixes;

use artoo_proto::{AbandonReason, Ending, ModelFailure, ModelRequest, ReplyBody, Role};
use serde_json::{Value, json};

use artoo_roles::testing::world::{pass_all, understood, value};

/// A plan with these subtasks and criteria.
fn plan(subtasks: Value, criteria: Value) -> Result<ReplyBody, ModelFailure> {
    value(json!({"task_criteria": criteria, "subtasks": subtasks}))
}

/// One subtask with this tool.
fn one_subtask(tool: &str) -> Value {
    json!([{
        "intent": format!("look at the machine with {tool}"), "context": "", "sequence": 1, "tools": [tool],
        "success_criteria": [{"criterion": "the output names a number of files", "mode": "plausible"}]
    }])
}

/// An executor's reply with one call whose output is the answer.
fn answer_with(tool: &str, input: Value) -> Result<ReplyBody, ModelFailure> {
    value(json!({"calls": [{"tool": tool, "input": input}], "answer_is_output": true,
                 "status": "completed", "output": ""}))
}

/// A model that plans one glob call, makes it, and passes every criterion.
fn honest(request: &ModelRequest) -> Result<ReplyBody, ModelFailure> {
    match request.role {
        Role::Perceiver => understood(request),
        Role::Planner => plan(one_subtask("glob"), json!(["the combined output states how many there are"])),
        Role::Executor => answer_with("glob", json!({"root": "/home/u", "report": "count"})),
        _ => pass_all(request),
    }
}

/// The claims of the criteria that are not met.
fn unmet(ending: &Ending) -> Vec<String> {
    match ending {
        Ending::Accept { .. } => Vec::new(),
        Ending::Success { unmet } | Ending::Abandon { unmet, .. } => unmet.iter().map(|r| r.claim.clone()).collect(),
    }
}

/// The reason of an abandoned task.
fn reason(ending: &Ending) -> &AbandonReason {
    match ending {
        Ending::Abandon { reason, .. } => reason,
        other => panic!("not an abandon: {other:?}"),
    }
}
