//! Tests of the client: faults of an endpoint and the failures they cause, and answers with text around them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use artoo_llm::{Model, Protocol, Remote, RemoteConfig};
use artoo_proto::{ModelFailure, Usage};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::answers::{Ends, frames, stream_type};
use crate::fault_server::{Act, FaultServer};
use crate::{SOON, client, completion, config, dropped_when, kind, long_timeouts, request, until, value};

const CALL: &str = r#"{"tool":"ls"}"#;

/// Makes one call to a server that reacts by `act`; asserts the reply or kind of failure and the number of requests.
#[track_caller]
fn check(act: Act, expected: &str, requests: usize) -> impl Future<Output = String> {
    let caller = std::panic::Location::caller();
    let expected = expected.to_owned();
    async move {
        let shown = format!("{act:?}").chars().take(200).collect::<String>();
        let server = FaultServer::start(vec![act]).await;
        let outcome = client(&server.url()).ask(&request("list")).await;
        let (ended, text) = match &outcome {
            Ok(reply) => (value(reply).to_string(), String::new()),
            Err(failure) => (kind(failure), format!("{failure} {failure:?}")),
        };
        assert_eq!(ended, expected, "{caller}: {shown}: {outcome:?}");
        assert_eq!(server.seen().len(), requests, "{caller}: {shown}");
        text
    }
}

/// The test server's response: a complete answer whose first choice is altered by `change`.
fn with_choice(change: impl Fn(&mut Value)) -> Act {
    let mut body = completion(CALL);
    change(&mut body["choices"][0]);
    Act::json(200, &body)
}

/// A call sends one complete request and returns the value with its token usage.
#[tokio::test]
async fn answer_has_usage_and_request_is_complete() {
    let server = FaultServer::start(vec![Act::answer(CALL)]).await;
    let (client, ledger) = crate::with_ledger(config(&server.url()));
    let reply = client.ask(&request("list")).await.unwrap();
    assert_eq!(value(&reply), &json!({"tool": "ls"}));
    assert_eq!(reply.usage, Usage { model_calls: 1, prompt_tokens: 11, completion_tokens: 5 });
    assert_eq!(reply.model, "test-model-7b");
    assert_eq!((ledger.total().usage, ledger.total().cached_tokens), (reply.usage, 0));
    assert_eq!(server.seen().len(), 1);
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", seen.head);
    assert!(seen.head.contains(&format!("authorization: Bearer {}", crate::KEY)), "{}", seen.head);
    assert!(!seen.head.to_ascii_lowercase().contains("accept-encoding"), "{}", seen.head);
    assert_eq!(seen.body["response_format"]["json_schema"]["strict"], true);
}

/// A request that the endpoint refuses (status 4xx) is not repeated.
#[doc = "holds: fault L4"]
#[tokio::test]
async fn refused_requests_are_not_repeated() {
    for (status, expected) in [
        (400, "rejected 400"),
        (401, "unauthorized 401"),
        (402, "rejected 402"),
        (403, "unauthorized 403"),
        (404, "rejected 404"),
        (422, "rejected 422"),
        (501, "rejected 501"),
    ] {
        let body = json!({"error": {"message": "no such\u{1b}[2J model", "type": "invalid_request_error"}});
        let text = check(Act::json(status, &body), expected, 1).await;
        assert!(text.contains("no such") && !text.contains('\u{1b}'), "{text}");
    }
    check(Act::reply(400, ""), "rejected 400", 1).await;
    check(Act::reply(400, "<html>nginx</html>"), "rejected 400", 1).await;
    check(Act::reply(401, vec![0xff; 200_000]), "unauthorized 401", 1).await;
}

/// An endpoint that can't be reached is tried twice.
#[doc = "holds: fault L5"]
#[tokio::test]
async fn unreachable_host_is_tried_twice() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for base in [format!("http://127.0.0.1:{port}"), format!("http://{}.invalid", "a".repeat(70))] {
        let client = client(&base);
        let failure = client.ask(&request("list")).await.unwrap_err();
        assert_eq!(kind(&failure), "unreachable", "{failure:?}");
        assert!(failure.to_string().contains("after 2 tries"), "{failure}");
    }
    check(Act::Close, "unreachable", 2).await;
}

