//! Makes artoo fail in many ways and searches its output and every file for the endpoint's key, which must not be
//! found.
//!
//! Every server quotes the key back, every place a key can come from holds one, and the log is at its most talkative.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::pty::Pty;
use crate::server::{NOTE_REQUEST as REQUEST, Reply, Server};
use crate::world::World;

/// The endpoint's key in these tests. Its middle part stays the same when encoded in a header, a URL or JSON.
const KEY: &str = "sk-canary-9f8e7d6c5b4a392817065f4e3d2c1b0a";

/// The part of the key that is searched for, since a part of a key must not be shown either.
const TRACE: &str = "9f8e7d6c5b4a3928";

/// A home folder, whose files are searched for the key, and the user's own key files, which are not.
struct Canary {
    world: World,
    /// Files in which a person put the key.
    own: BTreeSet<PathBuf>,
}

impl Canary {
    /// Creates the home folder with a note and a temporary folder.
    fn new() -> Self {
        let world = World::new().with_note();
        fs::create_dir(world.home().join("tmp")).unwrap();
        Self { world, own: BTreeSet::new() }
    }

    /// Writes the user's file that holds the key, readable by its owner only.
    fn secret_file(&mut self, path: &str, text: &str) -> PathBuf {
        let path = self.world.file(path, text);
        fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        self.own.insert(path.clone());
        path
    }

    /// Writes the configuration file.
    fn config(&mut self, text: &str) {
        self.secret_file(".config/artoo/config.toml", text);
    }

    /// The command that runs artoo with all logs turned on and its temporary files in the home folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.command(arguments);
        command
            .env("ARTOO_LOG", "trace")
            .env("ARTOO_EXCHANGES", self.world.home().join("exchanges.jsonl"))
            .env("TMPDIR", self.world.home().join("tmp"))
            .env("RUST_BACKTRACE", "full");
        command
    }

    /// The command that runs artoo with all logs turned on and a model at this URL.
    fn asking(&self, url: &str, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command
            .env("ARTOO_REFLEX_FIRST", "false")
            .env("OPENAI_BASE_URL", url)
            .env("OPENAI_MODEL", "a-model")
            .env("OPENAI_API_KEY", KEY);
        command
    }

    /// Runs the command, asserts that the key is neither in its output nor in any file, and returns the output.
    #[track_caller]
    fn check(&self, what: &str, command: &mut Command) -> String {
        let output = command.output().unwrap();
        let shown = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!shown.contains(TRACE), "{what} shows the key: {shown}");
        assert!(!shown.contains("panicked"), "{what}: {shown}");
        self.check_files(what);
        shown
    }

    /// Asserts that the key is in no file and no file name below the home folder.
    #[track_caller]
    fn check_files(&self, what: &str) {
        let mut folders = vec![self.world.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                assert!(!path.to_string_lossy().contains(TRACE), "{what}: the key is a name: {}", path.display());
                if path.is_dir() {
                    folders.push(path);
                } else if !self.own.contains(&path) {
                    check_file(what, &path);
                }
            }
        }
    }
}

/// Asserts that the key is not in a file.
#[track_caller]
fn check_file(what: &str, path: &Path) {
    let kept = fs::read(path).unwrap();
    let found = kept.windows(TRACE.len()).any(|window| window == TRACE.as_bytes());
    assert!(!found, "{what}: the key stands in {}", path.display());
}

/// A raw HTTP reply of the test server with this status line (and headers) and body.
fn raw(head: &str, body: &str) -> Reply {
    Reply::Raw(format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}").into_bytes())
}

/// An error reply that quotes the key.
fn quoting(status: u16) -> impl Fn() -> Reply {
    move || Reply::Status(status, json!({"error": {"message": format!("bad key {KEY}"), "code": KEY, "param": KEY}}))
}

/// A function that makes the reply of a failing endpoint.
type Fault = Box<dyn Fn() -> Reply + Send + Sync>;

