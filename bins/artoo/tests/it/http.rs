//! One task of an honest model through a real process, HTTP and real tools, in two sequence groups.

use std::fs;

use serde_json::json;

use crate::server::{ReceivedRequest, Reply, Server, call, pass, prose, said, understood};
use crate::world::{KEY, RunOutput, World};

const REQUEST: &str = "count the text files in ~/things, then write a report with the number into report.txt";

/// A model's plan: a step that counts files, then one that writes the number to a file.
fn plan() -> Reply {
    Reply::Json(json!({
        "task_criteria": [{"criterion": "report.txt names the number that the search found", "mode": "verifiable"}],
        "subtasks": [
            {"intent": "write what was counted into report.txt", "context": "one sentence", "sequence": 2,
             "tools": ["write_file"],
             "success_criteria": [{"check": {"kind": "file_contains", "path": "report.txt", "text": "text files"}}]},
            {"intent": "search for text files below things", "context": "~/things, names ending in .txt", "sequence": 1,
             "tools": ["glob"],
             "success_criteria": [{"check": {"kind": "file_count", "path": "~/things", "pattern": "*.txt", "recursive": true}}]}
        ]
    }))
}

/// The number that the first group's result shows in the prompt of the second group; "?" if there is none.
fn handed_on(asked: &ReceivedRequest) -> String {
    let mut lines = asked.user.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or("?").to_owned()
}

/// The reply of an honest model to a request of any role.
fn honest(asked: &ReceivedRequest) -> Reply {
    match asked.schema.as_str() {
        "task_spec" => understood(REQUEST),
        "plan" => plan(),
        "execution" if asked.user.contains("search for text files") && asked.nth == 0 => {
            call("glob", &json!({"root": "~/things", "patterns": ["*.txt"], "report": "count"}))
        }
        "execution" => {
            let text = format!("There are {} text files.\n", handed_on(asked));
            call("write_file", &json!({"path": "report.txt", "text": text}))
        }
        _ => pass(asked, &asked.evidence()),
    }
}

/// A task with two groups of subtasks, over HTTP, takes exactly five model calls.
#[doc = "holds: law 3.5; design G17"]
#[test]
fn two_groups_over_http_take_five_calls() {
    let world = World::new().with_things();
    let before = world.snapshot();
    let server = Server::start(honest);
    let ran = world.ask(&server, REQUEST);
    assert_eq!(ran.code, Some(4), "{ran:#?}\n{:#?}", server.asked());
    // Both executors had a check that code decides, so no model judged them.
    assert_eq!(server.schemas(), ["task_spec", "plan", "execution", "execution", "task_verdict"]);
    assert!(server.asked().iter().all(|asked| asked.authorization == format!("Bearer {KEY}")));
    let report = world.workspace().join("report.txt");
    let counted = world.shell("find things -type f -name '*.txt' | wc -l");
    assert_eq!(fs::read_to_string(&report).unwrap(), format!("There are {counted} text files.\n"));
    let mut after = world.snapshot();
    after.remove(&report);
    after.remove(&world.workspace());
    assert_eq!(after, before, "nothing else changed");
    assert!(ran.stderr.contains("5 model calls, 600 tokens"), "{}", ran.stderr);
    world.check_kept();
}

/// The prompt of a correction repeats the criteria and the calls made so far.
#[test]
fn correction_over_http_repeats_criteria_and_calls() {
    let world = World::new().with_things();
    let request = "count the text files in ~/things";
    let server = Server::start(move |asked| match asked.schema.as_str() {
        "task_spec" => understood(request),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("the number of text files is given")],
            "subtasks": [{"intent": "search for text files", "context": "", "sequence": 1, "tools": ["glob"],
                          "success_criteria": [{"check": {"kind": "file_count", "path": "~/things", "pattern": "*.txt",
                                                          "recursive": true}}]}]
        })),
        "execution" if asked.nth == 0 => call("glob", &json!({"root": "~/things", "report": "count"})),
        "execution" => call("glob", &json!({"root": "~/things", "patterns": ["*.txt"], "report": "count"})),
        _ => pass(asked, &asked.evidence()),
    });
    let ran = world.ask(&server, request);
    // Facts show the whole request, so no model judges the task.
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "7\n"), "{ran:#?}\n{:#?}", server.asked());
    assert_eq!(server.schemas(), ["task_spec", "plan", "execution", "execution"]);
    let second = &server.asked()[3].user;
    for told in [
        "CORRECTION (attempt 2)",
        "/things named *.txt, hidden ones included, counted again",
        r#"- glob {"report":"count","root":"~/things"}"#,
    ] {
        assert!(second.contains(told), "{told}: {second}");
    }
}

#[doc = "holds: law 0.4"]
#[test]
fn unverified_text_is_labelled_over_http() {
    let world = World::new();
    let server = Server::start(|asked| match asked.schema.as_str() {
        "task_spec" => understood("write a haiku about rain"),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("it speaks of rain")],
            "subtasks": [{"intent": "the haiku", "context": "", "sequence": 1, "tools": [],
                          "success_criteria": [prose("it has three lines")]}]
        })),
        "execution" => said("completed", "rain\non the \u{1b}[2Jroof\nagain"),
        _ => pass(asked, &[]),
    });
    let ran = world.ask(&server, "write a haiku about rain");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert_eq!(ran.stdout, "rain\non the \\u{1b}[2Jroof\nagain\n", "the answer alone");
    let verdict = "≈ The model's own words. Nothing on this machine was read or changed.\n";
    assert!(ran.stderr.starts_with(verdict), "{}", ran.stderr);
    // A script that wants the words gets exit code 0, and standard error says whose words they are.
    let mut command = world.with_model(&server, &["--accept", "judged", "write a haiku about rain"]);
    let accepted = RunOutput::of(command.output().unwrap());
    assert_eq!((accepted.code, &accepted.stdout), (Some(0), &ran.stdout), "{accepted:?}");
    assert!(accepted.stderr.starts_with(verdict), "{}", accepted.stderr);
}