#[doc = "holds: fault L6"]
#[tokio::test]
async fn connect_timeout_ends_the_call() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // No connection is accepted: once the queue is full, handshakes get no answer.
    let mut queued = Vec::new();
    while let Ok(Ok(stream)) =
        tokio::time::timeout(Duration::from_millis(200), tokio::net::TcpStream::connect(address)).await
    {
        queued.push(stream);
    }
    let started = Instant::now();
    let failure = client(&format!("http://{address}")).ask(&request("list")).await.unwrap_err();
    assert_eq!(kind(&failure), "unreachable", "{failure:?}");
    assert!(failure.to_string().contains("connect timeout"), "{failure}");
    // The operating system would give up only after two minutes.
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

/// A server that sends nothing ends the call at the timeout for silence.
#[doc = "holds: fault L7"]
#[tokio::test]
async fn silence_ends_at_the_idle_timeouts() {
    for act in [Act::HeadThenSilence, Act::Silence] {
        let server = FaultServer::start(vec![act]).await;
        let config = RemoteConfig { total_deadline: SOON * 2, ..config(&server.url()) };
        let client = Remote::new(config).unwrap();
        let failure = tokio::time::timeout(SOON, client.ask(&request("list"))).await.unwrap().unwrap_err();
        assert_eq!((kind(&failure).as_str(), server.seen().len()), ("timed out", 1), "{failure:?}");
    }
}

/// The bytes of a response with status 200, this content type, and the body sent with its head.
fn head(kind: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// Once the response has begun, the wait for its content may last as long again as that for its first byte.
#[tokio::test]
async fn first_byte_timeout_restarts_after_the_head() {
    // Longer than the limit between two pieces, shorter than that for the first byte.
    let after = Duration::from_millis(900);
    let answers = async |protocol: Protocol, at_once: Vec<u8>, rest: Vec<u8>| {
        let server = FaultServer::start(vec![Act::Late { at_once, after, rest }]).await;
        let config = RemoteConfig { protocol, ..config(&server.url()) };
        let reply = Remote::new(config).unwrap().ask(&request("list")).await.unwrap();
        assert_eq!(value(&reply).to_string(), CALL, "{protocol:?}");
    };
    let text = |protocol| frames(protocol, CALL, Ends::ByItself).concat().into_bytes();
    answers(Protocol::Chat, head("application/json", ""), completion(CALL).to_string().into_bytes()).await;
    for protocol in [Protocol::Chat, Protocol::Responses, Protocol::Anthropic, Protocol::Ollama] {
        answers(protocol, head(stream_type(protocol), ""), text(protocol)).await;
    }
    // Keep-alive comments and the empty chunk with the role are not content.
    let role = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]});
    let lively = head("text/event-stream", &format!(": waiting\n\ndata: {role}\n\n"));
    answers(Protocol::Chat, lively, text(Protocol::Chat)).await;
}

/// After the first content, silence ends the call at the shorter timeout.
#[tokio::test]
async fn silence_after_content_ends_at_idle_timeout() {
    let piece = json!({"choices": [{"index": 0, "delta": {"content": "{"}}]});
    let error = "HTTP/1.1 400 X\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{".to_owned();
    for (bytes, expected) in [
        (head("text/event-stream", &format!("data: {piece}\n\n")), "timed out"),
        (head("application/json", "{"), "timed out"),
        (error.into_bytes(), "rejected 400"),
    ] {
        let server = FaultServer::start(vec![Act::RawThenSilence(bytes)]).await;
        let limit = Duration::from_secs(60);
        let config = RemoteConfig { first_byte_timeout: limit, total_deadline: limit, ..config(&server.url()) };
        let started = Instant::now();
        let failure = Remote::new(config).unwrap().ask(&request("list")).await.unwrap_err();
        assert_eq!(kind(&failure), expected);
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }
}

/// A response that comes slowly but steadily ends at the call's deadline.
#[doc = "holds: law 3.12; fault L8"]
#[tokio::test]
async fn slow_body_ends_at_the_total_deadline() {
    let body = completion(CALL).to_string().into_bytes();
    // The whole body would take minutes, and each pause is shorter than the idle timeout.
    assert!(body.len() > 200);
    let server = FaultServer::start(vec![Act::Drip { body, every: Duration::from_secs(1) }]).await;
    let config = RemoteConfig { total_deadline: Duration::from_millis(1700), ..long_timeouts(&server.url()) };
    let failure = Remote::new(config).unwrap().ask(&request("list")).await.unwrap_err();
    assert!(matches!(failure, ModelFailure::TimedOut { after_ms: 1700..60_000, .. }), "{failure:?}");
}

