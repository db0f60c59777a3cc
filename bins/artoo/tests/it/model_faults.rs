//! Every fault of an endpoint at every role: the task ends in the right state, no call of a broken reply is made, and
//! no key is shown or stored.

use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::server::{NOTE_REQUEST as REQUEST, Reply, Server, reads_the_note};
use crate::world::{KEY, RunOutput, World};

/// Names of the reply schemas of the roles that ask a model; each fault is tried at each.
const ROLES: [&str; 5] = ["task_spec", "plan", "execution", "subtask_verdict", "task_verdict"];

/// The name of a fault, and a function that makes the faulty HTTP reply from the value of a good one.
type Fault = (&'static str, fn(&Value) -> Reply);

/// A successful HTTP reply with this content type and body.
fn raw(content_type: &str, body: &str) -> Reply {
    Reply::Raw(
        format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n{body}").into_bytes(),
    )
}

/// One server-sent event of a streamed model reply, with this text and finish reason.
fn piece(text: &str, finish: &Value) -> String {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": finish});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

/// A function that makes a reply whose text is complete although its `finish_reason` says otherwise.
fn ended(finish: &'static str) -> impl Fn(&Value) -> Reply {
    move |value| {
        let choice = json!({"index": 0, "finish_reason": finish, "message": {"content": value.to_string()}});
        raw("application/json", &json!({"choices": [choice]}).to_string())
    }
}

/// Faults of an endpoint: HTTP error codes, broken connections, and wrong reply texts.
fn faults() -> Vec<Fault> {
    vec![
        ("400", |_| Reply::Status(400, json!({"error": {"message": format!("what is {KEY}?")}}))),
        ("401", |_| Reply::Status(401, json!({"error": {"message": format!("bad key {KEY}")}}))),
        ("quota", |_| Reply::Status(429, json!({"error": {"message": "spent", "code": "insufficient_quota"}}))),
        ("redirect", |_| Reply::Status(302, json!({}))),
        ("error under 200", |_| Reply::Status(200, json!({"error": {"message": KEY, "code": 403}}))),
        ("empty", |_| raw("application/json", "")),
        ("page", |_| raw("text/html", &format!("<html>{KEY}</html>"))),
        ("prose", |_| Reply::Text(format!("I am sorry. {KEY}"))),
        ("at the limit", |value| ended("length")(value)),
        ("filtered", |value| ended("content_filter")(value)),
        ("no end", |value| raw("text/event-stream", &piece(&value.to_string(), &Value::Null))),
        ("half a stream", |value| {
            let text = value.to_string();
            raw("text/event-stream", &piece(&text[..text.len() / 2], &Value::Null))
        }),
        ("half a value", |value| {
            let text = value.to_string();
            Reply::Text(text[..text.len() - 2].to_owned())
        }),
        ("a key twice", |value| {
            Reply::Text(value.to_string().replacen('{', &format!("{{\"x\":1,\"x\":\"{KEY}\",",), 1))
        }),
        ("a trailing comma", |value| {
            let text = value.to_string();
            Reply::Text(format!("{},}}", &text[..text.len() - 1]))
        }),
        ("wrong types", |_| Reply::Json(json!({"calls": 7, "verdicts": 7, "subtasks": 7, "intent": 7}))),
        ("another's reply", |_| Reply::Json(json!({"answer": KEY}))),
    ]
}

/// Faults of an endpoint: reply streams that end too early, in different ways.
fn streams() -> Vec<Fault> {
    vec![
        ("a stream of nothing", |_| raw("text/event-stream", "")),
        ("a stream cut inside an event", |value| {
            let text = piece(&value.to_string(), &json!("stop"));
            raw("text/event-stream", &text[..text.len() - 9])
        }),
        ("a stream of garbage", |value| {
            raw("text/event-stream", &format!("{}data: }}{{\n\n", piece(&value.to_string(), &Value::Null)))
        }),
        ("a stream ended at the limit", |value| raw("text/event-stream", &piece(&value.to_string(), &json!("length")))),
        ("a stream that ends in an error", |value| {
            let error = json!({"error": {"message": KEY, "type": "invalid_request_error"}});
            raw("text/event-stream", &format!("{}data: {error}\n\n", piece(&value.to_string(), &Value::Null)))
        }),
        ("a stream that is no text", |value| {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let piece = piece(&value.to_string(), &json!("stop"));
            Reply::Raw([head.as_bytes(), b"data: \xff\xfe\n\n", piece.as_bytes()].concat())
        }),
        ("a chunk cut off", |value| {
            let piece = piece(&value.to_string(), &json!("stop"));
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            Reply::Raw(format!("{head}{:x}\r\n{}", piece.len(), &piece[..piece.len() / 2]).into_bytes())
        }),
    ]
}

/// A successful HTTP reply with this content, these headers, and a body altered by `change` (such as another encoding).
fn answered(head: &str, content: &str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> Reply {
    let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": content}});
    let body = change(json!({"choices": [choice]}).to_string().into_bytes());
    Reply::Raw([format!("HTTP/1.1 200 OK\r\n{head}connection: close\r\n\r\n").as_bytes(), &body].concat())
}

/// Faults of an endpoint: reply bodies that are wrong in their envelope or in their text.
fn bodies() -> Vec<Fault> {
    const JSON: &str = "content-type: application/json\r\n";
    vec![
        ("402", |_| Reply::Status(402, json!({"error": {"message": KEY}}))),
        ("403", |_| Reply::Status(403, json!({"error": {"message": KEY}}))),
        ("404", |_| Reply::Status(404, json!({"error": {"message": "no such model"}}))),
        ("413", |_| Reply::Status(413, json!({"error": "too large"}))),
        ("422", |_| Reply::Status(422, json!({"detail": [{"msg": KEY}]}))),
        ("500 again and again", |_| Reply::Status(500, json!({"error": {"message": KEY}}))),
        ("too long a wait", |_| {
            Reply::Raw(
                b"HTTP/1.1 429 X\r\nretry-after: 3600\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
            )
        }),
        ("closed before the head", |_| Reply::Raw(Vec::new())),
        ("no HTTP", |_| Reply::Raw(b"220 mail\r\n".to_vec())),
        ("null", |_| raw("application/json", "null")),
        ("no choices", |_| raw("application/json", r#"{"choices":[]}"#)),
        ("null content", |_| {
            raw("application/json", r#"{"choices":[{"finish_reason":"stop","message":{"content":null}}]}"#)
        }),
        ("half a body", |value| answered(&format!("{JSON}content-length: 99999\r\n"), &value.to_string(), |body| body)),
        ("compressed", |value| answered(&format!("{JSON}content-encoding: gzip\r\n"), &value.to_string(), |body| body)),
        ("a picture", |value| answered("content-type: image/png\r\n", &value.to_string(), |body| body)),
        ("no text", |value| {
            answered(JSON, &value.to_string(), |mut body| {
                body.insert(40, 0xff);
                body
            })
        }),
        ("deep", |_| raw("application/json", &"[".repeat(100_000))),
        ("deep in its text", |_| Reply::Text(format!("{{\"a\":{}", "[".repeat(100_000)))),
        ("NaN", |value| Reply::Text(value.to_string().replacen('{', "{\"x\":NaN,", 1))),
        ("a number too large", |value| Reply::Text(value.to_string().replacen('{', "{\"x\":1e400,", 1))),
        ("a comment", |value| Reply::Text(value.to_string().replacen('{', "{// so\n", 1))),
        ("reasoning without an end", |value| Reply::Text(format!("<think>{value}"))),
        ("a refusal", |_| {
            raw(
                "application/json",
                r#"{"choices":[{"finish_reason":"stop","message":{"refusal":"No.","content":null}}]}"#,
            )
        }),
        ("a flood", |_| raw("application/json", &" ".repeat(8 << 20))),
    ]
}

/// Asserts that no file below a folder contains the key.
fn check_no_key(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_no_key(&path);
        } else {
            let kept = std::fs::read(&path).unwrap();
            let found = kept.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "the key stands in {}", path.display());
        }
    }
}

/// Runs a task with a model whose reply at one role has the fault.
fn run(role: &'static str, fault: fn(&Value) -> Reply) -> (RunOutput, World) {
    let world = World::new().with_note();
    let server = Server::start(move |asked| {
        let reply = reads_the_note(asked);
        if asked.schema == role { fault(&reply.into_value()) } else { reply }
    });
    let mut command = world.with_model(&server, &[REQUEST]);
    command.env("ARTOO_LOG", "debug").env("ARTOO_EXCHANGES", world.home().join("exchanges.jsonl"));
    (RunOutput::of(command.output().unwrap()), world)
}

/// Replies without a fault are accepted: the harness of these tests works.
#[test]
fn valid_replies_are_accepted() {
    let (ran, world) = run("none", |_| Reply::Silence);
    // Only the model judged the result, which the output says.
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("buy milk"), "{ran:?}");
    let kept = std::fs::read_to_string(world.home().join("exchanges.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 5, "{kept}");
}

/// Every fault of an endpoint at every role ends the task as it should, and no file or output shows the key.
#[doc = "holds: law 3.10; fault L1 to L37"]
#[test]
fn model_faults_end_correctly_and_hide_key() {
    let all = || faults().into_iter().chain(streams()).chain(bodies());
    assert!(all().count() >= 38, "{}", all().count());
    let jobs: Vec<_> = ROLES.iter().flat_map(|role| all().map(move |fault| (*role, fault))).collect();
    let wrong: Vec<String> = thread::scope(|scope| {
        // As many at once as the machine has room for.
        let runs: Vec<_> = jobs
            .chunks(jobs.len().div_ceil(4))
            .map(|chunk| {
                scope.spawn(move || {
                    chunk.iter().filter_map(|(role, (name, fault))| check(role, name, *fault)).collect::<Vec<_>>()
                })
            })
            .collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a task with a fault at one role; `None` if it ended as it should, else a description of what was wrong.
fn check(role: &'static str, name: &str, fault: fn(&Value) -> Reply) -> Option<String> {
    let (ran, world) = run(role, fault);
    check_no_key(&world.home());
    // Without a plan or an executor, the exit code is that of an unusable model. Unjudged work is delivered as such.
    let expected: &[i32] = match role {
        "task_spec" | "plan" | "execution" => &[7],
        _ => &[7, 9],
    };
    let is_right = ran.code.is_some_and(|code| expected.contains(&code)) && !ran.stderr.contains('✓');
    (!is_right).then(|| format!("{role}, {name}: {ran:?}"))
}

/// A good reply that reports 9,000 tokens, to exhaust a budget.
fn dear_reply(value: &Value) -> Reply {
    let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": value.to_string()}});
    let usage = json!({"prompt_tokens": 8_900, "completion_tokens": 100});
    raw("application/json", &json!({"model": "a-model", "choices": [choice], "usage": usage}).to_string())
}

/// No model call is made that could exceed the token or cost limit.
#[doc = "holds: law 3.6"]
#[test]
fn no_model_call_exceeds_the_budget() {
    let world = World::new().with_note();
    let server = Server::start(reads_the_note);
    for arguments in [["--max-tokens", "100"], ["--max-cost", "0.01"]] {
        let ran = RunOutput::of(world.with_model(&server, &[arguments[0], arguments[1], REQUEST]).output().unwrap());
        // Neither can carry the task to its end, so nothing is begun.
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
    assert!(server.asked().is_empty(), "a call was made");
    // Enough to begin with, and used up on the way: each call counts what the endpoint says it took.
    let dear = Server::start(|asked| dear_reply(&reads_the_note(asked).into_value()));
    let ran = RunOutput::of(world.with_model(&dear, &["--max-tokens", "12000", REQUEST]).output().unwrap());
    assert_eq!((ran.code, dear.asked().len()), (Some(7), 1), "{ran:?}");
    assert!(ran.stderr.to_lowercase().contains("the budget is spent"), "{ran:?}");
    let mut command = world.with_model(&server, &["--max-cost", "5", REQUEST]);
    let ran = RunOutput::of(command.env("ARTOO_PRICES", "a-model=1/2").output().unwrap());
    // Five calls of 100 tokens sent at 1 and 20 received at 2 dollars a million.
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("5 model calls, 600 tokens, $0.0007"), "{ran:?}");
}

#[doc = "holds: design D12"]
#[test]
fn use_of_fallback_model_is_reported() {
    let world = World::new().with_note();
    let first = Server::start(|_| Reply::Status(401, json!({"error": {"message": "no"}})));
    let second = Server::start(reads_the_note);
    let mut command = world.with_model(&first, &[REQUEST]);
    command.env("ARTOO_FALLBACK", format!("openai:spare@{}", second.url()));
    let ran = RunOutput::of(command.output().unwrap());
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("spare answers in place of a-model"), "{ran:?}");
    // The first one's key stays with it.
    assert_eq!(second.asked().len(), 5);
    assert!(second.asked().iter().all(|asked| asked.authorization.is_empty()), "the key went elsewhere");
}

/// `artoo doctor --probe` finds out what an endpoint supports and stores that for later tasks.
#[doc = "holds: client C6"]
#[test]
fn doctor_probes_and_stores_endpoint_abilities() {
    let world = World::new();
    std::fs::create_dir_all(world.data_dir()).unwrap();
    let server = Server::start(|asked| match asked.body["response_format"]["type"].as_str() {
        Some("json_schema") => {
            Reply::Status(400, json!({"error": {"message": "response_format", "param": "response_format"}}))
        }
        Some(_) => Reply::Json(json!({"sea": "wide"})),
        None => Reply::Text("The sea is wide.".to_owned()),
    });
    let doctor = |arguments: &[&str]| RunOutput::of(world.with_model(&server, arguments).output().unwrap()).stdout;
    assert!(doctor(&["doctor"]).contains("abilities: not found out yet"));
    assert!(server.asked().is_empty(), "a model was asked without being told to");
    let found = doctor(&["doctor", "--probe"]);
    assert!(found.contains("replies requested by JSON object, JSON schema refused"), "{found}");
    let remembered = doctor(&["doctor"]);
    assert!(
        remembered.contains("replies requested by JSON object") && remembered.contains("found 0 days ago"),
        "{remembered}"
    );
}
