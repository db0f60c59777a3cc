//! The record of a command lists all of its changes, or says that they are not known; a change that was not observed is
//! no evidence.

use artoo_proto::{CallStatus, FOLDER, ToolCall, ToolOutcome};

use super::Fixture;

/// Whether the record of a call lists a path whose state differs from before.
fn has_changed(call: &ToolCall) -> bool {
    call.changed.iter().any(|change| change.before != change.after)
}

/// The names of the changed paths in a record; `None` if the record does not claim to list all of them.
fn known(call: &ToolCall) -> Option<Vec<&str>> {
    call.changes_known.then(|| call.changed.iter().map(|change| change.path.as_str()).collect())
}

/// Runs a command with approval, and checks the changed paths in its record; `None`: the record must say that they are
/// not known.
async fn check(command: &str, expected: Option<&[&str]>) -> ToolCall {
    let fixture = Fixture::keeping();
    if !fixture.registry.fence_report().holds {
        eprintln!("SKIPPED: nothing on this machine holds a command, so what it changes is never known");
        return fixture.allowed(command).await;
    }
    fixture.file("work/a.txt", "one\n");
    fixture.file("work/sub/b.txt", "two\n");
    let call = fixture.allowed(command).await;
    let Some(expected) = expected else {
        assert_eq!(known(&call), None, "{command}: {call:?}");
        return call;
    };
    let changed = known(&call).unwrap_or_else(|| panic!("{command}: what it changed is not known: {call:?}"));
    let is_same = changed.len() == expected.len()
        && changed
            .iter()
            .zip(expected)
            .all(|(path, end)| path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/')));
    assert!(is_same, "{command}: changed {changed:?}, expected {expected:?}\n{call:?}");
    assert_eq!(has_changed(&call), !expected.is_empty(), "{command}: {call:?}");
    call
}

/// The record of a command that changes nothing lists no changes and says that the list is complete.
#[doc = "holds: law 1.2"]
#[tokio::test]
async fn unchanged_files_are_known_after_a_command() {
    for command in [
        "cp a.txt no/such/folder 2>/dev/null || true",
        "rm -f gone.txt",
        "rm -f gone.txt > /dev/null 2>&1",
        "sed -i s/three/four/ gone.txt 2>/dev/null || echo done",
        "cd \"$TMPDIR\" && touch private",
        // The network was allowed and not used.
        "send() { echo sent; }; send http://127.0.0.1:9/upload",
    ] {
        let call = check(command, Some(&[])).await;
        assert_eq!(call.status, CallStatus::Ok, "{command}: {call:?}");
    }
}

/// The record lists every path that a command changed, however the command names it.
#[doc = "holds: law 1.2"]
#[tokio::test]
async fn changes_are_reported_in_any_spelling() {
    check("echo new > a.txt", Some(&["work/a.txt"])).await;
    check("touch \"$(dirname \"$PWD\")/stray\" 2>/dev/null; echo created a.txt", Some(&["home/stray"])).await;
    check("rm a.txt sub/b.txt; rmdir sub", Some(&["work/a.txt", "work/sub", "work/sub/b.txt"])).await;
    check(
        "cd ~/artoo_workspace; for i in 1 2; do echo $i > f$i; done",
        Some(&["artoo_workspace/f1", "artoo_workspace/f2"]),
    )
    .await;
    let made = check("mkdir -p ~/artoo_workspace/x/y", Some(&["artoo_workspace/x", "artoo_workspace/x/y"])).await;
    assert_eq!(made.changed[0].after.as_deref(), Some(FOLDER), "{made:?}");
    check("rm a.txt; ln -s sub/b.txt a.txt", Some(&["work/a.txt"])).await;
    // The content stays equal, and something else changes.
    for command in ["chmod 600 a.txt", "chmod 700 sub", "touch -d 2001-01-01 a.txt"] {
        let end = if command.contains("sub") { "work/sub" } else { "work/a.txt" };
        check(command, Some(&[end])).await;
    }
}

/// After a run that reached the network, its record can't claim to list all changes; otherwise it lists them all.
#[doc = "holds: law 1.2"]
#[tokio::test]
async fn wider_reach_leaves_effects_unknown() {
    check("curl http://127.0.0.1:9/upload; true", None).await;
    check("exec 5<>/dev/udp/127.0.0.1/9; true", None).await;
    // A secret that is read after approval, without any change.
    check("true; ls ~/.ssh", Some(&[])).await;
    check("true; cat /proc/self/status", Some(&[])).await;
    let many = check("cd ~/artoo_workspace; for i in $(seq 300); do echo > $i; done", None).await;
    assert!((200..=256).contains(&many.changed.len()), "the list is cut, and does not pass for the whole");
}

/// Where artoo itself runs under a seccomp supervisor, commands still run: reading at once, deleting only after
/// approval.
#[cfg(target_os = "linux")]
#[test]
fn commands_run_under_another_supervisor() {
    let ran = std::thread::spawn(|| {
        rustix::thread::set_no_new_privs(true).unwrap();
        let allow = libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
        let _listener = crate::fence::kernel::listen(&[allow]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let fixture = Fixture::keeping();
            let letter = fixture.file("work/a.txt", "one\n");
            let order = |command: &str| Fixture::context("shell", serde_json::json!({"command": command}));
            let read = super::called(fixture.outcome(&order("cat a.txt"), None).await);
            let asked = fixture.outcome(&order("rm a.txt"), None).await;
            assert!(matches!(asked, ToolOutcome::NeedsConsent { .. }), "{asked:?}");
            assert!(letter.exists());
            (read, fixture.allowed("rm a.txt").await, letter.exists())
        })
    });
    let (read, removed, exists) = ran.join().unwrap();
    assert_eq!((read.status, read.output.as_str()), (CallStatus::Ok, "one\n"), "{read:?}");
    assert_eq!((removed.status, exists), (CallStatus::Ok, false), "{removed:?}");
}
