//! Checks whether a JSON value fits a schema, in the subset of JSON Schema that describes model replies.
//!
//! Checked: `type` (a name or a list of names), `enum`, `const`, `anyOf`, `required`, `properties`,
//! `additionalProperties: false`, `items` (one schema), `minItems`, `maxItems`, `minLength` and `maxLength`
//! (in characters). Every other keyword is ignored, so a schema meant to bind must use these.

use std::fmt;

use serde_json::Value;

/// A violation of a schema: the JSON pointer to the wrong part of a value, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// JSON pointer to the violating part; empty for the whole value.
    pub pointer: String,
    /// What is wrong with the part, as text that follows its name.
    pub problem: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the reply" } else { &self.pointer };
        write!(f, "{place} {}", self.problem)
    }
}

/// Checks `value` against a JSON `schema`; the error is the first violation.
///
/// Recurses as deep as both go; the nesting of values from [`crate::reader`] is bounded.
///
/// # Errors
/// The first violation.
pub fn fit(value: &Value, schema: &Value) -> Result<(), Misfit> {
    fit_at(value, schema, "")
}

/// Checks a part of a value, which is at JSON pointer `pointer`, against the part's schema.
fn fit_at(value: &Value, schema: &Value, pointer: &str) -> Result<(), Misfit> {
    let wrong = |problem: String| Err(Misfit { pointer: pointer.to_owned(), problem });
    if let Some(wanted) = schema.get("type").filter(|wanted| !has_type(value, wanted)) {
        return wrong(format!("is {}, not {}", type_name(value), type_words(wanted)));
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(|allowed| !allowed.contains(value)) {
        return wrong("is not one of the allowed values".to_owned());
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return wrong("is not one of the allowed values".to_owned());
    }
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array)
        && !alternatives.iter().any(|alternative| fit_at(value, alternative, pointer).is_ok())
    {
        // If exactly one alternative is meant, the violation of that one is more helpful.
        let mut meant = alternatives.iter().filter(|alternative| is_meant(value, alternative));
        return match (meant.next(), meant.next()) {
            (Some(only), None) => fit_at(value, only, pointer),
            _ => wrong("fits none of the alternatives".to_owned()),
        };
    }
    match value {
        Value::Object(_) => fit_object(value, schema, pointer),
        Value::Array(items) => {
            fit_length(items.len(), schema, ("minItems", "maxItems"), pointer)?;
            let Some(item_schema) = schema.get("items") else { return Ok(()) };
            items.iter().enumerate().try_for_each(|(i, item)| fit_at(item, item_schema, &format!("{pointer}/{i}")))
        }
        Value::String(text) => fit_length(text.chars().count(), schema, ("minLength", "maxLength"), pointer),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Whether a value is meant for this alternative of a schema: its constants match, and its enumerated fields have
/// allowed values.
fn is_meant(value: &Value, alternative: &Value) -> bool {
    let Some(properties) = alternative.get("properties").and_then(Value::as_object) else { return false };
    let names_it = |(name, property): (&String, &Value)| {
        let allowed = property.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        let allowed = allowed.or_else(|| property.get("const").map(std::slice::from_ref));
        let part = value.get(name);
        allowed.is_none_or(|allowed| part.is_none_or(|part| allowed.contains(part)))
    };
    value.is_object() && properties.iter().all(names_it)
}

/// Checks the keys of an object against its schema: required ones are there, others only if allowed, and each value
/// fits.
fn fit_object(value: &Value, schema: &Value, pointer: &str) -> Result<(), Misfit> {
    let wrong = |problem: String| Err(Misfit { pointer: pointer.to_owned(), problem });
    for key in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if value.get(key).is_none() {
            return wrong(format!("lacks {key:?}"));
        }
    }
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (key, part) in value.as_object().into_iter().flatten() {
        match schema.get("properties").and_then(|properties| properties.get(key)) {
            Some(part_schema) => {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                fit_at(part, part_schema, &format!("{pointer}/{escaped}"))?;
            }
            None if closed => return wrong(format!("has an unknown key {key:?}")),
            None => {}
        }
    }
    Ok(())
}

/// Checks the length of a text or list against the keywords of a schema named by `min` and `max`.
fn fit_length(found: usize, schema: &Value, (min, max): (&str, &str), pointer: &str) -> Result<(), Misfit> {
    let length = u64::try_from(found).unwrap_or(u64::MAX);
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let broken = bound(min).filter(|bound| length < *bound).or(bound(max).filter(|bound| length > *bound));
    let Some(bound) = broken else { return Ok(()) };
    let problem = format!("has a length of {found}, the bound is {bound}");
    Err(Misfit { pointer: pointer.to_owned(), problem })
}

/// Whether a value has a type that the schema allows.
fn has_type(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::String(name) => is_of(value, name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(|name| is_of(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

/// Whether a value has the JSON Schema type `name`.
fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        name => type_name(value) == name,
    }
}

/// The name of a value's JSON type, such as "object".
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The names of the types that a schema allows, joined by "or".
fn type_words(wanted: &Value) -> String {
    match wanted {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Value::String(name) => name.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => wanted.to_string(),
    }
}

#[cfg(test)]
mod tests;
