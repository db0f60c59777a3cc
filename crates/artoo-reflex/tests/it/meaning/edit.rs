//! Tests of `performed` for edits in place: the edit is applied to the recorded content, and nothing else changes.

use std::collections::BTreeMap;

use artoo_proto::{CallStatus, EvidenceId, FileChange, Timestamp, ToolCall};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use artoo_reflex::algebra::{Act, Kind, ModeChange, Part, Query};
use artoo_reflex::coverage::performed;
use artoo_reflex::perform;
use artoo_reflex::testing::MemoryFileSystem;

const PATH: &str = "/r/a.txt";

/// The SHA-256 of a text in hexadecimal.
fn sha(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file system in memory with one file of this text and mode.
fn disk(text: &str, mode: u32) -> MemoryFileSystem {
    let mut disk = MemoryFileSystem::new("/r");
    disk.add_file(PATH, text, Timestamp::default());
    disk.set_mode(PATH, mode);
    disk
}

/// Whether an edit counts as performed if the file changed from `before` to `after`, and the check has the content
/// `held`.
fn counts(act: &Act, held: &str, before: &str, after: &str) -> bool {
    let mut check = serde_json::to_value(act).unwrap();
    check["held"] = json!(BTreeMap::from([(PATH, held)]));
    let input = perform(act, &disk(held, 0o644)).unwrap().pop().unwrap().call;
    let call = ToolCall::ended(input, EvidenceId("e1".to_owned()), CallStatus::Ok, String::new());
    let change = FileChange { path: PATH.to_owned(), before: Some(sha(before)), after: Some(sha(after)) };
    let call = ToolCall { changed: vec![change], ..call };
    performed(&check, &[call], &disk(after, 0o644)).pass
}

/// The input of the tool call that carries out an edit of a file with this text.
fn written(act: &Act, text: &str) -> Value {
    perform(act, &disk(text, 0o644)).unwrap().pop().unwrap().call.input
}

#[test]
fn edit_applies_operation_to_previous_content() {
    let add = Act::Insert { path: PATH.to_owned(), text: "two\n".to_owned(), at_start: false };
    let expected = json!({ "act": "write", "to": PATH, "text": "one\ntwo\n", "before": sha("one\n") });
    assert_eq!(written(&add, "one\n"), expected);
    assert!(counts(&add, "one\n", "one\n", "one\ntwo\n"));
    assert!(!counts(&add, "one\n", "one\n", "two\n"), "the lines before are gone");
    assert!(!counts(&add, "one\n", "zero\n", "zero\ntwo\n"), "it held something else than was looked at");
    let of = Box::new(Query::TextFile { path: PATH.to_owned() });
    let once = Act::Save { of: Query::Unique { of }, to: PATH.to_owned() };
    assert!(counts(&once, "a\nb\na\n", "a\nb\na\n", "a\nb\n"));
    assert!(!counts(&once, "a\nb\na\n", "a\nb\na\n", "a\n"));
    assert!(perform(&once, &disk("a\nb\n", 0o644)).is_err(), "nothing would change");
    let of = Box::new(Query::TextFile { path: PATH.to_owned() });
    let none = Act::Save { of: Query::Part { of, part: Part::First(0) }, to: PATH.to_owned() };
    assert!(counts(&none, "a\nb\n", "a\nb\n", ""));
    assert!(!counts(&none, "a\nb\n", "a\nb\n", "a\n"));
}

#[test]
fn mode_change_keeps_content() {
    let of = Query::Paths { paths: vec![PATH.to_owned()], kind: Kind::File };
    let act = Act::SetMode { of, mode: ModeChange::Executable };
    let steps = perform(&act, &disk("x", 0o644)).unwrap();
    let check = serde_json::to_value(&act).unwrap();
    let verdict = |after: &str, mode: u32| {
        let state = |text: &str, mode: u32| Some(format!("{} mode {mode:04o}", sha(text)));
        let change = FileChange { path: PATH.to_owned(), before: state("x", 0o644), after: state(after, mode) };
        let mut calls: Vec<ToolCall> = steps
            .iter()
            .map(|step| ToolCall::ended(step.call.clone(), EvidenceId("e1".to_owned()), CallStatus::Ok, String::new()))
            .collect();
        calls[0].output = format!("{PATH}\n");
        calls[1].input["paths"] = json!([PATH]);
        calls[1].changed = vec![change];
        performed(&check, &calls, &disk(after, mode)).pass
    };
    assert!(verdict("x", 0o755));
    assert!(!verdict("x", 0o644), "it is unchanged");
    assert!(!verdict("x", 0o777), "others may write it too");
    assert!(!verdict("y", 0o755), "its content changed");
}
