//! Adds limits to a reply's schema wherever it has none, so that a model that writes under it must come to an end.
//!
//! A reply that fits the narrower schema fits the requested one; a model that repeats itself then ends at one of these
//! limits, and not at the token limit.

use serde_json::{Map, Value, json};

/// Maximum length set for a string whose schema has no limit, in characters.
const TEXT_CHARS: u64 = 2_000;

/// Maximum number of items set for an array whose schema has no limit.
const ITEMS: u64 = 32;

/// Maximum number of keys set for an object whose schema has no limit.
const KEYS: u64 = 16;

/// Pattern of the keys allowed in an object whose schema names no keys.
const KEY: &str = "^[A-Za-z0-9_. -]{1,64}$";

/// Largest integer (negated, the smallest) allowed where the schema has no limit: every JSON parser represents it
/// exactly.
const WHOLE_MAX: i64 = (1 << 53) - 1;

/// Keyword by which a schema carries options of the constraint library: no white space between tokens, `oneOf` treated
/// like `anyOf`.
const OPTIONS: &str = "x-guidance";

/// Keywords of JSON Schema whose value is a schema or a list of schemas.
const BELOW: [&str; 5] = ["items", "prefixItems", "anyOf", "oneOf", "allOf"];

/// Keywords of JSON Schema whose value maps names to schemas.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];

/// The schema with limits added where it has none, and with the options of the constraint library.
pub(crate) fn constrained(schema: &Value) -> Value {
    let mut schema = bounded(schema);
    if let Some(fields) = schema.as_object_mut() {
        fields
            .insert(OPTIONS.to_owned(), json!({"whitespace_flexible": false, "coerce_one_of": true, "lenient": true}));
    }
    schema
}

/// Whether a schema allows any value (null, true or an empty object), so that any text will do.
pub(crate) fn asks_for_nothing(schema: &Value) -> bool {
    match schema {
        Value::Null | Value::Bool(true) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(false) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

/// The schema with limits added where it has none, at every depth.
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

/// Limits an object's keys: if the schema names keys, no others are allowed; if not, at most `KEYS`, with plain values
/// unless it says what they are.
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

/// The value of a schema's keyword, with limits added in the schemas that it contains.
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

/// The schema of a value that may be any string, integer, boolean or null.
fn any_scalar() -> Value {
    json!({"anyOf": [
        {"type": "string", "maxLength": TEXT_CHARS},
        {"type": "integer", "minimum": -WHOLE_MAX, "maximum": WHOLE_MAX},
        {"type": ["boolean", "null"]}
    ]})
}

/// Tests of adding limits to schemas.
#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{any_scalar, asks_for_nothing, bounded};

    #[test]
    fn unlimited_parts_of_schemas_get_limits() {
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
    fn schema_that_allows_anything_is_recognised() {
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
