//! Tests that truncate records after each frame and resume them with another runtime.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for the few frames it needs")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use artoo_llm::scripted::Scripted;
use artoo_proto::{Basis, ClarificationRequest, ConsentRequest, Ending, ReadingRequest};
use async_trait::async_trait;

use super::super::tests::{counting, environment, folder_with_two_files};
use super::super::{Consent, Operator};
use super::*;
use crate::record::list;

/// An operator that approves everything and counts the questions.
#[derive(Clone, Default)]
struct ApprovingOperator(Arc<AtomicU32>);

#[async_trait]
impl Operator for ApprovingOperator {
    fn is_present(&self) -> bool {
        true
    }

    async fn consent(&self, _: &ConsentRequest) -> Option<Consent> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Some(Consent { scope: artoo_proto::ConsentScope::Once, by_person: true })
    }

    async fn clarify(&self, _: &ClarificationRequest) -> String {
        String::new()
    }

    async fn confirm_readings(&self, _: &ReadingRequest) -> bool {
        true
    }
}

/// The builder of a runtime with this home folder and operator.
fn builder(home: &Path, person: &ApprovingOperator) -> super::super::Builder {
    super::super::System::builder()
        .environment(environment(home))
        .data_dir(home.join(".artoo"))
        .operator(person.clone())
}

/// Runs a request to its end; returns the bytes of its record and its result.
async fn recorded(builder: super::super::Builder, home: &Path, words: &str) -> (Vec<u8>, artoo_proto::FinalResult) {
    let system = builder.start().unwrap();
    let result = system.run(words).outcome().await.unwrap().result;
    assert_eq!(system.close().await.problems, Vec::<String>::new());
    let path = list(&home.join(".artoo/tasks"), false).remove(0);
    (fs::read(path).unwrap(), result)
}

/// The record lengths after each frame except the first, after which the record has no request, and the last.
fn ends_of_frames(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut ends) = (16, Vec::new());
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        at += 8 + usize::try_from(length).unwrap();
        ends.push(at);
    }
    assert_eq!(at, bytes.len(), "the record ends with a whole frame");
    ends[1..ends.len() - 1].to_vec()
}

/// Replaces the data folder by one that has only a record of an interrupted task with these bytes; returns the record.
fn interrupted(home: &Path, task: &str, bytes: &[u8]) -> Record {
    let folder = home.join(".artoo/tasks");
    drop(fs::remove_dir_all(home.join(".artoo")));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{task}.open"));
    fs::write(&path, bytes).unwrap();
    Record::read(&path).unwrap()
}

#[tokio::test]
async fn resumed_task_ends_like_uninterrupted_task() {
    let home = folder_with_two_files();
    let person = ApprovingOperator::default();
    let model = || Scripted::new(counting(&home.path().join("docs")));
    let (bytes, whole) =
        recorded(builder(home.path(), &person).model(model()), home.path(), "how many files are in docs").await;
    let ends = ends_of_frames(&bytes);
    assert!(ends.len() > 10, "{}", ends.len());
    for end in ends {
        let record = interrupted(home.path(), whole.task_id.as_str(), &bytes[..end]);
        if record.result().is_some() {
            continue;
        }
        let system = builder(home.path(), &person).model(model()).resume(record).start().unwrap();
        let outcome = system.resumed().unwrap().outcome().await.unwrap();
        assert_eq!(
            (outcome.result.ending, outcome.result.output),
            (whole.ending.clone(), whole.output.clone()),
            "{end}"
        );
        assert_eq!(system.close().await.problems, Vec::<String>::new());
        let path = list(&home.path().join(".artoo/tasks"), false).remove(0);
        assert_eq!(path.extension().unwrap(), "record", "{end}");
        let again = replay(&Record::read(&path).unwrap(), Memory::unavailable());
        assert_eq!(again.difference, None, "{end}");
    }
}

