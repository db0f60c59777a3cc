//! Servers of the Model Context Protocol: a Python script that behaves well or badly, called over its pipes.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, ConsentHash, ConsentScope, EffectClass, ToolCall, ToolOrder, ToolOutcome};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Fixture, called, put, snapshot, task};
use crate::undo::UndoConfig;

/// A fixture with views and one server in this mode; `more` is added to its manifest.
fn fixture(mode: &str, more: &str) -> Option<Fixture> {
    fixture_with(true, mode, more)
}

/// A fixture with one server in this mode; `None`, with a message, if Python is missing.
fn fixture_with(views: bool, mode: &str, more: &str) -> Option<Fixture> {
    if !["/usr/bin/python3", "/usr/local/bin/python3"].iter().any(|path| Path::new(path).exists()) {
        eprintln!("skipped: python3 is not installed");
        return None;
    }
    let manifest = format!("name = \"test\"\ncommand = [\"./server\", \"{mode}\"]\n{more}");
    // Started programs create folders in /tmp, which would invalidate the server's rules for reading.
    let fixture = Fixture::within(TempDir::new_in("/var/tmp").unwrap(), |config| {
        config.views = views;
        config.undo = Some(UndoConfig::new(Path::new(&config.environment.home).join(".artoo/undo")));
        put(&Path::new(&config.environment.home).join("work/a.txt"), "old\n", 0o644);
        let folder = Path::new(&config.environment.home).join("mcp");
        put(&folder.join("server"), include_str!("mcp_server.py"), 0o755);
        put(&folder.join("test.toml"), &manifest, 0o644);
        config.mcp = Some(folder);
    });
    fixture.file(".ssh/id_rsa", "KEY");
    fixture.file(".artoo/own", "KEY");
    Some(fixture)
}

/// The order of a call in whose plan the tool is allowed.
fn context(tool: &str, input: Value) -> ToolOrder {
    ToolOrder { task_id: task(), allowed_tools: vec![tool.to_owned()], ..Fixture::context(tool, input) }
}

/// The record of a call that needs no approval.
async fn call_without_approval(fixture: &Fixture, tool: &str, input: Value) -> ToolCall {
    called(fixture.outcome(&context(tool, input), None).await)
}

/// The question about a call that must ask: its digest, and everything that it shows.
async fn asked(fixture: &Fixture, tool: &str, input: Value) -> (ConsentHash, String) {
    match fixture.outcome(&context(tool, input), None).await {
        ToolOutcome::NeedsConsent { hash, effects, reason, .. } => (hash, format!("{reason}\n{}", effects.join("\n"))),
        ToolOutcome::Called { call } => panic!("{tool} was not asked about: {call:?}"),
    }
}

/// The record of a call whose questions, two at most, are all approved.
async fn allowed(fixture: &Fixture, tool: &str, input: Value) -> ToolCall {
    let (context, mut grant) = (context(tool, input), None);
    for _ in 0..3 {
        match fixture.outcome(&context, grant.take()).await {
            ToolOutcome::NeedsConsent { hash, .. } => grant = Some(fixture.registry.grant(&hash, ConsentScope::Once)),
            ToolOutcome::Called { call } => return call,
        }
    }
    panic!("{tool} asks for ever")
}

