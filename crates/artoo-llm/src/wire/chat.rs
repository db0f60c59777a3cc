//! The wire format of OpenAI's Chat Completions protocol, in the variants of many servers.

use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{Body, LIST_OF_ONE, OBJECT};
use super::calls::{Calls, Piece};
use super::draft::{Draft, End};
use super::{Asking, Fault, Paths, PromptMessage, Wire, parsed, refused, text};
use crate::structured::{ReplyFormat, schema_name, strict};

/// The wire format of OpenAI's Chat Completions protocol.
pub(super) struct Chat;

const PATHS: Paths = Paths { versioned: true, call: &["chat", "completions"], models: &["models"] };

const FORMATS: [ReplyFormat; 5] = [
    ReplyFormat::JsonSchema,
    ReplyFormat::StrictSchema,
    ReplyFormat::JsonObject,
    ReplyFormat::ForcedTool,
    ReplyFormat::PromptOnly,
];

/// JSON pointers to the number of cached prompt tokens, of OpenAI, DeepSeek and Moonshot.
const CACHED_POINTERS: [&str; 3] =
    ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"];

/// Data of the event that ends a stream.
const DONE: &str = "[DONE]";

/// The messages of a model call: first the system message if it is not empty, which stays the same and can be cached,
/// then the user message.
pub(super) fn messages<'a>(asking: &Asking<'a>) -> Vec<PromptMessage<'a>> {
    let system = PromptMessage { role: "system", content: asking.system().into() };
    let user = PromptMessage { role: "user", content: asking.user().into() };
    [system, user].into_iter().filter(|said| said.role == "user" || !said.content.is_empty()).collect()
}

/// A whole response of the protocol, or one event of a stream.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    model: Option<Value>,
    error: Option<Value>,
}

/// An alternative answer of a response; only the first is used.
#[derive(Deserialize)]
struct Choice {
    index: Option<Value>,
    message: Option<Message>,
    delta: Option<Message>,
    finish_reason: Option<Value>,
}

/// The message of a choice, or a part of it in a stream.
#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
    refusal: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    tool_calls: Option<Vec<Call>>,
}

/// A tool call of a message, or a part of it in a stream.
#[derive(Deserialize)]
pub(super) struct Call {
    index: Option<u64>,
    id: Option<Value>,
    function: Option<Called>,
}

/// The name and the arguments of a tool call.
#[derive(Deserialize)]
struct Called {
    name: Option<Value>,
    arguments: Option<Value>,
}

impl Wire for Chat {
    fn paths(&self) -> Paths {
        PATHS
    }

    fn formats(&self) -> &'static [ReplyFormat] {
        &FORMATS
    }

    /// Path of the server's properties, supported by llama.cpp's server.
    fn about_server(&self) -> Option<&'static str> {
        Some("/props")
    }

    fn body(&self, asking: &Asking<'_>) -> String {
        let Asking { request, dialect, .. } = asking;
        let name = schema_name(&request.schema_name);
        let usage = (dialect.stream && dialect.stream_usage).then(|| json!({"include_usage": true}));
        let limit = if dialect.completion_tokens_field { "max_completion_tokens" } else { "max_tokens" };
        let body = Body::new()
            .with("model", asking.model)
            .with("messages", messages(asking))
            .with("stream", dialect.stream)
            .with("stream_options", usage)
            .with(limit, request.max_tokens)
            .with("temperature", dialect.temperature)
            .with("prompt_cache_key", asking.cache_key());
        let by_schema = |body: Body, schema: &Value, is_strict: bool| {
            body.nested("response_format", OBJECT, |format| {
                format.with("type", "json_schema").nested("json_schema", OBJECT, |named| {
                    named.with("name", &name).with("strict", is_strict).with("schema", schema)
                })
            })
        };
        let body = match asking.format() {
            ReplyFormat::JsonSchema => by_schema(body, &request.schema, true),
            ReplyFormat::StrictSchema => match strict::form(&request.schema) {
                Some(strict) => by_schema(body, &strict, true),
                None => by_schema(body, &request.schema, false),
            },
            ReplyFormat::JsonObject => body.with("response_format", json!({"type": "json_object"})),
            ReplyFormat::ForcedTool => body
                .nested("tools", LIST_OF_ONE, |tool| {
                    tool.with("type", "function").nested("function", OBJECT, |function| {
                        function.with("name", &name).with("parameters", &request.schema)
                    })
                })
                .with("tool_choice", json!({"type": "function", "function": {"name": name}})),
            ReplyFormat::PromptOnly => {
                body.with("tools", asking.offered(offered)).with("tool_choice", asking.tool_choice("required"))
            }
        };
        body.text()
    }

    fn decode_whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
        let envelope: Envelope = parsed(body, "chat completion")?;
        let has_choice = envelope.choices.as_ref().is_some_and(|choices| !choices.is_empty());
        if !has_choice && envelope.error.is_none() {
            return Err(Fault::Unreadable("the answer has no choices".to_owned()));
        }
        take(draft, envelope)?;
        draft.closed = true;
        Ok(())
    }

    fn piece(&self, draft: &mut Draft, data: &str) -> Result<(), Fault> {
        if data.trim() == DONE {
            draft.closed = true;
            return Ok(());
        }
        take(draft, parsed(data, "piece of a chat completion")?)
    }
}

