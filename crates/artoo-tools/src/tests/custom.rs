//! Tools of the user's own: what a manifest may say, and how a call runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolCall, ToolOrder, ToolOutcome};
use serde_json::{Value, json};

use super::{Fixture, called, put};
use crate::Registry;

/// A script that prints each argument on its own line, marked at both ends.
const SHOW: &str = "#!/bin/sh\nfor a in \"$@\"; do printf '<%s>\\n' \"$a\"; done\n";

const GREET: &str = r#"
name = "greet"
description = "greets"
command = ["./show", "--", "{who}"]
effect = "read_only"
[input.who]
type = "string"
"#;

/// A fixture with manifests `0.toml`, `1.toml` … beside a program that prints its arguments.
fn fixture(manifests: &[&str]) -> Fixture {
    Fixture::with(|config| {
        let folder = Path::new(&config.environment.home).join("tools");
        put(&folder.join("show"), SHOW, 0o755);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        for (number, manifest) in manifests.iter().enumerate() {
            put(&folder.join(format!("{number}.toml")), manifest, 0o644);
        }
        config.custom = Some(folder);
    })
}

/// The order of a call to this tool, in a plan that allows the tool.
fn context(tool: &str, input: Value) -> ToolOrder {
    ToolOrder { allowed_tools: vec![tool.to_owned()], ..Fixture::context(tool, input) }
}

/// The record of a call of this tool that needs no approval; panics if it asks.
async fn call(fixture: &Fixture, tool: &str, input: Value) -> ToolCall {
    called(fixture.outcome(&context(tool, input), None).await)
}

/// The names of all tools that are offered.
fn names(registry: &Registry) -> Vec<String> {
    registry.specs().into_iter().map(|spec| spec.name).collect()
}

/// Inputs with blanks, quotes and wildcards reach the program as single arguments.
#[doc = "holds: law 1.25"]
#[tokio::test]
async fn arguments_are_passed_unsplit() {
    let fixture = fixture(&[GREET]);
    assert_eq!(fixture.registry.problems().len(), 0, "{:?}", fixture.registry.problems());
    for who in ["Ada", "a b", "$(touch x)", "; rm -rf ~", "`id`", "'\"\\", "-rf", "{who}", "a\nb", "*", "größe"] {
        let call = call(&fixture, "greet", json!({"who": who})).await;
        assert_eq!((call.status, call.output), (CallStatus::Ok, format!("<-->\n<{who}>\n")));
        assert_eq!((call.class, call.exit_code), (EffectClass::ReadOnly, Some(0)));
    }
}

/// A tool whose manifest claims to only read asks before its changes are committed.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.19"]
#[tokio::test]
async fn writes_of_reading_tools_need_approval() {
    for (effect, is_asked) in [("read_only", true), ("creating", false)] {
        let fixture = Fixture::with(|config| {
            let folder = Path::new(&config.environment.home).join("tools");
            fs::create_dir_all(&config.environment.workspace).unwrap();
            put(&folder.join("write"), "#!/bin/sh\necho x > ~/artoo_workspace/f; echo done\n", 0o755);
            let manifest = format!("name = 'note'\ndescription = 'd'\ncommand = ['./write']\neffect = '{effect}'\n");
            put(&folder.join("0.toml"), &manifest, 0o644);
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
            config.custom = Some(folder);
        });
        let outcome = fixture.outcome(&context("note", json!({})), None).await;
        assert_eq!(matches!(outcome, ToolOutcome::NeedsConsent { .. }), is_asked, "{outcome:?}");
        assert_eq!(fixture.workspace().join("f").exists(), !is_asked, "{outcome:?}");
    }
}

