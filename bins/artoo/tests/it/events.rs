//! The JSON lines of `--json`: the first names the schema, the last is the result.

use serde_json::{Value, json};

use crate::server::{Reply, Server, call, pass, prose, understood};
use crate::world::{RunOutput, World};

/// All JSON lines of a run; asserts that the first names the schema and that the last is the result or an error.
fn lines(ran: &RunOutput) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let lines: Vec<Value> = ran.stdout.lines().map(parse).collect();
    let first = &lines[0];
    assert_eq!((&first["event"], &first["schema"]), (&json!("schema"), &json!("artoo.events/0")));
    assert_eq!(first["stable"], false);
    let last = &lines[lines.len() - 1];
    assert!(last["event"] == "result" || last["event"] == "error", "{last}");
    assert_eq!(last["exit_code"], json!(ran.code.unwrap()));
    lines
}

/// The field names of a JSON object.
fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Programs that code hands to the tools are shown as the command that a person would type.
#[test]
fn pipeline_event_shows_shell_command() {
    let world = World::new().with_things();
    let ran = world.run(&["--json", "how many words are in '~/things/note 5.txt'"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let digests: Vec<Value> = lines(&ran).into_iter().map(|line| line["digest"].clone()).collect();
    let starts = |start: &str| digests.iter().any(|digest| digest.as_str().is_some_and(|text| text.starts_with(start)));
    assert!(starts(r#"shell {"command":"env LC_ALL=C grep -a -F -e '' -- '/"#), "{digests:#?}");
    assert!(starts(r#"Ok shell: {"command":"env LC_ALL=C grep "#), "{digests:#?}");
}

/// The JSON lines of a task go from the schema over its messages to the result.
#[test]
fn json_events_run_from_schema_to_result() {
    let world = World::new().with_things();
    let ran = world.run(&["--json", "how many files are in ~/things"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let lines = lines(&ran);
    assert_eq!(lines[1]["event"], "started");
    assert_eq!(lines[1]["request"], "how many files are in ~/things");
    assert_eq!(lines[1]["model"], "reflex");
    let said: Vec<String> = lines
        .iter()
        .filter(|line| line["event"] == "message")
        .map(|line| format!("{} {} {}", line["kind"], line["from"], line["to"]))
        .collect();
    let wanted = r#""task_spec" "perceiver" ["planner","meta_validator","solver"]"#;
    assert!(said.iter().any(|line| line == wanted), "{said:#?}");
    assert!(said.iter().any(|line| line.starts_with(r#""final_result" "solver""#)), "{said:#?}");
    let seqs: Vec<u64> = lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
    let started = |line: &&Value| line["event"] == "effect_started" && line["effect"]["kind"] == "tool";
    let call = lines.iter().find(started).unwrap();
    assert_eq!(call["effect"]["tool"], "glob");
    let ended = lines.iter().find(|line| line["event"] == "effect_finished" && line["effect_id"] == call["effect_id"]);
    assert_eq!(ended.unwrap()["ok"], true);
    let audit = &lines[lines.len() - 2];
    assert_eq!(audit["event"], "audit");
    assert_eq!(audit["report"]["tasks_observed"], 1, "{audit}");
    assert_eq!(audit["report"]["boundary_violations"], json!([]), "{audit}");
    assert_eq!(audit["report"]["anomalies"], json!([]), "{audit}");
    let last = &lines[lines.len() - 1];
    assert_eq!(last["result"]["task_id"], lines[1]["task_id"]);
    check_last(last);
}

/// Asserts the field names of the last JSON line of a run and of the result in it.
#[track_caller]
fn check_last(last: &Value) {
    assert_eq!(
        names(last),
        [
            "answered_by",
            "audit_log",
            "coverage",
            "event",
            "exit_code",
            "problems",
            "questions",
            "result",
            "spending",
            "unasked",
            "undo",
            "usage"
        ]
    );
    let result = &last["result"];
    assert_eq!(
        names(result),
        [
            "answers",
            "assumptions",
            "basis",
            "coverage",
            "criteria",
            "decision",
            "delivered_round",
            "denied",
            "directive",
            "grad_l",
            "loss",
            "next_steps",
            "output",
            "prev_directive",
            "replans",
            "summary",
            "suspect",
            "task_id",
            "unverified"
        ]
    );
    assert_eq!((&result["directive"], &result["basis"]), (&json!("accept"), &json!("checked")));
    assert_eq!((&result["output"], &last["problems"]), (&json!("13"), &json!([])));
    assert_eq!(names(&result["loss"]), ["D", "L", "Omega", "P"]);
}

/// A denied action appears in the JSON lines as a question and its answer.
#[doc = "holds: law 1.13"]
#[test]
fn denied_action_emits_question_and_answer() {
    let world = World::new().with_things();
    let request = "remove old files from ~/things";
    let server = Server::start(move |asked| match asked.schema.as_str() {
        "task_spec" => understood(request),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("nothing old is left")],
            "subtasks": [{"intent": "tidy up", "context": "", "sequence": 1, "tools": ["shell"],
                          "success_criteria": [prose("no old file is listed")]}]
        })),
        "execution" => call("shell", &json!({"command": "rm -rf things"})),
        _ => pass(asked, &[]),
    });
    let ran = RunOutput::of(world.with_model(&server, &["--json", request]).output().unwrap());
    let lines = lines(&ran);
    let of =
        |event: &str| lines.iter().find(|line| line["event"] == event).unwrap_or_else(|| panic!("{event}: {ran:#?}"));
    assert_eq!(of("consent_asked")["action"], "rm -rf things");
    assert!(of("consent_asked")["reason"].is_string());
    assert_eq!(of("consent_answered")["allowed"], false);
    let last = &lines[lines.len() - 1];
    assert_eq!(ran.code, Some(6));
    assert_eq!(last["result"]["directive"], "abandon");
    assert_eq!(last["result"]["reason"]["kind"], "consent_needed");
    assert_eq!(last["result"]["denied"][0]["action"], "shell: rm -rf things");
    assert!(last["usage"]["executor"]["model_calls"].as_u64() >= Some(1), "{last}");
}

#[test]
fn failed_start_emits_an_error_event() {
    let world = World::new();
    let ran = world.run(&["--json", "--model", "cassette:/nowhere", "count files"]);
    let lines = lines(&ran);
    assert_eq!(ran.code, Some(2));
    assert_eq!(names(&lines[1]), ["event", "exit_code", "message", "remedy"]);
    let doctor = world.run(&["doctor", "--json"]);
    let value: Value = serde_json::from_str(&doctor.stdout).unwrap();
    assert_eq!((&value["schema"], &value["ok"]), (&json!("artoo.doctor/0"), &json!(true)));
    assert!(value["findings"].as_array().unwrap().iter().any(|finding| finding["name"] == "tools"), "{value}");
}

/// File names with control characters are escaped in results, and reach programs unchanged where content is data.
#[doc = "holds: design H2"]
#[test]
fn hostile_names_are_escaped_for_terminals_only() {
    let world = World::new();
    let name = "odd\u{1b}[2J\u{9b}31m\u{202e}\u{200b}.txt";
    world.file(format!("things/{name}"), "x");
    let ran = world.run(&["--json", "list the text files in ~/things"]);
    let lines = lines(&ran);
    let output = lines[lines.len() - 1]["result"]["output"].as_str().unwrap().to_owned();
    assert!(output.ends_with(r"odd\u{1b}[2J\u{9b}31m\u{202e}\u{200b}.txt"), "{output}");
    // A file's content is data: it arrives as it is, through escapes that JSON itself undoes.
    let content = "a\u{9b}2Jb\u{202e}c\u{7f}d";
    world.file("things/text", content);
    let ran = world.run(&["--json", "show the first line of ~/things/text"]);
    let lines = self::lines(&ran);
    assert_eq!(lines[lines.len() - 1]["result"]["output"], content, "{ran:?}");
}
