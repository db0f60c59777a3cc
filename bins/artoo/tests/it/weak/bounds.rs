//! Every text and list in the reply schemas has a maximum length.
//!
//! A weak model that runs on stops nowhere else, where its server keeps to the schema.

use serde_json::Value;

use super::{jobs, tasks};
use crate::server::Server;
use crate::world::{RunOutput, World};

/// The places in a JSON schema that allow a text or list of any length; of alternatives, as a model server treats them.
fn endless(schema: &Value, place: &str) -> Vec<String> {
    let below = |name: &str, part: &Value| endless(part, &format!("{place}/{name}"));
    for alternatives in ["oneOf", "anyOf"] {
        if let Some(parts) = schema[alternatives].as_array() {
            return parts.iter().flat_map(|part| below(alternatives, part)).collect();
        }
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return Vec::new();
    }
    let is =
        |name: &str| schema["type"] == name || schema["type"].as_array().is_some_and(|all| all.contains(&name.into()));
    let mut found = Vec::new();
    if is("string") && !schema["maxLength"].is_u64() {
        found.push(format!("{place}: a text"));
    }
    if is("array") {
        found.extend((!schema["maxItems"].is_u64()).then(|| format!("{place}: a list")));
        found.extend(below("items", &schema["items"]));
    }
    if is("object") {
        found.extend((schema["additionalProperties"] != false).then(|| format!("{place}: an object")));
        let fields = schema["properties"].as_object().into_iter().flatten();
        found.extend(fields.flat_map(|(name, part)| below(name, part)));
    }
    if schema.get("type").is_none() {
        found.push(format!("{place}: anything"));
    }
    found
}

/// Every reply schema sent to a model limits the length of each text and list.
#[test]
fn every_requested_reply_has_length_limit() {
    let world = World::new().with_things();
    let server = Server::start(|asked| tasks::judges_alone(jobs::list_markdown()).scripted(asked));
    // Of a request that facts show whole, no model would judge the task.
    let ran = RunOutput::of(
        world.with_model(&server, &["say something about the markdown files in ~/things"]).output().unwrap(),
    );
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert_eq!(server.schemas(), ["task_spec", "plan", "execution", "subtask_verdict", "task_verdict"]);
    for asked in server.asked() {
        let schema = &asked.body["response_format"]["json_schema"]["schema"];
        assert_eq!(endless(schema, &asked.schema), Vec::<String>::new());
    }
}
