//! Finding out whether an endpoint is good at calling tools in its own way: two small questions, and what counts is the
//! right tool with the right input. A server whose model knows no tools takes the request and answers in words.

use artoo_proto::{ByTools, ModelRequest, OfferedTool, Prompt, Usage};
use serde_json::{Value, json};

use super::Remote;
use super::trouble::Trouble;
use crate::abilities::Held;
use crate::structured::{Dialect, ToolCalls};
use crate::wire::Asking;
use crate::wire::draft::Draft;

/// Enough for a call, and for a model that thinks before it.
const ANSWER_TOKENS: u32 = 256;

/// Parts that one question may lose before it is given up.
const REFUSALS_MAX: usize = 6;

/// A call of a tool with two fields, and the word by which work ends: what is asked, and the one right reply.
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
    /// What becomes of tool calls, and the dialect to speak them in; that of a refusal is as it was.
    pub(super) async fn tools_held(
        &self,
        like: &ModelRequest,
        dialect: Dialect,
    ) -> Result<(Option<Held>, Dialect), Trouble> {
        let mut trying = Dialect { tool_calls: ToolCalls::Required, ..dialect };
        let request = request(like);
        for (question, expected) in questions() {
            let (held, spoken) = self.tool_question(&request, &by_tools(question), trying, &expected).await?;
            if held != Held::Kept {
                return Ok((Some(held), dialect));
            }
            trying = spoken;
        }
        Ok((Some(Held::Kept), trying))
    }

    async fn tool_question(
        &self,
        request: &ModelRequest,
        by_tools: &ByTools,
        mut dialect: Dialect,
        expected: &Value,
    ) -> Result<(Held, Dialect), Trouble> {
        let mut tried_again = false;
        for _ in 0..REFUSALS_MAX {
            let room = self.room().await?;
            let asking = Asking {
                request,
                model: &self.config.model,
                dialect,
                schema_text: &request.schema.to_string(),
                context_tokens: room,
                form: None,
                by_tools: Some(by_tools),
            };
            let outcome = self.try_with(&asking, &mut Draft::default(), &mut Usage::default()).await;
            let trouble = match outcome {
                Ok(value) => return Ok((if value == *expected { Held::Kept } else { Held::Ignored }, dialect)),
                Err(trouble) => trouble,
            };
            if matches!(trouble, Trouble::NoConnection { .. }) && !std::mem::replace(&mut tried_again, true) {
                // The server had closed a connection that was kept for the next question.
                continue;
            }
            let formats = self.config.protocol.wire().formats();
            let plainer = trouble.refused_part().map(|about| {
                let without_tools = dialect.without_refused_tools(about);
                without_tools.or_else(|| dialect.without_refused_part(about, formats))
            });
            match (plainer, trouble) {
                (Some(Some(plainer)), _)
                    if plainer.format == dialect.format && plainer.tool_calls != ToolCalls::Off =>
                {
                    dialect = plainer;
                }
                (Some(_), _) | (None, Trouble::Status { status: 500 | 501, .. }) => {
                    return Ok((Held::Refused, dialect));
                }
                (None, Trouble::Cut { .. } | Trouble::Unreadable { .. } | Trouble::Reader { .. }) => {
                    return Ok((Held::Ignored, dialect));
                }
                (None, trouble) => return Err(trouble),
            }
        }
        Ok((Held::Refused, dialect))
    }
}

fn text(most: u32) -> Value {
    json!({"type": "string", "maxLength": most})
}

fn object(properties: Value, required: Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// What the calls are to come to.
fn request(like: &ModelRequest) -> ModelRequest {
    ModelRequest {
        schema: object(json!({"calls": {"type": "array"}, "output": text(20)}), json!(["calls", "output"])),
        max_tokens: ANSWER_TOKENS,
        ..like.clone()
    }
}

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
