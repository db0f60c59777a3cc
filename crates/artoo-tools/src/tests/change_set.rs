//! The change set of a command is complete: nothing is dropped or hidden, and no concurrent change of another program
//! is overwritten.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use artoo_proto::{CallStatus, ConsentScope, ToolOutcome};

use super::transaction::{fixture, order};
use super::{Fixture, called};

const ACCESS: &str = "system.posix_acl_access";

/// The text of the question about a command, its reason first; the question is denied. Empty if the command ran without
/// one.
async fn question(fixture: &Fixture, command: &str) -> String {
    match fixture.outcome(&order(command), None).await {
        ToolOutcome::NeedsConsent { hash, effects, reason, details, .. } => {
            fixture.registry.refuse(&super::task(), &hash);
            fixture.registry.forget(&super::task());
            [vec![reason], effects, details].concat().join("\n")
        }
        ToolOutcome::Called { call } => {
            assert_eq!(call.status, CallStatus::Ok, "{command}: {call:?}");
            String::new()
        }
    }
}

/// Approves the question about a command, runs it, and returns the effects and details of the question.
async fn approved(fixture: &Fixture, command: &str) -> String {
    let ToolOutcome::NeedsConsent { hash, effects, details, .. } = fixture.outcome(&order(command), None).await else {
        panic!("{command} was not asked about");
    };
    let grant = fixture.registry.grant(&hash, ConsentScope::Once);
    let call = called(fixture.outcome(&order(command), Some(grant)).await);
    assert_eq!(call.status, CallStatus::Ok, "{command}: {call:?}");
    [effects, details].concat().join("\n")
}

/// An access control list that gives one more user all rights, and a mask that covers the group.
fn acl() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 7, 1234), (4, 4, u32::MAX), (0x10, 7, u32::MAX), (0x20, 4, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend([tag.to_le_bytes(), rights.to_le_bytes()].concat());
        list.extend(id.to_le_bytes());
    }
    list
}

/// The bytes in hex.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value of an extended attribute of a file; `None` if it has none of this name.
fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 4096];
    let length = rustix::fs::lgetxattr(path, OsStr::from_bytes(name.as_bytes()), &mut value).ok()?;
    value.truncate(length);
    Some(value)
}

/// Sets an extended attribute of a file.
fn set_attribute(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).unwrap();
}

/// A file that was moved is committed even if its new name looks incidental.
#[tokio::test]
async fn moved_file_is_never_incidental() {
    for name in ["_logs/a.log", ".viminfo", ".DS_Store", "__pycache__/m.pyc", ".mypy_cache/m", "fontconfig/a.cache-9"] {
        let fixture = fixture(true);
        let to = fixture.file(&format!("artoo_workspace/{name}"), "").with_file_name("moved");
        let to = to.with_file_name(Path::new(name).file_name().unwrap());
        fs::remove_file(&to).unwrap();
        approved(&fixture, &format!("mv d/b.txt ~/artoo_workspace/{name}")).await;
        assert_eq!(fs::read_to_string(&to).unwrap(), "three\n", "{name}");
    }
}

/// A file is incidental only if its content fits too, not because of a name such as `_logs` or `.mypy_cache`.
#[tokio::test]
async fn file_name_alone_is_not_incidental() {
    let fixture = fixture(true);
    let log = fixture.file("artoo_workspace/_logs/app.log", "a\n");
    approved(&fixture, "echo b >> ~/artoo_workspace/_logs/app.log").await;
    assert_eq!(fs::read_to_string(log).unwrap(), "a\nb\n");
    let command = "cd ~/artoo_workspace; cp ~/work/a.txt _logs/x.log; mkdir .mypy_cache .hypothesis; \
                   echo n > .mypy_cache/n; echo h > .hypothesis/h; mkdir p; mkdir p/__pycache__; echo m > p/__pycache__/m.pyc";
    let call = called(fixture.outcome(&order(command), None).await);
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    for name in ["_logs/x.log", ".mypy_cache/n", ".hypothesis/h", "p/__pycache__/m.pyc"] {
        assert!(fixture.workspace().join(name).exists(), "{name}");
    }
}

