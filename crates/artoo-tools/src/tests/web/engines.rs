//! Searching: which queries are sent without approval, what each engine's answer means, and the order of engines.

use artoo_proto::{CallStatus, ToolOutcome};
use serde_json::json;

use super::server::{Reply, Server, html, json as as_json, to};
use super::{allowed, call_without_approval, context, fixture, with_searxng};
use crate::web::Engine;

const SEARXNG: &str = r#"{"query":"x","results":[
    {"url":"https://one.example/a","title":"One  \u001b[31mred","content":"first\nline"},
    {"url":"javascript:alert(1)","title":"no address"},
    {"url":"https://two.example/","title":"Two","content":null}],"unresponsive_engines":[]}"#;

const DUCK: &str = r#"<html><body><div class="result results_links"><h2>
    <a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Fb%3D1&amp;rut=9">One &amp; <b>more</b></a></h2>
    <a class="result__snippet" href="x">A <b>snippet</b> of it</a></div>
    <div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Buy</a></div>
    </body></html>"#;

/// A query needs approval only if it has words that are not in the user's request.
#[doc = "holds: law 1.22"]
#[tokio::test]
async fn only_foreign_query_words_need_approval() {
    let server = Server::start(vec![("/search", as_json(SEARXNG))]);
    let fixture = with_searxng(&server);
    let said = "what is the population of Lisbon?";
    let call = call_without_approval(&fixture, json!({"query": "population of lisbon"}), said).await;
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    let expected = "1. One \\u{1b}[31mred\n   https://one.example/a\n   first line\n2. Two\n   https://two.example/\n\
                    [SearXNG at 127.0.0.1 on \"population of lisbon\": 2 results]";
    assert_eq!(call.output, expected);
    assert_eq!(server.asked().len(), 1);
    assert!(server.asked()[0].starts_with("GET /search?q=population+of+lisbon&format=json "), "{:?}", server.asked());
    let head = server.asked()[0].to_ascii_lowercase();
    assert!(head.contains("user-agent: artoo/") && !head.contains("cookie") && !head.contains("referer"), "{head}");

    let leaking = context(json!({"query": "population of lisbon hunter2"}));
    let ToolOutcome::NeedsConsent { shown, effects, reason, .. } = fixture.outcome_for(&leaking, said, None).await
    else {
        panic!("a word from elsewhere left unasked");
    };
    assert_eq!(shown, "search: population of lisbon hunter2");
    assert_eq!(effects.first().unwrap(), "sends these words to SearXNG at 127.0.0.1");
    assert!(reason.contains("not your own"), "{reason}");
    assert_eq!(server.asked().len(), 1, "nothing was sent");
    let call = allowed(&fixture, json!({"query": "hunter2"})).await;
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
}

/// A query to the fallback engine, which the user did not choose, needs approval whatever its words are.
#[doc = "holds: law 1.22"]
#[tokio::test]
async fn fallback_engine_always_needs_approval() {
    let server = Server::start(vec![("/html/", html(DUCK))]);
    let duck = || Engine::duckduckgo(false).unwrap().at(&format!("http://site.test:{}/html/", server.address.port()));
    let fixture = fixture(vec![Engine::searxng(&server.url("/")).unwrap(), duck()], &server);
    let own = context(json!({"query": "lisbon"}));
    let ToolOutcome::NeedsConsent { effects, reason, .. } = fixture.outcome_for(&own, "lisbon", None).await else {
        panic!("unasked")
    };
    assert!(reason.contains("have not chosen"), "{reason}");
    assert_eq!(
        effects.first().unwrap(),
        "sends these words to SearXNG at 127.0.0.1, and if that gives no answer DuckDuckGo"
    );
    assert_eq!(server.asked().len(), 0);
}

