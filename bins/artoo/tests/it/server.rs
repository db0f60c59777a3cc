//! A local model server for tests: it speaks Chat Completions, answers by a script and stores the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A model request that the test server received: schema of the wanted reply, prompt, key, body, and its number in its
/// role.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    /// The name of the reply's schema: which role asks.
    pub(crate) schema: String,
    /// How many criteria are to be judged, for the roles that judge.
    pub(crate) criteria: usize,
    pub(crate) user: String,
    pub(crate) authorization: String,
    /// The whole request, as it came.
    pub(crate) body: Value,
    /// How often this role was asked before.
    pub(crate) nth: usize,
}

impl ReceivedRequest {
    /// The ids of evidence quoted in the request's prompt, in order.
    pub(crate) fn evidence(&self) -> Vec<String> {
        let ids = self.user.lines().filter_map(|line| line.strip_prefix('[')?.split_once(']'));
        ids.map(|(id, _)| id.to_owned()).filter(|id| id.contains(".e")).collect()
    }
}

/// The test server's reply to a model request: JSON, text, an HTTP error, raw bytes, or none.
pub(crate) enum Reply {
    /// An answer with this content.
    Json(Value),
    /// An answer with this text, JSON or not.
    Text(String),
    /// An error.
    Status(u16, Value),
    /// These bytes, head and all, and then the connection closes.
    Raw(Vec<u8>),
    /// Nothing, until the other side gives up.
    Silence,
}

impl Reply {
    /// The JSON value of the reply; panics for any other kind of reply.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Json(value) => value,
            Self::Text(_) | Self::Status(..) | Self::Raw(_) | Self::Silence => panic!("this reply is no JSON"),
        }
    }
}

/// A running server; its threads end with the test process.
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

/// Names of the models that the test server lists.
pub(crate) const MODELS: [&str; 2] = ["a-model", "b-model"];

/// A function that returns the test server's reply to a request.
type Script = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

impl Server {
    /// Starts a server that answers by this script.
    pub(crate) fn start(script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let (asked, script): (_, Arc<Script>) = (Arc::clone(&server.asked), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, script) = (Arc::clone(&asked), Arc::clone(&script));
                // A client that goes away in the middle is part of some tests.
                thread::spawn(move || drop(serve(stream, &asked, &*script)));
            }
        });
        server
    }

    /// The base URL under which the test server is reached.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The model requests that the server has received so far.
    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// The names of the reply schemas of all requests so far, in order; each tells which role asked.
    pub(crate) fn schemas(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.schema).collect()
    }
}

/// Reads one model request from a connection, stores it, and writes the reply of the script; a request for the list of
/// models is answered and not stored.
fn serve(mut stream: TcpStream, log: &Mutex<Vec<ReceivedRequest>>, script: &Script) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut authorization) = (0, String::new());
    let mut wanted = String::new();
    reader.read_line(&mut wanted)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        } else if lower.starts_with("authorization:") {
            line["authorization:".len()..].trim().clone_into(&mut authorization);
        } else if line.trim().is_empty() {
            break;
        }
    }
    if wanted.starts_with("GET /v1/models ") {
        let models: Vec<Value> = MODELS.iter().map(|name| json!({"id": name, "object": "model"})).collect();
        return respond(&mut stream, 200, &json!({"object": "list", "data": models}));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let format = &body["response_format"]["json_schema"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let schema = text(&format["name"]);
    let asked = {
        let mut log = log.lock().unwrap();
        let asked = ReceivedRequest {
            criteria: format["schema"]["properties"]["verdicts"]["minItems"].as_u64().unwrap_or(0) as usize,
            user: text(&body["messages"][1]["content"]),
            nth: log.iter().filter(|known| known.schema == schema).count(),
            schema,
            authorization,
            body,
        };
        log.push(asked.clone());
        asked
    };
    let (status, content) = match script(&asked) {
        Reply::Json(value) => (200, completion(&value.to_string())),
        Reply::Text(text) => (200, completion(&text)),
        Reply::Status(status, body) => (status, body),
        Reply::Raw(bytes) => return stream.write_all(&bytes),
        Reply::Silence => {
            let mut nothing = [0; 1];
            drop(reader.read(&mut nothing));
            return Ok(());
        }
    };
    respond(&mut stream, status, &content)
}

/// Writes an HTTP response with this status and JSON content.
fn respond(stream: &mut TcpStream, status: u16, content: &Value) -> std::io::Result<()> {
    let content = content.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{content}",
        content.len()
    )
}