/// Compiled Python modules and marked cache folders are discarded as incidental; other files are committed.
#[tokio::test]
async fn caches_of_known_programs_are_incidental() {
    let fixture = fixture(true);
    fixture.file("artoo_workspace/m/__init__.py", "x = 1\n");
    let command = "cd ~/artoo_workspace; python3 -m compileall -q m; mkdir .ruff_cache; echo '*' > .ruff_cache/.gitignore; \
                   printf 'Signature: 8a477f597d28d172789f06886806bc55' > .ruff_cache/CACHEDIR.TAG; touch .ruff_cache/0; echo o > o";
    let call = called(fixture.outcome(&order(command), None).await);
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert!(fixture.workspace().join("o").exists());
    assert!(!fixture.workspace().join("m/__pycache__").exists());
    assert!(!fixture.workspace().join(".ruff_cache").exists());
}

/// Edits by another program while a command runs are not overwritten by the commit.
#[tokio::test]
async fn edits_of_others_during_a_run_stay() {
    let fixture = fixture(true);
    let work = fixture.home.join("work");
    let others = std::thread::spawn({
        let work = work.clone();
        move || {
            std::thread::sleep(Duration::from_millis(1500));
            let edit = "echo theirs >> a.txt; echo theirs > d/new";
            assert!(Command::new("sh").args(["-c", edit]).current_dir(work).status().unwrap().success());
        }
    });
    let outcome = fixture.outcome(&order("echo mine >> a.txt; rm -r d; sleep 3"), None).await;
    others.join().unwrap();
    let call = called(outcome);
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    let said = "work/a.txt was changed by another program while the command ran";
    assert!(call.output.contains(said), "{}", call.output);
    assert_eq!(fs::read_to_string(work.join("a.txt")).unwrap(), "one\ntwo\ntheirs\n");
    assert!(work.join("d/new").exists());
}

/// Changed access control lists are committed; an undo reverts that of a file, and the question says that it doesn't
/// revert that of a folder.
#[tokio::test]
async fn access_lists_are_committed_and_undone() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: a user's view knows no other users, and refuses access lists that name them");
        return;
    }
    let fixture = fixture(true);
    let path = fixture.home.join("work/a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let command = format!(
        "python3 -c \"import os; os.setxattr('a.txt', '{ACCESS}', bytes.fromhex('{}')); \
         os.setxattr('d', 'system.posix_acl_default', bytes.fromhex('{}'))\"",
        hex(&acl()),
        hex(&acl())
    );
    let told = approved(&fixture, &command).await;
    assert_eq!(attribute(&path, ACCESS), Some(acl()));
    assert_eq!(attribute(&fixture.home.join("work/d"), "system.posix_acl_default"), Some(acl()));
    assert!(told.contains("undo does not bring back") && told.contains("work/d"), "{told}");
    fixture.undo();
    assert_eq!((attribute(&path, ACCESS), fs::metadata(&path).unwrap().mode() & 0o777), (None, 0o644));
}

/// A file's access control list is as before after an edit or deletion of the file was committed and undone.
#[tokio::test]
async fn access_lists_survive_a_change_undone() {
    for command in ["echo x > a.txt", "sed -i s/one/1/ a.txt", "rm a.txt"] {
        let fixture = fixture(true);
        let path = fixture.home.join("work/a.txt");
        set_attribute(&path, ACCESS, &acl());
        approved(&fixture, command).await;
        if command.starts_with("echo") {
            assert_eq!(attribute(&path, ACCESS), Some(acl()), "{command}");
        }
        fixture.undo();
        assert_eq!(attribute(&path, ACCESS), Some(acl()), "{command}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n", "{command}");
    }
}