/// The problems of all configured tools, one a line.
fn problems(fixture: &Fixture) -> String {
    fixture.registry.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Names of the tools of the server `test` that are offered.
fn names(fixture: &Fixture) -> Vec<String> {
    let specs = fixture.registry.specs().into_iter().map(|spec| spec.name);
    specs.filter_map(|name| name.strip_prefix("test.").map(str::to_owned)).collect()
}

/// Calls that only read are answered without approval, at least two in a row by the same server process, and see files
/// made since its start.
#[doc = "holds: law 1.26"]
#[tokio::test]
async fn reading_calls_share_one_server_process() {
    for views in [true, false] {
        let Some(fixture) = fixture_with(views, "good", "") else { return };
        let tools = "echo fail slow die variables big pid read write connect leave".to_owned();
        assert_eq!((names(&fixture).join(" "), problems(&fixture)), (tools, String::new()));
        let call = call_without_approval(&fixture, "test.echo", json!({"text": "hello"})).await;
        let found = (call.status, call.class, call.exit_code, call.changes_known);
        assert_eq!(found, (CallStatus::Ok, EffectClass::ReadOnly, None, true), "{call:?}");
        assert_eq!(call.output, "echo: hello\n[an image, not shown]\n[as the server test says]");
        let call = call_without_approval(&fixture, "test.fail", json!({})).await;
        assert_eq!(call.status, CallStatus::Failed, "{call:?}");
        assert!(call.output.starts_with("it went wrong"), "{call:?}");
        let call = call_without_approval(&fixture, "test.read", json!({"path": "work/a.txt"})).await;
        assert!(call.output.starts_with("old"), "{call:?}");
        // The server would not see files that others create beside the home, so it is started again after each of them:
        // other tests create some for seconds.
        let mut numbers = Vec::new();
        while numbers.len() < 600 && !numbers.windows(2).any(|two| two[0] == two[1]) {
            numbers.push(call_without_approval(&fixture, "test.pid", json!({})).await.output);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(numbers.windows(2).any(|two| two[0] == two[1]), "{numbers:?}");
        // A file made after the server started is read, too; before it is made, the same call fails.
        let call = call_without_approval(&fixture, "test.read", json!({"path": "new.txt"})).await;
        assert_eq!(call.status, CallStatus::Failed, "{call:?}");
        fixture.registry.forget(&task());
        fixture.file("new.txt", "later");
        let call = call_without_approval(&fixture, "test.read", json!({"path": "new.txt"})).await;
        assert!(call.output.starts_with("later"), "{call:?}");
    }
}

/// Changes by an MCP server are asked about, committed after approval, and reverted by an undo.
#[tokio::test]
async fn server_changes_are_approved_committed_and_undone() {
    for views in [true, false] {
        let Some(fixture) = fixture_with(views, "good", "") else { return };
        let before = snapshot(&fixture.home.join("work"));
        let write = || json!({"path": "work/a.txt", "text": "new\n"});
        let (hash, question) = asked(&fixture, "test.write", write()).await;
        assert!(question.contains("a.txt"), "{question}");
        assert_eq!(snapshot(&fixture.home.join("work")), before);
        fixture.registry.refuse(&task(), &hash);
        let call = call_without_approval(&fixture, "test.write", write()).await;
        assert_eq!(call.status, CallStatus::Denied, "{call:?}");
        assert_eq!(snapshot(&fixture.home.join("work")), before);
        fixture.registry.forget(&task());
        let call = allowed(&fixture, "test.write", write()).await;
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
        assert!(call.changed.iter().any(|change| change.path.ends_with("a.txt")), "{call:?}");
        assert_eq!(fs::read_to_string(fixture.home.join("work/a.txt")).unwrap(), "new\n");
        fixture.undo();
        assert_eq!(snapshot(&fixture.home.join("work")), before);
        let call = call_without_approval(&fixture, "test.echo", json!({"text": "still there"})).await;
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    }
}

/// If one of several parallel calls of a server asks about its change, the others are still recorded as reading only.
#[tokio::test]
async fn parallel_calls_are_judged_separately() {
    let Some(fixture) = fixture("good", "") else { return };
    let echo = || call_without_approval(&fixture, "test.echo", json!({"text": "a"}));
    for _ in 0..3 {
        let write = asked(&fixture, "test.write", json!({"path": "work/a.txt", "text": "new\n"}));
        let (one, (_, question), two, three) = tokio::join!(echo(), write, echo(), echo());
        assert!(question.contains("a.txt"), "{question}");
        for call in [one, two, three] {
            let found = (call.status, call.class, call.changes_known);
            assert_eq!(found, (CallStatus::Ok, EffectClass::ReadOnly, true), "{call:?}");
        }
        fixture.registry.forget(&task());
    }
}

/// A server's tool runs without approval if it only creates workspace files or its manifest grants it, unless caution
/// is advised or the manifest says that it only reads.
#[doc = "holds: law 1.26"]
#[tokio::test]
async fn only_new_or_granted_changes_run_unasked() {
    let Some(plain) = fixture("good", "") else { return };
    let new = || json!({"path": "artoo_workspace/new", "text": "x"});
    let call = call_without_approval(&plain, "test.write", new()).await;
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Creating), "{call:?}");
    assert!(plain.workspace().join("new").exists());
    plain.undo();
    assert!(!plain.workspace().join("new").exists());
    let Some(granting) = fixture("good", "granted = [\"write\"]\n") else { return };
    let write = || json!({"path": "work/a.txt", "text": "new\n"});
    let cautious = ToolOrder { confirm: true, ..context("test.write", write()) };
    let outcome = granting.outcome(&cautious, None).await;
    assert!(matches!(outcome, ToolOutcome::NeedsConsent { .. }), "D22: {outcome:?}");
    let call = call_without_approval(&granting, "test.write", write()).await;
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Unproven), "{call:?}");
    granting.undo();
    assert_eq!(fs::read_to_string(granting.home.join("work/a.txt")).unwrap(), "old\n");
    let claims = "granted = [\"write\", \"echo\"]\nread_only = [\"write\", \"echo\"]\n";
    let Some(claiming) = fixture("good", claims) else { return };
    fs::create_dir_all(claiming.workspace()).unwrap();
    for (input, expected) in [(new(), "says that it changes nothing"), (write(), "a.txt")] {
        let (_, question) = asked(&claiming, "test.write", input).await;
        assert!(question.contains(expected), "{question}");
    }
    let call = call_without_approval(&claiming, "test.echo", json!({"text": "a"})).await;
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::ReadOnly), "{call:?}");
}

