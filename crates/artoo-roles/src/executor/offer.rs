//! The request of R3 (the Executor) in the form for endpoints with native tool calls: the tools, and a `report` tool
//! that ends the subtask.

use artoo_proto::{ByTools, ModelRequest, OfferedTool, Prompt, RoleContext};
use serde_json::{Map, Value, json};

use super::prompt::{bounded, material};
use crate::limits::{REPLY_REMARK_CHARS, REPLY_TEXT_CHARS};

/// The system part of R3's prompt for endpoints with native tool calls.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/executor.tools.md"));

/// Name of the tool that the model calls to report its result. If another tool has this name, native tool calls are not
/// offered.
const REPORT: &str = "report";

/// The request in the form for native tool calls; `None` if there are no tools or one of them is named `report`.
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
        // The inputs are described by the tools' schemas, so the prompt lists only the names.
        prompt: Prompt { system: SYSTEM.to_owned(), user: material(context, names.join(", ")) },
        tools: offered.collect(),
        ending: report(),
        going_on: going_on(),
    })
}

/// The tool with which the model reports its result and ends the subtask.
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

/// Default fields of a reply that calls tools without the `report` tool: no answer yet, and an uncertain status.
fn going_on() -> Map<String, Value> {
    let fields = [("answer_is_output", json!(false)), ("status", json!("uncertain")), ("output", json!(""))];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
