//! OpenAI's Chat Completions protocol, in the variants of many servers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calls::{Calls, Piece};
use super::draft::{Draft, End};
use super::{Asking, Fault, Paths, Tools, Wire, parsed, refused, text_of};
use crate::structured::{ReplyFormat, schema_name, strict};
use crate::usage::Counts;

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

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Tools<Function<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: NamedSchema<'a> },
    JsonObject {},
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: Cow<'a, Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "function", rename = "function")]
enum Function<'a> {
    #[serde(rename = "function")]
    Of { name: &'a str, parameters: &'a Value },
}

#[derive(Serialize)]
pub(super) struct Said<'a> {
    pub(super) role: &'static str,
    pub(super) content: Cow<'a, str>,
}

/// The messages of a call, the stable part first.
pub(super) fn messages<'a>(asking: &Asking<'a>) -> Vec<Said<'a>> {
    let system = asking.system();
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(Said { role: "system", content: system.into() });
    }
    messages.push(Said { role: "user", content: asking.user().into() });
    messages
}

/// A whole response, or one event of a stream.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    model: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<Value>,
    message: Option<Message>,
    delta: Option<Message>,
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
    refusal: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
pub(super) struct Call {
    index: Option<u64>,
    id: Option<Value>,
    function: Option<Called>,
}

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
        let by_schema =
            |schema, strict| ResponseFormat::JsonSchema { json_schema: NamedSchema { name: &name, strict, schema } };
        let is_forced = asking.format() == ReplyFormat::ForcedTool;
        text_of(&Request {
            model: asking.model,
            messages: messages(asking),
            stream: dialect.stream,
            stream_options: (dialect.stream && dialect.stream_usage).then_some(StreamOptions { include_usage: true }),
            max_tokens: (!dialect.completion_tokens_field).then_some(request.max_tokens),
            max_completion_tokens: dialect.completion_tokens_field.then_some(request.max_tokens),
            temperature: dialect.temperature,
            prompt_cache_key: asking.cache_key(),
            response_format: match asking.format() {
                ReplyFormat::JsonSchema => Some(by_schema(Cow::Borrowed(&request.schema), true)),
                ReplyFormat::StrictSchema => Some(match strict::form(&request.schema) {
                    Some(strict) => by_schema(Cow::Owned(strict), true),
                    None => by_schema(Cow::Borrowed(&request.schema), false),
                }),
                ReplyFormat::JsonObject => Some(ResponseFormat::JsonObject {}),
                ReplyFormat::ForcedTool | ReplyFormat::PromptOnly => None,
            },
            tools: asking.tools(offered, || Function::Of { name: &name, parameters: &request.schema }),
            tool_choice: match asking.must_call() {
                Some(must) => Some(json!(if must { "required" } else { "auto" })),
                None => is_forced.then(|| json!({"type": "function", "function": {"name": name}})),
            },
        })
    }

    fn whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
        let envelope: Envelope = parsed(body, "chat completion")?;
        let has_choice = envelope.choices.as_ref().is_some_and(|choices| !choices.is_empty());
        let is_error = envelope.error.as_ref().is_some_and(|error| !error.is_null());
        if !has_choice && !is_error {
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

/// Adds the content of a response or event to the draft.
fn take(draft: &mut Draft, envelope: Envelope) -> Result<(), Fault> {
    if let Some(error) = envelope.error.filter(|error| !error.is_null()) {
        return Err(refused(&error));
    }
    if let Some(usage) = &envelope.usage {
        draft.counts = counts(usage, draft.counts);
    }
    if draft.model.is_none() {
        draft.model = envelope.model.as_ref().and_then(Value::as_str).map(str::to_owned);
    }
    // Of several choices the first counts, in a stream as in a whole answer.
    let is_first = |choice: &Choice| choice.index.as_ref().and_then(Value::as_u64).unwrap_or(0) == 0;
    let Some(choice) = envelope.choices.into_iter().flatten().find(is_first) else { return Ok(()) };
    if let Some(message) = choice.message {
        take_message(draft, message, Calls::whole)?;
    } else if let Some(delta) = choice.delta {
        take_message(draft, delta, Calls::piece)?;
    }
    if let Some(Value::String(word)) = &choice.finish_reason {
        draft.end = Some(End::of(word));
    }
    Ok(())
}

/// Adds a message, or a part of one, to the draft; `take_call` adds its tool calls.
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
    /// Converts a call of the protocol to a piece of a tool call.
    pub(super) fn into_piece(self) -> Piece {
        let (name, input) = self.function.map_or((None, None), |function| (function.name, function.arguments));
        Piece { place: self.index, id: text(self.id), name: text(name), input }
    }
}

fn text(value: Option<Value>) -> Option<String> {
    value.as_ref().and_then(Value::as_str).map(str::to_owned)
}

/// The description of a tool in the protocol's JSON.
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

/// The token counts of a usage object; counts that it doesn't contain are taken from `known`.
fn counts(usage: &Value, known: Counts) -> Counts {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Counts {
        prompt: count("/prompt_tokens").or(known.prompt),
        completion: count("/completion_tokens").or(known.completion),
        cached: CACHED_POINTERS.iter().find_map(|pointer| count(pointer)).or(known.cached),
        written: known.written,
    }
}
