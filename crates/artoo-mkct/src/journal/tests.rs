//! Tests of the journal on real files: round trips, torn tails, damage, locks, versions.

use std::{fs, io::Write as _, path::PathBuf, process, sync::Arc};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{Journal, JournalError, JournalStep, OpenReport, format};
use crate::{
    disk::LockedFile,
    engine::Engine,
    record::{DeletionReason, Frame, FrameProblem, MegramId, NewMegram, Offset, Quantum, State, Tag},
};

/// A temporary folder and the path of a journal in it.
struct Place {
    _folder: TempDir,
    path: PathBuf,
}

/// A new temporary folder for a journal.
fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.journal");
    Place { _folder: folder, path }
}

/// Frames of this number of records.
fn frames(count: usize) -> Vec<Frame> {
    let mut engine = Engine::new();
    let draft =
        |i| NewMegram::new(Tag::new("tool:a", format!("path:{i}")), State::ALL[i % 7], format!("it was\n\"{i}\" €"));
    (0..count).map(|i| engine.write(draft(i), i as i64).unwrap()).collect()
}

/// Appends these frames to the journal in a folder, closes the journal, and returns its bytes.
fn written(place: &Place, frames: &[Frame]) -> Vec<u8> {
    let (mut journal, _, _) = Journal::open(&place.path).unwrap();
    journal.append(frames).unwrap();
    journal.close().unwrap();
    fs::read(&place.path).unwrap()
}

/// The offset of each entry of a valid journal, and of the end of the last one.
fn offsets(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = vec![format::HEADER_BYTES];
    while let Some(length) = bytes.get(offsets.last().unwrap() + 4..).and_then(|rest| rest.first_chunk()) {
        offsets.push(offsets.last().unwrap() + format::ENTRY_HEADER_BYTES + u32::from_le_bytes(*length) as usize);
    }
    offsets
}

/// The frames that replaying a journal returns.
fn read(path: &std::path::Path) -> Vec<Frame> {
    let mut frames = Vec::new();
    Journal::replay(path, Offset(0), &mut |_, frame| frames.push(frame)).unwrap();
    frames
}

#[test]
fn appended_frames_replay_in_order_after_reopening() {
    let (place, frames) = (place(), frames(30));
    for (life, chunk) in frames.chunks(10).enumerate() {
        let (mut journal, before, report) = Journal::open(&place.path).unwrap();
        assert_eq!(before, frames[..life * 10]);
        let expected = OpenReport { created: life == 0, frames: life * 10, ..OpenReport::default() };
        assert_eq!(report, expected);
        let end = journal.append(chunk).unwrap();
        assert_eq!((journal.end(), end.0), (end, fs::metadata(&place.path).unwrap().len()));
        assert!(journal.synced() < end, "acknowledged is not synced");
        assert_eq!(journal.sync().unwrap(), end);
        journal.close().unwrap();
    }
    assert_eq!(Journal::open(&place.path).unwrap().1, frames);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn frames_round_trip_exactly(
        content in any::<String>(), f in 0.0..=1.0_f64, sigma in -1.0..=1.0_f64, k in 1e-9..1_000.0_f64,
        now_ms in any::<i64>(), ids in prop::collection::vec(any::<u128>(), 0..9),
    ) {
        let quantum = Quantum { f, sigma, k };
        let draft = NewMegram::new(Tag::new("s", "e"), State::Refine, content).quantum(quantum);
        let ids: Vec<MegramId> = ids.into_iter().map(MegramId::from_u128).collect();
        let frames = [
            Engine::new().write(draft, now_ms).unwrap(),
            Frame::Recalled { ids: ids.clone(), at_ms: now_ms },
            Frame::Deleted { ids, at_ms: now_ms, reason: DeletionReason::Faded },
        ];
        let place = place();
        written(&place, &frames);
        prop_assert_eq!(Journal::open(&place.path).unwrap().1, frames);
    }
}

