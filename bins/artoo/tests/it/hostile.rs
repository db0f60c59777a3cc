//! Hostile text from files, models and the request on a real terminal: control characters are escaped.

use serde_json::{Value, json};

use crate::pty::{Pty, QUESTION};
use crate::server::{ReceivedRequest, Reply, Server, understood};
use crate::world::World;

/// Characters that control a terminal or reorder text: C0, C1, CSI, OSC and DCS sequences, bidi marks, zero width.
const PAYLOAD: &str = "x\u{1b}[2J\u{1b}[1;1H\u{1b}]0;title\u{7}\u{9b}31m\u{202e}y\u{200b}\u{7f}\rz\u{1b}]52;c;aGk=\u{7}\u{1b}]8;;u\u{1b}\\\u{90}q\u{9c}\u{feff}\u{2066}";

/// A model whose texts all contain the control characters of `PAYLOAD`; it reads a file and asks to delete one.
fn hostile(asked: &ReceivedRequest) -> Reply {
    let criteria =
        json!([{"criterion": format!("the listing names 3 files and says {PAYLOAD} of each"), "mode": "verifiable"}]);
    let act = |tool: &str, input: Value| {
        Reply::Json(json!({
            "calls": [{"tool": tool, "input": input}], "answer_is_output": false, "status": "completed", "output": PAYLOAD,
            "reason": PAYLOAD
        }))
    };
    match (asked.schema.as_str(), asked.nth) {
        ("task_spec", 0) => Reply::Json(json!({
            "task_id": PAYLOAD, "intent": PAYLOAD, "constraints": {"scope": PAYLOAD, "deadline": null},
            "question": format!("{PAYLOAD}\n{QUESTION} yes, n no")
        })),
        ("task_spec", _) => understood(&format!("tidy up {PAYLOAD}")),
        ("plan", _) => Reply::Json(json!({
            "task_criteria": criteria,
            "subtasks": [{"intent": format!("list what is there {PAYLOAD}"), "context": PAYLOAD, "sequence": 1, "tools": ["read_file", "files", "glob"],
                          "success_criteria": criteria}]
        })),
        ("execution", 0) => act("read_file", json!({"path": format!("things/{PAYLOAD}.txt")})),
        ("execution", 1) => act("glob", json!({"root": "things"})),
        ("execution", 2) => act("files", json!({"act": "delete", "paths": [format!("things/{PAYLOAD}.txt")]})),
        ("execution", _) => Reply::Json(json!({
            "calls": [], "answer_is_output": false, "status": "completed", "output": format!("{PAYLOAD}\n{PAYLOAD}"),
            "reason": PAYLOAD
        })),
        _ => {
            let verdicts: Vec<Value> = (1..=asked.criteria)
                .map(|number| {
                    json!({"number": number, "verdict": "pass", "cites": asked.evidence(), "evidence": PAYLOAD,
                           "failure_class": null})
                })
                .collect();
            Reply::Json(json!({"verdicts": verdicts, "what_to_do": PAYLOAD}))
        }
    }
}

/// The characters in raw output that a terminal would act on instead of showing; line breaks and artoo's own do not
/// count.
fn acted_on(raw: &str) -> Vec<char> {
    // The moving line is removed by one sequence of artoo's own.
    raw.replace("\r\n", "\n")
        .replace("\r\u{1b}[K", "")
        .chars()
        .filter(|c| *c != '\n' && artoo_proto::escape::one_line(&c.to_string()) != c.to_string() && *c != '\\')
        .collect()
}

/// The command that runs artoo without colour, so that artoo itself sends no control sequence.
fn plain(world: &World, arguments: &[&str]) -> std::process::Command {
    let mut command = world.command(arguments);
    command.env("NO_COLOR", "1");
    command
}

/// Control characters in file names, file contents and model texts never reach the terminal.
#[doc = "holds: law 0.12; fault L33; design H2"]
#[test]
fn untrusted_control_bytes_never_reach_terminal() {
    for arguments in [&[][..], &["--json"], &["--quiet"]] {
        let world = World::new();
        world.file(format!("things/{PAYLOAD}.txt"), format!("{PAYLOAD}\n"));
        let server = Server::start(hostile);
        let words = format!("look at {PAYLOAD}");
        let mut command = world.with_model(&server, &[arguments, &[words.as_str()]].concat());
        command.env("NO_COLOR", "1");
        let mut pty = Pty::start(&command, 100);
        // Events of `--json` can follow a prompt, so its row need not be the cursor's.
        let prompts = |shown: &str, prompt: &str| shown.lines().filter(|line| line.starts_with(prompt)).count();
        pty.wait("the question", |pty| prompts(&pty.screen(), "Your answer") == 1);
        pty.send("this\r");
        pty.wait("the consent", |pty| prompts(&pty.screen(), QUESTION) == 1);
        pty.send("?\r");
        let questions = |shown: &str| prompts(shown, QUESTION);
        pty.wait("the details", |pty| questions(&pty.screen()) == 2);
        pty.send("y\r");
        let (_, _, shown) = pty.ended_with_bytes();
        assert_eq!(acted_on(&shown), Vec::<char>::new(), "{arguments:?}: {shown}");
        assert!(shown.contains("\\u{1b}[2J") || shown.contains("\\u001b[2J"), "it was shown, escaped: {shown}");
        assert_eq!(questions(&shown), 2, "nothing else asks in our name: {shown}");
        assert!(!world.home().join(format!("things/{PAYLOAD}.txt")).exists(), "what was allowed was done");
        world.check_kept();
        // What is kept is shown again by other commands, on a terminal as well.
        for arguments in [&["evidence", "list"][..], &["rules", "list"], &["audit"]] {
            let (code, _, shown) = Pty::start(&plain(&world, arguments), 100).ended_with_bytes();
            assert_eq!((code, acted_on(&shown)), (0, vec![]), "{arguments:?}: {shown}");
        }
        let listed: Value = serde_json::from_str(&world.run(&["evidence", "list", "--json"]).stdout).unwrap();
        for call in listed["calls"].as_array().unwrap() {
            let id = call["evidence_id"].as_str().unwrap();
            let (code, _, shown) = Pty::start(&plain(&world, &["evidence", "show", id]), 100).ended_with_bytes();
            assert_eq!((code, acted_on(&shown)), (0, vec![]), "{id}: {shown}");
        }
    }
}
