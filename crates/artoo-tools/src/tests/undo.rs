//! Undo: the changes of artoo are reverted byte for byte, and changes of other programs stay.

mod crash;
mod limits;
mod random;
mod since;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use artoo_proto::CallStatus;
use serde_json::json;

use super::Fixture;
use crate::undo::{ItemOutcome, Report, UndoConfig, UndoStore};

/// Everything below a folder: its mode, and its content, link target or kind, by path.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Every path below a folder: its mode, and its content, target or kind.
fn tree(folder: &Path) -> Tree {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            let content = if found.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if found.is_symlink() {
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if found.is_file() {
                fs::read(&path).unwrap()
            } else {
                b"odd".to_vec()
            };
            all.insert(path, (found.mode(), content));
        }
    }
    all
}

impl Fixture {
    /// A fixture with an undo journal beside the home folder.
    pub(super) fn keeping() -> Self {
        Self::keeping_with(|_| {})
    }

    /// A fixture with an undo journal of this configuration.
    pub(super) fn keeping_with(change: impl FnOnce(&mut UndoConfig)) -> Self {
        Self::keeping_in(true, change)
    }

    /// A fixture with an undo journal and without views: files are copied before a command changes them.
    pub(super) fn keeping_directly(change: impl FnOnce(&mut UndoConfig)) -> Self {
        Self::keeping_in(false, change)
    }

    /// A fixture with an undo journal of this configuration, with or without views.
    fn keeping_in(views: bool, change: impl FnOnce(&mut UndoConfig)) -> Self {
        Self::with(|config| {
            config.views = views;
            let mut undo = UndoConfig::new(Path::new(&config.environment.home).with_file_name("journal"));
            change(&mut undo);
            config.undo = Some(undo);
        })
    }

    /// The undo store of the fixture.
    pub(super) fn store(&self) -> UndoStore {
        UndoStore::open(self.config.undo.clone().unwrap(), &self.config.environment)
    }

    /// Undoes all changes of the last task in the fixture's journal; panics unless every path then has its old state.
    #[track_caller]
    pub(super) fn undo(&self) -> Report {
        let last = self.store().last().unwrap().expect("something was changed");
        let report = self.store().undo(&last.id).unwrap();
        assert!(report.items.iter().all(|item| is_fine(&item.outcome)), "{report:#?}");
        report
    }

    /// Performs an act of `files` that must succeed, with approval.
    async fn act(&self, input: serde_json::Value) {
        let call = self.files(input.clone()).await;
        assert_eq!(call.status, CallStatus::Ok, "{input}: {}", call.output);
    }
}

/// Whether an undo's outcome is that the path has its old state, by this undo or before.
fn is_fine(outcome: &ItemOutcome) -> bool {
    matches!(outcome, ItemOutcome::Done | ItemOutcome::Already)
}

