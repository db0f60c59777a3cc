//! Limits of undo: too much to store, no free space, a truncated or full journal, and no journal.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use artoo_proto::{CallStatus, ConsentScope, TaskId, ToolOutcome};
use serde_json::json;

use super::{Fixture, furnish, tree};

impl Fixture {
    /// The line of the question about a command that says whether it can be undone; panics if there is no question.
    async fn undo_sentence(&self, command: &str) -> String {
        let context = Self::context("shell", json!({"command": command}));
        match self.outcome(&context, None).await {
            ToolOutcome::NeedsConsent { effects, .. } => effects.last().unwrap().clone(),
            ToolOutcome::Called { call } => panic!("{call:?}"),
        }
    }
}

/// A question says that a change is too large to be undone, and so does the report of the undo.
#[doc = "holds: law 1.10"]
#[tokio::test]
async fn too_large_changes_are_announced_and_named() {
    let fixture = Fixture::keeping_directly(|undo| (undo.max_bytes, undo.max_entries) = (10_000, 50));
    furnish(&fixture);
    let ws = fixture.workspace();
    let command = format!("rm -r {}", ws.display());
    assert!(fixture.undo_sentence(&command).await.starts_with("can be undone with artoo undo"));
    fs::write(ws.join("large"), vec![0; 10_001]).unwrap();
    let said = fixture.undo_sentence(&command).await;
    assert!(
        said.starts_with("can't be undone: what it may change is too large to copy first (")
            && said.contains("10.0 kB"),
        "{said}"
    );
    let call = fixture.allowed(&command).await;
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    let entry = fixture.store().last().unwrap().unwrap();
    assert_eq!((entry.changes, entry.not_undoable.len()), (0, 1), "{entry:?}");
    furnish(&fixture);
    for number in 0..50 {
        fs::write(ws.join(format!("many{number}")), "").unwrap();
    }
    assert!(fixture.undo_sentence(&command).await.contains("too large to copy first"));
    let report = fixture.store().undo(&entry.id).unwrap();
    assert!(report.items.is_empty() && report.not_undoable.len() == 1, "{report:?}");
}

/// An approval of a change that can be undone does not cover the same change if it no longer can.
#[doc = "holds: law 1.10"]
#[tokio::test]
async fn approval_of_undoable_change_excludes_others() {
    let fixture = Fixture::keeping_directly(|undo| undo.max_bytes = 10_000);
    furnish(&fixture);
    let ws = fixture.workspace();
    let context = Fixture::context("shell", json!({"command": format!("rm -r {}", ws.display())}));
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!() };
    fs::write(ws.join("large"), vec![0; 10_001]).unwrap();
    let call =
        super::super::called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Denied, "{}", call.output);
    assert!(ws.join("a.txt").exists());
}

/// Paths written with wildcards, `~` or `$HOME` are recognised, so that their files can be undone.
#[tokio::test]
async fn patterns_and_home_are_expanded_for_undo() {
    let fixture = Fixture::keeping();
    fixture.file("p/one.tmp", "1");
    fixture.file("p/two.tmp", "2");
    fixture.file("q/three", "3");
    let before = tree(&fixture.home);
    let home = fixture.home.display();
    for command in [format!("rm {home}/p/*.tmp"), "rm $HOME/q/three; rmdir \"${HOME}/q\"".to_owned()] {
        let call = fixture.allowed(&command).await;
        assert_eq!(call.status, CallStatus::Ok, "{command}: {}", call.output);
    }
    assert_ne!(tree(&fixture.home), before);
    fixture.undo();
    assert_eq!(tree(&fixture.home), before);
}

/// The content of keys that a command changes is never copied into the undo journal.
#[tokio::test]
async fn keys_are_not_copied_into_the_journal() {
    let fixture = Fixture::keeping_directly(|_| {});
    fixture.file(".ssh/id", "the very secret key");
    fixture.file("plain", "x");
    // If the file had been copied, its content would be in the journal after the command changed it.
    fixture.allowed(&format!("cd {}; echo y > plain; echo z >> .ssh/id", fixture.home.display())).await;
    for (path, (_, content)) in tree(&fixture.config.undo.as_ref().unwrap().folder) {
        assert!(!String::from_utf8_lossy(&content).contains("very secret"), "{}", path.display());
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o077;
        // A displaced file keeps its mode, so other users can't read it.
        assert!(mode == 0 || path.parent().unwrap().ends_with("saved"), "{} {mode:o}", path.display());
    }
}

