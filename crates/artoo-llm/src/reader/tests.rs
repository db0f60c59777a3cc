//! Tests of the strict reader: tables of replies that it accepts and refuses, and properties, such as that it never
//! invents a value.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{MAX_TEXT_BYTES, ReaderError, read};

/// A sample schema of a tool call, for which a misread reply would do harm.
fn call_schema() -> Value {
    json!({"type": "object", "required": ["tool"], "properties": {"tool": {"type": "string"}}})
}

/// A short name for the kind of error.
fn kind(error: &ReaderError) -> &'static str {
    match error {
        ReaderError::Empty => "empty",
        ReaderError::TooLong { .. } => "too long",
        ReaderError::Cut { .. } => "cut",
        ReaderError::NoObject => "no object",
        ReaderError::Malformed { .. } => "malformed",
        ReaderError::DuplicateKey { .. } => "duplicate key",
        ReaderError::TooDeep { .. } => "too deep",
        ReaderError::InexactNumber => "inexact number",
        ReaderError::DoesNotFit { .. } => "does not fit",
    }
}

/// Asserts that the reader extracts this JSON value from the text.
#[track_caller]
fn takes(text: &str, expected: &str) {
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(read(text, &call_schema()), Ok(expected), "{text}");
}

/// Asserts that the reader refuses the text with this kind of error.
#[track_caller]
fn refuses(text: &str, expected: &str) {
    match read(text, &call_schema()) {
        Ok(value) => panic!("read {value} from {text:?}"),
        Err(error) => assert_eq!(kind(&error), expected, "{text:?}: {error}"),
    }
}

const CALL: &str = r#"{"tool":"ls"}"#;

#[doc = "holds: fault L14, L15"]
#[test]
fn text_around_json_is_ignored() {
    for text in [
        CALL.to_owned(),
        format!("\u{feff}{CALL}\n"),
        format!("```json\n{CALL}\n```"),
        format!("```\n{CALL}"),
        format!("Sure, here it is: {CALL} Hope that helps :)"),
        format!("Tool call: {CALL}"),
        format!("<tool_call>\n{CALL}\n</tool_call>"),
        format!("<think>maybe {{\"tool\":\"rm\"}} or {{</think>{CALL}"),
        format!("<Thinking>\nno\n</THINKING>\n{CALL}"),
        format!("maybe {{\"tool\": \"rm\"}}, no</think>{CALL}"),
        format!("maybe {{\"tool\": \"rm\",, {{ </think>{CALL}"),
        format!("a date [2026-02-03], a note [1], a box [ ], a {{name}}: {CALL}"),
        serde_json::to_string(&format!("```{CALL}```")).unwrap(),
    ] {
        takes(&text, CALL);
    }
}

