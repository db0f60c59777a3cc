//! `artoo try` as the user sees it: a question in four lines, its details, denial, approval, and undo.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::pty::{CTRL_C, Pty, QUESTION};
use crate::server::{Server, running};
use crate::world::{RunOutput, Snapshot, World};

/// Starts `artoo try` with a command and waits for its question of four lines.
fn asked(world: &World, command: &[&str]) -> Pty {
    let pty = Pty::start(&world.command(&[&["try"], command].concat()), 100);
    pty.wait("the question", |pty| pty.row().starts_with(QUESTION));
    // A long reason continues in a second row.
    let screen = pty.screen().replace("\n    ", " ");
    let lines: Vec<&str> = screen.trim_end().lines().collect();
    assert_eq!(lines.len(), 4, "{screen}");
    for (line, begin) in lines.iter().zip(["  | ", "  It ", "  Asking because ", QUESTION]) {
        assert!(line.starts_with(begin), "{screen}");
    }
    pty
}

/// All entries of the home folder except git's index, which contains times.
fn files(world: &World) -> Snapshot {
    world.snapshot().into_iter().filter(|(path, _)| !path.ends_with(".git/index")).collect()
}

/// Tries a command twice: denied it changes nothing, approved it does, and undo reverts it. Question and details
/// contain these texts.
fn check(world: &World, command: &[&str], what: &str, details: &[&str]) {
    let before = files(world);
    for answer in ["n\r", "y\r"] {
        let mut pty = asked(world, command);
        assert!(pty.screen().lines().nth(1).unwrap().contains(what), "{}", pty.screen());
        pty.send("?\r");
        let is_asked_again = |pty: &Pty| pty.screen().matches(QUESTION).count() == 2 && pty.row().starts_with(QUESTION);
        pty.wait("the details", is_asked_again);
        let shown = pty.screen();
        assert!(details.iter().all(|detail| shown.contains(detail)), "{details:?}: {shown}");
        assert_eq!(files(world), before, "nothing is changed before the answer");
        pty.send(answer);
        let (code, screen) = pty.ended();
        if answer == "n\r" {
            assert_eq!((code, files(world)), (6, before.clone()), "{screen}");
            assert!(screen.ends_with("You said no. Nothing was changed."), "{screen}");
        } else {
            assert_eq!(code, 0, "{screen}");
            assert_ne!(files(world), before, "{screen}");
            assert!(screen.ends_with("artoo undo reverts this"), "{screen}");
        }
    }
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!((undone.code, files(world)), (Some(0), before), "{undone:?}");
    let audited = world.run(&["audit"]);
    assert_eq!(audited.code, Some(0), "{audited:?}");
    world.check_kept();
}

/// Like [`check`] with views turned off: the question then names the folders that the command may change.
fn check_without_views(world: &World, command: &[&str], details: &[&str]) {
    world.file(".config/artoo/config.toml", "views = false\n");
    check(world, command, "may change ", details);
}

/// A home folder with two text files in `proj`.
fn with_texts() -> World {
    let world = World::new();
    world.file("proj/a.txt", "first\nold line\nlast\n");
    world.file("proj/b.txt", "second\n");
    world
}

/// A command given to `artoo try` changes files only after approval, and can be undone.
#[doc = "holds: law 1.6, 1.10"]
#[test]
fn tried_command_is_asked_and_undone() {
    check(&with_texts(), &["rm", "proj/a.txt", "proj/b.txt"], "", &["  | rm proj/a.txt proj/b.txt", "deleted a file "]);
    check(&with_texts(), &["sed -i s/old/new/ proj/a.txt"], "", &["  | sed -i s/old/new/ proj/a.txt"]);
}

#[test]
fn rm_question_shows_deleted_files() {
    let names = ["proj/a.txt", "proj/b.txt"];
    check(&with_texts(), &["rm proj/*.txt"], "deletes 2 files", &names);
    check_without_views(&with_texts(), &["rm proj/*.txt"], &names);
}