#[doc = "holds: law 3.3; design S2"]
#[test]
fn torn_tail_is_truncated_and_reported() {
    let (place, frames) = (place(), frames(3));
    let bytes = written(&place, &frames);
    let last = offsets(&bytes)[3];
    for cut in last..bytes.len() {
        fs::write(&place.path, &bytes[..cut]).unwrap();
        let (mut journal, found, report) = Journal::open(&place.path).unwrap();
        assert_eq!((found.as_slice(), report.truncated_tail_bytes), (&frames[..2], (cut - last) as u64), "{cut}");
        journal.append(&frames[2..]).unwrap();
        journal.close().unwrap();
        assert_eq!(read(&place.path), frames, "the journal goes on where it was cut");
    }
}

/// Bytes after the last frame that are no valid entry count as an unfinished write and are cut off when opening.
#[doc = "holds: design S2"]
#[test]
fn garbage_after_last_frame_is_torn_tail() {
    for tail in [vec![0; 4_096], vec![0xff; 100], b"MKF1".to_vec(), b"MKF1\x05\0\0\0\0\0\0\0hello".to_vec()] {
        let (place, frames) = (place(), frames(2));
        written(&place, &frames);
        fs::OpenOptions::new().append(true).open(&place.path).unwrap().write_all(&tail).unwrap();
        let (_, found, report) = Journal::open(&place.path).unwrap();
        assert_eq!((found, report.truncated_tail_bytes), (frames, tail.len() as u64));
    }
}

/// Whichever byte of a journal has a bit flipped, opening reports damage or cuts off an unfinished write, and never
/// panics.
#[doc = "holds: law 3.3; design S3"]
#[test]
fn flipped_bits_are_reported_without_panic() {
    let frames = frames(4);
    for one_by_one in [true, false] {
        let place = place();
        let (mut journal, _, _) = Journal::open(&place.path).unwrap();
        for frame in &frames {
            journal.append(std::slice::from_ref(frame)).unwrap();
            if one_by_one {
                journal.sync().unwrap();
            }
        }
        journal.close().unwrap();
        let bytes = fs::read(&place.path).unwrap();
        let offsets = offsets(&bytes);
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << (position % 8);
            fs::write(&place.path, &damaged).unwrap();
            let entry = offsets.iter().rposition(|offset| *offset <= position);
            match (entry, Journal::open(&place.path)) {
                (None, Err(JournalError::NotAJournal { .. })) => {}
                (Some(entry), Ok((_, found, report))) => {
                    assert!(frames.starts_with(&found));
                    assert_eq!(report.truncated_tail_bytes, (bytes.len() - offsets[entry]) as u64);
                    let batch_begins = if one_by_one { offsets.len() - 3 } else { 1 };
                    assert!(entry >= batch_begins, "only what was never said to be synced is cut, not entry {entry}");
                }
                (Some(entry), Err(JournalError::Corrupt { offset, next_sound, .. })) => {
                    assert_eq!(offset, offsets[entry] as u64);
                    assert_eq!(next_sound, Some(offsets[entry + 1] as u64));
                    assert_eq!(fs::read(&place.path).unwrap(), damaged, "not a byte is changed");
                }
                (_, other) => panic!("byte {position}: {other:?}"),
            }
        }
    }
}

/// A last frame with a right checksum and unknown content is reported as damage, not cut off as an unfinished write.
#[doc = "holds: design S3"]
#[test]
fn invalid_complete_last_frame_is_damage() {
    let place = place();
    let bytes = written(&place, &frames(1));
    let nonsense = br#"{"kind":"dreamt"}"#;
    let length = nonsense.len() as u32;
    let checksum = format::Kind::Frame.checksum(length, nonsense);
    let header = format::EntryHeader { kind: format::Kind::Frame, length, checksum };
    let mut file = fs::OpenOptions::new().append(true).open(&place.path).unwrap();
    file.write_all(&header.bytes()).unwrap();
    file.write_all(nonsense).unwrap();
    let Err(JournalError::Corrupt { offset, problem, .. }) = Journal::open(&place.path) else { panic!("opened") };
    assert_eq!((offset, problem), (bytes.len() as u64, FrameProblem::Content));
}

