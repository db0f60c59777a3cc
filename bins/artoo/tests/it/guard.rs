//! `check-command`: the guard's verdict as a program reads it, with nothing run.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::world::{Ran, World};

#[test]
fn one_command_is_judged_and_not_run() {
    let world = World::new();
    let ran = world.run(&["check-command", "--json", "rm -rf ~/things && touch made"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let judged: Value = serde_json::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> = judged.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["ask", "class", "command", "effects", "reason"]);
    assert_eq!((&judged["ask"], &judged["class"]), (&Value::Bool(true), &Value::from("irreversible")));
    assert!(!world.home().join("made").exists());
    let told = world.run(&["check-command", "ls -la"]);
    assert!(told.stdout.contains("runs without asking (read_only)"), "{told:?}");
}

#[test]
fn commands_come_as_json_strings_a_line_and_each_gets_a_line() {
    let world = World::new();
    let mut command = world.command(&["check-command", "--json", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let commands = ["ls -la", "rm -rf /", "cat <<'EOF'\nrm -rf ~\nEOF", "echo \u{1b}[2J"];
    let lines: String = commands.iter().map(|text| serde_json::to_string(text).unwrap() + "\n").collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    let judged: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asks: Vec<bool> = judged.iter().map(|one| one["ask"].as_bool().unwrap()).collect();
    assert_eq!(asks, [false, true, false, true], "{judged:?}");
    assert!(commands.iter().zip(&judged).all(|(text, one)| one["command"] == **text));
}

#[test]
fn a_line_that_is_no_json_string_is_named() {
    let world = World::new();
    let mut child = world.command(&["check-command", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\"ls\"\nls\n").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("line 2 of standard input"), "{ran:?}");
}
