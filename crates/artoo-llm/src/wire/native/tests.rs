//! Tests of converting native tool calls to a reply, and of calls that are refused.

use artoo_proto::{ByTools, OfferedTool, Prompt};
use serde_json::{Value, json};

use super::{can_be_offered, reply};
use crate::wire::Fault;
use crate::wire::calls::{Calls, Piece};

/// A sample tool with this name and input schema.
fn tool(name: &str, input_schema: Value) -> OfferedTool {
    OfferedTool { name: name.to_owned(), description: "Does it.".to_owned(), input_schema }
}

/// Sample tools: two to work with and the one that ends the work.
fn tools() -> ByTools {
    let path = json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
    let ending = json!({
        "type": "object", "additionalProperties": false, "required": ["output"],
        "properties": {"output": {"type": "string"}, "sure": {"type": "boolean"}}
    });
    ByTools {
        prompt: Prompt { system: "s".to_owned(), user: "u".to_owned() },
        tools: vec![
            tool("read_file", path.clone()),
            tool("notes.find", path),
            tool("clock", json!({"type": "object", "properties": {}})),
        ],
        ending: tool("finish", ending),
        going_on: json!({"output": "", "sure": false}).as_object().unwrap().clone(),
    }
}

/// A sample schema of a reply with calls, an output and an optional field.
fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["calls", "output"],
        "properties": {
            "calls": {"type": "array", "maxItems": 3},
            "output": {"type": "string"},
            "sure": {"type": "boolean"}
        }
    })
}

/// The reply, or the error, that these tool calls (name and input) are converted to.
fn came_to(made: &[(&str, &str)]) -> Result<Value, Fault> {
    let mut calls = Calls::default();
    for (name, input) in made {
        let piece = Piece { name: Some((*name).to_owned()), input: Some(json!(input)), ..Piece::default() };
        calls.decode_whole(piece).unwrap();
    }
    reply(&tools(), calls.all(), &schema())
}

/// Native tool calls are converted to the reply that the schema describes.
#[doc = "holds: client C10"]
#[test]
fn native_calls_become_the_reply() {
    let check = |made: &[(&str, &str)], expected: Value| assert_eq!(came_to(made), Ok(expected), "{made:?}");
    let read = json!({"tool": "read_file", "input": {"path": "a"}});
    let find = json!({"tool": "notes.find", "input": {"path": "b"}});
    check(&[("read_file", r#"{"path":"a"}"#)], json!({"calls": [read], "output": "", "sure": false}));
    check(
        &[("read_file", r#" {"path":"a"}"#), ("notes_find", r#"{"path":"b"}"#)],
        json!({"calls": [read, find], "output": "", "sure": false}),
    );
    check(&[("finish", r#"{"output":"3"}"#)], json!({"calls": [], "output": "3", "sure": false}));
    check(
        &[("read_file", r#"{"path":"a"}"#), ("finish", r#"{"output":"","sure":true}"#)],
        json!({"calls": [read], "output": "", "sure": true}),
    );
    // An input that violates the tool's own schema reaches the tool, which reports the error.
    let wrong = json!({"tool": "read_file", "input": {"file": 7}});
    check(&[("read_file", r#"{"file":7}"#)], json!({"calls": [wrong], "output": "", "sure": false}));
    let clock = json!({"tool": "clock", "input": {}});
    check(&[("clock", "")], json!({"calls": [clock], "output": "", "sure": false}));
}

#[doc = "holds: fault L17, L22, L24"]
#[test]
fn malformed_calls_are_never_repaired() {
    let unreadable = |made: &[(&str, &str)], expected: &str| match came_to(made) {
        Err(Fault::Unreadable(problem)) => assert!(problem.contains(expected), "{made:?}: {problem}"),
        other => panic!("{made:?}: {other:?}"),
    };
    unreadable(&[], "called no tool");
    for name in ["Read_file", "read_file ", "read-file", "readfile", "rеad_file", "notes.find", "Finish", ""] {
        unreadable(&[(name, r#"{"path":"a"}"#)], "no such tool");
    }
    // An input must be exactly one JSON text: no prose around it, no repair, no second decoding.
    let inputs = [
        (r#""{\"path\":\"a\"}""#, "string, not object"),
        (r#"[{"path":"a"}]"#, "array, not object"),
        ("null", "null, not object"),
        ("", "empty"),
        (r#"{"path":"a"} {"path":"b"}"#, "malformed"),
        ("```json\n{\"path\":\"a\"}\n```", "malformed"),
        (r#"{"path":"a",}"#, "malformed"),
        (r"{'path':'a'}", "malformed"),
        (r#"{"path":"a","path":"b"}"#, "occurs twice"),
        (r#"{"path":NaN}"#, "malformed"),
        (r#"{"path":1e400}"#, "malformed"),
    ];
    for (input, expected) in inputs {
        unreadable(&[("read_file", input)], expected);
    }
    unreadable(&[("read_file", &format!("{{\"path\":{}1{}}}", "[".repeat(99), "]".repeat(99)))], "nested deeper");
    unreadable(&[("finish", r#"{"output":"a"}"#), ("finish", r#"{"output":"b"}"#)], "ended twice");
    unreadable(&[("finish", r#"{"output":7}"#)], "not string");
    unreadable(&[("finish", r#"{"output":"a","calls":[{"tool":"rm"}]}"#)], "unknown key");
    unreadable(&[("clock", "{}"), ("clock", "{}"), ("clock", "{}"), ("clock", "{}")], "length of 4");
}

#[doc = "holds: fault L11"]
#[test]
fn truncated_input_is_reported_as_truncated() {
    for input in [r#"{"path":"a"#, r#"{"path""#, "{", r#"{"path":"a""#] {
        assert!(matches!(came_to(&[("read_file", input)]), Err(Fault::Cut(_))), "{input}");
    }
}

/// Tools whose names would be the same after conversion are not offered natively.
#[test]
fn tools_with_ambiguous_names_are_not_offered() {
    let with = |name: &str, schema: Value| {
        let mut tools = tools();
        tools.tools.push(tool(name, schema));
        can_be_offered(&tools)
    };
    let object = || json!({"type": "object"});
    assert!(with("other", object()));
    assert!(!with("notes_find", object()), "two tools under one name");
    assert!(!with("finish", object()), "a tool under the ending's name");
    assert!(!with("other", json!({"anyOf": []})), "an input that is no object");
}
