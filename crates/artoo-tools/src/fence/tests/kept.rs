//! Tests that the rules for reading are cached between commands until something changes.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::SHOWN_CHARS;
use super::test_home::TestHome;

/// A pause longer than the clock tick within which a second change could go unnoticed.
const LONGER_THAN_A_TICK: Duration = Duration::from_millis(200);

/// A test home whose reading rules are cached. It lies outside the folder for temporary files, which changes with each
/// command.
fn seen() -> TestHome {
    let home = TestHome::within(Path::new("/var/tmp"));
    for (path, content) in [
        (".ssh/id", "key"),
        (".config/other/file", "open"),
        (".config/plain", "open"),
        ("notes", "old"),
        ("docs/a", "open"),
    ] {
        home.file(path, content);
    }
    for _ in 0..50 {
        thread::sleep(LONGER_THAN_A_TICK);
        assert_eq!(home.run("cat ~/notes").exit_code, Some(0));
        if Arc::ptr_eq(&home.read_allowlist.visible().unwrap(), &home.read_allowlist.visible().unwrap()) {
            return home;
        }
    }
    panic!("something keeps changing on the way from / to {}", home.path.display());
}

/// Each change of the home that matters makes the next command's readable paths right again.
#[doc = "holds: law 1.20"]
#[test]
fn changes_invalidate_cached_rules() {
    /// A change of the test home that must invalidate the cached rules.
    type Change = fn(&TestHome);
    let changes: [(&str, Change, &str, Option<&str>); 8] = [
        ("nothing", |_| (), "cat ~/docs/a", Some("open")),
        ("a file beside the keys", |home| drop(home.file("new", "open")), "cat ~/new", Some("open")),
        ("a file in its place", |home| replace(home, "notes", "new"), "cat ~/notes", Some("new")),
        ("keys where none were", |home| drop(home.file(".aws/credentials", "key")), "cat ~/.aws/credentials", None),
        ("keys in an open folder", |home| drop(home.file(".config/gh/hosts", "key")), "cat ~/.config/gh/hosts", None),
        ("a file of keys there", |home| drop(home.file(".config/op", "key")), "cat ~/.config/op", None),
        ("keys in the place of others", |home| exchange(home, ".ssh"), "cat ~/.ssh/id", None),
        ("an open folder exchanged", |home| exchange(home, "docs"), "cat ~/docs/a", Some("open")),
    ];
    for (what, change, command, expected) in changes {
        let home = seen();
        change(&home);
        let ended = home.run(command);
        let found = (ended.exit_code == Some(0)).then(|| ended.stdout.text(SHOWN_CHARS).0);
        assert_eq!(found.as_deref(), expected, "{what}: {}", ended.text(SHOWN_CHARS).0);
    }
}

/// A path named in a command is readable for that command only, and not for the next one.
#[test]
fn named_paths_are_readable_by_one_command() {
    let home = seen();
    let start_up = home.file(".bashrc", "start\n");
    thread::sleep(LONGER_THAN_A_TICK);
    let naming = crate::fence::Fence::of_reading(&home.protected, &[start_up]);
    let ended = home.run_in(naming, "cat ~/.bashrc", Duration::from_secs(20)).unwrap();
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "start\n", "{}", ended.text(SHOWN_CHARS).0);
    assert_ne!(home.run("cat ~/.bashrc").exit_code, Some(0), "the next command has not named it");
}

/// A sandboxed program can rename files from one writable folder to another.
#[test]
fn files_move_between_writable_folders() {
    let home = seen();
    // `mv` would copy if the kernel refuses to rename; a link can't be copied.
    let ended = home.run("cd ~/artoo_workspace && mkdir a b && echo x > a/f && ln a/f b/f && mv a/f b/g && cat b/g");
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "x\n", "{}", ended.text(SHOWN_CHARS).0);
}

/// Replaces a file by another file with this content, so that its inode changes.
fn replace(home: &TestHome, path: &str, content: &str) {
    let new = home.file("replacement", content);
    fs::rename(new, home.path.join(path)).unwrap();
}

/// Replaces a folder by a new folder of the same name with copies of its files.
fn exchange(home: &TestHome, folder: &str) {
    let (folder, aside) = (home.path.join(folder), home.path.join("aside"));
    fs::rename(&folder, &aside).unwrap();
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(&aside).unwrap().flatten() {
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    fs::remove_dir_all(&aside).unwrap();
}