/// Inputs of the user's own tools are refused if they do not fit the declarations in the manifest.
#[tokio::test]
async fn inputs_are_held_to_the_manifest() {
    let fixture = fixture(&[r#"
name = "many"
description = "all kinds"
command = ["./show", "--mode={mode}", ["-n", "{count}"], ["--loud", "{loud}"], ["--", "{names}"], "{who}"]
effect = "creating"
timeout_s = 5
[input.mode]
type = "string"
enum = ["fast", "slow"]
[input.count]
type = "integer"
minimum = 1
maximum = 9
optional = true
[input.loud]
type = "boolean"
optional = true
[input.names]
type = "array"
maxItems = 2
maxLength = 5
optional = true
[input.who]
type = "string"
minLength = 2
"#]);
    assert_eq!(fixture.registry.problems().len(), 0, "{:?}", fixture.registry.problems());
    let good = async |input: Value, expected: &str| {
        let call = call(&fixture, "many", input.clone()).await;
        assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::ReadOnly), "{input}: {call:?}");
        let shown: Vec<&str> = call.output.lines().filter(|line| !line.starts_with('[')).collect();
        assert_eq!(shown.concat(), expected, "{input}");
    };
    good(json!({"mode": "fast", "who": "Ada"}), "<--mode=fast><Ada>").await;
    good(json!({"mode": "slow", "who": "Ada", "count": 3}), "<--mode=slow><-n><3><Ada>").await;
    good(json!({"mode": "slow", "who": "Ada", "loud": true}), "<--mode=slow><--loud><Ada>").await;
    good(json!({"mode": "slow", "who": "Ada", "loud": false}), "<--mode=slow><Ada>").await;
    good(json!({"mode": "fast", "who": "Ada", "names": ["a", "b"]}), "<--mode=fast><--><a><b><Ada>").await;
    let bad = async |input: Value, expected: &str| {
        let call = call(&fixture, "many", input.clone()).await;
        assert_eq!(call.status, CallStatus::Failed, "{input}: {call:?}");
        assert!(call.output.contains(expected) && !call.measures, "{input}: {call:?}");
    };
    bad(json!({"mode": "fast"}), "who: it is missing").await;
    bad(json!({"mode": "odd", "who": "Ada"}), "mode: it is not one of fast, slow").await;
    bad(json!({"mode": "fast", "who": "A"}), "who: it is 1 characters long; the minimum is 2").await;
    bad(json!({"mode": "fast", "who": "Ada", "count": 10}), "count: it is not a whole number from 1 to 9").await;
    bad(json!({"mode": "fast", "who": "Ada", "count": "3"}), "count: it is not a whole number").await;
    bad(json!({"mode": "fast", "who": "Ada", "names": ["a", "b", "c"]}), "names: it has 3 entries").await;
    bad(json!({"mode": "fast", "who": "Ada", "names": ["toolong"]}), "names: it is 7 characters").await;
    bad(json!({"mode": "fast", "who": "Ada", "names": ["-x"]}), "taken for an option").await;
    bad(json!({"mode": "fast", "who": "--help"}), "who: it begins with -").await;
    bad(json!({"mode": "fast", "who": "a\u{1b}[2J"}), "invisible or control").await;
    bad(json!({"mode": "fast", "who": "Ada", "rm": "x"}), "rm: there is no such input").await;
    bad(json!(["fast"]), "must be a JSON object").await;
    let spec = fixture.registry.specs().into_iter().find(|spec| spec.name == "many").unwrap();
    assert_eq!(spec.input_schema["additionalProperties"], false);
    assert_eq!(spec.input_schema["required"], json!(["mode", "who"]));
    assert_eq!(spec.input_schema["properties"]["count"], json!({"type": "integer", "minimum": 1, "maximum": 9}));
}

/// Each invalid manifest is refused with the reason.
#[test]
fn invalid_manifests_are_refused_with_the_reason() {
    let check = |change: &[(&str, &str)], expected: &str| {
        let manifest = change.iter().fold(GREET.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let fixture = fixture(&[&manifest]);
        let told: Vec<String> = fixture.registry.problems().iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains(expected), "{manifest}: {told:?} instead of {expected}");
        assert!(!names(&fixture.registry).contains(&"greet".to_owned()));
    };
    check(&[("effect", "efect")], "efect is not a known key (did you mean effect?)");
    check(&[("type", "tipe")], "input.who.tipe is not a known key (did you mean type?)");
    check(&[("read_only", "harmless")], "line 5: ");
    check(&[("\"greet\"", "3")], "line 2: ");
    check(&[("\"greet\"", "\"shell\"")], "name: there is a tool named shell already");
    check(&[("\"greet\"", "\"applescript\"")], "name: there is a tool named applescript already");
    check(&[("\"greet\"", "\"Greet Me\"")], "name: \"Greet Me\" is not a valid name");
    check(&[("\"greets\"", "\"\"")], "description: it is empty");
    check(&[("\"greets\"", "\"a\\u001b[2J\"")], "description: it is empty, longer");
    check(&[("[\"./show\", \"--\", \"{who}\"]", "[]")], "command: give the program");
    check(&[("./show", "./none")], "command: ./none can't be found");
    check(&[("./show", "../show")], "is neither absolute nor ./name nor a name");
    check(&[("./show", "./../show")], "must lie beside the manifest");
    check(&[("./show", "no-such-program-at-all")], "is not found where programs lie");
    check(&[("./show", "/etc/passwd")], "is no program");
    check(&[("{who}", "{whom}")], "command: {whom} names no input");
    check(&[("{who}", "x")], "command: {who} is an input that no argument uses");
    check(
        &[("type = \"string\"", "type = \"string\"\noptional = true")],
        "{who} is optional, so it must stand in brackets",
    );
    check(&[("type = \"string\"", "type = \"boolean\"")], "{who} is true or false, so");
    check(
        &[("type = \"string\"", "type = \"string\"\nmaximum = 3")],
        "input.who: it has a key that its type does not allow",
    );
    check(&[("type = \"string\"", "type = \"string\"\nmaxLength = 99999999")], "input.who: maxLength goes from 1");
    check(&[("\"read_only\"", "\"read_only\"\ntimeout_s = 0")], "timeout_s: give 1 to 600");
}