/// A copied folder needs approval if a name inside it is one that other programs run, or a symlink leads out; the
/// question lists these names.
#[tokio::test]
async fn names_inside_copied_folders_are_asked_about() {
    let fixture = fixture(true);
    fs::create_dir_all(fixture.workspace()).unwrap();
    fixture.file("work/evil/Makefile", "evil");
    fixture.file("work/evil/hooks/post-checkout", "evil");
    fixture.file("work/evil/plain", "plain");
    symlink("/etc", fixture.home.join("work/evil/out")).unwrap();
    let said = question(&fixture, "cp -r evil ~/artoo_workspace/pretty").await;
    for (name, why) in
        [("pretty/Makefile", "make"), ("pretty/hooks/post-checkout", "version control"), ("pretty/out", "leads out")]
    {
        assert!(said.lines().any(|line| line.contains(name) && line.contains(why)), "{name}: {said}");
    }
    assert!(!said.contains("pretty/plain"), "{said}");
}

/// Changed file times are shown in the question, committed, and reverted by an undo.
#[tokio::test]
async fn changed_times_are_shown_committed_and_undone() {
    let fixture = fixture(true);
    let (file, own) = (fixture.home.join("work/a.txt"), fixture.file("artoo_workspace/f", "f"));
    let time = |path: &Path| fs::metadata(path).unwrap().mtime();
    let before = [time(&file), time(&own)];
    let told = approved(&fixture, "rm d/b.txt; touch -d '1990-01-01 UTC' a.txt").await;
    assert!(told.contains("work/a.txt"), "{told}");
    assert_eq!(time(&file), 631_152_000);
    let call = called(fixture.outcome(&order("touch -d '1990-01-01 UTC' ~/artoo_workspace/f"), None).await);
    assert_eq!((call.status, time(&own)), (CallStatus::Ok, 631_152_000), "{call:?}");
    fixture.undo();
    assert_eq!([time(&file), time(&own)], before);
    assert_eq!(fixture.store().last().unwrap(), None, "the undo is no entry that can be undone once more");
}

/// Setting times of files outside the workspace, or of files with several names, needs approval.
#[tokio::test]
async fn times_outside_the_workspace_are_asked_about() {
    let fixture = fixture(true);
    let own = fixture.file("artoo_workspace/f", "f");
    fs::hard_link(&own, fixture.workspace().join("g")).unwrap();
    for command in ["touch -d 2001-01-01 a.txt", "touch -d 2001-01-01 ~/artoo_workspace/f"] {
        let said = question(&fixture, command).await;
        assert!(said.contains("dates of"), "{command}: {said}");
    }
    assert!(fs::metadata(&own).unwrap().mtime() > 1_000_000_000);
}

/// A symlink that leads out of the workspace through another symlink needs approval.
#[tokio::test]
async fn links_that_lead_out_indirectly_ask() {
    let fixture = fixture(true);
    fs::create_dir_all(fixture.workspace()).unwrap();
    let said = question(&fixture, "cd ~/artoo_workspace; ln -s . b; ln -s b/../work a").await;
    assert!(said.contains("leads out"), "{said}");
}

/// A change set with nested folders is committed whole; one with folders beyond the maximum depth is refused whole.
#[tokio::test]
async fn deep_trees_are_committed_or_refused_whole() {
    let fixture = fixture(true);
    fs::create_dir_all(fixture.workspace()).unwrap();
    let command = |depth: usize| {
        format!("cd ~/artoo_workspace; mkdir -p n/$(printf 'd/%.0s' $(seq {depth})); echo important > y")
    };
    let call = called(fixture.outcome(&order(&command(140)), None).await);
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert!(fixture.workspace().join("y").exists() && fixture.workspace().join("n").join("d/".repeat(140)).exists());
    fixture.undo();
    assert!(!fixture.workspace().join("y").exists() && !fixture.workspace().join("n").exists());
    let call = called(fixture.outcome(&order(&command(400)), None).await);
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    assert!(call.output.contains("deeper than"), "{}", call.output);
    assert!(!fixture.workspace().join("y").exists());
}
