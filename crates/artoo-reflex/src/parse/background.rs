//! Clauses that only tell how things are, as "my desktop is a mess" before a request.

use std::ops::Range;

use super::clauses::{is_noun, lists, phrase};
use super::pattern::is_word;
use super::steps::{begins_a_step, begins_anew};
use crate::concept::Concept;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{Meaning, lexicon};

/// Maximum number of words before the verb of a statement.
const MAX_SUBJECT: usize = 8;

/// What an unread clause tells, if it states something and seems to ask for nothing and to restrict nothing.
///
/// Code can't be sure of that, so such a clause counts as background only after the user confirmed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Background {
    /// It names no files, folders or kinds of them.
    Circumstances,
    /// It names some, which could be what other clauses are about.
    Files,
}

/// What the words of a clause only tell; `None` if they may ask for something or restrict it.
pub(crate) fn background_of(words: &str) -> Option<Background> {
    background(&lex(words))
}

/// What the tokens of a clause only tell; `None` if they may ask for something or restrict it.
pub(super) fn background(tokens: &[Token]) -> Option<Background> {
    let mut start = 0;
    let skips = |at: usize| phrase("courtesy", tokens, at).or_else(|| phrase("because", tokens, at));
    while let Some(end) = skips(start).or_else(|| is_comma(tokens, start).then_some(start + 1)) {
        start = end;
    }
    // What opens like this may restrict the clause beside it.
    if ["limits", "frames", "corrections"].iter().any(|list| phrase(list, tokens, start).is_some()) {
        return None;
    }
    let verb = verb(tokens, start)?;
    let is_plain = |token: &Token| match token.class {
        Class::Stop => token.raw != "?",
        Class::Word => true,
        _ => matches!(token.class, Class::Comma | Class::Path | Class::FileName),
    };
    let demands = |at: usize| {
        let lists = ["demands", "conditions", "exceptions", "negations"];
        let is_sent = !is_noun(tokens, at) && phrase("sends", tokens, at).is_some();
        let is_denied = tokens.get(at).is_some_and(|token| token.folded.ends_with("n't"));
        let is_aside = phrase("asides", tokens, at).is_some();
        let is_end = is_word(tokens.get(at), "otherwise") && tokens.iter().skip(at + 1).all(is_mark);
        let is_listed = lists.iter().any(|list| phrase(list, tokens, at).is_some()) && !is_aside && !is_end;
        !verb.contains(&at) && (is_denied || is_listed || is_sent || begins_anew(tokens, at))
    };
    if !tokens.iter().all(is_plain) || (start..tokens.len()).any(demands) {
        return None;
    }
    Some(if tokens.iter().any(names_files) { Background::Files } else { Background::Circumstances })
}

/// Whether a sentence of its own tells something of its speaker, and neither names files nor restricts what is asked.
pub(super) fn is_told(tokens: &[Token]) -> bool {
    let lists = ["exceptions", "negations", "conditions", "limits"];
    // "it's about taxes" may say which files are meant.
    let words = ["about", "called", "named", "with", "in", "from", "only"];
    let is_such = |at: usize| tokens.get(at).is_some_and(|token| words.contains(&&*token.folded));
    let restricts = |at: usize| is_such(at) || lists.iter().any(|list| phrase(list, tokens, at).is_some());
    phrase("subject and verb", tokens, 0).is_some()
        && tokens.iter().all(|token| token.class == Class::Word && !names_files(token))
        && !(1..tokens.len()).any(restricts)
}

/// Whether words before a colon only say what a question is for: "for the report", "before I leave".
pub(super) fn is_purpose(tokens: &[Token]) -> bool {
    let opens = match tokens {
        [first, second, ..] => {
            is_word(Some(first), "for") || is_word(Some(first), "before") && ["i", "we"].contains(&&*second.folded)
        }
        _ => false,
    };
    opens && tokens.iter().all(|token| token.class == Class::Word && !names_files(token))
}

/// Whether a token is a comma or other punctuation.
fn is_mark(token: &Token) -> bool {
    matches!(token.class, Class::Comma | Class::Stop)
}

/// Whether the token at a position is a comma.
fn is_comma(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.class == Class::Comma)
}

/// Whether a statement of fact such as "my disk is full" begins at a position.
pub(super) fn states(tokens: &[Token], start: usize) -> bool {
    phrase("limits", tokens, start).is_none() && verb(tokens, start).is_some()
}

/// The position of the verb of a statement that begins at `start`, or of words that say what a change is for ("so
/// that").
fn verb(tokens: &[Token], start: usize) -> Option<Range<usize>> {
    if let Some(end) = phrase("purposes", tokens, start) {
        return Some(start..end);
    }
    let is_announced = tokens.last().is_some_and(|token| token.raw == ":");
    if let Some(end) = phrase("announces", tokens, start).filter(|_| is_announced) {
        return Some(start..end);
    }
    // Only the name of a file may follow: anything else could be asked for.
    if let Some(end) = phrase("opens files", tokens, start) {
        let rest = tokens.get(end..).unwrap_or_default();
        let is_file = |token: &Token| matches!(token.class, Class::Path | Class::FileName);
        let is_only = rest.iter().all(|token| is_file(token) || is_mark(token))
            && rest.iter().filter(|token| is_file(token)).count() == 1;
        return is_only.then_some(start..end);
    }
    if let Some(end) = phrase("subject and verb", tokens, start) {
        return Some(start..end);
    }
    // A request begins with its verb; "the upload" is a noun.
    let is_subject = phrase("determiners", tokens, start).is_some();
    let is_listed = || ["verbs"].into_iter().chain(lists("as ")).any(|list| phrase(list, tokens, start).is_some());
    if !is_subject && (begins_a_step(tokens, start) || is_listed()) {
        return None;
    }
    let mut verbs = (start + 1..=start + MAX_SUBJECT).filter_map(|at| Some(at..phrase("telling", tokens, at)?));
    // "that have a space in their names" restricts what it stands behind; "that is a mess" doesn't.
    let is_plural =
        |verb: &Range<usize>| ["have", "are", "were"].iter().any(|word| is_word(tokens.get(verb.start), word));
    let restricts = |verb: &Range<usize>| {
        let before = verb.start - 1;
        is_word(tokens.get(before), "that") && (before > start || is_plural(verb))
    };
    verbs.find(|verb| !is_comma(tokens, verb.start.saturating_sub(1))).filter(|verb| !restricts(verb))
}

/// Whether a word names a file, a folder, a file type or a known folder such as Downloads.
fn names_files(token: &Token) -> bool {
    let is_name = |meaning: &Meaning| match meaning {
        Meaning::FileType { .. } => true,
        Meaning::Concept(concept) => matches!(concept, Concept::Noun { .. } | Concept::Place(_)),
    };
    match token.class {
        Class::Word => lexicon().meanings(&token.folded).iter().any(is_name),
        _ => !is_mark(token),
    }
}