/// A manifest, program or folder that others can write to is refused; so are a duplicate name, a manifest that is too
/// large, and a program that is not executable.
#[doc = "holds: law 1.25"]
#[test]
fn manifests_writable_by_others_are_refused() {
    let check = |change: &dyn Fn(&Path), expected: &str| {
        let fixture = fixture(&[GREET]);
        change(&fixture.home.join("tools"));
        let registry = Registry::detect(fixture.config.clone());
        let told: Vec<String> = registry.problems().iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains(expected), "{told:?} instead of {expected}");
    };
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    check(&|folder| mode(&folder.join("0.toml"), 0o666), "0.toml can be changed by others");
    check(&|folder| mode(&folder.join("show"), 0o775), "./show is not trusted");
    check(&|folder| mode(&folder.join("show"), 0o644), "./show is no program");
    check(&|folder| mode(folder, 0o777), "tools can be changed by others");
    check(&|folder| put(&folder.join("1.toml"), GREET, 0o644), "1.toml: name: there is a tool named greet already");
    check(&|folder| fs::write(folder.join("0.toml"), "#".repeat(70_000)).unwrap(), "is larger than 65536 bytes");
    // Without a folder in the configuration, no tool is read from it.
    let mut config = fixture(&[GREET]).config.clone();
    config.custom = None;
    assert!(!names(&Registry::detect(config)).contains(&"greet".to_owned()));
}

/// A tool whose program lies in the workspace, where models can write, is refused.
#[test]
fn programs_in_the_workspace_are_refused() {
    let fixture = fixture(&[]);
    let program = fixture.workspace().join("made");
    put(&program, SHOW, 0o755);
    put(&fixture.home.join("tools/0.toml"), &GREET.replace("./show", program.to_str().unwrap()), 0o644);
    let registry = Registry::detect(fixture.config.clone());
    assert!(registry.problems()[0].to_string().contains("lies in the workspace"), "{:?}", registry.problems());
}

/// The question about a call of the user's own tool shows its exact arguments and the changes.
#[doc = "holds: law 1.25"]
#[tokio::test]
async fn questions_show_exact_arguments_and_changes() {
    let changing = GREET.replace("read_only", "changing");
    let fixture = fixture(&[&changing]);
    let wanted = context("greet", json!({"who": "a b"}));
    put(&fixture.home.join("tools/show"), "#!/bin/sh\necho $2 > ~/work/greeting; echo done\n", 0o755);
    let ToolOutcome::NeedsConsent { hash, shown, effects, reason, .. } = fixture.outcome(&wanted, None).await else {
        panic!("was not asked about");
    };
    assert_eq!(shown, format!("greet: {}/tools/show -- \"a b\"", fixture.home.display()));
    let greeting = fixture.home.join("work/greeting");
    assert_eq!(effects[0], "makes 1 file (4 bytes): ~/work/greeting");
    assert!(reason.contains("outside the workspace") && !greeting.exists(), "{reason}");
    put(&fixture.home.join("tools/show"), "#!/bin/sh\necho other > ~/work/greeting\n", 0o755);
    let call = called(fixture.outcome(&wanted, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Unproven), "{call:?}");
    assert_eq!((call.output.as_str(), fs::read_to_string(&greeting).unwrap().as_str()), ("done\n", "a b\n"));
    let asks = async |from: &str, to: &str| {
        let fixture = super::custom::fixture(&[&GREET.replace(from, to)]);
        assert_eq!(fixture.registry.problems().len(), 0, "{:?}", fixture.registry.problems());
        matches!(fixture.outcome(&wanted, None).await, ToolOutcome::NeedsConsent { .. })
    };
    assert!(asks("\"read_only\"", "\"read_only\"\nnetwork = true").await, "what it is given may leave");
    assert!(asks("\"read_only\"", "\"creating\"\nnetwork = true").await);
    assert!(!asks("\"read_only\"", "\"read_only\"\nnetwork = true\ngranted = true").await);
    assert!(!asks("\"read_only\"", "\"changing\"\ngranted = true").await);
    let fixture = super::custom::fixture(&[&GREET.replace("read_only", "creating")]);
    put(&fixture.home.join("tools/show"), "#!/bin/sh\necho $2 > ~/artoo_workspace/greeting\n", 0o755);
    let cautious = ToolOrder { confirm: true, ..wanted };
    assert!(matches!(fixture.outcome(&cautious, None).await, ToolOutcome::NeedsConsent { .. }), "D22");
}

