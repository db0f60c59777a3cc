//! Builds model answers with tool calls in each protocol, whole and streamed, and a request that offers tools.

use artoo_llm::Protocol;
use artoo_proto::{ByTools, InCalls, ModelRequest, OfferedTool, Prompt};
use serde_json::{Value, json};

use crate::answers::{Ends, frame, whole_answer};
use crate::request;

/// A model request with this prompt whose reply is calls of `list_files` and `notes.find`, or of `report`, which ends
/// the work.
pub(crate) fn offering(user: &str) -> ModelRequest {
    ModelRequest {
        schema: json!({
            "type": "object", "additionalProperties": false, "required": ["calls", "output"],
            "properties": {"calls": {"type": "array", "maxItems": 4}, "output": {"type": "string"}}
        }),
        by_tools: Some(InCalls(|request| Some(offer(request)))),
        ..request(user)
    }
}

/// The request of [`offering`] with its tools as native tool calls.
pub(crate) fn offer(request: &ModelRequest) -> ByTools {
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
    ByTools {
        prompt: Prompt { system: "Call tools.".to_owned(), user: request.prompt.user.clone() },
        tools: vec![tool("list_files", path.clone()), tool("notes.find", path)],
        ending,
        going_on: json!({"output": ""}).as_object().unwrap().clone(),
    }
}

/// The finish reason that a protocol reports for an answer with tool calls.
fn tool_word(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "tool_calls",
        Protocol::Responses => "completed",
        Protocol::Anthropic => "tool_use",
        Protocol::Ollama => "stop",
    }
}

/// The input of a call as JSON; a text if it is not valid JSON.
fn object(input: &str) -> Value {
    serde_json::from_str(input).unwrap_or_else(|_| json!(input))
}

/// A tool call with number `n` in the JSON of a protocol.
fn called(protocol: Protocol, n: usize, name: &str, input: &str) -> Value {
    let id = format!("call_{n}");
    match protocol {
        Protocol::Chat => json!({"id": id, "type": "function", "function": {"name": name, "arguments": input}}),
        Protocol::Responses => json!({"type": "function_call", "call_id": id, "name": name, "arguments": input}),
        Protocol::Anthropic => json!({"type": "tool_use", "id": id, "name": name, "input": object(input)}),
        Protocol::Ollama => json!({"function": {"name": name, "arguments": object(input)}}),
    }
}

/// The body of a whole answer with text and tool calls, in a protocol.
pub(crate) fn whole_calls(protocol: Protocol, text: &str, calls: &[(&str, &str)], ends: Ends) -> Value {
    let mut body = whole_answer(protocol, text, ends);
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

/// A streamed answer as complete events or lines: reasoning, then text, then calls, in pieces of three characters.
pub(crate) fn frames_calls(protocol: Protocol, text: &str, calls: &[(&str, &str)], ends: Ends) -> Vec<String> {
    let said = StreamedAnswer { text, calls, ends, whole: whole_calls(protocol, text, calls, ends) };
    let events = match protocol {
        Protocol::Chat => said.chat(),
        Protocol::Responses => said.responses(),
        Protocol::Anthropic => said.anthropic(),
        Protocol::Ollama => said.ollama(),
    };
    let mut frames: Vec<String> = events.iter().map(|event| frame(protocol, event)).collect();
    if protocol == Protocol::Chat && said.has_end() {
        frames.push("data: [DONE]\n\n".to_owned());
    }
    frames
}

/// An answer with text and tool calls, to be divided into the events or lines of a stream.
struct StreamedAnswer<'a> {
    text: &'a str,
    calls: &'a [(&'a str, &'a str)],
    ends: Ends,
    /// The same answer as a whole response.
    whole: Value,
}