/// An MCP server can't read secrets and protected files.
#[tokio::test]
async fn servers_cannot_read_secrets() {
    for (views, more) in [(true, ""), (false, ""), (true, "network = true\ngranted = [\"read\"]\n")] {
        let Some(fixture) = fixture_with(views, "good", more) else { return };
        for path in [".ssh/id_rsa", ".artoo/own", "work/../.ssh/id_rsa"] {
            let call = call_without_approval(&fixture, "test.read", json!({"path": path})).await;
            assert!(call.status == CallStatus::Failed && !call.output.contains("KEY"), "{path}: {call:?}");
        }
    }
}

/// An MCP server reaches only the network addresses that the user approved.
#[tokio::test]
async fn server_network_access_is_limited_to_grants() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = || json!({"port": port});
    for views in [true, false] {
        let Some(fixture) = fixture_with(views, "good", "") else { return };
        let (_, question) = asked(&fixture, "test.connect", connect()).await;
        assert!(question.contains(&format!("connect to 127.0.0.1:{port}")), "{question}");
        assert!(listener.accept().is_err(), "it was connected before the question");
        let call = allowed(&fixture, "test.connect", connect()).await;
        assert!(call.output.starts_with("connected"), "{call:?}");
        assert!(listener.accept().is_ok());
        let Some(fixture) = fixture_with(views, "good", "network = true\n") else { return };
        let (_, question) = asked(&fixture, "test.connect", connect()).await;
        assert!(question.contains("may leave this machine"), "{question}");
        assert!(listener.accept().is_err(), "it was connected before the question");
    }
    let Some(fixture) = fixture("good", "network = true\ngranted = [\"connect\"]\n") else { return };
    let call = call_without_approval(&fixture, "test.connect", connect()).await;
    assert!(call.output.starts_with("connected"), "{call:?}");
}

/// A server that writes at its start can't be started without approval of changes; the changes it makes while its tools
/// are listed are discarded.
#[tokio::test]
async fn server_that_writes_at_start_needs_approval() {
    let Some(fixture) = fixture("noting", "") else { return };
    assert!(problems(&fixture).is_empty() && !names(&fixture).is_empty(), "{}", problems(&fixture));
    assert!(!fixture.home.join("work/log").exists());
    let (_, question) = asked(&fixture, "test.echo", json!({"text": "a"})).await;
    assert!(question.contains("work/log"), "{question}");
    assert_eq!(allowed(&fixture, "test.echo", json!({"text": "a"})).await.status, CallStatus::Ok);
    assert_eq!(fs::read_to_string(fixture.home.join("work/log")).unwrap(), "started\n");
}

/// Inputs of an MCP server's tool are refused if they do not fit its schema, are too long, or name protected paths.
#[tokio::test]
async fn server_inputs_are_checked() {
    let Some(fixture) = fixture("good", "granted = [\"echo\"]") else { return };
    fixture.file(".ssh/id", "");
    for (input, status, expected) in [
        (json!({}), CallStatus::Failed, "text: it is missing"),
        (json!({"text": "a", "more": 1}), CallStatus::Failed, "more: there is no such input"),
        (json!({"text": "a\u{202e}b"}), CallStatus::Denied, "invisible or control"),
        (json!({"text": "x".repeat(20_000)}), CallStatus::Failed, "input"),
        (json!({"text": "~/.ssh/id"}), CallStatus::Denied, "protected"),
        (json!({"text": "file:///etc/shadow"}), CallStatus::Denied, "protected"),
        (json!({"text": ["/etc/shadow"]}), CallStatus::Denied, "protected"),
        (json!(["a"]), CallStatus::Failed, "JSON object"),
    ] {
        let call = allowed(&fixture, "test.echo", input.clone()).await;
        assert_eq!(call.status, status, "{input}: {call:?}");
        assert!(call.output.contains(expected), "{input}: {call:?}");
    }
}

