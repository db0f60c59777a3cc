//! The input of a tool: unknown fields, wrong types and sizes are errors that name the field.

use std::path::PathBuf;

use artoo_proto::{EffectClass, Environment, escape};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::paths::{self, PathProblem};
use crate::record::Record;
use crate::tool::unusable;

/// Why an input is not valid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputProblem {
    #[error("the input does not fit the tool's schema: {source}")]
    Shape {
        #[source]
        source: serde_json::Error,
    },
    #[error("the input must be a JSON object")]
    NoObject,
    #[error("the field {field} is {chars} characters long; the limit is {max}")]
    TooLong { field: &'static str, chars: usize, max: usize },
    #[error("the field {field} has {items} entries; the limit is {max}")]
    TooMany { field: &'static str, items: usize, max: usize },
    #[error("{field}: {source}")]
    Path {
        field: &'static str,
        #[source]
        source: PathProblem,
    },
    /// It breaks a rule of the tool.
    #[error("{0}")]
    Unfit(String),
    /// It is denied without a question.
    #[error("{0}")]
    Denied(String),
}

/// An error for an input that breaks a rule of its tool.
pub(crate) fn unfit(reason: impl Into<String>) -> InputProblem {
    InputProblem::Unfit(reason.into())
}

impl InputProblem {
    /// The record of a call with this input.
    pub(crate) fn record(&self, class: EffectClass) -> Box<Record> {
        let record = if let Self::Denied(reason) = self { Record::denied(reason) } else { unusable(self) };
        Box::new(record.class(class))
    }
}

/// Reads `input` as `T`. An object in a string of JSON is accepted; a list is not. A field that is null counts as missing.
pub(crate) fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, InputProblem> {
    let shape = |source| InputProblem::Shape { source };
    let object = match input {
        Value::String(text) => serde_json::from_str(text).map_err(shape)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => input.clone(),
    };
    let Value::Object(mut fields) = object else { return Err(InputProblem::NoObject) };
    fields.retain(|_, value| !value.is_null());
    T::deserialize(Value::Object(fields)).map_err(shape)
}

/// The JSON schema of an input with these fields.
pub(crate) fn schema(required: &[&str], fields: Value) -> Value {
    match required {
        [] => json!({"type": "object", "additionalProperties": false, "properties": fields}),
        _ => json!({"type": "object", "additionalProperties": false, "properties": fields, "required": required}),
    }
}

/// The absolute path that a field names.
pub(crate) fn path(environment: &Environment, field: &'static str, text: &str) -> Result<PathBuf, InputProblem> {
    paths::absolute(environment, text).map_err(|source| InputProblem::Path { field, source })
}

/// Rejects a text longer than `max` characters.
pub(crate) fn check_length(field: &'static str, text: &str, max: usize) -> Result<(), InputProblem> {
    // A text has at least as many bytes as characters, so most texts need no count.
    if text.len() <= max {
        return Ok(());
    }
    let chars = text.chars().count();
    if chars <= max { Ok(()) } else { Err(InputProblem::TooLong { field, chars, max }) }
}

/// Rejects a list of more than `max` entries.
pub(crate) fn check_count(field: &'static str, items: usize, max: usize) -> Result<(), InputProblem> {
    if items <= max { Ok(()) } else { Err(InputProblem::TooMany { field, items, max }) }
}

/// Denies a text that can't be shown as it is.
pub(crate) fn check_visible(what: &'static str, text: &str, happens: &'static str) -> Result<(), InputProblem> {
    if escape::visible(text) == text {
        return Ok(());
    }
    let reason = "holds invisible or control characters, so what is shown would not be what";
    Err(InputProblem::Denied(format!("{what} {reason} {happens}")))
}
