//! OpenAI's Responses protocol.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calls::Piece;
use super::draft::{Draft, End};
use super::{Asking, Fault, Paths, Tools, Wire, parsed, refused, text_of};
use crate::structured::{ReplyFormat, schema_name, strict};
use crate::usage::Counts;

pub(super) struct Responses;

const PATHS: Paths = Paths { versioned: true, call: &["responses"], models: &["models"] };

const FORMATS: [ReplyFormat; 4] =
    [ReplyFormat::StrictSchema, ReplyFormat::JsonObject, ReplyFormat::ForcedTool, ReplyFormat::PromptOnly];

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: String,
    stream: bool,
    /// Always false, so that the endpoint doesn't store the response.
    store: bool,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Tools<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { name: &'a str, strict: bool, schema: Cow<'a, Value> },
    JsonObject {},
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function { name: &'a str, parameters: &'a Value, strict: bool },
}

/// A whole response, also in the last event of a stream.
#[derive(Deserialize)]
struct Response {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Value>,
    #[serde(default)]
    output: Vec<Item>,
    usage: Option<Value>,
    model: Option<Value>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    content: Option<Vec<Part>>,
    arguments: Option<Value>,
    name: Option<Value>,
    call_id: Option<Value>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    delta: Option<Value>,
    output_index: Option<u64>,
    response: Option<Response>,
    error: Option<Value>,
    code: Option<Value>,
    message: Option<Value>,
}

impl Wire for Responses {
    fn paths(&self) -> Paths {
        PATHS
    }

    fn formats(&self) -> &'static [ReplyFormat] {
        &FORMATS
    }

    fn body(&self, asking: &Asking<'_>) -> String {
        let Asking { request, dialect, .. } = asking;
        let name = schema_name(&request.schema_name);
        let by_schema = || match strict::form(&request.schema) {
            Some(schema) => Format::JsonSchema { name: &name, strict: true, schema: Cow::Owned(schema) },
            None => Format::JsonSchema { name: &name, strict: false, schema: Cow::Borrowed(&request.schema) },
        };
        let is_forced = asking.format() == ReplyFormat::ForcedTool;
        let tool = || Tool::Function { name: &name, parameters: &request.schema, strict: false };
        text_of(&Request {
            model: asking.model,
            instructions: asking.system(),
            input: asking.user(),
            stream: dialect.stream,
            store: false,
            max_output_tokens: request.max_tokens,
            temperature: dialect.temperature,
            prompt_cache_key: asking.cache_key(),
            text: match asking.format() {
                ReplyFormat::JsonSchema | ReplyFormat::StrictSchema => Some(Text { format: by_schema() }),
                ReplyFormat::JsonObject => Some(Text { format: Format::JsonObject {} }),
                ReplyFormat::ForcedTool | ReplyFormat::PromptOnly => None,
            },
            tools: asking.tools(offered, tool),
            tool_choice: match asking.must_call() {
                Some(must) => Some(json!(if must { "required" } else { "auto" })),
                None => is_forced.then(|| json!({"type": "function", "name": name})),
            },
        })
    }

    fn whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
        take(draft, parsed(body, "response")?)
    }

    /// Decodes an event into the draft. Only the whole response in the last event counts; the others show progress.
    fn piece(&self, draft: &mut Draft, data: &str) -> Result<(), Fault> {
        draft.must_close = true;
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event = parsed(data, "event of a response")?;
        match event.kind.as_deref() {
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                let Some(response) = event.response else {
                    return Err(Fault::Unreadable("the last event contains no response".to_owned()));
                };
                draft.content.clear();
                draft.calls.clear();
                take(draft, response)
            }
            Some("error") => {
                let own = json!({"code": event.code, "message": event.message});
                Err(refused(event.error.as_ref().unwrap_or(&own)))
            }
            Some("response.output_text.delta") => {
                draft.content.push_str(event.delta.as_ref().and_then(Value::as_str).unwrap_or_default());
                Ok(())
            }
            Some("response.function_call_arguments.delta") => {
                let place = event.output_index;
                draft.calls.piece(Piece { place, input: event.delta, ..Piece::default() })
            }
            Some(kind) if kind.starts_with("response.reasoning") => {
                draft.reasoning_chars += event.delta.as_ref().and_then(Value::as_str).map_or(0, str::len);
                Ok(())
            }
            Some(_) => Ok(()),
            None => event.error.as_ref().map_or(Ok(()), |error| Err(refused(error))),
        }
    }
}

/// The description of a tool in the protocol's JSON.
fn offered(name: &str, description: &str, schema: &Value) -> Value {
    json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
}

/// Adds the content, token counts and end reason of a whole response to the draft.
fn take(draft: &mut Draft, response: Response) -> Result<(), Fault> {
    if let Some(usage) = &response.usage {
        let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
        draft.counts = Counts {
            prompt: count("/input_tokens"),
            completion: count("/output_tokens"),
            cached: count("/input_tokens_details/cached_tokens"),
            written: None,
        };
    }
    if let Some(error) = response.error.filter(|error| !error.is_null()) {
        return Err(refused(&error));
    }
    draft.model = response.model.as_ref().and_then(Value::as_str).map(str::to_owned);
    for item in response.output {
        if item.kind.as_deref() == Some("function_call") {
            let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
            let piece = Piece { place: None, id: text(item.call_id), name: text(item.name), input: item.arguments };
            draft.calls.whole(piece)?;
            continue;
        }
        if item.kind.as_deref() != Some("message") {
            continue;
        }
        for part in item.content.into_iter().flatten() {
            match part.kind.as_deref() {
                Some("output_text") => draft.content.push_str(part.text.as_deref().unwrap_or_default()),
                Some("refusal") => draft.refusal = Some(part.refusal.unwrap_or_default()),
                Some(_) | None => {}
            }
        }
    }
    draft.end = match response.status.as_deref() {
        None => None,
        Some("completed") if draft.content.is_empty() && !draft.calls.all().is_empty() => Some(End::Tool),
        Some("completed") => Some(End::Complete),
        Some(status) => {
            let reason = response.incomplete_details.as_ref().and_then(|details| details.get("reason"));
            Some(match End::of(reason.and_then(Value::as_str).unwrap_or(status)) {
                // Whatever its reason is called, the response is not complete.
                End::Complete | End::Tool => End::Other(status.to_owned()),
                other @ (End::Length | End::Other(_)) => other,
            })
        }
    };
    draft.closed = true;
    Ok(())
}
