//! Parses a request into steps, or explains why it can't.

mod adjust;
mod antecedent;
mod background;
mod build;
mod chart;
mod clauses;
mod described;
mod doubt;
mod draft;
mod features;
mod followed;
mod forms;
mod item;
mod lexical;
mod located;
mod mend;
mod offer;
mod pattern;
mod plain;
mod recalled;
mod refuse;
mod rules;
mod saved;
mod steps;
mod unsaid;

use artoo_proto::{Abstention, Environment, Now, Offer, SessionTurn, Unread};

use self::antecedent::Antecedent;
pub(crate) use self::background::{Background, background_of};
use self::build::{BuildError, Built};
use self::chart::Chart;
pub(crate) use self::forms::{Form, sorted};
use self::item::Context;
use self::lexical::{Phrases, corrected};
use self::steps::StepBoundaries;
pub(crate) use self::unsaid::{owed, unsaid};
use crate::algebra::{Act, Query, Step};
use crate::english::english_steps;
use crate::eval::FileSystem;
use crate::lex::{Token, lex};
use crate::suggest;
use crate::texts::{self, decline};

/// Maximum length of a request, in bytes.
#[doc(alias = "limit")]
const MAX_BYTES: usize = 2_000;

/// Maximum number of tokens of a request; the chart's work grows with its cube.
#[doc(alias = "limit")]
const MAX_TOKENS: usize = 48;

/// Maximum number of earlier requests that are parsed again.
#[doc(alias = "limit")]
const MAX_TURNS: usize = 5;

/// A request that was understood completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The steps of the request, in order; at least one.
    pub steps: Vec<Step>,
    /// The steps in English, as shown to the user.
    pub reading: String,
    /// Assumptions made where the request is silent, each in one sentence.
    pub assumptions: Vec<String>,
    /// The absolute path that the request itself names; `None` if it names none.
    pub scope: Option<String>,
}

impl Parsed {
    /// The query, if the request is a single question; else `None`.
    #[must_use]
    pub fn query(&self) -> Option<&Query> {
        if let [Step::Ask(query)] = self.steps.as_slice() { Some(query) } else { None }
    }
}

/// Parses a request. `session` has the earlier requests, oldest first, for "those" and "again"; they are parsed again.
/// `fs` tells files from folders where they exist.
///
/// # Errors
/// If a word is left unexplained, if there are two different readings, or if the request refers to an unknown result.
pub fn parse(
    request: &str,
    session: &[SessionTurn],
    environment: &Environment,
    now: Now,
    fs: &dyn FileSystem,
) -> Result<Parsed, Abstention> {
    read(&Context::new(environment, now, fs), request, &recent(session))
}

/// The nearest request to a declined one that can be read in full and that `accepts` returns true for; `None` without
/// one.
pub(crate) fn offer(
    request: &str,
    session: &[SessionTurn],
    environment: &Environment,
    now: Now,
    fs: &dyn FileSystem,
    accepts: &dyn Fn(&Parsed) -> bool,
) -> Option<Offer> {
    let (context, before) = follow(&Context::new(environment, now, fs), &recent(session));
    offer::nearest(&context, request, before.as_ref(), accepts)
}

/// A part of a request: the bytes it covers, and the steps it asks for or why it was not read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadClause {
    /// The bytes of the request that the clause covers, `[from, to)`.
    pub span: (usize, usize),
    /// The steps in order, each word of the clause being read; or why there are none.
    pub read: Result<Vec<Step>, Unread>,
}

/// Reads each clause of a request by itself, in order; together the clauses hold every word.
#[must_use]
pub fn clauses(
    request: &str,
    session: &[SessionTurn],
    environment: &Environment,
    now: Now,
    fs: &dyn FileSystem,
) -> Vec<ReadClause> {
    let (context, before) = follow(&Context::new(environment, now, fs), &recent(session));
    clauses::clauses(&context, request, before)
}

/// The last answered turns of a session; if none was answered, the last turn alone.
fn recent(session: &[SessionTurn]) -> Vec<&SessionTurn> {
    let answered: Vec<&SessionTurn> = session.iter().filter(|turn| turn.answered).collect();
    let all = if answered.is_empty() { session.last().into_iter().collect() } else { answered };
    all.iter().skip(all.len().saturating_sub(MAX_TURNS)).copied().collect()
}

