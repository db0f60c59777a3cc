//! Tests with random schemas: a complete reply fits its schema, an incomplete one is reported as truncated.

use artoo_llm::schema::fit;
use artoo_local::Local;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::support::{engine, print_uncaptured, prompt};

/// Maximum number of tokens of a reply; some schemas need more, so that their replies are truncated.
const TOKENS: u32 = 120;

/// Number of random schemas that are tried.
const CASES: u32 = 60;

/// A strategy for schemas of a single value: boolean, null, number or string.
fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        Just(json!({"type": "integer"})),
        (-50_i64..50, 0_i64..50)
            .prop_map(|(low, more)| json!({"type": "integer", "minimum": low, "maximum": low + more})),
        Just(json!({"type": "string"})),
        (0_u64..6, 0_u64..20)
            .prop_map(|(low, more)| json!({"type": "string", "minLength": low, "maxLength": low + more})),
        (0_u64..20).prop_map(|most| json!({"type": ["string", "null"], "maxLength": most})),
        prop::collection::vec("[a-zé\"\\\\ ]{0,8}", 1..4).prop_map(|values| json!({"enum": values})),
        Just(json!({"enum": ["yes", 1, null, true, {"a": []}]})),
        "[a-z ]{0,9}".prop_map(|value| json!({"const": value})),
    ]
}

/// The schema of an object with these fields: name, schema, and whether the field is required.
fn object(parts: Vec<(String, Value, bool)>) -> Value {
    let required: Vec<&String> = parts.iter().filter(|(.., needed)| *needed).map(|(name, ..)| name).collect();
    let properties: Map<String, Value> = parts.iter().map(|(name, part, _)| (name.clone(), part.clone())).collect();
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// A strategy for random nested schemas.
fn schema() -> impl Strategy<Value = Value> {
    let part = leaf().prop_recursive(3, 12, 4, |inner| {
        let named = || prop::collection::btree_map("[a-z_]{1,8}", (inner.clone(), any::<bool>()), 0..4);
        let objects = named()
            .prop_map(|parts| object(parts.into_iter().map(|(name, (part, needed))| (name, part, needed)).collect()));
        prop_oneof![
            (inner.clone(), 0_u64..3, 0_u64..3).prop_map(
                |(items, low, more)| json!({"type": "array", "items": items, "minItems": low, "maxItems": low + more})
            ),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            objects,
            prop::collection::vec(inner.clone(), 1..3).prop_map(|parts| json!({"anyOf": parts})),
        ]
    });
    prop::collection::btree_map("[a-z_]{1,8}", (part, any::<bool>()), 1..4)
        .prop_map(|parts| object(parts.into_iter().map(|(name, (part, needed))| (name, part, needed)).collect()))
}

/// Writes a reply under a schema and asserts that it fits; false if the reply was truncated.
async fn check(engine: &Local, schema: &Value) -> bool {
    let asked = prompt("Answer in JSON.", "Invent something about a dog, a boat and the weather.");
    let written = engine.write(&asked, Some(schema), TOKENS).await.unwrap();
    if written.is_cut {
        assert!(written.tokens.len() >= TOKENS as usize, "cut before the limit: {schema}\n{}", written.text);
        return false;
    }
    let value: Value =
        serde_json::from_str(&written.text).unwrap_or_else(|error| panic!("{error}: {schema}\n{}", written.text));
    fit(&value, schema).unwrap_or_else(|misfit| panic!("{misfit}: {schema}\n{}", written.text));
    assert_eq!(artoo_llm::reader::read(&written.text, schema).as_ref(), Ok(&value), "the strict reader reads it too");
    true
}

/// Every complete reply fits its random schema, and enough replies are complete.
#[doc = "holds: law 0.14"]
#[test]
fn every_finished_reply_fits_its_schema() {
    let Some(engine) = engine() else { return };
    let waits = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut runner =
        TestRunner::new(Config { cases: CASES, max_shrink_iters: 20, failure_persistence: None, ..Config::default() });
    let finished = std::cell::Cell::new(0_u32);
    let outcome = runner.run(&schema(), |schema| {
        finished.set(finished.get() + u32::from(waits.block_on(check(&engine, &schema))));
        Ok(())
    });
    outcome.unwrap();
    let finished = finished.get();
    print_uncaptured(&format!("{CASES} schemas: {finished} replies finished and fit, {} cut", CASES - finished));
    assert!(finished >= CASES / 2, "most are small: {finished}");
}

#[tokio::test]
async fn replies_fit_the_schemas_of_roles() {
    let Some(engine) = engine() else { return };
    let cites = json!({"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 80},
                       "oneOf": [{"type": "array", "maxItems": 2, "items": {"enum": ["s1.e1", "s1.e2"]}}]});
    let call = json!({"type": "object", "additionalProperties": false, "required": ["tool", "input"],
    "properties": {"tool": {"enum": ["ls", "cat"]}, "input": {"type": "object"}},
    "oneOf": [
        {"type": "object", "additionalProperties": false, "required": ["tool", "input"], "properties": {"tool": {"const": "ls"},
         "input": {"type": "object", "additionalProperties": false, "properties": {"path": {"type": "string", "maxLength": 20}}, "required": ["path"]}}},
        {"type": "object", "additionalProperties": false, "required": ["tool", "input"], "properties": {"tool": {"const": "cat"},
         "input": {"type": "object", "additionalProperties": false, "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}}}
    ]});
    for (name, part) in [
        ("cites", cites),
        ("calls", json!({"type": "array", "minItems": 1, "maxItems": 1, "items": call})),
        ("number", json!({"type": "integer", "oneOf": [{"enum": [1, 2]}]})),
        ("class", json!({"type": ["string", "null"], "enum": ["logical", "environmental", null]})),
    ] {
        let schema = object(vec![(name.to_owned(), part, true)]);
        assert!(check(&engine, &schema).await, "{name}");
    }
}

/// A schema that no value fits, or that is not supported, is refused.
#[tokio::test]
async fn unsatisfiable_schema_is_refused() {
    let Some(engine) = engine() else { return };
    for schema in [json!(false), json!({"type": "string", "minLength": 5, "maxLength": 2}), json!({"type": "nonsense"})]
    {
        let failure = engine.write(&prompt("", "Hello"), Some(&schema), 20).await.unwrap_err();
        assert!(failure.to_string().contains("this schema can't be kept to"), "{schema}: {failure}");
    }
}
