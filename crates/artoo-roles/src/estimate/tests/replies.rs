//! Scripted replies that solve a simple task: the shortest possible, or of ordinary length.

use artoo_proto::{ModelRequest, RoleContext, ToolCall, ToolSpec};
use serde_json::{Value, json};

use super::super::Course;
use super::filler;

/// Length of the longer texts of an ordinary reply in characters (a step's context, a judge's evidence): two sentences.
const USUAL_CHARS: usize = 160;

/// Length of an ordinary call's output in characters: a page of a listing or file.
const USUAL_OUTPUT_CHARS: usize = 2_000;

/// The tool of the simulated step: the one with the shortest input schema (`Checked`) or the lowest `priority`
/// (`Judged`); `None` for `Words`.
pub(super) fn tool(tools: &[ToolSpec], course: Course) -> Option<&ToolSpec> {
    match course {
        Course::Words => None,
        Course::Checked => tools.iter().min_by_key(|tool| tool.input_schema.to_string().len()),
        Course::Judged => tools.iter().min_by_key(|tool| tool.priority),
    }
}

/// Length of the output of the simulated call in characters.
pub(super) fn output_chars(course: Course) -> usize {
    match course {
        Course::Checked | Course::Words => 1,
        Course::Judged => USUAL_OUTPUT_CHARS,
    }
}

/// The scripted reply to a request of any role, with which the task continues.
pub(super) fn reply(request: &ModelRequest, course: Course, tool: Option<&ToolSpec>) -> Value {
    match &request.context {
        RoleContext::Perceive(context) => {
            let intent = if course == Course::Judged { context.raw_input.clone() } else { filler(1) };
            json!({"task_id": "t", "intent": intent, "constraints": {"scope": null, "deadline": null}, "question": null})
        }
        RoleContext::Plan(context) => plan(&context.environment.workspace, course, tool),
        RoleContext::Execute(_) => execution(course, tool),
        RoleContext::ValidateSubtask(context) => {
            verdicts(context.open.len(), context.result.tool_calls.first(), course)
        }
        RoleContext::Word(_) | RoleContext::WordRule(_) => panic!("the task is done"),
        RoleContext::ValidateTask(context) => {
            let first = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls).next();
            verdicts(context.open.len(), first, course)
        }
    }
}

/// A text of the length that this course assumes.
fn text(course: Course) -> String {
    filler(if course == Course::Judged { USUAL_CHARS } else { 1 })
}

/// A plan with one step.
fn plan(folder: &str, course: Course, tool: Option<&ToolSpec>) -> Value {
    let claim = |what: &str| match course {
        Course::Judged => json!({"criterion": format!("{what}: {}", text(course)), "mode": "verifiable"}),
        Course::Checked | Course::Words => json!(what),
    };
    let criterion = match course {
        Course::Checked => json!({"check": {"kind": "file_count", "path": folder}}),
        Course::Words | Course::Judged => claim("ipsum"),
    };
    json!({
        "task_criteria": [claim("dolor")],
        "subtasks": [{
            "intent": text(course), "context": text(course), "sequence": 1,
            "tools": tool.map(|tool| &tool.name).into_iter().collect::<Vec<_>>(), "success_criteria": [criterion]
        }]
    })
}

/// The executor's reply.
fn execution(course: Course, tool: Option<&ToolSpec>) -> Value {
    let input = if course == Course::Judged { json!({"text": text(course)}) } else { json!({}) };
    let calls: Vec<Value> = tool.iter().map(|tool| json!({"tool": tool.name, "input": input})).collect();
    let output = if calls.is_empty() { text(course) } else { String::new() };
    json!({
        "answer_is_output": !calls.is_empty(), "calls": calls, "status": "completed", "output": output, "reason": null
    })
}

/// Verdicts that pass every criterion.
fn verdicts(count: usize, call: Option<&ToolCall>, course: Course) -> Value {
    let cites: Vec<&str> = call.map(|call| call.evidence_id.0.as_str()).into_iter().collect();
    let verdict = |number| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": text(course), "failure_class": null});
    json!({"verdicts": (1..=count).map(verdict).collect::<Vec<_>>(), "what_to_do": null})
}
