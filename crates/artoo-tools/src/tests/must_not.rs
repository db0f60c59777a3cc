//! MUST NOT: blocked tools, blocked targets, and names that belong to no tool.

use std::os::unix::fs::symlink;

use artoo_proto::{CallStatus, ToolCall};
use serde_json::{Value, json};

use super::{Fixture, called};

/// The record of a call in a task in which these targets are blocked.
async fn with_blocks(fixture: &Fixture, tool: &str, input: Value, blocked: &[&str]) -> ToolCall {
    let mut context = Fixture::context(tool, input);
    context.blocked_targets = blocked.iter().map(|entry| (*entry).to_owned()).collect();
    called(fixture.outcome(&context, None).await)
}

/// A call is refused unless its tool name equals a name exactly; other cases, look-alikes and blanks do not count.
#[doc = "holds: fault L22"]
#[tokio::test]
async fn only_exact_names_are_tools() {
    let fixture = Fixture::new();
    for name in ["Shell", "shell ", " glob", "sh\u{435}ll", "bash", "", "glob\0", &"x".repeat(10_000)] {
        let mut context = Fixture::context(name, json!({}));
        context.allowed_tools.push(name.to_owned());
        let call = called(fixture.outcome(&context, None).await);
        assert_eq!(call.status, CallStatus::Denied, "{name:?}");
        assert!(call.output.contains("there is no tool named") && call.output.len() < 300, "{call:?}");
    }
}

/// A call is refused if its tool is blocked in the task or not allowed by the plan.
#[doc = "holds: invariant 9; design D4"]
#[tokio::test]
async fn blocked_and_unplanned_tools_are_refused() {
    let fixture = Fixture::new();
    for (blocked, allowed, refused) in [
        (vec!["shell"], vec!["shell"], true),
        (vec!["Shell "], vec!["shell"], true),
        (vec![], vec!["glob"], true),
        (vec![], vec![], true),
        (vec!["glob"], vec!["shell"], false),
    ] {
        let mut context = Fixture::context("shell", json!({"command": "uname"}));
        context.blocked_tools = blocked.iter().map(|name: &&str| (*name).to_owned()).collect();
        context.allowed_tools = allowed.iter().map(|name: &&str| (*name).to_owned()).collect();
        let call = called(fixture.outcome(&context, None).await);
        assert_eq!(call.status == CallStatus::Denied, refused, "{blocked:?} {allowed:?} {call:?}");
    }
}