/// Tasks beyond the journal's limits are deleted, the oldest first, and counted.
#[tokio::test]
async fn oldest_tasks_are_deleted_and_counted() {
    let fixture = Fixture::keeping_with(|undo| undo.max_tasks = 3);
    for number in 1..=5 {
        let task = TaskId::try_from(format!("t{number}-00000000-0000-4000-8000-000000000002")).unwrap();
        let mut context = Fixture::context("write_file", json!({"path": format!("f{number}"), "text": "x"}));
        context.task_id = task;
        assert!(matches!(fixture.outcome(&context, None).await, ToolOutcome::Called { .. }));
        // Entries are ordered by the millisecond.
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let entries = fixture.store().entries().unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| &entry.id[..2]).collect();
    assert_eq!((names, fixture.store().forgotten()), (vec!["t5", "t4", "t3"], 2));
    let fixture = Fixture::keeping_with(|undo| undo.max_total_bytes = 100);
    for number in 1..=3 {
        let task = TaskId::try_from(format!("t{number}-00000000-0000-4000-8000-000000000002")).unwrap();
        let mut context = Fixture::context("write_file", json!({"path": format!("f{number}"), "text": "x"}));
        context.task_id = task;
        fixture.outcome(&context, None).await;
    }
    assert_eq!(fixture.store().entries().unwrap().len(), 1, "the newest stays whatever it weighs");
}

/// Wherever the log of an interrupted act is truncated, an undo meets no fault; with the whole log and a broken line
/// after it, all files are as before.
#[doc = "holds: law 1.12"]
#[tokio::test]
async fn truncated_journal_undoes_its_complete_entries() {
    let whole = {
        let fixture = Fixture::keeping();
        interrupted(&fixture).await;
        fs::read(steps(&fixture)).unwrap().len()
    };
    for length in (0..=whole).step_by(7) {
        let fixture = Fixture::keeping();
        let before = tree(&fixture.home);
        interrupted(&fixture).await;
        let bytes = fs::read(steps(&fixture)).unwrap();
        fs::write(steps(&fixture), &bytes[..length.min(bytes.len())]).unwrap();
        let mut tail = OpenOptions::new().append(true).open(steps(&fixture)).unwrap();
        tail.write_all(b"{\"step\":\"creat").unwrap();
        let report = fixture.store().undo(&fixture.store().last().unwrap().unwrap().id).unwrap();
        assert!(report.items.iter().all(|item| super::is_fine(&item.outcome)), "{report:#?}");
        if length == whole {
            assert_eq!(tree(&fixture.home), before);
        }
    }
}

/// Creates files, and then rewrites the undo journal as if the process had been killed during that.
async fn interrupted(fixture: &Fixture) {
    fixture.act(json!({"act": "create_file", "to": fixture.home.join("n/e/w"), "text": "x"})).await;
    let entry = fs::read_dir(&fixture.config.undo.as_ref().unwrap().folder).unwrap();
    let entry = entry.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let act = entry.join("000001");
    let ended: serde_json::Value = serde_json::from_slice(&fs::read(act.join("ended.json")).unwrap()).unwrap();
    let begun = json!({"header": ended["header"], "roots": [], "before": []});
    fs::write(act.join("begun.json"), begun.to_string()).unwrap();
    let root = fixture.home.join("n").to_str().unwrap().to_owned();
    fs::write(act.join("steps.jsonl"), format!("{}\n", json!({"step": "creating", "root": root}))).unwrap();
    fs::remove_file(act.join("ended.json")).unwrap();
}

/// The path of the log of steps of the task's first act.
fn steps(fixture: &Fixture) -> std::path::PathBuf {
    let folder = &fixture.config.undo.as_ref().unwrap().folder;
    folder.join(super::super::task().as_str()).join("000001/steps.jsonl")
}

/// Code of a child process in which files can't become larger; does nothing unless the test's variable is set.
#[tokio::test]
async fn full() {
    if std::env::var("ARTOO_TEST_FULL").is_err() {
        return;
    }
    let fixture = Fixture::keeping_directly(|_| {});
    furnish(&fixture);
    let ws = fixture.workspace();
    // Two files, each as large as a file may get here, sparse so that they could be made.
    let large = fs::File::create(ws.join("large")).unwrap();
    large.set_len(64 * 1024).unwrap();
    let before = tree(&fixture.home);
    let call = fixture.allowed(&format!("rm {}/large", ws.display())).await;
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    fixture.undo();
    assert_eq!(tree(&fixture.home), before);
    // The journal's notes no longer fit.
    for number in 0..600 {
        fs::write(ws.join(format!("a file with a long name, so that the manifest grows {number}")), "").unwrap();
    }
    let before = tree(&fixture.home);
    let call = fixture.allowed(&format!("rm -r {}", ws.display())).await;
    assert_eq!(call.status, CallStatus::Failed, "{}", call.output);
    assert!(call.output.contains("could not be made undoable, so it was not done"), "{}", call.output);
    assert_eq!(tree(&fixture.home), before);
}

/// If the undo journal can't be written, a command that changes files is not run.
#[doc = "holds: law 1.10"]
#[test]
fn unwritable_journal_prevents_changes() {
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" --exact tests::undo::limits::full --test-threads=1";
    let me = std::env::current_exe().unwrap();
    // bash counts in units of 1024 bytes.
    let output = Command::new("bash").args(["-c", script]).arg(me).env("ARTOO_TEST_FULL", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