/// Of several JSON objects in a reply, the first that fits the schema is read.
#[doc = "holds: fault L16"]
#[test]
fn first_fitting_object_is_read() {
    takes(r#"{"tool":"ls"} {"tool":"rm"}"#, CALL);
    takes(r#"{"thought":"list first"} {"tool":"ls"}"#, CALL);
    takes(r#"{"tool":7} then {"tool":"ls"}"#, CALL);
    takes(r#"The form is {"tool": ...}. So: {"tool":"ls"}"#, CALL);
    refuses(r#"{"thought":"list"} {"answer":1}"#, "does not fit");
    refuses(r#"{"tool":"ls"} {"tool":"#, "cut");
}

/// An object that is only a part of a larger value is refused.
#[doc = "holds: fault L16"]
#[test]
fn fragment_of_a_larger_value_is_refused() {
    refuses(r#"{"call":{"tool":"rm"}}"#, "does not fit");
    refuses(r#"[{"tool":"rm"}]"#, "does not fit");
    refuses(r#"[{"tool":"rm"},]"#, "malformed");
    refuses(r#"[1, {"tool":"rm"},]"#, "malformed");
    refuses(r#"{"call":{"tool":"rm"},}"#, "malformed");
    refuses(r#"{'call':{"tool":"rm"}}"#, "malformed");
    refuses(r#"{call:{"tool":"rm"}}"#, "malformed");
    refuses(r#""call":{"tool":"rm"}}"#, "malformed");
    refuses(r#""call" : {"tool":"rm"}"#, "malformed");
    refuses(r#"{"tool":"rm"},"note":"x"}"#, "malformed");
    refuses(r#"{"tool":"rm"}]"#, "malformed");
    refuses(r#"{"note":"</think>", "list":[{"tool":"rm"}], "rest"#, "cut");
}

/// A reply that ends inside its JSON is reported as truncated.
#[doc = "holds: fault L9"]
#[test]
fn truncated_reply_is_reported_as_truncated() {
    for text in [
        r#"{"tool":"l"#,
        r#"{"tool":"ls""#,
        r#"{"tool":"ls","input":{"path":"/"}"#,
        r#"{"tool":"ls","input":"#,
        "{",
        "Here: {  ",
        r#"[{"tool":"ls"}"#,
        r#"<think>I would call {"tool":"ls"}"#,
        "```json\n{\"tool\":\"ls\",",
    ] {
        refuses(text, "cut");
    }
}

#[doc = "holds: fault L12, L35"]
#[test]
fn empty_reply_and_prose_have_no_value() {
    refuses("", "empty");
    refuses(" \n\u{feff} ", "empty");
    refuses("I'm sorry, I can't help with that.", "no object");
    refuses("null", "no object");
    refuses("42 [1] [ ]", "no object");
    refuses("\"just a string\"", "no object");
}

#[doc = "holds: law 0.13; fault L17"]
#[test]
fn malformed_json_is_never_repaired() {
    for text in [
        r#"{"tool":"ls",}"#,
        "{'tool':'ls'}",
        r#"{tool:"ls"}"#,
        r#"{"tool":"ls"/* why */}"#,
        "{\"tool\":\"ls\" // why\n}",
        r#"{"tool":NaN}"#,
        r#"{"tool":"ls","n":Infinity}"#,
        r#"{"tool":"ls" "n":1}"#,
        r#"{"tool":"ls","n":01}"#,
        r#"{"tool":"ls","n":+1}"#,
        r#"{"tool":"ls","n":"\x"}"#,
        r#"{"tool":"\ud800"}"#,
        "{\"tool\":\"l\u{0}s\"}",
        "{\"tool\":\"l\ns\"}",
    ] {
        refuses(text, "malformed");
    }
}

#[doc = "holds: fault L18"]
#[test]
fn duplicate_keys_are_refused_in_any_spelling() {
    refuses(r#"{"tool":"ls","tool":"rm"}"#, "duplicate key");
    refuses(r#"{"tool":"ls","to\u006fl":"rm"}"#, "duplicate key");
    refuses(r#"{"tool":"ls","input":[{"a":1,"a":1}]}"#, "duplicate key");
    refuses(r#"{"tool":"ls"} {"tool":"ls","tool":"rm"}"#, "duplicate key");
}

/// Deeply nested replies are refused without exhausting the stack.
#[doc = "holds: fault L19"]
#[test]
fn deep_nesting_is_refused_on_small_stack() {
    let nested = |depth: usize| format!("{{\"tool\":\"ls\",\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(63), &call_schema()).is_ok());
    refuses(&nested(64), "too deep");
    refuses(&nested(200_000), "too deep");
    refuses(&"[".repeat(200_000), "cut");
    refuses(&"{\"a\":".repeat(150_000), "cut");
    refuses(&"{".repeat(200_000), "malformed");
}

/// Numbers that can't be represented exactly are refused.
#[doc = "holds: fault L20"]
#[test]
fn numbers_are_read_exactly_or_refused() {
    let with = |number: &str| format!(r#"{{"tool":"ls","n":{number}}}"#);
    let check = |number: &str, expected: &str| {
        let value = read(&with(number), &call_schema()).unwrap();
        assert_eq!(value["n"].to_string(), expected);
    };
    check("-0", "0");
    check("-0.0", "0");
    check("9223372036854775808", "9223372036854775808");
    check("18446744073709551615", "18446744073709551615");
    check("-9223372036854775808", "-9223372036854775808");
    check("0.1", "0.1");
    refuses(&with("1e400"), "malformed");
    refuses(&with("18446744073709551616"), "inexact number");
    refuses(&with("-9223372036854775809"), "inexact number");
    refuses(&with("1e300"), "inexact number");
    refuses(&with(&"9".repeat(5000)), "malformed");
}

#[doc = "holds: fault L21"]
#[test]
fn oversized_reply_is_refused() {
    let text = format!(r#"{{"tool":"{}"}}"#, "x".repeat(MAX_TEXT_BYTES));
    refuses(&text, "too long");
    assert!(read(&format!(r#"{{"tool":"{}"}}"#, "x".repeat(MAX_TEXT_BYTES - 11)), &call_schema()).is_ok());
}

/// Texts of maximum length made to slow the reader down are each read within 20 seconds.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let long = |piece: &str| piece.repeat(MAX_TEXT_BYTES / piece.len());
    for piece in
        ["{x}", "{\"", "[1 ", "[", "[[1],", "{\"</think>", "</think>{", "<think>", "{} ", "{\"a\":}", "</", "[{", "{\n"]
    {
        let started = std::time::Instant::now();
        let _ = read(&long(piece), &call_schema());
        assert!(started.elapsed().as_secs() < 20, "{piece:?} took {:?}", started.elapsed());
    }
}

/// An error about an unreadable reply quotes its beginning, escaped and shortened.
#[test]
fn reader_error_quotes_text_escaped_and_shortened() {
    let text = format!("\u{1b}[2J{}", "x".repeat(500));
    let failure = ReaderError::NoObject.into_failure(&text);
    let shown = format!("{failure:?}");
    assert!(!shown.contains('\u{1b}') && shown.contains("more characters"), "{shown}");
}

/// A strategy for JSON values that contain objects fitting the schema, and strings that look like JSON.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        r#"[a-z{}\[\]":,\\<>/ é]{0,12}"#.prop_map(Value::from),
        Just(json!({"tool": "rm"})),
        Just(json!({})),
        Just(json!("</think>")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z{}\"]{0,4}", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A strategy for tool calls with random input.
fn any_call() -> impl Strategy<Value = Value> {
    (any_value(), any_value()).prop_map(|(input, before)| json!({"a": before, "tool": "ls", "z": input}))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = read(&text, &call_schema());
    }

    #[test]
    fn text_that_looks_like_json_never_panics(text in r#"([{}\[\]":,\\ a1]|</?think>|\{"tool":"ls"\}){0,40}"#) {
        let _ = read(&text, &call_schema());
    }

    /// A tool call with prose before and after it is read unchanged.
    #[test]
    fn call_inside_prose_is_read_unchanged(call in any_call(), pretty: bool, before in "[a-z ,.:`]{0,20}", after in "[a-z ,.`]{0,20}") {
        let text = if pretty { serde_json::to_string_pretty(&call) } else { serde_json::to_string(&call) }.unwrap();
        prop_assert_eq!(read(&format!("{before}\n{text}\n{after}"), &call_schema()), Ok(call));
    }

    /// A reply that lacks its beginning or its end is refused.
    #[doc = "holds: law 0.13; fault L9"]
    #[test]
    fn fragments_of_a_call_are_never_read(call in any_call(), at in any::<prop::sample::Index>()) {
        let text = call.to_string();
        let at = (1..text.len()).cycle().skip(at.index(text.len())).find(|at| text.is_char_boundary(*at)).unwrap();
        let (head, tail) = text.split_at(at);
        prop_assert!(read(head, &call_schema()).is_err(), "{}", head);
        prop_assert!(read(tail, &call_schema()).is_err(), "{}", tail);
    }

    /// A fragment of a larger value is refused even if a brace in a later string hides that value's end.
    #[doc = "holds: law 0.13; fault L9"]
    #[test]
    fn fragment_before_brace_in_string_is_refused(inner in r#"[a-z\\"]{0,4}"#) {
        let tail = format!(r#""a":null,"tool":"ls","z":[null,{{"tool":"rm"}},{}]}}"#, serde_json::json!(format!("{{{inner}")));
        prop_assert!(read(&tail, &call_schema()).is_err(), "{}", tail);
    }

    /// A reply without one of its structural characters is refused, or names the same tool.
    #[doc = "holds: law 0.13"]
    #[test]
    fn damaged_call_never_names_another_tool(call in any_call(), at in any::<prop::sample::Index>()) {
        let text = call.to_string();
        let structural: Vec<usize> = text.match_indices(['{', '}', '[', ']', ':', ',', '"']).map(|(at, _)| at).collect();
        let at = structural[at.index(structural.len())];
        let broken = format!("{}{}", &text[..at], &text[at + 1..]);
        if let Ok(value) = read(&broken, &call_schema()) {
            prop_assert_eq!(&value["tool"], "ls", "{}", broken);
        }
    }
}
