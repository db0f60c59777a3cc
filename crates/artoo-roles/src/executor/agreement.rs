//! Tests that the schema of R3's reply and the type that reads it agree, with this machine's tools and with others.

use artoo_proto::{ExecutionStatus, ToolClass, ToolRequest, ToolSpec};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::prompt;
use super::toolbox::worded;
use super::turn::Turn;
use crate::agreement::{every_length_is_bounded, text, values, whatever_fits_is_read, whatever_is_written_fits};
use crate::limits::{CALLS_PER_REPLY, REPLY_ITEMS, REPLY_REMARK_CHARS, REPLY_TEXT_CHARS};
use crate::testing::world::{environment, tool};

/// The part of the schema without limits: the input of a call, which only servers that enforce a schema and the tool
/// itself check.
const OPEN: [&str; 1] = ["/calls/*/input"];

/// The tools that artoo has on this machine, for the schema tests.
fn own() -> Vec<ToolSpec> {
    artoo_tools::Registry::detect(artoo_tools::ToolConfig::new(environment())).specs()
}

/// Invented tools with unusual schemas: lists of types, limits that are too wide, nested lists, alternatives.
fn foreign() -> Vec<ToolSpec> {
    let with = |name: &str, input_schema: Value| ToolSpec { input_schema, ..tool(name, ToolClass::Text, 9) };
    let closed = |properties: Value| json!({"type": "object", "additionalProperties": false, "properties": properties});
    vec![
        with(
            "lists",
            closed(json!({
                "maybe": {"type": ["string", "null"]},
                "either": {"type": ["array", "string"], "items": {"type": ["null", "string"], "description": "a word"}},
                "wide": {"type": "string", "maxLength": 9_000_000},
                "narrow": {"type": "array", "maxItems": 2, "items": {"type": "array", "items": {"type": "integer"}}}
            })),
        ),
        with(
            "choices",
            closed(json!({
                "type": {"type": "string", "enum": ["a", "b"]},
                "description": {"anyOf": [{"type": "string"}, closed(json!({"x": {"type": "array", "items": {"type": "boolean"}}}))]}
            })),
        ),
    ]
}

/// The tools of this machine and the invented ones of [`foreign`].
fn all() -> Vec<ToolSpec> {
    own().into_iter().chain(foreign()).collect()
}

#[doc = "holds: law 3.11; fault L23"]
#[test]
fn executor_schema_bounds_every_length() {
    assert!(own().len() > 3, "{:?}", own());
    for tools in [Vec::new(), own(), foreign(), all()] {
        let schema = prompt::schema(&worded(&tools));
        every_length_is_bounded(&schema, if tools.is_empty() { &["/calls/*", "/calls/*/input"] } else { &OPEN });
    }
    let schema = prompt::schema(&worded(&foreign()));
    let input = &schema["properties"]["calls"]["items"]["oneOf"][0]["properties"]["input"]["properties"];
    let bounds = [&input["wide"]["maxLength"], &input["maybe"]["maxLength"], &input["either"]["maxItems"]];
    assert_eq!(bounds, [&json!(REPLY_TEXT_CHARS), &json!(REPLY_TEXT_CHARS), &json!(REPLY_ITEMS)]);
    assert_eq!(input["narrow"]["maxItems"], 2, "a bound of its own stays");
}

#[doc = "holds: law 3.11; fault L23"]
#[test]
fn executor_schema_agrees_with_its_type() {
    for tools in [Vec::new(), foreign(), all()] {
        let schema = prompt::schema(&worded(&tools));
        whatever_fits_is_read::<Turn>(&schema);
        let call = |tool: &ToolSpec| {
            let name = tool.name.clone();
            values(&tool.input_schema).prop_map(move |input| ToolRequest { tool: name.clone(), input }).boxed()
        };
        let calls = match tools.as_slice() {
            [] => Just(Vec::new()).boxed(),
            tools => vec(proptest::strategy::Union::new(tools.iter().map(call)), 0..=CALLS_PER_REPLY).boxed(),
        };
        let status = prop_oneof![
            Just(ExecutionStatus::Completed),
            Just(ExecutionStatus::Uncertain),
            Just(ExecutionStatus::Failed)
        ];
        let turns = (calls, any::<bool>(), status, text(REPLY_TEXT_CHARS), of(text(REPLY_REMARK_CHARS))).prop_map(
            |(calls, answer_is_output, status, output, reason)| Turn {
                calls,
                answer_is_output,
                status,
                output,
                reason,
            },
        );
        whatever_is_written_fits(&schema, turns, |turn| serde_json::to_value(turn).unwrap());
    }
}
