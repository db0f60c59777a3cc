//! Servers of the Model Context Protocol: a real one over its pipes, in the ways servers can be.

use std::path::Path;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolCall, ToolOrder, ToolOutcome};
use serde_json::{Value, json};

use super::{House, called, put};

/// A house with one server in this mode; `None`, said aloud, where there is no Python to run it.
fn house(mode: &str, more: &str) -> Option<House> {
    if !["/usr/bin/python3", "/usr/local/bin/python3"].iter().any(|path| Path::new(path).exists()) {
        eprintln!("skipped: python3 is not installed");
        return None;
    }
    let manifest = format!("name = \"test\"\ncommand = [\"./server\", \"{mode}\"]\n{more}");
    Some(House::with(|config| {
        let folder = Path::new(&config.environment.home).join("mcp");
        put(&folder.join("server"), include_str!("mcp_server.py"), 0o755);
        put(&folder.join("test.toml"), &manifest, 0o644);
        config.mcp = Some(folder);
    }))
}

fn context(tool: &str, input: Value) -> ToolOrder {
    ToolOrder { allowed_tools: vec![tool.to_owned()], ..House::context(tool, input) }
}

async fn allowed(house: &House, tool: &str, input: Value) -> ToolCall {
    let context = context(tool, input);
    match house.outcome(&context, None).await {
        ToolOutcome::NeedsConsent { hash, .. } => {
            called(house.outcome(&context, Some(house.registry.grant(&hash, ConsentScope::Once))).await)
        }
        ToolOutcome::Called { call } => call,
    }
}

fn problems(house: &House) -> String {
    house.registry.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Names of the server's tools.
fn names(house: &House) -> Vec<String> {
    let specs = house.registry.specs().into_iter().map(|spec| spec.name);
    specs.filter_map(|name| name.strip_prefix("test.").map(str::to_owned)).collect()
}

#[doc = "holds: law 1.26"]
#[tokio::test]
async fn every_call_asks_whatever_the_server_says_of_itself() {
    let Some(house) = house("good", "") else { return };
    assert_eq!(
        (names(&house).join(" "), problems(&house)),
        ("echo fail slow die variables big".to_owned(), String::new())
    );
    let wanted = context("test.echo", json!({"text": "hello"}));
    let ToolOutcome::NeedsConsent { shown, effects, reason, .. } = house.outcome(&wanted, None).await else {
        panic!("a hint of the server's was believed")
    };
    assert_eq!(shown, "test.echo {\"text\":\"hello\"}");
    assert!(effects[0].contains("the server test") && reason.contains("does not grant"), "{effects:?} {reason}");
    let call = allowed(&house, "test.echo", json!({"text": "hello"})).await;
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Unproven), "{call:?}");
    let expected = "echo: hello\n[an image, not shown]\n\
                    [test: this is the server's word; what it changed is not recorded]";
    assert_eq!(call.output, expected);
    let call = allowed(&house, "test.fail", json!({})).await;
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    assert!(call.output.starts_with("it went wrong"), "{call:?}");
}

#[doc = "holds: law 1.26"]
#[tokio::test]
async fn only_the_person_s_manifest_grants() {
    let Some(house) = house("good", "granted = [\"echo\", \"fail\"]\nread_only = [\"echo\", \"slow\"]\n") else {
        return;
    };
    let call = called(house.outcome(&context("test.echo", json!({"text": "a"})), None).await);
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::ReadOnly), "{call:?}");
    let call = called(house.outcome(&context("test.fail", json!({})), None).await);
    assert_eq!((call.status, call.class), (CallStatus::Failed, EffectClass::Unproven), "{call:?}");
    let asks =
        async |context: ToolOrder| matches!(house.outcome(&context, None).await, ToolOutcome::NeedsConsent { .. });
    assert!(asks(context("test.variables", json!({}))).await);
    assert!(asks(context("test.slow", json!({}))).await, "read-only on this machine may still send what it is given");
    assert!(asks(ToolOrder { confirm: true, ..context("test.fail", json!({})) }).await, "D22");
    assert!(!asks(ToolOrder { confirm: true, ..context("test.echo", json!({"text": "a"})) }).await);
}

