//! Pipes, terminals and signals: a closed pipe causes no error, questions need a terminal, Ctrl-C ends with a result.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::server::{ReceivedRequest, Reply, Server, call, pass, prose, understood};
use crate::world::{ARTOO, KEY, RunOutput, World, send, wait_for};

/// If the reader of a pipe closes it early, the task's exit code stays the same.
#[test]
fn closed_pipe_keeps_the_tasks_exit_code() {
    let world = World::new();
    for number in 0..2_000 {
        world.file(format!("things/a-rather-long-name-for-a-file-{number:05}.txt"), "");
    }
    for flag in ["", "--json"] {
        let script = format!("{ARTOO} {flag} 'list the text files in ~/things' | head -n 1; exit ${{PIPESTATUS[0]}}");
        let mut command = Command::new("bash");
        command
            .args(["-c", &script])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", world.home());
        let ran = RunOutput::of(command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{flag}: {ran:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{flag}: {ran:?}");
    }
    // Both streams closed before the first byte.
    let mut child = world.command(&["make me a sandwich"]).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

/// If standard output can't be written, for example on a full disk, the exit code says so.
#[doc = "holds: law 0.19"]
#[test]
fn unwritable_answer_has_its_own_exit_code() {
    let world = World::new().with_things();
    let full = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
        RunOutput::of(command.output().unwrap())
    };
    world.file("things/long.log", "a long line of a log\n".repeat(20_000));
    for arguments in [
        &["list the files in ~/things"][..],
        &["--quiet", "how many files are in ~/things"],
        &["--json", "how many files are in ~/things"],
        &["show ~/things/long.log"],
        &["audit"],
        &["undo", "--list"],
        &["evidence", "list"],
        &["config", "show"],
        &["--help"],
    ] {
        let ran = full(arguments);
        assert_eq!(ran.code, Some(10), "{arguments:?}: {ran:?}");
        assert!(
            ran.stderr.contains("the answer could not be written completely to standard output"),
            "{arguments:?}: {ran:?}"
        );
        assert!(ran.stderr.contains("No space left on device"), "{arguments:?}: {ran:?}");
    }
    let ran = world.run(&["how many files are in ~/things"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "14\n"), "{ran:?}");
}

/// A long answer reaches a pipe in full, with every byte.
#[doc = "holds: law 0.19"]
#[test]
fn long_answer_reaches_a_pipe_complete() {
    let world = World::new();
    let line = "2026-11-22 10:00:00 INFO a line of a log — nothing happened\n";
    for size in [262_143, 262_145, 5_000_000] {
        let lines = size / line.len();
        let text = format!("{}{}INFO\n", line.repeat(lines - 1), "x".repeat(size - (lines - 1) * line.len() - 5));
        assert_eq!(text.len(), size);
        world.file("logs/app.log", &text);
        for request in [
            "show ~/logs/app.log",
            "show the lines of ~/logs/app.log that contain INFO",
            "show the first 900000 lines of ~/logs/app.log",
        ] {
            let ran = world.run(&[request]);
            assert_eq!(ran.code, Some(0), "{request}, {size}: {}", ran.stderr);
            assert!(ran.stdout == text, "{request}, {size}: {} bytes came", ran.stdout.len());
            assert!(ran.stderr.lines().count() < 12, "{request}, {size}: {}", ran.stderr);
        }
    }
    let ran = world.run(&["--json", "show ~/logs/app.log"]);
    let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((ran.code, &last["result"]["answers"][0]["whole"]["bytes"]), (Some(0), &json!(5_000_000)));
    let (code, shown) = on_a_terminal(&world, None, "show ~/logs/app.log", "", None);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.lines().count() < 100 && shown.contains("the answer has 5000000 bytes"), "{shown}");
}

/// A list of thousands of files is delivered in full and verified.
#[doc = "holds: law 0.19"]
#[test]
fn long_file_list_passes_its_check() {
    let world = World::new();
    for number in 0..4_000 {
        world.file(format!("code/a-rather-long-name-of-a-folder/and-a-long-name-of-a-file-{number:05}.txt"), "");
    }
    let ran = world.run(&["list the files in ~/code"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout, world.shell("find \"$PWD/code\" -type f | LC_ALL=C sort") + "\n");
    assert!(ran.stdout.len() > 262_144);
}

/// If artoo does not read data waiting on standard input, it says so.
#[test]
fn unread_standard_input_is_reported() {
    let world = World::new().with_things();
    let beside = |stdin: Stdio| {
        let mut command = world.command(&["how many files are in ~/things"]);
        let ran = RunOutput::of(command.stdin(stdin).output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "13\n"), "{ran:?}");
        ran.stderr.contains("Standard input was not read")
    };
    let note = world.file("note", "summarise me\n");
    assert!(beside(std::fs::File::open(&note).unwrap().into()), "a file");
    let (read, mut write) = std::io::pipe().unwrap();
    send(&mut write, "summarise me\n");
    assert!(beside(read.into()), "a pipe");
    let (read, write) = std::io::pipe().unwrap();
    drop(write);
    assert!(!beside(read.into()), "an empty pipe");
    assert!(!beside(Stdio::null()));
}

/// Control characters in file names and model texts are escaped in the output.
#[doc = "holds: law 0.12; design H2"]
#[test]
fn hostile_text_is_escaped_in_output() {
    let world = World::new();
    world.file("things/a\u{1b}[31mred\u{7}.txt", "x");
    world.file("things/b\nc.txt", "x");
    let ran = world.run(&["list the text files in ~/things"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 2, "one line a file: {ran:?}");
    assert!(ran.stdout.contains(r"a\u{1b}[31mred\u{7}.txt") && ran.stdout.contains(r"b\nc.txt"), "{ran:?}");
    // Content of files and words of a model come raw; only what is shown is escaped.
    world.file("things/text", "plain\n\u{1b}]0;title\u{7}\u{9b}2Jline\u{202e}\r\n");
    let ran = world.run(&["show the first 2 lines of ~/things/text"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains(r"\u{1b}]0;title\u{7}\u{9b}2Jline\u{202e}"), "{ran:?}");
    let ran = world.run(&["frob\u{1b}]0;x\u{7}nicate\u{202e} it"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let ran = world.run(&["--frob\u{1b}[2J"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

/// Sends a signal such as `-INT` to the process.
fn interrupt(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// SIGINT, SIGTERM and SIGHUP cancel a task, which reports that.
#[test]
fn signal_cancels_task_and_is_reported() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let world = World::new().with_things();
        let server = Server::start(|_| Reply::Silence);
        let child = world.with_model(&server, &["how many files are in ~/things"]).spawn().unwrap();
        wait_for("the first question", || !server.asked().is_empty());
        interrupt(&child, signal);
        let ran = RunOutput::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{signal}: {ran:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains("✗ Cancelled. Nothing was changed."), "{signal}: {ran:?}");
        world.check_kept();
    }
}

/// Runs a request on a terminal made by the program `script`, typing `typed` as the answer; returns exit code and
/// screen.
fn on_a_terminal(
    world: &World,
    server: Option<&Server>,
    words: &str,
    variables: &str,
    typed: Option<&str>,
) -> (i32, String) {
    let model = server.map_or_else(String::new, |server| {
        format!("ARTOO_REFLEX_FIRST=false OPENAI_BASE_URL={} OPENAI_MODEL=m OPENAI_API_KEY={KEY}", server.url())
    });
    let line = format!("env {model} {variables} ARTOO_DEADLINE=30s {ARTOO} '{words}'");
    let mut command = Command::new("script");
    command
        .args(["-qefc", &line, "/dev/null"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", world.home())
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .current_dir(world.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("script(1) gives the test a terminal");
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 4096];
    let mut asked = 0;
    let mut open = true;
    while let Ok(read @ 1..) = stdout.read(&mut bytes) {
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        let questions = shown.matches("? details: ").count();
        while open && asked < questions {
            asked += 1;
            match typed {
                Some(typed) => send(&mut stdin, typed),
                // The end of input, as a terminal gives it.
                None => {
                    send(&mut stdin, "\u{4}");
                    open = false;
                }
            }
        }
    }
    drop(stdin);
    (child.wait().unwrap().code().unwrap(), shown)
}

/// A model that deletes an empty file with a shell command, which needs approval.
fn removes(asked: &ReceivedRequest) -> Reply {
    match asked.schema.as_str() {
        "task_spec" => understood("remove the file ~/things/empty.md"),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("the empty file is not listed any more")],
            "subtasks": [{"intent": "take the empty file away", "context": "", "sequence": 1, "tools": ["shell"],
                          "success_criteria": [prose("the command ends well")]}]
        })),
        "execution" if asked.evidence().is_empty() => call("shell", &json!({"command": "rm things/empty.md"})),
        "execution" => call("shell", &json!({"command": "ls things"})),
        _ => pass(asked, &asked.evidence()),
    }
}

/// On a terminal a command runs only after "y" is typed at the question.
#[doc = "holds: law 1.6; design H3"]
#[test]
fn terminal_requires_typed_approval() {
    for (typed, runs) in
        [(Some("y\n"), true), (Some("\n"), false), (Some("n\n"), false), (Some("sure\n"), false), (None, false)]
    {
        let world = World::new().with_things();
        let server = Server::start(removes);
        let (code, shown) = on_a_terminal(&world, Some(&server), "remove the file ~/things/empty.md", "", typed);
        let is_there = world.home().join("things/empty.md").exists();
        assert!(shown.contains("  | rm things/empty.md"), "the command is shown whole: {shown}");
        assert_eq!(is_there, !runs, "{typed:?}: {shown}");
        assert_eq!(code == 6, !runs, "{typed:?}: exit {code}: {shown}");
    }
}

/// Colour and redrawn lines appear on a terminal only.
#[test]
fn colour_and_live_lines_need_a_terminal() {
    let world = World::new().with_things();
    let words = "how many files are in ~/things";
    let (code, shown) = on_a_terminal(&world, None, words, "", None);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("\u{1b}[1m"), "{shown}");
    let (_, shown) = on_a_terminal(&world, None, &format!("{words}' '-v"), "", None);
    for live in ["understood: count the files", "plan:", "→ glob"] {
        assert!(shown.contains(live), "{live}: {shown}");
    }
    for variables in ["NO_COLOR=1", "TERM=dumb"] {
        let (_, shown) = on_a_terminal(&world, None, words, variables, None);
        // The moving line is emptied by one sequence where lines can be redrawn.
        let shown = if variables == "NO_COLOR=1" { shown.replace("\u{1b}[K", "") } else { shown };
        assert!(!shown.contains('\u{1b}'), "{variables}: {shown:?}");
    }
    let piped = world.run(&[words]);
    assert!(!piped.stderr.contains("understood:"), "{piped:?}");
}