/// The user's own tools end at the timeout of their manifest, can't be given blocked or protected paths, and are denied
/// once others can change their program.
#[tokio::test]
async fn own_tools_obey_timeouts_and_blocks() {
    let slow =
        GREET.replace("./show\", \"--\"", "./slow\", \"--\"").replace("read_only\"", "read_only\"\ntimeout_s = 1");
    let fixture = fixture(&[GREET]);
    put(&fixture.home.join("tools/slow"), "#!/bin/sh\necho begun\nsleep 60\n", 0o755);
    put(&fixture.home.join("tools/1.toml"), &slow.replace("\"greet\"", "\"slow\""), 0o644);
    let fixture = Fixture { registry: Registry::detect(fixture.config.clone()), ..fixture };
    assert_eq!(fixture.registry.problems().len(), 0, "{:?}", fixture.registry.problems());
    let call_slow = call(&fixture, "slow", json!({"who": "x"})).await;
    assert_eq!(call_slow.status, CallStatus::TimedOut, "{call_slow:?}");
    assert!(call_slow.output.contains("begun") && call_slow.elapsed_ms < 10_000, "{call_slow:?}");
    fixture.file(".ssh/id", "");
    for who in ["~/.ssh/id", "/etc/shadow", "--file=/etc/shadow", "../.ssh/id"] {
        let call = call(&fixture, "greet", json!({"who": who})).await;
        assert_eq!(call.status, CallStatus::Denied, "{who}: {call:?}");
    }
    let blocked = ToolOrder { blocked_targets: vec!["/srv/x".into()], ..context("greet", json!({"who": "/srv/x"})) };
    assert_eq!(called(fixture.outcome(&blocked, None).await).status, CallStatus::Denied);
    // Only the user could write to the program when artoo started, and now others can.
    fs::set_permissions(fixture.home.join("tools/show"), fs::Permissions::from_mode(0o777)).unwrap();
    let call = call(&fixture, "greet", json!({"who": "x"})).await;
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
}

/// A manifest can declare documents, escaping for markup, and a reason to ask for approval.
#[tokio::test]
async fn manifests_support_documents_markup_and_ask() {
    let fixture = fixture(&[r#"
name = "view"
description = "views"
command = ["./show", "-t", "{title:markup}", "{style}", "{document}"]
effect = "read_only"
ask = "it shows what you wrote"
[input.title]
type = "string"
minLength = 1
leadingDash = true
[input.style]
type = "string"
[input.document]
type = "document"
"#]);
    assert_eq!(fixture.registry.problems().len(), 0, "{:?}", fixture.registry.problems());
    let file = fixture.file("a b.txt", "x");
    fixture.file(".ssh/id", "");
    put(&fixture.home.join("run"), "#!/bin/sh\n", 0o755);
    let input =
        |title: &str, style: &str, document: &str| json!({"title": title, "style": style, "document": document});
    let context = context("view", input("-<i>&", "plain", "~/a b.txt"));
    let ToolOutcome::NeedsConsent { hash, shown, reason, .. } = fixture.outcome(&context, None).await else {
        panic!("not asked about")
    };
    assert_eq!(reason, "it shows what you wrote");
    assert!(shown.ends_with(&format!("show -t \"-&lt;i&gt;&amp;\" plain {:?}", file.display().to_string())), "{shown}");
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    let expected = format!("<-t>\n<-&lt;i&gt;&amp;>\n<plain>\n<{}>\n", file.display());
    assert!(call.status == CallStatus::Ok && call.output.starts_with(&expected), "{call:?}");
    for (input, status, expected) in [
        (input("a", "-x", "~/a b.txt"), CallStatus::Failed, "style: it begins with -"),
        (input(" ", "x", "~/a b.txt"), CallStatus::Failed, "title: it is empty"),
        (input("a", "x", "~/missing"), CallStatus::Failed, "path of a file or folder"),
        (input("a", "x", "file:///etc/passwd"), CallStatus::Failed, "path of a file or folder"),
        (input("a", "x", "~/.ssh/id"), CallStatus::Denied, "LAW1"),
        (input("a", "x", "~/run"), CallStatus::Denied, "it is a program"),
    ] {
        let call = self::call(&fixture, "view", input.clone()).await;
        assert_eq!(call.status, status, "{input}: {call:?}");
        assert!(call.output.contains(expected), "{input}: {call:?}");
    }
    let spec = fixture.registry.specs().into_iter().find(|spec| spec.name == "view").unwrap();
    let document = json!({"type": "string", "minLength": 1, "maxLength": 1000});
    assert_eq!(spec.input_schema["properties"]["document"], document);
}
