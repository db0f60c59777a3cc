//! An undo entry of format 2, written by an earlier artoo, is read and undone by this one.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use artoo_proto::Environment;
use tempfile::TempDir;

use crate::undo::{ItemOutcome, UndoConfig, UndoStore};

/// `home` is a home folder after `artoo try` ran the command that the entry in `undo` names. The home was `/home/ada`
/// and the undo journal `/home/ada/.artoo/undo`. Nothing was edited.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/undo/tests/format_2");

/// The modification time of the files that the command moved, which a git checkout does not keep.
const MODIFIED: Duration = Duration::from_secs(1_767_323_045);

/// Copies a folder with its content; the files get mode 0644 and the time [`MODIFIED`].
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
            fs::set_permissions(&to, Permissions::from_mode(0o644)).unwrap();
            File::open(&to).unwrap().set_modified(UNIX_EPOCH + MODIFIED).unwrap();
        }
    }
    fs::set_permissions(to, Permissions::from_mode(0o755)).unwrap();
}

/// An undo entry that an earlier artoo wrote in format 2 is read and undone.
#[test]
fn undo_entry_of_format_2_is_undone() {
    let dir = TempDir::new().unwrap();
    let home = dir.path().canonicalize().unwrap().join("ada");
    let undo = home.join(".artoo/undo");
    copy(&Path::new(FIXTURE).join("home"), &home);
    copy(&Path::new(FIXTURE).join("undo"), &undo);
    fs::set_permissions(home.join("notes/monday.txt"), Permissions::from_mode(0o600)).unwrap();
    let text = home.to_str().unwrap().to_owned();
    let entry = fs::read_dir(&undo).unwrap().next().unwrap().unwrap();
    let ended = entry.path().join("000001/ended.json");
    fs::write(&ended, fs::read_to_string(&ended).unwrap().replace("/home/ada", &text)).unwrap();
    let (cwd, workspace, os) = (text.clone(), text.clone(), "linux".to_owned());
    let environment = Environment { cwd, home: text, workspace, os, utc_offset_s: 0 };
    let store = UndoStore::open(UndoConfig::new(undo), &environment);
    let last = store.last().unwrap().expect("the entry is listed");
    let preview = store.preview(&last.id).unwrap();
    assert_eq!(preview.items.len(), 5, "{preview:#?}");
    let report = store.undo(&last.id).unwrap();
    assert!(report.items.iter().all(|item| item.outcome == ItemOutcome::Done), "{report:#?}");
    for (path, text) in [
        ("list.txt", "one\ntwo\n"),
        ("notes/monday.txt", "buy milk\n"),
        ("notes/old.txt", "old\n"),
        ("notes/drafts/one.txt", "first try\n"),
    ] {
        assert_eq!(fs::read_to_string(home.join(path)).unwrap(), text, "{path}");
    }
    assert_eq!(fs::metadata(home.join("notes/monday.txt")).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(!home.join("notes/final").exists() && !home.join("notes/new.txt").exists());
}
