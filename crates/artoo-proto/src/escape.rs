//! Escapes untrusted text, so that it contains no control character, escape sequence or bidi mark.
//!
//! Every terminal line, log line and quotation in a prompt is escaped here, so there is one rule to review.

use std::borrow::Cow;

/// Escapes every character that could move a cursor, hide or reorder text. Line breaks and tabs are kept.
#[must_use]
pub fn visible(text: &str) -> String {
    escape(text, true)
}

/// Like [`visible`], but escapes line breaks and tabs too, so that the text stays on one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    escape(text, false)
}

/// A path or file name on one line, reversible: line breaks and tabs as `\n`, `\r`, `\t`, other control and invisible
/// characters as `\u{…}`, invalid UTF-8 as `\xNN`, a backslash doubled.
#[must_use]
pub fn path_line(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if is_hostile(c) => out.extend(c.escape_unicode()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// Decodes a line of [`path_line`] to the path; `None` if [`path_line`] can't have written the line.
#[must_use]
pub fn path_from_line(line: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (plain, escaped) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut chars = escaped.chars().skip(1);
        let (byte, taken) = match chars.next()? {
            '\\' => (b'\\', 2),
            'n' => (b'\n', 2),
            't' => (b'\t', 2),
            'r' => (b'\r', 2),
            'x' => (u8::from_str_radix(escaped.get(2..4)?, 16).ok()?, 4),
            'u' => {
                let digits = escaped.strip_prefix("\\u{")?.split_once('}')?.0;
                let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = escaped.get(digits.len() + 4..)?;
                continue;
            }
            _ => return None,
        };
        out.push(byte);
        rest = escaped.get(taken..)?;
    }
    out.extend_from_slice(rest.as_bytes());
    // A path has exactly one line: another spelling can't come from `path_line`.
    (path_line(&out) == line).then_some(out)
}

/// The text if it has at most `max` characters; otherwise its first `max`, followed by the number of those left out.
#[must_use]
pub fn shorten(text: &str, max: usize) -> String {
    let total = text.chars().count();
    if total <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max).collect();
    format!("{head}… [{} more characters]", total - max)
}

/// Equals `shorten(&one_line(text), max)` without escaping the part that is left out, which saves time for long
/// prompts.
#[must_use]
pub fn short_line(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    let (mut kept, mut total) = (0, 0);
    for piece in (Pieces { rest: text, keep_layout: false }) {
        let (shown, chars) = match piece {
            Piece::Plain(run) => (Cow::Borrowed(run), run.len()),
            Piece::Other(c) => {
                let mut shown = String::new();
                push_escaped(&mut shown, c);
                let chars = shown.chars().count();
                (Cow::Owned(shown), chars)
            }
        };
        if kept + chars <= max {
            out.push_str(&shown);
        } else {
            out.extend(shown.chars().take(max - kept));
        }
        kept = (kept + chars).min(max);
        total += chars;
    }
    if total > max {
        out.push_str(&format!("… [{} more characters]", total - max));
    }
    out
}

/// The first and last characters of a text, `max` in all, with the number of bytes left out between them; the whole
/// text if it is not longer. The second value says whether anything was left out.
#[must_use]
pub fn head_tail(text: &str, max: usize) -> (String, bool) {
    let total = text.chars().count();
    if total <= max {
        return (text.to_owned(), false);
    }
    let half = max / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(total - (max - half)).collect();
    let left_out = text.len() - head.len() - tail.len();
    (format!("{head}\n… [{left_out} bytes left out] …\n{tail}"), true)
}

/// The text with its first letter in upper case.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Whether a text is ASCII without control characters other than line feeds and tabs, so that [`visible`] would not
/// change it.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| is_plain_byte(byte, true))
}

/// Escapes a text; keeps line breaks and tabs if `keep_layout`.
fn escape(text: &str, keep_layout: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in (Pieces { rest: text, keep_layout }) {
        match piece {
            Piece::Plain(run) => out.push_str(run),
            Piece::Other(c) => push_escaped(&mut out, c),
        }
    }
    out
}