/// A body that ends early (the connection closes) is reported as a truncated answer.
#[doc = "holds: fault L9"]
#[tokio::test]
async fn early_end_of_body_is_truncation() {
    let body = completion(CALL).to_string().into_bytes();
    for sent in [0, 1, body.len() / 2, body.len() - 1] {
        check(Act::CutAt { body: body.clone(), sent }, "cut", 1).await;
    }
    let half = &body[..body.len() / 2];
    let mut without_length = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    without_length.extend_from_slice(half);
    check(Act::Raw(without_length), "cut", 1).await;
    check(Act::answer(r#"{"tool":"l"#), "cut", 1).await;
}

/// An answer without a finish reason, or with an unusual one, is reported as truncated.
#[doc = "holds: fault L10, L11"]
#[tokio::test]
async fn answer_without_end_is_reported_as_truncated() {
    check(with_choice(|choice| choice["finish_reason"] = Value::Null), "cut", 1).await;
    check(with_choice(|choice| _ = choice.as_object_mut().unwrap().remove("finish_reason")), "cut", 1).await;
    for finish in ["length", "content_filter", "error", "something new"] {
        check(with_choice(|choice| choice["finish_reason"] = finish.into()), "cut", 1).await;
    }
    check(with_choice(|choice| choice["finish_reason"] = "tool_calls".into()), "unreadable", 1).await;
    check(with_choice(|choice| choice["finish_reason"] = "eos_token".into()), CALL, 1).await;
}

#[doc = "holds: fault L12"]
#[tokio::test]
async fn answer_without_content_is_unreadable() {
    check(Act::reply(200, ""), "unreadable", 1).await;
    check(Act::reply(200, "null"), "unreadable", 1).await;
    check(Act::reply(200, "{}"), "unreadable", 1).await;
    check(Act::json(200, &json!({"choices": []})), "unreadable", 1).await;
    check(Act::json(200, &json!({"choices": null})), "unreadable", 1).await;
    check(Act::json(200, &json!({"choices": [{}]})), "cut", 1).await;
    check(with_choice(|choice| choice["message"]["content"] = Value::Null), "unreadable", 1).await;
    check(with_choice(|choice| choice["message"]["content"] = "  ".into()), "unreadable", 1).await;
    check(with_choice(|choice| choice["message"]["content"] = json!({"tool": "ls"})), "unreadable", 1).await;
    check(with_choice(|choice| choice["message"]["refusal"] = "I won't".into()), "unreadable", 1).await;
    check(Act::answer("I'm sorry, I can't."), "unreadable", 1).await;
}

#[doc = "holds: fault L13, L37"]
#[tokio::test]
async fn body_without_json_is_unreadable() {
    let page = "<!doctype html><title>Sign in</title>";
    check(Act::reply(200, page).with("content-type", "text/html"), "unreadable", 1).await;
    check(Act::reply(200, page), "unreadable", 1).await;
    check(Act::answer(CALL).with("content-type", "image/png"), "unreadable", 1).await;
    check(Act::answer(CALL).with("content-type", "text/event-stream"), "cut", 1).await;
    check(Act::answer(CALL).with("content-encoding", "gzip"), "unreadable", 1).await;
    check(Act::answer(CALL).with("content-type", "text/plain; charset=utf-8"), CALL, 1).await;
    check(Act::answer(CALL).with("content-type", "application/vnd.x+json"), CALL, 1).await;
    check(Act::Raw(b"220 mail.example ESMTP\r\n".to_vec()), "unreachable", 2).await;
    check(Act::json(200, &json!({"error": {"message": "upstream", "code": 401}})), "unauthorized 401", 1).await;
    check(Act::json(200, &json!({"error": {"message": "upstream", "code": "odd"}})), "unreadable", 1).await;
}

#[doc = "holds: fault L14"]
#[tokio::test]
async fn invalid_utf8_body_is_unreadable() {
    let body = completion(CALL).to_string();
    check(Act::reply(200, body.replace("ls", "\u{fffd}").into_bytes()), "{\"tool\":\"\u{fffd}\"}", 1).await;
    let invalid: Vec<u8> = body.bytes().map(|byte| if byte == b'l' { 0xff } else { byte }).collect();
    check(Act::reply(200, invalid), "unreadable", 1).await;
    check(Act::reply(200, format!("\u{feff}{body}")), CALL, 1).await;
    check(Act::reply(200, body.replace("ls", "l\0s")), "unreadable", 1).await;
    check(Act::answer(&format!("\u{feff}{CALL}")), CALL, 1).await;
}

/// Of an answer with several JSON objects and text around them, the fitting object is read.
#[doc = "holds: fault L15, L16"]
#[tokio::test]
async fn text_around_several_objects_is_ignored() {
    check(Act::answer(&format!("Tool call:\n```json\n{CALL}\n```\nDone.")), CALL, 1).await;
    check(Act::answer(&format!("<think>{{\"tool\":\"rm\"}}</think>{CALL}")), CALL, 1).await;
    check(Act::answer(&format!("{CALL}\n{{\"tool\":\"rm\"}}")), CALL, 1).await;
    let parts = json!([{"type": "thinking", "thinking": "{\"tool\":\"rm\"}"}, {"type": "text", "text": CALL}]);
    check(with_choice(|choice| choice["message"]["content"] = parts.clone()), CALL, 1).await;
}

/// Answers with malformed JSON or values that the schema forbids are unreadable.
#[doc = "holds: fault L17"]
#[tokio::test]
async fn unexpected_values_are_unreadable() {
    for content in [
        r#"{"tool":"ls",}"#,
        r#"{"tool":"ls","tool":"rm"}"#,
        r#"{"tool":1e400}"#,
        r#"{"tool":99999999999999999999}"#,
        r#"{"tool":7}"#,
        r#"{"tool":"ls","sudo":true}"#,
        r#"{"name":"ls"}"#,
        &format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)),
    ] {
        check(Act::answer(content), "unreadable", 1).await;
    }
    let body = completion(CALL).to_string();
    let twice = body.replacen("\"choices\":", "\"choices\":[],\"choices\":", 1);
    check(Act::reply(200, twice), "unreadable", 1).await;
    check(Act::reply(200, format!("{}{}", "[".repeat(200_000), "]".repeat(200_000))), "unreadable", 1).await;
    check(Act::reply(200, body.replace("\"completion_tokens\":5", "\"completion_tokens\":-5e3")), CALL, 1).await;
}

