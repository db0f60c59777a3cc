//! Patterns of words with slots, as in `{append|add} <text>`: parsed from a data file and matched against tokens.

use std::collections::BTreeMap;

use crate::lex::{Class, Token};

/// A part of a pattern: a word, a slot or a choice. Patterns are parsed once and never freed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    /// A word as the lexer folds it.
    Word(&'static str),
    /// Alternatives, one of which must match; an empty one matches nothing.
    Choice(&'static [Pattern]),
    /// A place for a value: its kind, and after a colon the name that the value gets if it is another.
    Slot(&'static str),
}

/// The pieces of a pattern, in order.
pub(super) type Pattern = &'static [Piece];

/// Named alternatives, which patterns contain as `$name`.
pub(super) type Named = BTreeMap<&'static str, &'static [Pattern]>;

/// Parses a text with alternatives between bars into one pattern for each.
pub(super) fn choices(text: &'static str, named: &Named) -> &'static [Pattern] {
    split(text, '|').into_iter().map(|choice| pattern(choice, named)).collect::<Vec<_>>().leak()
}

/// Parses the text of a pattern such as `{save|write} $it {in|} to <file>`.
pub(super) fn pattern(text: &'static str, named: &Named) -> Pattern {
    // Thousands of patterns are one word long, and stay in memory.
    let mut pieces = Vec::with_capacity(1);
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (piece, after) = if rest.starts_with('{') {
            let (inside, after) = group(rest);
            (Piece::Choice(choices(inside, named)), after)
        } else {
            let end = rest.find([' ', '{']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let slot = word.strip_prefix('<').and_then(|inside| inside.strip_suffix('>'));
            let shared = word.strip_prefix('$').and_then(|name| named.get(name));
            match (slot, shared) {
                (Some(slot), _) => (Piece::Slot(slot), after),
                (_, Some(shared)) => (Piece::Choice(shared), after),
                _ => (Piece::Word(word), after),
            }
        };
        pieces.push(piece);
        rest = after.trim_start();
    }
    pieces.leak()
}

/// The text inside the braces at the start of a text, and the text after them.
fn group(text: &'static str) -> (&'static str, &'static str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (text.get(1..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        }
    }
    (text.get(1..).unwrap_or_default(), "")
}

/// The parts of a text between separators that are outside of braces.
pub(super) fn split(text: &'static str, separator: char) -> Vec<&'static str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if c == separator && depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// All positions where a pattern without slots ends that starts at token `start`; empty if it doesn't match.
pub(super) fn ends(pieces: &[Piece], tokens: &[Token], start: usize) -> Vec<usize> {
    let mut at = vec![start];
    for piece in pieces {
        let mut next = Vec::new();
        for from in at {
            match piece {
                Piece::Word(word) if is_word(tokens.get(from), word) => next.push(from + 1),
                Piece::Choice(choices) => next.extend(choices.iter().flat_map(|choice| ends(choice, tokens, from))),
                Piece::Word(_) | Piece::Slot(_) => {}
            }
        }
        at = next;
    }
    at
}

/// Whether a token is this word, not quoted; only options such as `-R` tell upper from lower case.
pub(super) fn is_word(token: Option<&Token>, word: &str) -> bool {
    let is_it = |token: &Token| if word.starts_with('-') { token.raw == word } else { token.folded == word };
    token.is_some_and(|token| token.class != Class::Quoted && is_it(token))
}

/// The text without its plural "s"; `None` if it has none or is too short to be a plural.
pub(super) fn singular(text: &str) -> Option<&str> {
    text.strip_suffix('s').filter(|stem| stem.len() > 3)
}

/// Whether a name is that of a table, to go by its ending.
pub(super) fn is_table_name(name: &str) -> bool {
    [".csv", ".tsv", ".json"].iter().any(|ending| name.to_lowercase().ends_with(ending))
}
