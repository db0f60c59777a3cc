//! Bounds hold before a call is made, and everything that was paid for stands in the book.

use std::sync::Arc;
use std::time::Duration;

use artoo_llm::ledger::{Account, Budget, Ledger, Price};
use artoo_llm::{Model, Protocol, Remote, RemoteConfig, Shared};
use artoo_proto::{ModelFailure, Role, Usage};

use crate::fault_server::{Act, FaultServer};
use crate::speech::{Ends, frames, whole};
use crate::{config, kind, request};

const CALL: &str = r#"{"tool":"ls"}"#;
const PRICE: Price = Price { prompt: 3.0, cached: 0.3, completion: 15.0 };

fn client(url: &str, budget: Budget) -> (Remote, Arc<Ledger>) {
    let ledger = Arc::new(Ledger::new(budget));
    let shared = Shared { ledger: Arc::clone(&ledger), ..Shared::default() };
    let config = RemoteConfig { price: Some(PRICE), ..config(url) };
    (Remote::sharing(config, &shared).unwrap(), ledger)
}

fn tokens(most: u64) -> Budget {
    Budget { max_tokens: Some(most), max_cost: None }
}

#[tokio::test]
async fn a_call_stands_in_the_book_by_task_and_role_with_its_money() {
    let server = FaultServer::start(vec![Act::json(200, &whole(Protocol::Chat, CALL, Ends::ByItself))]).await;
    let (client, ledger) = client(&server.url(), Budget::default());
    client.ask(&request("list")).await.unwrap();
    let usage = Usage { model_calls: 1, prompt_tokens: 11, completion_tokens: 5 };
    // 8 fresh at 3, 3 cached at 0.3, 5 written at 15: in micro-dollars, rounded up.
    let expected = Account { usage, cached_tokens: 3, cost: 100, time_ms: 0 };
    let accounts = ledger.accounts();
    let ((task, role), account) = accounts.first_key_value().unwrap();
    assert_eq!((task.as_str().starts_with("list-"), *role), (true, Role::Executor));
    assert_eq!(Account { time_ms: 0, ..*account }, expected);
    assert_eq!(Account { time_ms: 0, ..ledger.total() }, expected);
}

#[tokio::test]
async fn law3_no_call_is_made_that_could_break_a_bound() {
    let server = FaultServer::start(vec![Act::json(200, &whole(Protocol::Chat, CALL, Ends::ByItself))]).await;
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

#[tokio::test]
async fn law3_calls_at_the_same_time_cannot_break_a_bound_together() {
    let act = Act::Drip {
        body: whole(Protocol::Chat, CALL, Ends::ByItself).to_string().into(),
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
    // Three may take 900 together: what is under way counts in full.
    assert_eq!((server.seen().len(), refused), (3, 9));
    assert!(ledger.total().usage.prompt_tokens + ledger.total().usage.completion_tokens <= 900);
}

#[tokio::test]
async fn law3_a_bound_on_money_holds_and_needs_a_price() {
    let server = FaultServer::start(vec![Act::json(200, &whole(Protocol::Chat, CALL, Ends::ByItself))]).await;
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

#[tokio::test]
async fn a_failed_call_carries_what_it_cost() {
    let chat = Protocol::Chat;
    let cut = Act::json(200, &whole(chat, CALL, Ends::AtTheLimit));
    let words = Act::json(200, &whole(chat, "I can't.", Ends::ByItself));
    for (act, expected) in [(cut, "cut"), (words, "unreadable")] {
        let server = FaultServer::start(vec![act]).await;
        let (client, ledger) = client(&server.url(), Budget::default());
        let failure = client.ask(&request("list")).await.unwrap_err();
        let usage = Usage { model_calls: 1, prompt_tokens: 11, completion_tokens: 5 };
        assert_eq!((kind(&failure).as_str(), failure.usage()), (expected, usage));
        assert_eq!(ledger.total().usage, usage);
    }
    // A stream that breaks off tells no cost: what came of it is estimated.
    let half = frames(chat, CALL, Ends::ByItself)[..4].concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = FaultServer::start(vec![Act::Raw(format!("{head}{half}").into_bytes())]).await;
    let (client, _) = client(&server.url(), Budget::default());
    let usage = client.ask(&request("list")).await.unwrap_err().usage();
    assert!(usage.prompt_tokens > 0 && usage.completion_tokens > 0, "{usage:?}");
}

#[tokio::test]
async fn a_refused_call_costs_nothing_and_a_dropped_one_its_prompt() {
    let refuses = FaultServer::start(vec![Act::json(401, &serde_json::json!({"error": "no"}))]).await;
    let (client_a, ledger) = client(&refuses.url(), Budget::default());
    client_a.ask(&request("list")).await.unwrap_err();
    assert_eq!(ledger.total().usage, Usage::default());
    let silent = FaultServer::start(vec![Act::Silence]).await;
    let (client_b, ledger) = client(&silent.url(), Budget::default());
    let asked = request("list");
    let dropped = tokio::time::timeout(Duration::from_millis(200), client_b.ask(&asked)).await;
    assert!(dropped.is_err());
    let usage = ledger.total().usage;
    assert!(usage.model_calls == 1 && usage.prompt_tokens > 0 && usage.completion_tokens == 0, "{usage:?}");
}
