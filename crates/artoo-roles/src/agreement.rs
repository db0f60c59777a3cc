//! Compares a reply's schema with the type that reads the reply: random values of each must be valid for the other.
//! Values are drawn by all JSON Schema keywords that the schemas use, `oneOf` and number limits included.

use std::fmt::Debug;

use artoo_llm::schema::fit;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestRunner};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Number of random values for each comparison; the first dozen finds an alternative with one wrong field.
const CASES: u32 = 300;

/// Number of list items that may be drawn beyond the minimum.
const ITEMS: usize = 3;

/// A generator of random values that draws the same values in every run.
fn runner() -> TestRunner {
    // The same values in every run.
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
}

/// Asserts for `CASES` random values that are valid for the schema that each can be read as a `T` without loss.
#[track_caller]
pub(crate) fn whatever_fits_is_read<T: DeserializeOwned + Serialize + Debug>(schema: &Value) {
    let read = runner().run(&values(schema), |value| {
        prop_assert_eq!(fit(&value, schema), Ok(()));
        let read: Result<T, _> = serde_json::from_value(value.clone());
        prop_assert!(read.is_ok(), "{:?} cannot be read: {}", read, value);
        let again = serde_json::to_value(read.unwrap()).unwrap();
        prop_assert!(holds(&again, &value), "{} became {}", value, again);
        Ok(())
    });
    read.unwrap_or_else(|error| panic!("{error}\n{schema}"));
}

/// Asserts for `CASES` random values of `drawn` that each, as `written` makes it JSON, is valid for the schema.
#[track_caller]
pub(crate) fn whatever_is_written_fits<T: Debug>(
    schema: &Value,
    drawn: impl Strategy<Value = T>,
    written: impl Fn(&T) -> Value,
) {
    let fits = runner().run(&drawn, |value| {
        let value = written(&value);
        prop_assert_eq!(fit(&value, schema), Ok(()), "{}", value);
        Ok(())
    });
    fits.unwrap_or_else(|error| panic!("{error}\n{schema}"));
}

/// Whether the JSON value `whole` contains all fields of `part`; additional fields are allowed. A criterion may also be
/// a sentence.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::String(text)) => whole.get("criterion").is_some_and(|said| said == text.as_str()),
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(name, part)| {
            // Of a criterion with a check the words are those of the check.
            let is_reworded = part.is_string() && name == "criterion" && whole.contains_key("check");
            let is_reweighed = name == "mode" && whole.contains_key("check");
            let is_default = |part: &Value| *part == json!(false) || part.is_null();
            is_reworded || is_reweighed || whole.get(name).map_or_else(|| is_default(part), |whole| holds(whole, part))
        }),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        (whole, part) => whole == part,
    }
}

/// Asserts that every text and list of a schema has a maximum length, except at the paths in `open`.
#[track_caller]
pub(crate) fn every_length_is_bounded(schema: &Value, open: &[&str]) {
    let mut found = Vec::new();
    unbounded(schema, "", open, &mut found);
    assert!(found.is_empty(), "without a bound: {found:?} in {schema}");
}

/// Adds the paths of texts and lists in a schema that have no maximum length to `found`.
fn unbounded(schema: &Value, place: &str, open: &[&str], found: &mut Vec<String>) {
    let Some(fields) = schema.as_object() else { return };
    if open.contains(&place) {
        return;
    }
    let is_listed = fields.contains_key("enum") || fields.contains_key("const");
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|name| fields.get(*name)?.as_array());
    for (number, part) in alternatives.flatten().enumerate() {
        unbounded(part, &format!("{place}|{number}"), open, found);
    }
    for (name, bound) in [("string", "maxLength"), ("array", "maxItems")] {
        if types(schema).contains(&name) && !is_listed && !fields.get(bound).is_some_and(Value::is_u64) {
            found.push(format!("{place}: {name}"));
        }
    }
    let has_parts = ["properties", "anyOf", "oneOf"].iter().any(|name| fields.contains_key(*name));
    if types(schema).contains(&"object") && !has_parts {
        found.push(format!("{place}: an object of anything"));
    }
    if types(schema).is_empty() && !is_listed && !has_parts {
        found.push(format!("{place}: anything"));
    }
    for (name, part) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
        unbounded(part, &format!("{place}/{name}"), open, found);
    }
    if let Some(items) = fields.get("items") {
        unbounded(items, &format!("{place}/*"), open, found);
    }
}

/// The names in the `type` of a JSON schema, which has one name or a list.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Random values that are valid for a schema.
pub(crate) fn values(schema: &Value) -> BoxedStrategy<Value> {
    for name in ["oneOf", "anyOf"] {
        if let Some(alternatives) = schema.get(name).and_then(Value::as_array) {
            // What an alternative says stands in the place of what stands beside it.
            let each = alternatives.iter().map(|alternative| {
                let mut merged: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
                merged.remove(name);
                merged.extend(alternative.as_object().cloned().unwrap_or_default());
                values(&Value::Object(merged))
            });
            return Union::new(each.collect::<Vec<_>>()).boxed();
        }
    }
    if let Some(only) = schema.get("const") {
        return Just(only.clone()).boxed();
    }
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return proptest::sample::select(listed.clone()).boxed();
    }
    let each: Vec<BoxedStrategy<Value>> = types(schema).into_iter().map(|name| of_type(name, schema)).collect();
    if each.is_empty() { Just(json!(7)).boxed() } else { Union::new(each).boxed() }
}

/// Random values of one type of a schema.
fn of_type(name: &str, schema: &Value) -> BoxedStrategy<Value> {
    let number = |name: &str, usual: i64| schema.get(name).and_then(Value::as_i64).unwrap_or(usual);
    match name {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => (number("minimum", -1_000)..=number("maximum", 1_000)).prop_map(Value::from).boxed(),
        "number" => any::<i32>().prop_map(|number| json!(f64::from(number) / 8.0)).boxed(),
        "string" => text(usize::try_from(number("maxLength", 40)).unwrap()).prop_map(Value::from).boxed(),
        "array" => {
            let (fewest, most) = (number("minItems", 0), number("maxItems", 9));
            let (fewest, most) = (usize::try_from(fewest).unwrap(), usize::try_from(most).unwrap());
            let items = values(schema.get("items").unwrap_or(&Value::Null));
            vec(items, fewest..=most.min(fewest + ITEMS)).prop_map(Value::from).boxed()
        }
        "object" => object(schema),
        other => panic!("no values of {other}"),
    }
}

/// Random objects that are valid for a schema.
fn object(schema: &Value) -> BoxedStrategy<Value> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut whole = Just(Map::new()).boxed();
    for (name, part) in properties {
        let is_there = if required.contains(&name.as_str()) { Just(true).boxed() } else { any::<bool>().boxed() };
        let name = name.clone();
        whole = (whole, is_there, values(part))
            .prop_map(move |(mut whole, is_there, part)| {
                if is_there {
                    whole.insert(name.clone(), part);
                }
                whole
            })
            .boxed();
    }
    whole.prop_map(Value::Object).boxed()
}

/// Random texts for tests: short ones, and one of the maximum length.
pub(crate) fn text(most: usize) -> BoxedStrategy<String> {
    let any_letters = vec(any::<char>(), 0..=most.min(12)).prop_map(|letters| letters.into_iter().collect());
    prop_oneof![4 => any_letters, 1 => Just("\u{e9}".repeat(most))].boxed()
}
