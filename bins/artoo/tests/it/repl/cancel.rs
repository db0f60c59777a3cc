//! Ctrl-C during a task: it ends the task with all its processes, and the prompt continues.

use std::fs;

use super::{COUNT, open_with, requests, running};
use crate::pty::{CTRL_C, CTRL_D, QUESTION};
use crate::server::{Reply, Server};
use crate::world::{World, wait_for};

/// Whether a process with this word among its arguments is running.
fn runs(argument: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
    })
}

#[test]
fn ctrl_c_cancels_a_model_call() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Silence);
    let mut pty = open_with(&world, &server);
    for number in 1..=3 {
        pty.enter(COUNT);
        pty.wait("the question", |_| requests(&server).len() == number);
        pty.send(CTRL_C);
        pty.wait("the end", |pty| pty.screen().matches("✗ Cancelled. Nothing was changed.").count() == number);
        pty.prompt("");
    }
    // The prompt hears and edits as before.
    pty.send("/ost\u{1}\u{1b}[Cc");
    pty.prompt("/cost");
    pty.send("\r");
    pty.see("3 tasks; ");
    pty.prompt("");
    pty.send(CTRL_D);
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    world.check_kept();
}

#[test]
fn ctrl_c_kills_tool_and_its_children() {
    let world = World::new().with_things();
    let argument = format!("86400.{}", std::process::id());
    let command: &'static str = Box::leak(format!("sleep {argument}").into_boxed_str());
    let server = Server::start(running(command));
    let mut pty = open_with(&world, &server);
    pty.enter("wait a little");
    pty.wait("the tool or the question", |pty| runs(&argument) || pty.screen().contains(QUESTION));
    if !runs(&argument) {
        pty.send("y\r");
    }
    pty.wait("the tool", |_| runs(&argument));
    pty.send(CTRL_C);
    pty.see("✗ Cancelled.");
    wait_for("the end of the tool", || !runs(&argument));
    pty.prompt("");
    pty.enter("/cost");
    pty.see("1 task; ");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    world.check_kept();
}

/// Two Ctrl-C during a task end the program and restore the terminal, or, if the terminal passes them on as one, cancel
/// the task.
#[test]
fn second_ctrl_c_exits_and_restores_terminal() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Silence);
    let mut pty = open_with(&world, &server);
    pty.enter(COUNT);
    pty.wait("the question", |_| !server.asked().is_empty());
    // Both at once: the second comes before the task has ended.
    pty.send("\u{3}\u{3}");
    let left = |pty: &crate::pty::Pty| pty.has_ended() || pty.row().trim_end() == "artoo>";
    pty.wait("the end of the process, or of the task", left);
    if pty.has_ended() {
        assert_eq!(pty.ended().0, 130);
        return;
    }
    // The terminal handed both over as one; at the prompt it takes two more.
    pty.send(CTRL_C);
    pty.see("Ctrl-C once more");
    pty.prompt("");
    pty.send(CTRL_C);
    assert_eq!(pty.ended().0, 0);
}

/// Input typed ahead is discarded when the task is cancelled.
#[test]
fn cancelled_task_discards_typed_ahead_input() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Silence);
    let mut pty = open_with(&world, &server);
    // The editor reads both at once; what comes later waits in the terminal.
    pty.send(&format!("{COUNT}\rand delete all of them\r"));
    pty.wait("the question", |_| !server.asked().is_empty());
    pty.enter("and empty the bin");
    pty.send(CTRL_C);
    pty.see("✗ Cancelled.");
    pty.prompt("");
    assert_eq!(requests(&server).len(), 1);
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}
