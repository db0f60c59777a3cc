//! Tests of probing endpoints, of context size limits, and of progress reports.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use artoo_llm::abilities::ProbeResult;
use artoo_llm::observe::{Caller, Exchange, Observer, Step};
use artoo_llm::structured::ReplyFormat;
use artoo_llm::{Model, Protocol, Remote, RemoteConfig, Shared};
use artoo_proto::ModelFailure;
use serde_json::{Value, json};

use crate::answers::{Ends, frames, whole_answer};
use crate::fault_server::{Act, FaultServer};
use crate::{KEY, config, kind, request, value};

const CALL: &str = r#"{"tool":"ls"}"#;

/// The test server's response: a complete Chat Completions answer with this content.
fn chat(content: &str) -> Act {
    Act::json(200, &whole_answer(Protocol::Chat, content, Ends::ByItself))
}

/// The replies of a test server that enforces the formats `kept`, refuses those in `refused`, and ignores all others.
fn probed(kept: &'static [&'static str], refused: &'static [&'static str]) -> impl Fn(usize, &Value) -> Act {
    move |_, body| {
        let schema = &body["response_format"]["json_schema"]["schema"];
        let format = match body["response_format"]["type"].as_str() {
            Some(format) => format,
            None if body["tool_choice"].is_object() => "tool",
            None => "none",
        };
        if refused.contains(&format) {
            return Act::json(
                400,
                &json!({"error": {"message": format!("{format} is not supported: response_format, tools")}}),
            );
        }
        if !kept.contains(&format) {
            return chat("The sea is wide.");
        }
        match format {
            "json_schema" => {
                let colour = schema["properties"]["colour"]["enum"][0].clone();
                chat(&json!({"colour": colour}).to_string())
            }
            _ => chat(r#"{"sea": "wide", "colour": "zinc-7"}"#),
        }
    }
}

/// A probe chooses the strongest reply format that the endpoint enforces.
#[doc = "holds: client C6"]
#[tokio::test]
async fn probe_finds_the_strongest_enforced_format() {
    use ProbeResult::{Ignored, Passed, Refused};
    use ReplyFormat::{ForcedTool, JsonObject, JsonSchema, PromptOnly, StrictSchema};
    /// A case of the table: enforced formats, refused formats, the format that is chosen, and the probe's result for
    /// each format.
    type Row = (&'static [&'static str], &'static [&'static str], ReplyFormat, Vec<(ReplyFormat, ProbeResult)>);
    let rows: [Row; 4] = [
        (&["json_schema", "json_object"], &[], JsonSchema, vec![(JsonSchema, Passed)]),
        (
            &["json_object"],
            &["json_schema"],
            JsonObject,
            vec![(JsonSchema, Refused), (StrictSchema, Refused), (JsonObject, Passed)],
        ),
        (&["json_object"], &[], JsonObject, vec![(JsonSchema, Ignored), (StrictSchema, Ignored), (JsonObject, Passed)]),
        (
            &[],
            &["json_schema", "json_object", "tool"],
            PromptOnly,
            vec![(JsonSchema, Refused), (StrictSchema, Refused), (JsonObject, Refused), (ForcedTool, Refused)],
        ),
    ];
    for (kept, refused, expected, formats) in rows {
        let server = FaultServer::deciding(probed(kept, refused)).await;
        let client = Remote::new(config(&server.url())).unwrap();
        let found = client.probe(&request("x"), 77).await.unwrap();
        assert_eq!((found.dialect.format, found.formats), (expected, formats), "{kept:?} {refused:?}");
        assert_eq!((client.dialect().format, found.found_at_s), (expected, 77));
        // Only the format requests the form; the prompt does not mention it.
        let seen = server.seen();
        let about_shapes = seen.iter().filter(|seen| seen.body["tools"].as_array().is_none_or(|tools| tools.len() < 2));
        assert!(about_shapes.clone().count() > 0);
        assert!(about_shapes.map(|seen| &seen.body["messages"]).all(|said| !said.to_string().contains("zinc")));
    }
}