impl StreamedAnswer<'_> {
    /// Whether the stream states a finish reason.
    fn has_end(&self) -> bool {
        self.ends != Ends::WithoutAWord
    }

    /// The tool calls of the answer, numbered from 0: number, name and input.
    fn calls(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.calls.iter().enumerate().map(|(n, (name, input))| (n, *name, *input))
    }

    /// The events of the answer in the Chat Completions protocol.
    fn chat(&self) -> Vec<Value> {
        let ended = |delta: Value, finish: &Value| json!({"model": "m-7b", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        let piece = |delta: Value| ended(delta, &Value::Null);
        let mut events = vec![piece(json!({"role": "assistant", "reasoning_content": "{\"tool\":\"rm\"}"}))];
        events.extend(pieces(self.text).map(|text| piece(json!({"content": text}))));
        for (n, name, input) in self.calls() {
            let function = json!({"name": name, "arguments": ""});
            let first = json!({"index": n, "id": format!("call_{n}"), "type": "function", "function": function});
            events.push(piece(json!({"tool_calls": [first]})));
            let next = |text| json!({"index": n, "function": {"arguments": text}});
            events.extend(pieces(input).map(|text| piece(json!({"tool_calls": [next(text)]}))));
        }
        if self.has_end() {
            events.push(ended(json!({}), &self.whole["choices"][0]["finish_reason"]));
        }
        events.push(json!({"choices": [], "usage": self.whole["usage"]}));
        events
    }

    /// The events of the answer in the Responses protocol.
    fn responses(&self) -> Vec<Value> {
        let mut events = vec![
            json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}),
            json!({"type": "response.reasoning_summary_text.delta", "delta": "{\"tool\":\"rm\"}"}),
        ];
        events.extend(pieces(self.text).map(|text| json!({"type": "response.output_text.delta", "delta": text})));
        for (n, name, input) in self.calls() {
            let item = json!({"type": "function_call", "name": name, "arguments": ""});
            events.push(json!({"type": "response.output_item.added", "output_index": n, "item": item}));
            events.extend(pieces(input).map(
                |text| json!({"type": "response.function_call_arguments.delta", "output_index": n, "delta": text}),
            ));
        }
        if self.has_end() {
            let kind = if self.ends == Ends::ByItself { "response.completed" } else { "response.incomplete" };
            events.push(json!({"type": kind, "response": self.whole}));
        }
        events
    }

    /// The events of the answer in Anthropic's protocol.
    fn anthropic(&self) -> Vec<Value> {
        let usage = json!({"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 1});
        let message = json!({"type": "message", "model": "m-7b", "content": [], "usage": usage});
        let start = |n: usize, block: Value| json!({"type": "content_block_start", "index": n, "content_block": block});
        let piece = |n: usize, delta: Value| json!({"type": "content_block_delta", "index": n, "delta": delta});
        let stop = |n: usize| json!({"type": "content_block_stop", "index": n});
        let mut events = vec![
            json!({"type": "message_start", "message": message}),
            json!({"type": "ping"}),
            piece(0, json!({"type": "thinking_delta", "thinking": "{\"tool\":\"rm\"}"})),
            start(1, json!({"type": "text", "text": ""})),
        ];
        events.extend(pieces(self.text).map(|text| piece(1, json!({"type": "text_delta", "text": text}))));
        events.push(stop(1));
        for (n, name, input) in self.calls() {
            let at = n + 2;
            events.push(start(at, json!({"type": "tool_use", "id": format!("call_{n}"), "name": name, "input": {}})));
            let next = |text| json!({"type": "input_json_delta", "partial_json": text});
            events.extend(pieces(input).map(|text| piece(at, next(text))));
            events.push(stop(at));
        }
        if self.has_end() {
            let delta = json!({"stop_reason": self.whole["stop_reason"]});
            events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}));
        }
        events.push(json!({"type": "message_stop"}));
        events
    }

    /// The lines of the answer in Ollama's protocol.
    fn ollama(&self) -> Vec<Value> {
        let line = |message: Value| json!({"model": "m-7b", "message": message, "done": false});
        let mut events = vec![line(json!({"role": "assistant", "content": "", "thinking": "{\"tool\":\"rm\"}"}))];
        events.extend(pieces(self.text).map(|text| line(json!({"role": "assistant", "content": text}))));
        events.extend(self.calls().map(|(n, name, input)| {
            let call = called(Protocol::Ollama, n, name, input);
            line(json!({"role": "assistant", "content": "", "tool_calls": [call]}))
        }));
        let mut last = whole_answer(Protocol::Ollama, "", self.ends);
        if !self.has_end() {
            last.as_object_mut().unwrap().remove("done_reason");
        }
        events.push(last);
        events
    }
}

/// Splits a text into pieces of three characters.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(3).map(|letters| letters.iter().collect()).collect::<Vec<_>>().into_iter()
}