/// Adds the content of a response or of an event to the draft of the answer.
fn take(draft: &mut Draft, envelope: Envelope) -> Result<(), Fault> {
    if let Some(error) = envelope.error {
        return Err(refused(&error));
    }
    draft.count(envelope.usage.as_ref(), "/prompt_tokens", "/completion_tokens", &CACHED_POINTERS);
    if draft.model.is_none() {
        draft.model = text(envelope.model);
    }
    // Of several choices the first counts, in a stream as in a whole answer.
    let is_first = |choice: &Choice| choice.index.as_ref().and_then(Value::as_u64).unwrap_or(0) == 0;
    let Some(choice) = envelope.choices.into_iter().flatten().find(is_first) else { return Ok(()) };
    if let Some(message) = choice.message {
        take_message(draft, message, Calls::decode_whole)?;
    } else if let Some(delta) = choice.delta {
        take_message(draft, delta, Calls::piece)?;
    }
    if let Some(Value::String(word)) = &choice.finish_reason {
        draft.end = Some(End::of(word));
    }
    Ok(())
}

/// Adds a message, or a piece of one, to the draft of the answer; `take_call` adds its tool calls.
fn take_message(
    draft: &mut Draft,
    message: Message,
    take_call: fn(&mut Calls, Piece) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if let Some(Value::String(refusal)) = message.refusal.filter(|refusal| refusal != "") {
        draft.refusal.get_or_insert_default().push_str(&refusal);
    }
    for reasoning in [message.reasoning_content, message.reasoning].iter().flatten() {
        draft.reasoning_chars += reasoning.as_str().map_or(0, str::len);
    }
    match message.content {
        Some(Value::String(text)) => draft.content.push_str(&text),
        Some(Value::Array(parts)) => draft.content.push_str(&text_of_parts(&parts)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
    }
    for call in message.tool_calls.into_iter().flatten() {
        take_call(&mut draft.calls, call.into_piece())?;
    }
    Ok(())
}

impl Call {
    /// Converts a tool call in the protocol's JSON to a piece of a tool call.
    pub(super) fn into_piece(self) -> Piece {
        let (name, input) = self.function.map_or((None, None), |function| (function.name, function.arguments));
        Piece { place: self.index, id: text(self.id), name: text(name), input }
    }
}

/// The definition of a tool in the JSON of the Chat Completions protocol.
pub(super) fn offered(name: &str, description: &str, schema: &Value) -> Value {
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
}

/// Concatenates the text parts of a message content that is a list of parts.
fn text_of_parts(parts: &[Value]) -> String {
    parts
        .iter()
        .filter(|part| part.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|part| part.get("text").and_then(Value::as_str))
        .collect()
}
