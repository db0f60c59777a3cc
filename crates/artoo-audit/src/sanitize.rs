//! Makes JSON values safe to store in the log: secrets redacted, control characters escaped, texts and lists shortened.

use std::borrow::Cow;

use artoo_proto::escape::{is_plain, shorten, visible};
use artoo_proto::redact::{REDACTED, is_secret_name, redact};
use serde::Serialize;
use serde_json::Value;

/// Maximum number of entries stored of one list; further ones are only counted: twice the subtasks of the largest plan.
const LIST_MAX_ENTRIES: usize = 128;

/// The value as JSON bytes with texts redacted, escaped and cut to `max_chars`, lists cut, and texts under secret names
/// replaced; `None` if that takes more than `max_bytes`.
pub(crate) fn sanitized(value: &impl Serialize, max_chars: usize, max_bytes: usize) -> Option<Vec<u8>> {
    let mut value = serde_json::to_value(value).ok()?;
    sanitize(&mut value, max_chars);
    serde_json::to_vec(&value).ok().filter(|text| text.len() <= max_bytes)
}

/// Redacts, escapes and shortens every text and list in a JSON value.
fn sanitize(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => sanitize_text(text, max_chars),
        Value::Array(entries) => {
            let more = entries.len().saturating_sub(LIST_MAX_ENTRIES);
            entries.truncate(LIST_MAX_ENTRIES);
            entries.iter_mut().for_each(|entry| sanitize(entry, max_chars));
            entries.extend((more > 0).then(|| format!("… [{more} more entries]").into()));
        }
        Value::Object(fields) => {
            let field = |(mut name, mut value): (String, Value)| {
                if value.is_string() && is_secret_name(&name) {
                    value = REDACTED.into();
                } else {
                    sanitize(&mut value, max_chars);
                }
                sanitize_text(&mut name, max_chars);
                (name, value)
            };
            *fields = std::mem::take(fields).into_iter().map(field).collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Redacts, escapes and shortens a text in place.
fn sanitize_text(text: &mut String, max_chars: usize) {
    let redacted = redact(text);
    if matches!(redacted, Cow::Owned(_)) || !is_plain(text) || text.len() > max_chars {
        *text = shorten(&visible(&redacted), max_chars);
    }
}

#[cfg(test)]
mod tests;
