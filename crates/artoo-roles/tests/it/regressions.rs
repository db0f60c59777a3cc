//! Regression tests of observed failures and of possible lies, each through the whole System with a scripted model.

mod faults;
mod flow;
mod lies;

use artoo_proto::{
    AbandonReason, CriterionMark, EffectClass, Ending, FileChange, FinalResult, ModelFailure, ModelRequest, ReplyBody,
    Role, RoleContext, ToolCall, ToolOrder, ToolOutcome,
};
use serde_json::{Value, json};

use artoo_roles::testing::world::{World, call_of, ok_call, pass_all, understood, value};

/// A model's reply or failure.
type Reply = Result<ReplyBody, ModelFailure>;

/// A plan of one step with these tools and criteria.
fn plan_with(tools: &[&str], criteria: Value, task_criteria: Value) -> Reply {
    value(json!({
        "task_criteria": task_criteria,
        "subtasks": [{"intent": "carry out the request", "context": "", "sequence": 1, "tools": tools,
                      "success_criteria": criteria}]
    }))
}

/// A reply with one call whose output is the answer; each call is different.
fn answer_from(request: &ModelRequest, tool: &str, input: Value) -> Reply {
    let RoleContext::Execute(context) = &request.context else { panic!("not an execution") };
    let mut input = input;
    input["try"] = json!(context.earlier_calls.len() + context.calls.len());
    value(json!({"calls": [{"tool": tool, "input": input}], "answer_is_output": true, "status": "completed",
                 "output": ""}))
}

/// An executor's reply with this text.
fn says(output: &str) -> Reply {
    value(json!({"calls": [], "answer_is_output": false, "status": "completed", "output": output}))
}

/// The replies of a model that counts with glob.
fn honest(request: &ModelRequest) -> Reply {
    match request.role {
        Role::Perceiver => understood(request),
        Role::Planner => plan_with(&["glob"], json!(["a number of reports is named"]), json!(["a number is stated"])),
        Role::Executor => answer_from(request, "glob", json!({"root": "/home/u"})),
        _ => pass_all(request),
    }
}

/// A world with this model.
fn world(model: impl FnMut(&ModelRequest) -> Reply + 'static) -> World {
    let mut world = World::new(1);
    world.model = Box::new(model);
    world.tools = Box::new(|order| ok_call(order, "12"));
    world
}

/// The outcome of a call that created a file.
fn wrote(order: &ToolOrder, path: &str) -> ToolOutcome {
    let change = FileChange { path: path.to_owned(), before: None, after: Some("2cf2".to_owned()) };
    let call = call_of(order, "wrote 5 bytes");
    let call = ToolCall { class: EffectClass::Creating, measures: false, changed: vec![change], ..call };
    ToolOutcome::Called { call: ToolCall { target: path.to_owned(), ..call } }
}

/// The reason of an abandoned task.
fn reason(result: &FinalResult) -> &AbandonReason {
    let Ending::Abandon { reason, .. } = &result.ending else { panic!("not an abandon: {result:#?}") };
    reason
}

/// Whether a result is accepted.
fn is_accept(result: &FinalResult) -> bool {
    matches!(result.ending, Ending::Accept { .. })
}

/// The marks (checked, judged or unmet) of a result's criteria.
fn marks(result: &FinalResult) -> Vec<CriterionMark> {
    result.criteria.iter().map(|report| report.mark).collect()
}
