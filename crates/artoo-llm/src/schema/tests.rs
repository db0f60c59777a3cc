//! Tests of the schema check: tables of values, schemas and expected violations.

use serde_json::{Value, json};

use super::fit;

/// Asserts that the value violates the schema with this message; empty if it fits.
fn check(value: &Value, schema: &Value, expected: &str) {
    let said = fit(value, schema).err().map(|misfit| misfit.to_string()).unwrap_or_default();
    assert_eq!(said, expected, "{value} against {schema}");
}

/// A violation names the missing key, the extra key, or the wrong type.
#[doc = "holds: fault L23"]
#[test]
fn missing_extra_and_wrong_type_are_named() {
    let call = json!({
        "type": "object", "required": ["tool", "input"], "additionalProperties": false,
        "properties": {
            "tool": {"type": "string", "enum": ["shell", "read"], "maxLength": 9},
            "input": {"type": ["object", "null"]},
            "tags": {"type": "array", "maxItems": 2, "minItems": 1, "items": {"type": "string", "minLength": 2}},
            "count": {"type": "integer"}, "share": {"type": "number"}, "kind": {"const": "call"},
            "either": {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "integer"}]},
        }
    });
    let with = |key: &str, part: Value| {
        let mut value = json!({"tool": "shell", "input": {}});
        value[key] = part;
        value
    };
    check(&json!({"tool": "shell", "input": {}}), &call, "");
    check(&json!({"tool": "shell"}), &call, "the reply lacks \"input\"");
    check(&json!([1]), &call, "the reply is array, not object");
    check(&with("extra", json!(1)), &call, "the reply has an unknown key \"extra\"");
    check(&with("tool", json!(7)), &call, "/tool is number, not string");
    check(&with("tool", json!("Shell")), &call, "/tool is not one of the allowed values");
    check(&with("input", json!("{}")), &call, "/input is string, not object or null");
    check(&with("input", json!(null)), &call, "");
    check(&with("tags", json!(["ab", "c"])), &call, "/tags/1 has a length of 1, the bound is 2");
    check(&with("tags", json!([])), &call, "/tags has a length of 0, the bound is 1");
    check(&with("tags", json!(["ab", "cd", "ef"])), &call, "/tags has a length of 3, the bound is 2");
    check(&with("count", json!(1.5)), &call, "/count is number, not integer");
    check(&with("count", json!(u64::MAX)), &call, "");
    check(&with("share", json!(0.5)), &call, "");
    check(&with("kind", json!("other")), &call, "/kind is not one of the allowed values");
    check(&with("either", json!("ab")), &call, "/either fits none of the alternatives");
    check(&with("either", json!(3)), &call, "");
}

/// For a value with several possible schemas, the violation is reported of the one that its constants select.
#[test]
fn selected_alternative_reports_the_violation() {
    let of_kind = |kinds: Value, part: &str| {
        json!({"type": "object", "additionalProperties": false, "required": ["kind", part],
            "properties": {"kind": {"enum": kinds}, part: {"type": "integer"}}})
    };
    let schema = json!({"anyOf": [{"type": "string", "maxLength": 1}, of_kind(json!(["a", "b"]), "x"), of_kind(json!(["c"]), "y")]});
    check(&json!({"kind": "b", "x": 1}), &schema, "");
    check(&json!({"kind": "b", "x": "1"}), &schema, "/x is string, not integer");
    check(&json!({"kind": "c", "x": 1}), &schema, "the reply lacks \"y\"");
    check(&json!({"kind": "c", "y": 1, "x": 1}), &schema, "the reply has an unknown key \"x\"");
    check(&json!({"kind": "d", "y": 1}), &schema, "the reply fits none of the alternatives");
    check(&json!({"y": 1}), &schema, "the reply fits none of the alternatives");
    check(&json!("ab"), &schema, "the reply fits none of the alternatives");
}

/// Length limits of a schema count characters, not bytes.
#[test]
fn lengths_count_characters() {
    check(&json!("äöü"), &json!({"maxLength": 3}), "");
    check(&json!("äöüß"), &json!({"maxLength": 3}), "the reply has a length of 4, the bound is 3");
}

#[test]
fn empty_schema_accepts_any_value() {
    check(&json!({"a": [1, null]}), &json!({}), "");
    check(&json!(1), &json!(true), "");
}
