//! Tests of the net change of each path over several calls.

use super::*;
use crate::coverage::records::{Records, content};

/// A shell call whose record lists these changes, each a path with its state before and after.
fn call(at: usize, changes: &[(&str, Option<&str>, Option<&str>)]) -> ToolCall {
    let request = ToolRequest { tool: "shell".to_owned(), input: json!({}) };
    let ended = ToolCall::ended(request, EvidenceId(format!("e{at}")), CallStatus::Ok, String::new());
    let owned = |state: &Option<&str>| state.map(str::to_owned);
    let change = |(path, before, after): &(&str, Option<&str>, Option<&str>)| FileChange {
        path: (*path).to_owned(),
        before: owned(before),
        after: owned(after),
    };
    ToolCall { changed: changes.iter().map(change).collect(), changes_known: true, ..ended }
}

const TIMES: (Option<&str>, Option<&str>) = (Some("its times"), Some("other times"));

/// The content part of a recorded state is its digest, without mode and time.
#[test]
fn state_content_excludes_mode_and_time() {
    let hash = "a1".repeat(32);
    assert_eq!(content(&format!("{hash} mode 0644 modified 1.000000002")), hash);
    assert_eq!(content(&format!("{FOLDER} mode 0755")), FOLDER);
    for other in
        ["link to a mode b".to_owned(), format!("{} mode 0644", &hash[1..]), format!("{} mode 1", "g".repeat(64))]
    {
        assert_eq!(content(&other), other);
    }
}

#[test]
fn changes_of_a_path_are_merged() {
    let (a, b) = ("a".repeat(64), "b".repeat(64));
    let (a, b) = (Some(a.as_str()), Some(b.as_str()));
    let (a_644, a_600) = (format!("{} mode 0644", a.unwrap()), format!("{} mode 0600", a.unwrap()));
    let (a_644, a_600) = (Some(a_644.as_str()), Some(a_600.as_str()));
    let fs = MemoryFileSystem::new("/w");
    for (changes, before, after, words) in [
        (vec![(None, a), (a, b)], None, b, "created"),
        (vec![(a, b), (b, None)], a, None, "removed"),
        (vec![(a, b)], a, b, "changed"),
        (vec![(a_644, a_600)], a_644, a_600, "its permissions were changed"),
        (vec![TIMES], TIMES.0, TIMES.1, "its times were changed"),
        (vec![TIMES, TIMES], TIMES.0, TIMES.1, "its times were changed"),
        // A change of time alone says nothing about the content.
        (vec![TIMES, (a, b)], a, b, "changed"),
        (vec![(a, b), TIMES], a, b, "changed"),
        (vec![(a, None), TIMES], a, None, "removed"),
        (vec![(None, a), TIMES, (a, b)], None, b, "created"),
        (vec![TIMES, (a, None)], a, None, "removed"),
    ] {
        let each = changes.iter().enumerate();
        let calls: Vec<ToolCall> = each.map(|(at, (before, after))| call(at, &[("/w/x", *before, *after)])).collect();
        let found = Records::of(&calls, &fs);
        let change = found.net(Path::new("/w/x")).unwrap();
        assert_eq!((change.before.as_deref(), change.after.as_deref()), (before, after), "{changes:?}");
        assert_eq!((change.words(), change.by.len()), (words, changes.len()));
        assert_eq!(change.is_of_times(), words.contains("times"));
    }
    let back = [call(0, &[("/w/x", a, b)]), call(1, &[("/w/x", b, a)])];
    let found = Records::of(&back, &fs);
    assert!(found.net(Path::new("/w/x")).is_none() && found.touched.len() == 1);
}

#[test]
fn initial_digest_comes_from_records_or_disk() {
    let hash = "a".repeat(64);
    let mut fs = MemoryFileSystem::new("/w");
    for path in ["/w/same", "/w/times", "/w/changed"] {
        fs.add_file(path, "x", artoo_proto::Timestamp::default());
    }
    let now = Some(digest::of_bytes(b"x"));
    let calls = [call(
        0,
        &[
            ("/w/times", TIMES.0, TIMES.1),
            ("/w/changed", Some(&hash), now.as_deref()),
            ("/w/new", None, Some(&hash)),
            ("/w/link", Some("link to x"), None),
        ],
    )];
    let found = Records::of(&calls, &fs);
    let start = |path: &str| found.start_digest(Path::new(path));
    assert_eq!((start("/w/same"), start("/w/times"), start("/w/changed")), (now.clone(), now.clone(), Some(hash)));
    assert_eq!((start("/w/new"), start("/w/link"), start("/w/none")), (None, None, None));
    assert_eq!((found.digest(Path::new("/w")), found.digest(Path::new("/w/same"))), (None, now));
}

/// Calls that may have changed more than was recorded are listed as unknown.
#[test]
fn incompletely_recorded_calls_are_unknown() {
    let fs = MemoryFileSystem::new("/w");
    let is_unknown = |tool: &str, status: CallStatus, class: EffectClass, changes_known: bool| {
        let calls = [ToolCall { tool: tool.to_owned(), status, class, changes_known, ..call(0, &[]) }];
        Records::of(&calls, &fs).unknown().count() == 1
    };
    let write = EffectClass::Unproven;
    for tool in ["files", "write_file"] {
        assert!(!is_unknown(tool, CallStatus::Ok, write, false));
        assert!(is_unknown(tool, CallStatus::Uncertain, write, false));
    }
    assert!(is_unknown("shell", CallStatus::Ok, write, false));
    assert!(is_unknown("shell", CallStatus::Failed, write, false));
    assert!(!is_unknown("shell", CallStatus::Ok, write, true));
    assert!(!is_unknown("shell", CallStatus::Ok, EffectClass::ReadOnly, false));
    assert!(!is_unknown("shell", CallStatus::Denied, write, false));
}