#[tokio::test]
async fn interrupted_change_is_made_once() {
    let home = folder_with_two_files();
    let person = ApprovingOperator::default();
    let words = "delete docs/a.txt";
    let (bytes, whole) = recorded(builder(home.path(), &person), home.path(), words).await;
    assert_eq!(whole.ending, Ending::Accept { basis: Basis::Checked }, "{whole:#?}");
    assert_eq!(person.0.load(Ordering::Relaxed), 1);
    let saved = home.path().join("saved");
    fs::rename(home.path().join(".artoo"), &saved).unwrap();
    let is_call = |frame: &&Frame| matches!(frame, Frame::Did { effects } if effects.iter().any(|did| did.what == "tool call of files"));
    let mut endings = BTreeSet::new();
    let file = home.path().join("docs/a.txt");
    let (mut resumed, mut was_done) = (Vec::new(), false);
    for end in ends_of_frames(&bytes) {
        let record = interrupted(home.path(), whole.task_id.as_str(), &bytes[..end]);
        if record.result().is_none() {
            // The second call is the approved one.
            resumed.push((record.frames.iter().filter(is_call).count() > 1, end));
        }
    }
    // First where the call was made and only its end may be missing: the journal of then fits the disk of now only once.
    resumed.sort_by_key(|(is_done, end)| (!is_done, *end));
    for (is_done, end) in resumed {
        if is_done && was_done {
            continue;
        }
        let record = interrupted(home.path(), whole.task_id.as_str(), &bytes[..end]);
        if is_done {
            copy(&saved.join("undo"), &home.path().join(".artoo/undo"));
            was_done = true;
        } else if !file.exists() {
            // The same file, as an approval is bound to it.
            let thrown = home.path().join(".local/share/Trash/files");
            let thrown = fs::read_dir(thrown).unwrap().next().unwrap().unwrap().path();
            fs::rename(thrown, &file).unwrap();
        }
        let system = builder(home.path(), &person).resume(record).start().unwrap();
        let result = system.resumed().unwrap().outcome().await.unwrap().result;
        endings.insert(format!("{:?}", result.ending));
        assert_eq!(system.close().await.problems, Vec::<String>::new());
        assert!(!file.exists(), "{end} {is_done} {result:#?}");
    }
    assert!(was_done, "no record ends in the middle of the call");
    assert_eq!(endings, BTreeSet::from([format!("{:?}", whole.ending)]));
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn changed_configuration_prevents_resume() {
    let home = folder_with_two_files();
    let person = ApprovingOperator::default();
    let (bytes, whole) = recorded(builder(home.path(), &person), home.path(), "how many files are in docs").await;
    let refused = |record: Record, model: Option<Scripted>| {
        let mut builder = builder(home.path(), &person).resume(record);
        if let Some(model) = model {
            builder = builder.model(model);
        }
        builder.start().err().unwrap().to_string()
    };
    let ends = ends_of_frames(&bytes);
    let middle = || interrupted(home.path(), whole.task_id.as_str(), &bytes[..ends[4]]);
    let other = refused(middle(), Some(Scripted::new(counting(home.path()))));
    assert!(other.contains("the model"), "{other}");
    let mut record = middle();
    record.begun.artoo = "0.0.1".to_owned();
    assert!(refused(record, None).contains("artoo 0.0.1"));
    let mut record = middle();
    let did = record.frames.iter_mut().find_map(|frame| match frame {
        Frame::Did { effects } if !effects.is_empty() => Some(effects),
        _ => None,
    });
    did.unwrap()[0].what = "something else".to_owned();
    assert!(refused(record, None).contains("decides differently at input"));
    let ended = interrupted(home.path(), whole.task_id.as_str(), &bytes);
    assert!(refused(ended, None).contains("the task has ended already"));
    let record = middle();
    let held = fs::File::open(&record.path).unwrap();
    held.lock().unwrap();
    assert!(refused(record, None).contains("still running"));
}
