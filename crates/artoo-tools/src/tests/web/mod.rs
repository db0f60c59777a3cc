//! `search` against real servers on loopback.

mod engines;
mod pages;
mod server;

use artoo_proto::{CallStatus, ConsentScope, ToolCall, ToolOrder, ToolOutcome};
use serde_json::json;

use self::server::Server;
use super::{Fixture, called};
use crate::Registry;
use crate::web::{Engine, WebConfig};

/// A fixture with these search engines, in which the host `site.test` resolves to the test server.
fn fixture(engines: Vec<Engine>, server: &Server) -> Fixture {
    let loopback = [("site.test".to_owned(), server.address)].into();
    Fixture::with(|config| config.web = WebConfig { engines, loopback })
}

/// A fixture with one engine that the user chose: SearXNG on the server.
fn with_searxng(server: &Server) -> Fixture {
    fixture(vec![Engine::searxng(&server.url("/")).unwrap()], server)
}

/// The order of a call of the tool `search`.
fn context(input: serde_json::Value) -> ToolOrder {
    Fixture::context("search", input)
}

/// The record of a `search` call that needs no approval, since its words are in the user's request `said`.
async fn call_without_approval(fixture: &Fixture, input: serde_json::Value, said: &str) -> ToolCall {
    called(fixture.outcome_for(&context(input), said, None).await)
}

/// The record of a `search` call; its question is approved if there is one.
async fn allowed(fixture: &Fixture, input: serde_json::Value) -> ToolCall {
    let context = context(input);
    match fixture.outcome(&context, None).await {
        ToolOutcome::NeedsConsent { hash, .. } => {
            called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await)
        }
        ToolOutcome::Called { call } => call,
    }
}

/// The tool `search` is offered only if a search engine is configured.
#[doc = "holds: design D14"]
#[test]
fn search_needs_a_configured_engine() {
    let names = |registry: &Registry| registry.specs().into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert!(!names(&Fixture::new().registry).contains(&"search".to_owned()));
    let server = Server::start(vec![]);
    assert!(names(&with_searxng(&server).registry).contains(&"search".to_owned()));
}

/// Each invalid input of `search` is refused with an error that says what is wrong, and nothing is sent.
#[tokio::test]
async fn invalid_search_inputs_are_refused_by_field() {
    let server = Server::start(vec![]);
    let fixture = with_searxng(&server);
    let check = async |input: serde_json::Value, status: CallStatus, expected: &str| {
        let call = call_without_approval(&fixture, input.clone(), "").await;
        assert_eq!(call.status, status, "{input}: {call:?}");
        assert!(call.output.contains(expected), "{input}: {call:?}");
    };
    check(json!({}), CallStatus::Failed, "give query").await;
    check(json!({"query": "a", "url": "http://a"}), CallStatus::Failed, "give query").await;
    check(json!({"query": "a", "from": 1}), CallStatus::Failed, "give query").await;
    check(json!({"query": " - ! "}), CallStatus::Failed, "no words").await;
    check(json!({"query": "a\u{202e}b"}), CallStatus::Failed, "invisible").await;
    check(json!({"query": "a", "engine": "x"}), CallStatus::Failed, "engine").await;
    check(json!({"query": "a".repeat(401)}), CallStatus::Failed, "query").await;
    check(json!({"url": "no address"}), CallStatus::Failed, "url").await;
    check(json!({"url": "file:///etc/passwd"}), CallStatus::Denied, "only http and https").await;
    check(json!({"url": "http://169.254.169.254/latest"}), CallStatus::Denied, "no public address").await;
    check(json!({"url": "http://2130706433/"}), CallStatus::Denied, "no public address").await;
    assert_eq!(server.asked().len(), 0);
}