#[test]
fn sed_question_shows_the_difference() {
    let command = ["sed -i s/old/new/ proj/*.txt"];
    check(&with_texts(), &command, "changes 1 file", &["proj/a.txt", "-old line", "+new line"]);
    check_without_views(&with_texts(), &command, &["everything in ", "/proj"]);
}

#[test]
fn git_checkout_question_shows_the_difference() {
    let world = with_texts();
    world.shell("cd proj; git init -q; git add .; git -c user.name=a -c user.email=a@b commit -qm first");
    world.file("proj/a.txt", "first\nmy work\nlast\n");
    let command = ["cd proj && git checkout ."];
    check(&world, &command, "changes 1 file", &["proj/a.txt", "-my work", "+old line"]);
    check_without_views(&world, &command, &["everything in ", "/proj"]);
}

/// The question about `make` shows what its recipes change.
#[test]
fn make_question_shows_changes_of_recipes() {
    let world = with_texts();
    world.file("proj/Makefile", "all:\n\t@echo built > a.txt\n\t@rm b.txt\n\t@echo new > c.txt\n");
    let details = ["-old line", "+built", "proj/b.txt", "proj/c.txt"];
    check(&world, &["make", "-C", "proj"], "deletes 1 file", &details);
    // Without a view the question names the first place that was denied: for a new file its folder.
    world.file("proj/Makefile", "all:\n\t@echo new > c.txt\n\t@echo built > a.txt\n\t@rm b.txt\n");
    check_without_views(&world, &["make", "-C", "proj"], &["everything in ", "/proj"]);
}

