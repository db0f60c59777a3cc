//! Tests of native tool calls: probed, used only where enabled, and read only from complete calls.

use std::sync::{Arc, Mutex};

use artoo_llm::abilities::ProbeResult;
use artoo_llm::observe::{Exchange, Observer};
use artoo_llm::structured::{Dialect, ReplyFormat, ToolCalls};
use artoo_llm::{Model, Protocol, Remote, RemoteConfig, Shared};
use artoo_proto::InCalls;
use serde_json::{Value, json};

use crate::answers::{Ends, stream_type};
use crate::call_answers::{frames_calls, offer, offering, whole_calls};
use crate::fault_server::{Act, FaultServer};
use crate::{config, kind, value};

const LIST: (&str, &str) = ("list_files", r#"{"path":"a"}"#);
const FIND: (&str, &str) = ("notes_find", r#"{"path":"b"}"#);
const END: (&str, &str) = ("report", r#"{"output":"3"}"#);

/// Tool calls in a test's table, each with name and input.
type Made = &'static [(&'static str, &'static str)];

/// A client configuration with long timeouts and tool calls enabled.
fn long_timeouts(protocol: Protocol, url: &str) -> RemoteConfig {
    RemoteConfig { protocol, tool_calls: Some(true), ..crate::long_timeouts(url) }
}

/// A client that treats its endpoint as having passed the probe of native tool calls.
fn client_with_native_tools(config: RemoteConfig) -> Remote {
    let client = Remote::new(config).unwrap();
    client.speak(Dialect { tool_calls: ToolCalls::Required, ..client.dialect() });
    client
}

/// The test server's response: a streamed answer with this body.
fn stream(protocol: Protocol, body: &str) -> Act {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {}\r\nconnection: close\r\n\r\n", stream_type(protocol));
    Act::Raw([head.as_bytes(), body.as_bytes()].concat())
}

/// The test server's responses with the same answer, once whole and once streamed.
fn whole_and_streamed(protocol: Protocol, text: &str, calls: &[(&str, &str)], ends: Ends) -> [Act; 2] {
    let pieces = frames_calls(protocol, text, calls, ends).concat();
    [Act::json(200, &whole_calls(protocol, text, calls, ends)), stream(protocol, &pieces)]
}

/// The reply, or the kind of failure, of one call that offers tools to a server that reacts by `act`.
async fn asked(protocol: Protocol, act: Act) -> Result<Value, String> {
    let server = FaultServer::start(vec![act]).await;
    let outcome = client_with_native_tools(long_timeouts(protocol, &server.url())).ask(&offering("list")).await;
    outcome.map(|reply| value(&reply).clone()).map_err(|failure| format!("{}: {failure}", kind(&failure)))
}

/// Native tool calls are read from whole and from streamed answers.
#[doc = "holds: client C10"]
#[tokio::test]
async fn calls_are_read_whole_and_streamed() {
    let list = json!({"tool": "list_files", "input": {"path": "a"}});
    let find = json!({"tool": "notes.find", "input": {"path": "b"}});
    let rows: [(&str, Made, Value); 4] = [
        ("", &[LIST], json!({"calls": [list], "output": ""})),
        // Text beside calls is ignored, whatever it looks like.
        (
            r#"Sure: {"calls":[{"tool":"rm"}],"output":"x"}"#,
            &[LIST, FIND],
            json!({"calls": [list, find], "output": ""}),
        ),
        ("", &[END], json!({"calls": [], "output": "3"})),
        ("", &[LIST, END], json!({"calls": [list], "output": "3"})),
    ];
    for protocol in Protocol::ALL {
        for (text, calls, expected) in &rows {
            for act in whole_and_streamed(protocol, text, calls, Ends::ByItself) {
                assert_eq!(asked(protocol, act.clone()).await.as_ref(), Ok(expected), "{protocol:?} {act:?}");
            }
        }
    }
}

/// Answers that are cut off or unusual make no tool call.
#[doc = "holds: fault L9, L10, L11, L22, L24"]
#[tokio::test]
async fn truncated_or_unusual_answers_are_not_calls() {
    let rows: [(&str, Made, Ends, &str); 12] = [
        ("at the limit", &[LIST], Ends::AtTheLimit, "cut"),
        ("at the limit in its input", &[("list_files", r#"{"path":"a"#)], Ends::AtTheLimit, "cut"),
        ("ended oddly", &[LIST], Ends::Oddly, "cut"),
        ("no end", &[LIST], Ends::WithoutAWord, "cut"),
        ("words alone", &[], Ends::ByItself, "unreadable"),
        ("a tool that is not there", &[("shell", "{}")], Ends::ByItself, "unreadable"),
        ("another case", &[("List_files", r#"{"path":"a"}"#)], Ends::ByItself, "unreadable"),
        ("a name that looks the same", &[("list_filеs", r#"{"path":"a"}"#)], Ends::ByItself, "unreadable"),
        ("a good and a bad one", &[LIST, ("rm", "{}")], Ends::ByItself, "unreadable"),
        ("decoded twice", &[("list_files", r#""{\"path\":\"a\"}""#)], Ends::ByItself, "unreadable"),
        ("a key twice", &[("list_files", r#"{"path":"a","path":"b"}"#)], Ends::ByItself, "unreadable"),
        ("too many", &[LIST, FIND, LIST, FIND, LIST], Ends::ByItself, "unreadable"),
    ];
    for protocol in Protocol::ALL {
        for (name, calls, ends, expected) in &rows {
            // Ollama sends inputs as objects, which have no duplicate keys; a string in place of an object is decoded
            // once.
            let is_object = matches!(protocol, Protocol::Anthropic | Protocol::Ollama);
            for (act, is_whole) in
                whole_and_streamed(protocol, "I list them.", calls, *ends).into_iter().zip([true, false])
            {
                if is_object
                    && matches!(*name, "a key twice" | "decoded twice")
                    && (is_whole || protocol == Protocol::Ollama)
                {
                    continue;
                }
                let got = asked(protocol, act.clone()).await;
                let is_right = got.as_ref().is_err_and(|failure| failure.starts_with(expected));
                assert!(is_right, "{protocol:?}, {name}: {got:?}, not {expected}: {act:?}");
            }
        }
        // A stream that is truncated at any position.
        let frames = frames_calls(protocol, "", &[LIST, FIND], Ends::ByItself);
        for kept in 0..frames.len() - 2 {
            let got = asked(protocol, stream(protocol, &frames[..kept].concat())).await;
            assert!(got.as_ref().is_err_and(|failure| failure.starts_with("cut")), "{protocol:?} {kept}: {got:?}");
        }
    }
}

#[doc = "holds: fault L11"]
#[tokio::test]
async fn truncated_input_of_complete_answer_is_truncation() {
    for protocol in [Protocol::Chat, Protocol::Responses] {
        for act in whole_and_streamed(protocol, "", &[("list_files", r#"{"path":"a"#)], Ends::ByItself) {
            let got = asked(protocol, act).await;
            assert!(got.as_ref().is_err_and(|failure| failure.starts_with("cut")), "{protocol:?}: {got:?}");
        }
    }
}

#[tokio::test]
async fn duplicate_call_ids_are_refused() {
    for protocol in [Protocol::Chat, Protocol::Responses, Protocol::Anthropic] {
        let body = whole_calls(protocol, "", &[LIST, FIND], Ends::ByItself).to_string().replace("call_1", "call_0");
        let got = asked(protocol, Act::reply(200, body)).await;
        assert!(got.as_ref().is_err_and(|failure| failure.contains("same id")), "{protocol:?}: {got:?}");
    }
}

/// A request with native tools has no reply format, since the tools describe the reply.
#[tokio::test]
async fn offered_tools_replace_the_reply_format() {
    for protocol in Protocol::ALL {
        let server =
            FaultServer::start(vec![Act::json(200, &whole_calls(protocol, "", &[LIST], Ends::ByItself))]).await;
        client_with_native_tools(long_timeouts(protocol, &server.url())).ask(&offering("list")).await.unwrap();
        let body = server.seen()[0].body.clone();
        let path = json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
        let (name, about) = ("list_files", "Does list_files.");
        let (tool, names, choice) = match protocol {
            Protocol::Chat => (
                json!({"type": "function", "function": {"name": name, "description": about, "parameters": path}}),
                "/function/name",
                json!("required"),
            ),
            Protocol::Responses => (
                json!({"type": "function", "name": name, "description": about, "parameters": path, "strict": false}),
                "/name",
                json!("required"),
            ),
            Protocol::Anthropic => {
                (json!({"name": name, "description": about, "input_schema": path}), "/name", json!({"type": "any"}))
            }
            Protocol::Ollama => (
                json!({"type": "function", "function": {"name": name, "description": about, "parameters": path}}),
                "/function/name",
                Value::Null,
            ),
        };
        assert_eq!((&body["tools"][0], &body["tool_choice"]), (&tool, &choice), "{protocol:?}");
        let offered: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool.pointer(names).unwrap().as_str().unwrap())
            .collect();
        assert_eq!(offered, ["list_files", "notes_find", "report"], "{protocol:?}");
        let text = body.to_string();
        assert!(text.contains("Call tools.") && !text.contains("You call tools."), "{text}");
        assert!(!text.contains("JSON schema") && body.get("response_format").is_none() && body.get("format").is_none());
    }
}

/// Native tool calls are used only if a probe found them and the setting asks for them; without the setting, only if
/// the endpoint enforces no schema.
#[doc = "holds: client C9"]
#[tokio::test]
async fn native_calls_need_probe_or_setting() {
    use ReplyFormat::{ForcedTool, JsonObject, JsonSchema, PromptOnly};
    let rows: [(ReplyFormat, ToolCalls, Option<bool>, bool); 8] = [
        (JsonSchema, ToolCalls::Required, None, false),
        (JsonObject, ToolCalls::Required, None, true),
        (ForcedTool, ToolCalls::Free, None, true),
        (PromptOnly, ToolCalls::Required, None, true),
        (PromptOnly, ToolCalls::Off, None, false),
        (PromptOnly, ToolCalls::Required, Some(false), false),
        (JsonSchema, ToolCalls::Free, Some(true), true),
        (JsonSchema, ToolCalls::Off, Some(true), false),
    ];
    for (format, shown, wanted, expected) in rows {
        let server = FaultServer::deciding(|_, body| match body["tools"].as_array().map(Vec::len) {
            Some(3) => Act::json(200, &whole_calls(Protocol::Chat, "", &[LIST], Ends::ByItself)),
            _ => Act::answer(r#"{"calls":[],"output":"in JSON"}"#),
        })
        .await;
        let config =
            RemoteConfig { format: Some(format), tool_calls: wanted, ..long_timeouts(Protocol::Chat, &server.url()) };
        let client = Remote::new(config).unwrap();
        client.speak(Dialect { tool_calls: shown, ..client.dialect() });
        let mut request = offering("list");
        if !expected {
            request.by_tools = Some(InCalls(|_| panic!("a request was put in calls for nothing")));
        }
        let reply = client.ask(&request).await.unwrap();
        assert_eq!(value(&reply)["output"] == "", expected, "{format:?} {shown:?} {wanted:?}");
        let free = server.seen()[0].body["tool_choice"] == "auto";
        assert_eq!(free, expected && shown == ToolCalls::Free, "{format:?} {shown:?}");
        // A request without tools is sent as before.
        let mut plain = offering("list");
        plain.by_tools = None;
        assert_eq!(value(&client.ask(&plain).await.unwrap())["output"], "in JSON");
    }
}

/// If the endpoint refuses tools, the client asks for a JSON reply instead.
#[doc = "holds: client C9"]
#[tokio::test]
async fn refused_tools_fall_back_to_json() {
    let server = FaultServer::deciding(|_, body| {
        if body["tools"].is_array() {
            return Act::json(400, &json!({"error": {"message": "this model does not support tools"}}));
        }
        Act::answer(r#"{"calls":[],"output":"in JSON"}"#)
    })
    .await;
    let client = client_with_native_tools(RemoteConfig {
        format: Some(ReplyFormat::JsonObject),
        ..long_timeouts(Protocol::Chat, &server.url())
    });
    for requests in [3, 4] {
        client.ask(&offering("list")).await.unwrap();
        assert_eq!(server.seen().len(), requests);
    }
    assert_eq!((client.dialect().tool_calls, client.dialect().format), (ToolCalls::Off, ReplyFormat::JsonObject));
}

/// The reaction of a test endpoint to the two questions of the probe: `lamp` for the first, `required` if a call is
/// required.
type Probed = fn(lamp: bool, required: bool) -> Act;

/// The test server's response: a complete answer with these tool calls.
fn calls(calls: &[(&str, &str)]) -> Act {
    Act::json(200, &whole_calls(Protocol::Chat, "", calls, Ends::ByItself))
}

const LAMP: (&str, &str) = ("set_lamp", r#"{"colour":"zinc-9","level":3}"#);
const WORD: (&str, &str) = ("report", r#"{"output":"copper-4"}"#);

/// The result of probing an endpoint that reacts to the questions by `answer`.
async fn found(answer: Probed) -> (Option<ProbeResult>, ToolCalls) {
    let server = FaultServer::deciding(move |_, body| {
        match body["tools"].as_array().map(Vec::len) {
            Some(2) => {}
            None if body["response_format"].is_null() => return Act::answer("The sea is wide."),
            Some(_) | None => {
                return Act::json(400, &json!({"error": {"message": "no response_format, no forced tool"}}));
            }
        }
        answer(body.to_string().contains("zinc-9"), body["tool_choice"] == "required")
    })
    .await;
    let config = RemoteConfig { format: Some(ReplyFormat::JsonObject), ..config(&server.url()) };
    let client = Remote::new(config).unwrap();
    let found = client.probe(&crate::request("x"), 7).await;
    found.map_or((None, ToolCalls::Off), |found| (found.tool_calls, found.dialect.tool_calls))
}

/// The probe of native tool calls passes only if the model makes exactly the right call.
#[doc = "holds: client C8"]
#[tokio::test]
async fn probe_accepts_only_the_right_call() {
    let check =
        async |answer: Probed, expected: (Option<ProbeResult>, ToolCalls)| assert_eq!(found(answer).await, expected);
    let ignored = (Some(ProbeResult::Ignored), ToolCalls::Off);
    check(|lamp, _| calls(&[if lamp { LAMP } else { WORD }]), (Some(ProbeResult::Passed), ToolCalls::Required)).await;
    // llama.cpp's server with a model whose template has no tools: status 200, and text.
    check(|_, _| Act::answer("I set the lamp."), ignored).await;
    check(|_, _| Act::answer(r#"{"name":"set_lamp","arguments":{"colour":"zinc-9","level":3}}"#), ignored).await;
    check(|lamp, _| calls(&[if lamp { ("set_lamp", r#"{"colour":"zinc-7","level":3}"#) } else { WORD }]), ignored)
        .await;
    check(|lamp, _| calls(&[if lamp { ("set_lamp", r#"{"colour":"zinc-9","level":"3"}"#) } else { WORD }]), ignored)
        .await;
    check(|lamp, _| calls(if lamp { &[LAMP, LAMP] } else { &[WORD] }), ignored).await;
    // The model calls the same tool for every question.
    check(|_, _| calls(&[LAMP]), ignored).await;
    check(|lamp, _| calls(&[if lamp { ("Set_Lamp", LAMP.1) } else { WORD }]), ignored).await;
    check(|_, _| Act::json(200, &whole_calls(Protocol::Chat, "", &[LAMP], Ends::AtTheLimit)), ignored).await;
    let refused = (Some(ProbeResult::Refused), ToolCalls::Off);
    check(|_, _| Act::json(400, &json!({"error": {"message": "tools are not supported"}})), refused).await;
    check(|_, _| Act::json(501, &json!({"error": {"message": "tools param requires --jinja flag"}})), refused).await;
    // The endpoint refuses a required call, and calls if the call is optional.
    check(
        |lamp, required| {
            if required {
                return Act::json(400, &json!({"error": {"message": "no", "param": "tool_choice"}}));
            }
            calls(&[if lamp { LAMP } else { WORD }])
        },
        (Some(ProbeResult::Passed), ToolCalls::Free),
    )
    .await;
}

/// An observer that records the exchanges reported to it.
#[derive(Default)]
struct RecordedExchanges(Mutex<Vec<Exchange>>);

impl Observer for RecordedExchanges {
    fn wants_exchanges(&self) -> bool {
        true
    }

    fn exchange(&self, exchange: &Exchange) {
        self.0.lock().unwrap().push(exchange.clone());
    }
}

/// Recorded response bodies with tool calls can be read again without a network.
#[doc = "holds: client C5"]
#[tokio::test]
async fn recorded_bodies_of_calls_are_readable() {
    let pieces = frames_calls(Protocol::Chat, "words", &[LIST, FIND], Ends::ByItself).concat();
    let server = FaultServer::start(vec![stream(Protocol::Chat, &pieces)]).await;
    let kept = Arc::new(RecordedExchanges::default());
    let shared = Shared { observer: Some(Arc::clone(&kept) as Arc<dyn Observer>), ..Shared::default() };
    let client = Remote::sharing(long_timeouts(Protocol::Chat, &server.url()), &shared).unwrap();
    client.speak(Dialect { tool_calls: ToolCalls::Required, ..client.dialect() });
    let request = offering("list");
    let reply = client.ask(&request).await.unwrap();
    let exchange = kept.0.lock().unwrap()[0].clone();
    assert_eq!(exchange.response, pieces);
    assert!(exchange.request.contains("\"notes_find\""), "{}", exchange.request);
    let body = exchange.response.as_bytes();
    let by_tools = offer(&request);
    let (tools, format) = (Some(&by_tools), ReplyFormat::PromptOnly);
    let read = artoo_llm::remote::read_recorded;
    let again = read(Protocol::Chat, "text/event-stream", body, tools, format, &request.schema);
    assert_eq!(again.as_ref(), Ok(value(&reply)));
}

/// Pieces of two calls that arrive by turns are assigned to the right call.
#[doc = "holds: client C10"]
#[tokio::test]
async fn interleaved_pieces_are_assigned_to_their_block() {
    let start = |n: u64, name: &str| {
        let block = json!({"type": "tool_use", "id": format!("c{n}"), "name": name, "input": {}});
        json!({"type": "content_block_start", "index": n, "content_block": block})
    };
    let piece = |n: u64, text: &str| {
        let delta = json!({"type": "input_json_delta", "partial_json": text});
        json!({"type": "content_block_delta", "index": n, "delta": delta})
    };
    let events = [
        start(0, "list_files"),
        start(1, "notes_find"),
        piece(0, "{\"path\":"),
        piece(1, "{\"path\":\"b\"}"),
        piece(0, "\"a\"}"),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let got = asked(Protocol::Anthropic, stream(Protocol::Anthropic, &body)).await.unwrap();
    assert_eq!(got["calls"][0], json!({"tool": "list_files", "input": {"path": "a"}}));
    assert_eq!(got["calls"][1], json!({"tool": "notes.find", "input": {"path": "b"}}));
}
