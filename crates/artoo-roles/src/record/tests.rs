//! Tests of records on the disk: written records are read, damaged parts are skipped.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for the few effects it needs")]

use std::fs;

use artoo_proto::{FinalResult, Message, TaskId, Timestamp, Usage};
use uuid::Uuid;

use super::*;
use crate::memory::Memory;
use crate::system::Input;
use crate::testing::world::{World, config, understood};

/// Sample conditions under which a task begins.
fn begun() -> Begun {
    Begun {
        at: Timestamp::from_millis(1_772_000_000_000),
        artoo: "0.2.0".to_owned(),
        prompts: prompts_digest(),
        model: "reflex".to_owned(),
        memory_records: 0,
        config: config(1),
    }
}

/// A folder with the record of one task that has begun.
fn one_record(words: &str) -> (tempfile::TempDir, Records, TaskId) {
    let folder = tempfile::tempdir().unwrap();
    let records = Records::new(folder.path().join("tasks"), begun());
    let world = World::new(1);
    let request = world.request(words);
    let task = request.task_id.clone();
    records.begin(&task, begun().at);
    let input = Box::new(Input::Operator { message: request.into() });
    records.append(&task, &Frame::Input { now: world.now, input });
    (folder, records, task)
}

#[test]
fn record_round_trips() {
    let (folder, records, task) = one_record("count the files");
    let tasks = folder.path().join("tasks");
    let path = tasks.join(format!("{task}.open"));
    let record = Record::read(&path).unwrap();
    assert_eq!((record.begun.clone(), record.task_id(), record.damaged_bytes), (begun(), &task, 0));
    assert!(record.is_running() && record.result().is_none() && record.ended().is_none());
    assert_eq!(list(&tasks, true), [path]);
    let usage = Usage { model_calls: 2, ..Usage::default() };
    let ended = Frame::Ended { at: begun().at, usage: vec![(artoo_proto::Role::Planner, usage)] };
    records.end(&task, &ended);
    assert_eq!(list(&tasks, true), Vec::<std::path::PathBuf>::new());
    let record = find(&tasks, task.as_str()).unwrap();
    assert_eq!(record.ended().unwrap().1, [(artoo_proto::Role::Planner, usage)]);
    assert!(!record.is_running());
    let (name, end) = (task.as_str(), &task.as_str()[task.as_str().len() - 6..]);
    assert_eq!((find(&tasks, &name[..5]).unwrap(), find(&tasks, end).unwrap()), (record.clone(), record));
    let none = find(&tasks, "nothing").unwrap_err().to_string();
    assert!(none.contains("0 records"), "{none}");
}

/// Resuming a task fails, without changing its record, if the file grew after it was read.
#[test]
fn record_changed_since_reading_is_not_resumed() {
    let (folder, records, task) = one_record("count the files");
    let record = Record::read(&folder.path().join("tasks").join(format!("{task}.open"))).unwrap();
    records.append(&task, &Frame::Resumed { at: begun().at });
    drop(records);
    let later = Records::new(folder.path().join("tasks"), begun());
    let error = later.resume(&record, begun().at).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(Record::read(&record.path).unwrap().frames.len(), record.frames.len() + 1, "nothing was cut off");
    later.resume(&Record::read(&record.path).unwrap(), begun().at).unwrap();
}

#[cfg(unix)]
#[test]
fn record_files_are_closed_to_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _records, task) = one_record("count the files");
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let tasks = folder.path().join("tasks");
    assert_eq!((mode(tasks.clone()), mode(tasks.join(format!("{task}.open")))), (0o700, 0o600));
}

#[test]
fn damaged_end_is_skipped_at_any_byte() {
    let (folder, records, task) = one_record("count the files");
    let path = folder.path().join("tasks").join(format!("{task}.open"));
    let before = Record::read(&path).unwrap();
    records.append(&task, &Frame::Resumed { at: begun().at });
    let whole = fs::read(&path).unwrap();
    assert_eq!(Record::read(&path).unwrap().frames.len(), before.frames.len() + 1);
    let sound = usize::try_from(before.sound_bytes).unwrap();
    for end in sound..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let cut = Record::read(&path).unwrap();
        assert_eq!((cut.frames.len(), cut.sound_bytes), (before.frames.len(), before.sound_bytes), "{end}");
        assert_eq!(cut.damaged_bytes, (end - sound) as u64);
    }
    for at in sound..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(&path, &flipped).unwrap();
        assert_eq!(Record::read(&path).unwrap().frames, before.frames, "{at}");
    }
}

