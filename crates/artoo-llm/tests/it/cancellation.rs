//! Tests of cancelling a model call at each stage: it ends at once and closes its connection, and another call may
//! start.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use artoo_llm::retry::RetryPolicy;
use artoo_llm::{Model, Protocol, Remote, RemoteConfig};
use serde_json::json;
use tokio::net::TcpSocket;

use crate::answers::{Ends, frames};
use crate::fault_server::{Act, FaultServer};
use crate::{SOON, config, request, until};

const CALL: &str = r#"{"tool":"ls"}"#;

/// A timeout longer than any test runs.
const NEVER: Duration = Duration::from_secs(600);

/// A client configuration with timeouts that no test reaches.
fn long_timeouts(url: &str) -> RemoteConfig {
    RemoteConfig {
        connect_timeout: NEVER,
        first_byte_timeout: NEVER,
        read_idle_timeout: NEVER,
        total_deadline: NEVER,
        parallel: 1,
        retry: RetryPolicy { total: NEVER, max_retry_after: NEVER, ..RetryPolicy::default() },
        ..config(url)
    }
}

/// Starts a call, cancels it once `is_reached` is true, and asserts that the next call can start.
async fn cancel_when(name: &str, server: &FaultServer, client: &Arc<Remote>, is_reached: impl FnMut() -> bool) {
    let asking = tokio::spawn({
        let client = Arc::clone(client);
        async move { client.ask(&request("first")).await }
    });
    until(name, is_reached).await;
    // The client may not have read yet what the server has sent.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let before = server.seen().len();
    let cancelled = Instant::now();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled(), "{name}");
    let next = tokio::time::timeout(SOON, client.ask(&request("next"))).await;
    assert_eq!(crate::value(&next.unwrap_or_else(|_| panic!("{name}: no permit")).unwrap()), &json!({"tool": "ls"}));
    assert!(cancelled.elapsed() < SOON, "{name}");
    assert_eq!(server.seen().len(), before + 1, "{name}: the cancelled call went on");
}

#[doc = "holds: fault L38"]
#[tokio::test]
async fn calls_are_cancelled_at_any_stage() {
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
        let client = Arc::new(Remote::new(long_timeouts(&server.url())).unwrap());
        let seen = || server.seen().len() == 1;
        cancel_when(name, &server, &client, seen).await;
        if holds_connection {
            until(name, || server.left.load(Ordering::SeqCst) == 1).await;
        }
    }
}

/// A call that is cancelled while it waits for its turn is never sent, and the next one gets the turn.
#[doc = "holds: fault L38"]
#[tokio::test]
async fn waiting_call_is_cancelled_at_once() {
    let server = FaultServer::start(vec![Act::Silence, Act::answer(CALL)]).await;
    let client = Arc::new(Remote::new(long_timeouts(&server.url())).unwrap());
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

/// A call that is still connecting ends at once when cancelled.
#[doc = "holds: fault L38"]
#[tokio::test]
async fn connecting_call_is_cancelled_at_once() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    let connect = || tokio::time::timeout(Duration::from_millis(200), tokio::net::TcpStream::connect(address));
    while let Ok(Ok(stream)) = connect().await {
        queued.push(stream);
    }
    let client = Remote::new(long_timeouts(&format!("http://{address}"))).unwrap();
    let asked = request("x");
    let started = Instant::now();
    assert!(tokio::time::timeout(Duration::from_millis(50), client.ask(&asked)).await.is_err());
    assert!(started.elapsed() < SOON);
}

/// The number of parallel calls adapts to what the endpoint allows.
#[doc = "holds: fault L1"]
#[tokio::test]
async fn calls_adapt_to_an_endpoints_limit() {
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
    let client = Arc::new(Remote::new(RemoteConfig { parallel: 64, retry, ..long_timeouts(&server.url()) }).unwrap());
    let calls: Vec<_> = (0..24)
        .map(|n| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.ask(&request(&n.to_string())).await })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    // With a fixed limit, each of the 24 calls would be refused several times; the assertion shows the number of waits.
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

/// A call that waits for a retry lets another call start.
#[tokio::test]
async fn waiting_call_releases_its_permit() {
    let server = FaultServer::deciding(|_, body| {
        if body.to_string().contains("busy") {
            return Act::json(429, &json!({"error": "too many"})).with("retry-after", "500");
        }
        Act::answer(CALL)
    })
    .await;
    let client = Arc::new(Remote::new(long_timeouts(&server.url())).unwrap());
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
