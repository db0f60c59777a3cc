//! Tests of typed checks, the JSON objects that models propose and scripts require.

use std::collections::BTreeSet;

use artoo_proto::{Environment, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{KINDS, shorthand, steps};
use crate::algebra::{Act, Query, Step};
use crate::english::english_steps;
use crate::testing::MemoryFileSystem;

/// Checks, each followed by a line with its English (`=`) or its error (`!`).
const EXAMPLES: &str = include_str!("examples.txt");

/// A Linux machine whose current folder is `/home/ada/notes`.
fn environment() -> Environment {
    Environment {
        cwd: "/home/ada/notes".into(),
        home: "/home/ada".into(),
        workspace: "/home/ada/artoo_workspace".into(),
        os: "linux".into(),
        utc_offset_s: 0,
    }
}

/// Three files in `/home/ada/notes` and the folder `/home/ada/old`.
fn disk() -> MemoryFileSystem {
    let now = Timestamp::parse("2024-05-15T12:00:00Z").unwrap();
    let mut fs = MemoryFileSystem::new("/home/ada/notes");
    fs.now = now;
    fs.add_file("/home/ada/notes/a.txt", "one\ntone\n", now);
    fs.add_file("/home/ada/notes/.env", "PORT=1\n", now);
    fs.add_file("/home/ada/notes/w*.txt", "x\n", now);
    fs.add_folder("/home/ada/old", now);
    fs
}

/// The English of the steps that a check asks for, or its error, on one line.
fn read(check: &str) -> String {
    let read = shorthand(check, &environment(), &disk());
    let read = read.map_or_else(|error| format!("! {error}"), |steps| format!("= {}", english_steps(&steps)));
    read.replace('\n', "\\n")
}

/// Each example of `examples.txt`: a check and the expected line.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES.lines().step_by(2).zip(EXAMPLES.lines().skip(1).step_by(2))
}

#[test]
fn examples_parse_as_documented() {
    for (check, expected) in examples() {
        assert_eq!(read(check), expected, "{check}");
    }
}

/// The examples that are valid JSON checks.
fn right_examples() -> Vec<Value> {
    let right = examples().filter(|(_, expected)| expected.starts_with('='));
    right.filter_map(|(check, _)| serde_json::from_str(check).ok()).collect()
}

#[test]
fn every_check_kind_has_an_example() {
    let kinds = right_examples().into_iter().filter_map(|check| Some(check["kind"].as_str()?.to_owned()));
    assert_eq!(kinds.collect::<BTreeSet<_>>(), KINDS.split(", ").map(str::to_owned).collect());
}

#[test]
fn new_text_ends_with_newline() {
    let check = json!({"kind": "text_is", "path": "b.txt", "text": "x"});
    let made = Act::CreateFile { path: "/home/ada/notes/b.txt".to_owned(), text: "x\n".to_owned() };
    assert_eq!(steps(&check, &environment(), &disk()), Ok(vec![Step::Do(made)]));
}

/// Any short text.
fn any_text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect())
}

/// Any JSON; many of its texts have a meaning in a check.
fn any_json() -> impl Strategy<Value = Value> {
    let known =
        ["a.txt", "~", "/", "..", "x/", "*", ".", "", "~x", "a.zip", "755", "branch", "how many files are in ~"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_u64..1000).prop_map(Value::from),
        any_text().prop_map(Value::from),
        prop::sample::select(known.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![Just("kind".to_owned()), Just("path".to_owned()), any_text()];
        let object = prop::collection::btree_map(name, inner.clone(), 0..4);
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), object.prop_map(|map| map.into_iter().collect())]
    })
}

/// A valid example with some fields replaced, removed or added.
fn changed_example() -> impl Strategy<Value = Value> {
    let examples = right_examples();
    let fields: Vec<(String, Value)> = examples.iter().flat_map(|check| check.as_object().unwrap().clone()).collect();
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let value = prop_oneof![any_json(), prop::sample::select(values)];
    let changes = vec((prop::sample::select(names), value), 0..4);
    (prop::sample::select(examples), changes).prop_map(|(mut check, changes)| {
        check.as_object_mut().unwrap().extend(changes);
        check
    })
}

/// Asserts that a check gives steps that can be stored and shown, or an error of one line.
fn holds_of(check: &Value) -> Result<(), TestCaseError> {
    let is_sound = |query: &Query| query.ty().is_ok() && query.clone().normalise() == *query;
    match steps(check, &environment(), &disk()) {
        Ok(read) => {
            prop_assert_eq!(read.len(), 1);
            let sound = match &read[0] {
                Step::Ask(query) | Step::Do(Act::Save { of: query, .. }) => is_sound(query),
                Step::Do(act) => act.selection().is_none_or(is_sound),
            };
            prop_assert!(sound, "{:?}", read);
            prop_assert!(!english_steps(&read).trim().is_empty());
            let stored = serde_json::to_value(&read).unwrap();
            prop_assert_eq!(serde_json::from_value::<Vec<Step>>(stored).unwrap(), read);
        }
        Err(error) => {
            prop_assert!(!error.is_empty() && error.len() < 500, "{}", error);
            prop_assert!(!error.contains(char::is_control), "{:?}", error);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_json_parses_or_fails(check in any_json()) {
        holds_of(&check)?;
    }

    #[test]
    fn mutated_checks_parse_or_fail(check in changed_example()) {
        holds_of(&check)?;
    }

    #[test]
    fn any_shorthand_parses_or_fails(kind in prop::sample::select(KINDS.split(", ").collect::<Vec<_>>()), value in any_text()) {
        if let Err(error) = shorthand(&format!("{kind}: {value}"), &environment(), &disk()) {
            prop_assert!(!error.contains(char::is_control), "{:?}", error);
        }
    }
}