/// Parses a request in the context of the earlier requests of the session.
fn read<'a>(context: &Context<'a>, text: &str, session: &[&'a SessionTurn]) -> Result<Parsed, Abstention> {
    let (context, before) = follow(context, session);
    read_after(&context, text, before.as_ref(), true)
}

/// Parses a request that follows an earlier result; `is_typed` unless words of it were replaced.
fn read_after(
    context: &Context<'_>,
    text: &str,
    before: Option<&Antecedent>,
    is_typed: bool,
) -> Result<Parsed, Abstention> {
    let tokens = Some(text).filter(|text| text.len() <= MAX_BYTES).map(lex);
    let tokens =
        tokens.filter(|tokens| tokens.len() <= MAX_TOKENS).ok_or_else(|| decline("", Vec::new(), texts::TOO_LONG))?;
    if tokens.is_empty() {
        return Err(decline("", Vec::new(), ""));
    }
    match attempt(context, text, &tokens, before) {
        Ok(built) if !is_typed && recalled::is_recalled(&built) => Err(decline("", Vec::new(), "")),
        Ok(built) => finished(&built, &tokens),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Unexplained(errors)) => Err(refuse::unexplained(context, text, &tokens, &errors)),
    }
}

/// Why tokens could not be read.
enum Failure {
    /// The request is declined for this reason.
    Refused(Abstention),
    /// A word or a combination of words is not explained; what was wrong with the drafts of the whole.
    Unexplained(Vec<BuildError>),
}