/// The body of a Chat Completions response whose message is this text.
fn completion(content: &str) -> Value {
    json!({
        "id": "c1", "object": "chat.completion", "model": "a-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    })
}

/// A reply of R1 (the perceiver) that restates the goal.
pub(crate) fn understood(intent: &str) -> Reply {
    Reply::Json(json!({
        "task_id": "a_task", "intent": intent, "constraints": {"scope": null, "deadline": null}, "question": null
    }))
}

/// A reply of R2 (the planner): a plan of one step with these tools; step and task have the same criteria.
pub(crate) fn one_step(intent: &str, tools: &[&str], criteria: &Value) -> Reply {
    Reply::Json(json!({
        "task_criteria": criteria,
        "subtasks": [{"intent": intent, "context": "", "sequence": 1, "tools": tools, "success_criteria": criteria}]
    }))
}

/// A reply of R3 (the executor): one call whose output is the answer.
pub(crate) fn call(tool: &str, input: &Value) -> Reply {
    one_call(tool, input, true)
}

/// A reply of R3 (the executor): one tool call, after whose result R3 asks the model again.
pub(crate) fn first_call(tool: &str, input: &Value) -> Reply {
    one_call(tool, input, false)
}

/// A reply of R3 (the executor): one tool call; `answers` says whether the call's output is the task's answer.
fn one_call(tool: &str, input: &Value, answers: bool) -> Reply {
    Reply::Json(json!({
        "calls": [{"tool": tool, "input": input}], "answer_is_output": answers, "status": "completed", "output": "",
        "reason": null
    }))
}

/// A reply of R3 (the executor): a final text with this status, without a tool call.
pub(crate) fn said(status: &str, output: &str) -> Reply {
    Reply::Json(json!({"calls": [], "answer_is_output": false, "status": status, "output": output, "reason": null}))
}

/// A reply of R4a or R4b (the validators): every criterion passes, citing these evidence ids.
pub(crate) fn pass(asked: &ReceivedRequest, cites: &[String]) -> Reply {
    let verdicts: Vec<Value> = (1..=asked.criteria)
        .map(|number| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": "verified", "failure_class": null}))
        .collect();
    Reply::Json(json!({"verdicts": verdicts, "what_to_do": null}))
}

/// A criterion in words, which a model judges.
pub(crate) fn prose(text: &str) -> Value {
    json!({"criterion": text, "mode": "verifiable"})
}

/// The request that the model [`reads_the_note`] carries out.
pub(crate) const NOTE_REQUEST: &str = "what does the note in my folder say";

/// A model that replies rightly at every role to a request for the text of the note of
/// [`World::with_note`](crate::world::World::with_note).
pub(crate) fn reads_the_note(asked: &ReceivedRequest) -> Reply {
    match asked.schema.as_str() {
        "task_spec" => understood(NOTE_REQUEST),
        "plan" => reading_the_note(&["read_file"]),
        "execution" => call("read_file", &json!({"path": "note.txt"})),
        _ => pass(asked, &asked.evidence()),
    }
}

/// A planner's reply: one step that reads the note, with these tools.
pub(crate) fn reading_the_note(tools: &[&str]) -> Reply {
    one_step("read the note", tools, &json!([prose("the note's words are given")]))
}

/// A model whose plan runs one shell command (`ls things` if it is asked again) and whose judging roles pass every
/// criterion.
pub(crate) fn running(command: impl Into<String>) -> impl Fn(&ReceivedRequest) -> Reply + Send + Sync {
    let command = command.into();
    move |asked| match asked.schema.as_str() {
        "task_spec" => understood("run the command"),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("the listing names what is there")],
            "subtasks": [{"intent": "run it", "context": "", "sequence": 1, "tools": ["shell"],
                          "success_criteria": [prose("it ends well")]}]
        })),
        "execution" if asked.evidence().is_empty() => call("shell", &json!({"command": command})),
        "execution" => call("shell", &json!({"command": "ls things"})),
        _ => pass(asked, &asked.evidence()),
    }
}
