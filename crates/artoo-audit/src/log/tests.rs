//! Tests of the log on real files: continued chains, incomplete lines, damage, full disks.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::slice;

use super::{AuditLog, LogError};
use crate::event::{AuditEvent, Note};
use crate::testing::{Bench, at, lines, request, values};
use crate::verify::verify;

/// Creates a temporary folder; returns it with the path of a log in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    (dir, path)
}

/// Opens a log; returns it with the notes about problems that were found.
fn open(path: &Path) -> (AuditLog, Vec<Note>) {
    AuditLog::open(path, at(0), None).unwrap()
}

/// Appends this many events to a log.
fn write(log: &mut AuditLog, events: u128) {
    let mut bench = Bench::default();
    for n in 0..events {
        log.append(&AuditEvent::seen(&bench.publish(request(n)), vec![])).unwrap();
    }
}

/// The event kinds of the lines in a log, in order.
fn events(path: &Path) -> Vec<String> {
    values(path).iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect()
}

/// A log that is opened again continues its chain of hashes.
#[test]
fn reopening_continues_the_chain() {
    let (_dir, path) = folder();
    let (mut log, notes) = open(&path);
    assert_eq!(notes, [Note::LogOpened { lines: 0 }]);
    write(&mut log, 2);
    let head = log.head();
    drop(log);
    let (mut log, notes) = AuditLog::open(&path, at(1), Some(&head)).unwrap();
    assert_eq!(notes, [Note::LogOpened { lines: 3 }]);
    write(&mut log, 1);
    assert_eq!(verify(&path).unwrap().lines, 5);
    let lines = values(&path);
    assert_eq!(lines[0]["prev"], "0".repeat(64));
    assert_eq!(lines[4]["prev"], lines[3]["hash"]);
    assert_eq!(lines[4]["n"], 5);
    // The hash as documented, computed here a second time.
    let text = &super::super::testing::lines(&path)[4];
    let body = text.rsplit_once(r#","hash":"#).unwrap().0;
    assert_eq!(lines[4]["hash"], crate::verify::sha256(body.as_bytes()));
}

/// Opening a log restricts its permissions to the owner.
#[test]
fn only_the_owner_can_read_logs() {
    let (_dir, path) = folder();
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    open(&path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A half-written last line is removed when the log is opened, and a note says so.
#[doc = "holds: design S2"]
#[test]
fn incomplete_last_line_is_removed() {
    let (_dir, path) = folder();
    let (mut log, _) = open(&path);
    write(&mut log, 3);
    let whole = fs::read(&path).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [last_line + 1, last_line + 40, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let (_, notes) = open(&path);
        let bytes = (cut - last_line) as u64;
        assert_eq!(notes, [Note::TornTail { bytes }, Note::LogOpened { lines: 3 }]);
        assert_eq!(verify(&path).unwrap().lines, 5);
        assert_eq!(events(&path)[3..], ["torn_tail", "log_opened"]);
    }
}

/// A damaged log is renamed, and the new log begins with a note about it.
#[doc = "holds: design S3"]
#[test]
fn damaged_log_is_renamed_and_noted() {
    let (dir, path) = folder();
    let (mut log, _) = open(&path);
    write(&mut log, 3);
    drop(log);
    let changed = fs::read_to_string(&path).unwrap().replacen("count_files", "coSnt_files", 1);
    fs::write(&path, &changed).unwrap();
    let (_, notes) = open(&path);
    assert_eq!(
        notes,
        [
            Note::SetAside {
                file: "audit.broken-0001.jsonl".to_owned(),
                line: 2,
                problem: "was changed after it was written".to_owned()
            },
            Note::LogOpened { lines: 0 }
        ]
    );
    assert_eq!(fs::read_to_string(dir.path().join("audit.broken-0001.jsonl")).unwrap(), changed, "kept as it was");
    assert_eq!(events(&path), ["set_aside", "log_opened"]);
    assert_eq!(verify(&path).unwrap().lines, 2);
    // The next damage finds a free name.
    fs::write(&path, "garbage\n").unwrap();
    let (_, notes) = open(&path);
    assert!(
        matches!(&notes[0], Note::SetAside { file, line: 1, .. } if file == "audit.broken-0002.jsonl"),
        "{notes:?}"
    );
}

/// If a log has fewer lines than its statistics know, a note says so.
#[test]
fn shortened_log_is_noted() {
    let (_dir, path) = folder();
    let (mut log, _) = open(&path);
    write(&mut log, 3);
    let head = log.head();
    drop(log);
    let kept: String = lines(&path)[..2].iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, kept).unwrap();
    let (_, notes) = AuditLog::open(&path, at(1), Some(&head)).unwrap();
    assert_eq!(notes, [Note::CutShort { expected: 4, found: 2, whole_at: None }, Note::LogOpened { lines: 2 }]);
    assert_eq!(verify(&path).unwrap().lines, 4);
}

/// The chain of hashes continues from a full log file into the next.
#[test]
fn the_chain_spans_segments() {
    let (dir, path) = folder();
    let (mut log, _) = open(&path);
    log.segment_max = 2_000;
    write(&mut log, 12);
    let head = log.head();
    let segments: Vec<PathBuf> = (1..4).map(|n| dir.path().join(format!("audit.{n:04}.jsonl"))).collect();
    for (segment, next) in segments.iter().zip(segments.iter().skip(1).chain([&path])) {
        let verified = verify(segment).unwrap();
        assert_eq!(values(next)[0]["prev"], verified.head.unwrap().hash);
        assert_eq!(verify(next).unwrap().follows.unwrap(), segment.file_name().unwrap().to_str().unwrap());
        let compressed = segment.with_added_extension("gz");
        assert!(!segment.exists());
        assert_eq!(verify(&compressed).unwrap(), verify(segment).unwrap());
        assert_eq!(fs::metadata(&compressed).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // A line noted before the segment was full is still found.
    let early = verify(&segments[0]).unwrap().head.unwrap();
    for known in [&head, &early] {
        let (_, notes) = AuditLog::open(&path, at(1), Some(known)).unwrap();
        assert!(matches!(notes.as_slice(), [Note::LogOpened { .. }]), "{notes:?}");
    }
    // Removing lines from a full segment breaks the link of the next.
    let kept: String = lines(&segments[2])[..2].iter().map(|line| format!("{line}\n")).collect();
    fs::write(&segments[2], kept).unwrap();
    let error = verify(&path).unwrap_err();
    assert_eq!((error.line, error.what.to_string()), (1, "does not follow the line before".to_owned()));
}

/// A log that artoo 0.1.0 wrote is continued.
#[test]
fn old_version_log_is_continued() {
    let (dir, path) = folder();
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    fs::copy(fixture("audit-0.1.0.jsonl"), &path).unwrap();
    fs::copy(fixture("audit_stats-0.1.0.json"), dir.path().join("audit_stats.json")).unwrap();
    let before = verify(&path).unwrap();
    let (mut log, notes) = AuditLog::open(&path, at(1), before.head.as_ref()).unwrap();
    assert_eq!(notes, [Note::LogOpened { lines: before.lines }]);
    log.segment_max = 2_000;
    write(&mut log, 1);
    let full = verify(&dir.path().join("audit.0001.jsonl.gz")).unwrap();
    assert_eq!(full.lines, before.lines + 1);
    assert_eq!(verify(&path).unwrap().lines, 2);
    // One byte of it changed is found.
    let text = fs::read_to_string(fixture("audit-0.1.0.jsonl")).unwrap();
    fs::write(&path, text.replacen("how many", "how menu", 1)).unwrap();
    assert_eq!(verify(&path).unwrap_err().to_string(), "line 2: was changed after it was written");
}

#[test]
fn damage_in_compressed_segments_is_found() {
    let (dir, path) = folder();
    let (mut log, _) = open(&path);
    log.segment_max = 100_000;
    write(&mut log, 200);
    let compressed = dir.path().join("audit.0001.jsonl.gz");
    let whole = fs::read(&compressed).unwrap();
    assert!(whole.len() < 25_000, "{}", whole.len());
    let mut changed = whole.clone();
    changed[5_000] ^= 1;
    for damaged in [&whole[..whole.len() / 2], &changed] {
        fs::write(&compressed, damaged).unwrap();
        verify(&compressed).unwrap_err();
        assert_eq!(verify(&path).unwrap_err().to_string(), "line 1: does not follow the line before");
    }
    fs::write(&compressed, whole).unwrap();
    verify(&path).unwrap();
}

/// If a full log file can't be compressed, it stays as it is and is still read.
#[test]
fn segment_without_compression_stays_plain() {
    let (dir, path) = folder();
    let (mut log, _) = open(&path);
    log.segment_max = 2_000;
    fs::create_dir(dir.path().join("audit.0001.part")).unwrap();
    write(&mut log, 8);
    assert!(dir.path().join("audit.0001.jsonl").exists() && !dir.path().join("audit.0001.jsonl.gz").exists());
    assert!(dir.path().join("audit.0002.jsonl.gz").exists());
    assert_eq!(verify(&path).unwrap().follows.unwrap(), "audit.0002.jsonl");
    let second = verify(&dir.path().join("audit.0002.jsonl")).unwrap();
    assert_eq!(second.follows.unwrap(), "audit.0001.jsonl");
    assert_eq!(log.lost(), 0);
}

#[doc = "holds: design S4"]
#[test]
fn events_lost_on_full_disk_are_reported() {
    let (_dir, path) = folder();
    let (mut log, _) = open(&path);
    write(&mut log, 1);
    let real = std::mem::replace(&mut log.file, OpenOptions::new().write(true).open("/dev/full").unwrap());
    for n in 1..=3 {
        let error = log.append(&AuditEvent::note(at(0), Note::Found)).unwrap_err();
        assert_eq!(error.action, "write to");
        assert_eq!((log.lost(), log.unreported()), (n, Some((n, "No space left on device (os error 28)"))));
    }
    log.file = real;
    // What a disk leaves when it fills up in the middle of a line.
    let mut half: File = OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut half, br#"{"n":3,"at":"20"#).unwrap();
    log.append(&AuditEvent::note(at(0), Note::Found)).unwrap();
    assert_eq!((log.lost(), log.unreported()), (3, None));
    assert_eq!(events(&path), ["log_opened", "message", "write_lost", "found"]);
    assert_eq!(values(&path)[2]["missing"], 3);
    verify(&path).unwrap();
}

#[doc = "holds: design S5"]
#[test]
fn unwritable_folder_is_an_error() {
    let (dir, path) = folder();
    assert!(matches!(
        AuditLog::open(&dir.path().join("none/audit.jsonl"), at(0), None),
        Err(LogError { action: "open", .. })
    ));
    fs::create_dir(&path).unwrap();
    assert!(matches!(AuditLog::open(&path, at(0), None), Err(LogError { action: "open", .. })));
}

/// Several events written at once give the same file as one by one.
#[test]
fn batch_equals_single_writes() {
    let mut bench = Bench::default();
    let events: Vec<AuditEvent> = (0..5).map(|n| AuditEvent::seen(&bench.publish(request(n)), vec![])).collect();
    let written = |together: bool| {
        let (_dir, path) = folder();
        let (mut log, _) = open(&path);
        if together {
            assert!(log.append_batch(&events[..3]) && log.append_batch(&[]) && log.append_batch(&events[3..]));
        } else {
            events.iter().for_each(|event| log.append(event).unwrap());
        }
        assert_eq!(verify(&path).unwrap().head, Some(log.head()));
        fs::read_to_string(&path).unwrap()
    };
    assert_eq!(written(true), written(false));
}

/// If writing several events at once fails, none of them is in the log.
#[doc = "holds: design S4"]
#[test]
fn failed_batch_writes_nothing() {
    let (_dir, path) = folder();
    let (mut log, _) = open(&path);
    write(&mut log, 1);
    let before = log.head();
    let event = AuditEvent::note(at(0), Note::Found);
    // What can't be written: the file is open for reading alone.
    log.file = File::open(&path).unwrap();
    assert!(!log.append_batch(&[event.clone(), event.clone()]));
    assert_eq!((log.head(), log.lost(), log.unreported()), (before, 0, None));
    log.file = OpenOptions::new().read(true).append(true).open(&path).unwrap();
    assert!(!log.append_batch(slice::from_ref(&event)), "a torn end is cut off first");
    log.append(&event).unwrap();
    assert!(log.append_batch(&[event.clone(), event]));
    assert_eq!(verify(&path).unwrap().lines, 5);
}