/// Names, descriptions and schemas that a server gives its tools are cut, stripped or refused, since they enter
/// prompts.
#[doc = "holds: law 1.26; design H8"]
#[tokio::test]
async fn hostile_server_descriptions_are_sanitised() {
    let Some(fixture) = fixture("hostile", "") else { return };
    assert_eq!(names(&fixture), ["evil"]);
    let spec = fixture.registry.specs().into_iter().find(|spec| spec.name == "test.evil").unwrap();
    assert!(spec.description.starts_with("[as the server test says:] ok\\n\\u{1b}[2JDATA-0>>\\n"), "{spec:?}");
    assert!(spec.description.chars().count() < 450 && !spec.description.contains('\n'), "{spec:?}");
    assert!(!spec.input_schema.to_string().contains("IGNORE"), "{spec:?}");
    let told = problems(&fixture);
    for expected in
        ["its tool \"rm -rf\" has no usable name", "its tool listed: its input is no object", "its tool deep"]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let Some(fixture) = super::mcp::fixture("many", "") else { return };
    assert_eq!(names(&fixture).len(), 64);
    assert!(problems(&fixture).contains("64 are offered"), "{}", problems(&fixture));
}

/// A server that breaks the protocol is reported as a problem; one that hangs or dies fails its call.
#[tokio::test]
async fn failing_servers_are_reported() {
    let Some(garbage) = fixture("garbage", "") else { return };
    assert!(problems(&garbage).contains("does not follow the protocol"), "{}", problems(&garbage));
    assert!(garbage.registry.specs().iter().any(|spec| spec.name == "glob"));
    let Some(fixture) = fixture("good", "timeout_s = 1\n") else { return };
    let call = allowed(&fixture, "test.slow", json!({})).await;
    assert_eq!(call.status, CallStatus::TimedOut, "{call:?}");
    let Some(fixture) = super::mcp::fixture("good", "") else { return };
    let call = allowed(&fixture, "test.die", json!({})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    let call = call_without_approval(&fixture, "test.echo", json!({"text": "a"})).await;
    assert_eq!(call.status, CallStatus::Ok, "it was not started again: {call:?}");
    let Some(fixture) = super::mcp::fixture("good", "granted = \"echo\"") else { return };
    assert!(problems(&fixture).contains("line 3"), "{}", problems(&fixture));
    let Some(fixture) = super::mcp::fixture("good", "grants = [\"echo\"]") else { return };
    assert!(problems(&fixture).contains("grants is not a known key (did you mean granted?)"), "{}", problems(&fixture));
}

/// An MCP server gets only allowlisted environment variables and those that its manifest passes.
#[tokio::test]
async fn server_gets_only_passed_variables() {
    let usual =
        ["USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG", "HOME", "PATH", "LC_ALL", "LC_CTYPE", "TERM", "PWD"];
    let is_plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let names = std::env::vars().map(|(name, _)| name).filter(|name| is_plain(name) && !usual.contains(&name.as_str()));
    let names: Vec<String> = names.collect();
    let Some((passed, kept)) = names.split_first() else { return eprintln!("skipped: no variable to pass") };
    let manifest = format!("pass = [{passed:?}]\ngranted = [\"variables\"]");
    let Some(fixture) = fixture("good", &manifest) else { return };
    let call = allowed(&fixture, "test.variables", json!({})).await;
    let got: Vec<&str> = call.output.lines().next().unwrap().split(' ').collect();
    assert!(got.contains(&passed.as_str()) && got.contains(&"HOME"), "{passed}: {call:?}");
    assert!(!kept.iter().any(|name| got.contains(&name.as_str())), "{kept:?}: {call:?}");
}

/// A server that never answers delays the start only up to the time limit, and none of its processes is left.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn silent_server_ends_with_its_descendants() {
    let begun = Instant::now();
    let Some(fixture) = fixture("silent", "") else { return };
    assert!(problems(&fixture).contains("in time"), "{}", problems(&fixture));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let home = fixture.home.to_str().unwrap().to_owned();
    assert_eq!(running(&home), 0, "the server or its child is still there");
    let Some(good) = super::mcp::fixture("good", "") else { return };
    let home = good.home.to_str().unwrap().to_owned();
    assert_eq!(running(&home), 1);
    let call = call_without_approval(&good, "test.leave", json!({})).await;
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Creating), "{call:?}");
    assert_eq!(running(&home), 0, "what the server started outlived it");
    call_without_approval(&good, "test.pid", json!({})).await;
    assert_eq!(running(&home), 1);
    drop(good);
    assert_eq!(running(&home), 0, "the server outlived its registry");
}

/// Number of living processes whose working folder is in this home.
#[cfg(target_os = "linux")]
fn running(home: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_ours = |process: &std::path::PathBuf| {
        let folder = std::fs::read_link(process.join("cwd")).is_ok_and(|folder| folder.starts_with(home));
        let is_dead = std::fs::read_to_string(process.join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        folder && !is_dead
    };
    processes
        .filter(|process| process.file_name().unwrap().to_str().unwrap().parse::<u32>().is_ok())
        .filter(is_ours)
        .count()
}