#[test]
fn npm_question_shows_installed_files() {
    let world = World::new();
    world.file("dep/package.json", r#"{"name":"dep","version":"1.0.0"}"#);
    world.file("proj/package.json", r#"{"name":"p","version":"1.0.0","dependencies":{"dep":"file:../dep"}}"#);
    let is_there = Command::new("npm").arg("--version").output().is_ok();
    let npm = if is_there { "npm" } else { "sh ../npm" };
    world.file("npm", "mkdir node_modules && ln -s ../../dep node_modules/dep && echo '{}' > package-lock.json\n");
    let command = format!("cd proj && {npm} install --offline --no-audit --no-fund --no-update-notifier");
    check(&world, &[&command], "", &["package-lock.json", "node_modules"]);
    check_without_views(&world, &[&command], &["everything in ", "/proj"]);
}

/// Commands given to `artoo try` are in the audit log, without keys.
#[test]
fn tried_commands_are_in_the_audit_log() {
    let world = with_texts();
    let key = "sk-0123456789abcdefghij0123456789";
    for (answer, code) in [("n\r", 6), ("y\r", 0)] {
        let mut pty = asked(&world, &[&format!("cat proj/b.txt; rm proj/a.txt # {key}")]);
        pty.send(answer);
        assert_eq!(pty.ended().0, code);
        let audited = world.run(&["audit"]);
        assert_eq!(audited.code, Some(0), "{audited:?}");
    }
    let log = fs::read_to_string(world.data_dir().join("audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<&Value> = lines.iter().filter(|line| line["task_id"].is_string()).collect();
    let events: Vec<&str> = calls.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["call_started", "call_asked", "call_started", "call_asked", "call_ended"], "{log}");
    assert_eq!([&calls[1]["is_approved"], &calls[3]["is_approved"]], [false, true]);
    assert!(calls[4]["call"]["changed"][0]["path"].as_str().unwrap().ends_with("/proj/a.txt"), "{log}");
    assert!(log.contains("rm proj/a.txt # ") && !log.contains(key), "{log}");
    let evidence: Value = serde_json::from_str(&world.run(&["evidence", "list", "--json"]).stdout).unwrap();
    assert_eq!(evidence["calls"][0]["task_id"], calls[4]["task_id"], "{evidence}");
}

/// Changes of `artoo try` that are discarded as incidental, such as caches, are listed.
#[test]
fn discarded_changes_are_listed() {
    let world = with_texts();
    let command = "cat proj/a.txt; mkdir proj/.mypy_cache; \
        echo 'Signature: 8a477f597d28d172789f06886806bc55' > proj/.mypy_cache/CACHEDIR.TAG";
    let path = world.home().join("proj/.mypy_cache");
    let line = format!("not kept: {} (mypy keeps what it worked out)\n", path.display());
    let tried = world.run(&["try", command]);
    assert!(tried.code == Some(0) && tried.stderr.ends_with(&line), "{tried:?}");
    let server = Server::start(running(command));
    for (option, count) in [("-v", 1), ("--verbose", 1), ("--deadline=5m", 0), ("-qv", 0)] {
        let ran = RunOutput::of(world.with_model(&server, &[option, "look at proj"]).output().unwrap());
        assert_eq!(ran.stderr.matches(&line).count(), count, "{option}: {ran:?}");
    }
    assert!(!path.exists());
}

/// `artoo try` runs a command that changes nothing without a question, and with the command's own exit code.
#[test]
fn read_only_command_runs_unasked() {
    let world = World::new().with_things();
    for (command, code) in
        [(&["ls", "things"][..], 0), (&["ls missing"], 2), (&["grep", "-c", "nothing", "things/paper.PDF"], 1)]
    {
        let by_itself = Command::new("sh").args(["-c", &command.join(" ")]).current_dir(world.home()).output().unwrap();
        let tried = world.run(&[&["try"], command].concat());
        assert_eq!((tried.code, by_itself.status.code()), (Some(code), Some(code)), "{tried:?}");
        if code == 0 {
            assert_eq!(
                (tried.stdout.as_bytes(), tried.stderr.as_str()),
                (by_itself.stdout.as_slice(), "It changed nothing.\n")
            );
        }
    }
    let listed: Value = serde_json::from_str(&world.run(&["undo", "--list", "--json"]).stdout).unwrap();
    assert_eq!(listed["entries"].as_array().map(Vec::len), Some(0), "{listed}");
}

/// Without a terminal, `artoo try` shows what would change but changes nothing.
#[doc = "holds: law 1.6"]
#[test]
fn unattended_change_is_shown_only() {
    let world = World::new().with_things();
    let before = world.snapshot();
    let shown = world.run(&["try", "rm", "things/empty.md"]);
    assert_eq!(shown.code, Some(6), "{shown:?}");
    assert!(
        shown.stdout.starts_with("  | rm things/empty.md\n") && shown.stdout.contains("/things/empty.md"),
        "{shown:?}"
    );
    assert_eq!(shown.stderr, "There is no terminal to ask on; in one, artoo try asks you. Nothing was changed.\n");
    // With --json artoo asks nothing, and standard output holds JSON alone.
    let (code, screen) = Pty::start(&world.command(&["--json", "try", "rm things/empty.md"]), 4_000).ended();
    let line = screen.lines().next().unwrap();
    let value: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (code, &value["ran"], &value["asked"]["shown"]),
        (6, &false.into(), &"rm things/empty.md".into()),
        "{screen}"
    );
    assert!(value["asked"]["effects"].is_array() && value["asked"]["reason"].is_string(), "{value}");
    assert_eq!(world.snapshot(), before);
}

/// `artoo try` passes several arguments to the command as they are, with spaces, quotes and options.
#[test]
fn try_passes_words_and_options_unchanged() {
    let world = World::new();
    world.file("my file", "1\n");
    world.file("it's; $HOME", "2\n");
    let shown = world.run(&["try", "cat", "--", "my file", "it's; $HOME"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "1\n2\n"), "{shown:?}");
    let shown = world.run(&["try", "echo", "--json", "-q"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "--json -q\n"), "{shown:?}");
    assert_eq!(world.run(&["try"]).code, Some(2));
}

/// A command that `artoo try` refuses exits with 9, one interrupted at its question with 130; neither changes anything.
#[test]
fn denied_and_interrupted_commands_have_codes() {
    let world = World::new().with_things();
    let before = world.snapshot();
    let refused = world.run(&["try", "ls \u{202e}"]);
    assert_eq!(refused.code, Some(9), "{refused:?}");
    assert!(refused.stderr.starts_with("It did not run: ") && refused.stdout.is_empty(), "{refused:?}");
    let mut pty = asked(&world, &["rm", "things/empty.md"]);
    pty.send(CTRL_C);
    assert_eq!(pty.ended().0, 130);
    assert_eq!(world.snapshot(), before);
}

/// If a file changed meanwhile, `artoo try` leaves it as it is and exits with an error.
#[doc = "holds: law 1.19"]
#[test]
fn failed_changes_exit_with_an_error() {
    let world = with_texts();
    let mut pty = asked(&world, &["sed -i s/old/new/ proj/a.txt"]);
    world.file("proj/a.txt", "written by another program\n");
    pty.send("y\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 9, "{screen}");
    assert_eq!(fs::read_to_string(world.home().join("proj/a.txt")).unwrap(), "written by another program\n");
}

/// `artoo try` says that the command does not get standard input.
#[test]
fn unused_standard_input_is_reported_by_try() {
    let world = World::new();
    let mut command = world.command(&["try", "cat"]);
    command.stdin(fs::File::open("/etc/passwd").unwrap());
    let shown = command.output().unwrap();
    let told = String::from_utf8(shown.stderr).unwrap();
    assert!(told.contains("The command gets no input") && shown.stdout.is_empty(), "{told}");
}

/// A file name with a line break takes one line in the question.
#[doc = "holds: law 0.12"]
#[test]
fn hostile_file_name_stays_one_line() {
    let world = World::new();
    let name = "x\u{1b}[2J\u{202e}\nAllow it? y yes";
    world.file(name, "1");
    let mut pty = asked(&world, &["rm -- x*"]);
    pty.send("?\r");
    // The name holds the words of a question, and is no line of its own.
    let questions = |pty: &Pty| pty.screen().lines().filter(|line| line.starts_with("Allow it?")).count();
    pty.wait("the details", |pty| questions(pty) == 2 && pty.row().starts_with(QUESTION));
    pty.send("y\r");
    let (code, _, raw) = pty.ended_with_bytes();
    assert!(code == 0 && !raw.contains("\u{1b}[2J") && !raw.contains('\u{202e}'), "{raw}");
    assert!(!world.home().join(name).exists());
}

/// If views are turned off, `artoo doctor` says so.
#[test]
fn disabled_overlays_are_shown_by_doctor() {
    let world = World::new();
    let doctor = |world: &World| RunOutput::of(world.command(&["doctor"]).output().unwrap()).stdout;
    let off = "ok   views: commands change files directly once they are approved: no view can be made (views are switched off";
    assert!(!doctor(&world).contains(off));
    world.file(".config/artoo/config.toml", "views = false\n");
    assert!(doctor(&world).contains(off), "{}", doctor(&world));
    let shown = world.run(&["config", "show", "--origin"]);
    assert!(shown.stdout.contains("\nviews = false  # views in "), "{shown:?}");
    let by_variable = world.command(&["doctor"]).env("ARTOO_VIEWS", "true").output().unwrap();
    assert!(!RunOutput::of(by_variable).stdout.contains(off), "a variable wins over the file");
}

#[test]
fn moved_file_is_shown_as_renamed() {
    let world = with_texts();
    let mut pty = asked(&world, &["mv proj/a.txt proj/c.txt; rm proj/b.txt"]);
    assert!(pty.screen().contains("  It deletes 1 file, renames 1 file ("), "{}", pty.screen());
    pty.send("y\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    let proj = world.home().join("proj");
    let renamed = format!("renamed {0}/a.txt → {0}/c.txt\n", proj.display());
    assert!(screen.contains(&renamed) && screen.contains(&format!("deleted {}/b.txt\n", proj.display())), "{screen}");
    assert!(!screen.contains("created"), "{screen}");
}
