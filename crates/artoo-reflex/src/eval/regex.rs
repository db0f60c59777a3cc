//! Regular expressions for lines, in the syntax that `grep -E` and `regex-automata` read alike.

use std::cell::RefCell;
use std::iter::Peekable;
use std::str::Chars;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// Whether a text has signs of regular expressions that neither wildcards nor plain texts have; "[x]" is a plain text.
pub(crate) fn is_meant(text: &str) -> bool {
    const SIGNS: [&str; 13] = [".*", ".+", ".?", "\\", "|", "]+", "]*", ")+", ")*", "]{", "){", "[^", "[:"];
    let is_range = |part: &str| part.split_once(']').is_some_and(|(class, _)| class.contains('-'));
    let has_range = text.split('[').skip(1).any(is_range);
    SIGNS.iter().any(|sign| text.contains(sign)) || has_range || text.starts_with('^') || text.ends_with('$')
}

/// Whether a text has a character that is special in a basic regular expression.
pub(crate) fn has_signs(text: &str) -> bool {
    text.contains(['.', '[', '*', '^', '$', '\\'])
}

/// The extended regular expression for a pattern, `basic` as `grep` reads it without `-E`; `None` if programs read the
/// pattern in different ways.
pub(crate) fn extended(pattern: &str, basic: bool) -> Option<String> {
    let mut found = String::new();
    // Whether something to repeat stands before, and whether an alternative begins.
    let (mut repeats, mut begins) = (false, true);
    let mut rest = pattern.chars().peekable();
    while let Some(sign) = rest.next() {
        let escaped = if sign == '\\' { Some(rest.next()?) } else { None };
        let is_operator = |c: char| matches!(c, '+' | '?' | '|' | '(' | ')' | '{' | '}');
        match (sign, escaped) {
            (_, Some('d')) => found.push_str("[0-9]"),
            (_, Some('D')) => found.push_str("[^0-9]"),
            (_, Some(class @ ('w' | 'W' | 's' | 'S' | 'b' | 'B'))) => found.extend(['\\', class]),
            (_, Some(operator)) if basic && is_operator(operator) => {
                (repeats, begins) = operate(&mut found, operator, repeats)?;
                continue;
            }
            // Some mean "or" by it.
            (_, Some('|')) => return None,
            (_, Some(mark)) if mark.is_ascii_punctuation() => found.extend(['\\', mark]),
            (_, Some(_)) => return None,
            ('[', _) => found.push_str(&class(&mut rest)?),
            ('^', _) if begins => {
                found.push('^');
                continue;
            }
            ('$', _) if rest.peek().is_none() => found.push('$'),
            ('^' | '$' | '\n', _) => return None,
            (operator, _) if operator == '*' || (!basic && is_operator(operator)) => {
                (repeats, begins) = operate(&mut found, operator, repeats)?;
                continue;
            }
            (operator, _) if is_operator(operator) => found.extend(['\\', operator]),
            (literal, _) => found.push(literal),
        }
        (repeats, begins) = (true, false);
    }
    compiled(&found).map(|_| found)
}

/// Appends an operator of a regular expression; returns whether a repetition may follow it, and whether an alternative
/// starts after it. `None` for a repetition with nothing to repeat.
fn operate(found: &mut String, operator: char, repeats: bool) -> Option<(bool, bool)> {
    found.push(operator);
    match operator {
        '|' | '(' => Some((false, true)),
        ')' => Some((true, false)),
        '*' | '+' | '?' | '{' => repeats.then_some((false, false)),
        _ => Some((false, false)),
    }
}

/// A character class, whose `[` has been read, up to its `]`; `None` if programs read it in different ways.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut found = "[".to_owned();
    while let Some(sign) = rest.next() {
        let is_first = matches!(found.as_str(), "[" | "[^");
        let is_named = sign == '[' && rest.peek() == Some(&':');
        let is_twice = matches!(sign, '&' | '-' | '~') && rest.peek() == Some(&sign);
        if sign == '\\' || is_twice || (sign == '[' && !is_named) || (is_first && sign == ']') {
            return None;
        }
        found.push(sign);
        if is_named {
            found.extend(rest.by_ref().take_while(|c| *c != ']').chain([']']));
        } else if sign == ']' {
            return Some(found);
        }
    }
    None
}

/// The compiled regular expression; `None` if it is none.
fn compiled(pattern: &str) -> Option<Regex> {
    let any_bytes = syntax::Config::new().utf8(false);
    Regex::builder().syntax(any_bytes).configure(Regex::config().utf8_empty(false)).build(pattern).ok()
}

/// Whether a line has a match of an extended regular expression.
pub(super) fn is_match(pattern: &str, line: &[u8]) -> bool {
    thread_local! {
        /// The last regular expression, compiled: all lines of a file are matched against the same one.
        static LAST: RefCell<Option<(String, Regex)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(known, _)| known != pattern) {
            *last = compiled(pattern).map(|regex| (pattern.to_owned(), regex));
        }
        last.as_ref().is_some_and(|(_, regex)| regex.is_match(line))
    })
}

#[cfg(test)]
mod tests {
    use super::{extended, is_match};

    /// Patterns are translated where `grep` and this crate agree, and refused otherwise.
    #[test]
    fn only_common_expressions_are_read() {
        let cases = [
            (r"^a.*b$", true, Some(r"^a.*b$")),
            (r"a\|b", true, Some("a|b")),
            (r"a\|b", false, None),
            ("a|b", true, Some(r"a\|b")),
            ("a|b", false, Some("a|b")),
            ("(ab)+c?", false, Some("(ab)+c?")),
            ("a+", true, Some(r"a\+")),
            (r"\d{2}", false, Some("[0-9]{2}")),
            ("[[:alpha:]_-]x", false, Some("[[:alpha:]_-]x")),
            (r"\$5\.00", false, Some(r"\$5\.00")),
            (r"(a)\1", false, None),
            ("a*?", false, None),
            ("*a", false, None),
            ("(?i)a", false, None),
            (r"[\d]", false, None),
            ("[a&&b]", false, None),
            ("a^b", false, None),
            ("[a", false, None),
        ];
        for (pattern, basic, expected) in cases {
            assert_eq!(extended(pattern, basic).as_deref(), expected, "{pattern}");
        }
    }

    /// Lines are matched by characters, and one pattern after the other.
    #[test]
    fn lines_match_by_characters() {
        assert!(is_match("^.{3}$", "aäb".as_bytes()) && !is_match("^.{4}$", "aäb".as_bytes()));
        assert!(is_match("[0-9]", b"\xff7") && !is_match("[0-9]", b"seven"));
    }
}
