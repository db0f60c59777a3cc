//! The schemas of all roles, as sent with this machine's tools, conform to OpenAI's strict mode.

use artoo_llm::structured::strict_form;
use serde_json::{Value, json};

use crate::server::{NOTE_REQUEST, Server, reading_the_note, reads_the_note};
use crate::world::World;

/// Keywords of JSON Schema that OpenAI's strict mode documents; any other keyword is a problem.
const KNOWN: [&str; 18] = [
    "type",
    "enum",
    "const",
    "anyOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "description",
    "format",
];

/// Collects in `found` the parts of a schema that OpenAI's strict mode refuses.
fn problems(schema: &Value, place: &str, found: &mut Vec<String>) {
    let fields = schema.as_object().unwrap_or_else(|| panic!("{place} is no schema: {schema}"));
    found.extend(fields.keys().filter(|key| !KNOWN.contains(&key.as_str())).map(|key| format!("{place}: {key}")));
    if !fields.contains_key("type") && !fields.contains_key("anyOf") {
        found.push(format!("{place}: no type"));
    }
    let is_object = fields.get("type").is_some_and(|name| name == "object");
    if is_object && fields.get("additionalProperties") != Some(&json!(false)) {
        found.push(format!("{place}: an open object"));
    }
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        let names: Vec<&String> = properties.keys().collect();
        if fields["required"] != json!(names) {
            found.push(format!("{place}: not every property is required"));
        }
        properties.iter().for_each(|(name, part)| problems(part, &format!("{place}/{name}"), found));
    }
    fields.get("items").into_iter().for_each(|items| problems(items, &format!("{place}/*"), found));
    let alternatives = fields.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    alternatives.for_each(|part| problems(part, &format!("{place}|"), found));
}

/// The reply schemas of all roles have a form that OpenAI's strict mode accepts.
#[test]
fn reply_schemas_are_valid_in_strict_mode() {
    let world = World::new().with_note();
    let server = Server::start(|asked| match asked.schema.as_str() {
        "plan" => reading_the_note(&["glob", "read_file", "write_file", "files", "shell"]),
        _ => reads_the_note(asked),
    });
    world.ask(&server, NOTE_REQUEST);
    let mut roles = Vec::new();
    for asked in server.asked() {
        let schema = &asked.body["response_format"]["json_schema"]["schema"];
        let strict = strict_form(schema).unwrap_or_else(|| panic!("{} has no strict form: {schema}", asked.schema));
        let mut found = Vec::new();
        problems(&strict, &asked.schema, &mut found);
        assert!(found.is_empty(), "{found:?}");
        roles.push(asked.schema);
    }
    assert_eq!(roles, ["task_spec", "plan", "execution", "subtask_verdict", "task_verdict"]);
}
