//! Text from outside made visible: no control byte, escape sequence or bidi mark survives.
//!
//! Every terminal line, log digest and prompt fence goes through here, so there is one rule to review.

/// Escapes everything that could move a cursor, hide or reorder text; keeps line breaks and tabs.
#[must_use]
pub fn visible(text: &str) -> String {
    escape(text, true)
}

/// Like [`visible`], for text that must stay on one line: line breaks and tabs are escaped too.
#[must_use]
pub fn one_line(text: &str) -> String {
    escape(text, false)
}

/// A path or file name on one line, reversible: control characters as `\u{…}`, bytes that are not UTF-8 as `\xNN`,
/// a backslash doubled.
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

/// The first `max` characters, with a mark that says how many are left out.
#[must_use]
pub fn shorten(text: &str, max: usize) -> String {
    let total = text.chars().count();
    if total <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max).collect();
    format!("{head}… [{} more characters]", total - max)
}

/// Head and tail of a long text, `max` characters in all, with a mark for what is left out between.
///
/// Returns the text and whether anything was left out.
#[must_use]
pub fn head_tail(text: &str, max: usize) -> (String, bool) {
    let total = text.chars().count();
    if total <= max {
        return (text.to_owned(), false);
    }
    let half = max / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(total - (max - half)).collect();
    (format!("{head}\n… [{} characters left out] …\n{tail}", total - max), true)
}

fn escape(text: &str, keep_layout: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep_layout => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hostile(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Controls (C0, DEL, C1), bidi marks, zero-width and other invisible format characters, line and paragraph separators.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{head_tail, one_line, path_line, visible};

    #[test]
    fn nothing_that_moves_the_cursor_survives() {
        let hostile = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7f}e\rf\u{200b}g\nh";
        for shown in [visible(hostile), one_line(hostile), path_line(hostile.as_bytes())] {
            assert!(!shown.chars().any(|c| c != '\n' && super::is_hostile(c)), "{shown:?}");
        }
        assert_eq!(visible("a\nb\tc"), "a\nb\tc");
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert_eq!(path_line(b"a\\b\xff\n"), "a\\\\b\\xff\\n");
    }

    #[test]
    fn head_and_tail_keep_both_ends_and_say_what_is_missing() {
        let (cut, was_cut) = head_tail(&"ä".repeat(5000), 4000);
        assert!(was_cut);
        assert!(cut.contains("[1000 characters left out]"), "{cut}");
        assert_eq!(head_tail("short", 4000), ("short".to_owned(), false));
    }
}
