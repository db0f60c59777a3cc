//! Typing at the prompt: wide letters, deletion keys, pasted blocks, Ctrl-C, and input typed ahead.

use serde_json::json;

use super::{COUNT, open, open_with, requests};
use crate::pty::{CTRL_C, CTRL_D};
use crate::server::{Reply, Server, understood};
use crate::world::World;

const LEFT: &str = "\u{1b}[D";
const DELETE: &str = "\u{1b}[3~";
const BACKSPACE: &str = "\u{7f}";

/// The line editor moves over and deletes wide and combined letters as one.
#[test]
fn editor_treats_wide_letters_as_units() {
    let world = World::new();
    let mut pty = open(&world);
    // What is typed, what then stands there, and the column of the cursor behind the prompt's seven.
    for (keys, expected, column) in [
        ("日本語", "日本語", 6),
        (BACKSPACE, "日本", 4),
        (LEFT, "日本", 2),
        ("x", "日x本", 3),
        (DELETE, "日x", 3),
        (BACKSPACE, "日", 2),
        ("한글 ", "日한글", 7),
        (BACKSPACE, "日한글", 6),
        (BACKSPACE, "日한", 4),
        ("👍", "日한👍", 6),
        (BACKSPACE, "日한", 4),
        ("e\u{301}", "日한e\u{301}", 5),
        (BACKSPACE, "日한", 4),
        ("\u{1}", "日한", 0),
        (DELETE, "한", 0),
        ("\u{5}", "한", 2),
    ] {
        pty.send(keys);
        pty.prompt(expected);
        pty.wait(&format!("column {column} after {keys:?}"), |pty| pty.column() == 7 + column);
    }
    // Longer than a row: what is behind the edge is edited as well.
    pty.send(&"漢".repeat(60));
    pty.wait("the second row", |pty| pty.screen().matches('漢').count() == 60);
    for _ in 0..59 {
        pty.send(BACKSPACE);
    }
    pty.prompt("한漢");
    pty.send("\u{15}");
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

#[test]
fn pasted_block_is_one_task() {
    let world = World::new();
    let server = Server::start(|_| Reply::Status(400, json!({"error": {"message": "not today"}})));
    let mut pty = open_with(&world, &server);
    let block: Vec<String> = (1..=40).map(|number| format!("item {number} of 購物清單")).collect();
    pty.send(&format!("\u{1b}[200~{}\r\u{1b}[201~", block.join("\r")));
    pty.see("item 40");
    assert!(server.asked().is_empty(), "Enter is the person's to press");
    pty.send("\r");
    pty.wait("the request", |_| !requests(&server).is_empty());
    pty.prompt("");
    let asked = requests(&server);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains(&block.join("\n")), "{}", asked[0]);
    // A line that is continued on the next line is one input too.
    pty.enter("first part \\");
    pty.wait("the next row", |pty| pty.row().trim_end().is_empty());
    pty.enter("second part");
    pty.wait("the request", |_| requests(&server).len() == 2);
    assert!(requests(&server)[1].contains("first part \nsecond part"), "{:?}", requests(&server)[1]);
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// A block of text pasted while a task runs becomes the next input, and is not run by itself.
#[test]
fn block_pasted_during_a_task_waits() {
    let world = World::new();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let server = Server::start(move |asked| {
        if asked.nth == 0 {
            held.lock().unwrap().recv().unwrap();
        }
        Reply::Status(400, json!({"error": {"message": "not today"}}))
    });
    let mut pty = open_with(&world, &server);
    pty.enter("the first request");
    pty.wait("the question", |_| !server.asked().is_empty());
    pty.wait("marks around pastes", crate::pty::Pty::marks_pastes);
    pty.send("\u{1b}[200~one\rtwo\rthree\u{1b}[201~");
    // It is not echoed into what the task shows; the prompt has it.
    release.send(()).unwrap();
    pty.see("artoo> one\ntwo\nthree");
    assert_eq!(pty.screen().matches("two").count(), 1, "{}", pty.screen());
    assert_eq!(requests(&server).len(), 1);
    pty.send("\r");
    pty.wait("the second request", |_| requests(&server).len() == 2);
    assert!(requests(&server)[1].contains("one\ntwo\nthree"), "{:?}", requests(&server)[1]);
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// Control characters in pasted text do not reach the terminal.
#[doc = "holds: design H2"]
#[test]
fn pasted_controls_do_not_reach_terminal() {
    let world = World::new();
    let server = Server::start(|_| understood("x"));
    let mut pty = open_with(&world, &server);
    let before = pty.raw().len();
    pty.send("\u{1b}[200~list\u{9b}2J\u{7} the \u{202e}files\u{1b}]0;owned\u{7}\u{1b}[201~");
    pty.see("files");
    let shown = pty.raw().split_off(before);
    for hostile in ["\u{9b}", "\u{7}", "\u{202e}", "\u{1b}]"] {
        assert!(!shown.contains(hostile), "{hostile:?} in {shown:?}");
    }
    pty.send(CTRL_C);
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// Ctrl-C clears the typed line; on an empty line, a second one leaves the prompt.
#[test]
fn ctrl_c_clears_input_and_twice_exits() {
    let world = World::new().with_things();
    let mut pty = open(&world);
    pty.send("something half");
    pty.prompt("something half");
    pty.send(CTRL_C);
    pty.see("Ctrl-C once more");
    pty.prompt("");
    // With something on the line it only clears it, however often.
    pty.send("again");
    pty.prompt("again");
    pty.send(CTRL_C);
    pty.prompt("");
    // A task between makes it the first again.
    pty.enter(COUNT);
    pty.see("\n13\n");
    pty.prompt("");
    pty.send(CTRL_C);
    pty.wait("the third hint", |pty| pty.screen().matches("Ctrl-C once more").count() == 3);
    pty.prompt("");
    pty.send(CTRL_C);
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("audit:"), "nothing was found: {screen}");
    world.check_kept();
}

/// SIGTERM and SIGHUP end the interactive prompt.
#[test]
fn termination_signals_end_the_prompt() {
    for signal in ["-TERM", "-HUP"] {
        let world = World::new();
        let mut pty = open(&world);
        pty.send("half a line");
        pty.prompt("half a line");
        pty.signal(signal);
        assert_eq!(pty.ended().0, 130, "{signal}");
        world.check_kept();
    }
}
