//! Tests of retries: which faults are retried, how often, and the final error.

use std::time::{Duration, Instant};

use artoo_llm::{Model, Remote, RemoteConfig, Secret};
use serde_json::json;

use crate::fault_server::{Act, FaultServer};
use crate::{SOON, client, config, kind, request};

/// The response of a busy endpoint with this status.
fn busy(status: u16) -> Act {
    Act::json(status, &json!({"error": {"message": "busy"}}))
}

/// The client waits as long as the endpoint asks before it retries.
#[doc = "holds: fault L1"]
#[tokio::test]
async fn requested_wait_is_respected() {
    let server = FaultServer::start(vec![busy(429).with("retry-after", "1"), Act::answer("{\"tool\":\"ls\"}")]).await;
    let started = Instant::now();
    client(&server.url()).ask(&request("list")).await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.seen().len(), 2);
}

/// If the endpoint asks for too long a wait, the call ends.
#[doc = "holds: fault L1"]
#[tokio::test]
async fn too_long_requested_wait_ends_the_call() {
    let server = FaultServer::start(vec![busy(429).with("retry-after", "3600")]).await;
    let started = Instant::now();
    let failure = client(&server.url()).ask(&request("list")).await.unwrap_err();
    assert_eq!(kind(&failure), "overloaded 429");
    assert!(failure.to_string().contains("wait 3600 s"), "{failure}");
    assert_eq!(server.seen().len(), 1);
    assert!(started.elapsed() < SOON);
}

#[doc = "holds: fault L2, L3"]
#[tokio::test]
async fn busy_endpoint_is_tried_four_times() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let server = FaultServer::start(vec![busy(status)]).await;
        let failure = client(&server.url()).ask(&request("list")).await.unwrap_err();
        assert_eq!(kind(&failure), format!("overloaded {status}"));
        assert!(failure.to_string().contains("busy (after 4 tries)"), "{failure}");
        assert_eq!(server.seen().len(), 4, "{status}");
    }
}

/// If an endpoint recovers, a later try gets its answer.
#[doc = "holds: fault L3"]
#[tokio::test]
async fn recovered_endpoint_answers_a_later_try() {
    let server = FaultServer::start(vec![busy(500), busy(529), busy(503), Act::answer("{\"tool\":\"ls\"}")]).await;
    let (client, ledger) = crate::with_ledger(config(&server.url()));
    let reply = client.ask(&request("list")).await.unwrap();
    assert_eq!(reply.usage.model_calls, 1);
    assert_eq!((server.seen().len(), ledger.total().usage.model_calls), (4, 1));
}

/// An exhausted quota ends the call at once, unlike a rate limit.
#[doc = "holds: client C17"]
#[tokio::test]
async fn exhausted_quota_is_not_a_rate_limit() {
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let error = |message: &str, code: Option<&str>| json!({"error": {"message": message, "code": code}});
    for act in [
        Act::json(429, &error(words, Some("insufficient_quota"))).with("retry-after", "1"),
        Act::json(429, &error("no credit", Some("insufficient_quota"))),
        Act::json(429, &error(words, None)),
    ] {
        let server = FaultServer::start(vec![act]).await;
        let config = RemoteConfig { api_key: Some(Secret::new("x")), ..config(&server.url()) };
        let failure = Remote::new(config).unwrap().ask(&request("list")).await.unwrap_err();
        assert_eq!(kind(&failure), "rejected 429");
        assert!(failure.to_string().starts_with("your quota is used up (429): "), "{failure}");
        assert_eq!(failure.to_string().contains("exceeded"), !failure.to_string().contains("no credit"), "{failure}");
        assert_eq!(server.seen().len(), 1);
    }
    // The same message for a limit per minute, with a requested wait.
    let act = Act::json(429, &error(words, None)).with("retry-after-ms", "5");
    let in_words = Act::json(429, &error(&format!("{words} Please retry in 0.01s."), None));
    for act in [act, in_words, busy(429)] {
        let server = FaultServer::start(vec![act]).await;
        let failure = client(&server.url()).ask(&request("list")).await.unwrap_err();
        assert_eq!((kind(&failure).as_str(), server.seen().len()), ("overloaded 429", 4), "{failure}");
    }
}

/// Waits before retries count toward the call's deadline.
#[doc = "holds: fault L1"]
#[tokio::test]
async fn waits_count_toward_the_total_deadline() {
    let server = FaultServer::start(vec![busy(429).with("retry-after", "30")]).await;
    let config = RemoteConfig { total_deadline: Duration::from_millis(300), ..config(&server.url()) };
    let failure = Remote::new(config).unwrap().ask(&request("list")).await.unwrap_err();
    assert_eq!(kind(&failure), "timed out");
}
