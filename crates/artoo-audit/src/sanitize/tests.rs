//! Tests that secrets, control characters and oversized texts are removed, and nothing else.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::{LIST_MAX_ENTRIES, sanitized};

/// The value after it was made safe to store, as JSON.
fn written(value: &impl Serialize, max_chars: usize) -> Value {
    serde_json::from_slice(&sanitized(value, max_chars, usize::MAX).unwrap()).unwrap()
}

/// A strategy for random JSON values with secrets, escape sequences and other special characters in their texts.
fn any_value() -> impl Strategy<Value = Value> {
    value_of("([ -~]{0,20}|password|api_key|sk-a{18}|x=y|[\n\u{1b}ä鍵\"\\\\]){0,3}")
}

/// A strategy for random JSON values whose texts need no change.
fn harmless_value() -> impl Strategy<Value = Value> {
    value_of("[a-c ä]{0,20}")
}

/// A strategy for random JSON values with texts that match this pattern.
fn value_of(text: &'static str) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text, inner, 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// Every text in a JSON value, including names of fields.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(entries) => entries.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [vec![name.as_str()], texts(value)].concat()).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

proptest! {
    /// Texts made safe to store contain no escape character and no key that begins a word; besides a note of the cut
    /// they are at most as long as allowed.
    #[doc = "holds: design H7"]
    #[test]
    fn stored_texts_are_safe_and_bounded(value in any_value(), max_chars in 10_usize..60) {
        let kept = written(&value, max_chars);
        for text in texts(&kept) {
            prop_assert!(!text.contains('\u{1b}'), "{:?}", text);
            // A key inside a word is not recognised as one.
            let mut keys = text.match_indices("sk-aaaaaaaaaaaaaaaaaa").map(|(at, _)| &text[..at]);
            prop_assert!(keys.all(|before| before.ends_with(char::is_alphanumeric)), "{:?}", text);
            prop_assert!(text.chars().count() <= max_chars + "… [99 more characters]".chars().count(), "{:?}", text);
        }
    }

    /// A value without secrets, control characters and long texts is stored unchanged.
    #[test]
    fn harmless_values_are_unchanged(value in harmless_value()) {
        prop_assert_eq!(written(&value, 100), value);
    }
}

#[test]
fn long_lists_are_cut_with_a_count() {
    let mut expected = vec![json!(1); LIST_MAX_ENTRIES];
    expected.push("… [72 more entries]".into());
    assert_eq!(written(&json!({"list": vec![1; 200]}), 100), json!({"list": expected}));
    assert_eq!(written(&json!({"list": vec![1; 128]}), 100), json!({"list": vec![1; 128]}));
}

/// A unit struct, for the test of all forms that serde can serialise.
#[derive(Serialize)]
struct Unit;

/// A newtype struct, for the test of all forms that serde can serialise.
#[derive(Serialize)]
struct Wrapped(Option<&'static str>);

/// An enum with every kind of variant, for the test of all forms that serde can serialise.
#[derive(Serialize)]
enum Kinds {
    Plain,
    One(u8),
    Two(char, f32),
    Named { password: Wrapped, token: [&'static str; 1], n: i8 },
}

/// An internally tagged enum, for the test of all forms that serde can serialise.
#[derive(Serialize)]
#[serde(tag = "kind")]
enum Tagged {
    Told { secret: &'static str },
}

/// Every form of value that serde can serialise is written as JSON, with the values of secret names redacted.
#[test]
fn every_serde_form_is_written_as_json() {
    let hidden = |text| Kinds::Named { password: Wrapped(text), token: ["abc"], n: -1 };
    let by_number = BTreeMap::from([(7, ()), (8, ())]);
    let value =
        (Kinds::Plain, Kinds::One(1), Kinds::Two('"', 0.5), hidden(Some("abcdef")), hidden(None), Unit, by_number);
    let expected = json!([
        "Plain", {"One": 1}, {"Two": ["\"", 0.5]}, {"Named": {"password": "[redacted]", "token": ["abc"], "n": -1}},
        {"Named": {"password": null, "token": ["abc"], "n": -1}}, null, {"7": null, "8": null}
    ]);
    assert_eq!(written(&value, 100), expected);
    assert_eq!(written(&Tagged::Told { secret: "abc" }, 100), json!({"kind": "Told", "secret": "[redacted]"}));
    assert_eq!(written(&f64::NAN, 9), Value::Null);
}

/// A value that takes exactly the allowed bytes is stored; one byte less refuses it.
#[test]
fn the_byte_limit_is_exact() {
    let value = json!({"a": ["x", 1, null], "b": "text"});
    let length = value.to_string().len();
    assert_eq!(sanitized(&value, 100, length).unwrap().len(), length);
    assert!(sanitized(&value, 100, length - 1).is_none());
}
