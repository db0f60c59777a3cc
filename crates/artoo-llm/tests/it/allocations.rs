//! Tests of what a model call costs in this process: allocations, bytes, requests and connections.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use artoo_llm::observe::{Caller, Observer, Step};
use artoo_llm::{Model, Protocol, Remote, Shared};
use artoo_proto::ModelRequest;
use serde_json::json;

use crate::{client, completion, long_timeouts, request};

/// The system's allocator, which also counts the allocations of the calling thread.
struct Counted;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Counts one allocation of this many bytes for this thread.
fn count(bytes: usize) {
    COUNT.with(|count| count.set(count.get() + 1));
    BYTES.with(|sum| sum.set(sum.get() + bytes as u64));
}

#[expect(unsafe_code, reason = "an allocator can't be written otherwise; this one only counts")]
// SAFETY: every call is passed unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Starts a model server on its own threads, whose allocations are not counted; returns its URL and connection count.
/// Calls `before` before each answer.
fn serve(before: impl Fn() + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (connections, before) = (Arc::new(AtomicUsize::new(0)), Arc::new(before));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let before = Arc::clone(&before);
            thread::spawn(move || drop(answer_all(stream, &*before)));
        }
    });
    (url, connections)
}

/// Answers all HTTP calls of one connection with the same completion.
fn answer_all(stream: TcpStream, before: &dyn Fn()) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let body = completion(r#"{"tool":"ls"}"#).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        before();
        writer.write_all(format!("{head}{body}").as_bytes())?;
    }
}

/// A request with a long prompt and a schema of hundreds of parts, like an executor's.
fn large_request() -> ModelRequest {
    let mut request = request(&"- a line of what a step is told about the machine\n".repeat(100));
    let tool = |n: u32| {
        let input = json!({"type": "object", "properties": {"path": {"type": "string", "maxLength": 4096}}});
        json!({"type": "object", "required": ["tool"], "properties": {"tool": {"const": format!("t{n}")}, "input": input}})
    };
    request.schema["properties"]["calls"] =
        json!({"type": "array", "items": {"oneOf": (0..40).map(tool).collect::<Vec<_>>()}});
    request
}

/// A call makes at most 430 allocations, which together are at most 15 times as large as its request body.
#[test]
fn call_makes_few_copies_of_its_prompt() {
    const CALLS: u64 = 50;
    let (url, _) = serve(|| {});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (request, remote) = (large_request(), client(&url));
    let body = artoo_llm::request_body(Protocol::Chat, &request, "m", remote.dialect()).to_string().len() as u64;
    let calls = |number: u64| {
        for _ in 0..number {
            runtime.block_on(remote.ask(&request)).unwrap();
        }
    };
    calls(5);
    let before = (COUNT.get(), BYTES.get());
    calls(CALLS);
    let (allocations, bytes) = ((COUNT.get() - before.0) / CALLS, (BYTES.get() - before.1) / CALLS);
    // Twice the measured 215 allocations and 7.5 times the sent bytes. A copy of the schema takes 900 more.
    assert!(allocations <= 430, "{allocations} allocations a call");
    assert!(bytes <= 15 * body, "{bytes} bytes a call, and {body} are sent");
}

/// An observer that counts retries: the tries after the first.
#[derive(Default)]
struct Retries(AtomicUsize);

impl Observer for Retries {
    fn step(&self, _caller: &Caller, step: &Step) {
        if matches!(step, Step::Waiting { .. }) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// 128 calls at the same time all succeed without a retry, each on a connection of its own.
#[tokio::test]
async fn connections_succeed_for_128_concurrent_calls() {
    const CALLS: usize = 128;
    // The server answers only after all requests have arrived.
    let all_here = Barrier::new(CALLS);
    let (url, connections) = serve(move || {
        all_here.wait();
    });
    let retries = Arc::new(Retries::default());
    let shared = Shared { observer: Some(Arc::clone(&retries) as Arc<dyn Observer>), ..Shared::default() };
    let client = Arc::new(Remote::sharing(long_timeouts(&url), &shared).unwrap());
    let ask = |n: usize| {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.ask(&request(&n.to_string())).await })
    };
    for asked in (0..CALLS).map(ask).collect::<Vec<_>>() {
        asked.await.unwrap().unwrap();
    }
    assert_eq!((shared.ledger.total().usage.model_calls, retries.0.load(Ordering::SeqCst)), (128, 0));
    assert_eq!(connections.load(Ordering::SeqCst), CALLS);
}