#[tokio::test]
async fn inputs_are_bounded_shown_as_they_are_and_kept_from_protected_places() {
    let Some(house) = house("good", "granted = [\"echo\"]") else { return };
    house.file(".ssh/id", "");
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
        let call = allowed(&house, "test.echo", input.clone()).await;
        assert_eq!(call.status, status, "{input}: {call:?}");
        assert!(call.output.contains(expected), "{input}: {call:?}");
    }
}

/// What a server says of itself enters prompts: names, descriptions and schemas are cut, stripped, or refused.
#[doc = "holds: law 1.26; design H8"]
#[tokio::test]
async fn a_hostile_server_s_words_are_cut_and_stripped() {
    let Some(house) = house("hostile", "") else { return };
    assert_eq!(names(&house), ["evil"]);
    let spec = house.registry.specs().into_iter().find(|spec| spec.name == "test.evil").unwrap();
    assert!(spec.description.starts_with("[as the server test says:] ok\\n\\u{1b}[2JDATA-0>>\\n"), "{spec:?}");
    assert!(spec.description.chars().count() < 450 && !spec.description.contains('\n'), "{spec:?}");
    assert!(!spec.input_schema.to_string().contains("IGNORE"), "{spec:?}");
    let told = problems(&house);
    for expected in
        ["its tool \"rm -rf\" has no usable name", "its tool listed: its input is no object", "its tool deep"]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let Some(house) = super::mcp::house("many", "") else { return };
    assert_eq!(names(&house).len(), 64);
    assert!(problems(&house).contains("64 are offered"), "{}", problems(&house));
}

#[tokio::test]
async fn a_server_that_fails_is_told_and_the_others_stay() {
    let Some(garbage) = house("garbage", "") else { return };
    assert!(problems(&garbage).contains("does not speak the protocol"), "{}", problems(&garbage));
    assert!(garbage.registry.specs().iter().any(|spec| spec.name == "glob"));
    let Some(house) = house("good", "timeout_s = 1\n") else { return };
    let call = allowed(&house, "test.slow", json!({})).await;
    assert_eq!(call.status, CallStatus::TimedOut, "{call:?}");
    let Some(house) = super::mcp::house("good", "") else { return };
    let call = allowed(&house, "test.die", json!({})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    let call = allowed(&house, "test.echo", json!({"text": "a"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    let Some(house) = super::mcp::house("good", "granted = \"echo\"") else { return };
    assert!(problems(&house).contains("line 3"), "{}", problems(&house));
    let Some(house) = super::mcp::house("good", "grants = [\"echo\"]") else { return };
    assert!(problems(&house).contains("grants is not a known key (did you mean granted?)"), "{}", problems(&house));
}

#[tokio::test]
async fn a_server_gets_only_the_variables_its_manifest_passes() {
    let usual =
        ["USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG", "HOME", "PATH", "LC_ALL", "LC_CTYPE", "TERM", "PWD"];
    let is_plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let names = std::env::vars().map(|(name, _)| name).filter(|name| is_plain(name) && !usual.contains(&name.as_str()));
    let names: Vec<String> = names.collect();
    let Some((passed, kept)) = names.split_first() else { return eprintln!("skipped: no variable to pass") };
    let manifest = format!("pass = [{passed:?}]\ngranted = [\"variables\"]");
    let Some(house) = house("good", &manifest) else { return };
    let call = allowed(&house, "test.variables", json!({})).await;
    let got: Vec<&str> = call.output.lines().next().unwrap().split(' ').collect();
    assert!(got.contains(&passed.as_str()) && got.contains(&"HOME"), "{passed}: {call:?}");
    assert!(!kept.iter().any(|name| got.contains(&name.as_str())), "{kept:?}: {call:?}");
}

/// A server that never answers holds the start no longer than its time, and nothing of it is left.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_silent_server_ends_with_all_it_started() {
    let begun = Instant::now();
    let Some(house) = house("silent", "") else { return };
    assert!(problems(&house).contains("did not list its tools in time"), "{}", problems(&house));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let home = house.home.to_str().unwrap().to_owned();
    assert_eq!(running(&home), 0, "the server or its child is still there");
    let Some(good) = super::mcp::house("good", "") else { return };
    let home = good.home.to_str().unwrap().to_owned();
    assert_eq!(running(&home), 1);
    drop(good);
    assert_eq!(running(&home), 0, "the server outlived its registry");
}

/// Processes whose working folder lies in this home.
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