/// Decision D7: an empty list counts as an answer only if the engine says that it searched. A captcha page, an
/// unreachable engine and an answer that can't be parsed are failures.
#[doc = "holds: law 0.10; design D7"]
#[tokio::test]
async fn empty_answers_differ_from_failed_ones() {
    let check = async |engine: &str, reply: Reply, status: CallStatus, expected: &str| {
        let server = Server::start(vec![("/search", reply.clone()), ("/", reply)]);
        let site = format!("http://site.test:{}/", server.address.port());
        let engine = match engine {
            "searxng" => Engine::searxng(&server.url("/")).unwrap(),
            "brave" => Engine::brave("k").unwrap().at(&site),
            "google" => Engine::google("k", "c").unwrap().at(&site),
            _ => Engine::duckduckgo(true).unwrap().at(&site),
        };
        let call = call_without_approval(&fixture(vec![engine], &server), json!({"query": "word"}), "word").await;
        assert_eq!(call.status, status, "{call:?}");
        assert_eq!(call.environmental, status != CallStatus::Ok, "{call:?}");
        assert!(call.output.contains(expected), "{expected}: {call:?}");
    };
    let (ok, failed) = (CallStatus::Ok, CallStatus::Failed);
    let status = |status| Reply::Plain(status, vec![], b"{}".to_vec());
    check("searxng", as_json(r#"{"results":[]}"#), ok, "it looked and found nothing").await;
    check("searxng", as_json(r#"{"results":[],"unresponsive_engines":[["bing","timeout"]]}"#), failed, "bing").await;
    check("searxng", as_json("{}"), failed, "could not be read").await;
    check("searxng", html("<p>please"), failed, "could not be read").await;
    check("searxng", status("403 Forbidden"), failed, "status 403").await;
    check("searxng", status("429 Too Many Requests"), failed, "no more questions").await;
    check("searxng", to("http://site.test/"), failed, "status 302").await;
    check("brave", as_json(r#"{"type":"search","web":{"results":[]}}"#), ok, "found nothing").await;
    check("brave", as_json(r#"{"type":"search"}"#), ok, "found nothing").await;
    check("brave", as_json(r#"{"type":"ErrorResponse"}"#), failed, "ErrorResponse").await;
    let one = r#"{"type":"search","web":{"results":[{"url":"https://a.example","title":"<b>A</b> &amp; B"}]}}"#;
    check("brave", as_json(one), ok, "1. A & B\n   https://a.example/\n[Brave on").await;
    check("google", as_json(r#"{"searchInformation":{"totalResults":"0"}}"#), ok, "found nothing").await;
    check("google", as_json(r#"{"kind":"customsearch#search"}"#), failed, "does not say that there are none").await;
    let one = r#"{"items":[{"link":"https://a.example/","title":"A","snippet":"s"}]}"#;
    check("google", as_json(one), ok, "1. A\n   https://a.example/\n   s\n[Google on").await;
    check("duck", html(DUCK), ok, "1. One & more\n   https://one.example/a?b=1\n   A snippet of it\n[Duck").await;
    check("duck", html(r#"<div class="no-results">No results.</div>"#), ok, "found nothing").await;
    check("duck", html("<html><body>hello</body></html>"), failed, "does not say that there are none").await;
    let modal = r#"<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>"#;
    check("duck", html(modal), failed, "proof of a person").await;
    let captcha = Reply::Plain("202 Accepted", vec![], b"<p>Please confirm this search was made by a human".to_vec());
    check("duck", captcha, failed, "proof of a person").await;
}

/// If one search engine fails, the next one is asked.
#[doc = "holds: law 0.10; design D15"]
#[tokio::test]
async fn next_engine_is_asked_after_failure() {
    let down = Server::start(vec![("/search", Reply::Plain("503 Busy", vec![], vec![]))]);
    let up = Server::start(vec![("/", as_json(r#"{"type":"search","web":{"results":[]}}"#))]);
    let site = format!("http://site.test:{}/", up.address.port());
    let searxng = || Engine::searxng(&down.url("/")).unwrap();
    let brave = || Engine::brave("secret-key").unwrap().at(&site);
    let call = call_without_approval(&fixture(vec![searxng(), brave()], &up), json!({"query": "word"}), "word").await;
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert!(
        call.output.contains("[Brave on \"word\": it looked and found nothing; no answer from SearXNG"),
        "{call:?}"
    );
    assert_eq!((down.asked().len(), up.asked().len()), (1, 1), "an empty answer counts: no other engine is asked");
    let call = call_without_approval(&fixture(vec![brave(), searxng()], &up), json!({"query": "word"}), "word").await;
    assert_eq!((call.status, down.asked().len()), (CallStatus::Ok, 1), "{call:?}");
    let call = call_without_approval(&fixture(vec![searxng()], &up), json!({"query": "word"}), "word").await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert!(call.output.contains("nothing is known of what there is"), "{call:?}");
}

/// The key of a search engine is sent in a header only, and is in no URL, record or error, whatever the server answers.
#[doc = "holds: design H7"]
#[tokio::test]
async fn keys_are_not_in_urls_or_errors() {
    for status in ["200 OK", "401 Unauthorized", "500 Oops"] {
        let echo = Reply::Plain(status, vec![], b"your key canary-4f9a is bad".to_vec());
        let server = Server::start(vec![("/", echo)]);
        let site = format!("http://site.test:{}/", server.address.port());
        let engines = [Engine::brave("canary-4f9a").unwrap(), Engine::google("canary-4f9a", "cx1").unwrap()];
        let fixture = fixture(engines.map(|engine| engine.at(&site)).to_vec(), &server);
        let call = call_without_approval(&fixture, json!({"query": "word"}), "word").await;
        assert!(!format!("{call:?} {:?} {:?}", fixture.registry, fixture.config).contains("canary"), "{call:?}");
        let asked = server.asked();
        assert!(asked[0].contains("x-subscription-token: canary-4f9a"), "{asked:?}");
        assert!(asked[1].contains("x-goog-api-key: canary-4f9a"), "{asked:?}");
        assert!(asked.iter().all(|head| !head.lines().next().unwrap().contains("canary")), "{asked:?}");
    }
    assert!(Engine::brave(" \n").is_err() && Engine::google("a b", "c").is_err());
}

/// The URL of a SearXNG instance must be http(s), without password or query; the error does not show a password.
#[test]
fn instance_urls_are_checked() {
    let check = |url: &str, expected: bool| assert_eq!(Engine::searxng(url).is_ok(), expected, "{url}");
    check("http://localhost:8888", true);
    check("https://searx.example/sub", true);
    for refused in ["searx.example", "ftp://searx.example", "https://a:b@searx.example", "https://searx.example/?a=b"] {
        check(refused, false);
    }
    let told = Engine::searxng("https://me:hunter2@searx.example").unwrap_err().to_string();
    assert!(!told.contains("hunter2"), "{told}");
}
