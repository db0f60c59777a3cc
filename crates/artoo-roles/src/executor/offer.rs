//! R3's request for an endpoint that calls tools in its own way: the tools themselves, and one to end with.

use artoo_proto::{ByTools, ModelRequest, OfferedTool, Prompt, RoleContext};
use serde_json::{Map, Value, json};

use super::prompt::{bounded, material};
use crate::limits::{REPLY_REMARK_CHARS, REPLY_TEXT_CHARS};

const SYSTEM: &str = include_str!("../../../../prompts/executor.tools.md");

/// The tool by which R3 reports; with a tool of this name there is no such request.
const REPORT: &str = "report";

/// The request; `None` where there is nothing to call, so that the other form is as good.
pub(super) fn by_tools(request: &ModelRequest) -> Option<ByTools> {
    let RoleContext::Execute(context) = &request.context else { return None };
    let names: Vec<&str> = context.tools.iter().map(|tool| tool.name.as_str()).collect();
    if names.is_empty() || names.contains(&REPORT) {
        return None;
    }
    let offered = context.tools.iter().map(|tool| OfferedTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: bounded(&tool.input_schema),
    });
    Some(ByTools {
        // What they take is said by the tools themselves.
        prompt: Prompt { system: SYSTEM.to_owned(), user: material(context, names.join(", ")) },
        tools: offered.collect(),
        ending: report(),
        going_on: going_on(),
    })
}

fn report() -> OfferedTool {
    OfferedTool {
        name: REPORT.to_owned(),
        description: "Ends the subtask and says what came of it.".to_owned(),
        input_schema: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["status", "output"],
            "properties": {
                "answer_is_output": {"type": "boolean"},
                "status": {"type": "string", "enum": ["completed", "uncertain", "failed"]},
                "output": {"type": "string", "maxLength": REPLY_TEXT_CHARS},
                "reason": {"type": ["string", "null"], "maxLength": REPLY_REMARK_CHARS}
            }
        }),
    }
}

/// Calls without a report claim nothing.
fn going_on() -> Map<String, Value> {
    let fields = [("answer_is_output", json!(false)), ("status", json!("uncertain")), ("output", json!(""))];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
