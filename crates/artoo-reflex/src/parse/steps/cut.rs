//! Texts and names that are read without words that may belong to them.

use crate::algebra::{Act, Step};
use crate::concept::Concept;
use crate::english::english;
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};
use crate::parse::clauses::phrase;
use crate::parse::pattern::is_word;

/// Whether words without content stand before a new name or text that is not quoted, so that they may belong to it; not
/// those right after the verb, as in "create the x folder".
pub(super) fn is_cut(said: &[Token], text: &str) -> bool {
    let text = text.trim_end();
    let is_it = |token: &Token| token.class != Class::Quoted && text.rsplit('/').next() == Some(token.raw.as_str());
    let Some(at) = said.iter().rposition(is_it) else { return false };
    let is_empty = |token: &&Token| lexicon().meanings(&token.folded).contains(&Meaning::Concept(Concept::Skip));
    let before = said.get(..at).unwrap_or_default();
    let skipped = before.iter().rev().take_while(is_empty).count();
    let acts = |token: &Token| {
        lexicon().meanings(&token.folded).iter().any(|meaning| matches!(meaning, Meaning::Concept(Concept::Do(_))))
    };
    skipped > 0 && before.iter().rev().nth(skipped).is_some_and(|announcing| !acts(announcing))
}

/// Whether a filler such as "here" or "please" stands right after a text of a step that is not quoted, or in its place.
pub(super) fn loses_words(said: &[Token], step: &Step) -> bool {
    let is_act = matches!(step, Step::Do(_));
    let texts = texts(step);
    let is_end = |token: &Token| {
        let is_text = |text: &String| text.rsplit([' ', '\n']).next() == Some(token.raw.as_str());
        matches!(token.class, Class::Word | Class::Number(_) | Class::Symbol) && texts.iter().any(is_text)
    };
    let is_quoted = |token: &Token| said.iter().any(|other| other.class == Class::Quoted && other.raw == token.raw);
    (0..said.len()).any(|at| {
        let next = after_fillers(said, at);
        let follows = at
            .checked_sub(1)
            .and_then(|before| said.get(before))
            .is_some_and(|token| is_end(token) && !is_quoted(token));
        // "search for hello in a.txt" seeks nothing but a filler.
        let seeks = phrase("searches", said, at).map(|from| (from, after_fillers(said, from)));
        let is_part = |end: usize| {
            phrase("joints", said, end).is_some()
                || (is_act && said.get(end).is_none_or(|token| token.class != Class::Word))
        };
        let seeks_nothing = seeks.is_some_and(|(from, end)| end > from && is_word(said.get(end), "in"));
        (next > at && follows && is_part(next)) || seeks_nothing
    })
}

/// The position after fillers.
fn after_fillers(said: &[Token], at: usize) -> usize {
    let mut at = at;
    while let Some(end) = phrase("fillers", said, at) {
        at = end;
    }
    at
}

/// The texts that a step writes, replaces or looks for.
fn texts(step: &Step) -> Vec<String> {
    // A query's texts are those in quotes in its sentence.
    let quoted = |sentence: String| sentence.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    match step {
        Step::Do(Act::CreateFile { text, .. } | Act::Insert { text, .. }) => vec![text.trim_end().to_owned()],
        Step::Do(Act::Save { of, .. }) | Step::Ask(of) => quoted(english(of)),
        Step::Do(act) => act.selection().map(|of| quoted(english(of))).unwrap_or_default(),
    }
}
