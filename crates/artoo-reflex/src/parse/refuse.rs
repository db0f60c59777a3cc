//! Builds refusals, which say what was understood, what wasn't, and what the user can do.

use std::ops::Range;

use artoo_proto::Abstention;

use super::build::{BuildError, Built};
use super::chart::Chart;
use super::item::Context;
use super::lexical::{Phrases, asks, clause_starts};
use super::steps::{self, StepBoundaries};
use crate::concept::Concept;
use crate::english::english_steps;
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};

/// Advice to configure a language model.
const MODEL: &str = "For everything else artoo needs a language model: set OPENAI_BASE_URL (any OpenAI-compatible endpoint) and OPENAI_API_KEY, and name the model with --model.";

/// What the built-in reader can do.
const ABILITIES: &str = "Without a language model artoo counts, lists, finds and sorts files (by name, kind, size, age, content), shows and compares text, tells facts of this machine, and creates, copies, moves, renames, packs and deletes files after asking.";

/// A refusal from what was understood, the words that were not, and advice to the user.
fn abstention(understood: String, not_understood: Vec<String>, advice: &str) -> Abstention {
    let remedy = if advice.is_empty() { format!("{ABILITIES} {MODEL}") } else { format!("{advice} {MODEL}") };
    Abstention { understood, not_understood, remedy }
}

/// The refusal for an empty request.
pub(super) fn empty() -> Abstention {
    abstention(String::new(), Vec::new(), "")
}

/// The refusal for a request that is too long.
pub(super) fn too_long() -> Abstention {
    abstention(
        String::new(),
        Vec::new(),
        "The request is longer than the built-in reader takes; put it in one short sentence.",
    )
}

/// The refusal for a request with too many readings.
pub(super) fn too_many_readings() -> Abstention {
    abstention(String::new(), Vec::new(), "The request can be read in too many ways; put it in fewer words.")
}

/// The refusal for a clause whose verb asks for an unknown kind of change; `None` without one.
pub(super) fn act(text: &str, tokens: &[Token]) -> Option<Abstention> {
    let verb = text.get(unknown_act(tokens)?)?;
    let advice = "Without a language model artoo does not change the machine in this way.";
    Some(abstention(String::new(), vec![verb.to_owned()], advice))
}

/// The refusal for a change with a corrected typo, as the correction may be wrong.
pub(super) fn typo_in_change(said: &str, meant: &str) -> Abstention {
    let advice = format!("Did you mean “{meant}”? Nothing is changed on a guess; write the word out.");
    abstention(String::new(), vec![said.to_owned()], &advice)
}

/// The refusal for a word that starts with a comma (",DE,"), which could be part of a text; `None` without one.
pub(super) fn glued_comma(text: &str, tokens: &[Token]) -> Option<Abstention> {
    let begins = |pair: &[Token]| {
        matches!(pair, [comma, word] if comma.class == Class::Comma
            && comma.span.end == word.span.start
            && text.get(..comma.span.start).is_none_or(|before| before.is_empty() || before.ends_with(char::is_whitespace)))
    };
    let word = tokens.windows(2).find(|pair| begins(pair))?.last()?;
    let advice = "Put the text with its commas in quotation marks.";
    Some(abstention(String::new(), vec![format!(",{}", word.raw)], advice))
}

/// The steps of a reading in English.
fn english_of(steps: &[Built]) -> String {
    english_steps(&super::steps_of(steps))
}

/// The refusal for a request with several readings, which it lists.
pub(super) fn ambiguous(readings: &[Vec<Built>]) -> Abstention {
    let both: Vec<String> = readings.iter().take(2).map(|reading| format!("“{}”", english_of(reading))).collect();
    let advice = format!("The request can mean {}; say which.", both.join(" or "));
    abstention(String::new(), Vec::new(), &advice)
}

/// The bytes of the first verb of an unknown kind of change that begins a clause.
pub(super) fn unknown_act(tokens: &[Token]) -> Option<Range<usize>> {
    clause_starts(tokens).into_iter().find_map(|at| act_at(tokens, at))
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

/// Whether a request refers to an earlier result and names no file or folder itself.
pub(super) fn refers_back(tokens: &[Token]) -> bool {
    let means = |token: &Token, test: fn(&Meaning) -> bool| lexicon().meanings(&token.folded).iter().any(test);
    let is_word = |token: &Token| matches!(token.class, Class::Word | Class::Number(_) | Class::Comma | Class::Stop);
    let names = |meaning: &Meaning| match meaning {
        Meaning::FileType { .. } => true,
        Meaning::Concept(concept) => matches!(concept, Concept::Noun { .. } | Concept::Place(_)),
    };
    let refers = |meaning: &Meaning| {
        matches!(meaning, Meaning::Concept(Concept::Reference(_) | Concept::One { .. } | Concept::Each))
    };
    tokens.iter().all(|token| is_word(token) && !means(token, names)) && tokens.iter().any(|token| means(token, refers))
}

/// The refusal for a request without a reading: the unexplained words, and what the rest means.
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
    // If every word is known but the features don't fit together, tell the user why.
    let says_why = |error: &&BuildError| !matches!(error, BuildError::Leftover | BuildError::NothingAsked);
    if let Some(error) = errors.iter().find(says_why).or(errors.first()) {
        let mut said = error.to_string();
        if let Some(first) = said.get(..1).map(str::to_uppercase) {
            said.replace_range(..1, &first);
        }
        let blamed = if let BuildError::NameOrText { text } = error { vec![text.clone()] } else { Vec::new() };
        return abstention(String::new(), blamed, &format!("{said}."));
    }
    // The words not understood are the smallest number of words without which the rest is a request.
    if !unknown.is_empty() {
        let rest: Vec<Token> = tokens.iter().filter(|token| !unknown.contains(token)).cloned().collect();
        return abstention(meaning(context, &rest).unwrap_or_default(), words(&unknown), "");
    }
    for length in 1..=LONGEST_RUN_LEFT_OUT.min(tokens.len()) {
        for start in 0..=tokens.len() - length {
            let (before, rest) = tokens.split_at(start);
            let (left_out, after) = rest.split_at(length);
            if tokens.len() <= MAX_TOKENS_TO_LEAVE_OUT
                && let Some(understood) = meaning(context, &[before, after].concat())
            {
                return abstention(understood, words(left_out), "");
            }
        }
    }
    abstention(String::new(), words(tokens), "")
}

/// Why a clause is not read, in one sentence: the fewest words without which the rest is, and what to say instead.
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

/// What a run of tokens means as a request, in English; `None` if it has no reading.
fn meaning(context: &Context<'_>, tokens: &[Token]) -> Option<String> {
    let boundaries = StepBoundaries::of(tokens);
    let mut chart = Chart::fill(context, tokens, Phrases::Longest, &boundaries.ends);
    chart.has_forms = false;
    let readings = steps::readings(context, &chart, &boundaries, None, &mut Vec::new());
    readings.first().map(|reading| english_of(reading))
}
