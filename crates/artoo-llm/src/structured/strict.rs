//! Converts schemas to the form that OpenAI's strict mode accepts, and replies in that form back.
//!
//! Strict mode requires closed objects with all properties required, supports `anyOf` but not `oneOf`, and has no
//! length limits for texts. Optional properties are therefore requested as "or null", and nulls that only the strict
//! form allows are removed from the reply. A schema with an open object has no strict form.
//! Source: OpenAI's guide to structured outputs, "supported schemas".

use serde_json::{Map, Value, json};

/// Keywords of JSON Schema that strict mode supports, so that they stay unchanged.
const KEPT: [&str; 12] = [
    "type",
    "enum",
    "const",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "description",
];

/// Maximum nesting of a schema that is converted to the strict form.
const LEVELS_MAX: usize = 10;

/// Converts a schema to the form of OpenAI's strict mode; `None` if that can't express it.
#[must_use]
pub fn form(schema: &Value) -> Option<Value> {
    // The whole reply must be an object, not a choice.
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return None;
    }
    strict(schema, LEVELS_MAX)
}

/// Converts a part of a schema to the strict form; `None` if that can't express it or it is nested too deep.
fn strict(schema: &Value, levels_left: usize) -> Option<Value> {
    let fields = schema.as_object()?;
    let alternatives = fields.get("anyOf").or_else(|| fields.get("oneOf"));
    if let Some(alternatives) = alternatives {
        // Keywords beside the alternatives are dropped: each alternative repeats them more narrowly.
        let strict: Option<Vec<Value>> =
            alternatives.as_array()?.iter().map(|alternative| strict(alternative, levels_left)).collect();
        return match strict?.as_slice() {
            [only] => Some(only.clone()),
            several => Some(json!({"anyOf": several})),
        };
    }
    let mut out: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| KEPT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if fields.get("type").is_some_and(|found| found == "object") {
        let levels_left = levels_left.checked_sub(1)?;
        let properties = fields.get("properties").and_then(Value::as_object)?;
        if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            return None;
        }
        let required = names(schema);
        let mut strict_properties = Map::new();
        for (name, property) in properties {
            let property = strict(property, levels_left)?;
            let property = if required.contains(&name.as_str()) { property } else { or_null(property) };
            strict_properties.insert(name.clone(), property);
        }
        out.insert("required".to_owned(), properties.keys().map(String::as_str).collect());
        out.insert("properties".to_owned(), Value::Object(strict_properties));
        out.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if let Some(items) = fields.get("items") {
        out.insert("items".to_owned(), strict(items, levels_left)?);
    }
    if !out.contains_key("type") {
        // Strict mode requires a type, so it is derived from the allowed values.
        out.insert("type".to_owned(), type_of_values(&out)?);
    }
    Some(Value::Object(out))
}

/// The types of the values of an `enum` or `const`; `None` if there are no values.
fn type_of_values(fields: &Map<String, Value>) -> Option<Value> {
    let listed = fields.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let values =
        listed.or_else(|| fields.get("const").map(std::slice::from_ref)).filter(|values| !values.is_empty())?;
    let mut names: Vec<&str> = values
        .iter()
        .map(|value| match value {
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                crate::schema::type_name(value)
            }
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    Some(if let [only] = names.as_slice() { json!(only) } else { json!(names) })
}

/// Names of the properties that a schema requires.
fn names(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Converts a schema to one that also allows null.
fn or_null(schema: Value) -> Value {
    if allows_null(&schema) { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) }
}

/// Whether a schema allows null.
fn allows_null(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
            alternatives.is_some_and(|alternatives| alternatives.iter().any(allows_null))
        }
    }
}