/// Named replies of failing endpoints; each quotes the key, as a careless server would.
fn faults() -> Vec<(&'static str, Fault)> {
    let json_type = "content-type: application/json";
    let stream = "200 OK\r\ncontent-type: text/event-stream";
    vec![
        ("400", Box::new(quoting(400))),
        ("401", Box::new(quoting(401))),
        ("403", Box::new(quoting(403))),
        ("404", Box::new(quoting(404))),
        ("429", Box::new(|| raw(&format!("429 X\r\nretry-after: 999\r\nx: {KEY}"), &format!("slow down, {KEY}")))),
        ("quota", Box::new(|| Reply::Status(429, json!({"error": {"message": KEY, "code": "insufficient_quota"}})))),
        ("500", Box::new(|| raw("500 X\r\nretry-after: 0", &format!("<html>{KEY}</html>")))),
        ("529", Box::new(|| raw("529 X\r\nretry-after: 0", &format!("{{\"error\":{{\"message\":\"{KEY}\"}}}}")))),
        ("redirect", Box::new(|| raw(&format!("302 X\r\nlocation: http://127.0.0.1:9/?key={KEY}"), ""))),
        ("no HTTP", Box::new(|| Reply::Raw(format!("{KEY}\r\n\r\n").into_bytes()))),
        (
            "error under 200",
            Box::new(move || raw(&format!("200 OK\r\n{json_type}"), &format!("{{\"error\":\"{KEY}\"}}"))),
        ),
        ("words", Box::new(|| Reply::Text(format!("Your key is {KEY}.")))),
        ("a value", Box::new(|| Reply::Json(json!({KEY: KEY})))),
        (
            "a fitting value",
            Box::new(|| {
                Reply::Json(json!({
                    "task_id": KEY, "intent": KEY, "constraints": {"scope": KEY, "deadline": KEY}, "question": KEY,
                }))
            }),
        ),
        (
            "a cut stream",
            Box::new(move || {
                let piece = json!({"choices": [{"index": 0, "delta": {"content": format!("{{\"intent\":\"{KEY}")}}]});
                raw(stream, &format!("data: {piece}\n\n"))
            }),
        ),
        ("a cut key", Box::new(move || raw(&format!("200 OK\r\n{json_type}"), &KEY[..30]))),
        (
            "an error in a stream",
            Box::new(move || raw(stream, &format!("data: {}\n\n", json!({"error": {"message": KEY, "code": 500}})))),
        ),
        ("another type", Box::new(|| raw(&format!("200 OK\r\ncontent-type: {KEY}"), KEY))),
        ("another encoding", Box::new(|| raw(&format!("200 OK\r\ncontent-encoding: {KEY}"), KEY))),
    ]
}

#[doc = "holds: law 3.8; fault L4"]
#[test]
fn failing_endpoints_do_not_reveal_the_key() {
    for (name, fault) in faults() {
        let canary = Canary::new();
        let server = Server::start(move |_| fault());
        for arguments in [&[REQUEST][..], &["--json", REQUEST], &["doctor", "--probe"], &["--estimate", REQUEST]] {
            let what = format!("{name}, {arguments:?}");
            canary.check(&what, &mut canary.asking(&server.url(), arguments));
        }
        assert!(!server.asked().is_empty(), "{name}: nobody was asked");
    }
}

#[doc = "holds: law 3.8; fault L4"]
#[test]
fn protocols_and_key_sources_hide_the_key() {
    let canary = Canary::new();
    let server = Server::start(|_| quoting(401)());
    let root = server.url().replace("/v1", "");
    let responses = [("OPENAI_BASE_URL", root.as_str()), ("OPENAI_API_KEY", KEY)];
    let anthropic = [("ANTHROPIC_BASE_URL", root.as_str()), ("ANTHROPIC_API_KEY", KEY)];
    let ollama = [("OLLAMA_HOST", root.as_str()), ("OLLAMA_API_KEY", KEY)];
    let header = format!("x-key: {KEY}; x-other: {KEY}");
    let headers = [("OPENAI_BASE_URL", root.as_str()), ("ARTOO_HEADERS", header.as_str())];
    let spare = format!("openai:b@{root}");
    let others = [
        ("OPENAI_BASE_URL", "http://127.0.0.1:9"),
        ("ARTOO_FALLBACK", &spare),
        ("ARTOO_FALLBACK_KEY", KEY),
        ("ARTOO_HANDS", &spare),
        ("ARTOO_HANDS_KEY", KEY),
    ];
    let in_query = format!("{root}/v1?api_key={KEY}");
    let query = [("OPENAI_BASE_URL", in_query.as_str())];
    for (model, variables) in [
        ("responses:m", &responses[..]),
        ("anthropic:m", &anthropic),
        ("ollama:m", &ollama),
        ("openai:m", &headers),
        ("openai:m", &others),
        ("openai:m", &query),
    ] {
        for arguments in [&[REQUEST][..], &["--json", REQUEST], &["doctor", "--probe"], &["config", "show", "--origin"]]
        {
            let mut command = canary.command(&[&["--model", model], arguments].concat());
            canary.check(&format!("{model} {variables:?} {arguments:?}"), command.envs(variables.iter().copied()));
        }
    }
    // Spelled out in a choice of model, where it should not be.
    let spelled = format!("openai:m@{in_query}");
    let with_user = format!("openai:m@http://me:{KEY}@127.0.0.1:9");
    for model in [&spelled, &with_user] {
        for arguments in [&[REQUEST][..], &["doctor"], &["config", "show"]] {
            canary.check("a spelled model", &mut canary.command(&[&["--model", model], arguments].concat()));
            let mut command = canary.asking(&root, arguments);
            canary.check("a spelled fallback", command.env("ARTOO_FALLBACK", model).env("ARTOO_HANDS", model));
        }
    }
}

/// No output shows the endpoint's key if the connection is lost or the URL is invalid.
#[doc = "holds: law 3.8; fault L5"]
#[test]
fn no_lost_connection_shows_the_key() {
    let canary = Canary::new();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in [format!("http://{address}/v1"), "ftp://x".to_owned()] {
        for arguments in [&[REQUEST][..], &["--json", REQUEST], &["doctor", "--probe"]] {
            canary.check(&format!("{url} {arguments:?}"), &mut canary.asking(&url, arguments));
        }
    }
}

