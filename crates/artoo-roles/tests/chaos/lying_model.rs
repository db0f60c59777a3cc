//! A model that lies at every role: the request asks for a change, the tools change nothing, and the model claims
//! success.

use artoo_proto::{ModelFailure, ModelRequest, ReplyBody, RoleContext, ToolCall};
use serde_json::{Value, json};

use super::rng::Rng;
use super::scripted_request::Lie;

/// The claim of success that a lying model makes.
const DONE: &str = "Done. I created the file and verified it.";

/// The reply of a lying model to a request of any role.
pub(super) fn reply(rng: &mut Rng, lie: Lie, request: &ModelRequest) -> Result<ReplyBody, ModelFailure> {
    let value = match &request.context {
        RoleContext::Perceive(context) => json!({"task_id": "a_task", "intent": context.raw_input, "question": null,
            "constraints": {"scope": null, "deadline": null}}),
        RoleContext::Plan(context) => {
            let blocked =
                context.directive.as_ref().map(|directive| directive.blocked_tools.clone()).unwrap_or_default();
            let free: Vec<&str> = context
                .tools
                .iter()
                .map(|tool| tool.name.as_str())
                .filter(|name| !blocked.iter().any(|b| b == name))
                .collect();
            let tools = if lie == Lie::Words && rng.chance(500) { Vec::new() } else { free };
            let intent = format!("make the file in way {}", rng.below(100_000));
            let criteria = trivial(rng);
            json!({"task_criteria": trivial(rng),
                   "subtasks": [{"intent": intent, "context": "", "sequence": 1, "tools": tools,
                                 "success_criteria": criteria}]})
        }
        RoleContext::Execute(context) => {
            let calls = context.calls.len();
            let tool = context.tools.get(rng.below(context.tools.len())).map(|tool| tool.name.as_str());
            let tries = context.earlier_calls.len() + calls;
            let call = |what: &str| {
                json!({"calls": [{"tool": tool, "input": {"what": what, "try": tries}}], "answer_is_output": false,
                       "status": "uncertain", "output": ""})
            };
            let say = |words: &str| json!({"calls": [], "status": "completed", "output": words});
            match (lie, tool, calls) {
                (_, None, _) | (Lie::Words, ..) => say(DONE),
                (Lie::Look, _, 0) => {
                    let mut look = call("look");
                    look["answer_is_output"] = json!(true);
                    look
                }
                (Lie::Describe, _, 0) => call("look"),
                (Lie::Echo, _, 0) => call("echo"),
                (Lie::FailedAct, _, 0) => call("fail"),
                (Lie::FailedAct, _, 1) => call("look"),
                (Lie::Nothing, _, 0) => call("nothing"),
                (Lie::Describe | Lie::FailedAct | Lie::Nothing, ..) if rng.chance(700) => {
                    say("The file is there with the right text.")
                }
                (Lie::Look | Lie::Describe | Lie::Echo | Lie::FailedAct | Lie::Nothing, ..) => say(DONE),
            }
        }
        RoleContext::ValidateSubtask(context) => pass(rng, context.open.len(), &context.result.tool_calls),
        RoleContext::WordRule(rule) => json!({"rule": rule}),
        RoleContext::Word(_) => json!({"summary": DONE, "next_steps": [DONE]}),
        RoleContext::ValidateTask(context) => {
            let calls: Vec<ToolCall> = context.outcomes.iter().flat_map(|outcome| outcome.tool_calls.clone()).collect();
            pass(rng, context.open.len(), &calls)
        }
    };
    Ok(ReplyBody::Json { value })
}

/// Success criteria that a lying model declares: empty, about form, false, or true although nothing was changed.
fn trivial(rng: &mut Rng) -> Value {
    match rng.below(9) {
        0 => json!(["the file is there and has the right text"]),
        1 => json!([{"check": {"kind": "output_not_empty"}}]),
        2 => json!([{"check": {"kind": "output_not_empty"}}, "the file is verified"]),
        3 => json!([{"check": {"kind": "file_exists", "path": "/etc/hostname"}}]),
        4 => json!([{"check": {"kind": "file_exists", "path": "~/artoo_workspace/notes.txt"}}]),
        5 => json!([{"check": {"kind": "file_count", "path": "/home/u"}}]),
        6 => json!([{"check": {"kind": "recompute", "query": {"x": 1}, "reading": "everything is fine"}}]),
        7 => json!([{"check": {"kind": "exit_code", "code": 0}}, "it is as it should be"]),
        _ => json!(["done"]),
    }
}

/// A verdict that passes every criterion, with or without citations.
fn pass(rng: &mut Rng, count: usize, calls: &[ToolCall]) -> Value {
    let cites: Vec<&str> = match rng.below(4) {
        0 => Vec::new(),
        1 => vec!["e1"],
        _ => calls.iter().map(|call| call.evidence_id.0.as_str()).take(1).collect(),
    };
    let verdicts: Vec<Value> = (1..=count)
        .map(|number| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": "I saw it myself"}))
        .collect();
    json!({"verdicts": verdicts, "what_to_do": null})
}
