//! One input of a tool in a manifest: the values it accepts, and its JSON schema.

use serde::Deserialize;
use serde_json::{Value, json};

/// Longest text of an input, in characters, if the manifest has no `maxLength`.
const TEXT_MAX_CHARS: usize = 1000;

/// Largest value that a manifest may give for `maxLength`, in characters.
const TEXT_LIMIT_CHARS: usize = 20_000;

/// Maximum number of texts in a list input if the manifest has no `maxItems`.
const ITEMS_MAX: usize = 16;

/// Largest value that a manifest may give for `maxItems`.
const ITEMS_LIMIT: usize = 100;

/// Maximum number of values in the `enum` of an input.
const CHOICES_MAX: usize = 100;

/// Longest description of an input, in characters: it is in every prompt.
const DESCRIPTION_MAX_CHARS: usize = 200;

/// The keys that a manifest may have for an input, to suggest one for a misspelled key.
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

/// The declaration of one input in a tool's manifest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Field {
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    #[serde(default)]
    description: String,
    #[serde(default)]
    pub(super) optional: bool,
    #[serde(rename = "enum", default)]
    choices: Vec<String>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    max_items: Option<usize>,
    /// Whether the text may begin with `-`: safe only if the program can't take the argument for an option.
    #[serde(default)]
    pub(super) leading_dash: bool,
}

/// The type of an input in a manifest: text, document, integer, boolean or list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    String,
    /// A web or mail address, or the path of a document that [`crate::custom::document::openable`] accepts.
    Document,
    Integer,
    Boolean,
    /// A list of texts.
    Array,
}

impl Field {
    /// Checks the declaration of an input in a manifest; the error says what is wrong with it.
    pub(super) fn validate(&self) -> Result<(), String> {
        if !(1..=TEXT_LIMIT_CHARS).contains(&self.max_chars()) || !(1..=ITEMS_LIMIT).contains(&self.max_items()) {
            return Err(format!("maxLength goes from 1 to {TEXT_LIMIT_CHARS}, maxItems from 1 to {ITEMS_LIMIT}"));
        }
        let used = [
            (!self.choices.is_empty() || self.min_length.is_some(), [Kind::String].as_slice()),
            (self.max_length.is_some(), &[Kind::String, Kind::Document, Kind::Array]),
            (self.minimum.or(self.maximum).is_some(), &[Kind::Integer]),
            (self.max_items.is_some(), &[Kind::Array]),
        ];
        if used.iter().any(|(is_used, kinds)| *is_used && !kinds.contains(&self.kind)) {
            return Err("it has a key that its type does not allow".to_owned());
        }
        let is_shown = |text: &str| artoo_proto::escape::one_line(text) == text;
        if self.choices.len() > CHOICES_MAX || !self.choices.iter().all(|text| !text.is_empty() && is_shown(text)) {
            return Err(format!("enum: give at most {CHOICES_MAX} texts that can be shown"));
        }
        if self.description.chars().count() > DESCRIPTION_MAX_CHARS || !is_shown(&self.description) {
            return Err(format!("description: one line of at most {DESCRIPTION_MAX_CHARS} characters"));
        }
        Ok(())
    }

    /// The longest text, in characters, that the input accepts.
    fn max_chars(&self) -> usize {
        self.max_length.unwrap_or(TEXT_MAX_CHARS)
    }

    /// The maximum number of texts that a list input accepts.
    fn max_items(&self) -> usize {
        self.max_items.unwrap_or(ITEMS_MAX)
    }

    /// Checks the value of an input against its declaration; the error says what is wrong.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        match (self.kind, value) {
            (Kind::String | Kind::Document, Value::String(text)) => {
                let (chars, min_chars) = (checked(text, self.max_chars())?, self.min_length.unwrap_or(0));
                if min_chars > 0 && text.trim().is_empty() {
                    return Err("it is empty".to_owned());
                }
                if chars < min_chars {
                    return Err(format!("it is {chars} characters long; the minimum is {min_chars}"));
                }
                if !self.choices.is_empty() && !self.choices.contains(text) {
                    return Err(format!("it is not one of {}", self.choices.join(", ")));
                }
                Ok(())
            }
            (Kind::Integer, Value::Number(number)) => {
                let (least, most) = self.range();
                let is_inside = number.as_i64().is_some_and(|number| (least..=most).contains(&number));
                if is_inside { Ok(()) } else { Err(format!("it is not a whole number from {least} to {most}")) }
            }
            (Kind::Boolean, Value::Bool(_)) => Ok(()),
            (Kind::Array, Value::Array(items)) if items.len() > self.max_items() => {
                Err(format!("it has {} entries; the limit is {}", items.len(), self.max_items()))
            }
            (Kind::Array, Value::Array(items)) => items.iter().try_for_each(|item| {
                checked(item.as_str().ok_or("an entry is not a text")?, self.max_chars()).map(drop)
            }),
            (Kind::String | Kind::Document, _) => Err("it is not a text".to_owned()),
            (Kind::Integer, _) => Err("it is not a whole number".to_owned()),
            (Kind::Boolean, _) => Err("it is neither true nor false".to_owned()),
            (Kind::Array, _) => Err("it is not a list".to_owned()),
        }
    }

    /// The smallest and the largest number that an integer input accepts.
    fn range(&self) -> (i64, i64) {
        (self.minimum.unwrap_or(i64::MIN), self.maximum.unwrap_or(i64::MAX))
    }

    /// The JSON schema of one input of a manifest, for models.
    pub(super) fn schema(&self) -> Value {
        let max_chars = self.max_chars();
        let mut schema = match self.kind {
            Kind::String if !self.choices.is_empty() => json!({"enum": self.choices}),
            Kind::String => {
                json!({"type": "string", "minLength": self.min_length.unwrap_or(0), "maxLength": max_chars})
            }
            Kind::Document => json!({"type": "string", "minLength": 1, "maxLength": max_chars}),
            Kind::Integer => json!({"type": "integer", "minimum": self.range().0, "maximum": self.range().1}),
            Kind::Boolean => json!({"type": "boolean"}),
            Kind::Array => {
                let items = json!({"type": "string", "maxLength": max_chars});
                json!({"type": "array", "maxItems": self.max_items(), "items": items})
            }
        };
        if let Some(fields) = schema.as_object_mut().filter(|_| !self.description.is_empty()) {
            fields.insert("description".to_owned(), self.description.as_str().into());
        }
        schema
    }
}

/// The number of characters of a text; an error if it is too long or has characters that can't be shown.
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
