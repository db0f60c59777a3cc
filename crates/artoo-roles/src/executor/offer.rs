//! R3's request for an endpoint that calls tools in its own way: the tools themselves, and one to end with.

use artoo_proto::{ByTools, OfferedTool, Prompt};
use serde_json::{Map, Value, json};

use super::toolbox::Worded;
use crate::limits::{REPLY_REMARK_CHARS, REPLY_TEXT_CHARS};

const SYSTEM: &str = include_str!("../../../../prompts/executor.tools.md");

/// The tool by which R3 reports; with a tool of this name there is no such request.
const REPORT: &str = "report";

/// The request, from the other form's material, in which the tools stand as `listed`; `None` where there is nothing to
/// call, so that the other form is as good.
pub(super) fn by_tools(tools: &[&Worded], material: &str, listed: &str) -> Option<Box<ByTools>> {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    if names.is_empty() || names.contains(&REPORT) {
        return None;
    }
    let offered = tools.iter().map(|tool| OfferedTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input.clone(),
    });
    Some(Box::new(ByTools {
        // What they take is said by the tools themselves.
        prompt: Prompt { system: SYSTEM.to_owned(), user: material.replacen(listed, &names.join(", "), 1) },
        tools: offered.collect(),
        ending: report(),
        going_on: going_on(),
    }))
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
