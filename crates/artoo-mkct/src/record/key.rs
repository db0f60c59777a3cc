//! Escaping of the names in a tag.
//!
//! A `|` separates the names of a tag in keys, so the names themselves must not contain one, nor control characters.

use std::fmt::Write as _;

/// Escapes `|`, `%` and control characters as `%XX` per UTF-8 byte; other characters are left as they are.
#[must_use]
pub fn escape(text: &str) -> String {
    escape_with(text, &[])
}

/// Like [`escape`], but escapes the characters of `more` too.
pub(crate) fn escape_with(text: &str, more: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_escape(c) || c == '%' || more.contains(&c) {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Reverses [`escape`]; a `%` that does not begin an escape is left as it is.
///
/// If the unescaped bytes are not UTF-8, the text is returned unchanged.
#[must_use]
pub fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Whether a name of a tag must not contain this character.
pub(crate) fn needs_escape(c: char) -> bool {
    c == '|' || c.is_control()
}

/// The value of an ASCII hexadecimal digit; `None` for any other byte.
fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