/// A record of a newer format version is refused with its version, and the file is not changed.
#[test]
fn newer_record_version_is_reported_unchanged() {
    let (folder, _records, task) = one_record("count the files");
    let path = folder.path().join("tasks").join(format!("{task}.open"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[8..12].copy_from_slice(&2_u32.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let error = Record::read(&path).unwrap_err();
    assert!(matches!(error, RecordError::Later { version: 2, .. }), "{error}");
    bytes[15] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(Record::read(&path), Err(RecordError::NotARecord { .. })));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn unneeded_old_records_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.record", "b.record", "c.record", "d.record", "e.open"] {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let left = || {
        let mut left: Vec<_> =
            list(folder.path(), false).into_iter().map(|path| path.file_stem().unwrap().to_owned()).collect();
        left.sort();
        left
    };
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    assert_eq!(collect(folder.path(), Some(day), &|_| true), (0, 0));
    assert_eq!(left().len(), 5);
    assert_eq!(collect(folder.path(), Some(std::time::Duration::ZERO), &|task| task != "c"), (3, 3));
    assert_eq!(left(), ["c", "e"], "an open record is never deleted");
    assert_eq!(collect(folder.path(), None, &|_| true).0, 0, "the older half of one is none");
}

/// A record that would exceed its maximum size ends there, and its task is not offered for resuming.
#[test]
fn oversized_record_stops_growing() {
    let (folder, records, task) = one_record("count the files");
    let large = serde_json::Value::String("x".repeat(15 * 1024 * 1024));
    for _ in 0..5 {
        records.append(&task, &Frame::Ledger { ledger: large.clone() });
    }
    let tasks = folder.path().join("tasks");
    assert_eq!(list(&tasks, true), Vec::<std::path::PathBuf>::new(), "it is not offered to be resumed");
    let path = list(&tasks, false).remove(0);
    assert!(fs::metadata(path).unwrap().len() <= RECORD_MAX_BYTES);
}

/// Runs a request in a simulated world, and returns its record and its result.
fn recorded(words: &str) -> (Record, FinalResult) {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        artoo_proto::Role::Perceiver => understood(request),
        _ => Err(artoo_proto::ModelFailure::Unreachable { detail: "no model".to_owned() }),
    });
    let request = world.request(words);
    let input = Input::Operator { message: request.clone().into() };
    let mut frames = Vec::new();
    let mut inputs = std::collections::VecDeque::from([input]);
    let mut result = None;
    while let Some(input) = inputs.pop_front() {
        frames.push(Frame::Input { now: world.now, input: Box::new(input.clone()) });
        let effects = world.system.step(world.now, input);
        frames.push(Frame::Did { effects: effects.iter().filter_map(Did::of).collect() });
        for effect in effects {
            match effect {
                crate::Effect::Perform { work: crate::machine::Work::Timer { .. }, .. } => {}
                crate::Effect::Perform { effect_id, work, .. } => {
                    let completion = world.perform(&work);
                    inputs.push_back(Input::Completed { effect_id, completion });
                }
                crate::Effect::Deliver { message: Message::FinalResult(found), .. } => result = Some(found),
                crate::Effect::Observe { at, event: artoo_bus::TapEvent::Message { envelope } }
                    if matches!(envelope.message, Message::MemoryRecall(_)) =>
                {
                    frames.push(Frame::Said { at, message: Box::new(envelope.message.clone()) });
                }
                _ => {}
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let records = Records::new(folder.path().to_owned(), begun());
    records.begin(&request.task_id, begun().at);
    frames.iter().for_each(|frame| records.append(&request.task_id, frame));
    let record = Record::read(&list(folder.path(), true)[0]).unwrap();
    (record, result.unwrap())
}

/// A record replays to the same result without the memory, since memory's answers are recorded.
#[test]
fn replay_needs_no_memory_store() {
    let (record, result) = recorded("count the files");
    let again = replay(&record, Memory::unavailable());
    assert_eq!((again.difference, again.result), (None, Some(result)));
    assert!(again.open.is_empty(), "{:?}", again.open);
}

#[test]
fn replay_reports_first_different_decision() {
    let (mut record, _) = recorded("count the files");
    let at = record.frames.iter().position(|frame| matches!(frame, Frame::Did { effects } if !effects.is_empty()));
    let Frame::Did { effects } = &mut record.frames[at.unwrap()] else { unreachable!() };
    effects[0].digest = Uuid::nil();
    let difference = replay(&record, Memory::unavailable()).difference.unwrap();
    assert_eq!(difference.recorded.unwrap().what, difference.now.unwrap().what);
    assert_eq!(difference.input, 1);
}

#[test]
fn prompt_digest_covers_every_prompt() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prompts");
    let files = fs::read_dir(folder).unwrap().count();
    assert_eq!(crate::prompt::ALL.len(), files);
}
