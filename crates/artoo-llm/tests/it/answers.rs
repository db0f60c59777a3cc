//! Builds model answers in each protocol, whole and streamed, for test servers.

use artoo_llm::Protocol;
use serde_json::{Value, json};

use crate::call_answers::frames_calls;

/// How an answer ends: complete, at the token limit, with an unknown reason, or without a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    ByItself,
    AtTheLimit,
    Oddly,
    WithoutAWord,
}

/// The body of a whole answer with this content and ending, in a protocol.
pub(crate) fn whole_answer(protocol: Protocol, content: &str, ends: Ends) -> Value {
    match protocol {
        Protocol::Chat => {
            let mut choice = json!({"index": 0, "finish_reason": finish_reason(protocol, ends),
                "message": {"role": "assistant", "content": content, "reasoning_content": "{\"tool\":\"rm\"}"}});
            if ends == Ends::WithoutAWord {
                choice.as_object_mut().unwrap().remove("finish_reason");
            }
            json!({"id": "c1", "object": "chat.completion", "model": "m-7b", "choices": [choice],
                "usage": {"prompt_tokens": 11, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}})
        }
        Protocol::Responses => {
            let output = json!([
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "{\"tool\":\"rm\"}"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": content}]}
            ]);
            json!({"id": "r1", "object": "response", "model": "m-7b", "output": output,
                "status": match ends {
                    Ends::ByItself => json!("completed"),
                    Ends::AtTheLimit | Ends::Oddly => json!("incomplete"),
                    Ends::WithoutAWord => Value::Null,
                },
                "incomplete_details": match ends {
                    Ends::AtTheLimit => json!({"reason": "max_output_tokens"}),
                    Ends::Oddly => json!({"reason": "content_filter"}),
                    Ends::ByItself | Ends::WithoutAWord => Value::Null,
                },
                "usage": {"input_tokens": 11, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 3}}})
        }
        Protocol::Anthropic => json!({"id": "m1", "type": "message", "role": "assistant", "model": "m-7b",
            "content": [{"type": "thinking", "thinking": "{\"tool\":\"rm\"}"}, {"type": "text", "text": content}],
            "stop_reason": finish_reason(protocol, ends),
            "usage": {"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 5}}),
        Protocol::Ollama => {
            let message = json!({"role": "assistant", "content": content, "thinking": "{\"tool\":\"rm\"}"});
            json!({"model": "m-7b", "message": message, "done": true, "done_reason": finish_reason(protocol, ends),
                "prompt_eval_count": 11, "eval_count": 5})
        }
    }
}

/// The finish reason that a protocol reports for this ending.
fn finish_reason(protocol: Protocol, ends: Ends) -> Value {
    let (by_itself, limit) = match protocol {
        Protocol::Chat | Protocol::Responses | Protocol::Ollama => ("stop", "length"),
        Protocol::Anthropic => ("end_turn", "max_tokens"),
    };
    match ends {
        Ends::ByItself => json!(by_itself),
        Ends::AtTheLimit => json!(limit),
        Ends::Oddly => json!("something new"),
        Ends::WithoutAWord => Value::Null,
    }
}

/// The content type of a streamed answer.
pub(crate) fn stream_type(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat | Protocol::Responses | Protocol::Anthropic => "text/event-stream",
        Protocol::Ollama => "application/x-ndjson",
    }
}

/// A streamed answer with this content and ending: its events or lines, each complete.
pub(crate) fn frames(protocol: Protocol, content: &str, ends: Ends) -> Vec<String> {
    frames_calls(protocol, content, &[], ends)
}

/// The text of one event or line of a stream in a protocol.
pub(crate) fn frame(protocol: Protocol, event: &Value) -> String {
    match protocol {
        Protocol::Ollama => format!("{event}\n"),
        Protocol::Chat | Protocol::Responses => format!("data: {event}\n\n"),
        Protocol::Anthropic => format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x")),
    }
}

/// The text of an event in a stream that reports an overloaded endpoint.
pub(crate) fn overloaded(protocol: Protocol) -> String {
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    let event = match protocol {
        Protocol::Chat | Protocol::Anthropic => json!({"type": "error", "error": error}),
        Protocol::Responses => json!({"type": "error", "code": "overloaded_error", "message": "Overloaded"}),
        Protocol::Ollama => json!({"error": error}),
    };
    frame(protocol, &event)
}
