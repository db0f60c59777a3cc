//! Changes that a run shows are applied only after they are approved.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use artoo_proto::{CallStatus, ConsentHash, ConsentScope, EffectClass, ToolClass, ToolOrder, ToolOutcome, ToolSpec};
use serde_json::{Value, json};

use super::{Fixture, called, next_task};
use crate::effects::{Action, CallEffects, EffectSet, FileEffect, NetworkUse};
use crate::limit::Limit;
use crate::record::Record;
use crate::tool::{Machine, Next, Outcome, Pending, Question, Request, Running, Staged, Tool, UserContext, spec};

/// A test tool whose run shows that it would replace a file.
#[derive(Debug)]
struct Replacing {
    path: PathBuf,
    needs_approval: bool,
    runs: Arc<AtomicU64>,
}

/// Pending change of a test: replaces the content of this file.
#[derive(Debug)]
struct Replacement(PathBuf);

impl Tool for Replacing {
    fn spec(&self) -> ToolSpec {
        spec("replacing", ToolClass::Shell, 9, "replaces a file", json!({}))
    }

    fn read(&self, _: &Machine, _: &UserContext<'_>, _: &Value) -> Result<Request, Box<Record>> {
        let (path, needs_approval, runs) = (self.path.clone(), self.needs_approval, Arc::clone(&self.runs));
        let job = Box::new(move |_| replace(path, needs_approval, &runs));
        Ok(Request { target: String::new(), effects: CallEffects::of_reading(Vec::new()), question: None, job })
    }
}

/// Test tool that replaces a file's content: returns the pending replacement, with a question if it needs approval.
fn replace(path: PathBuf, needs_approval: bool, runs: &AtomicU64) -> Running {
    runs.fetch_add(1, Ordering::Relaxed);
    let changed = FileEffect { action: Action::Modify, path: path.clone(), is_recursive: false };
    let effects = CallEffects {
        changes: EffectSet::from([changed]),
        is_complete: true,
        ..CallEffects::new(EffectClass::Unproven, vec![path.clone()], NetworkUse::None)
    };
    let question = needs_approval.then(|| Question {
        text: "replaces".to_owned(),
        files: vec![path.clone()],
        shown: "replaces".to_owned(),
        reason: "it exists".to_owned(),
        details: Vec::new(),
    });
    let pending = Pending { effects, question, next: Next::Commit(Box::new(Replacement(path))) };
    Box::pin(async { Ok(Box::new(|_: &Machine, _: &Limit| Outcome::Pending(Box::new(pending))) as crate::tool::Look) })
}

impl Staged for Replacement {
    fn commit(self: Box<Self>, _: &Machine, _: &Limit) -> Record {
        fs::write(&self.0, "new").unwrap();
        Record::read("replaced").class(EffectClass::Unproven)
    }
}

/// A fixture whose registry has the test tool, the file that this tool replaces, and a counter of its runs.
fn fixture(needs_approval: bool) -> (Fixture, PathBuf, Arc<AtomicU64>) {
    let mut fixture = Fixture::new();
    let path = fixture.file("work/a", "old");
    let runs = Arc::<AtomicU64>::default();
    fixture.registry.add_for_test(Arc::new(Replacing { path: path.clone(), needs_approval, runs: Arc::clone(&runs) }));
    (fixture, path, runs)
}

/// The order of a call of the test tool that replaces a file.
fn order() -> ToolOrder {
    ToolOrder {
        allowed_tools: vec!["replacing".to_owned(), "files".to_owned()],
        ..Fixture::context("replacing", json!({}))
    }
}

/// A change that a run shows is not applied before the user approves it.
#[tokio::test]
async fn observed_changes_wait_for_approval() {
    let (fixture, path, runs) = fixture(true);
    let order = order();
    let ToolOutcome::NeedsConsent { hash, offers, .. } = fixture.outcome(&order, None).await else {
        panic!("not asked")
    };
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), offers.task.len()), ("old", 1));
    let grant = || fixture.registry.grant(&hash, ConsentScope::Once);
    let elsewhere = ToolOrder { task_id: next_task(), ..order.clone() };
    let call = called(
        fixture
            .outcome(&elsewhere, Some(fixture.registry.grant(&ConsentHash("other".to_owned()), ConsentScope::Once)))
            .await,
    );
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
    let call = called(fixture.outcome(&order, Some(grant())).await);
    assert_eq!((call.status, call.output.as_str()), (CallStatus::Ok, "replaced"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(runs.load(Ordering::Relaxed), 2, "one run of each task; an approval does not run it again");
    // The file has changed since, so the approval does not cover a second run.
    let call = called(fixture.outcome(&order, Some(grant())).await);
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
}

/// An approval is void if the file that the pending change replaces was changed since.
#[tokio::test]
async fn changed_file_voids_the_approval() {
    let (fixture, path, _) = fixture(true);
    let order = order();
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&order, None).await else { panic!("not asked") };
    fs::write(&path, "other").unwrap();
    let call = called(fixture.outcome(&order, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!((call.status, fs::read_to_string(&path).unwrap().as_str()), (CallStatus::Denied, "other"), "{call:?}");
}

/// Changes that the user denies are discarded, and the same call, or another one that changes the same file, stays
/// denied in the task.
#[doc = "holds: design D10"]
#[tokio::test]
async fn denied_changes_are_discarded_and_stay_denied() {
    let (fixture, path, _) = fixture(true);
    let order = order();
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&order, None).await else { panic!("not asked") };
    fixture.registry.refuse(&order.task_id, &hash);
    let delete = Fixture::context("files", json!({"act": "delete", "paths": [&path]}));
    let delete = ToolOrder { task_id: order.task_id.clone(), allowed_tools: order.allowed_tools.clone(), ..delete };
    for again in [&order, &delete] {
        let call = called(fixture.outcome(again, None).await);
        assert_eq!(call.status, CallStatus::Denied, "{call:?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

/// Changes that need no approval are committed at once.
#[tokio::test]
async fn harmless_changes_are_committed_without_approval() {
    let (fixture, path, _) = fixture(false);
    let call = called(fixture.outcome(&order(), None).await);
    assert_eq!((call.status, fs::read_to_string(&path).unwrap().as_str()), (CallStatus::Ok, "new"), "{call:?}");
}
