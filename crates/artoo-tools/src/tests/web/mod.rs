//! `search` against real servers on loopback.

mod engines;
mod pages;
mod server;

use artoo_proto::{CallStatus, ConsentScope, ToolCall, ToolOrder, ToolOutcome};
use serde_json::json;

use self::server::Server;
use super::{House, called};
use crate::Registry;
use crate::web::{Engine, WebConfig};

/// A house whose engines are given, and in which `site.test` is the server.
fn house(engines: Vec<Engine>, server: &Server) -> House {
    let loopback = [("site.test".to_owned(), server.address)].into();
    House::with(|config| config.web = WebConfig { engines, loopback })
}

/// A house with one engine that a person chose: SearXNG on the server.
fn with_searxng(server: &Server) -> House {
    house(vec![Engine::searxng(&server.url("/")).unwrap()], server)
}

fn context(input: serde_json::Value) -> ToolOrder {
    House::context("search", input)
}

/// A call the person's own words allow.
async fn unasked(house: &House, input: serde_json::Value, said: &str) -> ToolCall {
    called(house.outcome_for(&context(input), said, None).await)
}

/// A call after a yes.
async fn allowed(house: &House, input: serde_json::Value) -> ToolCall {
    let context = context(input);
    match house.outcome(&context, None).await {
        ToolOutcome::NeedsConsent { hash, .. } => {
            called(house.outcome(&context, Some(house.registry.grant(&hash, ConsentScope::Once))).await)
        }
        ToolOutcome::Called { call } => call,
    }
}

#[doc = "holds: design D14"]
#[test]
fn without_an_engine_there_is_no_search() {
    let names = |registry: &Registry| registry.specs().into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert!(!names(&House::new().registry).contains(&"search".to_owned()));
    let server = Server::start(vec![]);
    assert!(names(&with_searxng(&server).registry).contains(&"search".to_owned()));
}

#[tokio::test]
async fn invalid_search_inputs_are_refused_by_field() {
    let server = Server::start(vec![]);
    let house = with_searxng(&server);
    let check = async |input: serde_json::Value, status: CallStatus, expected: &str| {
        let call = unasked(&house, input.clone(), "").await;
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
