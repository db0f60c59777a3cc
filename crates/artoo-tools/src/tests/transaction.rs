//! Commands as transactions: what they print, what they change, and what is asked, in views and without.

use std::fs;

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolOrder, ToolOutcome};
use serde_json::json;

use super::{House, called, snapshot, task};
use crate::undo::UndoConfig;

fn house(views: bool) -> House {
    let house = House::with(|config| {
        config.views = views;
        let data = std::path::Path::new(&config.environment.home).join(".artoo");
        config.undo = Some(UndoConfig::new(data.join("undo")));
    });
    house.file("work/a.txt", "one\ntwo\n");
    house.file("work/d/b.txt", "three\n");
    house.file(".ssh/id_rsa", "KEY");
    house
}

fn order(command: &str) -> ToolOrder {
    ToolOrder { task_id: task(), ..House::context("shell", json!({"command": command})) }
}

struct Asked {
    hash: artoo_proto::ConsentHash,
    effects: String,
    reason: String,
}

async fn asked(house: &House, command: &str) -> Asked {
    match house.outcome(&order(command), None).await {
        ToolOutcome::NeedsConsent { hash, effects, reason, .. } => Asked { hash, effects: effects.join("\n"), reason },
        ToolOutcome::Called { call } => panic!("{command} was not asked about: {call:?}"),
    }
}

#[tokio::test]
async fn a_command_that_changes_nothing_runs_unasked() {
    for views in [true, false] {
        let house = house(views);
        let before = snapshot(&house.home.join("work"));
        for (command, output) in [("cat a.txt", "one\ntwo\n"), ("wc -l < a.txt", "2\n"), ("ls", "a.txt\nd\n")] {
            let call = called(house.outcome(&order(command), None).await);
            let found = (call.status, call.class, call.output.as_str(), call.changes_known);
            assert_eq!(found, (CallStatus::Ok, EffectClass::ReadOnly, output, true), "{command}");
        }
        let question = asked(&house, "cat ~/.ssh/*").await;
        assert!(question.reason.contains(".ssh may hold secrets"), "{}", question.reason);
        assert_eq!(snapshot(&house.home.join("work")), before);
    }
}

#[tokio::test]
async fn new_files_in_the_workspace_are_made_unasked_and_undone() {
    let house = house(true);
    let call =
        called(house.outcome(&order("cd ~/artoo_workspace && mkdir n && echo x > n/f && ln -s f n/l"), None).await);
    assert_eq!(
        (call.status, call.class, call.changes_known),
        (CallStatus::Ok, EffectClass::Creating, true),
        "{call:?}"
    );
    assert_eq!(fs::read_to_string(house.workspace().join("n/f")).unwrap(), "x\n");
    assert!(call.changed.iter().any(|change| change.path.ends_with("n/f") && change.before.is_none()), "{call:?}");
    house.undo();
    assert!(!house.workspace().join("n").exists());
}

#[tokio::test]
async fn changes_are_asked_about_with_what_would_change_and_made_after_a_yes() {
    for views in [true, false] {
        let house = house(views);
        let work = house.home.join("work");
        let before = snapshot(&work);
        for (command, said) in [
            ("rm a.txt", "a.txt"),
            ("f=a.txt; rm \"$f\"", "a.txt"),
            ("sed -i s/one/1/ a.txt", if views { "a.txt" } else { "work" }),
            ("mv d e", if views { "d" } else { "work" }),
            ("find . -delete", "a.txt"),
            ("python3 -c 'import os; os.remove(\"a.txt\")'", "a.txt"),
        ] {
            let question = asked(&house, command).await;
            assert!(question.effects.contains(said), "{command}: {} {}", question.effects, question.reason);
            assert_eq!(snapshot(&work), before, "{command}");
            house.registry.refuse(&task(), &question.hash);
            let again = called(house.outcome(&order(command), None).await);
            assert_eq!(again.status, CallStatus::Denied, "{command}: {again:?}");
            house.registry.forget(&task());
        }
        let question = asked(&house, "rm a.txt && echo done").await;
        let grant = house.registry.grant(&question.hash, ConsentScope::Once);
        let call = called(house.outcome(&order("rm a.txt && echo done"), Some(grant)).await);
        assert_eq!((call.status, call.output.trim()), (CallStatus::Ok, "done"), "{call:?}");
        assert!(!work.join("a.txt").exists());
        assert!(call.changed.iter().any(|change| change.path.ends_with("a.txt") && change.after.is_none()), "{call:?}");
    }
}

