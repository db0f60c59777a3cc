//! The envelope of a Chat Completions answer: its text, whether it is complete, and what it cost.

use serde::Deserialize;
use serde_json::Value;

use super::exchange::Received;
use super::trouble::Trouble;
use crate::structured;

/// Words for "the model ended by itself": OpenAI's, and those of servers that pass on their own.
const COMPLETE: [&str; 6] = ["stop", "eos", "eos_token", "end_turn", "stop_sequence", "stop_token"];

/// How much of a strange body is kept to be shown, in bytes.
const KEPT_BYTES: usize = 1000;

/// A complete answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// What the model wrote; reasoning that the endpoint keeps apart is not in it.
    pub(super) content: String,
    /// The endpoint's own count, unchecked.
    pub(super) usage: Option<Value>,
    /// The model that answered.
    pub(super) model: Option<String>,
}

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
    message: Option<Message>,
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
    refusal: Option<Value>,
}

/// Reads the body of a success.
pub(super) fn parse(received: &Received) -> Result<Answer, Trouble> {
    if let Some(how) = &received.cut {
        return Err(Trouble::Cut { detail: format!("the body ended early: {how}") });
    }
    let unreadable = |detail: &str| {
        let kept = received.body.get(..KEPT_BYTES).unwrap_or(&received.body);
        Trouble::Unreadable { detail: detail.to_owned(), text: String::from_utf8_lossy(kept).into_owned() }
    };
    let Ok(text) = str::from_utf8(&received.body) else { return Err(unreadable("the body is not valid UTF-8")) };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(unreadable("the body is empty"));
    }
    if text.starts_with('<') {
        return Err(unreadable("a web page came instead of an answer"));
    }
    if !is_json_like(&received.content_type) {
        return Err(unreadable(&format!("the answer's type is {}, not JSON", received.content_type)));
    }
    let envelope: Envelope = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(error) if error.is_eof() => {
            return Err(Trouble::Cut { detail: "the body ends inside its JSON".to_owned() });
        }
        Err(error) => return Err(unreadable(&format!("the body is no chat completion: {error}"))),
    };
    match envelope {
        Envelope { error: Some(error), .. } if !error.is_null() => Err(error_under_success(&error, unreadable)),
        Envelope { choices, usage, model, .. } => {
            let choice = choices.into_iter().flatten().next().ok_or_else(|| unreadable("the answer has no choices"))?;
            let content = content(choice, unreadable)?;
            Ok(Answer { content, usage, model: model.as_ref().and_then(Value::as_str).map(str::to_owned) })
        }
    }
}

fn content(choice: Choice, unreadable: impl Fn(&str) -> Trouble) -> Result<String, Trouble> {
    let Some(message) = choice.message else { return Err(unreadable("the choice has no message")) };
    let finish = match &choice.finish_reason {
        Some(Value::String(finish)) => finish.as_str(),
        Some(_) | None => return Err(Trouble::Cut { detail: "the answer has no finish_reason".to_owned() }),
    };
    if !COMPLETE.contains(&finish) {
        return Err(match finish {
            "tool_calls" | "function_call" => unreadable("the model called a tool instead of answering"),
            "length" => Trouble::Cut { detail: "the token limit was reached (finish_reason length)".to_owned() },
            other => Trouble::Cut { detail: format!("finish_reason is {other:?}, not stop") },
        });
    }
    if let Some(Value::String(refusal)) = &message.refusal {
        return Err(unreadable(&format!("the model refused: {refusal}")));
    }
    let text = match message.content {
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => text_of_parts(&parts),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => String::new(),
    };
    if text.trim().is_empty() { Err(unreadable("the answer has no content")) } else { Ok(text) }
}

/// Content in parts: the texts, without parts of another kind such as reasoning.
fn text_of_parts(parts: &[Value]) -> String {
    parts
        .iter()
        .filter(|part| part.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|part| part.get("text").and_then(Value::as_str))
        .collect()
}

/// Some gateways report an upstream's error under status 200; its `code` is then that status.
fn error_under_success(error: &Value, unreadable: impl Fn(&str) -> Trouble) -> Trouble {
    let complaint = structured::complaint_of(error);
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    match status.filter(|status| (400..600).contains(status)) {
        Some(status) => Trouble::Status { status, complaint, retry_after: None },
        None => unreadable(&format!("an error came instead of an answer: {}", complaint.message)),
    }
}

/// JSON under its own name, and under the names that careless servers give it.
fn is_json_like(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(essence.as_str(), "" | "application/json" | "text/json" | "text/plain" | "application/octet-stream")
        || essence.ends_with("+json")
}
