//! R3's prompt and the schema of its reply.

use artoo_proto::{CorrectionSignal, ExecuteContext, Prompt, ToolCall, ToolSpec, escape};
use serde_json::{Value, json};

use crate::limits::{CALLS_PER_REPLY, EVIDENCE_CHARS};
use crate::prompt::{Fenced, bullets, render_embedded};

const SYSTEM: &str = include_str!("../../../../prompts/executor.md");
const USER: &str = include_str!("../../../../prompts/executor.user.md");

pub(super) fn render(context: &ExecuteContext) -> Prompt {
    let subtask = &context.subtask;
    let tools: Vec<String> = context
        .tools
        .iter()
        .map(|tool| format!("{}: {} Input: {}", tool.name, tool.description, tool.input_schema))
        .collect();
    let criteria: Vec<String> = subtask.success_criteria.iter().map(artoo_proto::Criterion::claim).collect();
    let must_not: Vec<&String> = subtask.blocked_tools.iter().chain(&subtask.blocked_targets).collect();
    let environment = &context.environment;
    let user = render_embedded(
        USER,
        &[
            ("cwd", escape::one_line(&environment.cwd)),
            ("home", escape::one_line(&environment.home)),
            ("workspace", escape::one_line(&environment.workspace)),
            ("tools", bullets(&tools)),
            ("calls_left", context.calls_left.to_string()),
            ("intent", Fenced::new(&subtask.intent).as_str().to_owned()),
            ("context", Fenced::new(&subtask.context).as_str().to_owned()),
            ("criteria", bullets(&criteria)),
            ("must_not", bullets(&must_not)),
            ("correction", context.correction.as_ref().map(correction).unwrap_or_default()),
            ("earlier", bullets(&context.earlier_calls.iter().map(ToString::to_string).collect::<Vec<_>>())),
            ("calls", calls(&context.calls)),
            ("remarks", bullets(&context.remarks)),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

fn correction(correction: &CorrectionSignal) -> String {
    format!(
        "CORRECTION (attempt {}):\nNot met: {}\nWhat was wrong:\n{}\nWhat to do:\n{}\nAvoid these calls:\n{}\n",
        correction.attempt_number,
        escape::one_line(&correction.failed_criterion),
        Fenced::new(&correction.what_was_wrong).as_str(),
        Fenced::new(&correction.what_to_do).as_str(),
        bullets(&correction.avoid_calls),
    )
}

/// Calls with their evidence, as both R3 and the validators see them.
pub(crate) fn calls(calls: &[ToolCall]) -> String {
    if calls.is_empty() {
        return "(none)".to_owned();
    }
    calls.iter().map(call).collect::<Vec<_>>().join("\n")
}

fn call(call: &ToolCall) -> String {
    let (output, _) = escape::head_tail(&call.output, EVIDENCE_CHARS);
    let exit = call.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let changed = match call.changed.len() {
        0 => String::new(),
        n => format!(", changed {n} file(s)"),
    };
    format!(
        "[{}] {} {} → {:?}{exit}{changed}, {} bytes\n{}",
        call.evidence_id,
        call.tool,
        escape::one_line(&call.input.to_string()),
        call.status,
        call.output_bytes,
        Fenced::new(&output).as_str(),
    )
}

pub(super) fn schema(tools: &[ToolSpec]) -> Value {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    // An empty enumeration is no valid schema; with no tool there is no call either.
    let tool = if names.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": names}) };
    let call = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["tool", "input"],
        "properties": {"tool": tool, "input": {"type": "object"}}
    });
    let max_calls = if names.is_empty() { 0 } else { CALLS_PER_REPLY };
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["calls", "answer_is_output", "status", "output"],
        "properties": {
            "calls": {"type": "array", "maxItems": max_calls, "items": call},
            "answer_is_output": {"type": "boolean"},
            "status": {"type": "string", "enum": ["completed", "uncertain", "failed"]},
            "output": {"type": "string", "maxLength": 8000},
            "reason": {"type": ["string", "null"], "maxLength": 600}
        }
    })
}
