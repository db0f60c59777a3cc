//! Native tool calls: found out by asking, used where they are wanted, and never made of anything less than a call.

use std::sync::{Arc, Mutex};

use artoo_llm::abilities::Held;
use artoo_llm::observe::{Exchange, Observer};
use artoo_llm::structured::{Dialect, ReplyFormat, ToolCalls};
use artoo_llm::{Model, Protocol, Remote, RemoteConfig, Shared};
use artoo_proto::InCalls;
use serde_json::{Value, json};

use crate::fault_server::{Act, FaultServer};
use crate::speech::{Ends, stream_type};
use crate::speech_calls::{frames_calls, offer, offering, whole_calls};
use crate::{config, kind, value};

const LIST: (&str, &str) = ("list_files", r#"{"path":"a"}"#);
const FIND: (&str, &str) = ("notes_find", r#"{"path":"b"}"#);
const END: (&str, &str) = ("report", r#"{"output":"3"}"#);

/// Calls, each a name and an input.
type Made = &'static [(&'static str, &'static str)];

fn patient(protocol: Protocol, url: &str) -> RemoteConfig {
    RemoteConfig { protocol, tool_calls: Some(true), ..crate::patient(url) }
}

/// A client that was shown to be good at calls.
fn able(config: RemoteConfig) -> Remote {
    let client = Remote::new(config).unwrap();
    client.speak(Dialect { tool_calls: ToolCalls::Required, ..client.dialect() });
    client
}

fn stream(protocol: Protocol, body: &str) -> Act {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {}\r\nconnection: close\r\n\r\n", stream_type(protocol));
    Act::Raw([head.as_bytes(), body.as_bytes()].concat())
}

/// The same answer whole and in pieces.
fn both(protocol: Protocol, text: &str, calls: &[(&str, &str)], ends: Ends) -> [Act; 2] {
    let pieces = frames_calls(protocol, text, calls, ends).concat();
    [Act::json(200, &whole_calls(protocol, text, calls, ends)), stream(protocol, &pieces)]
}

async fn asked(protocol: Protocol, act: Act) -> Result<Value, String> {
    let server = FaultServer::start(vec![act]).await;
    let outcome = able(patient(protocol, &server.url())).ask(&offering("list")).await;
    outcome.map(|reply| value(&reply).clone()).map_err(|failure| format!("{}: {failure}", kind(&failure)))
}

#[doc = "holds: client C10"]
#[tokio::test]
async fn calls_are_read_whole_and_in_pieces_in_every_protocol() {
    let list = json!({"tool": "list_files", "input": {"path": "a"}});
    let find = json!({"tool": "notes.find", "input": {"path": "b"}});
    let rows: [(&str, Made, Value); 4] = [
        ("", &[LIST], json!({"calls": [list], "output": ""})),
        // Words beside calls count for nothing, whatever they look like.
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
            for act in both(protocol, text, calls, Ends::ByItself) {
                assert_eq!(asked(protocol, act.clone()).await.as_ref(), Ok(expected), "{protocol:?} {act:?}");
            }
        }
    }
}

#[doc = "holds: fault L9, L10, L11, L22, L24"]
#[tokio::test]
async fn no_call_comes_of_a_cut_or_strange_answer() {
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
            // Where the endpoint gives an object there is no text in which a key could stand twice, and a text in its
            // place is decoded the one time.
            let is_object = matches!(protocol, Protocol::Anthropic | Protocol::Ollama);
            for (act, is_whole) in both(protocol, "I list them.", calls, *ends).into_iter().zip([true, false]) {
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
        // A stream that ends anywhere before its end.
        let frames = frames_calls(protocol, "", &[LIST, FIND], Ends::ByItself);
        for kept in 0..frames.len() - 2 {
            let got = asked(protocol, stream(protocol, &frames[..kept].concat())).await;
            assert!(got.as_ref().is_err_and(|failure| failure.starts_with("cut")), "{protocol:?} {kept}: {got:?}");
        }
    }
}

#[doc = "holds: fault L11"]
#[tokio::test]
async fn an_input_that_ends_early_is_cut_though_the_answer_says_it_is_complete() {
    for protocol in [Protocol::Chat, Protocol::Responses] {
        for act in both(protocol, "", &[("list_files", r#"{"path":"a"#)], Ends::ByItself) {
            let got = asked(protocol, act).await;
            assert!(got.as_ref().is_err_and(|failure| failure.starts_with("cut")), "{protocol:?}: {got:?}");
        }
    }
}

#[tokio::test]
async fn ids_that_two_calls_share_are_no_answer() {
    for protocol in [Protocol::Chat, Protocol::Responses, Protocol::Anthropic] {
        let body = whole_calls(protocol, "", &[LIST, FIND], Ends::ByItself).to_string().replace("call_1", "call_0");
        let got = asked(protocol, Act::reply(200, body)).await;
        assert!(got.as_ref().is_err_and(|failure| failure.contains("same id")), "{protocol:?}: {got:?}");
    }
}

#[tokio::test]
async fn tools_are_offered_as_each_endpoint_expects_and_nothing_else_asks_for_a_shape() {
    for protocol in Protocol::ALL {
        let server =
            FaultServer::start(vec![Act::json(200, &whole_calls(protocol, "", &[LIST], Ends::ByItself))]).await;
        able(patient(protocol, &server.url())).ask(&offering("list")).await.unwrap();
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

#[doc = "holds: client C9"]
#[tokio::test]
async fn tools_are_called_only_where_that_was_shown_and_is_wanted() {
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
            RemoteConfig { format: Some(format), tool_calls: wanted, ..patient(Protocol::Chat, &server.url()) };
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
        // A request that is not about tools is asked as ever.
        let mut plain = offering("list");
        plain.by_tools = None;
        assert_eq!(value(&client.ask(&plain).await.unwrap())["output"], "in JSON");
    }
}

#[doc = "holds: client C9"]
#[tokio::test]
async fn an_endpoint_that_stops_taking_tools_is_asked_for_json_and_that_is_remembered() {
    let server = FaultServer::deciding(|_, body| {
        if body["tools"].is_array() {
            return Act::json(400, &json!({"error": {"message": "this model does not support tools"}}));
        }
        Act::answer(r#"{"calls":[],"output":"in JSON"}"#)
    })
    .await;
    let client = able(RemoteConfig { format: Some(ReplyFormat::JsonObject), ..patient(Protocol::Chat, &server.url()) });
    for requests in [3, 4] {
        client.ask(&offering("list")).await.unwrap();
        assert_eq!(server.seen().len(), requests);
    }
    assert_eq!((client.dialect().tool_calls, client.dialect().format), (ToolCalls::Off, ReplyFormat::JsonObject));
}

/// How an endpoint takes the probe's two questions about tools.
type Probed = fn(lamp: bool, required: bool) -> Act;

fn calls(calls: &[(&str, &str)]) -> Act {
    Act::json(200, &whole_calls(Protocol::Chat, "", calls, Ends::ByItself))
}

const LAMP: (&str, &str) = ("set_lamp", r#"{"colour":"zinc-9","level":3}"#);
const WORD: (&str, &str) = ("report", r#"{"output":"copper-4"}"#);

async fn found(answer: Probed) -> (Option<Held>, ToolCalls) {
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

#[doc = "holds: client C8"]
#[tokio::test]
async fn a_probe_counts_only_the_right_call_of_the_right_tool() {
    let check = async |answer: Probed, expected: (Option<Held>, ToolCalls)| assert_eq!(found(answer).await, expected);
    let ignored = (Some(Held::Ignored), ToolCalls::Off);
    check(|lamp, _| calls(&[if lamp { LAMP } else { WORD }]), (Some(Held::Kept), ToolCalls::Required)).await;
    // llama.cpp's server with a model whose template has no tools: 200, and words.
    check(|_, _| Act::answer("I set the lamp."), ignored).await;
    check(|_, _| Act::answer(r#"{"name":"set_lamp","arguments":{"colour":"zinc-9","level":3}}"#), ignored).await;
    check(|lamp, _| calls(&[if lamp { ("set_lamp", r#"{"colour":"zinc-7","level":3}"#) } else { WORD }]), ignored)
        .await;
    check(|lamp, _| calls(&[if lamp { ("set_lamp", r#"{"colour":"zinc-9","level":"3"}"#) } else { WORD }]), ignored)
        .await;
    check(|lamp, _| calls(if lamp { &[LAMP, LAMP] } else { &[WORD] }), ignored).await;
    // It calls something whatever it is asked.
    check(|_, _| calls(&[LAMP]), ignored).await;
    check(|lamp, _| calls(&[if lamp { ("Set_Lamp", LAMP.1) } else { WORD }]), ignored).await;
    check(|_, _| Act::json(200, &whole_calls(Protocol::Chat, "", &[LAMP], Ends::AtTheLimit)), ignored).await;
    let refused = (Some(Held::Refused), ToolCalls::Off);
    check(|_, _| Act::json(400, &json!({"error": {"message": "tools are not supported"}})), refused).await;
    check(|_, _| Act::json(501, &json!({"error": {"message": "tools param requires --jinja flag"}})), refused).await;
    // Told to call it refuses; left free it calls.
    check(
        |lamp, required| {
            if required {
                return Act::json(400, &json!({"error": {"message": "no", "param": "tool_choice"}}));
            }
            calls(&[if lamp { LAMP } else { WORD }])
        },
        (Some(Held::Kept), ToolCalls::Free),
    )
    .await;
}

#[derive(Default)]
struct Kept(Mutex<Vec<Exchange>>);

impl Observer for Kept {
    fn wants_exchanges(&self) -> bool {
        true
    }

    fn exchange(&self, exchange: &Exchange) {
        self.0.lock().unwrap().push(exchange.clone());
    }
}

#[doc = "holds: client C5"]
#[tokio::test]
async fn the_bodies_of_calls_are_kept_raw_and_can_be_read_again() {
    let pieces = frames_calls(Protocol::Chat, "words", &[LIST, FIND], Ends::ByItself).concat();
    let server = FaultServer::start(vec![stream(Protocol::Chat, &pieces)]).await;
    let kept = Arc::new(Kept::default());
    let shared = Shared { observer: Some(Arc::clone(&kept) as Arc<dyn Observer>), ..Shared::default() };
    let client = Remote::sharing(patient(Protocol::Chat, &server.url()), &shared).unwrap();
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

#[doc = "holds: client C10"]
#[tokio::test]
async fn pieces_that_come_in_turns_find_their_own_block() {
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
