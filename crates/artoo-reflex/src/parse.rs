//! From a request to its one meaning, or to a refusal that says what was and was not understood.

mod build;
mod chart;
mod draft;
mod item;
mod lexical;
mod refuse;
mod rules;

use artoo_proto::{Abstention, Environment, Now};

use self::build::{Built, Misfit, build};
use self::chart::Chart;
use self::item::Context;
use self::lexical::{Phrases, mended};
use crate::algebra::Query;
use crate::calendar::Clock;
use crate::english::english;
use crate::lex::{Token, lex};

/// Longest request that is read, in bytes: far above anything a person types as one request about files.
const MAX_BYTES: usize = 2_000;

/// Most tokens of a request that is read: the chart's work grows with the cube of it.
const MAX_TOKENS: usize = 48;

/// A request understood in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What it means.
    pub query: Query,
    /// The same in English, rendered from the query.
    pub reading: String,
    /// Defaults taken where the request was silent, each in one sentence.
    pub assumptions: Vec<String>,
    /// The folder or file the request names itself, absolute.
    pub scope: Option<String>,
}

/// Reads a request.
///
/// # Errors
/// When a word is left unexplained, when there are two different readings, or when the meaning can't be carried out.
pub fn parse(text: &str, environment: &Environment, now: Now) -> Result<Parsed, Abstention> {
    if text.len() > MAX_BYTES {
        return Err(refuse::too_long());
    }
    let tokens = lex(text);
    if tokens.len() > MAX_TOKENS {
        return Err(refuse::too_long());
    }
    if tokens.is_empty() {
        return Err(refuse::empty());
    }
    let context = Context { environment, clock: Clock::new(now.wall, environment.utc_offset_s) };
    if let Some(verb) = refuse::acting_verb(text, &tokens) {
        return Err(refuse::act(verb));
    }
    let mut misfits = Vec::new();
    for phrases in [Phrases::Longest, Phrases::All] {
        let chart = Chart::fill(&context, &tokens, phrases);
        if chart.overflown {
            return Err(refuse::too_many_readings());
        }
        let readings = readings(&context, &tokens, &chart, &mut misfits);
        match readings.as_slice() {
            [] => {}
            [only] => return Ok(finished(only, &tokens)),
            several => return Err(refuse::ambiguous(several)),
        }
    }
    Err(refuse::unexplained(&context, text, &tokens, &misfits))
}

/// The different meanings of the whole request, each with its shortest list of assumptions.
fn readings(context: &Context<'_>, tokens: &[Token], chart: &Chart, misfits: &mut Vec<Misfit>) -> Vec<Built> {
    let mut readings: Vec<Built> = Vec::new();
    for item in chart.items(0, tokens.len()) {
        let Some(draft) = item.as_draft(context) else { continue };
        match build(context, draft) {
            Ok(built) => match readings.iter_mut().find(|known| known.query == built.query) {
                Some(known) if known.assumptions.len() > built.assumptions.len() => *known = built,
                Some(_) => {}
                None => readings.push(built),
            },
            Err(misfit) => misfits.push(misfit),
        }
    }
    readings
}

fn finished(built: &Built, tokens: &[Token]) -> Parsed {
    let reading = english(&built.query);
    let mended = tokens.iter().filter_map(|token| Some((token, mended(token)?)));
    // A word that was taken as a name or text after all stands in the reading as it was typed.
    let slips = mended
        .filter(|(token, _)| !reading.contains(&token.raw))
        .map(|(token, meant)| format!("“{}” is read as “{meant}”", token.raw));
    Parsed {
        assumptions: built.assumptions.iter().cloned().chain(slips).collect(),
        reading,
        query: built.query.clone(),
        scope: built.scope.clone(),
    }
}