/// Calls on a blocked path or command are refused, however the target is spelled.
#[doc = "holds: law 1.14; invariant 9; fault L28"]
#[tokio::test]
async fn blocked_targets_are_refused_in_any_spelling() {
    let fixture = Fixture::new();
    fixture.file("work/a.txt", "a");
    fixture.file("work/sub/b.txt", "b");
    symlink("a.txt", fixture.home.join("work/link")).unwrap();
    let home = fixture.home.display().to_string();
    let a = format!("{home}/work/a.txt");
    let read = |path: &str| ("read_file", json!({"path": path}));
    let shell = |command: &str| ("shell", json!({"command": command}));
    let table: Vec<((&str, Value), String, bool)> = vec![
        (read("a.txt"), a.clone(), true),
        (read("sub/../a.txt"), a.clone(), true),
        (read("./a.txt"), "~/work/a.txt".to_owned(), true),
        (read("link"), a.clone(), true),
        (read("sub/b.txt"), a.clone(), false),
        (read("a.txt"), format!("read_file:{a}"), true),
        (read("a.txt"), format!("shell:{a}"), false),
        (read("sub/b.txt"), format!("{home}/work/sub/"), true),
        (read("a.txt"), format!("{home}/work/"), true),
        (read("a.txt"), format!("{home}/work/sub/"), false),
        (read("a.txt"), format!("{home}/work"), false),
        (shell("ls -l"), "ls  -l ".to_owned(), true),
        (shell(" ls   -l"), "ls -l".to_owned(), true),
        (shell("ls -la"), "ls -l".to_owned(), false),
        (shell("cat a.txt"), a.clone(), true),
        (shell("cat 'link'"), a.clone(), true),
        (shell("rm sub/../a.txt; true"), a.clone(), true),
        (shell("rm \"a\".txt; true"), a.clone(), true),
        (shell("rm $PWD/a.txt; true"), a.clone(), true),
        (shell("F=a; rm $F.txt; true"), a.clone(), true),
        (shell("sh -c 'rm a.txt'"), a.clone(), true),
        (shell("cd sub && rm ../a.txt"), a.clone(), true),
        (shell("rm *.txt; true"), a.clone(), true),
        (shell("cd sub; rm b.txt"), format!("{home}/work/sub/b.txt"), true),
        (shell("sh -c 'ls -l'"), "ls -l".to_owned(), true),
        (shell("'ls' \"-l\""), "ls -l".to_owned(), true),
        (shell("/bin/ls -l"), "shell:ls -l".to_owned(), true),
        (shell("env A=b nice ls -l"), "ls -l".to_owned(), true),
        (shell("cat ./a.txt"), "cat a.txt".to_owned(), true),
        (shell("ls -l | wc -l"), "ls -l".to_owned(), false),
        (shell("ls -l sub"), "ls -l".to_owned(), false),
        (("glob", json!({"pattern": "*.txt"})), format!("{home}/work/**/*.txt"), true),
        (("glob", json!({"pattern": "*.md"})), format!("{home}/work/**/*.txt"), false),
        (("glob", json!({"root": "../work", "pattern": "*.md"})), format!("{home}/work"), true),
        (("mdfind", json!({"query": "a  b"})), format!("a b in {home}"), true),
        (("write_file", json!({"path": "n", "text": ""})), format!("{home}/artoo_workspace/n"), true),
    ];
    for ((tool, input), blocked, refused) in table {
        // Blocked targets are refused before consent, so the command need not be allowed.
        let call = with_blocks(&fixture, tool, input.clone(), &[&blocked]).await;
        assert_eq!(call.status == CallStatus::Denied, refused, "{tool} {input} blocked {blocked}: {call:?}");
    }
}

/// A refused call is marked as denied and has a reason.
#[doc = "holds: law 1.13"]
#[tokio::test]
async fn refusal_is_marked_and_has_a_reason() {
    let fixture = Fixture::new();
    let call = with_blocks(&fixture, "read_file", json!({"path": "a"}), &["~/work/a"]).await;
    assert_eq!(call.output, "[LAW1] the target ~/work/a is blocked for this task");
    assert_eq!((call.measures, call.environmental, call.exit_code), (false, false, None));
    assert_eq!(call.target, format!("{}/work/a", fixture.home.display()));
}

/// Tools are listed by priority, and their input schemas allow no other fields and no unlimited texts.
#[test]
fn tools_are_ordered_with_strict_schemas() {
    let specs = Fixture::new().registry.specs();
    let order: Vec<(&str, u8)> = specs.iter().map(|spec| (spec.name.as_str(), spec.priority)).collect();
    let read = [("mdfind", 1), ("glob", 2), ("read_file", 3)];
    let change = [("write_file", 3), ("files", 4), ("trash", 4), ("shell", 6)];
    assert_eq!(order, [read.as_slice(), &change].concat());
    for spec in specs {
        assert_eq!(spec.input_schema["additionalProperties"], json!(false), "{}", spec.name);
        bounded(&spec.name, &spec.input_schema);
    }
}

/// Checks that every string and list in a tool's input schema has a maximum length.
fn bounded(path: &str, schema: &Value) {
    let is = |kind: &str| schema["type"] == json!(kind);
    assert!(!is("string") || schema["maxLength"].is_u64(), "{path} is unbounded");
    assert!(!is("array") || schema["maxItems"].is_u64(), "{path} is unbounded");
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        bounded(&format!("{path}.{name}"), field);
    }
    if schema["items"].is_object() {
        bounded(&format!("{path}[]"), &schema["items"]);
    }
}

/// The future of a call is `Send`, since a runtime with several threads moves it between them.
#[test]
fn call_future_is_send() {
    /// Compiles only for types that are `Send`.
    fn is_send<T: Send>(_: T) {}
    let fixture = Fixture::new();
    is_send(fixture.registry.call(&Fixture::context("glob", json!({})), "", None));
}
