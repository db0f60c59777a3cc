//! Steps: where a request can be cut, and what its pieces mean one after the other.

#![expect(clippy::wildcard_enum_match_arm, reason = "words that begin a step are named; every other does not")]

use super::antecedent::Antecedent;
use super::build::{Built, Misfit, build};
use super::chart::Chart;
use super::draft::only;
use super::item::Context;
use crate::algebra::Step;
use crate::concept::{Concept, Reference};
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};

/// Most steps of one request: more than people put in one sentence.
const MAX_STEPS: usize = 5;

/// Longest run of marks and words between two steps (", and after that").
const MOST_WORDS_BETWEEN: usize = 4;

/// Places where one step may end and the next begin.
pub(super) struct Cuts {
    width: usize,
    /// The words between two steps: from (included) to (excluded).
    between: Vec<(usize, usize)>,
    /// Where a step may end.
    pub(super) ends: Vec<usize>,
}

impl Cuts {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut between = Vec::new();
        for start in 1..tokens.len() {
            for end in start + 1..=tokens.len().min(start + MOST_WORDS_BETWEEN) {
                if is_between(tokens, start, end) {
                    between.push((start, end));
                }
            }
        }
        let mut ends: Vec<usize> = between.iter().map(|(start, _)| *start).collect();
        ends.push(tokens.len());
        Self { width: tokens.len(), between, ends }
    }
}

/// Whether the words `start..end` part two steps: "then", ";", a full stop, or "and" before a verb or a question;
/// several of them together ("; and then").
fn is_between(tokens: &[Token], start: usize, end: usize) -> bool {
    let Some(run) = tokens.get(start..end) else { return false };
    let means = |words: &[Token], concept: Concept| {
        let words: Vec<&str> = words.iter().map(|token| token.folded.as_str()).collect();
        lexicon().meanings(&words.join(" ")).contains(&Meaning::Concept(concept))
    };
    let is_mark = |token: &Token| matches!(token.class, Class::Step | Class::Stop);
    let marks = run.iter().take_while(|token| is_mark(token) || token.class == Class::Comma).count();
    let has_mark = run.iter().any(is_mark);
    match run.get(marks..) {
        Some([]) => has_mark && end < tokens.len(),
        Some(words) if words.iter().all(|token| token.class == Class::Word) => {
            let joins = means(words, Concept::And) && (has_mark || begins_a_step(tokens, end));
            joins || means(words, Concept::Then)
        }
        _ => false,
    }
}

/// Whether a verb or a question stands here, perhaps after function words.
fn begins_a_step(tokens: &[Token], at: usize) -> bool {
    let mut at = at;
    while let Some(token) = tokens.get(at) {
        let mut skips = false;
        for end in (at + 1..=tokens.len().min(at + lexicon().longest)).rev() {
            let words: Vec<&str> = tokens.get(at..end).unwrap_or_default().iter().map(|t| t.folded.as_str()).collect();
            for meaning in lexicon().meanings(&words.join(" ")) {
                let Meaning::Concept(concept) = meaning else { continue };
                match concept {
                    Concept::Verb(_)
                    | Concept::Do(_)
                    | Concept::Count
                    | Concept::Size
                    | Concept::TotalSize
                    | Concept::Ask(_)
                    | Concept::Field(_)
                    | Concept::ListFolder
                    | Concept::AddPrefix
                    | Concept::AddSuffix
                    | Concept::Fact(_)
                    | Concept::WhenWas => return true,
                    Concept::Skip => skips = true,
                    _ => {}
                }
            }
        }
        if !skips || token.class != Class::Word {
            return false;
        }
        at += 1;
    }
    false
}

/// The different meanings of the whole request, cut in as few steps as explain it.
pub(super) fn readings(
    context: &Context<'_>,
    chart: &Chart,
    cuts: &Cuts,
    before: Option<&Antecedent>,
    misfits: &mut Vec<Misfit>,
) -> Vec<Vec<Built>> {
    for cut_count in 0..MAX_STEPS.min(cuts.between.len() + 1) {
        let mut found: Vec<Vec<Built>> = Vec::new();
        for sequence in explore(context, chart, cuts, (0, cut_count), before, misfits) {
            let sequence = without_names(sequence);
            let same = |known: &&mut Vec<Built>| {
                known.len() == sequence.len() && known.iter().zip(&sequence).all(|(a, b)| a.step == b.step)
            };
            let notes = |steps: &[Built]| steps.iter().map(|built| built.assumptions.len()).sum::<usize>();
            match found.iter_mut().find(same) {
                Some(known) if notes(known) > notes(&sequence) => *known = sequence,
                Some(_) => {}
                None => found.push(sequence),
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn explore(
    context: &Context<'_>,
    chart: &Chart,
    cuts: &Cuts,
    (start, cuts_left): (usize, usize),
    before: Option<&Antecedent>,
    misfits: &mut Vec<Misfit>,
) -> Vec<Vec<Built>> {
    if cuts_left == 0 {
        return stretch(context, chart, (start, cuts.width), before, misfits);
    }
    let mut found = Vec::new();
    for (end, next) in cuts.between.iter().filter(|(end, _)| *end > start) {
        for first in stretch(context, chart, (start, *end), before, misfits) {
            let Some(last) = first.last() else { continue };
            let spoken_of = Antecedent::of_step(&last.step);
            for rest in explore(context, chart, cuts, (*next, cuts_left - 1), Some(&spoken_of), misfits) {
                found.push([first.clone(), rest].concat());
            }
        }
    }
    found
}

/// What one stretch of words means: one step, or the steps of "again".
fn stretch(
    context: &Context<'_>,
    chart: &Chart,
    (start, end): (usize, usize),
    before: Option<&Antecedent>,
    misfits: &mut Vec<Misfit>,
) -> Vec<Vec<Built>> {
    let mut found: Vec<Vec<Built>> = Vec::new();
    for item in chart.items(start, end) {
        let Some(draft) = item.as_draft(context) else { continue };
        if draft.reference == Some(Reference::Again) && only!(draft, reference) {
            found.extend(before.and_then(again));
            continue;
        }
        match build(context, before, draft) {
            Ok(built) => match found.iter_mut().find(|known| known.iter().all(|known| known.step == built.step)) {
                Some(known) if known.iter().any(|known| known.assumptions.len() > built.assumptions.len()) => {
                    *known = vec![built];
                }
                Some(_) => {}
                None => found.push(vec![built]),
            },
            Err(misfit) => misfits.push(misfit),
        }
    }
    found
}

/// The questions of the request before; what changed something is not done twice.
fn again(before: &Antecedent) -> Option<Vec<Built>> {
    let repeated = |step: &Step| match step {
        Step::Ask(_) => {
            Some(Built { step: step.clone(), assumptions: Vec::new(), scope: None, takes_up: true, names_only: false })
        }
        Step::Do(_) => None,
    };
    before.steps.iter().map(repeated).collect::<Option<Vec<Built>>>().filter(|steps| !steps.is_empty())
}

/// "find x and copy it": the first step only names what the second takes up.
fn without_names(steps: Vec<Built>) -> Vec<Built> {
    let takes_up: Vec<bool> = steps.iter().skip(1).map(|built| built.takes_up).chain([false]).collect();
    steps
        .into_iter()
        .zip(takes_up)
        .filter(|(built, next)| !(built.names_only && *next))
        .map(|(built, _)| built)
        .collect()
}