/// Sets the mode of a path.
fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Creates a workspace with files of many kinds: text, binary, empty, executable, with odd names.
fn furnish(fixture: &Fixture) {
    let ws = fixture.workspace();
    for (path, content) in [
        ("a.txt", "alpha\n"),
        ("b.txt", "beta\n"),
        ("deep/er/c.bin", "\0\u{1}\u{2}"),
        ("deep/empty", ""),
        ("new\nline \u{1b}[2J", "odd name"),
        ("run.sh", "#!/bin/sh\n"),
    ] {
        let path = ws.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    mode(&ws.join("run.sh"), 0o750);
    mode(&ws.join("b.txt"), 0o600);
    symlink("a.txt", ws.join("link")).unwrap();
    symlink("nowhere", ws.join("dangling")).unwrap();
    fs::create_dir(ws.join("void")).unwrap();
    mode(&ws.join("void"), 0o711);
}

/// Changes made by shell commands are reverted by undo.
#[doc = "holds: law 1.10"]
#[tokio::test]
async fn changes_by_shell_commands_are_undone() {
    let fixture = Fixture::keeping();
    furnish(&fixture);
    let before = tree(&fixture.home);
    for command in [
        "rm -rf {}/deep",
        "sed -i s/alpha/omega/ {}/a.txt",
        "chmod 400 {}/run.sh",
        "mv {}/b.txt {}/moved.txt",
        "ln -sfn b.txt {}/link",
        "rm {}/dangling && mkdir {}/dangling && echo x > {}/dangling/y",
        "rmdir {}/void; echo file > {}/void",
        "mkdir -p {}/n/e/w; echo 1 > {}/n/e/w/f",
        "cd {}; rm *line*",
    ] {
        let command = command.replace("{}", fixture.workspace().to_str().unwrap());
        let call = fixture.allowed(&command).await;
        assert_eq!(call.status, CallStatus::Ok, "{command}: {}", call.output);
    }
    let after = tree(&fixture.home);
    assert_ne!(after, before);
    let report = fixture.undo();
    assert_eq!(tree(&fixture.home), before, "{report:#?}");
    // And in the other direction.
    let redo = report.redo.unwrap();
    let again = fixture.store().undo(&redo).unwrap();
    assert_eq!(tree(&fixture.home), after, "{again:#?}");
    fixture.undo();
    assert_eq!(tree(&fixture.home), before);
}

/// After an undo, a file with two hard links has its old content under both names.
#[tokio::test]
async fn hard_links_are_restored_under_both_names() {
    let fixture = Fixture::keeping_directly(|_| {});
    furnish(&fixture);
    let outside = fixture.home.join("elsewhere");
    fs::hard_link(fixture.workspace().join("a.txt"), &outside).unwrap();
    let before = tree(&fixture.home);
    fixture.allowed(&format!("echo more >> {}/a.txt", fixture.workspace().display())).await;
    assert_eq!(fs::read_to_string(&outside).unwrap(), "alpha\nmore\n");
    fixture.undo();
    assert_eq!(tree(&fixture.home), before);
    assert_eq!(fs::metadata(&outside).unwrap().nlink(), 2);
}

/// A creation that fails since the path exists, even if another program has just made it, is not recorded, so an undo
/// leaves the path.
#[tokio::test]
async fn failed_creation_does_not_record_existing_files() {
    let fixture = Fixture::keeping();
    let there = fixture.workspace().join("there/f");
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    fs::write(&there, "mine").unwrap();
    fixture.call("write_file", json!({"path": "there/f", "text": "mine"})).await;
    fixture.call("write_file", json!({"path": "there/f/g", "text": "t"})).await;
    assert!(fixture.store().last().unwrap().is_none(), "nothing was changed");
    // A file that another program creates before the act does is not removed.
    let new = fixture.workspace().join("new");
    let made = new.clone();
    crate::undo::fault::meanwhile(move |what| {
        if what == "a step is written" {
            fs::create_dir_all(&made).unwrap();
            fs::write(made.join("x"), "mine").unwrap();
        }
    });
    let mut act = fixture.registry.begin_for_test("write_file");
    act.creating(&new.join("x")).unwrap();
    crate::undo::fault::meanwhile(|_| {});
    act.end(&[], &crate::limit::Limit::after(std::time::Duration::from_secs(5))).unwrap();
    assert!(fixture.store().last().unwrap().is_none() && new.join("x").exists());
}

/// Changes made by the tool `files`, such as copies, moves and archives, are reverted by an undo.
#[doc = "holds: law 1.10"]
#[tokio::test]
async fn changes_by_file_acts_are_undone() {
    let fixture = Fixture::keeping();
    furnish(&fixture);
    fixture.file("docs/one.txt", "1");
    fixture.file("docs/sub/two.txt", "2");
    let before = tree(&fixture.home);
    let home = &fixture.home;
    fixture.act(json!({"act": "copy", "paths": [home.join("docs")], "to": home.join("copies/deep/docs")})).await;
    fixture.act(json!({"act": "move", "paths": [home.join("docs/sub")], "to": home.join("fresh/place/")})).await;
    let renamed = json!({"act": "rename", "paths": [home.join("docs/one.txt")], "template": "{stem}_{n}.{ext}"});
    fixture.act(renamed).await;
    fixture.act(json!({"act": "archive", "paths": [home.join("docs")], "to": home.join("x.zip")})).await;
    fixture.act(json!({"act": "extract", "paths": [home.join("x.zip")], "to": home.join("out")})).await;
    fixture.act(json!({"act": "create_file", "to": home.join("note.txt"), "text": "n"})).await;
    fixture.act(json!({"act": "create_folder", "to": home.join("p/q")})).await;
    let paths = json!([home.join("docs"), fixture.workspace().join("a.txt"), fixture.workspace().join("link")]);
    fixture.act(json!({"act": "delete", "paths": paths})).await;
    assert_eq!(fixture.call("write_file", json!({"path": "w/x.txt", "text": "w"})).await.status, CallStatus::Ok);
    assert!(home.join(".local/share/Trash/info/docs.trashinfo").exists());
    let report = fixture.undo();
    assert_eq!(tree(&fixture.home), before, "{report:#?}");
    assert!(fixture.store().last().unwrap().is_none(), "nothing is left to undo");
}
