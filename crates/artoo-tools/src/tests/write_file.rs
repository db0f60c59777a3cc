//! `write_file` creates new files in the workspace and nowhere else.

use std::fs;
use std::os::unix::fs::symlink;

use artoo_proto::{CallStatus, EffectClass};
use serde_json::json;

use super::{Fixture, make_fifo, snapshot};

/// The record of `write_file` lists the new file with its digest.
#[tokio::test]
async fn new_files_are_recorded_with_their_digest() {
    let fixture = Fixture::new();
    let home = fixture.home.display().to_string();
    for (path, lands_at) in [
        ("a.txt", "a.txt"),
        ("deep/er/b.txt", "deep/er/b.txt"),
        ("~/artoo_workspace/c.txt", "c.txt"),
        ("./d", "d"),
        ("trailing.", "trailing."),
        ("A.txt", "A.txt"),
    ] {
        let call = fixture.call("write_file", json!({"path": path, "text": "abc"})).await;
        let expected = format!("{home}/artoo_workspace/{lands_at}");
        assert_eq!(
            (call.status, call.class, call.measures),
            (CallStatus::Ok, EffectClass::Creating, false),
            "{call:?}"
        );
        assert_eq!((call.target.as_str(), call.changed.len()), (expected.as_str(), 1));
        assert_eq!(call.changed[0].path, expected);
        assert_eq!(call.changed[0].before, None);
        assert_eq!(
            call.changed[0].after.as_deref(),
            Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
        assert_eq!(fs::read_to_string(&expected).unwrap(), "abc");
    }
}

/// `write_file` refuses to overwrite an existing file.
#[doc = "holds: law 1.9; design T20"]
#[tokio::test]
async fn existing_files_are_never_overwritten() {
    let fixture = Fixture::new();
    assert_eq!(fixture.call("write_file", json!({"path": "x", "text": "first"})).await.status, CallStatus::Ok);
    let again = fixture.call("write_file", json!({"path": "x", "text": "second"})).await;
    assert_eq!(again.status, CallStatus::Denied, "{again:?}");
    assert!(again.output.contains("exists already (a file)") && again.changed.is_empty(), "{again:?}");
    let same = fixture.call("write_file", json!({"path": "x", "text": "first"})).await;
    assert!(same.status == CallStatus::Denied && same.output.contains("with exactly this text"), "{same:?}");
    assert_eq!(fs::read_to_string(fixture.workspace().join("x")).unwrap(), "first");
}

/// `write_file` refuses paths outside the workspace, however they are spelled.
#[doc = "holds: law 1.9; design H4"]
#[tokio::test]
async fn outside_paths_are_refused_in_any_spelling() {
    let fixture = Fixture::new();
    let outside = fixture.file("outside/keep", "keep");
    let workspace = fixture.workspace();
    fs::create_dir_all(workspace.join("real")).unwrap();
    symlink(fixture.home.join("outside"), workspace.join("link_folder")).unwrap();
    symlink(&outside, workspace.join("link_file")).unwrap();
    symlink(fixture.home.join("outside/new"), workspace.join("link_dangling")).unwrap();
    symlink("real", workspace.join("link_inside")).unwrap();
    symlink("/proc/self/root", workspace.join("magic")).unwrap();
    fs::hard_link(&outside, workspace.join("hard_link")).unwrap();
    make_fifo(&workspace.join("pipe"));
    let before = snapshot(&fixture.home);
    let home = fixture.home.display().to_string();
    let long_name = "n".repeat(256);
    for (path, status) in [
        ("../escape", CallStatus::Denied),
        ("real/../../escape", CallStatus::Denied),
        ("real/../inside", CallStatus::Denied),
        ("/etc/artoo-test", CallStatus::Denied),
        ("~/escape", CallStatus::Denied),
        ("~/artoo_workspace_too/x", CallStatus::Denied),
        (&format!("{home}/outside/new"), CallStatus::Denied),
        ("link_folder/new", CallStatus::Denied),
        ("link_folder/sub/new", CallStatus::Denied),
        ("link_inside/new", CallStatus::Denied),
        ("link_file", CallStatus::Denied),
        ("link_dangling", CallStatus::Denied),
        ("magic/tmp/new", CallStatus::Denied),
        ("hard_link", CallStatus::Denied),
        ("pipe", CallStatus::Denied),
        ("pipe/new", CallStatus::Denied),
        ("hard_link/new", CallStatus::Denied),
        ("real", CallStatus::Denied),
        ("real/", CallStatus::Failed),
        ("", CallStatus::Failed),
        (".", CallStatus::Failed),
        ("~/artoo_workspace", CallStatus::Failed),
        ("a\0b", CallStatus::Failed),
        ("a\nb", CallStatus::Failed),
        ("a\u{1b}[2J", CallStatus::Failed),
        ("a\u{202e}b", CallStatus::Failed),
        (&long_name, CallStatus::Failed),
        (&format!("{long_name}/x"), CallStatus::Failed),
        (&"p/".repeat(2500), CallStatus::Failed),
    ] {
        let call = fixture.call("write_file", json!({"path": path, "text": "evil"})).await;
        assert_eq!(call.status, status, "{path:?}: {call:?}");
        assert!(call.changed.is_empty() && call.class == EffectClass::Creating, "{call:?}");
    }
    assert_eq!(snapshot(&fixture.home), before, "something was touched");
}

/// `write_file` works if the workspace itself is a symlink.
#[doc = "holds: design F5"]
#[tokio::test]
async fn workspace_may_be_a_symlink() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.home.join("elsewhere")).unwrap();
    symlink(fixture.home.join("elsewhere"), fixture.workspace()).unwrap();
    let call = fixture.call("write_file", json!({"path": "x", "text": "t"})).await;
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert_eq!(fs::read_to_string(fixture.home.join("elsewhere/x")).unwrap(), "t");
}

/// H5: `write_file` never creates a file outside while a folder is swapped with a symlink again and again.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.9; design H5"]
#[test]
fn parent_replaced_by_link_is_refused() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fixture = Fixture::in_memory();
    let outside = fixture.home.join("outside");
    let (swap, link) = (fixture.workspace().join("swap"), fixture.workspace().join("link"));
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(&swap).unwrap();
    symlink(&outside, &link).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                renameat_with(CWD, &swap, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for n in 0..10_000 {
            let call = runtime.block_on(fixture.call("write_file", json!({"path": format!("swap/{n}"), "text": "x"})));
            written += u32::from(call.status == CallStatus::Ok);
            refused += u32::from(call.status == CallStatus::Denied);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(written > 0 && refused > 0, "the race was never on: {written} written, {refused} refused");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "a file got out");
}
