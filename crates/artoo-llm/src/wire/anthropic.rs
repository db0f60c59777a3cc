//! Anthropic's Messages protocol.

use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{Body, LIST_OF_ONE};
use super::calls::Piece;
use super::draft::{Draft, End};
use super::{Asking, Fault, Paths, PromptMessage, Wire, parsed, refused, text};
use crate::structured::{ReplyFormat, schema_name};

/// The wire format of Anthropic's Messages protocol.
pub(super) struct Anthropic;

const PATHS: Paths = Paths { versioned: true, call: &["messages"], models: &["models"] };

/// Reply formats of this protocol, strongest first; every model and gateway supports a forced tool call.
const FORMATS: [ReplyFormat; 2] = [ReplyFormat::ForcedTool, ReplyFormat::PromptOnly];

/// A whole response of Anthropic's protocol, as JSON.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    content: Vec<Answered>,
    model: Option<Value>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

/// A content block (text, reasoning or tool call) of a response of Anthropic's protocol.
#[derive(Deserialize)]
struct Answered {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    input: Option<Value>,
    id: Option<Value>,
    name: Option<Value>,
}

/// One event of a streamed response of Anthropic's protocol.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<Message>,
    index: Option<u64>,
    content_block: Option<Answered>,
    delta: Option<Delta>,
    usage: Option<Value>,
    error: Option<Value>,
}

/// The change that an event of a stream makes to a content block or to the message.
#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    stop_reason: Option<String>,
}

impl Wire for Anthropic {
    fn paths(&self) -> Paths {
        PATHS
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn formats(&self) -> &'static [ReplyFormat] {
        &FORMATS
    }

    /// Writes the body of a call. The system prompt is marked for caching: tools and system prompt come before the
    /// mark.
    fn body(&self, asking: &Asking<'_>) -> String {
        let Asking { request, dialect, .. } = asking;
        let name = schema_name(&request.schema_name);
        let mut body = Body::new().with("model", asking.model).with("max_tokens", request.max_tokens);
        if !asking.system().is_empty() {
            body = body.nested("system", LIST_OF_ONE, |block| {
                let mark = dialect.cache.then(|| json!({"type": "ephemeral"}));
                block.with("type", "text").with("text", asking.system()).with("cache_control", mark)
            });
        }
        body = body
            .with("messages", [PromptMessage { role: "user", content: asking.user().into() }])
            .with("stream", dialect.stream)
            .with("temperature", dialect.temperature);
        if asking.format() == ReplyFormat::ForcedTool {
            body = body.nested("tools", LIST_OF_ONE, |tool| {
                let tool = tool.with("name", &name).with("description", "Takes the answer.");
                tool.with("input_schema", &request.schema)
            });
            let choice = json!({"type": "tool", "name": name, "disable_parallel_tool_use": true});
            return body.with("tool_choice", choice).text();
        }
        let choice = asking.tool_choice("any").map(|choice| json!({"type": choice}));
        body.with("tools", asking.offered(offered)).with("tool_choice", choice).text()
    }

    fn decode_whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
        let message: Message = parsed(body, "message")?;
        let is_message = message.kind.as_deref() == Some("message") || !message.content.is_empty();
        if !is_message && message.error.is_none() {
            return Err(Fault::Unreadable("the answer is not a message".to_owned()));
        }
        take(draft, message)?;
        draft.closed = true;
        Ok(())
    }

    fn piece(&self, draft: &mut Draft, data: &str) -> Result<(), Fault> {
        draft.must_close = true;
        let event: Event = parsed(data, "event of a message")?;
        match event.kind.as_deref() {
            Some("message_start") => event.message.map_or(Ok(()), |message| take(draft, message))?,
            Some("content_block_start") => {
                event.content_block.map_or(Ok(()), |block| take_block(draft, block, event.index))?;
            }
            Some("content_block_delta") => {
                let Some(delta) = event.delta else { return Ok(()) };
                draft.content.push_str(delta.text.as_deref().unwrap_or_default());
                draft.reasoning_chars += delta.thinking.map_or(0, |text| text.len());
                let Some(input) = delta.partial_json else { return Ok(()) };
                draft.calls.piece(Piece { place: event.index, input: Some(input.into()), ..Piece::default() })?;
            }
            Some("content_block_stop") => draft.calls.stopped(event.index),
            Some("message_delta") => {
                take_end(draft, event.usage.as_ref(), event.delta.and_then(|delta| delta.stop_reason));
            }
            Some("message_stop") => draft.closed = true,
            Some("error") => return Err(refused(&event.error.unwrap_or_default())),
            Some(_) | None => return event.error.as_ref().map_or(Ok(()), |error| Err(refused(error))),
        }
        Ok(())
    }
}

/// Adds a response message's content, token counts and end reason to the draft of the answer.
fn take(draft: &mut Draft, message: Message) -> Result<(), Fault> {
    if let Some(error) = message.error {
        return Err(refused(&error));
    }
    take_end(draft, message.usage.as_ref(), message.stop_reason);
    draft.model = text(message.model);
    for block in message.content {
        take_block(draft, block, None)?;
    }
    Ok(())
}

/// Adds a content block of a response to the draft of the answer; `place` is its number in a stream.
fn take_block(draft: &mut Draft, block: Answered, place: Option<u64>) -> Result<(), Fault> {
    match block.kind.as_deref() {
        Some("text") => draft.content.push_str(block.text.as_deref().unwrap_or_default()),
        Some("thinking") => draft.reasoning_chars += block.thinking.map_or(0, |text| text.len()),
        // In a stream the block begins with an empty input, and its pieces follow.
        Some("tool_use") => {
            let is_begun = |input: &Value| place.is_some() && input.as_object().is_some_and(serde_json::Map::is_empty);
            let input = block.input.filter(|input| !is_begun(input));
            draft.calls.decode_whole(Piece { place, id: text(block.id), name: text(block.name), input })?;
        }
        Some(_) | None => {}
    }
    Ok(())
}

/// The definition of a tool in the JSON of Anthropic's protocol.
fn offered(name: &str, description: &str, schema: &Value) -> Value {
    json!({"name": name, "description": description, "input_schema": schema})
}

/// Adds token counts and the end reason to the draft. Anthropic's input tokens exclude those of the cache; gateways
/// send zero first.
fn take_end(draft: &mut Draft, usage: Option<&Value>, reason: Option<String>) {
    draft.end = reason.as_deref().map(End::of).or(draft.end.take());
    let count = |name: &str| usage?.get(name).and_then(Value::as_u64);
    let cached = count("cache_read_input_tokens");
    if let Some(fresh) = count("input_tokens").filter(|fresh| *fresh > 0 || draft.counts.prompt.is_none()) {
        let written = count("cache_creation_input_tokens").unwrap_or(0);
        draft.counts.prompt = Some(fresh.saturating_add(written).saturating_add(cached.unwrap_or(0)));
    }
    draft.counts.cached = cached.or(draft.counts.cached);
    draft.counts.written = count("cache_creation_input_tokens").or(draft.counts.written);
    draft.counts.completion = count("output_tokens").or(draft.counts.completion);
}
