//! A tool's input, narrowed at the door: unknown fields, wrong types and sizes are refused with the field's name.

use artoo_proto::{EffectClass, escape};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::record::Record;
use crate::tool::unusable;

/// Why an input is not usable.
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
    /// Breaks a rule of the tool's own.
    #[error("{0}")]
    Unfit(String),
    /// Nothing that a person could be asked about.
    #[error("{0}")]
    Denied(String),
}

impl InputProblem {
    /// The record of a call that ends here.
    pub(crate) fn record(&self, class: EffectClass) -> Box<Record> {
        let record = if let Self::Denied(reason) = self { Record::denied(reason) } else { unusable(self) };
        Box::new(record.class(class))
    }
}

/// Reads `input` as `T`; an object that arrived as a string of JSON is unwrapped once. A list is refused even where it
/// would fill the fields in order.
pub(crate) fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, InputProblem> {
    let unwrapped: Value;
    let object = match input {
        Value::String(text) => {
            unwrapped = serde_json::from_str(text).map_err(|source| InputProblem::Shape { source })?;
            &unwrapped
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => input,
    };
    if !object.is_object() {
        return Err(InputProblem::NoObject);
    }
    T::deserialize(object).map_err(|source| InputProblem::Shape { source })
}

/// Refuses a text over `max` characters.
pub(crate) fn check_length(field: &'static str, text: &str, max: usize) -> Result<(), InputProblem> {
    // Bytes bound characters from above, so the common case counts nothing.
    if text.len() <= max {
        return Ok(());
    }
    let chars = text.chars().count();
    if chars <= max { Ok(()) } else { Err(InputProblem::TooLong { field, chars, max }) }
}

/// Refuses a list over `max` entries.
pub(crate) fn check_count(field: &'static str, items: usize, max: usize) -> Result<(), InputProblem> {
    if items <= max { Ok(()) } else { Err(InputProblem::TooMany { field, items, max }) }
}

/// Refuses a text that would not be seen as it is.
pub(crate) fn check_visible(what: &'static str, text: &str, happens: &'static str) -> Result<(), InputProblem> {
    if escape::visible(text) == text {
        return Ok(());
    }
    let reason = "holds invisible or control characters, so what is shown would not be what";
    Err(InputProblem::Denied(format!("{what} {reason} {happens}")))
}