/// A response body without end is cut off at the size limit.
#[doc = "holds: law 3.13; fault L21"]
#[tokio::test]
async fn endless_body_ends_at_the_size_limit() {
    let server = FaultServer::start(vec![Act::Flood(100 << 20)]).await;
    let failure = Remote::new(long_timeouts(&server.url())).unwrap().ask(&request("list")).await.unwrap_err();
    let text = failure.to_string();
    assert!(kind(&failure) == "unreadable" && text.contains("larger than 4194304 bytes"), "{text}");
    until("the rest of the flood is refused", || server.left.load(Ordering::SeqCst) == 1).await;
    check(Act::reply(503, vec![b'x'; 1 << 20]), "overloaded 503", 4).await;
}

#[doc = "holds: fault L37"]
#[tokio::test]
async fn redirect_is_refused_without_sending_the_key() {
    let other = FaultServer::start(vec![Act::answer(CALL)]).await;
    for status in [301, 302, 303, 307, 308] {
        let act = Act::reply(status, "").with("location", &other.url());
        let text = check(act, &format!("rejected {status}"), 1).await;
        assert!(text.contains("redirects are not followed"), "{text}");
    }
    assert!(other.seen().is_empty());
}

/// Dropping a call closes its connection.
#[doc = "holds: fault L38"]
#[tokio::test]
async fn dropped_call_closes_its_connection() {
    let server = FaultServer::start(vec![Act::Silence]).await;
    let client = Remote::new(long_timeouts(&server.url())).unwrap();
    let asked = request("list");
    dropped_when(client.ask(&asked), "the request is there", || server.seen().len() == 1).await;
    until("the connection is closed", || server.left.load(Ordering::SeqCst) == 1).await;
}

#[doc = "holds: client C19"]
#[tokio::test]
async fn concurrent_calls_share_one_client() {
    let server = FaultServer::start(vec![Act::answer(CALL)]).await;
    let (client, ledger) = crate::with_ledger(long_timeouts(&server.url()));
    let client = Arc::new(client);
    let asks: Vec<_> = (0..128)
        .map(|n| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.ask(&request(&n.to_string())).await })
        })
        .collect();
    for ask in asks {
        assert!(ask.await.unwrap().is_ok());
    }
    assert_eq!(ledger.total().usage.model_calls, 128);
}
