//! Tests that log entries are redacted, escaped and limited in length.

use artoo_bus::TapEvent;
use artoo_proto::{Address, CallStatus, ExecutionStatus, Role, ToolCall};
use serde_json::{Value, json};

use super::{AuditEvent, EVENT_MAX_BYTES, Note};
use crate::finding::{Finding, Rule};
use crate::testing::{Bench, at, call, execution, request, task};

/// The log entry for this message published on a bus, as JSON.
fn entry(message: impl Into<artoo_proto::Message>) -> Value {
    written(&AuditEvent::seen(&Bench::default().publish(message), vec![]))
}

/// A log entry as JSON.
fn written(event: &AuditEvent) -> Value {
    let mut text = b"{".to_vec();
    event.write(&mut text).unwrap();
    text.push(b'}');
    serde_json::from_slice(&text).unwrap()
}

/// A short message is in the log entry with all of its fields.
#[test]
fn short_message_is_stored_whole() {
    let entry = entry(request(1));
    assert_eq!(entry["event"], "message");
    assert_eq!(entry["tap"], 0);
    assert_eq!(entry["at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(entry["envelope"]["message"]["type"], "user_request");
    assert_eq!(entry["envelope"]["message"]["content"]["raw_input"], "how many files are here?");
    assert_eq!(entry["envelope"]["to"], json!(["perceiver", "solver"]));
    assert!(entry.get("findings").is_none());
}

#[doc = "holds: design H7"]
#[test]
fn texts_are_shortened_and_secrets_redacted() {
    let mut result = execution(1, ExecutionStatus::Completed, vec![]);
    let mut leak = call("shell", CallStatus::Ok, &format!("OPENAI_API_KEY=sk-{} \u{1b}[2J", "a1".repeat(20)));
    leak.input = json!({ "command": "env", "password": "hunter2", "header": "Bearer abcdefgh1234" });
    result.tool_calls.push(leak);
    result.output = "x".repeat(50_000);
    let text = entry(result).to_string();
    for secret in ["a1a1", "hunter2", "abcdefgh1234", "\u{1b}"] {
        assert!(!text.contains(secret), "{secret:?} in {text}");
    }
    assert!(text.contains("[redacted] \\\\u{1b}[2J"), "{text}");
    assert!(text.contains("… [48000 more characters]"), "{text}");
    assert!(text.len() < 4_000, "{}", text.len());
}

/// A log entry never exceeds its maximum length, however large the event.
#[test]
fn event_never_exceeds_its_limit() {
    // Many texts of medium length: the tighter limit makes the event fit.
    let calls = (0..100).map(|_| call("shell", CallStatus::Ok, &"ä".repeat(1_900))).collect();
    let tight = entry(execution(1, ExecutionStatus::Completed, calls));
    assert!(tight.to_string().len() <= EVENT_MAX_BYTES + 200);
    assert!(
        tight["envelope"]["message"]["content"]["tool_calls"][0]["output"].as_str().unwrap().contains("[1780 more")
    );
    // Too many fields for any limit: only the identifying ones are stored, with a note of what is left out.
    let calls = (0..5_000).map(|_| call("shell", CallStatus::Ok, "x")).collect();
    let many = entry(execution(1, ExecutionStatus::Completed, calls));
    assert_eq!(many["envelope"]["message"]["content"]["tool_calls"].as_array().unwrap().len(), 129);
    let mut wide = call("shell", CallStatus::Ok, "x");
    wide.input = (0..20_000).map(|n| (n.to_string(), json!(n))).collect::<serde_json::Map<_, _>>().into();
    let left_out = entry(execution(1, ExecutionStatus::Completed, vec![wide]));
    assert_eq!((&left_out["event"], &left_out["type"]), (&json!("message"), &json!("execution_result")));
    assert!(left_out["left_out_bytes"].as_u64().unwrap() > EVENT_MAX_BYTES as u64);
    assert!(left_out.to_string().len() < 2_000);
}

/// Log entries of gaps, panics, ignored inputs and dropped deliveries name their kind and finding; that of a note has
/// its fields.
#[test]
fn every_tap_event_kind_has_an_entry() {
    let address = Address::of(Role::Planner, Some(&task(1)), None);
    for (event, name) in [
        (TapEvent::Gap { missing: 2 }, "gap"),
        (TapEvent::Panicked { address: address.clone(), detail: "x".to_owned() }, "panicked"),
        (TapEvent::Ignored { address: address.clone(), detail: "x".to_owned() }, "ignored"),
        (TapEvent::Dropped { seq: 1, to: address, reason: "x".to_owned() }, "dropped"),
    ] {
        let finding = Finding::new(Rule::Ignored, "two\nlines");
        let entry = written(&AuditEvent::seen(&Bench::default().sees(event), vec![finding]));
        assert_eq!(entry["event"], name);
        assert_eq!(entry["findings"], json!([{ "rule": "ignored", "detail": "two\\nlines" }]));
    }
    let note = written(&AuditEvent::note(at(0), Note::LogOpened { lines: 3 }));
    assert_eq!(note, json!({ "at": "2026-01-01T00:00:00.000Z", "event": "log_opened", "lines": 3 }));
}

#[test]
fn notes_about_calls_are_redacted_and_bounded() {
    let ended = |output: &str, input: Value| {
        let call = Box::new(ToolCall { input, ..call("shell", CallStatus::Ok, output) });
        let note = written(&AuditEvent::note(at(0), Note::CallEnded { task_id: task(1), call }));
        assert_eq!((&note["event"], &note["task_id"]), (&json!("call_ended"), &json!(task(1))));
        assert!(note.to_string().len() <= EVENT_MAX_BYTES + 200);
        note
    };
    let note = ended(&"x".repeat(50_000), json!({"command": "env", "password": "hunter2"}));
    assert_eq!((&note["call"]["input"]["password"], &note["call"]["status"]), (&json!("[redacted]"), &json!("ok")));
    let wide: serde_json::Map<_, _> = (0..20_000).map(|n| (n.to_string(), json!(n))).collect();
    assert!(ended("", wide.into())["left_out_bytes"].as_u64().unwrap() > EVENT_MAX_BYTES as u64);
}

/// Each rule is written to the log under its own name.
#[test]
fn rules_are_written_by_name() {
    for rule in Rule::ALL {
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
    }
}
