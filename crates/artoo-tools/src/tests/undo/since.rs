//! Undo leaves paths that were changed since, names what it can't restore, and changes nothing the second time.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use artoo_proto::{CallStatus, ConsentScope, TaskId, ToolOutcome};
use serde_json::json;

use super::{Fixture, furnish, is_fine, mode, tree};
use crate::undo::{ItemOutcome, Report, UndoError, UndoStore};

/// The outcome in an undo's report of the path that ends with this name.
fn outcome<'a>(report: &'a Report, name: &str) -> &'a ItemOutcome {
    let fits = |path: &str| path.ends_with(&format!("/{name}"));
    let found = report.items.iter().find(|item| fits(&item.path));
    &found.unwrap_or_else(|| panic!("{name} is not reported: {report:#?}")).outcome
}

/// An undo leaves files that were changed since as they are, names them, and restores the others.
#[doc = "holds: law 1.11"]
#[tokio::test]
async fn undo_skips_and_names_files_modified_since() {
    let fixture = Fixture::keeping();
    furnish(&fixture);
    let ws = fixture.workspace();
    let ws_text = ws.to_str().unwrap();
    let before = tree(&fixture.home);
    fixture.allowed(&format!("cd {ws_text}; echo 1 > a.txt; echo 2 > b.txt; rm run.sh deep/empty; mkdir made")).await;
    // The user continues to work on the files.
    fs::write(ws.join("a.txt"), "mine").unwrap();
    fs::write(ws.join("run.sh"), "mine too").unwrap();
    fs::write(ws.join("made/inside"), "mine as well").unwrap();
    mode(&ws.join("b.txt"), 0o640);
    let store = fixture.store();
    let last = store.last().unwrap().unwrap();
    let preview = store.preview(&last.id).unwrap();
    let report = store.undo(&last.id).unwrap();
    for name in ["a.txt", "b.txt", "run.sh", "made"] {
        assert!(matches!(outcome(&report, name), ItemOutcome::Conflict { .. }), "{name}: {report:#?}");
    }
    for name in ["a.txt", "b.txt", "run.sh"] {
        assert!(matches!(outcome(&preview, name), ItemOutcome::Conflict { .. }), "{name}: {preview:#?}");
    }
    assert_eq!(outcome(&report, "empty"), &ItemOutcome::Done);
    assert_eq!(fs::read_to_string(ws.join("a.txt")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(ws.join("run.sh")).unwrap(), "mine too");
    assert_eq!(fs::read_to_string(ws.join("made/inside")).unwrap(), "mine as well");
    assert!(ws.join("deep/empty").exists());
    // The entry stays in the list; once the user's own file is moved away, the rest can be restored.
    fs::remove_file(ws.join("run.sh")).unwrap();
    fs::remove_file(ws.join("made/inside")).unwrap();
    fs::write(ws.join("a.txt"), "1\n").unwrap();
    mode(&ws.join("b.txt"), 0o600);
    assert_eq!(store.last().unwrap().unwrap().id, last.id);
    let second = store.undo(&last.id).unwrap();
    assert!(second.items.iter().all(|item| is_fine(&item.outcome)), "{second:#?}");
    assert_eq!(tree(&fixture.home), before);
}

/// An undo leaves moved files that were changed since, or whose old path is taken, and reports them.
#[doc = "holds: law 1.11"]
#[tokio::test]
async fn undo_skips_changed_or_blocked_moves() {
    let fixture = Fixture::keeping();
    let (one, two, three) = (fixture.file("d/one", "1"), fixture.file("d/two", "2"), fixture.file("d/three", "3"));
    let home = fixture.home.clone();
    fixture.act(json!({"act": "delete", "paths": [&one, &two]})).await;
    fixture.act(json!({"act": "move", "paths": [&three], "to": home.join("moved")})).await;
    fs::write(&one, "another").unwrap();
    fs::write(home.join(".local/share/Trash/files/two"), "changed in the trash").unwrap();
    fs::write(home.join("moved"), "changed").unwrap();
    let kept = tree(&home);
    let report = fixture.store().undo(&fixture.store().last().unwrap().unwrap().id).unwrap();
    assert_eq!(report.items.iter().filter(|item| !is_fine(&item.outcome)).count(), 3, "{report:#?}");
    let trash = ["files/one", "files/two", "info/one.trashinfo", "info/two.trashinfo"];
    let trash = trash.map(|path| format!(".local/share/Trash/{path}"));
    for path in trash.iter().map(String::as_str).chain(["d/one", "moved"]) {
        assert_eq!(tree(&home).get(&home.join(path)), kept.get(&home.join(path)), "{path}: {report:#?}");
    }
}

/// Undoing an undo restores the changes that it had reverted.
#[doc = "holds: law 1.11"]
#[tokio::test]
async fn undo_of_an_undo_restores_the_change() {
    let fixture = Fixture::keeping();
    fixture.act(json!({"act": "create_file", "to": fixture.home.join("f"), "text": "t"})).await;
    let store = fixture.store();
    let id = store.last().unwrap().unwrap().id;
    let redo = store.undo(&id).unwrap().redo.unwrap();
    assert!(!fixture.home.join("f").exists());
    assert!(matches!(store.undo(&id), Err(UndoError::Undone { .. })));
    assert!(store.last().unwrap().is_none());
    let back = store.undo(&redo).unwrap();
    assert!(fixture.home.join("f").exists() && back.redo.as_deref() == Some("undo-2"));
    assert_eq!(store.last().unwrap().unwrap().id, id, "and can be undone again");
    assert!(matches!(store.undo(&redo), Err(UndoError::Undone { .. })));
    store.undo(&id).unwrap();
    assert!(!fixture.home.join("f").exists());
    assert!(matches!(store.find("task-0000"), Ok(entry) if entry.id == id));
    assert!(matches!(store.find("undo-"), Err(UndoError::Ambiguous { .. })));
    for unknown in ["", "x", "../journal", "lock"] {
        assert!(
            matches!(store.find(unknown), Err(UndoError::Unknown { .. } | UndoError::Ambiguous { .. })),
            "{unknown}"
        );
        assert!(matches!(store.undo(unknown), Err(UndoError::Unknown { .. })), "{unknown}");
    }
}

/// An interrupted command counts as an act; the next act of the task finds its changes by comparing files, and an undo
/// reverts both.
#[doc = "holds: law 1.12"]
#[tokio::test]
async fn interrupted_act_is_recorded_until_compared() {
    let fixture = Fixture::keeping_directly(|_| {});
    furnish(&fixture);
    let before = tree(&fixture.home);
    let ws = fixture.workspace();
    let command = format!("cd {}; echo x > a.txt; rm b.txt; touch started; sleep 60", ws.display());
    let context = Fixture::context("shell", json!({"command": command}));
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!() };
    let call = fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once)));
    let started = async {
        while !ws.join("started").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = call => panic!("it was to be cut off"),
        () = started => {}
    }
    let entry = fixture.store().last().unwrap().unwrap();
    assert!(entry.interrupted && entry.changes == 0, "{entry:?}");
    // The next act of the task reconciles the interrupted one first, so that each has its own changes.
    fixture.allowed(&format!("echo y > {}/later", ws.display())).await;
    let entry = fixture.store().last().unwrap().unwrap();
    assert!(entry.interrupted && entry.acts.len() == 2 && entry.changes > 2, "{entry:?}");
    fixture.undo();
    assert_eq!(tree(&fixture.home), before);
}

