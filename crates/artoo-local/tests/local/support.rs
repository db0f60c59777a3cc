//! Helpers of the tests: the model file, requests to the engine, and calls of llama.cpp's server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use artoo_llm::Shared;
use artoo_local::{Local, LocalConfig};
use artoo_proto::{ModelReply, ModelRequest, Now, PerceiveContext, Prompt, ReplyBody, Role, RoleContext};
use serde_json::{Value, json};

/// Environment variable with the path of the model file; without it the tests do nothing.
pub(crate) const MODEL: &str = "ARTOO_LOCAL_MODEL";

/// Environment variable with the address of llama.cpp's server, run with the same file and one thread, such as
/// `127.0.0.1:8080`.
const SERVER: &str = "ARTOO_LOCAL_SERVER";

/// The model file that the environment variable names; `None`, and a note that the test is skipped, without one.
pub(crate) fn model_file() -> Option<PathBuf> {
    let path = std::env::var_os(MODEL).map(PathBuf::from);
    if path.is_none() {
        print_uncaptured(&format!("skipped: {MODEL} names no model file; .ci/local-llm fetches one"));
    }
    path
}

/// The tests' settings for a model file: one thread and a small context.
pub(crate) fn config(path: PathBuf) -> LocalConfig {
    let one = NonZeroU32::new(1);
    LocalConfig { threads: one, context_tokens: NonZeroU32::new(4_096), ..LocalConfig::new(path) }
}

/// Starts an engine with the model file; `None` without one, so that the test is skipped.
pub(crate) fn engine() -> Option<Local> {
    Some(Local::new(config(model_file()?), &Shared::default()).unwrap())
}

/// The address of llama.cpp's server from the environment; `None`, and a note that the test is skipped, without one.
pub(crate) fn server() -> Option<String> {
    let address = std::env::var(SERVER).ok().filter(|address| !address.is_empty());
    if address.is_none() {
        print_uncaptured(&format!("skipped: {SERVER} names no server; .ci/local-llm starts one"));
    }
    address
}

/// Sends JSON to a path of llama.cpp's server and returns the JSON response.
pub(crate) fn post(address: &str, path: &str, body: &Value) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    let received = String::from_utf8_lossy(&received);
    let (head, content) = received.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}\n{content}");
    serde_json::from_str(content).unwrap_or_else(|error| panic!("{path}: {error}: {content}"))
}

/// A prompt with this system and user text.
pub(crate) fn prompt(system: &str, user: &str) -> Prompt {
    Prompt { system: system.to_owned(), user: user.to_owned() }
}

/// A model request with this prompt, schema and token limit, as a role makes it.
pub(crate) fn request(prompt: Prompt, schema: Value, max_tokens: u32) -> ModelRequest {
    let environment = artoo_proto::Environment {
        cwd: "/home/ann".to_owned(),
        home: "/home/ann".to_owned(),
        workspace: "/home/ann/artoo_workspace".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 0,
    };
    let context = PerceiveContext {
        raw_input: prompt.user.clone(),
        session: Vec::new(),
        material: None,
        clarifications: Vec::new(),
        may_ask: false,
        environment,
        now: serde_json::from_value::<Now>(json!({"wall": "2026-11-22T00:00:00Z", "uptime_ms": 0})).unwrap(),
    };
    ModelRequest {
        role: Role::Perceiver,
        task_id: serde_json::from_value(json!("reply-3f1b2c4d-0000-4000-8000-000000000000")).unwrap(),
        subtask_id: None,
        context: RoleContext::Perceive(Box::new(context)),
        prompt,
        schema_name: "reply".to_owned(),
        schema,
        max_tokens,
        by_tools: None,
    }
}

/// The JSON value of a reply.
pub(crate) fn value(reply: &ModelReply) -> &Value {
    match &reply.body {
        ReplyBody::Json { value } => value,
        other @ (ReplyBody::Recipes { .. } | ReplyBody::Abstain { .. }) => panic!("no JSON: {other:?}"),
    }
}

/// Prints to standard error without the test's capture, since `.ci/local-llm` reads these lines.
pub(crate) fn print_uncaptured(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}
