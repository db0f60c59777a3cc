//! Ollama's native protocol: the client sets the context size, and a prompt that doesn't fit is an error.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calls::Piece;
use super::chat::{Call, Said, messages, offered};
use super::draft::{Draft, End};
use super::{Asking, Fault, Framing, Paths, Wire, parsed, refused, text_of};
use crate::structured::ReplyFormat;

pub(super) struct Ollama;

const PATHS: Paths = Paths { versioned: false, call: &["api", "chat"], models: &["v1", "models"] };

const FORMATS: [ReplyFormat; 3] = [ReplyFormat::JsonSchema, ReplyFormat::JsonObject, ReplyFormat::PromptOnly];

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    stream: bool,
    /// Newer servers refuse a prompt that is too long if this is false; older ones ignore it.
    truncate: bool,
    /// Newer servers end an answer that grows too long if this is false; older ones ignore it.
    shift: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    options: Options,
}

#[derive(Serialize)]
struct Options {
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

/// A whole response, or one line of a stream.
#[derive(Deserialize)]
struct Line {
    model: Option<Value>,
    message: Option<Message>,
    done: Option<bool>,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

impl Wire for Ollama {
    fn paths(&self) -> Paths {
        PATHS
    }

    fn formats(&self) -> &'static [ReplyFormat] {
        &FORMATS
    }

    fn body(&self, asking: &Asking<'_>) -> String {
        let Asking { request, dialect, .. } = asking;
        text_of(&Request {
            model: asking.model,
            messages: messages(asking),
            stream: dialect.stream,
            truncate: false,
            shift: false,
            tools: asking.offered(offered),
            format: match asking.format() {
                ReplyFormat::JsonSchema | ReplyFormat::StrictSchema => Some(Cow::Borrowed(&request.schema)),
                ReplyFormat::JsonObject => Some(Cow::Owned(json!("json"))),
                ReplyFormat::ForcedTool | ReplyFormat::PromptOnly => None,
            },
            options: Options {
                num_predict: request.max_tokens,
                num_ctx: asking.context_tokens,
                temperature: dialect.temperature,
            },
        })
    }

    /// How a body is divided: streams have one JSON value per line, other responses are one document.
    fn framing(&self, content_type: &str) -> Framing {
        if content_type == "application/x-ndjson" { Framing::Lines } else { Framing::Whole }
    }

    fn whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
        self.piece(draft, body)
    }

    fn piece(&self, draft: &mut Draft, data: &str) -> Result<(), Fault> {
        draft.must_close = true;
        let line: Line = parsed(data, "line of a chat")?;
        if let Some(error) = line.error {
            return Err(refused(&json!({"error": error})));
        }
        if draft.closed {
            return Err(Fault::Unreadable("the answer goes on behind its end".to_owned()));
        }
        if let Some(message) = line.message {
            draft.content.push_str(message.content.as_deref().unwrap_or_default());
            draft.reasoning_chars += message.thinking.map_or(0, |text| text.len());
            // Every call comes whole, also in a line of a stream.
            for call in message.tool_calls.into_iter().flatten() {
                draft.calls.whole(Piece { place: None, ..call.into_piece() })?;
            }
        }
        draft.counts.prompt = line.prompt_eval_count.or(draft.counts.prompt);
        draft.counts.completion = line.eval_count.or(draft.counts.completion);
        if draft.model.is_none() {
            draft.model = line.model.as_ref().and_then(Value::as_str).map(str::to_owned);
        }
        if line.done == Some(true) {
            draft.closed = true;
            // Older servers send no `done_reason`. Whether the limit was reached is unknown then, so the end is not
            // clean.
            draft.end = line.done_reason.as_deref().map(End::of);
        }
        Ok(())
    }

    fn about_model(&self, model: &str) -> Option<(&'static [&'static str], Value)> {
        Some((&["api", "show"], json!({"model": model})))
    }

    fn context_of(&self, about: &Value) -> Option<u64> {
        let info = about.get("model_info")?.as_object()?;
        let (_, length) = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
        length.as_u64()
    }

    fn sets_context(&self) -> bool {
        true
    }
}
