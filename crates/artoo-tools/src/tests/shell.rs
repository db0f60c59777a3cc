//! `shell`: exit codes keep their meaning, and failures name their cause.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolOutcome};
use serde_json::json;

use super::{Fixture, called};

/// The record of a pipeline says whether its output measures something on the machine, or only echoes its arguments.
#[tokio::test]
async fn pipelines_report_whether_they_measure() {
    let fixture = Fixture::new();
    fixture.file("work/a b.txt", "one\ntwo\n");
    for (command, output, measures) in [
        ("cat 'a b.txt'", "one\ntwo\n", true),
        ("/bin/cat \"a b.txt\"", "one\ntwo\n", true),
        ("wc -l 'a b.txt'", "2 a b.txt\n", true),
        ("head -n 1 'a b.txt'", "one\n", true),
        ("grep -c o 'a b.txt'", "2\n", true),
        ("ls", "a b.txt\n", true),
        ("ls ~/work", "a b.txt\n", true),
        ("find . -name '*.txt'", "./a b.txt\n", true),
        ("echo \"rm -rf / is dangerous\"", "rm -rf / is dangerous\n", false),
        ("printf '%s|' '$(reboot)' '*'", "$(reboot)|*|", false),
        ("basename /x/y.txt .txt", "y\n", false),
        ("seq 1 3", "1\n2\n3\n", false),
        ("true", "", false),
    ] {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert_eq!((call.status, call.output.as_str()), (CallStatus::Ok, output), "{command}");
        assert_eq!(
            (call.class, call.measures, call.exit_code),
            (EffectClass::ReadOnly, measures, Some(0)),
            "{command}"
        );
        assert_eq!(call.target, command);
    }
}

/// An exit code of 1 is an answer from programs like `grep` and a failure from others.
#[tokio::test]
async fn exit_codes_are_judged_by_program() {
    let fixture = Fixture::new();
    fixture.file("work/a", "x\n");
    fixture.file("work/b", "y\n");
    let found_none = fixture.call("shell", json!({"command": "echo a | xargs grep zzz"})).await;
    assert_eq!((found_none.status, found_none.exit_code), (CallStatus::Ok, Some(123)));
    let missing = fixture.call("shell", json!({"command": "echo nowhere | xargs grep zzz"})).await;
    assert_eq!((missing.status, missing.exit_code), (CallStatus::Failed, Some(123)));
    let absent = fixture.call("shell", json!({"command": "grep zzz a"})).await;
    assert_eq!((absent.status, absent.exit_code, absent.output.as_str()), (CallStatus::Ok, Some(1), ""), "{absent:?}");
    let differs = fixture.call("shell", json!({"command": "diff a b"})).await;
    assert!(differs.status == CallStatus::Ok && differs.output.contains("> y"), "{differs:?}");
    let no = fixture.call("shell", json!({"command": "false"})).await;
    assert_eq!((no.status, no.exit_code, no.environmental), (CallStatus::Failed, Some(1), false), "{no:?}");
    // T15: words in the output decide nothing.
    let liar = fixture.call("shell", json!({"command": "echo error: failed"})).await;
    assert_eq!(liar.status, CallStatus::Ok);
    let liar = fixture.allowed("echo done; exit 1").await;
    assert_eq!(
        (liar.status, liar.exit_code, liar.output.as_str()),
        (CallStatus::Failed, Some(1), "done\n"),
        "{liar:?}"
    );
}

