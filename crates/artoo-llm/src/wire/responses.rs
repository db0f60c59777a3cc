//! The wire format of OpenAI's Responses protocol.

use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{Body, LIST_OF_ONE, OBJECT};
use super::calls::Piece;
use super::draft::{Draft, End};
use super::{Asking, Fault, Paths, Wire, parsed, refused, text};
use crate::structured::{ReplyFormat, schema_name, strict};

/// The wire format of OpenAI's Responses protocol.
pub(super) struct Responses;

const PATHS: Paths = Paths { versioned: true, call: &["responses"], models: &["models"] };

const FORMATS: [ReplyFormat; 4] =
    [ReplyFormat::StrictSchema, ReplyFormat::JsonObject, ReplyFormat::ForcedTool, ReplyFormat::PromptOnly];

/// A whole response of the Responses protocol, which is also in the last event of a stream.
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

/// An output item of a response: a message, a tool call or reasoning.
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

/// A part of an output message of the Responses protocol: text or a refusal.
#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
}

/// One event of a streamed response of the Responses protocol.
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
        let body = Body::new()
            .with("model", asking.model)
            .with("instructions", Some(asking.system()).filter(|system| !system.is_empty()))
            .with("input", asking.user())
            .with("stream", dialect.stream)
            // The endpoint must not store the response.
            .with("store", false)
            .with("max_output_tokens", request.max_tokens)
            .with("temperature", dialect.temperature)
            .with("prompt_cache_key", asking.cache_key());
        let body = match asking.format() {
            ReplyFormat::JsonSchema | ReplyFormat::StrictSchema => body.nested("text", OBJECT, |text| {
                text.nested("format", OBJECT, |format| {
                    let format = format.with("type", "json_schema").with("name", &name);
                    match strict::form(&request.schema) {
                        Some(schema) => format.with("strict", true).with("schema", schema),
                        None => format.with("strict", false).with("schema", &request.schema),
                    }
                })
            }),
            ReplyFormat::JsonObject => body.with("text", json!({"format": {"type": "json_object"}})),
            ReplyFormat::ForcedTool => body
                .nested("tools", LIST_OF_ONE, |tool| {
                    let tool = tool.with("type", "function").with("name", &name);
                    tool.with("parameters", &request.schema).with("strict", false)
                })
                .with("tool_choice", json!({"type": "function", "name": name})),
            ReplyFormat::PromptOnly => {
                body.with("tools", asking.offered(offered)).with("tool_choice", asking.tool_choice("required"))
            }
        };
        body.text()
    }

    fn decode_whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
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
                take(draft, response)?;
            }
            Some("error") => {
                let own = json!({"code": event.code, "message": event.message});
                return Err(refused(event.error.as_ref().unwrap_or(&own)));
            }
            Some("response.output_text.delta") => draft.content.push_str(&text(event.delta).unwrap_or_default()),
            Some("response.function_call_arguments.delta") => {
                let place = event.output_index;
                draft.calls.piece(Piece { place, input: event.delta, ..Piece::default() })?;
            }
            Some(kind) if kind.starts_with("response.reasoning") => {
                draft.reasoning_chars += text(event.delta).map_or(0, |text| text.len());
            }
            Some(_) => {}
            None => return event.error.as_ref().map_or(Ok(()), |error| Err(refused(error))),
        }
        Ok(())
    }
}

/// The definition of a tool in the JSON of the Responses protocol.
fn offered(name: &str, description: &str, schema: &Value) -> Value {
    json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
}

/// Adds the content, token counts and end reason of a whole response to the draft of the answer.
fn take(draft: &mut Draft, response: Response) -> Result<(), Fault> {
    let usage = response.usage.as_ref();
    draft.count(usage, "/input_tokens", "/output_tokens", &["/input_tokens_details/cached_tokens"]);
    if let Some(error) = response.error {
        return Err(refused(&error));
    }
    draft.model = text(response.model);
    for item in response.output {
        match item.kind.as_deref() {
            Some("function_call") => {
                let (id, name) = (text(item.call_id), text(item.name));
                draft.calls.decode_whole(Piece { place: None, id, name, input: item.arguments })?;
            }
            Some("message") => item.content.into_iter().flatten().for_each(|part| match part.kind.as_deref() {
                Some("output_text") => draft.content.push_str(part.text.as_deref().unwrap_or_default()),
                Some("refusal") => draft.refusal = Some(part.refusal.unwrap_or_default()),
                Some(_) | None => {}
            }),
            Some(_) | None => {}
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
