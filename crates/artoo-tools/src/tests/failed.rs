//! The same call is not made again in a task while nothing has changed since it failed.

use std::fs;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, TaskId, ToolOrder, ToolRequest};
use serde_json::{Value, json};

use super::{House, called, next_task};
use crate::call::{CallKey, FailedCalls};
use crate::record::Record;

async fn call(house: &House, task: &TaskId, tool: &str, input: Value) -> artoo_proto::ToolCall {
    let context = ToolOrder { task_id: task.clone(), ..House::context(tool, input) };
    called(house.outcome(&context, None).await)
}

fn was_run(call: &artoo_proto::ToolCall) -> bool {
    !call.output.starts_with("[not run again] ")
}

#[doc = "holds: law 2.3"]
#[tokio::test]
async fn a_failed_call_is_made_again_only_when_something_has_changed() {
    let house = House::new();
    let task = next_task();
    let read = json!({"path": "gone.txt"});
    let first = call(&house, &task, "read_file", read.clone()).await;
    assert!(was_run(&first) && first.status == CallStatus::Failed && first.environmental, "{first:?}");
    let again = call(&house, &task, "read_file", read.clone()).await;
    assert!(!was_run(&again) && again.status == CallStatus::Failed && !again.measures, "{again:?}");
    assert!(again.environmental && again.output.contains(&first.output), "it says what it knows: {again:?}");
    // Another task, another input: nothing is known of them.
    assert!(was_run(&call(&house, &next_task(), "read_file", read.clone()).await));
    assert!(was_run(&call(&house, &task, "read_file", json!({"path": "gone.txt", "count": "lines"})).await));
    // Its cause is gone.
    house.file("work/gone.txt", "here");
    let there = call(&house, &task, "read_file", read).await;
    assert_eq!((there.status, there.output.as_str()), (CallStatus::Ok, "here"));
}

#[tokio::test]
async fn blanks_do_not_make_another_command_and_quoted_blanks_do() {
    let house = House::new();
    let task = next_task();
    house.file("work/a", "text\n");
    let grep = |command: &str| json!({"command": command});
    assert!(was_run(&call(&house, &task, "shell", grep("cat 'no  such'")).await));
    assert!(!was_run(&call(&house, &task, "shell", grep("  cat   'no  such' ")).await));
    assert!(was_run(&call(&house, &task, "shell", grep("cat 'no such'")).await));
}

#[tokio::test]
async fn an_act_of_the_task_may_have_removed_the_cause() {
    let house = House::new();
    let task = next_task();
    let look = json!({"command": "cat ~/artoo_workspace/made/x"});
    assert!(was_run(&call(&house, &task, "shell", look.clone()).await));
    assert!(!was_run(&call(&house, &task, "shell", look.clone()).await));
    let made = call(&house, &task, "write_file", json!({"path": "other.txt", "text": "x"})).await;
    assert_eq!(made.status, CallStatus::Ok);
    assert!(was_run(&call(&house, &task, "shell", look).await));
}

#[doc = "holds: law 2.3"]
#[test]
fn what_can_not_be_seen_is_waited_for() {
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

#[tokio::test]
async fn a_file_that_changed_its_mode_or_content_is_another_matter() {
    let house = House::new();
    let task = next_task();
    let path = house.file("work/list", "one\n");
    let check = json!({"command": "diff list other"});
    house.file("work/other", "two\n");
    let first = call(&house, &task, "shell", check.clone()).await;
    if first.status == CallStatus::Ok {
        // The program's own word for "they differ" is an answer, which may be had again.
        assert!(was_run(&call(&house, &task, "shell", check).await));
        return;
    }
    assert!(!was_run(&call(&house, &task, "shell", check.clone()).await));
    fs::write(path, "two\n").unwrap();
    assert!(was_run(&call(&house, &task, "shell", check).await));
}
