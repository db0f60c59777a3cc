//! Tests of the reader with generated documents, built from valid and invalid parts, so that it is known which are
//! JSON.

use std::fmt::Write as _;

use super::inside;
use crate::reader::{ReaderError, exactly};

/// Asserts that the reader accepts the document if `is_json` and refuses it otherwise, in a reply and alone; returns 1,
/// to be counted.
#[track_caller]
fn check(document: &str, is_json: bool) -> usize {
    assert_eq!(inside(document).is_some(), is_json, "in a reply: {document:?}");
    assert_eq!(exactly(document).is_ok(), is_json, "alone: {document:?}");
    1
}

/// Numbers are accepted exactly if they follow the grammar of JSON.
#[doc = "holds: fault L20"]
#[test]
fn numbers_follow_the_grammar() {
    // number = [ minus ] int [ frac ] [ exp ]; each list has valid and invalid spellings of one part.
    let signs = [("", true), ("-", true), ("+", false), ("--", false), ("−", false)];
    let wholes = [("0", true), ("7", true), ("10", true), ("00", false), ("01", false), ("", false), ("٣", false)];
    let fractions = [("", true), (".0", true), (".25", true), (".", false), ("..5", false), (",5", false)];
    let exponents =
        [("", true), ("e1", true), ("E+2", true), ("e-2", true), ("e", false), ("e+", false), ("e1.5", false)];
    let mut rows = 0;
    for (sign, sign_is) in signs {
        for (whole, whole_is) in wholes {
            for (fraction, fraction_is) in fractions {
                for (exponent, exponent_is) in exponents {
                    let document = format!("{sign}{whole}{fraction}{exponent}");
                    rows += check(&document, sign_is && whole_is && fraction_is && exponent_is);
                }
            }
        }
    }
    assert_eq!(rows, 5 * 7 * 6 * 7);
}

#[doc = "holds: client C13"]
#[test]
fn strings_accept_valid_characters_and_escapes_only() {
    let mut rows = 0;
    for code in 0..0x300_u32 {
        let Some(c) = char::from_u32(code) else { continue };
        rows += check(&format!("\"{c}\""), !(code < 0x20 || c == '"' || c == '\\'));
        rows += check(&format!("\"\\{c}\""), matches!(c, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't'));
    }
    for digits in ["", "0", "00", "004", "g041", "00g1", "+041", " 041", "0x41", "０041"] {
        rows += check(&format!("\"\\u{digits}\""), false);
    }
    assert!(rows > 1_000);
}

/// Half of a UTF-16 surrogate pair in a string is refused.
#[doc = "holds: client C13"]
#[test]
fn lone_surrogates_are_refused() {
    let units: [(u32, char); 6] =
        [(0x41, 'x'), (0xd7ff, 'x'), (0xd800, 'h'), (0xdbff, 'h'), (0xdc00, 'l'), (0xe000, 'x')];
    for (first, kind) in units {
        check(&format!("\"\\u{first:04x}\""), kind == 'x');
        for (second, behind) in units {
            let is_json = matches!((kind, behind), ('x', 'x') | ('h', 'l'));
            check(&format!("\"\\u{first:04X}\\u{second:04x}\""), is_json);
            let plain = format!("\"\\u{first:04x}a\\u{second:04x}\"");
            check(&plain, kind == 'x' && behind == 'x');
        }
    }
}

#[doc = "holds: client C13"]
#[test]
fn only_four_characters_are_white_space() {
    let spaces: Vec<char> = (0..0x3100_u32).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect();
    assert!(spaces.len() > 20);
    for space in spaces.into_iter().chain(['\u{feff}', '\u{200b}', '\u{0}', '\u{7f}']) {
        let is_space = matches!(space, ' ' | '\t' | '\n' | '\r');
        for document in
            [format!("[{space}1]"), format!("[1{space},2]"), format!("{{\"b\"{space}:1}}"), format!("{{{space}}}")]
        {
            check(&document, is_space);
        }
    }
}

/// A document without one of its punctuation marks, or with one doubled, is refused.
#[doc = "holds: client C13"]
#[test]
fn missing_or_doubled_punctuation_is_refused() {
    for document in [r#"{"b":["q",{"c":"d"}],"e":{}}"#, r#"[["p",2],["a","b"],{}]"#, r#"{"b":{"c":{"d":[true]}}}"#] {
        check(document, true);
        for (at, mark) in document.char_indices().filter(|(_, c)| matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '"'))
        {
            let (before, after) = (&document[..at], &document[at + 1..]);
            let lost = format!("{before}{after}");
            assert!(exactly(&lost).is_err(), "{lost}");
            let doubled = format!("{before}{mark}{mark}{after}");
            assert!(exactly(&doubled).is_err(), "{doubled}");
            for other in ['(', ';', '=', '\'', '<', '|'] {
                let other = format!("{before}{other}{after}");
                assert!(exactly(&other).is_err(), "{other}");
            }
        }
        // A document that ends early is reported as cut, wherever it ends.
        for (at, _) in document.char_indices().skip(1) {
            let cut = exactly(&document[..at]);
            assert!(matches!(cut, Err(ReaderError::Cut { .. })), "{:?}: {cut:?}", &document[..at]);
        }
    }
}

#[doc = "holds: client C13"]
#[test]
fn only_true_false_and_null_are_literals() {
    for word in ["null", "true", "false"] {
        check(word, true);
        for at in 0..word.len() {
            let mut upper = word.to_owned();
            upper[at..=at].make_ascii_uppercase();
            check(&upper, false);
            check(&format!("{}{}", &word[..at], &word[at + 1..]), false);
            check(&format!("{}{}", &word[..=at], &word[at..]), false);
        }
    }
    for word in ["none", "None", "nil", "undefined", "yes", "no", "on", "off", "inf", "-inf", "NaN", "nan", "t", "f"] {
        check(word, false);
    }
}

/// A key that occurs twice in an object is refused at every depth.
#[doc = "holds: fault L18"]
#[test]
fn duplicate_keys_are_found_at_every_depth() {
    let spellings = ["k", "\\u006b", "\\u006B"];
    for first in spellings {
        for second in spellings {
            let twice = format!("{{\"{first}\":1,\"a\":2,\"{second}\":3}}");
            let mut document = twice.clone();
            for _ in 0..9 {
                check(&document, false);
                document = format!("{{\"o\":[{document}]}}");
            }
        }
    }
    let mut wide = String::from("{");
    for n in 0..2_000 {
        let _ = write!(wide, "\"k{n}\":{n},");
    }
    check(&format!("{wide}\"last\":0}}"), true);
    check(&format!("{wide}\"k0\":0}}"), false);
}

/// Integers and floats at the limits of 64 bits are read exactly or refused.
#[doc = "holds: fault L20"]
#[test]
fn integers_at_limits_are_exact_or_refused() {
    for (digits, is_json) in [
        ("9223372036854775807", true),
        ("-9223372036854775808", true),
        ("9223372036854775808", true),
        ("18446744073709551615", true),
        ("18446744073709551616", false),
        ("-9223372036854775809", false),
        ("9007199254740993", true),
        ("1e15", true),
        ("9007199254740992.0", true),
        ("9007199254740994.0", false),
        ("1e16", false),
        ("1e308", false),
        ("1e309", false),
        ("-1e309", false),
        ("1e-400", true),
        ("0.1", true),
    ] {
        check(digits, is_json);
    }
}
