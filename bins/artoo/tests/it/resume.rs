//! Tasks whose process was killed: `artoo resume` continues them, and every change is made once.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use crate::pty::{Pty, QUESTION};
use crate::server::{Server, running};
use crate::world::{RunOutput, Snapshot, World, wait_for};

/// Times between the approval and the kill, in milliseconds, so that some kills interrupt the command.
const DELAYS_MS: [u64; 6] = [0, 4, 10, 20, 40, 90];

/// Requests for changes, one for each kind of change.
const ACTS: [&str; 5] = [
    "delete the files in ~/things ending in .txt",
    "rename ~/things/paper.PDF to ~/things/sheet.pdf",
    "copy ~/things/paper.PDF to ~/things/sub",
    "move ~/things/empty.md to ~/things/sub",
    "create a folder named new in ~/things",
];

/// All entries of the home folder except artoo's data, the trash and caches, whose content differs between runs.
fn files(world: &World) -> Snapshot {
    let own = [".artoo", ".local", ".cache"];
    let mut all = world.snapshot();
    all.retain(|path, _| !own.iter().any(|own| path.components().any(|part| part.as_os_str() == *own)));
    all
}

/// Waits for a question and approves it (if one is asked), then kills the program after a delay.
fn killed_after(world: &World, pty: &mut Pty, delay_ms: u64) {
    wait_for("a question or an end", || pty.has_ended() || pty.screen().contains(QUESTION));
    if !pty.has_ended() {
        pty.send("y\r");
        sleep(Duration::from_millis(delay_ms));
        pty.signal("-KILL");
        wait_for("the end of a killed process", || pty.has_ended());
    }
    assert!(world.data_dir().join("tasks").is_dir());
}

/// Approves every question of a run of `artoo resume` until it ends; returns the exit code and the screen.
fn resumed(mut pty: Pty) -> (i32, String) {
    let mut answered = 0;
    loop {
        let questions = pty.screen().matches(QUESTION).count();
        if questions > answered {
            pty.send("y\r");
            answered += 1;
        }
        if pty.has_ended() {
            return pty.ended();
        }
        sleep(Duration::from_millis(10));
    }
}

/// If a run is killed at one of six moments after the approval of a change, after `artoo resume` the change was made
/// exactly once, and undo reverts it.
#[doc = "holds: law 1.10"]
#[test]
fn killed_command_runs_once_after_resume() {
    let mut was_resumed = 0;
    for act in ACTS {
        let whole = World::new().with_things();
        let (code, screen) = resumed(Pty::start(&whole.command(&[act]), 160));
        assert_eq!(code, 0, "{act}: {screen}");
        for delay_ms in DELAYS_MS {
            let world = World::new().with_things();
            let before = files(&world);
            let mut pty = Pty::start(&world.command(&[act]), 160);
            killed_after(&world, &mut pty, delay_ms);
            drop(pty);
            let (code, screen) = resumed(Pty::start(&world.command(&["resume"]), 160));
            // Where the kill came too late, the task has its result, and there is nothing to resume.
            assert!(code == 0 || code == 11, "{act}, {delay_ms} ms: {code} {screen}");
            assert!(!screen.contains("broken rule") && !screen.contains("anomal"), "{act}, {delay_ms} ms: {screen}");
            was_resumed += u32::from(code == 0);
            assert_eq!(names(&world), names(&whole), "{act}, {delay_ms} ms: {screen}");
            assert_eq!(world.run(&["resume"]).code, Some(11), "{act}, {delay_ms} ms");
            let undone = world.run(&["undo", "--yes"]);
            assert_eq!(undone.code, Some(0), "{act}, {delay_ms} ms: {undone:?}");
            assert_eq!(files(&world), before, "{act}, {delay_ms} ms");
        }
    }
    assert!(was_resumed > 5, "too few of the kills came in the middle: {was_resumed}");
}

/// The relative paths and contents of all files in the home folder.
fn names(world: &World) -> Vec<(String, Vec<u8>)> {
    let home = world.home();
    let name = |path: &std::path::Path| path.strip_prefix(&home).unwrap_or(path).display().to_string();
    files(world).into_iter().map(|(path, (_, content))| (name(&path), content)).collect()
}

/// If artoo is killed while a command appends a line to a file, after `artoo resume` the line is there exactly once.
#[test]
fn a_killed_command_appends_its_line_once() {
    for delay_ms in [0, 20, 60, 150, 400] {
        let world = World::new().with_things();
        world.file("things/list.txt", "first\n");
        let server = Server::start(running("sleep 0.1; echo line >> things/list.txt".to_owned()));
        let mut pty = Pty::start(&world.with_model(&server, &["add a line"]), 160);
        killed_after(&world, &mut pty, delay_ms);
        drop(pty);
        let (_, screen) = resumed(Pty::start(&world.with_model(&server, &["resume"]), 160));
        let list = fs::read_to_string(world.home().join("things/list.txt")).unwrap();
        assert_eq!(list, "first\nline\n", "{delay_ms} ms: {screen}");
    }
}