/// An undo reports that it is busy while an act is in progress.
#[tokio::test]
async fn undo_is_refused_during_an_act() {
    let fixture = Fixture::keeping_directly(|_| {});
    fixture.act(json!({"act": "create_file", "to": fixture.home.join("f"), "text": "t"})).await;
    let command = format!("touch {0}/started; while [ ! -e {0}/go ]; do sleep 0.01; done", fixture.home.display());
    let (home, store) = (fixture.home.clone(), fixture.store());
    let undo = tokio::task::spawn_blocking(move || {
        // A command that never starts must not hold the lock forever.
        for _ in 0..4_000 {
            if home.join("started").exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let refused = store.undo(&store.last().unwrap().unwrap().id);
        fs::write(home.join("go"), "").unwrap();
        refused
    });
    let call = fixture.allowed(&command).await;
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    assert!(matches!(undo.await.unwrap(), Err(UndoError::Busy)));
}

/// An undo does not follow a symlink that was put in place of a folder since.
#[doc = "holds: law 1.11"]
#[tokio::test]
async fn folder_replaced_by_link_is_not_followed() {
    let fixture = Fixture::keeping();
    fixture.file("ws/d/f", "old");
    fs::create_dir(fixture.workspace()).unwrap();
    fixture.allowed(&format!("rm {0}/ws/d/f; echo 1 > {0}/ws/d/g", fixture.home.display())).await;
    fs::rename(fixture.home.join("ws/d"), fixture.home.join("elsewhere")).unwrap();
    symlink(fixture.home.join("elsewhere"), fixture.home.join("ws/d")).unwrap();
    let before = tree(&fixture.home);
    let report = fixture.store().undo(&fixture.store().last().unwrap().unwrap().id).unwrap();
    assert!(report.items.iter().all(|item| !is_fine(&item.outcome)), "{report:#?}");
    assert_eq!(tree(&fixture.home), before);
}

/// Files that another program writes while an undo runs are not overwritten.
#[tokio::test]
async fn files_written_during_an_undo_survive() {
    for (command, moment, name) in [
        // Changed: the exchange finds another file than expected, and is reverted.
        ("echo x > a.txt", "the new has its temporary name", "a.txt"),
        // Deleted: another file takes the name before the old one is restored.
        ("rm b.txt", "the new has its temporary name", "b.txt"),
        // Created: the file changes before it is removed, or afterwards through an open handle.
        ("echo x > made", "a step is written", "made"),
        ("echo x > made", "the old is kept", "made"),
    ] {
        let fixture = Fixture::keeping_directly(|_| {});
        furnish(&fixture);
        let ws = fixture.workspace();
        fixture.allowed(&format!("cd {}; {command}", ws.display())).await;
        let target = ws.join(name);
        let held = fs::OpenOptions::new().write(true).open(&target);
        crate::undo::fault::meanwhile(move |what| {
            use std::os::unix::fs::FileExt;
            if what == moment {
                held.as_ref()
                    .map_or_else(|_| fs::write(&target, "mine"), |held| held.write_all_at(b"mine", 0))
                    .unwrap();
            }
        });
        let report = fixture.store().undo(&fixture.store().last().unwrap().unwrap().id).unwrap();
        crate::undo::fault::meanwhile(|_| {});
        assert!(matches!(report.items[0].outcome, ItemOutcome::Conflict { .. }), "{command}: {report:#?}");
        let mine: Vec<_> = tree(&ws).into_iter().filter(|(_, (_, content))| content == b"mine").collect();
        assert_eq!(mine.len(), 1, "{command}: {mine:?}");
        assert!(!mine[0].0.to_string_lossy().contains(".artoo-undo"), "{command}: {mine:?}");
    }
}

/// The changes of each task are one undo entry.
#[tokio::test]
async fn each_task_has_its_own_undo_entry() {
    let fixture = Fixture::keeping();
    let other = TaskId::try_from("other-00000000-0000-4000-8000-000000000002".to_owned()).unwrap();
    fixture.call("write_file", json!({"path": "one", "text": "1"})).await;
    let mut context = Fixture::context("write_file", json!({"path": "two", "text": "2"}));
    context.task_id = other.clone();
    fixture.outcome(&context, None).await;
    let store: UndoStore = fixture.store();
    assert_eq!(store.last().unwrap().unwrap().id, other.as_str());
    store.undo(super::super::task().as_str()).unwrap();
    assert!(!fixture.workspace().join("one").exists() && fixture.workspace().join("two").exists());
    // The first task created the workspace, which now holds the other task's file.
    store.undo(other.as_str()).unwrap();
    assert!(!fixture.workspace().join("two").exists());
}

/// A file on another disk than the home goes to the trash folder of its own disk.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn other_disks_use_their_own_trash() {
    use std::os::unix::fs::MetadataExt;
    let fixture = Fixture::keeping();
    let Ok(dir) = tempfile::TempDir::new_in("/dev/shm") else {
        eprintln!("skipped: there is no /dev/shm");
        return;
    };
    if fs::metadata(dir.path()).unwrap().dev() == fs::metadata(&fixture.home).unwrap().dev() {
        eprintln!("skipped: /dev/shm is on the disk of the home");
        return;
    }
    let name = format!("a b {}", std::process::id());
    let path = dir.path().join(&name);
    fs::write(&path, "far").unwrap();
    fixture.act(json!({"act": "delete", "paths": [&path]})).await;
    assert!(!path.exists());
    let user = rustix::process::getuid().as_raw();
    let trash = [format!("/dev/shm/.Trash/{user}"), format!("/dev/shm/.Trash-{user}")];
    let trash = trash.iter().map(std::path::Path::new).find(|path| path.join("files").join(&name).exists());
    let note = trash.unwrap().join("info").join(format!("{name}.trashinfo"));
    let text = fs::read_to_string(&note).unwrap();
    let below = path.strip_prefix("/dev/shm").unwrap().to_str().unwrap().replace(' ', "%20");
    assert!(text.starts_with(&format!("[Trash Info]\nPath={below}\nDeletionDate=")), "{text}");
    let report = fixture.store().undo(&fixture.store().last().unwrap().unwrap().id).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "far", "{report:#?}");
    assert!(!note.exists(), "{report:#?}");
}

/// Folders whose mode denies access are restored by an undo with their content.
#[tokio::test]
async fn unreadable_folders_are_restored() {
    let fixture = Fixture::keeping();
    furnish(&fixture);
    let ws = fixture.workspace();
    fs::create_dir(ws.join("closed")).unwrap();
    fs::write(ws.join("closed/own"), "own").unwrap();
    mode(&ws.join("closed"), 0o000);
    let names = |folder: &str| fs::read_dir(ws.join(folder)).unwrap().count();
    let call = fixture.allowed(&format!("cd {}; chmod 700 closed; chmod 000 deep; rm a.txt", ws.display())).await;
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
    fixture.store().undo(&fixture.store().last().unwrap().unwrap().id).unwrap();
    assert!(ws.join("a.txt").exists());
    // An ordinary user can't read the first folder, so the report only names it; root restores it.
    mode(&ws.join("closed"), 0o700);
    assert_eq!((names("closed"), names("deep")), (1, 2));
}
