//! A failed call is not repeated in a task while nothing has changed.

use std::fs;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, TaskId, ToolOrder, ToolRequest};
use serde_json::{Value, json};

use super::{Fixture, called, next_task};
use crate::call::{CallKey, FailedCalls};
use crate::record::Record;

/// The record of a call of a tool in this task.
async fn call(fixture: &Fixture, task: &TaskId, tool: &str, input: Value) -> artoo_proto::ToolCall {
    let context = ToolOrder { task_id: task.clone(), ..Fixture::context(tool, input) };
    called(fixture.outcome(&context, None).await)
}

/// Whether the call was really run, and not answered with the stored record of the earlier failure.
fn was_run(call: &artoo_proto::ToolCall) -> bool {
    !call.output.starts_with("[not run again] ")
}

/// A failed call is not made again in a task until something has changed.
#[doc = "holds: law 2.3"]
#[tokio::test]
async fn failed_call_repeats_only_after_a_change() {
    let fixture = Fixture::new();
    let task = next_task();
    let read = json!({"path": "gone.txt"});
    let first = call(&fixture, &task, "read_file", read.clone()).await;
    assert!(was_run(&first) && first.status == CallStatus::Failed && first.environmental, "{first:?}");
    let again = call(&fixture, &task, "read_file", read.clone()).await;
    assert!(!was_run(&again) && again.status == CallStatus::Failed && !again.measures, "{again:?}");
    assert!(
        again.environmental && again.output.contains(&first.output),
        "it has the output of the first failure: {again:?}"
    );
    // Other tasks and other inputs are not affected.
    assert!(was_run(&call(&fixture, &next_task(), "read_file", read.clone()).await));
    assert!(was_run(&call(&fixture, &task, "read_file", json!({"path": "gone.txt", "count": "lines"})).await));
    // The cause of the failure is gone.
    fixture.file("work/gone.txt", "here");
    let there = call(&fixture, &task, "read_file", read).await;
    assert_eq!((there.status, there.output.as_str()), (CallStatus::Ok, "here"));
}

/// Two commands are the same if they differ only in blanks outside quotes.
#[tokio::test]
async fn only_quoted_blanks_make_another_command() {
    let fixture = Fixture::new();
    let task = next_task();
    fixture.file("work/a", "text\n");
    let grep = |command: &str| json!({"command": command});
    assert!(was_run(&call(&fixture, &task, "shell", grep("cat 'no  such'")).await));
    assert!(!was_run(&call(&fixture, &task, "shell", grep("  cat   'no  such' ")).await));
    assert!(was_run(&call(&fixture, &task, "shell", grep("cat 'no such'")).await));
}

/// After the task has changed a file, a call that failed before is run again.
#[tokio::test]
async fn change_by_the_task_allows_a_retry() {
    let fixture = Fixture::new();
    let task = next_task();
    let look = json!({"command": "cat ~/artoo_workspace/made/x"});
    assert!(was_run(&call(&fixture, &task, "shell", look.clone()).await));
    assert!(!was_run(&call(&fixture, &task, "shell", look.clone()).await));
    let made = call(&fixture, &task, "write_file", json!({"path": "other.txt", "text": "x"})).await;
    assert_eq!(made.status, CallStatus::Ok);
    assert!(was_run(&call(&fixture, &task, "shell", look).await));
}

/// A call that failed because of the environment may be made again after 30 seconds, one with an invalid request never,
/// and a denied one at once.
#[doc = "holds: law 2.3"]
#[test]
fn environmental_failure_repeats_after_30_seconds() {
    let key = || CallKey::of(&ToolRequest { tool: "search".to_owned(), input: json!({"query": "x"}) });
    let now = Instant::now();
    let check = |record: &Record, after_s: u64, is_refused: bool| {
        let mut calls = FailedCalls::default();
        calls.ended(key(), String::new(), record, now);
        let later = now + Duration::from_secs(after_s);
        assert_eq!(calls.find(&key(), "", later).is_some(), is_refused, "{record:?} after {after_s} s");
        assert!(calls.find(&key(), "looks otherwise", now).is_none());
    };
    check(&Record::hindered("the network is down"), 29, true);
    check(&Record::hindered("the network is down"), 30, false);
    check(&Record::timed_out("too slow"), 31, false);
    check(&Record::unusable("bad pattern"), 3_600, true);
    check(&Record::read("fine"), 0, false);
    check(&Record::denied("no"), 0, false);
}

/// A failed call is run again after one of its files was changed; a `diff` whose exit code 1 counts as an answer is run
/// again at once.
#[tokio::test]
async fn changed_file_allows_a_retry() {
    let fixture = Fixture::new();
    let task = next_task();
    let path = fixture.file("work/list", "one\n");
    let check = json!({"command": "diff list other"});
    fixture.file("work/other", "two\n");
    let first = call(&fixture, &task, "shell", check.clone()).await;
    if first.status == CallStatus::Ok {
        // An exit code that means "they differ" is an answer, which may be repeated.
        assert!(was_run(&call(&fixture, &task, "shell", check).await));
        return;
    }
    assert!(!was_run(&call(&fixture, &task, "shell", check.clone()).await));
    fs::write(path, "two\n").unwrap();
    assert!(was_run(&call(&fixture, &task, "shell", check).await));
}
