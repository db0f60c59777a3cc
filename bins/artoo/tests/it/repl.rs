//! The interactive prompt in a real terminal: tasks, their shared session, commands, history.

mod cancel;
mod consent;
mod keys;
mod scope;

use serde_json::json;

use crate::pty::{CTRL_D, Pty};
use crate::server::{Reply, Server, running};
use crate::world::{ARTOO, World};

const COUNT: &str = "how many files are in ~/things";

/// Starts the interactive prompt without a language model in a pseudo-terminal.
fn open(world: &World) -> Pty {
    let pty = Pty::start(&world.command(&[]), 100);
    pty.prompt("");
    pty
}

/// Starts the interactive prompt with this model server in a pseudo-terminal.
fn open_with(world: &World, server: &Server) -> Pty {
    let pty = Pty::start(&world.with_model(server, &[]), 100);
    pty.prompt("");
    pty
}

/// The user's words in the requests to R1 (the perceiver), one entry for each task.
fn requests(server: &Server) -> Vec<String> {
    server.asked().into_iter().filter(|asked| asked.schema == "task_spec").map(|asked| asked.user).collect()
}

#[test]
fn prompt_runs_tasks_in_sequence() {
    let world = World::new().with_things();
    let mut pty = open(&world);
    pty.enter(COUNT);
    pty.see("\n13\n");
    pty.see("✓ Checked: artoo found the same in a second way.");
    pty.prompt("");
    pty.enter("how many pdf files are in ~/things");
    pty.see("\n3\n");
    pty.prompt("");
    pty.enter("make me a sandwich");
    pty.ended_tasks(3);
    pty.prompt("");
    pty.send(CTRL_D);
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "how a task ended is no failure of the prompt: {screen}");
    assert!(!screen.contains("audit:"), "nothing was found: {screen}");
    world.check_kept();
}

/// The last five turns of a session are part of the next request to the model.
#[doc = "holds: design R1.7, R1.101"]
#[test]
fn earlier_turns_reach_the_model() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Status(400, json!({"error": {"message": "not today"}})));
    let mut pty = open_with(&world, &server);
    for number in 1..=7 {
        pty.enter(&format!("request number {number}"));
        pty.wait("the task's end", |_| requests(&server).len() >= number);
        pty.prompt("");
    }
    let asked = requests(&server);
    for (before, words) in asked.iter().enumerate() {
        for earlier in 1..=7 {
            let is_known = words.contains(&format!("user: request number {earlier}\n"));
            assert_eq!(is_known, earlier <= before && earlier + 5 > before, "{before} {earlier}: {words}");
        }
    }
    assert!(asked[6].contains("ended: The model rejected the request (400)"), "{}", asked[6]);
    pty.enter("/exit");
    assert_eq!(pty.ended().0, 0);
}

/// A request such as "the first of those" reaches the model with the earlier request and its answer.
#[test]
fn follow_up_request_carries_the_last_answer() {
    let world = World::new().with_things();
    let server = Server::start(running("ls things"));
    let mut pty = open_with(&world, &server);
    pty.enter("list my things");
    pty.see("empty.md");
    pty.prompt("");
    pty.enter("the first of those");
    pty.wait("the second request", |_| requests(&server).len() == 2);
    let second = requests(&server).pop().unwrap();
    assert!(second.contains("user: list my things\n") && second.contains("empty.md"), "{second}");
    pty.prompt("");
    pty.enter("exit");
    assert_eq!(pty.ended().0, 0);
}

#[test]
fn prompt_commands_and_typos_start_no_task() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Status(400, json!({"error": {"message": "not today"}})));
    let mut pty = open_with(&world, &server);
    for (typed, answer) in [
        ("/help", "/memory   the newest tasks in memory"),
        ("--help", "Ctrl-C stops a task"),
        ("/cost", "0 tasks; no model calls"),
        ("/audit", "the chain holds"),
        ("/memory", "Memory is empty"),
        ("/csot", "did you mean /cost?"),
        ("/deploy now", "/deploy is no command"),
        ("/exit now", "/exit takes nothing after it"),
        ("--json", "it is given when artoo starts: artoo --json"),
        ("   ", "artoo>"),
    ] {
        pty.enter(typed);
        pty.see(answer);
        pty.prompt("");
    }
    assert!(server.asked().is_empty(), "nothing of that is a task: {:?}", server.asked());
    pty.send("/me\t");
    pty.prompt("/memory");
    pty.send("\r");
    pty.prompt("");
    pty.send(CTRL_D);
    let (code, screen) = pty.ended();
    assert_eq!(code, 0);
    assert!(!screen.contains("audit:"), "{screen}");
}

