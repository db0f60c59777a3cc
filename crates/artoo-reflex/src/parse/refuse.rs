//! Builds refusals, which say what was understood, what wasn't, and what the user can do.

use std::ops::Range;

use artoo_proto::Abstention;

use super::build::{BuildError, Built};
use super::chart::Chart;
use super::item::Context;
use super::lexical::{Phrases, asks, clause_starts};
use super::pattern::is_word;
use super::steps::{self, StepBoundaries};
use crate::algebra::TypeError;
use crate::concept::Concept;
use crate::english::english_steps;
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};
use crate::texts::{self, decline};

/// The refusal for a clause whose verb asks for an unknown kind of change; `None` without one.
pub(super) fn act(text: &str, tokens: &[Token]) -> Option<Abstention> {
    let verb = text.get(unknown_act(tokens)?)?;
    Some(decline("", vec![verb.to_owned()], &texts::unknown_act(verb)))
}

/// The refusal for a word that starts with a comma (",DE,"), which could be part of a text; `None` without one.
pub(super) fn glued_comma(text: &str, tokens: &[Token]) -> Option<Abstention> {
    let begins = |pair: &[Token]| {
        matches!(pair, [comma, word] if comma.class == Class::Comma
            && comma.span.end == word.span.start
            && text.get(..comma.span.start).is_none_or(|before| before.is_empty() || before.ends_with(char::is_whitespace)))
    };
    let word = tokens.windows(2).find(|pair| begins(pair))?.last()?;
    Some(decline("", vec![format!(",{}", word.raw)], texts::COMMAS))
}

/// The steps of a reading, in English.
fn english_of(steps: &[Built]) -> String {
    english_steps(&super::steps_of(steps))
}

/// The refusal for a request with several readings, which names the first two.
pub(super) fn ambiguous(readings: &[Vec<Built>]) -> Abstention {
    let mut read = readings.iter().map(|reading| english_of(reading));
    let (first, second) = (read.next().unwrap_or_default(), read.next().unwrap_or_default());
    decline("", Vec::new(), &texts::ambiguous(&first, &second))
}

/// The bytes of the first verb of an unknown kind of change that begins a clause.
pub(super) fn unknown_act(tokens: &[Token]) -> Option<Range<usize>> {
    let is_noun = |at: usize| at.checked_sub(1).is_some_and(|before| is_word(tokens.get(before), "the"));
    clause_starts(tokens).into_iter().filter(|at| !is_noun(*at)).find_map(|at| act_at(tokens, at))
}

/// The bytes of the verb of an unknown kind of change at a token, unless a longer phrase there is a question.
fn act_at(tokens: &[Token], at: usize) -> Option<Range<usize>> {
    let is_known = |meaning: &Meaning| asks(meaning) || matches!(meaning, Meaning::Concept(Concept::Do(_)));
    let mut verb = None;
    for end in at + 1..=tokens.len().min(at + lexicon().longest) {
        let run = tokens.get(at..end)?;
        if run.iter().any(|token| token.class != Class::Word) {
            break;
        }
        let words: Vec<&str> = run.iter().map(|token| token.folded.as_str()).collect();
        let meanings = lexicon().meanings(&words.join(" "));
        if meanings.contains(&Meaning::Concept(Concept::Act)) {
            verb = Some(run.first()?.span.start..run.last()?.span.end);
        } else if verb.is_some() && meanings.iter().any(is_known) {
            return None;
        }
    }
    verb
}

