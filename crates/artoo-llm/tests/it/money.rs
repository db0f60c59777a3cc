//! Tests of budgets: they are checked before each call, and all spending is recorded.

use std::sync::Arc;
use std::time::Duration;

use artoo_llm::ledger::{Account, Budget, DollarsShown, Ledger, Price};
use artoo_llm::{Model, Protocol, Remote, RemoteConfig, Shared};
use artoo_proto::{ModelFailure, Role, Usage};

use crate::answers::{Ends, frames, whole_answer};
use crate::fault_server::{Act, FaultServer};
use crate::{config, dropped_when, kind, long_timeouts, request};

const CALL: &str = r#"{"tool":"ls"}"#;
const PRICE: Price = Price { prompt: 3.0, cached: 0.3, written: 3.75, completion: 15.0 };

/// A client with this budget and a price, and its ledger.
fn client(url: &str, budget: Budget) -> (Remote, Arc<Ledger>) {
    let ledger = Arc::new(Ledger::new(budget));
    let shared = Shared { ledger: Arc::clone(&ledger), ..Shared::default() };
    let config = RemoteConfig { price: Some(PRICE), ..long_timeouts(url) };
    (Remote::sharing(config, &shared).unwrap(), ledger)
}

/// A budget of at most this many tokens, without a limit on money.
fn tokens(most: u64) -> Budget {
    Budget { max_tokens: Some(most), max_cost: None }
}

/// The ledger records a call's tokens and cost by task, role and model.
#[tokio::test]
async fn call_is_recorded_by_task_and_role() {
    let server = FaultServer::start(vec![Act::json(200, &whole_answer(Protocol::Chat, CALL, Ends::ByItself))]).await;
    let (client, ledger) = client(&server.url(), Budget::default());
    client.ask(&request("list")).await.unwrap();
    let usage = Usage { model_calls: 1, prompt_tokens: 11, completion_tokens: 5 };
    // 8 uncached tokens at 3, 3 cached ones at 0.3, 5 completion tokens at 15 micro-dollars, rounded up.
    let expected = Account { usage, cached_tokens: 3, cost: 100, unpriced_calls: 0, time_ms: 0 };
    let accounts = ledger.accounts();
    let (spender, account) = accounts.first_key_value().unwrap();
    assert!(spender.task_id.as_str().starts_with("list-"), "{spender:?}");
    assert_eq!((spender.role, spender.model.as_str()), (Role::Executor, "test-model"));
    assert_eq!(ledger.answered_as()["test-model"].iter().next().unwrap(), "m-7b");
    assert_eq!(Account { time_ms: 0, ..*account }, expected);
    assert_eq!(Account { time_ms: 0, ..ledger.total() }, expected);
}

#[doc = "holds: law 3.6"]
#[tokio::test]
async fn calls_cannot_exceed_the_budget() {
    let server = FaultServer::start(vec![Act::json(200, &whole_answer(Protocol::Chat, CALL, Ends::ByItself))]).await;
    // A call may take its prompt and 256 tokens; each takes 16.
    let (client, ledger) = client(&server.url(), tokens(320));
    let mut made = 0;
    let failure = loop {
        match client.ask(&request("list")).await {
            Ok(_) => made += 1,
            Err(failure) => break failure,
        }
    };
    assert!(matches!(&failure, ModelFailure::OverBudget { detail } if detail.contains("of 320 tokens")), "{failure}");
    assert_eq!((server.seen().len(), made), (made, 3));
    assert!(ledger.total().usage.prompt_tokens + ledger.total().usage.completion_tokens <= 320);
    assert_eq!(failure.usage(), Usage::default());
}

#[doc = "holds: law 3.6"]
#[tokio::test]
async fn concurrent_calls_respect_the_budget() {
    let act = Act::Drip {
        body: whole_answer(Protocol::Chat, CALL, Ends::ByItself).to_string().into(),
        every: Duration::from_millis(1),
    };
    let server = FaultServer::start(vec![act]).await;
    let (client, ledger) = client(&server.url(), tokens(900));
    let client = Arc::new(client);
    let calls: Vec<_> = (0..12)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.ask(&request("list")).await })
        })
        .collect();
    let mut refused = 0;
    for call in calls {
        refused += usize::from(matches!(call.await.unwrap(), Err(ModelFailure::OverBudget { .. })));
    }
    // Three calls may take 900 tokens together: reservations of running calls count in full.
    assert_eq!((server.seen().len(), refused), (3, 9));
    assert!(ledger.total().usage.prompt_tokens + ledger.total().usage.completion_tokens <= 900);
}

