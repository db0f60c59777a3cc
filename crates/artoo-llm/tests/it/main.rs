//! Tests of the model client with real sockets on this machine.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod abilities;
mod allocations;
mod answers;
mod call_answers;
mod canary;
mod cancellation;
mod cassette;
mod client;
mod fault_server;
mod faults;
mod files;
mod money;
mod mutations;
mod recorder;
mod retries;
mod scripted;
mod structured;
mod tls;
mod tool_calls;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_llm::retry::RetryPolicy;
use artoo_llm::{Ledger, Protocol, Remote, RemoteConfig, Secret, Shared};
use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody};
use serde_json::{Value, json};

/// The endpoint's key in these tests; it must appear in no output.
const KEY: &str = "sk-canary-7f3a9b2c4d5e6f70";

/// A sample model request for a tool call; `user` is its prompt.
fn request(user: &str) -> ModelRequest {
    let environment = json!({
        "cwd": "/here", "home": "/home/me", "workspace": "/home/me/artoo", "os": "linux", "utc_offset_s": 0
    });
    let request = json!({
        "role": "executor",
        "task_id": "list-67e55044-10b1-426f-9247-bb680e5fe0c8",
        "subtask_id": null,
        "context": {
            "kind": "perceive", "raw_input": user, "session": [], "clarifications": [], "may_ask": false,
            "environment": environment, "now": {"wall": "2026-02-03T04:05:06Z", "uptime_ms": 7}
        },
        "prompt": {"system": "You call tools.", "user": user},
        "schema_name": "tool_call",
        "schema": {
            "type": "object", "required": ["tool"], "additionalProperties": false,
            "properties": {"tool": {"type": "string"}}
        },
        "max_tokens": 256
    });
    serde_json::from_value(request).unwrap()
}

/// A client configuration with short timeouts, for tests of servers that send nothing.
fn config(base_url: &str) -> RemoteConfig {
    RemoteConfig {
        api_key: Some(Secret::new(KEY)),
        connect_timeout: Duration::from_secs(1),
        first_byte_timeout: Duration::from_millis(1500),
        read_idle_timeout: Duration::from_millis(500),
        total_deadline: Duration::from_secs(10),
        retry: RetryPolicy { base_delay: Duration::from_millis(1), ..RetryPolicy::default() },
        ..RemoteConfig::new(Protocol::Chat, base_url, "test-model")
    }
}

/// A client configuration with long timeouts, for servers that answer on a loaded machine.
fn long_timeouts(base_url: &str) -> RemoteConfig {
    RemoteConfig {
        connect_timeout: SOON,
        first_byte_timeout: SOON,
        read_idle_timeout: SOON,
        total_deadline: SOON,
        ..config(base_url)
    }
}

/// A time longer than a loaded machine needs for any answer, and shorter than the timeouts that no test reaches.
const SOON: Duration = Duration::from_secs(60);

/// Waits until the condition is true; fails with `what` after [`SOON`].
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Runs a call until the condition is true, then drops it, which cancels it; panics if the call ends before.
async fn dropped_when<T: Debug>(call: impl Future<Output = T>, what: &str, is_so: impl FnMut() -> bool) {
    tokio::select! {
        ended = call => panic!("the call ended before {what}: {ended:?}"),
        () = until(what, is_so) => {}
    }
}

/// A client with this configuration, and the ledger that records its spending.
fn with_ledger(config: RemoteConfig) -> (Remote, Arc<Ledger>) {
    let shared = Shared::default();
    (Remote::sharing(config, &shared).unwrap(), shared.ledger)
}

/// A client of the server at this URL.
fn client(base_url: &str) -> Remote {
    Remote::new(config(base_url)).unwrap()
}

/// The body of a complete Chat Completions answer with this content.
fn completion(content: &str) -> Value {
    json!({
        "id": "c1", "object": "chat.completion", "model": "test-model-7b",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": content, "reasoning_content": "{\"tool\":\"rm\"}"}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5}
    })
}

/// The JSON value of a reply.
fn value(reply: &ModelReply) -> &Value {
    match &reply.body {
        ReplyBody::Json { value } => value,
        other => panic!("not JSON: {other:?}"),
    }
}

/// A short text for a failure: its variant and HTTP status, for tables of expectations.
fn kind(failure: &ModelFailure) -> String {
    match failure {
        ModelFailure::Unreachable { .. } => "unreachable".to_owned(),
        ModelFailure::Unauthorized { status, .. } => format!("unauthorized {status}"),
        ModelFailure::Rejected { status, .. } => format!("rejected {status}"),
        ModelFailure::Overloaded { status, .. } => format!("overloaded {status}"),
        ModelFailure::TimedOut { .. } => "timed out".to_owned(),
        ModelFailure::Cut { .. } => "cut".to_owned(),
        ModelFailure::Unreadable { .. } => "unreadable".to_owned(),
        ModelFailure::DoesNotFit { .. } => "does not fit".to_owned(),
        ModelFailure::OverBudget { .. } => "over budget".to_owned(),
        ModelFailure::Cancelled => "cancelled".to_owned(),
        ModelFailure::NotRecorded { .. } => "not recorded".to_owned(),
    }
}
