//! The prompt of R3 (the Executor) and the schema of its model's reply.

use std::borrow::Borrow;

use artoo_proto::{CorrectionSignal, ExecuteContext, Prompt, ToolCall, escape};
use serde_json::{Map, Value, json};

use super::toolbox::ToolText;
use crate::blocked;
use crate::limits::{
    CALLS_PER_REPLY, ENTRY_CHARS, EVIDENCE_CHARS, EVIDENCE_MIN_CHARS, EVIDENCE_TOTAL_CHARS, REPLY_ITEMS,
    REPLY_REMARK_CHARS, REPLY_TEXT_CHARS,
};
use crate::prompt::{Fenced, bullets, fenced_bullets, render_embedded};

/// The system part of the prompt of R3 (the Executor): the laws, then fixed instructions.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/executor.md"));
/// Template of the user part of the prompt of R3 (the Executor).
const USER: &str = include_str!("../../../../prompts/executor.user.md");

/// The prompt for one request of R3 (the Executor).
pub(super) fn render(context: &ExecuteContext, tools: &[impl Borrow<ToolText>]) -> Prompt {
    Prompt { system: SYSTEM.to_owned(), user: material(context, listed(tools)) }
}

/// The list of tools with their inputs, one on each line; `(none)` if there are no tools.
fn listed(tools: &[impl Borrow<ToolText>]) -> String {
    let lines: Vec<&str> = tools.iter().map(|tool| tool.borrow().line.as_str()).collect();
    if lines.is_empty() { bullets(&lines) } else { lines.join("\n") }
}

/// The user part of R3's prompt, with `tools` as the text about the available tools.
pub(super) fn material(context: &ExecuteContext, tools: String) -> String {
    let subtask = &context.subtask;
    let criteria: Vec<String> = subtask.success_criteria.iter().map(artoo_proto::Criterion::claim).collect();
    let tools_blocked = subtask.blocked_tools.iter().map(|tool| format!("the tool {tool}"));
    let targets_blocked = subtask.blocked_targets.iter().map(|target| blocked::worded(target));
    let must_not: Vec<String> = tools_blocked.chain(targets_blocked).collect();
    let environment = &context.environment;
    render_embedded(
        USER,
        &[
            ("cwd", escape::one_line(&environment.cwd)),
            ("home", escape::one_line(&environment.home)),
            ("workspace", escape::one_line(&environment.workspace)),
            ("tools", tools),
            ("calls_left", context.calls_left.to_string()),
            ("intent", Fenced::new(&subtask.intent).as_str().to_owned()),
            ("context", Fenced::new(&subtask.context).as_str().to_owned()),
            ("criteria", bullets(&criteria)),
            ("must_not", bullets(&must_not)),
            ("correction", context.correction.as_ref().map(correction).unwrap_or_default()),
            ("earlier", earlier(&context.earlier_calls)),
            ("calls", calls(&context.calls, context.calls.len())),
            ("remarks", fenced_bullets(&context.remarks)),
        ],
    )
}

/// The paragraph that says what was wrong with the last attempt.
fn correction(correction: &CorrectionSignal) -> String {
    format!(
        "CORRECTION (attempt {}):\nNot met: {}\nWhat was wrong:\n{}\nWhat to do:\n{}\nAvoid these calls:\n{}\n",
        correction.attempt_number,
        escape::shorten(&escape::one_line(&correction.failed_criterion), ENTRY_CHARS),
        Fenced::new(&correction.what_was_wrong).as_str(),
        Fenced::new(&correction.what_to_do).as_str(),
        fenced_bullets(&correction.avoid_calls),
    )
}

/// The calls of earlier attempts as prompt text, one line each, without their outputs.
fn earlier(calls: &[ToolCall]) -> String {
    fenced_bullets(&calls.iter().map(|call| format!("[{}] {call}", call.evidence_id)).collect::<Vec<_>>())
}

/// Tool calls with their inputs and outputs, as the prompts of R3 and of both validators show them. The outputs are
/// shortened so that `sharing` of them fit into one prompt.
pub(crate) fn calls<'a>(calls: impl IntoIterator<Item = &'a ToolCall>, sharing: usize) -> String {
    let room = (EVIDENCE_TOTAL_CHARS / sharing.max(1)).clamp(EVIDENCE_MIN_CHARS, EVIDENCE_CHARS);
    let calls: Vec<String> = calls.into_iter().map(|made| call(made, room)).collect();
    if calls.is_empty() { "(none)".to_owned() } else { calls.join("\n") }
}

