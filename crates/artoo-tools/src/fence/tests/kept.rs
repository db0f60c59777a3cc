//! What was found beside the hidden places is used again by the next command, and not once too often.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::SHOWN_CHARS;
use super::yard::Yard;

/// Beyond the tick within which a change could be missed.
const LONGER_THAN_A_TICK: Duration = Duration::from_millis(200);

/// A yard in which commands have run, whose view is kept. It does not lie where each command makes a folder of its own.
fn seen() -> Yard {
    let yard = Yard::within(Path::new("/var/tmp"));
    for (path, content) in [
        (".ssh/id", "key"),
        (".config/other/file", "open"),
        (".config/plain", "open"),
        ("notes", "old"),
        ("docs/a", "open"),
    ] {
        yard.file(path, content);
    }
    for _ in 0..50 {
        thread::sleep(LONGER_THAN_A_TICK);
        assert_eq!(yard.run("cat ~/notes").exit_code, Some(0));
        if Arc::ptr_eq(&yard.sight.visible().unwrap(), &yard.sight.visible().unwrap()) {
            return yard;
        }
    }
    panic!("something keeps changing on the way from / to {}", yard.home.display());
}

#[doc = "holds: law 1.20"]
#[test]
fn what_was_kept_is_found_anew_once_something_has_changed() {
    type Change = fn(&Yard);
    let changes: [(&str, Change, &str, Option<&str>); 8] = [
        ("nothing", |_| (), "cat ~/docs/a", Some("open")),
        ("a file beside the keys", |yard| drop(yard.file("new", "open")), "cat ~/new", Some("open")),
        ("a file in its place", |yard| replace(yard, "notes", "new"), "cat ~/notes", Some("new")),
        ("keys where none were", |yard| drop(yard.file(".aws/credentials", "key")), "cat ~/.aws/credentials", None),
        ("keys in an open folder", |yard| drop(yard.file(".config/gh/hosts", "key")), "cat ~/.config/gh/hosts", None),
        ("a file of keys there", |yard| drop(yard.file(".config/op", "key")), "cat ~/.config/op", None),
        ("keys in the place of others", |yard| exchange(yard, ".ssh"), "cat ~/.ssh/id", None),
        ("an open folder exchanged", |yard| exchange(yard, "docs"), "cat ~/docs/a", Some("open")),
    ];
    for (what, change, command, expected) in changes {
        let yard = seen();
        change(&yard);
        let ended = yard.run(command);
        let found = (ended.exit_code == Some(0)).then(|| ended.stdout.text(SHOWN_CHARS).0);
        assert_eq!(found.as_deref(), expected, "{what}: {}", ended.text(SHOWN_CHARS).0);
    }
}

/// What lies in the workspace, a private folder and what was named is read although no kept rule speaks of it.
#[test]
fn what_is_named_is_read_beyond_what_was_kept_and_by_that_command_alone() {
    let yard = seen();
    let start_up = yard.file(".bashrc", "start\n");
    thread::sleep(LONGER_THAN_A_TICK);
    let naming = crate::fence::Fence::of_reading(&yard.protected, &[start_up]);
    let ended = yard.run_in(naming, "cat ~/.bashrc", Duration::from_secs(20)).unwrap();
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "start\n", "{}", ended.text(SHOWN_CHARS).0);
    assert_ne!(yard.run("cat ~/.bashrc").exit_code, Some(0), "the next command has not named it");
}

#[test]
fn a_file_moves_and_is_linked_between_folders_that_may_be_changed() {
    let yard = seen();
    // `mv` would copy where the kernel refuses; a link can't be copied.
    let ended = yard.run("cd ~/artoo_workspace && mkdir a b && echo x > a/f && ln a/f b/f && mv a/f b/g && cat b/g");
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "x\n", "{}", ended.text(SHOWN_CHARS).0);
}

fn replace(yard: &Yard, path: &str, content: &str) {
    let new = yard.file("replacement", content);
    fs::rename(new, yard.home.join(path)).unwrap();
}

/// A copy of the folder in the folder's place.
fn exchange(yard: &Yard, folder: &str) {
    let (folder, aside) = (yard.home.join(folder), yard.home.join("aside"));
    fs::rename(&folder, &aside).unwrap();
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(&aside).unwrap().flatten() {
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    fs::remove_dir_all(&aside).unwrap();
}
