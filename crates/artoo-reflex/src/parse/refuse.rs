//! Refusals: what was understood, what was not, and what the person can do.

use artoo_proto::Abstention;

use super::build::{Built, Misfit};
use super::chart::Chart;
use super::item::Context;
use super::lexical::{Phrases, asks, clause_starts};
use super::steps::{self, Cuts};
use crate::concept::Concept;
use crate::english::english_steps;
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};

/// What is always possible: a language model.
const MODEL: &str = "For everything else artoo needs a language model: set OPENAI_BASE_URL (any OpenAI-compatible endpoint) and OPENAI_API_KEY, and name the model with --model.";

/// What the built-in reader does, for people who meet it for the first time.
const ABILITIES: &str = "Without a language model artoo counts, lists, finds and sorts files (by name, kind, size, age, content), shows and compares text, tells facts of this machine, and creates, copies, moves, renames, packs and deletes files after asking.";

fn abstention(understood: String, not_understood: Vec<String>, advice: &str) -> Abstention {
    let remedy = if advice.is_empty() { format!("{ABILITIES} {MODEL}") } else { format!("{advice} {MODEL}") };
    Abstention { understood, not_understood, remedy }
}

pub(super) fn empty() -> Abstention {
    abstention(String::new(), Vec::new(), "")
}

pub(super) fn too_long() -> Abstention {
    abstention(
        String::new(),
        Vec::new(),
        "The request is longer than the built-in reader takes; put it in one short sentence.",
    )
}

pub(super) fn too_many_readings() -> Abstention {
    abstention(String::new(), Vec::new(), "The request can be read in too many ways; put it in fewer words.")
}

pub(super) fn act(verb: &str) -> Abstention {
    let advice = "Without a language model artoo does not change the machine in this way.";
    abstention(String::new(), vec![verb.to_owned()], advice)
}

pub(super) fn slip_in_an_act(said: &str, meant: &str) -> Abstention {
    let advice = format!("Did you mean “{meant}”? Nothing is changed on a guess; write the word out.");
    abstention(String::new(), vec![said.to_owned()], &advice)
}

/// A comma that begins a word (",DE,") is a part of a text, and of which text only quotation marks can tell.
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

fn english_of(steps: &[Built]) -> String {
    english_steps(&super::steps_of(steps))
}

pub(super) fn ambiguous(readings: &[Vec<Built>]) -> Abstention {
    let both: Vec<String> = readings.iter().take(2).map(|reading| format!("“{}”", english_of(reading))).collect();
    let advice = format!("The request can mean {}; say which.", both.join(" or "));
    abstention(String::new(), Vec::new(), &advice)
}

/// The verb, if the request tells artoo to change something in a way it does not know: where a clause begins.
pub(super) fn acting_verb<'a>(text: &'a str, tokens: &[Token]) -> Option<&'a str> {
    clause_starts(tokens).into_iter().find_map(|at| act_at(text, tokens, at))
}

/// The acting verb that begins at a token, unless a longer phrase that asks does ("add up the sizes of").
fn act_at<'a>(text: &'a str, tokens: &[Token], at: usize) -> Option<&'a str> {
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
            verb = text.get(run.first()?.span.start..run.last()?.span.end);
        } else if verb.is_some() && meanings.iter().any(is_known) {
            return None;
        }
    }
    verb
}

/// Whether a request speaks of what was spoken of before ("how many lines does each have"), and names nothing itself.
pub(super) fn takes_up(tokens: &[Token]) -> bool {
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

/// No reading explains every word: names the ones left, and what the rest would mean.
pub(super) fn unexplained(context: &Context<'_>, text: &str, tokens: &[Token], misfits: &[Misfit]) -> Abstention {
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
            let is_strange = !lexicon().knows(&token.folded) || lexicon().acts(&token.folded);
            token.class == Class::Symbol || (token.class == Class::Word && is_strange)
        })
        .cloned()
        .collect();
    // A whole parse whose features clash: every word is known, and the clash is what to tell.
    let says_why = |misfit: &&Misfit| !matches!(misfit, Misfit::Leftover | Misfit::NothingAsked);
    if let Some(misfit) = misfits.iter().find(says_why).or(misfits.first()) {
        let mut said = misfit.to_string();
        if let Some(first) = said.get(..1).map(str::to_uppercase) {
            said.replace_range(..1, &first);
        }
        let blamed = if let Misfit::NameOrText { text } = misfit { vec![text.clone()] } else { Vec::new() };
        return abstention(String::new(), blamed, &format!("{said}."));
    }
    // The fewest words without which the rest is a request: those are what is not understood.
    if !unknown.is_empty() {
        let rest: Vec<Token> = tokens.iter().filter(|token| !unknown.contains(token)).cloned().collect();
        return abstention(meaning(context, &rest).unwrap_or_default(), words(&unknown), "");
    }
    for length in 1..=LONGEST_RUN_LEFT_OUT.min(tokens.len()) {
        for start in 0..=tokens.len() - length {
            let (before, rest) = tokens.split_at(start);
            let (left_out, after) = rest.split_at(length);
            if tokens.len() <= MAX_TOKENS_TO_EXPLAIN
                && let Some(understood) = meaning(context, &[before, after].concat())
            {
                return abstention(understood, words(left_out), "");
            }
        }
    }
    abstention(String::new(), words(tokens), "")
}

/// Words left out at once in search of the ones that were not understood; more would explain nothing.
const LONGEST_RUN_LEFT_OUT: usize = 3;

/// Longest request for which that search is made: it reads the request some three times its length over.
const MAX_TOKENS_TO_EXPLAIN: usize = 20;

/// What tokens would mean as a request, in English.
fn meaning(context: &Context<'_>, tokens: &[Token]) -> Option<String> {
    let cuts = Cuts::of(tokens);
    let chart = Chart::fill(context, tokens, Phrases::Longest, &cuts.ends);
    let readings = steps::readings(context, &chart, &cuts, None, &mut Vec::new());
    readings.first().map(|reading| english_of(reading))
}
