//! The words of requests, patterns with slots, and texts with markers that slots fill.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// Character before and after a slot's number in a text. A request that contains this character gives no episode.
pub(super) const MARK: char = '\u{1}';
/// Letter in the marker of a slot that stands for a JSON number; other markers have none.
const NUMBER: char = 'n';
/// Characters besides letters and digits that a slot's value may contain.
const PLAIN: &str = "._-@+=:,%/ ";

/// One word of a request pattern: a fixed word, or a slot for a word that differs between requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// A word of every request, in lowercase.
    Word(String),
    /// A word that differs between requests.
    Slot {
        /// What the word begins with in every request.
        before: String,
        /// What the word ends with in every request.
        after: String,
        /// Whether the slot takes digits only.
        digits: bool,
        /// Whether the slot may contain `/`.
        slash: bool,
        /// Whether a shell parses the text that the slot fills, so that it takes only characters that a shell doesn't
        /// interpret.
        shell: bool,
    },
}

/// The values of a pattern's slots in one request, in the order of the slots.
pub(super) struct Slots(pub(super) Vec<String>);

impl Slots {
    /// The values of the slots in a request; `None` if the request does not fit the pattern.
    pub(super) fn of(pattern: &[Piece], request: &str) -> Option<Self> {
        let words = words(request)?;
        if words.len() != pattern.len() {
            return None;
        }
        let mut values = Vec::new();
        for (piece, word) in pattern.iter().zip(&words) {
            match piece {
                Piece::Word(expected) if *expected == word.to_lowercase() => {}
                Piece::Word(_) => return None,
                Piece::Slot { before, after, digits, slash, shell } => {
                    let value = word.strip_prefix(before.as_str())?.strip_suffix(after.as_str())?;
                    let fits = |c: char| match c {
                        '0'..='9' => true,
                        _ if *digits => false,
                        '/' => *slash,
                        ' ' => !shell,
                        c if PLAIN.contains(c) => true,
                        c => c.is_alphanumeric() && (c.is_ascii() || !shell),
                    };
                    let is_safe = !value.is_empty() && !value.starts_with('-') && !value.contains("..");
                    if !is_safe || !value.chars().all(fits) {
                        return None;
                    }
                    values.push(value.to_owned());
                }
            }
        }
        Some(Self(values))
    }
}

/// The words of a request without quotes and without the punctuation after them; a quoted text is one word. `None` for
/// an unclosed quote, or a control character that is no white space.
pub(super) fn words(request: &str) -> Option<Vec<String>> {
    if request.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    let (mut words, mut rest) = (Vec::new(), request.trim_start());
    while let Some(first) = rest.chars().next() {
        let close = match first {
            '"' | '`' | '\'' => Some(first),
            '“' => Some('”'),
            _ => None,
        };
        let (word, after) = if let Some(close) = close {
            rest.get(first.len_utf8()..)?.split_once(close)?
        } else {
            rest.split_once(char::is_whitespace).unwrap_or((rest, ""))
        };
        let word = if close.is_some() { word } else { word.trim_end_matches([',', '.', ';', ':', '?', '!']) };
        if !word.is_empty() {
            words.push(word.to_owned());
        }
        let marks: &[char] = if close.is_some() { &[',', '.', ';', ':', '?', '!'] } else { &[] };
        rest = after.trim_start_matches(marks).trim_start();
    }
    Some(words)
}

/// A pattern as one line, with each slot as its number in brackets.
pub(super) fn shown(pattern: &[Piece]) -> String {
    let mut slots = 0;
    let word = |piece: &Piece| match piece {
        Piece::Word(word) => word.clone(),
        Piece::Slot { before, after, .. } => {
            slots += 1;
            format!("{before}[{slots}]{after}")
        }
    };
    pattern.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A JSON value with each marker replaced by the number of its slot in brackets.
pub(super) fn shown_body(template: &Value) -> Value {
    match template {
        Value::String(text) => {
            let number = |slot: &str| slot.trim_start_matches(NUMBER).parse::<usize>().map_or(0, |slot| slot + 1);
            let pieces = text.split(MARK).enumerate();
            let piece = |(at, piece): (usize, &str)| {
                if at % 2 == 0 { piece.to_owned() } else { format!("[{}]", number(piece)) }
            };
            Value::String(pieces.map(piece).collect())
        }
        Value::Array(items) => items.iter().map(shown_body).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shown_body(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    }
}

/// A JSON value with its markers replaced by the values of the slots; `None` if a marker has no value, or a number's
/// marker a value that is no number.
pub(super) fn filled(template: &Value, slots: &Slots) -> Option<Value> {
    Some(match template {
        Value::String(text) => match text.strip_prefix([MARK]).and_then(|rest| rest.strip_prefix(NUMBER)) {
            Some(number) => {
                let at: usize = number.strip_suffix(MARK)?.parse().ok()?;
                Value::Number(slots.0.get(at)?.parse::<Number>().ok()?)
            }
            None => Value::String(filled_text(text, &slots.0)?),
        },
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(item, slots)).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| Some((name.clone(), filled(value, slots)?));
            Value::Object(fields.iter().map(field).collect::<Option<_>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    })
}

/// A text with its markers replaced by values; `None` if a marker has no value.
pub(super) fn filled_text(template: &str, values: &[String]) -> Option<String> {
    let mut text = String::new();
    for (at, piece) in template.split(MARK).enumerate() {
        match at % 2 {
            0 => text.push_str(piece),
            _ => text.push_str(values.get(piece.parse::<usize>().ok()?)?),
        }
    }
    Some(text)
}

/// The marker that stands for a slot in the texts of a template.
pub(super) fn marker(slot: usize) -> String {
    format!("{MARK}{slot}{MARK}")
}

/// The marker of a slot that stands for a JSON number.
pub(super) fn number_marker(slot: usize) -> Value {
    Value::String(format!("{MARK}{NUMBER}{slot}{MARK}"))
}
