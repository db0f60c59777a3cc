//! Criteria in the forms that a model may write: plain text, with a mode, or with a check.

use artoo_proto::{Check, Criterion, Mode};
use serde_json::{Value, json};

/// Reads a criterion from JSON.
fn read(wire: Value) -> Criterion {
    serde_json::from_value(wire.clone()).unwrap_or_else(|error| panic!("{wire}: {error}"))
}

#[doc = "holds: design G18"]
#[test]
fn plain_text_is_a_plausible_criterion() {
    let criterion = read(json!("the count is stated"));
    assert_eq!(criterion, Criterion::prose("the count is stated"));
    assert_eq!((criterion.mode(), criterion.required(), criterion.check()), (Mode::Plausible, false, None));
    let written = json!({ "criterion": "the count is stated", "mode": "plausible" });
    assert_eq!(serde_json::to_value(&criterion).unwrap(), written);
    assert_eq!(read(written), criterion);
}

#[doc = "holds: design G18"]
#[test]
fn mode_and_required_are_kept() {
    let check = |wire: Value, mode: Mode, required: bool| {
        let criterion = read(wire);
        assert_eq!((criterion.mode(), criterion.required()), (mode, required), "{criterion:?}");
    };
    check(json!({ "criterion": "x" }), Mode::Plausible, false);
    check(json!({ "criterion": "x", "mode": "verifiable" }), Mode::Verifiable, false);
    check(json!({ "criterion": "x", "mode": "plausible", "required": true }), Mode::Plausible, true);
    check(json!({ "criterion": "x", "mode": "verifiable", "check": null }), Mode::Verifiable, false);
    for wire in [json!(3), json!(null), json!(["x"]), json!({ "criterion": "x", "mode": "likely" })] {
        assert!(serde_json::from_value::<Criterion>(wire.clone()).is_err(), "{wire}");
    }
}

#[doc = "holds: law 0.3; design G19"]
#[test]
fn check_renders_its_own_claim() {
    let wire = json!({
        "criterion": "everything is perfect",
        "mode": "plausible",
        "required": true,
        "check": { "kind": "line_count", "path": "/a" }
    });
    let criterion = read(wire);
    assert_eq!(criterion, Criterion::checked(Check::LineCount { path: "/a".to_owned() }));
    assert_eq!(criterion.claim(), "the output equals the number of lines of /a, counted again");
    assert_eq!(criterion.mode(), Mode::Verifiable);
    assert!(!serde_json::to_string(&criterion).unwrap().contains("perfect"));
}

#[doc = "holds: law 0.3; design G19"]
#[test]
fn every_check_names_what_it_reads() {
    let check = |wire: Value, claim: &str, substantive: bool, written: Option<&str>| {
        let check: Check = serde_json::from_value(wire).unwrap();
        assert_eq!(check.claim(), claim);
        assert_eq!((check.is_substantive(), check.written_path()), (substantive, written), "{claim}");
    };
    check(json!({ "kind": "output_not_empty" }), "the output is not empty", false, None);
    check(json!({ "kind": "output_is_number" }), "the output is a number", false, None);
    check(json!({ "kind": "exit_code", "code": 0 }), "the last call exits with 0", false, None);
    check(json!({ "kind": "file_exists", "path": "/a" }), "there is a file at /a", true, Some("/a"));
    check(
        json!({ "kind": "file_contains", "path": "/a", "text": "b\n" }),
        "/a, written by this task's own call, contains \"b\\n\"",
        true,
        Some("/a"),
    );
    check(
        json!({ "kind": "file_equals", "path": "/a", "text": "b" }),
        "/a, written by this task's own call, is exactly \"b\"",
        true,
        Some("/a"),
    );
    check(
        json!({ "kind": "file_count", "path": "/a" }),
        "the output equals the number of files directly in /a, hidden ones included, counted again",
        true,
        None,
    );
    check(
        json!({ "kind": "file_count", "path": "/a", "pattern": "*.pdf", "recursive": true }),
        "the output equals the number of files under /a named *.pdf, hidden ones included, counted again",
        true,
        None,
    );
    check(
        json!({ "kind": "recompute", "query": { "count": {} }, "reading": "count files" }),
        "the output equals a second computation of: count files",
        true,
        None,
    );
}

#[doc = "holds: design G19"]
#[test]
fn check_rejects_unknown_fields() {
    for wire in [
        json!({ "kind": "output_not_empty", "path": "/a" }),
        json!({ "kind": "file_exists", "path": "/a", "why": "trust me" }),
        json!({ "kind": "file_exists" }),
        json!({ "kind": "always_true" }),
        json!({ "path": "/a" }),
    ] {
        assert!(serde_json::from_value::<Check>(wire.clone()).is_err(), "{wire}");
        // Inside a criterion, an invalid check must not be read as prose either.
        let criterion = json!({ "criterion": "x", "check": wire });
        assert!(serde_json::from_value::<Criterion>(criterion.clone()).is_err(), "{criterion}");
    }
}
