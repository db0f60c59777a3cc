//! Wider approvals: for a task, or for folders until a date; long questions in pages; rules listed and revoked.

use std::fs;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{open_with, running};
use crate::pty::{CTRL_D, Pty, QUESTION};
use crate::server::{ReceivedRequest, Reply, Server, call, first_call, one_step, pass, prose, understood};
use crate::world::World;

/// A model that makes these tool calls one after another in a plan with one subtask.
fn calling(calls: Vec<Value>) -> impl Fn(&ReceivedRequest) -> Reply + Send + Sync {
    let left = Mutex::new(calls.into_iter());
    move |asked| match asked.schema.as_str() {
        "task_spec" => understood("tidy up"),
        "plan" => one_step("tidy up", &["files", "shell"], &json!([prose("it is tidy")])),
        "execution" => match left.lock().unwrap().next() {
            Some(input) => first_call("files", &input),
            None => call("shell", &json!({"command": "ls things"})),
        },
        _ => pass(asked, &asked.evidence()),
    }
}

/// The input of a call of the tool for files that deletes a path.
fn delete(path: &str) -> Value {
    json!({"act": "delete", "paths": [path]})
}

/// Number of questions for approval that the terminal has shown so far.
fn questions(pty: &Pty) -> usize {
    pty.raw().matches(QUESTION).count()
}