/// Splits a text into runs that need no escaping, which is most of it, and single characters that may.
struct Pieces<'a> {
    /// The text that was not split yet.
    rest: &'a str,
    /// Whether line breaks and tabs need no escaping.
    keep_layout: bool,
}

/// A part of a text: a run that needs no escaping, or a single character that may.
enum Piece<'a> {
    /// ASCII characters that need no escaping.
    Plain(&'a str),
    /// A character that may need escaping.
    Other(char),
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let plain = self.rest.bytes().position(|byte| !is_plain_byte(byte, self.keep_layout));
        let (run, rest) = self.rest.split_at(plain.unwrap_or(self.rest.len()));
        if !run.is_empty() {
            self.rest = rest;
            return Some(Piece::Plain(run));
        }
        let mut chars = rest.chars();
        let other = chars.next()?;
        self.rest = chars.as_str();
        Some(Piece::Other(other))
    }
}

/// Whether a byte is an ASCII character that needs no escaping: a printable one, or with `keep_layout` a line feed or
/// tab.
fn is_plain_byte(byte: u8, keep_layout: bool) -> bool {
    matches!(byte, b' '..=b'~') || (keep_layout && matches!(byte, b'\n' | b'\t'))
}

/// Appends a character, escaped if it is a control or invisible character.
fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if is_hostile(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// Whether a character is a control (C0, DEL, C1), a bidi mark, an invisible format character, or a line separator.
#[must_use]
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Tests of escaped text, paths on one line, and shortened text.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{head_tail, is_hostile, is_plain, one_line, path_from_line, path_line, short_line, shorten, visible};

    /// Escapes a text one character at a time, as the reference for [`escape`]; `keep_layout` keeps line feeds and
    /// tabs.
    fn escape_slowly(text: &str, keep_layout: bool) -> String {
        let escaped = |c: char| match c {
            '\n' | '\t' if keep_layout => c.to_string(),
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            '\r' => "\\r".to_owned(),
            c if is_hostile(c) => c.escape_unicode().collect(),
            c => c.to_string(),
        };
        text.chars().map(escaped).collect()
    }

    proptest! {
        #[test]
        fn escaping_equals_the_reference(text in "([ -~]{0,9}|[\n\t\r\u{1b}\u{9b}\u{202e}ä鍵]|\\PC){0,9}", max in 0_usize..60) {
            prop_assert_eq!(visible(&text), escape_slowly(&text, true));
            prop_assert_eq!(one_line(&text), escape_slowly(&text, false));
            prop_assert_eq!(short_line(&text, max), shorten(&one_line(&text), max));
            prop_assert!(!is_plain(&text) || visible(&text) == text);
        }

        #[test]
        fn path_line_is_reversible(bytes: Vec<u8>) {
            prop_assert_eq!(path_from_line(&path_line(&bytes)), Some(bytes));
        }

        #[test]
        fn any_text_becomes_path_line_or_error(text: String) {
            if let Some(bytes) = path_from_line(&text) {
                prop_assert_eq!(path_line(&bytes), text);
            }
        }
    }

    #[test]
    fn invalid_path_lines_are_rejected() {
        for line in ["\\", "a\\q", "\\x4", "\\xzz", "\\u{41}", "\\u{110000}", "\\u{202e", "\\x41", "a\nb"] {
            assert_eq!(path_from_line(line), None, "{line:?}");
        }
    }

    #[doc = "holds: law 0.12"]
    #[test]
    fn control_characters_are_escaped() {
        let hostile = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7f}e\rf\u{200b}g\nh";
        for shown in [visible(hostile), one_line(hostile), path_line(hostile.as_bytes())] {
            assert!(!shown.chars().any(|c| c != '\n' && is_hostile(c)), "{shown:?}");
        }
        assert_eq!(visible("a\nb\tc"), "a\nb\tc");
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert_eq!(path_line(b"a\\b\xff\n"), "a\\\\b\\xff\\n");
    }

    #[test]
    fn head_tail_keeps_both_ends() {
        let (cut, was_cut) = head_tail(&"ä".repeat(5000), 4000);
        assert!(was_cut);
        assert!(cut.contains("[2000 bytes left out]"), "{cut}");
        assert_eq!(head_tail("short", 4000), ("short".to_owned(), false));
    }
}
