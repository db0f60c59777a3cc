//! Consent: what a question shows, that an approval covers exactly one call, and that nothing runs without one.

use std::fs;

use artoo_proto::{CallStatus, ConsentHash, ConsentScope, EffectClass, ToolOrder, ToolOutcome};
use serde_json::json;

use super::{Fixture, called, snapshot};

/// The order of a shell command.
fn command(text: &str) -> ToolOrder {
    Fixture::context("shell", json!({"command": text}))
}

/// The digest, the effects and the reason of the question about a call.
async fn asked(fixture: &Fixture, context: &ToolOrder) -> (ConsentHash, Vec<String>, String) {
    match fixture.outcome(context, None).await {
        ToolOutcome::NeedsConsent { hash, effects, reason, .. } => (hash, effects, reason),
        ToolOutcome::Called { call } => panic!("was not asked about: {call:?}"),
    }
}

/// A question about a command names its effects, and nothing changes before it is answered.
#[doc = "holds: law 1.1"]
#[tokio::test]
async fn nothing_changes_before_approval() {
    let fixture = Fixture::new();
    fixture.file("work/keep.txt", "12345");
    let before = snapshot(&fixture.home.join("work"));
    let context = command("rm keep.txt > log");
    let (_, effects, reason) = asked(&fixture, &context).await;
    assert_eq!(snapshot(&fixture.home.join("work")), before);
    assert_eq!(effects[0], "deletes 1 file, makes 1 file: keep.txt, log in ~/work");
    assert_eq!(reason, "it changes existing files; it writes outside the workspace");
    let (hash, ..) = asked(&fixture, &context).await;
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Unproven), "{call:?}");
    let changed: Vec<_> = call.changed.iter().map(|change| (change.before.is_some(), change.after.is_some())).collect();
    assert_eq!(changed, [(true, false), (false, true)], "removed and created: {call:?}");
}