/// One tool call as prompt text, with its input and at most `room` characters of its output.
fn call(call: &ToolCall, room: usize) -> String {
    let (output, cut_here) = escape::head_tail(&call.output, room);
    let exit = call.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let cut = if call.truncated || cut_here { ", output cut" } else { "" };
    let changed: Vec<String> = call.changed.iter().map(|change| escape::one_line(&change.path)).collect();
    let changed = if changed.is_empty() { String::new() } else { format!(", changed {}", changed.join(" and ")) };
    let input = escape::shorten(&escape::one_line(&call.shown_input().to_string()), EVIDENCE_CHARS);
    format!(
        "[{}] {} → {:?}{exit}{cut}, {} bytes\n{}",
        call.evidence_id,
        call.tool,
        call.status,
        call.output_bytes,
        Fenced::new(&format!("input: {input}{changed}\noutput:\n{output}")).as_str(),
    )
}

/// The JSON schema of the model's reply to R3, with these tools.
pub(super) fn schema(tools: &[impl Borrow<ToolText>]) -> Value {
    let names: Vec<&str> = tools.iter().map(|tool| tool.borrow().name.as_str()).collect();
    // An empty enumeration is not a valid schema; without tools there are no calls either.
    let name = if names.is_empty() { json!({"type": "null"}) } else { json!({"enum": names}) };
    let mut call = request(name, json!({"type": "object"}));
    if let Some(fields) = call.as_object_mut().filter(|_| !tools.is_empty()) {
        // For servers that enforce a schema: each tool's own input. The check of a reply ignores it, so that a wrong
        // input reaches the tool, which reports what is wrong with it.
        let each =
            tools.iter().map(Borrow::borrow).map(|tool| request(json!({"const": tool.name}), tool.input.clone()));
        fields.insert("oneOf".to_owned(), each.collect());
    }
    let max_calls = if names.is_empty() { 0 } else { CALLS_PER_REPLY };
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["calls", "answer_is_output", "status", "output"],
        "properties": {
            "calls": {"type": "array", "maxItems": max_calls, "items": null},
            "answer_is_output": {"type": "boolean"},
            "status": {"type": "string", "enum": ["completed", "uncertain", "failed"]},
            "output": {"type": "string", "maxLength": REPLY_TEXT_CHARS},
            "reason": {"type": ["string", "null"], "maxLength": REPLY_REMARK_CHARS}
        }
    });
    put(&mut schema, "/properties/calls/items", call);
    schema
}

/// The JSON schema of one tool call, from the schemas of its tool name and its input.
fn request(tool: Value, input: Value) -> Value {
    let mut request = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["tool", "input"],
        "properties": {"tool": null, "input": null}
    });
    put(&mut request, "/properties/tool", tool);
    put(&mut request, "/properties/input", input);
    request
}

/// Moves a part into a schema at a JSON pointer, because `json!` would copy the part at each level.
fn put(schema: &mut Value, pointer: &str, part: Value) {
    if let Some(place) = schema.pointer_mut(pointer) {
        *place = part;
    }
}

/// Whether the `type` of a schema (one name or a list of names) allows `of_type`.
fn allows(found: &Value, of_type: &str) -> bool {
    found == of_type || found.as_array().is_some_and(|names| names.iter().any(|name| name == of_type))
}

/// A tool's input schema with limits: texts and lists are at most as long as a reply may contain. Descriptions are left
/// out, because the prompt's list of tools has them.
pub(super) fn bounded(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, value)| !(*name == "description" && value.is_string()));
            let mut fields: Map<String, Value> = kept.map(|(name, value)| (name.clone(), bounded(value))).collect();
            for (of_type, name, most) in [("string", "maxLength", REPLY_TEXT_CHARS), ("array", "maxItems", REPLY_ITEMS)]
            {
                if fields.get("type").is_some_and(|found| allows(found, of_type)) {
                    let own = fields.get(name).and_then(Value::as_u64).and_then(|own| usize::try_from(own).ok());
                    fields.insert(name.to_owned(), own.map_or(most, |own| own.min(most)).into());
                }
            }
            Value::Object(fields)
        }
        Value::Array(parts) => parts.iter().map(bounded).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}
