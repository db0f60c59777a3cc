//! Measures the CPU time of a model call in this process: artoo's client compared with a minimal one, alternately in
//! one run.
//!
//! `cargo run --release -p artoo-llm --example overhead` sends the same bytes both ways to a server on loopback that has
//! a thread of its own, reads the same reply, and counts the CPU time of the calling thread alone.

#![expect(clippy::print_stdout, reason = "an example says what it found")]

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use artoo_llm::{Model, Protocol, Remote, RemoteConfig};
use artoo_proto::ModelRequest;
use serde_json::{Value, json};

/// Number of consecutive calls of one client before the other's turn: far longer than a clock tick, short enough for
/// equal load.
const AT_A_TIME: u32 = 100;

/// Number of measured turns of each client; one more turn before them warms up.
const TURNS: usize = 50;

/// The model's answer: a tool call, as most answers are.
const CONTENT: &str = r#"{"calls":[{"tool":"read_file","input":{"path":"/home/me/one.txt"}}],"answer_is_output":true,"status":"completed","output":"","reason":null}"#;

/// Prints the median CPU time of a call with each of the two clients.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = serve()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let request = request()?;
    let remote = Remote::new(RemoteConfig::new(Protocol::Chat, url.clone(), "m"))?;
    let body = artoo_llm::request_body(Protocol::Chat, &request, "m", remote.dialect()).to_string();
    let bare = Plain::of(&format!("{url}/chat/completions"))?;
    println!("{} bytes sent and {} read a call, {AT_A_TIME} calls a turn, {TURNS} turns", body.len(), reply().len());
    let mut found = Vec::new();
    for turn in 0..=TURNS {
        let ours = used(&runtime, async || remote.ask(&request).await.is_ok())?;
        let plain = used(&runtime, async || bare.call(body.clone()).await.is_some())?;
        if turn > 0 {
            found.push((ours, plain));
        }
    }
    let median = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = found.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    println!(
        "CPU a call, medians: {:.1} µs, bare {:.1} µs; beyond the bare one in the same turn: {:.1} µs",
        median(&|(ours, _)| *ours),
        median(&|(_, plain)| *plain),
        median(&|(ours, plain)| ours - plain)
    );
    Ok(())
}

/// Average CPU time of one call on this thread, in microseconds.
fn used(runtime: &tokio::runtime::Runtime, call: impl AsyncFn() -> bool) -> Result<f64, Box<dyn std::error::Error>> {
    let before = now()?;
    for _ in 0..AT_A_TIME {
        if !runtime.block_on(call()) {
            return Err("a call failed".into());
        }
    }
    Ok((now()? - before).as_secs_f64() * 1e6 / f64::from(AT_A_TIME))
}

/// CPU time that this thread has used so far. The kernel updates the number when the thread waits, as it does in every
/// call.
fn now() -> io::Result<Duration> {
    let counted = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = counted.split_whitespace().next().and_then(|field| field.parse().ok());
    nanos.map(Duration::from_nanos).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// A minimal client: one HTTP request a call, without retries, limits and checks.
struct Plain {
    client: reqwest::Client,
    url: reqwest::Url,
}

impl Plain {
    /// Creates the minimal client for the server at this URL.
    fn of(url: &str) -> Result<Self, Box<dyn std::error::Error>> {
        // Without certificates: nothing here is encrypted, and building none is no part of a call.
        let tls = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let client = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().build()?;
        Ok(Self { client, url: url.parse()? })
    }

    /// Sends a request body and returns the JSON value in the text of the answer; `None` on any error.
    async fn call(&self, body: String) -> Option<Value> {
        let request = self.client.post(self.url.clone()).header("content-type", "application/json").body(body);
        let bytes = request.send().await.ok()?.bytes().await.ok()?;
        let answer: Value = serde_json::from_slice(&bytes).ok()?;
        let content = answer.pointer("/choices/0/message/content")?.as_str()?;
        serde_json::from_str(content).ok()
    }
}

/// The text of the HTTP response that the server sends to every call.
fn reply() -> String {
    let body = json!({
        "id": "c1", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": CONTENT}}],
        "usage": {"prompt_tokens": 1500, "completion_tokens": 40}
    })
    .to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Starts a server that answers every call alike; returns its URL.
fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || drop(answer_all(stream)));
        }
    });
    Ok(url)
}

/// Answers all calls of one connection with the same reply.
fn answer_all(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let reply = reply();
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
        writer.write_all(reply.as_bytes())?;
    }
}

/// A sample model request with the size and form of an executor's.
fn request() -> serde_json::Result<ModelRequest> {
    let text = |max: u32| json!({"type": "string", "maxLength": max});
    let call = |tool: &str| {
        json!({
            "type": "object", "additionalProperties": false, "required": ["tool", "input"],
            "properties": {"tool": {"const": tool}, "input": {
                "type": "object", "additionalProperties": false, "required": ["path"],
                "properties": {"path": text(4096), "recursive": {"type": "boolean"}, "lines": {"type": "integer"}}
            }}
        })
    };
    let tools = ["glob", "read_file", "write_file", "files", "trash", "shell"];
    let lines =
        |count: usize| "- a line of what a step is told about the machine and the tools there are\n".repeat(count);
    let environment =
        json!({"cwd": "/here", "home": "/home/me", "workspace": "/home/me/w", "os": "linux", "utc_offset_s": 0});
    serde_json::from_value(json!({
        "role": "executor", "task_id": "list-67e55044-10b1-426f-9247-bb680e5fe0c8", "subtask_id": null,
        "context": {
            "kind": "perceive", "raw_input": "list", "session": [], "clarifications": [], "may_ask": false,
            "environment": environment, "now": {"wall": "2026-02-03T04:05:06Z", "uptime_ms": 7}
        },
        "prompt": {"system": lines(30), "user": lines(60)},
        "schema_name": "turn",
        "schema": {
            "type": "object", "additionalProperties": false,
            "required": ["calls", "answer_is_output", "status", "output"],
            "properties": {
                "calls": {"type": "array", "maxItems": 8, "items": {
                    "type": "object", "additionalProperties": false, "required": ["tool", "input"],
                    "properties": {"tool": {"enum": tools}, "input": {"type": "object"}},
                    "oneOf": tools.map(call)
                }},
                "answer_is_output": {"type": "boolean"},
                "status": {"type": "string", "enum": ["completed", "uncertain", "failed"]},
                "output": text(24000),
                "reason": {"type": ["string", "null"], "maxLength": 400}
            }
        },
        "max_tokens": 2048
    }))
}