/// An approval of one command does not cover another one.
#[doc = "holds: law 1.3; design H11"]
#[tokio::test]
async fn approval_covers_one_command_only() {
    let fixture = Fixture::new();
    fixture.file("work/a", "");
    fixture.file("work/b", "");
    let (hash, ..) = asked(&fixture, &command("rm a")).await;
    for other in ["rm  a", "rm b", "rm a ", "rm -r a"] {
        let call =
            called(fixture.outcome(&command(other), Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
        assert_eq!(call.status, CallStatus::Denied, "{other}: {call:?}");
    }
    assert!(fixture.home.join("work/a").exists());
    let forged = fixture.registry.grant(&ConsentHash(String::new()), ConsentScope::Once);
    assert_eq!(called(fixture.outcome(&command("rm a"), Some(forged)).await).status, CallStatus::Denied);
}

/// An approval of a call in one working folder does not cover the same command in another.
#[doc = "holds: law 1.3; design H11"]
#[tokio::test]
async fn approval_covers_one_folder_only() {
    let here = Fixture::new();
    let there = Fixture::new();
    here.file("work/a", "");
    there.file("work/a", "");
    let (hash, ..) = asked(&here, &command("rm a")).await;
    let call = called(there.outcome(&command("rm a"), Some(there.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
}

/// A script that was edited after its approval is not run, even if its size is the same.
#[doc = "holds: law 1.3; design H12"]
#[tokio::test]
async fn script_edited_after_approval_does_not_run() {
    let fixture = Fixture::with(|config| config.views = false);
    let script = fixture.file("work/run.sh", "echo first > out\n");
    let context = command("sh run.sh; true");
    let (hash, ..) = asked(&fixture, &context).await;
    // Length and name are equal, so only the content differs.
    fs::write(&script, "echo other > out\n").unwrap();
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
    assert!(call.output.contains("has changed since"), "{call:?}");
    let (fresh, ..) = asked(&fixture, &context).await;
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&fresh, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert_eq!(fs::read_to_string(fixture.home.join("work/out")).unwrap(), "other\n");
}

/// The reviewed changes are committed even if the script was edited after the review.
#[doc = "holds: law 1.3; design H12"]
#[tokio::test]
async fn reviewed_changes_are_committed_after_script_edit() {
    for text in ["cd d && bash x.sh", "cd d; cd in && sh ../x.sh", "f=d/x; bash $f.sh", "bash -c 'cd d; ./x.sh'"] {
        let fixture = Fixture::new();
        let script = fixture.file("work/d/x.sh", "#!/bin/sh\necho first > ~/work/out\n");
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        fixture.file("work/d/in/other", "");
        let context = command(text);
        let (hash, ..) = asked(&fixture, &context).await;
        fixture.file("work/d/in/other", "of no concern");
        let (again, ..) = asked(&fixture, &context).await;
        assert_eq!(hash, again, "{text}");
        fs::write(&script, "#!/bin/sh\necho other > ~/work/out\n").unwrap();
        let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
        assert_eq!(call.status, CallStatus::Ok, "{text}: {call:?}");
        assert_eq!(fs::read_to_string(fixture.home.join("work/out")).unwrap(), "first\n", "{text}");
    }
}

/// A question names a file even if its name is quoted in the command, and names protected files that would be read.
#[tokio::test]
async fn quoted_and_protected_names_are_shown() {
    let fixture = Fixture::new();
    fixture.file("work/my file.txt", "1");
    fixture.file(".ssh/id", "");
    let (_, effects, _) = asked(&fixture, &command("rm 'my file.txt'")).await;
    let home = fixture.home.display();
    assert_eq!(effects[0], "deletes 1 file: ~/work/my file.txt");
    let (_, effects, _) = asked(&fixture, &command("cat 'my file.txt' ~/.ssh/id")).await;
    assert_eq!(effects[0], format!("will read {home}/.ssh/id, which may hold secrets"));
}

/// Making the same call again after one of its files was changed needs a new approval.
#[doc = "holds: law 1.3; design H11"]
#[tokio::test]
async fn second_run_needs_new_approval_after_changes() {
    let fixture = Fixture::new();
    fixture.file("work/count", "");
    let context = command("echo x >> count");
    let (hash, ..) = asked(&fixture, &context).await;
    assert_eq!(
        called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await).status,
        CallStatus::Ok
    );
    let again = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(again.status, CallStatus::Denied, "{again:?}");
    assert_eq!(fs::read_to_string(fixture.home.join("work/count")).unwrap(), "x\n");
}

/// If memory advises caution, creating files needs approval and reading does not.
#[doc = "holds: law 1.15; design D22"]
#[tokio::test]
async fn caution_asks_before_creating_not_reading() {
    let fixture = Fixture::new();
    let cautious = |tool: &str, input| ToolOrder { confirm: true, ..Fixture::context(tool, input) };
    let write = cautious("write_file", json!({"path": "n", "text": "hello"}));
    let ToolOutcome::NeedsConsent { hash, shown, effects, .. } = fixture.outcome(&write, None).await else { panic!() };
    assert!(shown.contains("artoo_workspace/n\nhello") && effects[0].contains("(5 bytes)"), "{shown} {effects:?}");
    assert!(!fixture.workspace().join("n").exists());
    let call = called(fixture.outcome(&write, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    let other = cautious("write_file", json!({"path": "n2", "text": "hello"}));
    let call = called(fixture.outcome(&other, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Denied, "another file, the same text: {call:?}");
    let (_, effects, _) = asked(&fixture, &cautious("shell", json!({"command": "mkdir ~/artoo_workspace/d"}))).await;
    assert!(effects[0].starts_with("makes 1 folder: "), "{effects:?}");
    assert_eq!(
        called(fixture.outcome(&cautious("shell", json!({"command": "uname"})), None).await).status,
        CallStatus::Ok
    );
    assert_eq!(called(fixture.outcome(&cautious("glob", json!({})), None).await).status, CallStatus::Ok);
}

/// H2, H3: a command with invisible characters, whose display would differ from what runs, is denied without a
/// question.
#[doc = "holds: design H3"]
#[tokio::test]
async fn commands_with_invisible_characters_are_refused() {
    let fixture = Fixture::new();
    for text in [
        "echo ok \u{1b}[2K; rm x",
        "ls\rrm x",
        "echo \u{202e}x; rm y",
        "r\u{200b}m x",
        "ls \u{2028}rm x",
        "echo a\0; rm x",
        "echo \u{e0072}; rm x",
    ] {
        let call = called(fixture.outcome(&command(text), None).await);
        assert_eq!(call.status, CallStatus::Denied, "{text:?}: {call:?}");
        assert!(call.output.contains("invisible or control"), "{call:?}");
        assert!(!call.target.chars().any(char::is_control), "{call:?}");
    }
    for text in ["", "   ", "\n"] {
        assert_eq!(called(fixture.outcome(&command(text), None).await).status, CallStatus::Failed);
    }
}
