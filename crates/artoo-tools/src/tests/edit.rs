//! `files` changes content and permissions in place and creates symlinks; an undo reverts each of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use artoo_proto::{CallStatus, ToolOutcome};
use serde_json::{Value, json};

use super::Fixture;
use crate::digest;

/// The SHA-256 of a text in hex.
fn sha(text: &str) -> String {
    digest::of_reader(text.as_bytes()).unwrap()
}

/// The input of a `files` act that replaces the text of a file, with the digest of the text before.
fn write(path: &Path, before: &str, after: &str) -> Value {
    json!({"act": "write", "to": path, "text": after, "before": sha(before)})
}

/// Replacing a file's text shows a diff in the question and is reverted by an undo.
#[tokio::test]
async fn written_text_is_asked_about_and_undone() {
    let fixture = Fixture::keeping();
    let path = fixture.file("a.txt", "one\ntwo\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let mut context = Fixture::context("files", write(&path, "one\ntwo\n", "one\n2\n"));
    context.allowed_tools.push("files".to_owned());
    let ToolOutcome::NeedsConsent { details, .. } = fixture.outcome(&context, None).await else { panic!() };
    assert!(details.iter().any(|line| line == "-two") && details.iter().any(|line| line == "+2"), "{details:?}");
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");

    let call = fixture.files(write(&path, "one\ntwo\n", "one\n2\n")).await;
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    assert_eq!(fs::read(&path).unwrap(), b"one\n2\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let [change] = call.changed.as_slice() else { panic!("{:?}", call.changed) };
    assert_eq!((change.before.clone(), change.after.clone()), (Some(sha("one\ntwo\n")), Some(sha("one\n2\n"))));
    fixture.undo();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
}

/// A file's text is replaced only if it is still the text that the user saw.
#[tokio::test]
async fn only_the_reviewed_text_is_replaced() {
    let fixture = Fixture::keeping();
    let path = fixture.file("a.txt", "changed meanwhile");
    let call = fixture.files(write(&path, "seen", "new")).await;
    assert_eq!(call.status, CallStatus::Failed, "{}", call.output);
    fs::hard_link(&path, fixture.home.join("other name")).unwrap();
    symlink("a.txt", fixture.home.join("link")).unwrap();
    for path in [path.clone(), fixture.home.join("link"), fixture.home.join("missing")] {
        let call = fixture.files(write(&path, "changed meanwhile", "new")).await;
        assert_ne!(call.status, CallStatus::Ok, "{path:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"changed meanwhile");
    let left = fs::read_dir(&fixture.home).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("artoo-")), "a temporary file is left");
}

/// Permission bits are set by `files` and reverted by an undo; invalid modes are refused.
#[tokio::test]
async fn permissions_are_set_and_undone() {
    let fixture = Fixture::keeping();
    let path = fixture.file("run.sh", "echo");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    for (change, expected) in [
        ("executable", 0o750),
        ("not_executable", 0o640),
        ("read_only", 0o440),
        ("0600", 0o600),
        ("+0022", 0o622),
        ("-0202", 0o420),
    ] {
        let call = fixture.files(json!({"act": "set_mode", "paths": [&path], "mode": change})).await;
        assert_eq!((call.status, mode()), (CallStatus::Ok, expected), "{change}: {}", call.output);
    }
    fixture.undo();
    assert_eq!((mode(), fs::read(&path).unwrap()), (0o640, b"echo".to_vec()));
    for change in ["4755", "8", "", "writable", "+8", "-", "+-1", "+1000"] {
        let call = fixture.files(json!({"act": "set_mode", "paths": [&path], "mode": change})).await;
        assert_eq!((call.status, mode()), (CallStatus::Failed, 0o640), "{change}");
    }
}

/// `files` creates symlinks only at new paths, and an undo removes them.
#[tokio::test]
async fn links_are_new_and_undone() {
    let fixture = Fixture::keeping();
    let target = fixture.file("a.txt", "text");
    let link = fixture.home.join("link");
    let input = json!({"act": "link", "to": &link, "target": &target});
    let call = fixture.files(input.clone()).await;
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    assert_eq!(fs::read_link(&link).unwrap(), target);
    assert_ne!(fixture.files(input).await.status, CallStatus::Ok);
    fixture.undo();
    assert!(fs::symlink_metadata(&link).is_err() && target.exists());
}