/// A probe of an endpoint that refuses the key is an error.
#[tokio::test]
async fn probe_of_unreachable_endpoint_is_an_error() {
    let server = FaultServer::start(vec![Act::json(401, &json!({"error": "no"}))]).await;
    let failure = Remote::new(config(&server.url())).unwrap().probe(&request("x"), 0).await.unwrap_err();
    assert_eq!(kind(&failure), "unauthorized 401");
}

/// A prompt that does not fit the context size is not sent.
#[doc = "holds: client C4"]
#[tokio::test]
async fn oversized_prompt_is_not_sent() {
    let long = request(&"word ".repeat(20_000));
    for protocol in [Protocol::Chat, Protocol::Ollama] {
        let server = FaultServer::start(vec![Act::json(200, &whole_answer(protocol, CALL, Ends::ByItself))]).await;
        let config = RemoteConfig { protocol, context_tokens: Some(8_192), ..config(&server.url()) };
        let failure = Remote::new(config).unwrap().ask(&long).await.unwrap_err();
        assert!(matches!(failure, ModelFailure::DoesNotFit { needed: 25_000.., room: 8_192 }), "{failure}");
        assert!(server.seen().is_empty());
    }
}

/// With Ollama, the client sets the context size up to the model's maximum, and a call whose token counts fill it
/// fails.
#[doc = "holds: client C4"]
#[tokio::test]
async fn ollama_context_is_set_limited_and_checked() {
    // The model has 32,768 tokens, so no more are requested.
    let server = FaultServer::start(vec![Act::json(200, &whole_answer(Protocol::Ollama, CALL, Ends::ByItself))]).await;
    let config =
        |tokens| RemoteConfig { protocol: Protocol::Ollama, context_tokens: Some(tokens), ..config(&server.url()) };
    for (wanted, set) in [(8_192, 8_192), (100_000, 32_768)] {
        Remote::new(config(wanted)).unwrap().ask(&request("list")).await.unwrap();
        assert_eq!(server.seen().last().unwrap().body["options"]["num_ctx"], set);
    }
    // If the counts fill the context, the server may have truncated the prompt.
    let mut full = whole_answer(Protocol::Ollama, CALL, Ends::ByItself);
    full["prompt_eval_count"] = json!(8_190);
    let server = FaultServer::start(vec![Act::json(200, &full)]).await;
    let config = RemoteConfig { base_url: server.url(), ..config(8_192) };
    let failure = Remote::new(config).unwrap().ask(&request("list")).await.unwrap_err();
    assert_eq!(failure, ModelFailure::DoesNotFit { needed: 8_195, room: 8_192 });
}