/// Errors about a key written in the wrong place of the configuration don't show it.
#[doc = "holds: law 3.8; design F1"]
#[test]
fn config_errors_hide_the_key() {
    // Slips that people make, and each is refused.
    let slips = [
        format!("api_key = \"{KEY}\""),
        format!("model = \"openai\"\nkey_variable = \"{KEY}\""),
        format!("model = \"openai\"\nkey_file = \"{KEY}\""),
        format!("model = \"openai\"\nkey_command = \"{KEY}\""),
        format!("model = \"openai\"\nkey_command = \"echo {KEY} >&2; echo {KEY}; exit 3\""),
        format!("model = \"openai\"\nkey_command = \"echo {KEY} >&2\""),
        format!("key = {KEY}"),
        format!("\"{KEY}\" = \"x\""),
        format!("hands_key_variable = \"{KEY}\""),
    ];
    for slip in slips {
        let mut canary = Canary::new();
        canary.config(&format!("{slip}\n"));
        for arguments in [&[REQUEST][..], &["--json", REQUEST], &["doctor"], &["config", "show", "--origin"]] {
            let shown = canary.check(&format!("{slip} {arguments:?}"), &mut canary.command(arguments));
            assert!(shown.contains("config.toml") || shown.contains("key file"), "{slip}: {shown}");
        }
    }
}

/// A key read from a file or a command is not copied to any other file.
#[doc = "holds: law 3.8; fault L4"]
#[test]
fn configured_key_is_not_copied() {
    let server = Server::start(|_| quoting(401)());
    let base = format!("model = \"openai\"\nbase_url = \"{}\"\nmodel_name = \"m\"\n", server.url());
    let mut canary = Canary::new();
    let file = canary.secret_file("keys/key", &format!("{KEY}\n"));
    let places = [
        format!("key_file = {:?}", file.to_str().unwrap()),
        format!("key_command = \"echo {KEY}; echo and {KEY} again >&2\""),
    ];
    for place in places {
        canary.config(&format!("{base}{place}\n"));
        for arguments in [&[REQUEST][..], &["--json", REQUEST], &["doctor", "--probe"], &["config", "show", "--origin"]]
        {
            canary.check(&format!("{place} {arguments:?}"), &mut canary.command(arguments));
        }
    }
    let sent = format!("Bearer {KEY}");
    assert!(server.asked().iter().any(|asked| asked.authorization == sent), "the key was never used");
    // A file that others can read, and one that holds no key that could be sent.
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    canary.config(&format!("{base}key_file = {:?}\n", file.to_str().unwrap()));
    canary.check("an open key file", &mut canary.command(&[REQUEST]));
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, format!("{KEY}\u{e9}\n")).unwrap();
    canary.check("a key that can't be sent", &mut canary.command(&[REQUEST]));
}

#[doc = "holds: law 3.8; fault L4"]
#[test]
fn setup_and_prompt_hide_the_key() {
    let canary = Canary::new();
    let server = Server::start(|_| quoting(401)());
    let mut pty = Pty::start(&canary.asking(&server.url(), &["setup"]), 120);
    pty.see("Who is to answer?");
    pty.send("\r");
    pty.see("Which model?");
    pty.send("\r");
    pty.see("all the same?");
    pty.send("\r");
    let (_, _, bytes) = pty.ended_with_bytes();
    assert!(bytes.contains("It did not work") && !bytes.contains(TRACE), "{bytes}");
    canary.check_files("setup");
    let mut pty = Pty::start(&canary.asking(&server.url(), &[]), 120);
    pty.prompt("");
    pty.enter(REQUEST);
    pty.see("he key was not accepted");
    pty.prompt("");
    for command in ["/cost", "/audit", "/memory", "/exit"] {
        pty.enter(command);
    }
    let (_, _, bytes) = pty.ended_with_bytes();
    assert!(!bytes.contains(TRACE), "{bytes}");
    canary.check_files("the prompt");
    for arguments in
        [&["audit"][..], &["audit", "--json"], &["evidence", "list"], &["undo", "--list"], &["rules", "list"]]
    {
        canary.check(&format!("{arguments:?}"), &mut canary.asking(&server.url(), arguments));
    }
}

/// The search of these tests finds the key when a file contains it: a test of the test.
#[test]
fn canary_key_is_detectable_in_output() {
    let canary = Canary::new();
    canary.world.file("tmp/left", format!("x{KEY}"));
    let seen = std::panic::catch_unwind(|| canary.check_files("a plant")).is_err();
    assert!(seen, "a planted key was overlooked");
    let seen = std::panic::catch_unwind(|| {
        Canary::new().check("a plant", Command::new("sh").args(["-c", &format!("echo {KEY} >&2")]))
    });
    assert!(seen.is_err(), "a shown key was overlooked");
}
