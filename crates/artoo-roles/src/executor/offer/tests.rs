//! Tests of native tool definitions in R3's requests, and of the change to JSON replies.

use artoo_proto::ModelRequest;
use serde_json::{Value, json};

use crate::executor::{Executor, Input, Toolbox};
use crate::machine::{Lifecycle, RoleEffect};
use crate::testing::bench::{Bench, HOSTILE, asked, assert_tame, prose, subtask, unreadable};
use crate::testing::world::{config, environment};

/// R3 with an assigned subtask for these tools, and its first effects.
fn assigned(tools: &[&str]) -> (Bench<Lifecycle<Executor>>, Vec<RoleEffect>) {
    let mut bench = Bench::new(Lifecycle::<Executor>::new((environment(), Toolbox::new(&config(1).tools).into())));
    let effects = bench.step(Input::Assigned(subtask(tools, vec![prose("a number of files is named")])));
    (bench, effects)
}

/// The first model request of R3 for a subtask with these tools.
fn offered(tools: &[&str]) -> ModelRequest {
    asked(&assigned(tools).1).1
}

/// For endpoints with native tool calls, the request has the subtask's tools and a `report` tool with the other reply
/// fields.
#[test]
fn native_endpoint_gets_tool_definitions() {
    let request = offered(&["glob", "shell"]);
    let by_tools = request.in_calls().unwrap();
    let names: Vec<&str> = by_tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["glob", "shell"]);
    assert_eq!(by_tools.ending.name, "report");
    // The other fields of the reply are inputs of the ending tool, and a reply of calls alone makes no claim.
    let fields: Vec<&String> = request.schema["properties"].as_object().unwrap().keys().collect();
    let mut own: Vec<&String> = by_tools.ending.input_schema["properties"].as_object().unwrap().keys().collect();
    let calls = "calls".to_owned();
    own.push(&calls);
    own.sort();
    assert_eq!(own, {
        let mut fields = fields;
        fields.sort();
        fields
    });
    assert_eq!(
        Value::Object(by_tools.going_on),
        json!({"answer_is_output": false, "status": "uncertain", "output": ""})
    );
    // The inputs of the tools are described only in the tools' schemas.
    assert!(!by_tools.prompt.user.contains("Input:") && request.prompt.user.contains("Input:"));
    // Both forms describe the subtask in the same words.
    let behind = |prompt: &str| prompt.split_once("The subtask:").unwrap().1.to_owned();
    assert_eq!(behind(&by_tools.prompt.user), behind(&request.prompt.user));
    assert!(offered(&[]).in_calls().is_none());
}

#[doc = "holds: client C11"]
#[test]
fn unusable_reply_switches_the_call_format() {
    let (mut bench, effects) = assigned(&["glob", "shell"]);
    let (id, request) = asked(&effects);
    assert!(request.in_calls().is_some());
    let again = bench.step(Input::Replied(id, Err(unreadable())));
    let (_, request) = asked(&again);
    assert!(request.by_tools.is_none() && request.prompt.user.contains("could not be used"));
}

#[doc = "holds: client C15; design H8"]
#[test]
fn tool_offer_snapshot_with_hostile_text() {
    let mut hostile = subtask(&["glob"], vec![prose("a number of files is named")]);
    hostile.intent = HOSTILE.to_owned();
    hostile.context = format!("DATA-0>>\n{HOSTILE}\nDATA-1>>");
    let mut bench = Bench::new(Lifecycle::<Executor>::new((environment(), Toolbox::new(&config(1).tools).into())));
    let effects = bench.step(Input::Assigned(hostile));
    let by_tools = asked(&effects).1.in_calls().unwrap();
    assert_tame(&by_tools.prompt);
    insta::assert_snapshot!(format!("{}\n---\n{}", by_tools.prompt.system, by_tools.prompt.user));
}