/// A limit on money is kept, and refuses calls of a model without a price.
#[doc = "holds: law 3.6"]
#[tokio::test]
async fn money_budget_holds_and_needs_a_price() {
    let server = FaultServer::start(vec![Act::json(200, &whole_answer(Protocol::Chat, CALL, Ends::ByItself))]).await;
    let budget = Budget { max_tokens: None, max_cost: Some(3_000) };
    let (priced, _) = client(&server.url(), budget);
    let failure = priced.ask(&request("list")).await.unwrap_err();
    assert!(matches!(&failure, ModelFailure::OverBudget { detail } if detail.contains("$0.0030")), "{failure}");
    let shared = Shared { ledger: Arc::new(Ledger::new(budget)), ..Shared::default() };
    let unpriced = Remote::sharing(config(&server.url()), &shared).unwrap();
    let failure = unpriced.ask(&request("list")).await.unwrap_err();
    assert!(matches!(&failure, ModelFailure::OverBudget { detail } if detail.contains("no price")), "{failure}");
    assert!(server.seen().is_empty());
}

/// A call that fails after it was answered still counts its tokens.
#[doc = "holds: law 3.6"]
#[tokio::test]
async fn failed_call_reports_its_usage() {
    let chat = Protocol::Chat;
    let cut = Act::json(200, &whole_answer(chat, CALL, Ends::AtTheLimit));
    let words = Act::json(200, &whole_answer(chat, "I can't.", Ends::ByItself));
    for (act, expected) in [(cut, "cut"), (words, "unreadable")] {
        let server = FaultServer::start(vec![act]).await;
        let (client, ledger) = client(&server.url(), Budget::default());
        let failure = client.ask(&request("list")).await.unwrap_err();
        let usage = Usage { model_calls: 1, prompt_tokens: 11, completion_tokens: 5 };
        assert_eq!((kind(&failure).as_str(), failure.usage()), (expected, usage));
        assert_eq!(ledger.total().usage, usage);
    }
    // A truncated stream has no token counts, so the cost of the received part is estimated.
    let half = frames(chat, CALL, Ends::ByItself)[..4].concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = FaultServer::start(vec![Act::Raw(format!("{head}{half}").into_bytes())]).await;
    let (client, _) = client(&server.url(), Budget::default());
    let usage = client.ask(&request("list")).await.unwrap_err().usage();
    assert!(usage.prompt_tokens > 0 && usage.completion_tokens > 0, "{usage:?}");
}

/// A call that the endpoint refused costs nothing; a call dropped by the client costs its prompt.
#[tokio::test]
async fn refused_call_is_free_dropped_costs_prompt() {
    let refuses = FaultServer::start(vec![Act::json(401, &serde_json::json!({"error": "no"}))]).await;
    let (client_a, ledger) = client(&refuses.url(), Budget::default());
    client_a.ask(&request("list")).await.unwrap_err();
    assert_eq!(ledger.total().usage, Usage::default());
    let silent = FaultServer::start(vec![Act::Silence]).await;
    let (client_b, ledger) = client(&silent.url(), Budget::default());
    let asked = request("list");
    dropped_when(client_b.ask(&asked), "the request is there", || silent.seen().len() == 1).await;
    let usage = ledger.total().usage;
    assert!(usage.model_calls == 1 && usage.prompt_tokens > 0 && usage.completion_tokens == 0, "{usage:?}");
}

/// The test server's answer in a protocol with these token counts.
fn answer_with(protocol: Protocol, usage: &serde_json::Value) -> Act {
    let mut body = whole_answer(protocol, CALL, Ends::ByItself);
    match protocol {
        Protocol::Chat | Protocol::Responses | Protocol::Anthropic => body["usage"] = usage.clone(),
        Protocol::Ollama => {
            for (name, count) in usage.as_object().unwrap() {
                body[name] = count.clone();
            }
        }
    }
    Act::json(200, &body)
}

