//! Tests of the reader against RFC 8259, case by case: it accepts exactly the valid JSON documents, within its limits.

use serde_json::{Value, json};

use super::{exactly, read};

mod generated;

/// Lets the reader read a JSON document as a field of an object, since a reply must be an object; `None` if it is
/// refused.
fn inside(document: &str) -> Option<Value> {
    read(&format!("{{\"a\":{document}}}"), &json!({"type": "object", "required": ["a"]}))
        .ok()
        .map(|value| value["a"].clone())
}

/// Valid JSON documents, which the reader must accept.
const JSON: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1.5",
    "1e3",
    "1E3",
    "1e+3",
    "1e-3",
    "-1.5e-3",
    "0.0",
    "0e0",
    "12345678901234567",
    "9007199254740992",
    "18446744073709551615",
    "-9223372036854775808",
    "\"\"",
    "\"a\"",
    "\" \"",
    "\"ä\"",
    "\"\u{1F600}\"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\/\"",
    "\"\\b\\f\\n\\r\\t\"",
    "\"\\u0041\"",
    "\"\\u00e4\"",
    "\"\\ud83d\\ude00\"",
    "\"\\u0000\"",
    "\"\u{7f}\"",
    "\"\u{2028}\u{2029}\"",
    "\"\u{feff}\"",
    "\"\u{fffe}\"",
    "\"//\"",
    "\"/* */\"",
    "\"{\"",
    "\"}\"",
    "\"```\"",
    "[]",
    "[ ]",
    "[1]",
    "[1,2]",
    "[[]]",
    "[[],[]]",
    "[null,true,\"\"]",
    " [ 1 , 2 ] ",
    "\t1\n",
    "\r\n1",
    "{}",
    "{ }",
    "{\"b\":1}",
    "{\"\":1}",
    "{\"b\":{\"a\":1}}",
    "{\"b\":1,\"c\":2}",
    " { \"b\" : 1 } ",
    "{\"\\u0062\":1}",
    "[{\"b\":1},{\"b\":2}]",
];

/// Documents that the reader must refuse: invalid JSON, or JSON that parsers read differently or inexactly.
const NO_JSON: &[&str] = &[
    "",
    "nul",
    "nulll",
    "True",
    "NULL",
    "undefined",
    "NaN",
    "-NaN",
    "Infinity",
    "-Infinity",
    "+1",
    "01",
    "-01",
    "1.",
    ".5",
    "-.5",
    "1e",
    "1e+",
    "1.e1",
    "0x10",
    "1_000",
    "1,000",
    "--1",
    "1 2",
    "1e5.5",
    "１",
    "\"",
    "\"a",
    "a\"",
    "'a'",
    "`a`",
    "\"a\"\"b\"",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\u{41}\"",
    "\"\\U0041\"",
    "\"\\q\"",
    "\"\\\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\ud83d\\u0041\"",
    "\"\n\"",
    "\"\t\"",
    "\"\u{0}\"",
    "\"\u{1f}\"",
    "\"a\\\nb\"",
    "[",
    "]",
    "[1",
    "1]",
    "[1,]",
    "[,1]",
    "[1,,2]",
    "[,]",
    "[1 2]",
    "[1;2]",
    "[a]",
    "['a']",
    "[\"a\"",
    "[1}",
    "(1)",
    "{",
    "}}",
    "{\"b\"",
    "{\"b\":",
    "{\"b\":1",
    "{\"b\":1,}",
    "{,\"b\":1}",
    "{\"b\" 1}",
    "{\"b\"=1}",
    "{b:1}",
    "{'b':1}",
    "{1:1}",
    "{null:1}",
    "{\"b\":1 \"c\":2}",
    "{\"b\":1;\"c\":2}",
    "{\"b\":1,\"b\":1}",
    "{\"b\":1,\"\\u0062\":2}",
    "{\"c\":{\"b\":1,\"b\":2}}",
    "[{\"b\":1,\"b\":2}]",
    "{\"b\":1}}",
    "{\"b\"::1}",
    "{\"b\":}",
    "{:1}",
    "1 // one",
    "/* one */ 1",
    "# one\n1",
    "1 -- one",
    "[1, // one\n2]",
    "...",
    "[...]",
    "{\"b\": ...}",
    "\u{a0}1",
    "\u{feff}1",
    "\u{3000}1",
    "1e400",
    "-1e400",
    "99999999999999999999",
    "-9223372036854775809",
    "9007199254740993.5",
    "1234567890123456789012345678901234567890",
    "@",
    "<a>",
    "b'a'",
    "r\"a\"",
    "\"a\" + \"b\"",
    "new Date()",
    "$",
    "\\u0022a\\u0022",
];

#[doc = "holds: client C13"]
#[test]
fn every_valid_document_is_read_exactly() {
    for document in JSON {
        let expected: Value = serde_json::from_str(document).unwrap();
        let found = inside(document);
        // −0 is read as 0, and a whole float keeps its value whatever it is printed as.
        let is_same = found.as_ref() == Some(&expected) || found.as_ref().and_then(Value::as_f64) == expected.as_f64();
        assert!(found.is_some() && is_same, "{document}: {found:?}");
        assert_eq!(exactly(document).ok(), found, "alone: {document}");
    }
}

#[doc = "holds: fault L17; client C13"]
#[test]
fn every_invalid_document_is_refused() {
    for document in NO_JSON {
        assert_eq!(inside(document), None, "{document:?}");
        assert!(exactly(document).is_err(), "alone: {document:?}");
    }
}

/// Both lists and objects count toward the maximum nesting of a reply.
#[doc = "holds: fault L19"]
#[test]
fn depth_counts_lists_and_objects() {
    let nested = |open: &str, close: &str, levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
    // The object around the document is the first level.
    assert!(inside(&nested("[", "]", super::MAX_DEPTH - 1)).is_some());
    assert!(inside(&nested("{\"b\":", "}", super::MAX_DEPTH - 1)).is_some());
    assert_eq!(inside(&nested("[", "]", super::MAX_DEPTH)), None);
    assert_eq!(inside(&nested("{\"b\":", "}", super::MAX_DEPTH)), None);
    assert_eq!(inside(&nested("[{\"b\":", "}]", super::MAX_DEPTH)), None);
}
