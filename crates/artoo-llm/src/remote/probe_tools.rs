//! Probes native tool calls with two questions, each with one right call. A server whose model can't call tools answers
//! in words.

use artoo_proto::{ByTools, ModelRequest, OfferedTool, Prompt};
use serde_json::{Value, json};

use super::Remote;
use super::probe::ANSWER_TOKENS;
use super::try_failure::TryFailure;
use crate::abilities::ProbeResult;
use crate::structured::{Dialect, ToolCalls};

/// The two probe questions with their only right replies: a call of a tool with two fields, and the call that ends the
/// work.
fn questions() -> [(&'static str, Value); 2] {
    [
        (
            "Set the lamp to the colour zinc-9 and the level 3.",
            json!({"calls": [{"tool": "set_lamp", "input": {"colour": "zinc-9", "level": 3}}], "output": ""}),
        ),
        (
            "The work is done and no lamp is to be set. The result is the word copper-4: report it.",
            json!({"calls": [], "output": "copper-4"}),
        ),
    ]
}

impl Remote {
    /// Probes native tool calls; returns the result, and the dialect with tool calls turned on if they work.
    pub(super) async fn probe_tools(
        &self,
        like: &ModelRequest,
        dialect: Dialect,
    ) -> Result<(Option<ProbeResult>, Dialect), TryFailure> {
        let mut trying = Dialect { tool_calls: ToolCalls::Required, ..dialect };
        let request = request(like);
        for (question, expected) in questions() {
            let probed = self.probe_question(&request, Some((&by_tools(question), &expected)), trying).await?;
            if probed.result != ProbeResult::Passed {
                return Ok((Some(probed.result), dialect));
            }
            trying = probed.dialect;
        }
        Ok((Some(ProbeResult::Passed), trying))
    }
}

/// The JSON schema of a text with at most `most` characters.
fn text(most: u32) -> Value {
    json!({"type": "string", "maxLength": most})
}

/// The JSON schema of an object with these fields and no others.
fn object(properties: Value, required: Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// The model request for a probe of tool calls: its schema describes calls and an output.
fn request(like: &ModelRequest) -> ModelRequest {
    ModelRequest {
        schema: object(json!({"calls": {"type": "array"}, "output": text(20)}), json!(["calls", "output"])),
        max_tokens: ANSWER_TOKENS,
        ..like.clone()
    }
}

/// The tools offered with a probe question: one that sets a lamp, and one that reports the result.
fn by_tools(question: &str) -> ByTools {
    let tool = |name: &str, description: &str, input_schema: Value| OfferedTool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema,
    };
    let lamp = object(json!({"colour": text(20), "level": {"type": "integer"}}), json!(["colour", "level"]));
    let output = object(json!({"output": text(20)}), json!(["output"]));
    let system = "Call the tool that fits. Answer with calls only.".to_owned();
    ByTools {
        prompt: Prompt { system, user: question.to_owned() },
        tools: vec![tool("set_lamp", "Sets a lamp.", lamp)],
        ending: tool("report", "Reports the result, at the end.", output),
        going_on: [("output".to_owned(), json!(""))].into_iter().collect(),
    }
}