/// Tokens read from and written into a cache are priced right in every protocol.
#[doc = "holds: law 3.7"]
#[tokio::test]
async fn cached_tokens_are_priced_in_every_protocol() {
    use serde_json::json;
    // Prompt tokens at 3, read from the cache at 0.3, written into it at 3.75, completion tokens at 15 micro-dollars.
    let check = async |protocol: Protocol, counts: serde_json::Value, sent: u64, cached_tokens: u64, cost: u64| {
        let server = FaultServer::start(vec![answer_with(protocol, &counts)]).await;
        let ledger = Arc::new(Ledger::default());
        let shared = Shared { ledger: Arc::clone(&ledger), ..Shared::default() };
        let base = server.url().replace("/v1", "");
        let config = RemoteConfig { price: Some(PRICE), protocol, ..config(&base) };
        Remote::sharing(config, &shared).unwrap().ask(&request("list")).await.unwrap();
        let usage = Usage { model_calls: 1, prompt_tokens: sent, completion_tokens: 10 };
        let expected = Account { usage, cached_tokens, cost, unpriced_calls: 0, time_ms: 0 };
        assert_eq!(Account { time_ms: 0, ..ledger.total() }, expected, "{protocol:?} {counts}");
    };
    let chat = |cached| json!({"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": cached});
    check(Protocol::Chat, chat(json!({"cached_tokens": 40})), 100, 40, 60 * 3 + 12 + 150).await;
    check(Protocol::Chat, chat(json!(null)), 100, 0, 450).await;
    // The fields of DeepSeek, then of Moonshot.
    let hit = json!({"prompt_tokens": 100, "completion_tokens": 10, "prompt_cache_hit_tokens": 100,
        "prompt_cache_miss_tokens": 0});
    check(Protocol::Chat, hit, 100, 100, 30 + 150).await;
    check(Protocol::Chat, json!({"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 10}), 100, 10, 423)
        .await;
    // A cached count above the prompt count lowers the cost no further.
    check(Protocol::Chat, chat(json!({"cached_tokens": 4_000})), 100, 100, 180).await;
    let responses = json!({"input_tokens": 100, "output_tokens": 10, "input_tokens_details": {"cached_tokens": 50}});
    check(Protocol::Responses, responses, 100, 50, 150 + 15 + 150).await;
    // Anthropic's prompt count excludes cached tokens.
    let anthropic = |read: u64, written: u64| {
        json!({"input_tokens": 20, "output_tokens": 10, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written})
    };
    check(Protocol::Anthropic, anthropic(80, 0), 100, 80, 60 + 24 + 150).await;
    check(Protocol::Anthropic, anthropic(0, 80), 100, 0, 60 + 300 + 150).await;
    check(Protocol::Anthropic, anthropic(40, 40), 100, 40, 60 + 12 + 150 + 150).await;
    check(Protocol::Ollama, json!({"prompt_eval_count": 100, "eval_count": 10}), 100, 0, 450).await;
}

/// Before a call, the budget assumes the dearest kind of tokens.
#[doc = "holds: law 3.6"]
#[tokio::test]
async fn budget_assumes_the_most_expensive_tokens() {
    let server = FaultServer::start(vec![Act::json(200, &whole_answer(Protocol::Chat, CALL, Ends::ByItself))]).await;
    let asked = request("list");
    let sent = artoo_llm::usage::prompt_tokens(&asked);
    let most = Usage { model_calls: 1, prompt_tokens: sent, completion_tokens: u64::from(asked.max_tokens) };
    for (spare, is_made) in [(0, true), (1, false)] {
        let budget = Budget { max_tokens: None, max_cost: Some(PRICE.most(most) - spare) };
        let (client, _) = client(&server.url(), budget);
        assert_eq!(client.ask(&asked).await.is_ok(), is_made, "{spare}");
    }
    assert_eq!(PRICE.most(most), (3.75 * sent as f64 + 15.0 * 256.0).ceil() as u64);
    assert_eq!(PRICE.least(most), (0.3 * sent as f64 + 15.0 * 256.0).ceil() as u64);
}

#[test]
fn small_amounts_are_not_shown_as_zero() {
    let check = |micro: u64, expected: &str| assert_eq!(DollarsShown(micro).to_string(), expected, "{micro}");
    check(0, "0.0000");
    check(1, "0.000001");
    check(712, "0.000712");
    check(700, "0.0007");
    check(9_999, "0.009999");
    check(10_001, "0.0101");
    check(999_901, "1.0000");
    check(1_234_567, "1.2346");
    check(25_000_000, "25.0000");
}

/// A call without any answer counts the tokens of its prompt.
#[tokio::test]
async fn silent_endpoint_is_charged_for_its_prompt() {
    let server = FaultServer::start(vec![Act::Silence]).await;
    let first_byte_timeout = Duration::from_millis(200);
    let (client, ledger) = crate::with_ledger(RemoteConfig { first_byte_timeout, ..config(&server.url()) });
    let failure = client.ask(&request("list")).await.unwrap_err();
    assert_eq!(kind(&failure), "timed out");
    let spent = ledger.total().usage;
    let sent = artoo_llm::usage::prompt_tokens(&request("list"));
    assert_eq!(spent.model_calls, 1);
    assert!(spent.prompt_tokens >= sent && spent.completion_tokens == 0, "{spent:?}");
}