/// An observer that records the progress steps and exchanges reported to it.
#[derive(Default)]
struct Notes {
    steps: Mutex<Vec<Step>>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Observer for Notes {
    fn step(&self, _: &Caller, step: &Step) {
        self.steps.lock().unwrap().push(step.clone());
    }

    fn wants_exchanges(&self) -> bool {
        true
    }

    fn exchange(&self, exchange: &Exchange) {
        self.exchanges.lock().unwrap().push(exchange.clone());
    }
}

/// What an observer gets of calls does not contain the key.
#[doc = "holds: client C5"]
#[tokio::test]
async fn observed_progress_and_exchanges_omit_the_key() {
    let stream = frames(Protocol::Chat, CALL, Ends::ByItself).concat();
    let raw = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{stream}");
    let busy = Act::json(429, &json!({"error": {"message": format!("slow down, {KEY}")}})).with("retry-after-ms", "5");
    let server = FaultServer::start(vec![busy, Act::Raw(raw.into_bytes())]).await;
    let notes = Arc::new(Notes::default());
    let observer: Arc<dyn Observer> = Arc::clone(&notes) as Arc<dyn Observer>;
    let shared = Shared { observer: Some(observer), ..Shared::default() };
    let reply = Remote::sharing(config(&server.url()), &shared).unwrap().ask(&request(KEY)).await.unwrap();
    assert_eq!(value(&reply), &json!({"tool": "ls"}));
    let steps = notes.steps.lock().unwrap().clone();
    let waited = steps.iter().find_map(|step| match step {
        Step::Waiting { wait, tries, tries_max, why } => Some((*wait, *tries, *tries_max, why.clone())),
        _ => None,
    });
    let (wait, tries, tries_max, why) = waited.unwrap();
    assert!(wait >= Duration::from_millis(5) && (tries, tries_max) == (1, 4) && why.contains("429"), "{why}");
    let chars: Vec<usize> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Writing { chars, .. } => Some(*chars),
            _ => None,
        })
        .collect();
    assert!(chars.is_sorted() && chars.last() == Some(&CALL.len()), "{chars:?}");
    assert_eq!(steps.last(), Some(&Step::Done));
    let exchanges = notes.exchanges.lock().unwrap().clone();
    let statuses: Vec<Option<u16>> = exchanges.iter().map(|exchange| exchange.status).collect();
    assert_eq!(statuses, [Some(429), Some(200)]);
    assert!(exchanges[1].response.contains("[DONE]") && exchanges[1].request.contains("\"model\":\"test-model\""));
    assert!(!format!("{steps:?} {exchanges:?}").contains("canary"));
    // The recorded response is read with the same result.
    let schema = request("x").schema;
    let body = exchanges[1].response.as_bytes();
    let (content_type, format) = ("text/event-stream", ReplyFormat::JsonSchema);
    let again = artoo_llm::remote::read_recorded(Protocol::Chat, content_type, body, None, format, &schema);
    assert_eq!(again.as_ref(), Ok(value(&reply)));
}

/// Of six calls to an endpoint that never answers, only the two that may run at the same time reach it.
#[doc = "holds: client C19"]
#[tokio::test]
async fn calls_beyond_the_limit_wait() {
    let server = FaultServer::start(vec![Act::Silence]).await;
    let shared = Shared::default();
    let config = RemoteConfig { parallel: 2, first_byte_timeout: Duration::from_secs(60), ..config(&server.url()) };
    let mut asks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        // Separate clients of one endpoint share its limit.
        let client = Remote::sharing(config.clone(), &shared).unwrap();
        asks.spawn(async move { client.ask(&request("x")).await });
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while server.seen().len() < 2 && std::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The other calls would arrive in this time if they had permits.
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(server.seen().len(), 2);
    asks.abort_all();
}

/// In each protocol, the part of the prompt that stays the same comes first, so that it can be cached.
#[test]
fn stable_part_of_a_prompt_comes_first() {
    use artoo_llm::request_body;
    use artoo_llm::structured::Dialect;
    let dialect = Dialect::full(ReplyFormat::JsonSchema);
    for protocol in Protocol::ALL {
        let parts = |user: &str| {
            let body = request_body(protocol, &request(user), "m", dialect);
            let (stable, varying) = match protocol {
                Protocol::Chat | Protocol::Ollama => (body["messages"][0].clone(), body["messages"][1].clone()),
                Protocol::Responses => (body["instructions"].clone(), body["input"].clone()),
                Protocol::Anthropic => (json!([body["tools"], body["system"]]), body["messages"].clone()),
            };
            (stable.to_string(), varying.to_string())
        };
        let (one, other) = (parts("first question"), parts("second question"));
        assert_eq!(one.0, other.0, "{protocol:?}");
        assert!(one.0.contains("You call tools.") && !one.1.contains("You call tools."), "{protocol:?}: {one:?}");
        assert!(one.1.contains("first question") && !one.0.contains("question"), "{protocol:?}: {one:?}");
    }
}
