//! Splits a request into steps, and reads the steps one after the other.

#[cfg(test)]
mod tests;
mod unclear;

use unclear::{is_cut, is_unclear, misses_folder};

use super::antecedent::Antecedent;
use super::build::{BuildError, Built, build};
use super::chart::Chart;
use super::clauses::phrase;
use super::draft::only;
use super::item::Context;
use super::pattern::is_word;
use super::{forms, refuse};
use crate::algebra::{Act, NameChange, Query, Step, Target};
use crate::concept::{Concept, Reference};
use crate::eval::{Answer, evaluate};
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};
use crate::place::{file_name, parent};

/// Maximum number of steps of a request.
#[doc(alias = "limit")]
const MAX_STEPS: usize = 5;

/// Maximum number of tokens between two steps (", and after that").
const MOST_WORDS_BETWEEN: usize = 4;

/// Words that make a singular noun stand for all.
const EACH: [&str; 5] = ["every", "each", "any", "all", "both"];

/// Positions in a request where one step can end and the next begin.
pub(super) struct StepBoundaries {
    /// The number of tokens of the request.
    width: usize,
    /// The token ranges that separate two steps, such as that of "then".
    pub(super) between: Vec<(usize, usize)>,
    /// The token positions where a step can end.
    pub(super) ends: Vec<usize>,
}

impl StepBoundaries {
    /// The step boundaries in a request.
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut between = Vec::new();
        for start in 1..tokens.len() {
            for end in start + 1..=tokens.len().min(start + MOST_WORDS_BETWEEN) {
                if is_between(tokens, start, end) {
                    between.push((start, end));
                }
            }
        }
        Self::at(tokens.len(), between)
    }

    /// The step boundaries in a request of which parts may stay unread: also before a verb that the grammar doesn't
    /// know, and after a comma.
    pub(super) fn wide(tokens: &[Token]) -> Self {
        // What is said after "I mean" changes what is said before.
        if (0..tokens.len()).any(|at| phrase("corrections", tokens, at).is_some()) {
            return Self::at(tokens.len(), Vec::new());
        }
        let mut between = Self::of(tokens).between;
        for at in 1..tokens.len() {
            let joints = tokens.iter().skip(at).take_while(|token| joins(token)).count();
            if joints > 0 && begins_anew(tokens, at + joints) {
                between.push((at, at + joints));
            }
            if phrase("apart", tokens, at).is_some() {
                between.push((at, at));
            }
        }
        between.sort_unstable();
        between.dedup();
        Self::at(tokens.len(), between)
    }

    /// These step boundaries in a request of a number of tokens.
    fn at(width: usize, between: Vec<(usize, usize)>) -> Self {
        let mut ends: Vec<usize> = between.iter().map(|(start, _)| *start).collect();
        ends.push(width);
        Self { width, between, ends }
    }
}

/// Whether a token range separates two steps: "then", ";", a full stop, or "and" before a verb or question.
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

/// Whether a token only joins two clauses.
pub(super) fn joins(token: &Token) -> bool {
    token.class == Class::Comma
        || (token.class == Class::Word && matches!(token.folded.as_str(), "and" | "then" | "also"))
}

/// Whether a clause starts at a position after words that join: with a verb, be it one that the grammar doesn't know.
pub(super) fn begins_anew(tokens: &[Token], at: usize) -> bool {
    if !tokens.get(at.saturating_sub(1)).is_some_and(joins) {
        return false;
    }
    let is_unknown = |token: &Token| token.class == Class::Word && !lexicon().knows(&token.folded);
    let has_object = phrase("objects", tokens, at + 1).is_some();
    phrase("verbs", tokens, at).is_some()
        || begins_a_step(tokens, at)
        || (has_object && tokens.get(at).is_some_and(is_unknown))
}

