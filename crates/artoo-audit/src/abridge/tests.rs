//! What is written at once is what a tree would hold that is abridged afterwards.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::{LIST_MAX_ENTRIES, Unwritten, object, safe_text};
use artoo_proto::redact::{REDACTED, is_secret_name};

/// The rule, on a tree.
fn slowly(value: Value, max_chars: usize) -> Value {
    let safe = |text: String| safe_text(&text, max_chars).unwrap_or(text);
    match value {
        Value::String(text) => safe(text).into(),
        Value::Array(entries) => {
            let more = entries.len().saturating_sub(LIST_MAX_ENTRIES);
            let kept = entries.into_iter().take(LIST_MAX_ENTRIES).map(|entry| slowly(entry, max_chars));
            kept.chain((more > 0).then(|| format!("… [{more} more entries]").into())).collect()
        }
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let hidden = is_secret_name(&name) && value.is_string();
                let value = if hidden { REDACTED.into() } else { slowly(value, max_chars) };
                (safe(name), value)
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn quickly(value: &impl Serialize, max_chars: usize) -> Value {
    serde_json::from_slice(&object(value, max_chars, usize::MAX).unwrap()).unwrap()
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = "([ -~]{0,20}|password|api_key|sk-[a-z]{18}|x=y|[\n\u{1b}ä鍵\"\\\\]){0,3}";
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

proptest! {
    #[test]
    fn h7_a_tree_abridged_afterwards_would_say_the_same(value in any_value(), max_chars in 10_usize..60) {
        prop_assert_eq!(quickly(&value, max_chars), slowly(value, max_chars));
    }
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Wrapped(Option<&'static str>);

#[derive(Serialize)]
enum Kinds {
    Plain,
    One(u8),
    Two(char, f32),
    Named { password: Wrapped, token: [&'static str; 1], n: i8 },
}

#[derive(Serialize)]
#[serde(tag = "kind")]
enum Tagged {
    Told { secret: &'static str },
}

#[test]
fn every_form_that_serde_knows_is_written_as_json_writes_it() {
    let hidden = |text| Kinds::Named { password: Wrapped(text), token: ["abc"], n: -1 };
    let by_number = BTreeMap::from([(7, ()), (8, ())]);
    let value =
        (Kinds::Plain, Kinds::One(1), Kinds::Two('"', 0.5), hidden(Some("abcdef")), hidden(None), Unit, by_number);
    let expected = json!([
        "Plain", {"One": 1}, {"Two": ["\"", 0.5]}, {"Named": {"password": "[redacted]", "token": ["abc"], "n": -1}},
        {"Named": {"password": null, "token": ["abc"], "n": -1}}, null, {"7": null, "8": null}
    ]);
    assert_eq!(quickly(&value, 100), expected);
    assert_eq!(quickly(&Tagged::Told { secret: "abc" }, 100), json!({"kind": "Told", "secret": "[redacted]"}));
    assert_eq!(quickly(&f64::NAN, 9), Value::Null);
}

#[test]
fn a_bound_in_bytes_holds_to_the_byte() {
    let value = json!({"a": ["x", 1, null], "b": "text"});
    let length = value.to_string().len();
    assert_eq!(object(&value, 100, length).unwrap().len(), length);
    assert!(matches!(object(&value, 100, length - 1), Err(Unwritten::TooLong)));
}