/// An interrupted task continues only when the user runs `artoo resume`, not by itself.
#[test]
fn tasks_resume_only_on_request() {
    let world = World::new().with_things();
    let before = files(&world);
    let pty = Pty::start(&world.command(&[ACTS[0]]), 160);
    pty.see(QUESTION);
    pty.signal("-KILL");
    drop(pty);
    // Without a terminal, another request ignores the interrupted task.
    let ran = world.run(&["how many files are in ~/things"]);
    assert!(ran.code == Some(0) && !ran.stderr.contains("interrupted"), "{ran:?}");
    let pty = Pty::start(&world.command(&["how many files are in ~/things"]), 160);
    pty.see("An interrupted task from");
    pty.see("artoo resume continues it");
    // It must end first, or it is the task that is resumed.
    assert_eq!(pty.ended().0, 0);
    // Resumed without a terminal, the change is not approved.
    let ran = world.run(&["resume"]);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    assert_eq!(files(&world), before);
    assert_eq!(world.run(&["resume"]).code, Some(11));
}

/// If artoo is killed, the command that it was running is killed too.
#[test]
fn a_killed_artoo_leaves_no_command_running() {
    let world = World::new();
    let server = Server::start(running("sleep 86399".to_owned()));
    let pty = Pty::start(&world.with_model(&server, &["wait"]), 160);
    let is_running = || {
        let lines = fs::read_dir("/proc").unwrap().flatten().map(|entry| fs::read(entry.path().join("cmdline")));
        lines.flatten().any(|line| line == b"sleep\086399\0")
    };
    wait_for("the command", is_running);
    pty.signal("-KILL");
    wait_for("the end of the command", || !is_running());
}

#[test]
fn task_records_are_listed_shown_and_exported() {
    let world = World::new().with_things();
    assert_eq!(world.run(&["how many files are in ~/things"]).code, Some(0));
    let listed = world.run(&["tasks"]);
    assert!(listed.stdout.contains("how many files are in ~/things") && listed.stdout.contains(": done"), "{listed:?}");
    let shown = world.run(&["tasks", "show", "how_many"]);
    assert!(shown.stdout.contains("✓ Checked") && shown.stdout.contains("glob ok"), "{shown:?}");
    let replayed = world.run(&["replay", "how_many"]);
    assert_eq!((replayed.code, replayed.stdout.starts_with("The same decisions")), (Some(0), true), "{replayed:?}");
    let exported = world.run(&["tasks", "export", "how_many"]);
    for line in exported.stdout.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    assert!(exported.stdout.contains("\"frame\":\"ended\""), "{exported:?}");
    let path = world.home().join("export.jsonl");
    let to_file = world.run(&["tasks", "export", "how_many", path.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&path).unwrap(), exported.stdout, "{to_file:?}");
    assert_eq!(world.run(&["tasks", "show", "nothing"]).code, Some(2));
    // A damaged record is reported and not replayed.
    let record = fs::read_dir(world.data_dir().join("tasks")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&record).unwrap();
    fs::write(&record, &whole[..whole.len() - 3]).unwrap();
    let damaged = world.run(&["replay", "how_many"]);
    assert!(damaged.code == Some(9) && damaged.stdout.contains("damaged"), "{damaged:?}");
    let gone = world.run(&["gc"]);
    assert!(gone.code == Some(0) && gone.stdout.contains("audit log"), "{gone:?}");
    assert_eq!(world.run(&["tasks", "forget", "how_many"]).code, Some(0));
    assert!(world.run(&["tasks"]).stdout.contains("no task is recorded"));
    assert_eq!(world.run(&["report"]).code, Some(2));
}

/// `artoo --continue` with a request refers to the last session's answer.
#[test]
fn a_later_request_continues_the_last_session() {
    let world = World::new().with_things();
    assert_eq!(world.run(&["list the files in ~/things"]).code, Some(0));
    let alone = world.run(&["how many are there"]);
    let continued = world.run(&["--continue", "how many are there"]);
    assert_eq!((alone.code == Some(0), continued.code), (false, Some(0)), "{alone:?} {continued:?}");

    // The same words would mean other files in another folder.
    world.file("other/things/x", "");
    let mut elsewhere = world.command(&["--continue", "how many are there"]);
    let refused = RunOutput::of(elsewhere.current_dir(world.home().join("other")).output().unwrap());
    assert!(refused.code == Some(2) && refused.stdout.is_empty(), "{refused:?}");
    assert!(refused.stderr.contains("the last session ran in"), "{refused:?}");
}
