//! Progress of long work, read while it runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use artoo_proto::{CallStatus, ConsentScope, ToolOrder, ToolOutcome};
use serde_json::{Value, json};

use super::Fixture;
use crate::{Activity, Unit};

/// Size in bytes of a file whose copy takes long enough for its progress to be seen.
const LARGE_BYTES: u64 = 48 * 1024 * 1024;

/// Creates a large file without holes, which an archive would skip; returns its path.
fn large(fixture: &Fixture) -> std::path::PathBuf {
    fixture.file("large", vec![1; usize::try_from(LARGE_BYTES).unwrap()])
}

/// The order of a `files` call, and the user's approval of it.
async fn approved(fixture: &Fixture, input: Value) -> (ToolOrder, crate::Grant) {
    let mut context = Fixture::context("files", input);
    context.allowed_tools.push("files".to_owned());
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else {
        panic!("no question");
    };
    (context, fixture.registry.grant(&hash, ConsentScope::Once))
}

/// The progress that another thread reads while a `files` call runs.
async fn watched(fixture: &Fixture, input: Value) -> Vec<Activity> {
    let (context, grant) = approved(fixture, input).await;
    let (seen, is_over) = (Arc::new(Mutex::new(Vec::<Activity>::new())), Arc::new(AtomicBool::new(false)));
    let (registry, list, over) = (fixture.registry.clone(), Arc::clone(&seen), Arc::clone(&is_over));
    let display = thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            list.lock().unwrap().extend(registry.activity());
            thread::sleep(Duration::from_millis(1));
        }
    });
    let ToolOutcome::Called { call } = fixture.outcome(&context, Some(grant)).await else { panic!("asked again") };
    assert_eq!(fixture.registry.activity(), []);
    is_over.store(true, Ordering::Relaxed);
    display.join().unwrap();
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    Arc::try_unwrap(seen).unwrap().into_inner().unwrap()
}

/// A display sees the progress of a long copy and of packing while they run.
#[tokio::test]
async fn long_copies_and_archives_report_progress() {
    let fixture = Fixture::new();
    let path = large(&fixture);
    for (act, to, verb) in [("copy", "copy", "copying"), ("archive", "all.tar", "packing")] {
        let seen = watched(&fixture, json!({"act": act, "paths": [path], "to": fixture.home.join(to)})).await;
        let fits = |one: &Activity| {
            (one.tool.as_str(), one.verb, one.total, one.unit) == ("files", verb, Some(LARGE_BYTES), Unit::Bytes)
                && one.done <= LARGE_BYTES
        };
        assert!(seen.iter().all(fits), "{seen:?}");
        let mut steps: Vec<u64> = seen.iter().map(|one| one.done).collect();
        assert!(steps.is_sorted(), "{steps:?}");
        steps.dedup();
        assert!(steps.len() > 3, "{verb}: {steps:?}");
    }
}

/// A call that is cancelled is removed from the list of calls in progress.
#[tokio::test]
async fn cancelled_calls_leave_the_list() {
    let fixture = Fixture::new();
    let path = large(&fixture);
    let input = json!({"act": "copy", "paths": [path], "to": fixture.home.join("copy")});
    let (context, grant) = approved(&fixture, input).await;
    let call = fixture.outcome(&context, Some(grant));
    let running = async {
        while fixture.registry.activity().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        () = running => {}
    }
    assert_eq!(fixture.registry.activity(), []);
}

/// After a walk of `glob`, its meter has counted the entries and has no total, since that is not known in advance.
#[tokio::test]
async fn searches_count_entries_without_total() {
    let fixture = Fixture::new();
    (0..30_u32).for_each(|number| drop(fixture.file(&format!("work/{number}"), "")));
    let limit = crate::limit::Limit::after(Duration::from_secs(20));
    let walk = crate::glob::Walk { root: &fixture.home, max_depth: None, hidden: false, ignore_files: false };
    walk.run(&limit, |_, _| true, |_, _| {});
    let found = limit.meter.activity("glob").unwrap();
    assert_eq!((found.verb, found.done, found.total, found.unit), ("searching", 32, None, Unit::Entries));
}

/// While an undo runs, its meter counts the paths that are done.
#[tokio::test]
async fn undo_counts_paths_while_it_runs() {
    let fixture = Fixture::keeping();
    let paths: Vec<_> = (0..400_u32).map(|number| fixture.file(&format!("work/{number}"), "x")).collect();
    fixture.files(json!({"act": "delete", "paths": paths})).await;
    let (store, is_over) = (fixture.store(), AtomicBool::new(false));
    let id = store.last().unwrap().unwrap().id;
    assert_eq!(store.activity(), None);
    let seen = thread::scope(|scope| {
        let display = scope.spawn(|| {
            let mut seen = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                seen.extend(store.activity().map(|one| (one.verb, one.done, one.total)));
                thread::yield_now();
            }
            seen
        });
        let report = store.undo(&id).unwrap();
        is_over.store(true, Ordering::Relaxed);
        assert!(report.items.len() >= 400);
        display.join().unwrap()
    });
    assert!(seen.iter().any(|(_, done, _)| (1..400).contains(done)), "{seen:?}");
    assert!(seen.iter().all(|(verb, done, total)| *verb == "restoring" && *done <= total.unwrap()), "{seen:?}");
    assert_eq!(store.activity(), None);
}
