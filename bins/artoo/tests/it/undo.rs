//! `artoo undo` as the user sees it: it shows a task's changes, asks, and reverts them.

use serde_json::{Value, json};

use crate::pty::{Pty, QUESTION};
use crate::server::{Server, running};
use crate::world::World;

/// Lets a model run this command; the user approves it at the terminal.
fn allowed(world: &World, command: &str) {
    let server = Server::start(running(command.to_owned()));
    let mut pty = Pty::start(&world.with_model(&server, &["tidy up"]), 160);
    pty.see(QUESTION);
    pty.send("y\r");
    let (_, screen) = pty.ended();
    assert!(screen.contains("artoo undo reverts this"), "{screen}");
}

/// Runs a command, asserts its exit code, and returns its JSON output.
fn json_of(world: &World, arguments: &[&str], code: i32) -> Value {
    let ran = world.run(arguments);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// `artoo undo` reverts what an approved command of a model changed.
#[doc = "holds: law 1.10"]
#[test]
fn approved_model_command_is_undone() {
    let world = World::new().with_things();
    world.file("things/odd\u{1b}[2J\nname", "odd");
    let before = world.snapshot();
    allowed(
        &world,
        "rm -r things/sub things/odd*; echo more >> things/paper.PDF; mkdir things/new; mv things/empty.md things/new/",
    );
    // What the shell expanded it did not name, and what is not named is not kept.
    let after = world.snapshot();
    assert_ne!(after, before);
    // Without a terminal nothing happens, and the exit code says why.
    let refused = world.run(&["undo"]);
    assert_eq!(refused.code, Some(6), "{refused:?}");
    assert_eq!(world.snapshot(), after);
    let mut no = Pty::start(&world.command(&["undo"]), 160);
    no.see("Bring this back?");
    no.send("\r");
    assert_eq!(no.ended().0, 6);
    assert_eq!(world.snapshot(), after);
    let mut yes = Pty::start(&world.command(&["undo"]), 160);
    yes.see("Bring this back?");
    yes.send("y\r");
    let (code, screen) = yes.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Reverted: ") && screen.contains("artoo undo undo-1"), "{screen}");
    assert_eq!(world.snapshot(), before, "{screen}");
    world.check_kept();
    let log = std::fs::read_to_string(world.data_dir().join("audit.jsonl")).unwrap();
    assert!(log.contains("\"event\":\"undone\"") && log.contains("\"by\":\"undo-1\""), "{log}");
    // Twice: there is nothing left; the undo itself can be undone.
    assert_eq!(world.run(&["undo", "--yes"]).code, Some(9));
    let redone = json_of(&world, &["undo", "undo-1", "--yes", "--json"], 0);
    assert_eq!(redone["undone"], true, "{redone}");
    assert_eq!(world.snapshot(), after);
    assert_eq!(world.run(&["undo", "--yes"]).code, Some(0));
    assert_eq!(world.snapshot(), before);
    world.check_kept();
}

/// `artoo undo` reverts a change by the embedded parser, as the question promised.
#[test]
fn reflex_change_is_undone_as_described() {
    let world = World::new().with_things();
    let before = world.snapshot();
    let mut pty = Pty::start(&world.command(&["delete the files in ~/things ending in .txt"]), 160);
    pty.see("it can be undone with artoo undo");
    pty.see(QUESTION);
    pty.send("y\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("artoo undo reverts this"), "{screen}");
    assert!(!world.home().join("things/note 1.txt").exists());
    let listed = json_of(&world, &["undo", "--list", "--json"], 0);
    assert_eq!((listed["entries"].as_array().unwrap().len(), &listed["forgotten"]), (1, &json!(0)), "{listed}");
    let task = listed["entries"][0]["id"].as_str().unwrap();
    let ran = world.run(&["undo", "--yes", &task[..12]]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(world.snapshot(), before, "{ran:?}");
    world.check_kept();
}

/// File names and commands shown by `artoo undo` are escaped and can't imitate its messages.
#[test]
fn undo_escapes_names_and_commands() {
    let world = World::new().with_things();
    let odd = world.file("artoo_workspace/\u{1b}]0;x\u{7}\u{202e}name\nReverted: 1 path is back", "odd");
    let before = world.snapshot();
    allowed(&world, "rm -r artoo_workspace/* # Reverted: 9 paths are back");
    assert!(!odd.exists());
    for arguments in [&["undo"][..], &["undo", "--list"], &["undo", "--json"]] {
        // `RunOutput::of` looks for raw control characters.
        let ran = world.run(arguments);
        assert!(!ran.stdout.starts_with("Reverted"), "{ran:?}");
    }
    let mut pty = Pty::start(&world.command(&["undo"]), 200);
    pty.wait("the prompt", |pty| pty.row().starts_with("[y/N]"));
    pty.send("y\r");
    let raw_before_end = pty.raw();
    assert!(!raw_before_end.contains("\u{1b}]0;") && !raw_before_end.contains('\u{202e}'), "{raw_before_end:?}");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    let claims = screen.lines().filter(|line| line.starts_with("Reverted: ")).count();
    assert_eq!(claims, 1, "{screen}");
    assert_eq!(world.snapshot(), before);
}

/// `artoo undo` leaves files alone that were changed after the task.
#[test]
fn undo_skips_files_modified_since() {
    let world = World::new().with_things();
    allowed(&world, "echo one >> things/empty.md; rm things/paper.PDF");
    world.file("things/empty.md", "mine");
    let ran = world.run(&["undo", "--yes"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("left as it is: ") && ran.stdout.contains("things/empty.md (changed since"), "{ran:?}");
    assert_eq!(std::fs::read(world.home().join("things/empty.md")).unwrap(), b"mine");
    assert!(world.home().join("things/paper.PDF").exists());
    let again = json_of(&world, &["undo", "--yes", "--json"], 9);
    let left = again["items"].as_array().unwrap().iter().filter(|item| item["outcome"] == "conflict").count();
    assert_eq!((&again["undone"], left), (&json!(false), 1), "{again}");
    for (arguments, code) in
        [(&["undo", "nothing-like-it"][..], 2), (&["undo", "--list", "--yes"], 2), (&["undo", "a", "b"], 2)]
    {
        let ran = world.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{ran:?}");
    }
    let empty = World::new();
    assert_eq!(empty.run(&["undo"]).code, Some(9));
    assert_eq!(empty.run(&["undo", "--list"]).code, Some(0));
    assert!(!empty.data_dir().join("undo").exists(), "looking makes nothing");
}

/// The preview of an undo does not list folders that were created only for the trash.
#[test]
fn undo_names_no_folder_of_the_trash() {
    let world = World::new().with_things();
    let mut pty = Pty::start(&world.command(&["delete the pdf files in ~/things"]), 160);
    pty.see(QUESTION);
    pty.send("y\r");
    assert_eq!(pty.ended().0, 0);
    assert!(world.home().join(".local/share/Trash").exists());
    let ran = world.run(&["undo", "--yes"]);
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(shown.contains("Reverted: 3 paths are back") && !shown.contains(".local"), "{shown}");
    assert!(!world.home().join(".local").exists(), "what was made for the trash is gone");
    let listed = world.run(&["tasks"]);
    assert!(listed.stdout.contains(": done, then undone"), "{listed:?}");
}