#[test]
fn prompt_commands_show_costs_and_memory() {
    let world = World::new().with_things();
    let server = Server::start(running("ls things"));
    let mut pty = open_with(&world, &server);
    // Memory learns from a request that facts cover.
    pty.enter("list the files in ~/things");
    pty.ended_tasks(1);
    pty.prompt("");
    let asked = server.asked().len();
    pty.enter("/cost");
    pty.see(&format!("1 task; {asked} model calls, {} tokens", 120 * asked));
    pty.prompt("");
    pty.enter("/memory");
    pty.see("shell for “run the command”: has worked, and is preferred");
    pty.prompt("");
    pty.enter("/exit");
    assert_eq!(pty.ended().0, 0);
    // And of the sessions before.
    let mut pty = open(&world);
    pty.enter("/memory");
    pty.see("shell for “run the command”: has worked, and is preferred");
    pty.prompt("");
    pty.enter("/cost");
    pty.see("no model calls");
    pty.prompt("");
    pty.enter("/exit");
    assert_eq!(pty.ended().0, 0);
}

/// The prompt works on the terminal while standard output goes to a pipe.
#[test]
fn prompt_uses_terminal_while_answers_are_piped() {
    let world = World::new().with_things();
    let mut command = world.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{ARTOO} | (head -n 1 > first)")]).current_dir(world.home());
    shell.envs(command.env("TERM", "xterm").get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut pty = Pty::start(&shell, 100);
    pty.prompt("");
    // The second answer is written to a closed pipe, which is no error.
    for number in 1..=3 {
        pty.enter(COUNT);
        pty.wait("the evidence", |pty| pty.verdicts() == number);
        pty.prompt("");
    }
    pty.send(CTRL_D);
    let (_, screen) = pty.ended();
    assert!(!screen.lines().any(|row| row == "13"), "{screen}");
    assert_eq!(std::fs::read_to_string(world.home().join("first")).unwrap(), "13\n");
}

/// The prompt's history is stored at once in a file that only its owner can read.
#[test]
fn history_persists_in_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().with_things();
    let mut pty = open(&world);
    pty.enter("/cost");
    pty.see("0 tasks; ");
    pty.prompt("");
    pty.send("\u{1b}[200~first line\nsecond line\u{1b}[201~");
    pty.see("second line");
    pty.send("\r");
    pty.ended_tasks(1);
    pty.prompt("");
    // Not even a kill loses what was entered.
    drop(pty);
    let file = world.data_dir().join("history");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut pty = open(&world);
    pty.send("\u{1b}[A");
    pty.see("artoo> first line\nsecond line");
    pty.send("\u{1b}[A\u{1b}[A");
    pty.wait("the older entry", |pty| pty.row().trim_end() == "artoo> /cost");
    pty.send("\r");
    pty.see("0 tasks; ");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

#[test]
fn dumb_terminal_has_a_prompt() {
    let world = World::new().with_things();
    let mut command = world.command(&[]);
    command.env("TERM", "dumb");
    let mut pty = Pty::start(&command, 100);
    pty.prompt("");
    pty.enter(COUNT);
    pty.see("\n13\n");
    pty.prompt("");
    pty.send(CTRL_D);
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
}

#[test]
fn damaged_history_is_reported_and_unchanged() {
    let world = World::new();
    let file = world.file(".artoo/history", b"#V2\n\xff\xfe\n");
    let mut pty = Pty::start(&world.command(&[]), 100);
    pty.see("can't be used");
    pty.prompt("");
    pty.enter("/cost");
    pty.see("0 tasks; ");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    assert_eq!(std::fs::read(file).unwrap(), b"#V2\n\xff\xfe\n");
}

/// `/undo` in a new session says that the task it would revert is of an earlier session.
#[test]
fn undo_of_an_earlier_session_says_so() {
    let world = World::new().with_things();
    world.run(&["create a file called ~/artoo_workspace/new.txt containing hello"]);
    assert!(world.workspace().join("new.txt").exists());
    let mut pty = open(&world);
    pty.enter("/undo");
    pty.see("Bring this back?");
    assert!(pty.screen().contains("Nothing in this session changed anything: this was done before it."));
    pty.enter("n");
    pty.prompt("");
    pty.enter("create a file called ~/artoo_workspace/next.txt containing hello");
    pty.ended_tasks(1);
    pty.prompt("");
    pty.enter("/undo");
    pty.wait("the question", |pty| pty.screen().matches("Bring this back?").count() == 2);
    assert_eq!(pty.screen().matches("before it").count(), 1, "{}", pty.screen());
    pty.enter("y");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}