/// An approval for the whole task covers only what it names, and is noted in the audit log.
#[doc = "holds: design H9"]
#[test]
fn task_approval_is_limited_and_logged() {
    let world = World::new().with_things();
    let server = Server::start(calling(vec![
        delete("~/things/sub"),
        json!({"act": "create_folder", "to": "~/things/sub/deep"}),
    ]));
    let mut pty = open_with(&world, &server);
    pty.enter("tidy up");
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    pty.see("t for this task, p for some days");
    pty.send("?\r");
    pty.see("t also allows, for the rest of this task, by the same tool:");
    pty.wait("the question again", |pty| questions(pty) == 2 && pty.row().starts_with(QUESTION));
    pty.send("t\r");
    // Making something where a thing was thrown away is another effect: it asks.
    pty.wait("the second question", |pty| questions(pty) == 3 && pty.row().starts_with(QUESTION));
    assert!(!world.home().join("things/sub").exists());
    pty.send("\r");
    pty.see("✗ You said no. What was changed before that stays");
    pty.prompt("");
    assert!(!world.home().join("things/sub").exists());
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    let log = fs::read_to_string(world.data_dir().join("audit.jsonl")).unwrap();
    assert!(log.contains(r#""scope":{"kind":"task"}"#), "the answer's scope is in the audit log");
    assert!(log.contains(r#""leave":{"kind":"task"}"#), "and under whose leave the call ran");
    world.check_kept();
}

/// An approval until a date is stored as a rule, used by later tasks, and can be revoked.
#[doc = "holds: law 1.4"]
#[test]
fn consent_rule_is_created_used_and_revoked() {
    let world = World::new().with_things();
    let server = Server::start(calling(vec![delete("~/things/sub/big.bin")]));
    let mut pty = open_with(&world, &server);
    pty.enter("tidy up");
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    pty.send("p\r");
    pty.wait("the days", |pty| pty.row().starts_with("For how many days"));
    pty.send("3\r");
    pty.ended_tasks(1);
    pty.prompt("");
    assert!(!world.home().join("things/sub/big.bin").exists());
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    // Another run without a user: the rule approves only calls on files in the folder.
    let server = Server::start(calling(vec![delete("~/things/sub/deep/report.pdf")]));
    world.ask(&server, "tidy up");
    assert!(!world.home().join("things/sub/deep/report.pdf").exists());
    let server = Server::start(calling(vec![delete("~/things/paper.PDF")]));
    assert_eq!(world.ask(&server, "tidy up").code, Some(6));
    assert!(world.home().join("things/paper.PDF").exists());
    let listed = world.run(&["rules", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let rule = &listed["rules"][0];
    assert_eq!((&rule["id"], &rule["tool"]), (&json!("r1"), &json!("files")), "{listed}");
    assert!(rule["covers"][0].as_str().unwrap().contains("anything in ") && rule["last_used"].is_string(), "{listed}");
    let shown = world.run(&["rules", "list"]);
    assert!(shown.stdout.starts_with("r1: files, since ") && shown.stdout.contains(", until "), "{shown:?}");
    let log = fs::read_to_string(world.data_dir().join("audit.jsonl")).unwrap();
    assert!(log.contains(r#""scope":{"days":3,"kind":"path"}"#) || log.contains(r#""scope":{"kind":"path","days":3}"#));
    assert!(log.matches(r#""id":"r1""#).count() >= 2, "the rule's id is in the audit log, given and used");
    assert_eq!(world.run(&["rules", "revoke", "r9"]).code, Some(2));
    assert_eq!(world.run(&["rules", "revoke", "r1"]).code, Some(0));
    assert_eq!(world.run(&["rules", "list"]).stdout, "no rules: artoo asks each time\n");
    world.file("things/sub/again", "x");
    let server = Server::start(calling(vec![delete("~/things/sub/again")]));
    assert_eq!(world.ask(&server, "tidy up").code, Some(6));
    assert!(world.home().join("things/sub/again").exists());
    world.check_kept();
}

/// Answers that the question does not offer, and invalid numbers of days, deny the call.
#[doc = "holds: law 1.6; design H3"]
#[test]
fn unoffered_answers_and_invalid_numbers_deny() {
    // What is reached is allowed once.
    let command = "exec 3<>/dev/tcp/127.0.0.1/9 && rm things/empty.md";
    for (command, keys) in [(command, vec!["t\r"]), (command, vec!["p\r"])] {
        let world = World::new().with_things();
        let server = Server::start(running(command));
        let mut pty = open_with(&world, &server);
        pty.enter("tidy up");
        pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
        assert!(!pty.screen().contains("t for this task"), "{}", pty.screen());
        keys.iter().for_each(|keys| pty.send(keys));
        pty.see("✗ You said no. Nothing was changed.");
        pty.prompt("");
        assert!(world.home().join("things/empty.md").exists(), "{keys:?}");
        pty.send(CTRL_D);
        assert_eq!(pty.ended().0, 0);
    }
    for days in ["99\r", "soon\r", CTRL_D] {
        let world = World::new().with_things();
        let server = Server::start(calling(vec![delete("~/things/sub/big.bin")]));
        let mut pty = open_with(&world, &server);
        pty.enter("tidy up");
        pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
        pty.send("p\r");
        pty.wait("the days", |pty| pty.row().starts_with("For how many days"));
        pty.send(days);
        pty.see("✗ You said no. Nothing was changed.");
        pty.prompt("");
        assert!(world.home().join("things/sub/big.bin").exists(), "{days:?}");
        pty.send(CTRL_D);
        assert_eq!(pty.ended().0, 0);
    }
}

/// While long details are shown page by page, no key approves.
#[doc = "holds: law 1.6; design H3"]
#[test]
fn paged_details_accept_no_approval() {
    let check = |answers: &[(&str, &str)], runs: bool| {
        let world = World::new().with_things();
        let filler: String = (0..400).map(|number| format!("# line {number}\n")).collect();
        let command = format!("rm things/empty.md\n{filler}true");
        let server = Server::start(running(Box::leak(command.into_boxed_str())));
        let mut pty = open_with(&world, &server);
        pty.enter("tidy up");
        pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
        let screen = pty.screen();
        let line = screen.lines().find(|line| line.starts_with("  | rm things/empty.md\\n#")).expect("the command");
        assert!(line.ends_with("\\ntrue") && line.contains(" more…] "), "{screen}");
        pty.send("?\r");
        for (above, keys) in answers {
            pty.wait(above, |pty| {
                let is_asked = pty.row().starts_with("Enter shows more") || pty.row().starts_with(QUESTION);
                is_asked && pty.screen().lines().rev().nth(1).is_some_and(|line| line.starts_with(above))
            });
            pty.send(keys);
        }
        pty.ended_tasks(1);
        pty.prompt("");
        assert_eq!(!world.home().join("things/empty.md").exists(), runs, "{answers:?}: {}", pty.screen());
        pty.send(CTRL_D);
        assert_eq!(pty.ended().0, 0);
    };
    let (first, second, third) = ("  | # line 145", "  | # line 292", "    delete, move or change");
    check(&[(first, "\r"), (second, "\r"), (third, "y\r")], true);
    check(&[(first, "\r"), (second, "\r"), (third, "\r")], false);
    // A yes at a page ends the details; the question stands again.
    check(&[(first, "y\r"), ("Enter shows more", "n\r")], false);
    check(&[(first, "\r"), (second, "q\r"), ("Enter shows more", "y\r")], true);
    check(&[(first, CTRL_D)], false);
}

/// A call that the user denied is not asked about again when the model rewords it.
#[doc = "holds: law 1.14; design D10"]
#[test]
fn denied_call_is_not_asked_again_reworded() {
    let world = World::new().with_things();
    let attempts = ["rm things/empty.md", "unlink ./things/sub/../empty.md", "sh -c \"r\\m $HOME/things/empty.md\""];
    let server = Server::start(move |asked| match asked.schema.as_str() {
        "task_spec" => understood("tidy up"),
        "plan" => {
            let tools: &[&str] = if asked.nth == 0 { &["shell", "glob"] } else { &["shell"] };
            one_step(&format!("tidy up, way {}", asked.nth), tools, &json!([prose("it is tidy")]))
        }
        "execution" if asked.evidence().is_empty() && asked.nth == 0 => first_call("glob", &json!({"root": "things"})),
        "execution" => call("shell", &json!({"command": attempts[asked.nth.saturating_sub(1).min(2)]})),
        _ => pass(asked, &asked.evidence()),
    });
    let mut pty = open_with(&world, &server);
    pty.enter("tidy up");
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    pty.send("n\r");
    pty.ended_tasks(1);
    pty.prompt("");
    assert_eq!(questions(&pty), 1, "{}", pty.screen());
    assert!(world.home().join("things/empty.md").exists());
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    let listed: Value = serde_json::from_str(&world.run(&["evidence", "list", "--json"]).stdout).unwrap();
    let listing = &listed["calls"][0];
    assert_eq!(listing["tool"], "glob", "{listed}");
    for id in [listing["evidence_id"].as_str().unwrap(), &listing["streams"][0]["sha256"].as_str().unwrap()[..12]] {
        let shown = world.run(&["evidence", "show", id]);
        assert!(shown.code == Some(0) && shown.stdout.contains("/things/paper.PDF\n"), "{shown:?}");
    }
    assert_eq!(world.run(&["evidence", "show", "nothing"]).code, Some(2));
    for entry in fs::read_dir(world.data_dir().join("evidence")).unwrap() {
        let path = entry.unwrap().path();
        let damaged = fs::read_to_string(&path).unwrap().replace("paper.PDF", "paper.pdf");
        fs::write(path, damaged).unwrap();
    }
    let shown = world.run(&["evidence", "show", listing["evidence_id"].as_str().unwrap()]);
    assert_eq!(shown.code, Some(1), "what was changed is no evidence: {shown:?}");
    assert!(!shown.stdout.contains("paper.pdf"), "{shown:?}");
}
