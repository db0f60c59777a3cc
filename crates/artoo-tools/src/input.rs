//! The input of a tool: unknown fields, wrong types and sizes are errors that name the field.

use std::path::PathBuf;

use artoo_proto::{Environment, escape};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::paths;
use crate::record::Record;

/// The record of an input that breaks a rule of its tool.
pub(crate) fn unfit(reason: impl Into<String>) -> Box<Record> {
    Box::new(Record::unusable(reason))
}

/// The record of an input that is denied without asking the user.
pub(crate) fn denied(reason: &str) -> Box<Record> {
    Box::new(Record::denied(reason))
}

/// Parses a tool's input. An object given as a JSON string is accepted; a list is not. A field that is null counts as
/// missing.
pub(crate) fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, Box<Record>> {
    let shape = |error: serde_json::Error| unfit(format!("the input does not fit the tool's schema: {error}"));
    let object = match input {
        Value::String(text) => serde_json::from_str(text).map_err(shape)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => input.clone(),
    };
    let Value::Object(mut fields) = object else { return Err(unfit("the input must be a JSON object")) };
    fields.retain(|_, value| !value.is_null());
    T::deserialize(Value::Object(fields)).map_err(shape)
}

/// The JSON schema of an object with these fields, without further ones.
pub(crate) fn schema(required: &[&str], fields: Value) -> Value {
    match required {
        [] => json!({"type": "object", "additionalProperties": false, "properties": fields}),
        _ => json!({"type": "object", "additionalProperties": false, "properties": fields, "required": required}),
    }
}

/// The absolute path that a field of a tool's input stands for; `Err` with the record if it is not valid.
pub(crate) fn path(environment: &Environment, field: &'static str, text: &str) -> Result<PathBuf, Box<Record>> {
    paths::absolute(environment, text).map_err(|problem| unfit(format!("{field}: {problem}")))
}

/// Rejects a text longer than `max` characters.
pub(crate) fn check_length(field: &'static str, text: &str, max: usize) -> Result<(), Box<Record>> {
    // A text has at least as many bytes as characters, so most texts need no count.
    if text.len() <= max {
        return Ok(());
    }
    let chars = text.chars().count();
    let too_long = || unfit(format!("the field {field} is {chars} characters long; the limit is {max}"));
    if chars <= max { Ok(()) } else { Err(too_long()) }
}

/// Rejects a list of more than `max` entries.
pub(crate) fn check_count(field: &'static str, items: usize, max: usize) -> Result<(), Box<Record>> {
    let too_many = || unfit(format!("the field {field} has {items} entries; the limit is {max}"));
    if items <= max { Ok(()) } else { Err(too_many()) }
}

/// Denies a text with characters, such as invisible ones, that a question could not show as they are.
pub(crate) fn check_visible(what: &'static str, text: &str, happens: &'static str) -> Result<(), Box<Record>> {
    if escape::visible(text) == text {
        return Ok(());
    }
    let reason = "holds invisible or control characters, so what is shown would not be what";
    Err(denied(&format!("{what} {reason} {happens}")))
}