/// Parses tokens as one request; a question that has no reading as it stands is rewritten.
fn attempt(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Result<Vec<Built>, Failure> {
    let built = match as_said(context, text, tokens, before) {
        Err(Failure::Unexplained(errors)) => {
            let mended = mend::question(context, text, tokens, before)
                .or_else(|| followed::substituted(context, tokens, before))
                .or_else(|| followed::of_it(context, text, tokens, before))
                .or_else(|| saved::saved(context, text, tokens, before))
                .or_else(|| mend::change(context, text, tokens, before))
                .or_else(|| recalled::recalled(context, tokens));
            mended.ok_or_else(|| refuse::act(text, tokens).map_or(Failure::Unexplained(errors), Failure::Refused))?
        }
        // A path that is not there may be a part of a name with spaces, or a word that says nothing.
        Ok(built) if is_missing(context, &built) => {
            let mended = offer::quoted(context, text, tokens, before)
                .or_else(|| mend::rephrased(context, text, tokens, before))
                .filter(|mended| !is_missing(context, mended));
            mended.unwrap_or(built)
        }
        // "the config file in data" may be config.json if no file is one by its ending.
        Ok(built) if is_one_file(tokens) && finds_nothing(context, &built) => {
            offer::quoted(context, text, tokens, before).filter(|other| !finds_nothing(context, other)).unwrap_or(built)
        }
        said => said?,
    };
    Ok(adjust::adjusted(context, tokens, built))
}

/// Parses tokens as one request, as they stand; an error unless they have exactly one reading.
fn as_said(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Result<Vec<Built>, Failure> {
    if let Some(refusal) = refuse::glued_comma(text, tokens) {
        return Err(Failure::Refused(refusal));
    }
    let boundaries = StepBoundaries::of(tokens);
    let mut errors = Vec::new();
    for phrases in [Phrases::Longest, Phrases::All] {
        let mut chart = Chart::fill(context, tokens, phrases, &boundaries.ends);
        chart.has_forms = phrases == Phrases::Longest;
        if chart.overflown {
            return Err(Failure::Refused(decline("", Vec::new(), texts::TOO_MANY_READINGS)));
        }
        let mut readings = existing(context, steps::readings(context, &chart, &boundaries, before, &mut errors));
        readings.retain(|reading| !reading.iter().any(|built| doubt::is_misread(context, &built.step, tokens)));
        match readings.as_slice() {
            [] => {}
            [only] if phrases == Phrases::All && changes_something(only) => {}
            [only] => return Ok(only.clone()),
            // Readings with the same English differ in nothing that a person could choose between.
            [first, rest @ ..]
                if rest.iter().all(|other| english_steps(&steps_of(other)) == english_steps(&steps_of(first))) =>
            {
                return Ok(first.clone());
            }
            several => return Err(Failure::Refused(refuse::ambiguous(several))),
        }
    }
    Err(Failure::Unexplained(errors))
}

/// Those readings whose files and folders exist, if there are any, without those that a likelier one stands beside.
fn existing(context: &Context<'_>, mut readings: Vec<Vec<Built>>) -> Vec<Vec<Built>> {
    if readings.len() < 2 {
        return readings;
    }
    doubt::keep_likely(&mut readings, |reading| english_steps(&steps_of(reading)));
    let exists = |reading: &Vec<Built>| suggest::missing(&steps_of(reading), context.fs).is_none();
    if readings.iter().any(exists) {
        readings.retain(exists);
    }
    readings
}

/// The context for the next request of a session, and the result that "those" refers to in it: that of the last
/// answered request.
fn follow<'a>(context: &Context<'a>, session: &[&'a SessionTurn]) -> (Context<'a>, Option<Antecedent>) {
    let answered = session.split_last().filter(|(last, _)| last.answered);
    let past = Context { is_past: true, ..*context };
    let parsed = answered.and_then(|(last, earlier)| read(&past, &last.input, earlier).ok());
    let before = parsed.and_then(|parsed| Antecedent::of_request(&parsed.steps));
    let before = before.map(|before| before.with_found(context.fs));
    let earlier = answered.map(|(last, _)| last.input.as_str());
    (Context { is_lost: before.is_none() && !session.is_empty(), earlier, ..*context }, before)
}

/// The steps of a reading, without their assumptions.
fn steps_of(built: &[Built]) -> Vec<Step> {
    built.iter().map(|built| built.step.clone()).collect()
}

/// Whether steps are questions about a file or folder that does not exist.
fn is_missing(context: &Context<'_>, built: &[Built]) -> bool {
    !changes_something(built) && suggest::missing(&steps_of(built), context.fs).is_some()
}

/// Whether tokens name one file by what it is, as "the config file" does.
fn is_one_file(tokens: &[Token]) -> bool {
    let is_the = |token: &Token| ["the", "my"].contains(&token.folded.as_str());
    tokens.windows(3).any(|run| matches!(run, [the, _, file] if is_the(the) && file.folded == "file"))
}

/// Whether steps are one question without an answer.
fn finds_nothing(context: &Context<'_>, built: &[Built]) -> bool {
    matches!(built, [Built { step: Step::Ask(query), .. }] if adjust::is_empty(context, query) == Some(true))
}

/// Whether any of the steps changes files or the machine.
fn changes_something(steps: &[Built]) -> bool {
    steps.iter().any(|built| matches!(built.step, Step::Do(_)))
}

/// Whether steps change a text file in place.
fn edits_in_place(steps: &[Built]) -> bool {
    let is_source = |of: &Query, to: &String| matches!(of.source(), Query::TextFile { path } if path == to);
    steps.iter().any(|built| matches!(&built.step, Step::Do(Act::Save { of, to }) if is_source(of, to)))
}

/// The parsed request for the only reading; an abstention if a change contains a corrected typo.
fn finished(built: &[Built], tokens: &[Token]) -> Result<Parsed, Abstention> {
    let steps = steps_of(built);
    let reading = english_steps(&steps);
    let corrected = tokens.iter().filter_map(|token| Some((token, corrected(token)?)));
    // A word that was read as a name or text appears in the reading as it was typed.
    let typos: Vec<(&Token, &str)> = corrected.filter(|(token, _)| !reading.contains(&token.raw)).collect();
    if changes_something(built)
        && let Some((token, meant)) = typos.first()
    {
        return Err(decline("", vec![token.raw.clone()], &texts::typo(meant)));
    }
    let typos = typos.iter().map(|(token, meant)| format!("“{}” is read as “{meant}”", token.raw));
    let mut assumptions: Vec<String> = Vec::new();
    for assumption in built.iter().flat_map(|built| built.assumptions.iter().cloned()).chain(typos) {
        if !assumptions.contains(&assumption) {
            assumptions.push(assumption);
        }
    }
    Ok(Parsed { steps, reading, assumptions, scope: built.iter().find_map(|built| built.scope.clone()) })
}