/// Whether a verb or a question starts at a position, perhaps after function words.
pub(super) fn begins_a_step(tokens: &[Token], at: usize) -> bool {
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
                    | Concept::Act
                    | Concept::Count
                    | Concept::Size
                    | Concept::TotalSize
                    | Concept::Ask(_)
                    | Concept::Field(_)
                    | Concept::ListFolder
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

/// The different readings of the request with the smallest number of steps.
pub(super) fn readings(
    context: &Context<'_>,
    chart: &Chart,
    boundaries: &StepBoundaries,
    before: Option<&Antecedent>,
    errors: &mut Vec<BuildError>,
) -> Vec<Vec<Built>> {
    for boundary_count in 0..MAX_STEPS.min(boundaries.between.len() + 1) {
        let mut found: Vec<Vec<Built>> = Vec::new();
        for sequence in explore(context, chart, boundaries, (0, boundary_count), before, errors) {
            add(&mut found, without_names(sequence));
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Adds a reading; of two with the same steps, the one with fewer assumptions stays.
fn add(found: &mut Vec<Vec<Built>>, reading: Vec<Built>) {
    let notes = |reading: &[Built]| reading.iter().map(|built| built.assumptions.len()).sum::<usize>();
    match found
        .iter_mut()
        .find(|known| known.iter().map(|built| &built.step).eq(reading.iter().map(|built| &built.step)))
    {
        Some(known) if notes(known) > notes(&reading) => *known = reading,
        Some(_) => {}
        None => found.push(reading),
    }
}

/// The readings of the tokens from a position on, split at this number of boundaries.
fn explore(
    context: &Context<'_>,
    chart: &Chart,
    boundaries: &StepBoundaries,
    (start, boundaries_left): (usize, usize),
    before: Option<&Antecedent>,
    errors: &mut Vec<BuildError>,
) -> Vec<Vec<Built>> {
    if boundaries_left == 0 {
        return stretch(context, chart, (start, boundaries.width), before, errors);
    }
    let mut found = Vec::new();
    for (end, next) in boundaries.between.iter().filter(|(end, _)| *end > start) {
        for first in stretch(context, chart, (start, *end), before, errors) {
            let Some(last) = first.last() else { continue };
            let spoken_of = Antecedent::of_step(&last.step);
            for rest in explore(context, chart, boundaries, (*next, boundaries_left - 1), Some(&spoken_of), errors) {
                found.push([first.clone(), rest].concat());
            }
        }
    }
    found
}

/// The readings of one token range: a single step, or the steps that "again" repeats.
pub(super) fn stretch(
    context: &Context<'_>,
    chart: &Chart,
    (start, end): (usize, usize),
    before: Option<&Antecedent>,
    errors: &mut Vec<BuildError>,
) -> Vec<Vec<Built>> {
    let mut found: Vec<Vec<Built>> = Vec::new();
    let said = chart.tokens.get(start..end).unwrap_or_default();
    if (0..said.len()).any(|at| phrase("corrections", said, at).is_some()) {
        return found;
    }
    let says_each = said.iter().any(|token| EACH.iter().any(|word| is_word(Some(token), word)));
    let context = &Context { says_each, ..*context };
    let items = if refuse::unknown_act(said).is_some() { &[] } else { chart.items(start, end) };
    for item in items {
        let Some(draft) = item.as_draft(context) else { continue };
        if draft.reference == Some(Reference::Again) && only!(draft, reference) {
            found.extend(before.and_then(again));
            continue;
        }
        match build(context, before, draft) {
            Ok(built) => add(&mut found, vec![built]),
            Err(error) => errors.push(error),
        }
    }
    if found.is_empty() && chart.has_forms {
        found = forms::readings(context, chart, (start, end), before);
    }
    let is_clear = |built: &Built| holds(context, said, &built.step) && !misses_folder(&chart.tokens, end, built);
    found.retain(|built| built.iter().all(is_clear));
    found
}

/// Whether a step has the whole name or text that its words give, and a single line where they say "line".
fn holds(context: &Context<'_>, said: &[Token], step: &Step) -> bool {
    match step {
        step if is_unclear(context, said, step) => false,
        Step::Do(Act::CreateFile { path, text }) => !is_cut(said, path) && !is_cut(said, text),
        Step::Do(Act::CreateFolder { paths }) => !paths.iter().any(|path| is_cut(said, path)),
        Step::Do(Act::Rename { change: NameChange::To(name), .. }) => !is_cut(said, name),
        // "a copy of a.txt in docs named b.txt": the place may be that of the copy.
        Step::Do(
            Act::Copy { of: Query::Paths { paths, .. }, to: Target::As(to) }
            | Act::Move { of: Query::Paths { paths, .. }, to: Target::As(to) },
        ) => {
            let is_bare = |path: &String| said.iter().any(|token| file_name(path) == Some(token.raw.as_str()));
            let named = said.iter().position(|token| file_name(to) == Some(token.raw.as_str())).unwrap_or_default();
            let (before, after) = said.split_at(named);
            let is_last = ["to", "as"].iter().any(|word| is_word(before.last(), word))
                && !after.iter().any(|token| is_word(Some(token), "in"));
            is_last || paths.iter().all(|path| parent(path) == parent(to)) || !paths.iter().chain([to]).all(is_bare)
        }
        Step::Do(Act::Save { of, to }) => {
            let says_one =
                said.iter().any(|token| ["line", "row", "entry"].iter().any(|word| is_word(Some(token), word)));
            let count = |of: &Query| match evaluate(of, context.fs) {
                Ok(Answer::Lines(lines)) => lines.len(),
                _ => 0,
            };
            let source = Query::TextFile { path: to.clone() };
            !says_one || context.says_each || of.source() != &source || count(&source) <= count(of) + 1
        }
        Step::Do(_) | Step::Ask(_) => true,
    }
}

/// The steps of the previous request, repeated by "again"; `None` if one of them is a change.
fn again(before: &Antecedent) -> Option<Vec<Built>> {
    let repeated = |step: &Step| match step {
        Step::Ask(_) => Some(Built {
            step: step.clone(),
            assumptions: Vec::new(),
            scope: None,
            refers_back: true,
            names_only: false,
        }),
        Step::Do(_) => None,
    };
    before.steps.iter().map(repeated).collect::<Option<Vec<Built>>>().filter(|steps| !steps.is_empty())
}

/// Removes steps that only find files for the next step, as in "find x and copy it".
fn without_names(steps: Vec<Built>) -> Vec<Built> {
    let refers_back: Vec<bool> = steps.iter().skip(1).map(|built| built.refers_back).chain([false]).collect();
    steps
        .into_iter()
        .zip(refers_back)
        .filter(|(built, next)| !(built.names_only && *next))
        .map(|(built, _)| built)
        .collect()
}