/// The bytes of a journal as an earlier build of version 1 wrote it: frames without notes.
fn without_notes(frames: &[Frame]) -> Vec<u8> {
    let mut encoded = format::Encoded::default();
    frames.iter().for_each(|frame| encoded.frame(frame).unwrap());
    [format::header().as_slice(), &encoded.bytes].concat()
}

/// In a journal without notes about syncs, an invalid frame followed by a valid one is damage, not an unfinished write.
#[doc = "holds: design S3"]
#[test]
fn valid_frame_after_invalid_proves_damage() {
    let (place, frames) = (place(), frames(3));
    let mut bytes = without_notes(&frames);
    fs::write(&place.path, &bytes).unwrap();
    assert_eq!(read(&place.path), frames);
    let offsets = offsets(&bytes);
    bytes[offsets[1] + 20] ^= 1;
    fs::write(&place.path, &bytes).unwrap();
    let Err(JournalError::Corrupt { offset, .. }) = Journal::open(&place.path) else { panic!("opened") };
    assert_eq!(offset, offsets[1] as u64);
}

/// A zeroed frame within the last batch counts as an unfinished write; in an earlier, synced batch it is damage.
#[doc = "holds: design S1"]
#[test]
fn hole_in_unsynced_batch_is_interrupted_write() {
    // Pages reach the disk in any order: the second frame of the last batch did not, the third did.
    let (place, frames) = (place(), frames(6));
    let (mut journal, _, _) = Journal::open(&place.path).unwrap();
    for batch in frames.chunks(3) {
        journal.append(batch).unwrap();
        journal.sync().unwrap();
    }
    journal.close().unwrap();
    let mut bytes = fs::read(&place.path).unwrap();
    let offsets = offsets(&bytes);
    // Note, three frames, note, three frames.
    for byte in &mut bytes[offsets[6]..offsets[7]] {
        *byte = 0;
    }
    fs::write(&place.path, &bytes).unwrap();
    let (_, found, report) = Journal::open(&place.path).unwrap();
    assert_eq!((found.as_slice(), report.truncated_sound_entries), (&frames[..4], 1));
    // The same hole in the batch before it was on the disk once.
    for byte in &mut bytes[offsets[2]..offsets[3]] {
        *byte = 0;
    }
    fs::write(&place.path, &bytes).unwrap();
    assert!(matches!(Journal::open(&place.path), Err(JournalError::Corrupt { .. })));
}

/// A file with only a part of the journal's header, or zeros, opens as an empty journal with a complete header.
#[test]
fn torn_header_is_written_again() {
    let (header, sound) = (format::header(), written(&place(), &[]));
    for length in 0..=header.len() {
        for content in [header[..length].to_vec(), vec![0; length]] {
            let place = place();
            fs::write(&place.path, &content).unwrap();
            let (journal, found, report) = Journal::open(&place.path).unwrap();
            assert_eq!((found, report.created), (Vec::new(), content != header));
            journal.close().unwrap();
            assert_eq!(fs::read(&place.path).unwrap(), sound);
        }
    }
}

#[doc = "holds: design S11"]
#[test]
fn newer_journal_version_is_refused_unchanged() {
    let place = place();
    let mut bytes = format::header_of(format::FORMAT_VERSION + 1).to_vec();
    bytes.extend_from_slice(b"whatever a later version keeps here");
    fs::write(&place.path, &bytes).unwrap();
    let error = Journal::open(&place.path).unwrap_err();
    assert!(matches!(error, JournalError::NewerVersion { found: 2, supported: 1, .. }), "{error}");
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

/// Opening a file that is no journal fails and leaves the file unchanged.
#[test]
fn other_files_are_refused_and_left_alone() {
    for content in ["SQLite format 3\0 and more", "x", "ARTOMKCT but no header"] {
        let place = place();
        fs::write(&place.path, content).unwrap();
        assert!(matches!(Journal::open(&place.path), Err(JournalError::NotAJournal { .. })), "{content}");
        assert_eq!(fs::read_to_string(&place.path).unwrap(), content);
    }
}

#[doc = "holds: design S5"]
#[test]
fn journal_path_errors_are_io_errors() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing/memory.journal")] {
        let error = Journal::open(path).unwrap_err();
        let expected = matches!(error, JournalError::Io { step: JournalStep::Open, .. });
        assert!(expected || matches!(error, JournalError::NotAJournal { .. }), "{error}");
    }
}

