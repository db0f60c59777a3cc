//! Approval questions at the prompt: typed keys decide, the default is no, and input typed ahead is ignored.

use std::sync::{Mutex, mpsc};

use serde_json::json;

use super::{open_with, running};
use crate::pty::{CTRL_C, CTRL_D, Pty};
use crate::server::{Reply, Server, call, pass, prose, said, understood};
use crate::world::World;

const REQUEST: &str = "remove the empty file";
const QUESTION: &str = "Allow it? [y/N/t/p/?] t for this task, p for some days, ? details:";

/// Types keys at a question for approval; asserts whether the call ran (`runs`), and that the prompt continues.
fn check(keys: &str, runs: bool) {
    let world = World::new().with_things();
    let server = Server::start(running("rm things/empty.md"));
    let mut pty = open_with(&world, &server);
    pty.enter(REQUEST);
    pty.see(QUESTION);
    pty.see("  | rm things/empty.md");
    let is_there = || world.home().join("things/empty.md").exists();
    assert!(is_there());
    pty.send(keys);
    pty.ended_tasks(1);
    pty.prompt("");
    assert_eq!(is_there(), !runs, "{keys:?}: {}", pty.screen());
    assert_eq!(
        pty.screen().contains("✗ You said no. Nothing was changed."),
        !runs && keys != CTRL_C,
        "{}",
        pty.screen()
    );
    // What else was to be said waited for the end of the question.
    let question = pty.screen().lines().find(|row| row.starts_with(QUESTION)).unwrap().to_owned();
    let echoed = match keys {
        CTRL_C => "^C",
        CTRL_D => "",
        typed => typed.trim_end(),
    };
    assert_eq!(question.trim_end(), format!("{QUESTION} {echoed}").trim_end());
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    world.check_kept();
}

/// Only "y" or "yes" typed at the question runs the call.
#[doc = "holds: design H3"]
#[test]
fn only_typed_approval_runs_the_call() {
    check("y\r", true);
    check("yes\r", true);
    check("n\r", false);
    check("\r", false);
    check("sure\r", false);
    check("y please\r", false);
}

/// End of input (Ctrl-D) and Ctrl-C at a question for approval deny it.
#[doc = "holds: design H3"]
#[test]
fn end_of_input_and_ctrl_c_deny() {
    check(CTRL_D, false);
    check(CTRL_C, false);
}

/// Output of other steps is held back while a question is open.
#[test]
fn other_output_does_not_disturb_the_question() {
    let world = World::new().with_things();
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let subtask = |intent: &str| {
        json!({"intent": intent, "context": "", "sequence": 1, "tools": ["shell"],
               "success_criteria": [prose("it ends well")]})
    };
    let plan = json!({
        "task_criteria": [prose("the listing names what is there")],
        "subtasks": [subtask("take it away"), subtask("look elsewhere")]
    });
    let server = Server::start(move |asked| match asked.schema.as_str() {
        "task_spec" => understood("run the commands"),
        "plan" => Reply::Json(plan.clone()),
        "execution" if asked.user.contains("look elsewhere") && asked.evidence().is_empty() => {
            held.lock().unwrap().recv().unwrap();
            call("shell", &json!({"command": "ls things"}))
        }
        "execution" if asked.evidence().is_empty() => call("shell", &json!({"command": "rm things/empty.md"})),
        "execution" => said("completed", "done"),
        _ => pass(asked, &asked.evidence()),
    });
    let mut pty = Pty::start(&world.with_model(&server, &["-v"]), 100);
    pty.prompt("");
    pty.enter(REQUEST);
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    release.send(()).unwrap();
    let judged = |_: &crate::pty::Pty| server.schemas().iter().any(|schema| schema == "subtask_verdict");
    pty.wait("the end of the other subtask's command", judged);
    assert!(!pty.screen().contains("ls things"), "{}", pty.screen());
    assert_eq!(pty.row().trim_end(), QUESTION);
    pty.send("n\r");
    pty.see("→ shell {\"command\":\"ls things\"}");
    pty.see("✗ You said no. Nothing was changed.");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// Keys typed before a question for approval appears do not answer it.
#[doc = "holds: design H3"]
#[test]
fn approval_typed_ahead_is_ignored() {
    let world = World::new().with_things();
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let script = running("rm things/empty.md");
    let server = Server::start(move |asked| {
        if asked.schema == "execution" && asked.nth == 0 {
            held.lock().unwrap().recv().unwrap();
        }
        script(asked)
    });
    let mut pty = open_with(&world, &server);
    pty.enter(REQUEST);
    pty.wait("the model's turn", |_| server.asked().iter().any(|asked| asked.schema == "execution"));
    pty.send("y\ryes\r");
    release.send(()).unwrap();
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    pty.send("\r");
    pty.see("✗ You said no. Nothing was changed.");
    pty.prompt("");
    assert!(world.home().join("things/empty.md").exists(), "{}", pty.screen());
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// A command that contains the words of the question does not look like one.
#[doc = "holds: design H3"]
#[test]
fn command_output_cannot_imitate_the_question() {
    let world = World::new().with_things();
    let spoof = format!("rm things/empty.md #{}{QUESTION} y", " ".repeat(100 - 4 - 20));
    let server = Server::start(running(Box::leak(spoof.into_boxed_str())));
    let mut pty = open_with(&world, &server);
    pty.enter(REQUEST);
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    let imitating = |screen: &str| screen.lines().filter(|line| line.starts_with("Allow it?")).count();
    assert_eq!(imitating(&pty.screen()), 1, "{}", pty.screen());
    pty.send("?\r");
    pty.wait("the details", |pty| pty.row().trim_end() == QUESTION && imitating(&pty.screen()) == 2);
    let screen = pty.screen();
    assert!(screen.contains(&format!("\n  : {QUESTION} y\n")), "the long command goes on marked: {screen}");
    pty.send("\r");
    pty.see("✗ You said no. Nothing was changed.");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// A question of the model about an unclear request is answered at the prompt.
#[doc = "holds: design D11"]
#[test]
fn models_question_is_answered_in_the_prompt() {
    let world = World::new().with_things();
    let server = Server::start(|asked| match (asked.schema.as_str(), asked.nth) {
        ("task_spec", 0) => Reply::Json(json!({
            "task_id": "t", "intent": "count", "constraints": {"scope": null, "deadline": null},
            "question": format!("Which folder?\n{QUESTION} y")
        })),
        ("task_spec", _) => understood("count"),
        _ => Reply::Status(400, json!({"error": {"message": "not today"}})),
    });
    let mut pty = open_with(&world, &server);
    pty.enter("count");
    pty.wait("the question", |pty| pty.row().starts_with("Your answer"));
    pty.see(&format!("  | Which folder?\n  | {QUESTION} y\n"));
    // Only one line is the answer; the rest of a careless paste answers nothing and runs as nothing.
    pty.send("the folder 資料\rand this\r");
    pty.ended_tasks(1);
    pty.prompt("");
    let asked = server.asked();
    let specs: Vec<_> = asked.iter().filter(|asked| asked.schema == "task_spec").collect();
    assert_eq!(specs.len(), 2, "{specs:?}");
    assert!(specs[1].user.contains("answer: the folder 資料"), "{}", specs[1].user);
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}
