//! Where a call may stand when it is given up: each is over at once, leaves no connection and gives its turn back. And
//! what an endpoint that is asked too often gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use artoo_llm::retry::RetryPolicy;
use artoo_llm::{Model, Protocol, Remote, RemoteConfig};
use serde_json::json;
use tokio::net::TcpSocket;

use crate::fault_server::{Act, FaultServer};
use crate::speech::{Ends, frames};
use crate::{SOON, config, request, until};

const CALL: &str = r#"{"tool":"ls"}"#;

/// Long enough that nothing here ends by itself.
const FOR_EVER: Duration = Duration::from_secs(600);

fn patient(url: &str) -> RemoteConfig {
    RemoteConfig {
        connect_timeout: FOR_EVER,
        first_byte_timeout: FOR_EVER,
        read_idle_timeout: FOR_EVER,
        total_deadline: FOR_EVER,
        parallel: 1,
        retry: RetryPolicy { total: FOR_EVER, max_retry_after: FOR_EVER, ..RetryPolicy::default() },
        ..config(url)
    }
}

/// Starts a call, waits until it `stands`, gives it up, and sees that the next one gets its turn.
async fn given_up(name: &str, server: &FaultServer, client: &Arc<Remote>, stands: impl FnMut() -> bool) {
    let asking = tokio::spawn({
        let client = Arc::clone(client);
        async move { client.ask(&request("first")).await }
    });
    until(name, stands).await;
    // Time to take in what came.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let before = server.seen().len();
    let given_up = Instant::now();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled(), "{name}");
    let next = tokio::time::timeout(SOON, client.ask(&request("next"))).await;
    assert_eq!(crate::value(&next.unwrap_or_else(|_| panic!("{name}: no turn")).unwrap()), &json!({"tool": "ls"}));
    assert!(given_up.elapsed() < SOON, "{name}");
    assert_eq!(server.seen().len(), before + 1, "{name}: the call that was given up went on");
}

#[doc = "holds: fault L38"]
#[tokio::test]
async fn a_call_is_given_up_at_once_wherever_it_stands() {
    let started = frames(Protocol::Chat, CALL, Ends::ByItself)[..2].concat();
    let length = started.len() + 9_999;
    let half =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{started}");
    let rows: [(&str, Act, bool); 4] = [
        ("before the head", Act::Silence, true),
        ("behind the head", Act::HeadThenSilence, true),
        ("in the stream", Act::RawThenSilence(half.into_bytes()), true),
        ("waiting to try again", Act::json(429, &json!({"error": "busy"})).with("retry-after", "500"), false),
    ];
    for (name, act, holds_connection) in rows {
        let server = FaultServer::start(vec![act, Act::answer(CALL)]).await;
        let client = Arc::new(Remote::new(patient(&server.url())).unwrap());
        let seen = || server.seen().len() == 1;
        given_up(name, &server, &client, seen).await;
        if holds_connection {
            until(name, || server.left.load(Ordering::SeqCst) == 1).await;
        }
    }
}

#[doc = "holds: fault L38"]
#[tokio::test]
async fn a_call_is_given_up_at_once_while_it_waits_for_its_turn() {
    let server = FaultServer::start(vec![Act::Silence, Act::answer(CALL)]).await;
    let client = Arc::new(Remote::new(patient(&server.url())).unwrap());
    let ask = |name: &'static str| {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.ask(&request(name)).await })
    };
    let first = ask("first");
    until("the first call is under way", || server.seen().len() == 1).await;
    let (second, third) = (ask("second"), ask("third"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    second.abort();
    assert!(second.await.unwrap_err().is_cancelled());
    first.abort();
    let answered = tokio::time::timeout(SOON, third).await.unwrap().unwrap();
    assert!(answered.is_ok(), "{answered:?}");
    let users: Vec<bool> = server.seen().iter().map(|seen| seen.body.to_string().contains("second")).collect();
    assert_eq!(users, [false, false], "a call that was given up in the queue was made");
}

#[doc = "holds: fault L38"]
#[tokio::test]
async fn a_call_is_given_up_at_once_while_it_connects() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    let connect = || tokio::time::timeout(Duration::from_millis(200), tokio::net::TcpStream::connect(address));
    while let Ok(Ok(stream)) = connect().await {
        queued.push(stream);
    }
    let client = Remote::new(patient(&format!("http://{address}"))).unwrap();
    let asked = request("x");
    let started = Instant::now();
    assert!(tokio::time::timeout(Duration::from_millis(50), client.ask(&asked)).await.is_err());
    assert!(started.elapsed() < SOON);
}

#[doc = "holds: fault L1"]
#[tokio::test]
async fn an_endpoint_that_takes_two_calls_at_once_is_soon_asked_no_more_often() {
    let under_way = Arc::new(AtomicUsize::new(0));
    let refused = Arc::new(AtomicUsize::new(0));
    let counted = (Arc::clone(&under_way), Arc::clone(&refused));
    let server = FaultServer::counting(Duration::from_millis(40), move |at_once| {
        counted.0.fetch_max(at_once, Ordering::SeqCst);
        if at_once > 2 {
            counted.1.fetch_add(1, Ordering::SeqCst);
            return Act::json(429, &json!({"error": {"message": "too many at once", "type": "rate_limit_error"}}));
        }
        Act::answer(CALL)
    })
    .await;
    let retry = RetryPolicy { busy_tries: 40, base_delay: Duration::from_millis(20), ..RetryPolicy::default() };
    let client = Arc::new(Remote::new(RemoteConfig { parallel: 64, retry, ..patient(&server.url()) }).unwrap());
    let calls: Vec<_> = (0..24)
        .map(|n| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.ask(&request(&n.to_string())).await })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    // Without a bound that gives way each of 24 calls is refused again and again; a count of the waits is in the text.
    let first = refused.swap(0, Ordering::SeqCst);
    assert!(first < 24 * 3, "{first} refusals");
    let more: Vec<_> = (0..24)
        .map(|n| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.ask(&request(&n.to_string())).await })
        })
        .collect();
    for call in more {
        assert!(call.await.unwrap().is_ok());
    }
    let second = refused.load(Ordering::SeqCst);
    assert!(second <= 24, "{second} refusals of 24 calls: nothing was learnt");
}

#[tokio::test]
async fn a_call_that_waits_before_another_try_gives_its_turn_to_one_that_can_run() {
    let server = FaultServer::deciding(|_, body| {
        if body.to_string().contains("busy") {
            return Act::json(429, &json!({"error": "too many"})).with("retry-after", "500");
        }
        Act::answer(CALL)
    })
    .await;
    let client = Arc::new(Remote::new(patient(&server.url())).unwrap());
    let waiting = tokio::spawn({
        let client = Arc::clone(&client);
        async move { client.ask(&request("busy")).await }
    });
    until("the first call waits", || server.seen().len() == 1).await;
    let answered = tokio::time::timeout(SOON, client.ask(&request("other"))).await;
    assert!(answered.unwrap().is_ok());
    assert!(!waiting.is_finished());
    waiting.abort();
}