/// A missing file makes a command fail because of the environment; a wrong argument does not.
#[tokio::test]
async fn missing_operands_are_environmental_bad_commands_not() {
    let fixture = Fixture::new();
    fixture.file("work/notes.md", "x");
    for command in ["cat note.md", "wc -l notes.txt", "diff notes.md note.md"] {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
        assert_eq!(call.alternatives, [format!("{}/work/notes.md", fixture.home.display())], "{command}");
        assert!(call.output.contains("[stderr]\n"), "{call:?}");
    }
    let call = fixture.call("shell", json!({"command": "grep '[' notes.md"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, false), "{call:?}");
    let call = fixture.call("shell", json!({"command": "seq x"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, false), "{call:?}");
}

/// A missing program ends with exit code 127 and one that is not executable with 126, as in a shell.
#[doc = "holds: design T16"]
#[tokio::test]
async fn missing_and_unexecutable_programs_have_exit_codes() {
    let fixture = Fixture::new();
    let file = fixture.file("work/plain", "#!/bin/sh\n");
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    for (command, code) in [("no-such-program-here", 127), ("./plain", 126)] {
        let call = fixture.allowed(command).await;
        assert_eq!(
            (call.status, call.exit_code, call.environmental),
            (CallStatus::Failed, Some(code), true),
            "{call:?}"
        );
    }
    let long = format!("true {}", "x".repeat(32_000));
    assert_eq!(fixture.allowed(&long).await.status, CallStatus::Ok);
    let call = fixture.call("shell", json!({"command": "x".repeat(40_000)})).await;
    assert!(call.status == CallStatus::Failed && call.output.contains("the limit is 32768"), "{call:?}");
}

/// A command whose working folder was removed fails because of the environment, and its error says so.
#[doc = "holds: design T17"]
#[tokio::test]
async fn removed_working_folder_is_named() {
    let fixture = Fixture::new();
    fs::remove_dir_all(fixture.home.join("work")).unwrap();
    let call = fixture.call("shell", json!({"command": "uname"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert!(call.output.contains("the working folder is gone"), "{call:?}");
}

/// `shell` creates new files in the workspace without approval, and its record lists them.
#[tokio::test]
async fn commands_create_new_workspace_files_only() {
    let fixture = Fixture::new();
    fixture.file("work/src.txt", "abc");
    fs::create_dir_all(fixture.workspace()).unwrap();
    let made = fixture.call("shell", json!({"command": "mkdir -p ~/artoo_workspace/x/y"})).await;
    assert_eq!(
        (made.status, made.class, made.changes_known),
        (CallStatus::Ok, EffectClass::Creating, true),
        "{made:?}"
    );
    let touched = fixture.call("shell", json!({"command": "touch ~/artoo_workspace/x/new"})).await;
    assert_eq!((touched.status, touched.changed.len()), (CallStatus::Ok, 1), "{touched:?}");
    let copied = fixture.call("shell", json!({"command": "cp -n src.txt ~/artoo_workspace/copy"})).await;
    assert_eq!(copied.changed.len(), 1, "{copied:?}");
    assert_eq!(copied.changed[0].path, format!("{}/artoo_workspace/copy", fixture.home.display()));
    assert_eq!(copied.changed[0].before, None);
    assert_eq!(
        copied.changed[0].after.as_deref(),
        Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    );
}

/// A pipeline prints the same as its text run as a shell command.
#[tokio::test]
async fn a_pipeline_runs_as_its_text_does() {
    let fixture = Fixture::new();
    fixture.file("work/a 'b'.txt", "one\ntwo\n");
    for (pipeline, target) in [
        (json!([["cat", "a 'b'.txt"], ["wc", "-l"]]), "cat 'a '\"'\"'b'\"'\"'.txt' | wc -l"),
        (json!([["printf", "%s|", "*", "$(x)", ""]]), "printf '%s|' '*' '$(x)' ''"),
        (json!([["env", "LC_ALL=C", "sort", "-r", "a 'b'.txt"]]), "env LC_ALL=C sort -r 'a '\"'\"'b'\"'\"'.txt'"),
    ] {
        let input = json!({"pipeline": pipeline});
        let call = fixture.call("shell", input.clone()).await;
        let by_text = fixture.call("shell", json!({"command": target})).await;
        assert_eq!((call.target.as_str(), &call.output), (target, &by_text.output));
        assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::ReadOnly), "{call:?}");
        assert_eq!(call.input, input);
    }
    for input in [json!({}), json!({"command": "ls", "pipeline": [["ls"]]})] {
        let call = fixture.call("shell", input).await;
        assert!(call.output.contains("\"command\"") && call.output.contains("\"pipeline\""), "{call:?}");
    }
    let call = fixture.call("shell", json!({"pipeline": [["echo", "\u{202e}x"]]})).await;
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
}

/// After approval, a pipeline's words run unchanged, whatever they contain, and only the named files change.
#[tokio::test]
async fn approved_pipeline_changes_only_named_files() {
    let fixture = Fixture::new();
    for name in ["*", "a", "$(rm a)", "b\nc"] {
        fixture.file(&format!("work/{name}"), "x\n");
    }
    let context = Fixture::context("shell", json!({"pipeline": [["rm", "--", "*", "$(rm a)", "b\nc"]]}));
    let ToolOutcome::NeedsConsent { hash, shown, .. } = fixture.outcome(&context, None).await else { panic!() };
    assert_eq!(shown, "rm -- '*' '$(rm a)' 'b\nc'");
    let grant = fixture.registry.grant(&hash, ConsentScope::Once);
    assert_eq!(called(fixture.outcome(&context, Some(grant)).await).status, CallStatus::Ok);
    assert_eq!(fixture.output("shell", json!({"command": "ls"})).await, "a\n");
    let tee = json!({"pipeline": [["printf", "%s", "; rm a"], ["tee", "-a", "a"]]});
    let context = Fixture::context("shell", tee);
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!() };
    let grant = fixture.registry.grant(&hash, ConsentScope::Once);
    called(fixture.outcome(&context, Some(grant)).await);
    assert_eq!(fixture.output("shell", json!({"command": "cat a"})).await, "x\n; rm a");
}
