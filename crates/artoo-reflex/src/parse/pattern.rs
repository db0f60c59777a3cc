//! Patterns of words with slots, as in `{append|add} <text>`: parsed from a data file and matched against tokens.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::lex::{Class, Token};

/// A part of a pattern: a word, a slot or a choice. Patterns are parsed once and never freed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    /// One word, or several separated by bars of which one must match, each as the lexer folds it; an empty word matches
    /// without a token.
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
    Reader::new(text, named).choices()
}

/// Parses the text of a pattern such as `{save|write} $it {in|} to <file>`.
pub(super) fn pattern(text: &'static str, named: &Named) -> Pattern {
    Reader::new(text, named).sequence()
}

/// Reads the text of patterns once, from left to right: at start-up all tables are parsed.
struct Reader<'a> {
    text: &'static str,
    at: usize,
    named: &'a Named,
    /// Pieces and alternatives of lists that are still being read; a finished list is copied out in its exact length.
    pieces: Vec<Piece>,
    choices: Vec<Pattern>,
}

impl<'a> Reader<'a> {
    const fn new(text: &'static str, named: &'a Named) -> Self {
        Self { text, at: 0, named, pieces: Vec::new(), choices: Vec::new() }
    }

    /// The byte at the position; `None` at the end.
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The alternatives up to a closing brace or the end.
    fn choices(&mut self) -> &'static [Pattern] {
        let start = self.choices.len();
        loop {
            let choice = self.sequence();
            self.choices.push(choice);
            if self.byte() != Some(b'|') {
                return kept(&mut self.choices, start, &CHOICES, &[]);
            }
            self.at += 1;
        }
    }

    /// The pieces up to a bar, a closing brace or the end.
    fn sequence(&mut self) -> Pattern {
        let start = self.pieces.len();
        loop {
            match self.byte() {
                None | Some(b'|' | b'}') => return kept(&mut self.pieces, start, &PIECES, Piece::Word("")),
                Some(b' ') => self.at += 1,
                Some(b'{') => {
                    self.at += 1;
                    let piece = self.words().unwrap_or_else(|| Piece::Choice(self.choices()));
                    self.pieces.push(piece);
                    self.at += 1;
                }
                Some(_) => {
                    let piece = self.word();
                    self.pieces.push(piece);
                }
            }
        }
    }

    /// The alternatives up to the closing brace, if they are single words.
    fn words(&mut self) -> Option<Piece> {
        let rest = self.text.get(self.at..)?;
        let end = rest.find(['{', '}', '$', '<', ' ']).filter(|end| rest.as_bytes().get(*end) == Some(&b'}'))?;
        self.at += end;
        rest.get(..end).map(Piece::Word)
    }

    /// The word, slot or named alternatives at the position.
    fn word(&mut self) -> Piece {
        let start = self.at;
        while self.byte().is_some_and(|byte| !matches!(byte, b' ' | b'{' | b'}' | b'|')) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        let slot = word.strip_prefix('<').and_then(|inside| inside.strip_suffix('>'));
        let shared = word.strip_prefix('$').and_then(|name| self.named.get(name));
        match (slot, shared) {
            (Some(slot), _) => Piece::Slot(slot),
            (_, Some(shared)) => Piece::Choice(shared),
            _ => Piece::Word(word),
        }
    }
}

/// Removes the elements from a position on and keeps them to the end of the program.
fn kept<T: Copy>(elements: &mut Vec<T>, start: usize, room: &Room<T>, empty: T) -> &'static [T] {
    let taken = room.keep(elements.get(start..).unwrap_or_default(), empty);
    elements.truncate(start);
    taken
}

/// Memory for the short lists of all patterns, which are never freed: one allocation for many lists takes less memory than
/// one for each list.
struct Room<T: 'static>(Mutex<&'static mut [T]>);

static PIECES: Room<Piece> = Room(Mutex::new(&mut []));
static CHOICES: Room<Pattern> = Room(Mutex::new(&mut []));

impl<T: Copy> Room<T> {
    /// Number of list elements in one allocation.
    const STEP: usize = 512;

    fn keep(&self, elements: &[T], empty: T) -> &'static [T] {
        let mut room = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if room.len() < elements.len() {
            *room = vec![empty; Self::STEP.max(elements.len())].leak();
        }
        let (taken, rest) = std::mem::take(&mut *room).split_at_mut(elements.len());
        taken.copy_from_slice(elements);
        *room = rest;
        taken
    }
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
                Piece::Word(words) => next.extend(words.split('|').filter_map(|word| {
                    if word.is_empty() { Some(from) } else { is_word(tokens.get(from), word).then_some(from + 1) }
                })),
                Piece::Choice(choices) => next.extend(choices.iter().flat_map(|choice| ends(choice, tokens, from))),
                Piece::Slot(_) => {}
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

/// Whether a request wishes for something new, as "I'd like an empty file named x.txt" does.
pub(super) fn wishes_new(tokens: &[Token]) -> bool {
    let said: Vec<&str> = tokens.iter().take(4).map(|token| token.folded.as_str()).collect();
    let (is_wish, rest) = match said.as_slice() {
        ["i", "want" | "need", rest @ ..] => (true, rest),
        ["i'd", "like", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    is_wish && matches!(rest, ["a" | "an", "empty" | "new"])
}
