//! Tests of verification: every kind of tampering with a real log, and the line that is reported.

use std::fs;
use std::path::PathBuf;

use super::{Damage, VerifyError, verify};
use crate::event::AuditEvent;
use crate::log::AuditLog;
use crate::stats::save_stats;
use crate::testing::{Bench, at, lines, request};
use crate::window::{AuditStats, LogHead};

/// Writes a log of seven lines whose last line the statistics name; returns folder, path and lines.
fn seven() -> (tempfile::TempDir, PathBuf, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let (mut log, _) = AuditLog::open(&path, at(0), None).unwrap();
    let mut bench = Bench::default();
    for n in 0..6 {
        log.append(&AuditEvent::seen(&bench.publish(request(n)), vec![])).unwrap();
    }
    let stats = AuditStats { head: Some(log.head()), ..AuditStats::new(at(0)) };
    save_stats(&dir.path().join("audit_stats.json"), &stats).unwrap();
    let lines = lines(&path);
    (dir, path, lines)
}

/// Changes the lines of a log and asserts that verification reports this line and this damage.
fn check(tamper: impl FnOnce(&mut Vec<String>), expected: (u64, &str)) {
    let (_dir, path, mut lines) = seven();
    tamper(&mut lines);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    let error = verify(&path).unwrap_err();
    assert_eq!((error.line, error.what.to_string().as_str()), expected);
}

/// A log that was not changed passes verification.
#[test]
fn untouched_log_verifies() {
    let (_dir, path, lines) = seven();
    let verified = verify(&path).unwrap();
    assert_eq!(verified.lines, 7);
    let last: serde_json::Value = serde_json::from_str(&lines[6]).unwrap();
    assert_eq!(verified.head, Some(LogHead { lines: 7, hash: last["hash"].as_str().unwrap().to_owned(), at: None }));
    assert_eq!(verified.follows, None);
}

/// Verification reports a changed, removed, added or moved line by its number.
#[doc = "holds: principle 5"]
#[test]
fn tampering_is_found_at_its_line() {
    check(|lines| lines[3] = lines[3].replace("how many", "how few"), (4, "was changed after it was written"));
    check(|lines| lines[3] = lines[3].replace(r#""n":4"#, r#""n":5"#), (4, "has number 5"));
    check(|lines| lines[6] = lines[6].replace("how many", "how few"), (7, "was changed after it was written"));
    check(|lines| drop(lines.remove(2)), (3, "has number 4"));
    check(|lines| drop(lines.remove(0)), (1, "has number 2"));
    check(|lines| lines.swap(1, 4), (2, "has number 5"));
    check(|lines| lines.insert(3, lines[2].clone()), (4, "has number 3"));
    check(|lines| lines.insert(2, String::new()), (3, "is not a log entry"));
    check(|lines| lines[5] = "{}".to_owned(), (6, "is not a log entry"));
    check(|lines| lines[5].truncate(40), (6, "is not a log entry"));
    check(|lines| lines[5].push(' '), (6, "is not a log entry"));
    check(|lines| lines.truncate(4), (5, "the end of the log was cut off: 3 of 7 lines are missing"));
    check(|lines| lines.clear(), (1, "the log was deleted or emptied: 7 lines are missing"));
    check(
        |lines| {
            // Edited, with a fresh hash of its own: the next line does not follow it any more.
            let body = lines[3].rsplit_once(r#","hash":"#).unwrap().0.replace("how many", "how few");
            lines[3] = format!("{body}{}", super::hash_suffix(&super::sha256(body.as_bytes())));
        },
        (5, "does not follow the line before"),
    );
}

/// Bytes cut off the log's end, and a deleted log, are found by the line that the statistics know.
#[test]
fn removed_bytes_and_files_are_found() {
    let (_dir, path, lines) = seven();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let found = || match verify(&path).unwrap_err() {
        VerifyError { line, what: Damage::CutShort { expected, found, .. } } => (line, expected, found),
        other => panic!("{other}"),
    };
    for cut in [1, 30] {
        fs::write(&path, &text[..text.len() - cut]).unwrap();
        assert_eq!(found(), (7, 7, 6), "the incomplete line was once whole");
    }
    fs::write(&path, format!("{text}{{\"n\":8,")).unwrap();
    let verified = verify(&path).unwrap();
    assert!(verified.is_torn && verified.lines == 7, "{verified:?}");
    for behind in ["\0".repeat(4096), "garbage".to_owned(), "{\"n\":8,\0".to_owned()] {
        fs::write(&path, format!("{text}{behind}")).unwrap();
        let error = verify(&path).unwrap_err();
        assert!(matches!(error, VerifyError { line: 8, what: Damage::NotARecord }), "{error}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(found(), (1, 7, 0));
    fs::remove_file(path.with_file_name("audit_stats.json")).unwrap();
    assert!(matches!(verify(&path).unwrap_err().what, Damage::Unreadable(_)));
}

/// A log whose last lines were removed passes verification if its statistics were removed too.
#[test]
fn shortened_log_passes_without_statistics() {
    // The limit that the README names: a chain can't show what was cut from its end.
    let (dir, path, lines) = seven();
    fs::remove_file(dir.path().join("audit_stats.json")).unwrap();
    fs::write(&path, format!("{}\n", lines[..4].join("\n"))).unwrap();
    assert_eq!(verify(&path).unwrap().lines, 4);
}

/// A file with one line of more than the maximum length is refused.
#[test]
fn endless_line_is_not_read_whole() {
    let (_dir, path, _) = seven();
    fs::write(&path, "x".repeat(3_000_000)).unwrap();
    assert!(matches!(verify(&path).unwrap_err().what, Damage::NotARecord));
}