#[doc = "holds: law 3.4; design M15, S6"]
#[test]
fn second_open_reports_locked_journal() {
    let (place, frames) = (place(), frames(1));
    let (mut first, _, _) = Journal::open(&place.path).unwrap();
    assert!(matches!(Journal::open(&place.path), Err(JournalError::Locked { .. })));
    first.append(&frames).unwrap();
    first.close().unwrap();
    assert_eq!(Journal::open(&place.path).unwrap().1, frames);
}

/// A journal can be opened again after closing although a copy of its file handle still exists.
#[test]
fn copied_descriptor_does_not_hold_the_lock() {
    // What a child forked at the wrong moment holds, here in this process.
    let (place, frames) = (place(), frames(3));
    let bytes = written(&place, &frames);
    let (journal, _, _) = Journal::open(&place.path).unwrap();
    let _copy = Arc::clone(journal.file());
    journal.close().unwrap();
    assert_eq!(Journal::open(&place.path).unwrap().1, frames);
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

/// A journal of an earlier build, without notes about syncs, opens with all frames and gets such a note.
#[test]
fn journal_without_sync_marks_gets_one() {
    let (place, frames) = (place(), frames(2));
    fs::write(&place.path, without_notes(&frames)).unwrap();
    let (journal, found, _) = Journal::open(&place.path).unwrap();
    assert_eq!(found, frames);
    journal.close().unwrap();
    assert!(fs::metadata(&place.path).unwrap().len() > without_notes(&frames).len() as u64);
    assert_eq!(read(&place.path), frames);
}

/// If the first entry after a snapshot's offset is zeroed, the entries after it are cut off as an unfinished write.
#[doc = "holds: design S1"]
#[test]
fn hole_after_snapshot_is_interrupted_write() {
    let (place, frames) = (place(), frames(4));
    let (mut journal, _, _) = Journal::open(&place.path).unwrap();
    journal.append(&frames[..2]).unwrap();
    journal.sync().unwrap();
    let resume = journal.resume();
    journal.append(&frames[2..]).unwrap();
    journal.close().unwrap();
    let mut bytes = fs::read(&place.path).unwrap();
    let begin = resume.offset.0 as usize;
    // The note alone did not reach the disk.
    let note = format::ENTRY_HEADER_BYTES + format::u32_at(&bytes, begin + 4) as usize;
    bytes[begin..begin + note].fill(0);
    fs::write(&place.path, &bytes).unwrap();
    let mut found = Vec::new();
    let visit = &mut |_, frame| found.push(frame);
    let (_, report) = Journal::open_from(&crate::disk::SystemDisk, &place.path, Some(resume), visit).unwrap();
    assert_eq!((found.len(), report.truncated_sound_entries), (0, 2));
    assert_eq!(read(&place.path), frames[..2]);
}

/// Child process of `synced_frames_survive_process_death`: appends five frames, prints that, and waits to be killed.
#[test]
#[ignore = "a part of the next test"]
fn child_process_appends_and_waits() {
    let path = std::env::var_os("MKCT_TEST_JOURNAL").expect("started by the other test");
    let (mut journal, _, _) = Journal::open(path).unwrap();
    journal.append(&frames(5)).unwrap();
    println!("acknowledged");
    std::io::stdout().flush().unwrap();
    loop {
        std::thread::park();
    }
}

#[doc = "holds: law 3.3; design S1"]
#[test]
fn synced_frames_survive_process_death() {
    use std::io::{BufRead as _, BufReader};
    let place = place();
    let mut child = process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::tests::child_process_appends_and_waits", "--ignored", "--nocapture"])
        .env("MKCT_TEST_JOURNAL", &place.path)
        .stdout(process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("acknowledged")));
    assert!(matches!(Journal::open(&place.path), Err(JournalError::Locked { .. })), "another process has it");
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, found, report) = Journal::open(&place.path).unwrap();
    assert_eq!((found, report.truncated_tail_bytes), (frames(5), 0));
}

