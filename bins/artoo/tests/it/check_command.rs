//! `check-command`: refusal and risks of a command from its words, with nothing run.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::world::{RunOutput, World};

#[test]
fn one_command_is_assessed_and_not_run() {
    let world = World::new();
    let ran = world.run(&["check-command", "--json", "rm -rf ~/things && touch made"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let assessed: Value = serde_json::from_str(&ran.stdout).unwrap();
    let expected = serde_json::json!({
        "command": "rm -rf ~/things && touch made", "class": "irreversible", "refused": null, "risks": ["deletes files"],
    });
    assert_eq!(assessed, expected);
    assert!(!world.home().join("made").exists());
    for (command, words) in [
        ("rm -rf ~/things", "not refused; it may do this, as its words say: deletes files"),
        ("ls -la", "not refused; its words show no known risk, which proves nothing"),
        ("ls -la", "`artoo try \"<command>\"` shows what it would really change"),
        ("sudo reboot", "refused: reboot shuts down, restarts or suspends this machine, which artoo never does"),
    ] {
        let ran = world.run(&["check-command", command]);
        assert!(ran.stdout.contains(words) && !ran.stdout.contains("read"), "{ran:?}");
    }
}

/// `check-command -` prints one assessment for each line of standard input.
#[test]
fn each_json_line_gets_one_assessment_line() {
    let world = World::new();
    let mut command = world.command(&["check-command", "--json", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let commands = ["ls -la", "rm -rf /", "cat <<'EOF'\nrm -rf ~\nEOF", "echo \u{1b}[2J"];
    let lines: String = commands.iter().map(|text| serde_json::to_string(text).unwrap() + "\n").collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ran = RunOutput::of(child.wait_with_output().unwrap());
    let assessed: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused: Vec<bool> = assessed.iter().map(|one| one["refused"].is_string()).collect();
    assert_eq!(refused, [false, true, false, false], "{assessed:?}");
    assert!(commands.iter().zip(&assessed).all(|(text, one)| one["command"] == **text));
}

#[test]
fn invalid_json_line_is_reported_by_number() {
    let world = World::new();
    let mut child = world.command(&["check-command", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\"ls\"\nls\n").unwrap();
    let ran = RunOutput::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("line 2 of standard input"), "{ran:?}");
}