/// Converts a reply in the strict form to the original schema: nulls that only the strict form allows are removed.
pub(crate) fn without_strict_nulls(value: Value, schema: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let schema = alternative_for(&fields, schema);
            let required = names(schema);
            let of = |name: &str| schema.get("properties").and_then(|properties| properties.get(name));
            let stays = |name: &str, part: &Value| {
                !part.is_null() || required.contains(&name) || of(name).is_none_or(allows_null)
            };
            let kept = fields.into_iter().filter(|(name, part)| stays(name, part));
            kept.map(|(name, part)| {
                let part = match of(&name) {
                    Some(schema) => without_strict_nulls(part, schema),
                    None => part,
                };
                (name, part)
            })
            .collect()
        }
        Value::Array(items) => match schema.get("items") {
            Some(schema) => items.into_iter().map(|item| without_strict_nulls(item, schema)).collect(),
            None => Value::Array(items),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The alternative of an `anyOf` or `oneOf` that a reply selects by its constants and keys; `schema` if there is none.
fn alternative_for<'s>(fields: &Map<String, Value>, schema: &'s Value) -> &'s Value {
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let suits = |alternative: &&Value| {
        let properties = alternative.get("properties").and_then(Value::as_object);
        properties.is_some_and(|properties| {
            fields.iter().all(|(name, value)| {
                properties.get(name).is_some_and(|property| {
                    let listed = property.get("enum").and_then(Value::as_array);
                    property.get("const").is_none_or(|only| only == value)
                        && (value.is_null() || listed.is_none_or(|listed| listed.contains(value)))
                })
            })
        })
    };
    alternatives.and_then(|alternatives| alternatives.iter().find(suits)).unwrap_or(schema)
}

/// Tests of converting schemas and replies.
#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{form, without_strict_nulls};

    #[test]
    fn schema_is_converted_to_strict_form() {
        let check = |schema: Value, expected: Option<Value>| assert_eq!(form(&schema), expected, "{schema}");
        let closed = |properties: Value, required: Value| json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties});
        check(
            closed(
                json!({"a": {"type": "string", "maxLength": 9}, "b": {"type": "integer", "minimum": 1}}),
                json!(["a"]),
            ),
            Some(closed(
                json!({"a": {"type": "string"}, "b": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}),
                json!(["a", "b"]),
            )),
        );
        check(
            closed(json!({"a": {"type": ["string", "null"]}}), json!([])),
            Some(closed(json!({"a": {"type": ["string", "null"]}}), json!(["a"]))),
        );
        let call = |tool: Value| closed(json!({"tool": tool}), json!(["tool"]));
        let list = |items: Value| closed(json!({"calls": {"type": "array", "items": items}}), json!(["calls"]));
        check(
            list(json!({"type": "object", "oneOf": [call(json!({"const": "ls"})), call(json!({"enum": [1, null]}))]})),
            Some(list(json!({"anyOf": [
                call(json!({"const": "ls", "type": "string"})),
                call(json!({"enum": [1, null], "type": ["integer", "null"]}))
            ]}))),
        );
        check(
            list(json!({"type": "integer", "oneOf": [{"enum": [1, 2]}]})),
            Some(list(json!({"enum": [1, 2], "type": "integer"}))),
        );
        check(closed(json!({"open": {"type": "object"}}), json!(["open"])), None);
        check(closed(json!({"any": {}}), json!(["any"])), None);
        check(json!({"type": "array", "items": {"type": "string"}}), None);
        check(json!({"type": "object", "properties": {}}), None);
        let mut deep = json!({"type": "string"});
        for _ in 0..11 {
            deep = closed(json!({"a": deep}), json!(["a"]));
        }
        check(deep, None);
    }

    /// Nulls that only the strict form of a schema allows are removed from a reply.
    #[test]
    fn nulls_of_the_strict_form_are_removed() {
        let schema = json!({
            "type": "object", "required": ["must"],
            "properties": {
                "must": {"type": "string"},
                "may": {"type": "string"},
                "nullable": {"type": ["string", "null"]},
                "list": {"type": "array", "items": {"anyOf": [
                    {"type": "string"},
                    {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "x"}, "n": {"type": "integer"}}}
                ]}}
            }
        });
        let check = |value: Value, expected: Value| assert_eq!(without_strict_nulls(value, &schema), expected);
        check(json!({"must": "a", "may": null, "nullable": null}), json!({"must": "a", "nullable": null}));
        check(json!({"must": null}), json!({"must": null}));
        check(
            json!({"must": "a", "list": ["b", {"kind": "x", "n": null}]}),
            json!({"must": "a", "list": ["b", {"kind": "x"}]}),
        );
        check(json!({"must": "a", "unknown": null}), json!({"must": "a", "unknown": null}));
    }
}
