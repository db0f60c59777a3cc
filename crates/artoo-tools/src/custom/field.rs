//! One input of a tool in a manifest: the values it accepts, and its JSON schema.

use serde::Deserialize;
use serde_json::{Value, json};

/// Longest text if the manifest has no `maxLength`.
const TEXT_MAX_CHARS: usize = 1000;

/// Largest `maxLength`: an argument must stay far below the limit of the system.
const TEXT_LIMIT_CHARS: usize = 20_000;

/// Maximum number of texts in a list if the manifest has no `maxItems`.
const ITEMS_MAX: usize = 16;

/// Largest `maxItems`.
const ITEMS_LIMIT: usize = 100;

/// Maximum number of values in `enum`.
const CHOICES_MAX: usize = 100;

/// Longest description of an input: it is in every prompt.
const DESCRIPTION_MAX_CHARS: usize = 200;

/// The keys of an input, to suggest one for a misspelled key.
pub(super) const KEYS: [&str; 10] = [
    "type",
    "description",
    "optional",
    "enum",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "maxItems",
    "leadingDash",
];

/// An input as it is written in a manifest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Wire {
    #[serde(rename = "type")]
    kind: WireKind,
    description: Option<String>,
    #[serde(default)]
    optional: bool,
    #[serde(rename = "enum", default)]
    choices: Vec<String>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    max_items: Option<usize>,
    /// Whether the text may begin with `-`. Only safe if the program can't take the argument for an option.
    #[serde(default)]
    leading_dash: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireKind {
    String,
    /// A web or mail address, or the path of a document that [`crate::custom::document::openable`] accepts.
    Document,
    Integer,
    Boolean,
    /// A list of texts.
    Array,
}

/// A valid input of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(super) kind: Kind,
    pub(super) optional: bool,
    pub(super) leading_dash: bool,
    description: Option<String>,
}

/// The values an input accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Text { min_chars: usize, max_chars: usize, choices: Vec<String> },
    Document { max_chars: usize },
    Integer { least: i64, most: i64 },
    Switch,
    Texts { max_items: usize, max_chars: usize },
}

impl Field {
    pub(super) fn new(wire: Wire) -> Result<Self, String> {
        let text_only = wire.choices.is_empty() && wire.min_length.is_none();
        let numbers_only = wire.minimum.is_none() && wire.maximum.is_none();
        let max_chars = wire.max_length.unwrap_or(TEXT_MAX_CHARS);
        let max_items = wire.max_items.unwrap_or(ITEMS_MAX);
        if !(1..=TEXT_LIMIT_CHARS).contains(&max_chars) || !(1..=ITEMS_LIMIT).contains(&max_items) {
            return Err(format!("maxLength goes from 1 to {TEXT_LIMIT_CHARS}, maxItems from 1 to {ITEMS_LIMIT}"));
        }
        let wrong_key = "it has a key that its type does not allow".to_owned();
        let kind = match wire.kind {
            WireKind::String if numbers_only && wire.max_items.is_none() => {
                let shown = |choice: &String| !choice.is_empty() && artoo_proto::escape::one_line(choice) == *choice;
                if wire.choices.len() > CHOICES_MAX || !wire.choices.iter().all(shown) {
                    return Err(format!("enum: give at most {CHOICES_MAX} texts that can be shown"));
                }
                Kind::Text { min_chars: wire.min_length.unwrap_or(0), max_chars, choices: wire.choices }
            }
            WireKind::Document if text_only && numbers_only && wire.max_items.is_none() => Kind::Document { max_chars },
            WireKind::Integer if text_only && wire.max_length.is_none() && wire.max_items.is_none() => {
                Kind::Integer { least: wire.minimum.unwrap_or(i64::MIN), most: wire.maximum.unwrap_or(i64::MAX) }
            }
            WireKind::Boolean if text_only && numbers_only && wire.max_length.is_none() && wire.max_items.is_none() => {
                Kind::Switch
            }
            WireKind::Array if text_only && numbers_only => Kind::Texts { max_items, max_chars },
            WireKind::String | WireKind::Document | WireKind::Integer | WireKind::Boolean | WireKind::Array => {
                return Err(wrong_key);
            }
        };
        let description = wire.description.filter(|text| !text.is_empty());
        let is_shown = |text: &String| {
            text.chars().count() <= DESCRIPTION_MAX_CHARS && artoo_proto::escape::one_line(text) == *text
        };
        if !description.iter().all(is_shown) {
            return Err(format!("description: one line of at most {DESCRIPTION_MAX_CHARS} characters"));
        }
        Ok(Self { kind, optional: wire.optional, leading_dash: wire.leading_dash, description })
    }

    /// Checks a value; the error says what is wrong with it.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        match (&self.kind, value) {
            (Kind::Text { min_chars, max_chars, choices }, Value::String(text)) => {
                let chars = checked(text, *max_chars)?;
                if *min_chars > 0 && text.trim().is_empty() {
                    return Err("it is empty".to_owned());
                }
                if chars < *min_chars {
                    return Err(format!("it is {chars} characters long; the minimum is {min_chars}"));
                }
                if !choices.is_empty() && !choices.contains(text) {
                    return Err(format!("it is not one of {}", choices.join(", ")));
                }
            }
            (Kind::Document { max_chars }, Value::String(text)) => drop(checked(text, *max_chars)?),
            (Kind::Integer { least, most }, Value::Number(number)) => {
                if !number.as_i64().is_some_and(|number| (*least..=*most).contains(&number)) {
                    return Err(format!("it is not a whole number from {least} to {most}"));
                }
            }
            (Kind::Switch, Value::Bool(_)) => {}
            (Kind::Texts { max_items, max_chars }, Value::Array(items)) => {
                if items.len() > *max_items {
                    return Err(format!("it has {} entries; the limit is {max_items}", items.len()));
                }
                for item in items {
                    checked(item.as_str().ok_or("an entry is not a text")?, *max_chars)?;
                }
            }
            (Kind::Text { .. } | Kind::Document { .. }, _) => return Err("it is not a text".to_owned()),
            (Kind::Integer { .. }, _) => return Err("it is not a whole number".to_owned()),
            (Kind::Switch, _) => return Err("it is neither true nor false".to_owned()),
            (Kind::Texts { .. }, _) => return Err("it is not a list".to_owned()),
        }
        Ok(())
    }

    /// The JSON schema of the input.
    pub(super) fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Text { choices, .. } if !choices.is_empty() => json!({"enum": choices}),
            Kind::Text { min_chars, max_chars, .. } => {
                json!({"type": "string", "minLength": min_chars, "maxLength": max_chars})
            }
            Kind::Document { max_chars } => json!({"type": "string", "minLength": 1, "maxLength": max_chars}),
            Kind::Integer { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::Switch => json!({"type": "boolean"}),
            Kind::Texts { max_items, max_chars } => {
                json!({"type": "array", "maxItems": max_items, "items": {"type": "string", "maxLength": max_chars}})
            }
        };
        if let (Some(fields), Some(description)) = (schema.as_object_mut(), &self.description) {
            fields.insert("description".to_owned(), description.as_str().into());
        }
        schema
    }
}

/// The number of characters of a text that may be an argument.
fn checked(text: &str, max_chars: usize) -> Result<usize, String> {
    let chars = text.chars().count();
    if chars > max_chars {
        return Err(format!("it is {chars} characters long; the limit is {max_chars}"));
    }
    if artoo_proto::escape::visible(text) != text {
        return Err("it holds invisible or control characters, so what is shown would not be what runs".to_owned());
    }
    Ok(chars)
}
