//! How each protocol words calls of tools, whole and in pieces, and a request that offers some.

use artoo_llm::Protocol;
use artoo_proto::{ByTools, ModelRequest, OfferedTool, Prompt};
use serde_json::{Value, json};

use crate::request;
use crate::speech::{Ends, frame, whole};

/// A request whose reply is calls of `list_files` and `notes.find`, or `report`.
pub(crate) fn offering(user: &str) -> ModelRequest {
    let tool = |name: &str, properties: Value| OfferedTool {
        name: name.to_owned(),
        description: format!("Does {name}."),
        input_schema: json!({"type": "object", "required": ["path"], "properties": properties}),
    };
    let ending = OfferedTool {
        name: "report".to_owned(),
        description: "Reports.".to_owned(),
        input_schema: json!({
            "type": "object", "additionalProperties": false, "required": ["output"],
            "properties": {"output": {"type": "string"}}
        }),
    };
    let path = json!({"path": {"type": "string"}});
    let by_tools = ByTools {
        prompt: Prompt { system: "Call tools.".to_owned(), user: user.to_owned() },
        tools: vec![tool("list_files", path.clone()), tool("notes.find", path)],
        ending,
        going_on: json!({"output": ""}).as_object().unwrap().clone(),
    };
    ModelRequest {
        schema: json!({
            "type": "object", "additionalProperties": false, "required": ["calls", "output"],
            "properties": {"calls": {"type": "array", "maxItems": 4}, "output": {"type": "string"}}
        }),
        by_tools: Some(Box::new(by_tools)),
        ..request(user)
    }
}

/// How an answer of calls ends, in the protocol's word for that.
fn tool_word(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "tool_calls",
        Protocol::Responses => "completed",
        Protocol::Anthropic => "tool_use",
        Protocol::Ollama => "stop",
    }
}

/// An input as Ollama gives it: an object where it can be one.
fn object(input: &str) -> Value {
    serde_json::from_str(input).unwrap_or_else(|_| json!(input))
}

fn called(protocol: Protocol, n: usize, name: &str, input: &str) -> Value {
    let id = format!("call_{n}");
    match protocol {
        Protocol::Chat => json!({"id": id, "type": "function", "function": {"name": name, "arguments": input}}),
        Protocol::Responses => json!({"type": "function_call", "call_id": id, "name": name, "arguments": input}),
        Protocol::Anthropic => json!({"type": "tool_use", "id": id, "name": name, "input": object(input)}),
        Protocol::Ollama => json!({"function": {"name": name, "arguments": object(input)}}),
    }
}

/// A whole answer: text, and calls beside it.
pub(crate) fn whole_calls(protocol: Protocol, text: &str, calls: &[(&str, &str)], ends: Ends) -> Value {
    let mut body = whole(protocol, text, ends);
    let made: Vec<Value> =
        calls.iter().enumerate().map(|(n, (name, input))| called(protocol, n, name, input)).collect();
    let by_itself = ends == Ends::ByItself && !calls.is_empty();
    match protocol {
        Protocol::Chat => {
            body["choices"][0]["message"]["tool_calls"] = json!(made);
            if by_itself {
                body["choices"][0]["finish_reason"] = json!(tool_word(protocol));
            }
        }
        Protocol::Responses => body["output"].as_array_mut().unwrap().extend(made),
        Protocol::Anthropic => {
            body["content"].as_array_mut().unwrap().extend(made);
            if by_itself {
                body["stop_reason"] = json!(tool_word(protocol));
            }
        }
        Protocol::Ollama => body["message"]["tool_calls"] = json!(made),
    }
    body
}

/// The same in pieces; the inputs come three letters at a time.
pub(crate) fn frames_calls(protocol: Protocol, text: &str, calls: &[(&str, &str)], ends: Ends) -> Vec<String> {
    let all = whole_calls(protocol, text, calls, ends);
    let made = || calls.iter().enumerate().map(|(n, (name, input))| (n, *name, *input));
    let mut events: Vec<Value> = Vec::new();
    match protocol {
        Protocol::Chat => {
            let piece = |delta: Value, finish: &Value| json!({"model": "m-7b", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
            events.push(piece(json!({"role": "assistant", "content": text}), &Value::Null));
            for (n, name, input) in made() {
                let first = json!({"index": n, "id": format!("call_{n}"), "type": "function",
                    "function": {"name": name, "arguments": ""}});
                events.push(piece(json!({"tool_calls": [first]}), &Value::Null));
                events.extend(pieces(input).iter().map(|text| {
                    let next = json!({"index": n, "function": {"arguments": text}});
                    piece(json!({"tool_calls": [next]}), &Value::Null)
                }));
            }
            if ends != Ends::WithoutAWord {
                events.push(piece(json!({}), &all["choices"][0]["finish_reason"]));
            }
        }
        Protocol::Responses => {
            events.push(json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}));
            for (n, name, input) in made() {
                let item = json!({"type": "function_call", "name": name, "arguments": ""});
                events.push(json!({"type": "response.output_item.added", "output_index": n, "item": item}));
                events.extend(pieces(input).iter().map(
                    |text| json!({"type": "response.function_call_arguments.delta", "output_index": n, "delta": text}),
                ));
            }
            if ends != Ends::WithoutAWord {
                let kind = if ends == Ends::ByItself { "response.completed" } else { "response.incomplete" };
                events.push(json!({"type": kind, "response": all}));
            }
        }
        Protocol::Anthropic => events = anthropic(text, calls, ends, &all),
        Protocol::Ollama => {
            let line = |message: Value| json!({"model": "m-7b", "message": message, "done": false});
            events.push(line(json!({"role": "assistant", "content": text})));
            events.extend(made().map(|(n, name, input)| {
                line(json!({"role": "assistant", "content": "", "tool_calls": [called(protocol, n, name, input)]}))
            }));
            let mut last = whole(protocol, "", ends);
            if ends == Ends::WithoutAWord {
                last.as_object_mut().unwrap().remove("done_reason");
            }
            events.push(last);
        }
    }
    let mut frames: Vec<String> = events.iter().map(|event| frame(protocol, event)).collect();
    if protocol == Protocol::Chat && ends != Ends::WithoutAWord {
        frames.push("data: [DONE]\n\n".to_owned());
    }
    frames
}

fn pieces(input: &str) -> Vec<String> {
    input.chars().collect::<Vec<_>>().chunks(3).map(|letters| letters.iter().collect()).collect()
}

fn anthropic(text: &str, calls: &[(&str, &str)], ends: Ends, all: &Value) -> Vec<Value> {
    let message = json!({"type": "message", "model": "m-7b", "content": [], "usage": {"input_tokens": 8}});
    let words = json!({"type": "text", "text": text});
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": words}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    for (n, (name, input)) in calls.iter().enumerate() {
        let start = json!({"type": "tool_use", "id": format!("call_{n}"), "name": name, "input": {}});
        events.push(json!({"type": "content_block_start", "index": n + 1, "content_block": start}));
        events.extend(pieces(input).iter().map(|text| {
            let delta = json!({"type": "input_json_delta", "partial_json": text});
            json!({"type": "content_block_delta", "index": n + 1, "delta": delta})
        }));
        events.push(json!({"type": "content_block_stop", "index": n + 1}));
    }
    if ends != Ends::WithoutAWord {
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": all["stop_reason"]}}));
    }
    events.push(json!({"type": "message_stop"}));
    events
}
