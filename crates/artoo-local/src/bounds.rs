//! The schema that a reply is written under: the one asked for, with an end for everything it leaves endless.
//!
//! What is written under the narrower schema fits the wider one; a model that runs on then ends at a bound, and not at
//! the limit of tokens.

use serde_json::{Map, Value, json};

/// Characters of a text for which the schema has no bound.
const TEXT_CHARS: u64 = 2_000;

/// Items of a list for which the schema has no bound.
const ITEMS: u64 = 32;

/// Keys of an object for which the schema has no bound.
const KEYS: u64 = 16;

/// What a key looks like of which the schema says nothing.
const KEY: &str = "^[A-Za-z0-9_. -]{1,64}$";

/// Largest whole number where the schema has no bound: every reader of JSON keeps it.
const WHOLE_MAX: i64 = (1 << 53) - 1;

/// Options of the constraint: no white space between tokens, and a choice of one like a choice of any.
const OPTIONS: &str = "x-guidance";

/// Keywords under which one schema stands, or a list of them.
const BELOW: [&str; 5] = ["items", "prefixItems", "anyOf", "oneOf", "allOf"];

/// Keywords under which schemas stand by name.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];

/// The narrower schema, with the constraint's options.
pub(crate) fn constrained(schema: &Value) -> Value {
    let mut schema = bounded(schema);
    if let Some(fields) = schema.as_object_mut() {
        fields
            .insert(OPTIONS.to_owned(), json!({"whitespace_flexible": false, "coerce_one_of": true, "lenient": true}));
    }
    schema
}

/// Whether a schema asks for nothing in particular, so that any text will do.
pub(crate) fn asks_for_nothing(schema: &Value) -> bool {
    match schema {
        Value::Null | Value::Bool(true) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(false) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

fn bounded(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return if asks_for_nothing(schema) { any_scalar() } else { schema.clone() };
    };
    if fields.is_empty() {
        return any_scalar();
    }
    let mut fields: Map<String, Value> = fields.iter().map(|(name, part)| (name.clone(), below(name, part))).collect();
    if fields.contains_key("enum") || fields.contains_key("const") {
        return Value::Object(fields);
    }
    let is = |name: &str| match fields.get("type") {
        Some(Value::String(found)) => found == name,
        Some(Value::Array(names)) => names.iter().any(|found| found == name),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
    };
    let (text, list, object, whole) = (is("string"), is("array"), is("object"), is("integer"));
    let mut or_insert = |wanted: bool, name: &str, value: Value| {
        if wanted && !fields.contains_key(name) {
            fields.insert(name.to_owned(), value);
        }
    };
    or_insert(text, "maxLength", TEXT_CHARS.into());
    or_insert(list, "maxItems", ITEMS.into());
    or_insert(list, "items", any_scalar());
    or_insert(whole, "minimum", (-WHOLE_MAX).into());
    or_insert(whole, "maximum", WHOLE_MAX.into());
    if object {
        bound_object(&mut fields);
    }
    Value::Object(fields)
}

/// An object that says which keys it has gets no others; one that says nothing gets a few with plain values. (Nothing
/// keeps a model from writing one of those twice; the reader then refuses the reply.)
fn bound_object(fields: &mut Map<String, Value>) {
    if fields.get("additionalProperties").is_some_and(|others| *others == Value::Bool(false)) {
        return;
    }
    if fields.contains_key("properties") || fields.contains_key("patternProperties") {
        fields.insert("additionalProperties".to_owned(), Value::Bool(false));
        return;
    }
    let others = fields.get("additionalProperties").map_or_else(any_scalar, bounded);
    fields.insert("additionalProperties".to_owned(), Value::Bool(false));
    fields.insert("patternProperties".to_owned(), json!({KEY: others}));
    if !fields.contains_key("maxProperties") {
        fields.insert("maxProperties".to_owned(), KEYS.into());
    }
}

fn below(name: &str, part: &Value) -> Value {
    if BELOW.contains(&name) {
        let several = part.as_array().map(|parts| parts.iter().map(bounded).collect());
        return several.unwrap_or_else(|| bounded(part));
    }
    match part.as_object().filter(|_| NAMED.contains(&name)) {
        Some(parts) => parts.iter().map(|(name, part)| (name.clone(), bounded(part))).collect(),
        None => part.clone(),
    }
}

fn any_scalar() -> Value {
    json!({"anyOf": [
        {"type": "string", "maxLength": TEXT_CHARS},
        {"type": "integer", "minimum": -WHOLE_MAX, "maximum": WHOLE_MAX},
        {"type": ["boolean", "null"]}
    ]})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{any_scalar, asks_for_nothing, bounded};

    #[test]
    fn what_has_no_end_gets_one() {
        let check = |schema: Value, expected: Value| assert_eq!(bounded(&schema), expected, "{schema}");
        check(json!({"type": "string"}), json!({"type": "string", "maxLength": 2_000}));
        check(json!({"type": "string", "maxLength": 9}), json!({"type": "string", "maxLength": 9}));
        check(json!({"type": ["string", "null"]}), json!({"type": ["string", "null"], "maxLength": 2_000}));
        check(json!({"type": "string", "enum": ["a"]}), json!({"type": "string", "enum": ["a"]}));
        check(
            json!({"type": "array", "items": {"type": "string", "maxLength": 3}}),
            json!({"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 32}),
        );
        check(json!({"type": "array", "maxItems": 2}), json!({"type": "array", "maxItems": 2, "items": any_scalar()}));
        check(
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991_i64}),
        );
        check(
            json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}),
            json!({"type": "object", "additionalProperties": false,
                   "properties": {"a": {"anyOf": [{"type": "string", "maxLength": 2_000}, {"type": "null"}]}}}),
        );
        check(
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": false, "maxProperties": 16,
                   "patternProperties": {"^[A-Za-z0-9_. -]{1,64}$": any_scalar()}}),
        );
        check(json!({}), any_scalar());
        check(json!({"const": {"type": "string"}}), json!({"const": {"type": "string"}}));
        // A property may have a keyword's name.
        let named = json!({"type": "object", "additionalProperties": false,
                           "properties": {"items": {"type": "boolean"}, "enum": {"type": "boolean"}}});
        check(named.clone(), named);
    }

    #[test]
    fn a_schema_that_asks_for_nothing_is_told_apart() {
        for (schema, expected) in [
            (json!(null), true),
            (json!(true), true),
            (json!({}), true),
            (json!(false), false),
            (json!({"type": "string"}), false),
        ] {
            assert_eq!(asks_for_nothing(&schema), expected, "{schema}");
        }
    }
}