#[tokio::test]
async fn what_changed_since_the_question_is_left_alone() {
    let house = house(true);
    let question = asked(&house, "sed -i s/one/1/ a.txt").await;
    house.file("work/a.txt", "mine\n");
    let grant = house.registry.grant(&question.hash, ConsentScope::Once);
    let call = called(house.outcome(&order("sed -i s/one/1/ a.txt"), Some(grant)).await);
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    assert_eq!(fs::read_to_string(house.home.join("work/a.txt")).unwrap(), "mine\n");
}

/// A command that names the workspace finds it; it stays only if something was written there.
#[tokio::test]
async fn unused_workspace_is_not_left_behind() {
    for views in [true, false] {
        let house = house(views);
        for command in ["ls ~/artoo_workspace", "test -d ~/artoo_workspace", "echo artoo_workspace"] {
            let call = called(house.outcome(&order(command), None).await);
            assert_eq!(call.status, CallStatus::Ok, "{command}: {call:?}");
            assert!(!house.workspace().exists(), "{command}");
        }
        let question = asked(&house, "ls ~/artoo_workspace; rm a.txt").await;
        house.registry.refuse(&task(), &question.hash);
        assert!(!house.workspace().exists());
        house.registry.forget(&task());
        let call = house.allowed("echo x > ~/artoo_workspace/f").await;
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
        assert_eq!(fs::read_to_string(house.workspace().join("f")).unwrap(), "x\n");
    }
}

#[tokio::test]
async fn set_id_bits_are_asked_about() {
    let house = house(true);
    fs::create_dir_all(house.workspace()).unwrap();
    let before = [snapshot(&house.workspace()), snapshot(&house.home.join("work"))];
    for command in [
        "chmod u+s a.txt",
        "chmod g+s a.txt",
        "chmod 4755 d/b.txt",
        "cd ~/artoo_workspace && cp /bin/true t && chmod u+s t",
        "cd ~/artoo_workspace && mkdir s && chmod g+s s",
    ] {
        let question = asked(&house, command).await;
        assert!(!question.reason.is_empty(), "{command}");
        house.registry.refuse(&task(), &question.hash);
        house.registry.forget(&task());
        assert_eq!([snapshot(&house.workspace()), snapshot(&house.home.join("work"))], before, "{command}");
        assert_eq!(mode(&house.home.join("work/a.txt")) & 0o7000, 0, "{command}");
    }
}

fn mode(path: &std::path::Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions())
}

/// A question names an address, and its approval covers no other one.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn approved_address_is_the_only_one_reached() {
    use std::net::TcpListener;
    for views in [true, false] {
        let house = house(views);
        let [a, b] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [one, other] = [&a, &b].map(|listener| listener.local_addr().unwrap());
        let command = format!(
            "h=127.0.0.1; exec 3<>/dev/tcp/$h/{} && exec 4<>/dev/tcp/$h/{} && echo stolen >&4",
            one.port(),
            other.port()
        );
        let mut question = asked(&house, &format!("bash -c '{command}'")).await;
        assert_eq!(question.reason, format!("it tried to connect to {one}"));
        let mut asked_for_other = false;
        for _ in 0..3 {
            let grant = house.registry.grant(&question.hash, ConsentScope::Once);
            match house.outcome(&order(&format!("bash -c '{command}'")), Some(grant)).await {
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