/// The refusal for a request without a reading: the unexplained words, and what the other words mean.
pub(super) fn unexplained(context: &Context<'_>, text: &str, tokens: &[Token], errors: &[BuildError]) -> Abstention {
    let words = |tokens: &[Token]| -> Vec<String> {
        tokens
            .iter()
            .filter(|token| !matches!(token.class, Class::Comma | Class::Stop))
            .map(|token| text.get(token.span.clone()).unwrap_or(&token.raw).to_owned())
            .collect()
    };
    let unknown: Vec<Token> = tokens
        .iter()
        .filter(|token| {
            let names_folder = || context.resolve(&token.raw).is_some_and(|place| context.is_folder(&place.path));
            let is_strange = (!lexicon().knows(&token.folded) && !names_folder()) || lexicon().acts(&token.folded);
            token.class == Class::Symbol || (token.class == Class::Word && is_strange)
        })
        .cloned()
        .collect();
    let without = |left_out: &[Token]| {
        let rest: Vec<Token> = tokens.iter().filter(|token| !left_out.contains(token)).cloned().collect();
        meaning(context, &rest)
    };
    // One word is to blame if the rest is a request.
    let is_short = tokens.len() <= MAX_TOKENS_TO_EXPLAIN;
    let blamed = unknown.iter().filter(|_| is_short).take(MAX_WORDS_TO_BLAME);
    if let Some((word, understood)) = blamed.clone().find_map(|word| Some((word, without(std::slice::from_ref(word))?)))
    {
        return decline(&understood, words(std::slice::from_ref(word)), "");
    }
    // If every word is known but the features don't fit together, tell the user why.
    let says_why = |error: &&BuildError| match error {
        BuildError::Leftover | BuildError::NothingAsked => false,
        BuildError::NothingBefore => unknown.is_empty(),
        _ => true,
    };
    if let Some(error) = errors.iter().find(says_why) {
        let blamed = if let BuildError::NameOrText { text } = error { vec![text.clone()] } else { Vec::new() };
        return decline("", blamed, &mismatched(tokens, error).unwrap_or_else(|| error.sentence()));
    }
    if !unknown.is_empty() {
        return decline(&without(&unknown).unwrap_or_default(), words(&unknown), "");
    }
    for length in 1..=LONGEST_RUN_LEFT_OUT.min(tokens.len()) {
        for start in 0..=tokens.len() - length {
            let (before, rest) = tokens.split_at(start);
            let (left_out, after) = rest.split_at(length);
            if tokens.len() <= MAX_TOKENS_TO_LEAVE_OUT
                && let Some(understood) = meaning(context, &[before, after].concat())
            {
                return decline(&understood, vec![words(left_out).join(" ")], "");
            }
        }
    }
    match errors.first() {
        Some(error) => decline("", Vec::new(), &error.sentence()),
        None => decline("", words(tokens), ""),
    }
}

/// A sentence about the word that doesn't fit: a kind of file that may be a folder, or a sort order for other elements.
fn mismatched(tokens: &[Token], error: &BuildError) -> Option<String> {
    let said = |test: fn(&Meaning) -> bool| {
        let means = |token: &&Token| lexicon().meanings(&token.folded).iter().any(test);
        tokens.iter().rfind(means).map(|token| token.raw.as_str())
    };
    match error {
        BuildError::Type(TypeError::Property { of: "a folder", .. }) => {
            said(|meaning| matches!(meaning, Meaning::FileType { .. })).map(texts::kind_or_folder)
        }
        BuildError::Type(TypeError::Operand { operator: "this order", .. }) => said(|meaning| {
            matches!(meaning, Meaning::Concept(Concept::Superlative { .. } | Concept::Key(_) | Concept::Sorted { .. }))
        })
        .map(texts::other_order),
        _ => None,
    }
}

/// Maximum number of unknown words of which each is left out in turn, to find the one to blame.
const MAX_WORDS_TO_BLAME: usize = 3;

/// Why a clause is not read, in one sentence: the fewest words without which it could be read, and what to say instead.
pub(super) fn why(context: &Context<'_>, text: &str, tokens: &[Token]) -> String {
    if tokens.len() > MAX_TOKENS_TO_EXPLAIN {
        return "not read; say it in short sentences".to_owned();
    }
    let found = act(text, tokens).unwrap_or_else(|| unexplained(context, text, tokens, &[]));
    let blamed = found.not_understood.join(" ");
    if found.not_understood.len() == tokens.len() || blamed.is_empty() {
        return "not read; name the files, the exact texts in quotes, and numbers".to_owned();
    }
    format!("“{blamed}” is not read; put it in quotes if these very words are meant")
}

/// Maximum number of neighbouring words that are left out to find the unexplained ones.
const LONGEST_RUN_LEFT_OUT: usize = 3;

/// Maximum length of a request, in tokens, whose refusal names the unexplained words.
const MAX_TOKENS_TO_EXPLAIN: usize = 20;

/// Maximum number of tokens of a request that is parsed again and again, each time without some of its words.
const MAX_TOKENS_TO_LEAVE_OUT: usize = 7;

/// What a run of tokens asks for, in English; `None` if it has no reading.
fn meaning(context: &Context<'_>, tokens: &[Token]) -> Option<String> {
    let boundaries = StepBoundaries::of(tokens);
    let mut chart = Chart::fill(context, tokens, Phrases::Longest, &boundaries.ends);
    chart.has_forms = false;
    let readings = steps::readings(context, &chart, &boundaries, None, &mut Vec::new());
    readings.first().map(|reading| english_of(reading))
}
