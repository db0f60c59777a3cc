//! The wire format of Ollama's own protocol: the client sets the context size, and a prompt that doesn't fit is an
//! error.

use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{Body, OBJECT};
use super::calls::Piece;
use super::chat::{Call, messages, offered};
use super::draft::{Draft, End};
use super::{Asking, Fault, Framing, Paths, Wire, parsed, refused, text};
use crate::structured::ReplyFormat;

/// The wire format of Ollama's native protocol.
pub(super) struct Ollama;

const PATHS: Paths = Paths { versioned: false, call: &["api", "chat"], models: &["v1", "models"] };

const FORMATS: [ReplyFormat; 3] = [ReplyFormat::JsonSchema, ReplyFormat::JsonObject, ReplyFormat::PromptOnly];

/// A whole response of Ollama's protocol, or one line of a streamed one.
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

/// The message in a response of Ollama's protocol: text, reasoning and tool calls.
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
        let body = Body::new()
            .with("model", asking.model)
            .with("messages", messages(asking))
            .with("stream", dialect.stream)
            // Newer servers refuse a prompt that is too long, and end an answer that grows too long; older ones ignore
            // these fields.
            .with("truncate", false)
            .with("shift", false);
        let body = match asking.format() {
            ReplyFormat::JsonSchema | ReplyFormat::StrictSchema => body.with("format", &request.schema),
            ReplyFormat::JsonObject => body.with("format", "json"),
            ReplyFormat::ForcedTool | ReplyFormat::PromptOnly => body,
        };
        let body = body.with("tools", asking.offered(offered)).nested("options", OBJECT, |options| {
            let options = options.with("num_predict", request.max_tokens).with("num_ctx", asking.context_tokens);
            options.with("temperature", dialect.temperature)
        });
        body.text()
    }

    /// How a body is divided: streams have one JSON value per line, other responses are one document.
    fn framing(&self, content_type: &str) -> Framing {
        if content_type == "application/x-ndjson" { Framing::Lines } else { Framing::Whole }
    }

    fn decode_whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault> {
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
                draft.calls.decode_whole(Piece { place: None, ..call.into_piece() })?;
            }
        }
        draft.counts.prompt = line.prompt_eval_count.or(draft.counts.prompt);
        draft.counts.completion = line.eval_count.or(draft.counts.completion);
        if draft.model.is_none() {
            draft.model = text(line.model);
        }
        if line.done == Some(true) {
            draft.closed = true;
            // Older servers send no `done_reason`. Whether the limit was reached is unknown then, so the end is not
            // clean.
            draft.end = line.done_reason.as_deref().map(End::of);
        }
        Ok(())
    }

    fn sets_context(&self) -> bool {
        true
    }
}