/// Child process of `full_disk_rolls_back_the_partial_write`: appends until its file may not grow, then a small frame.
#[test]
#[ignore = "a part of the next test"]
fn child_process_fills_its_disk() {
    let path = std::env::var_os("MKCT_TEST_JOURNAL").expect("started by the other test");
    let (mut journal, _, _) = Journal::open(path).unwrap();
    let large = Frame::Recalled { ids: vec![MegramId::from_u128(1); 40], at_ms: 0 };
    let mut acknowledged = 0;
    let error = loop {
        match journal.append(std::slice::from_ref(&large)) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, JournalError::Io { step: JournalStep::Write, .. }), "{error}");
    journal.append(&[Frame::Recalled { ids: Vec::new(), at_ms: 1 }]).unwrap();
    journal.close().unwrap();
    println!("acknowledged {}", acknowledged + 1);
}

#[cfg(unix)]
#[doc = "holds: law 3.4; design S4"]
#[test]
fn full_disk_rolls_back_the_partial_write() {
    let place = place();
    let script = r#"ulimit -f 8; trap "" XFSZ; exec "$0" "$@""#;
    let output = process::Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "journal::tests::child_process_fills_its_disk", "--ignored", "--nocapture"])
        .env("MKCT_TEST_JOURNAL", &place.path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let (_, found, report) = Journal::open(&place.path).unwrap();
    assert!(said.contains(&format!("acknowledged {}\n", found.len())), "{said}");
    assert_eq!((found.len() > 1, report.truncated_tail_bytes), (true, 0));
}

/// `/dev/full` is refused as a journal; a failed write is taken back, or else the journal accepts no more writes.
#[cfg(target_os = "linux")]
#[doc = "holds: design S4, S7"]
#[test]
fn device_error_reports_what_journal_allows() {
    // Not a regular file: a journal is not made there at all.
    assert!(matches!(Journal::open("/dev/full"), Err(JournalError::NotAJournal { .. })));
    // A journal whose file cannot be written any more takes the write back, or takes no more.
    let (place, frames) = (place(), frames(1));
    let bytes = written(&place, &frames);
    let (mut journal, _, _) = Journal::open(&place.path).unwrap();
    let read_only: Arc<dyn crate::disk::DiskFile> = Arc::new(fs::File::open(&place.path).unwrap());
    drop(std::mem::replace(
        &mut journal.file,
        LockedFile::lock(Arc::new(tempfile::tempfile().unwrap())).unwrap().unwrap(),
    ));
    journal.file = LockedFile::lock(read_only).unwrap().unwrap();
    assert!(matches!(journal.append(&frames), Err(JournalError::Io { step: JournalStep::Write, .. })));
    assert!(matches!(journal.append(&frames), Err(JournalError::Failed { .. })));
    assert!(matches!(journal.sync(), Err(JournalError::Failed { .. })));
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

#[test]
fn oversized_frame_is_refused_before_writing() {
    let place = place();
    let bytes = written(&place, &frames(1));
    let (mut journal, _, _) = Journal::open(&place.path).unwrap();
    let large = Frame::Recalled { ids: vec![MegramId::from_u128(1); 40_000], at_ms: 0 };
    let refused = journal.append(&[frames(1).remove(0), large]);
    assert!(matches!(refused, Err(JournalError::TooLarge { .. })), "{refused:?}");
    journal.close().unwrap();
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

#[cfg(unix)]
#[test]
fn new_journal_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    written(&place, &[]);
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o077, 0);
}
