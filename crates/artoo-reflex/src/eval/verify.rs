//! Verification: a tool's output against the query, computed again.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what an operator does not apply to has no value, whatever else there comes to be"
)]

mod difference;
mod facts;
mod files;
mod lines;
mod processes;

/// What a verification found.
pub use artoo_proto::CheckOutcome as Verification;
use artoo_proto::escape;
use serde_json::Value;

use super::{Answer, EvalError, FileSystem, decimal, evaluate};
use crate::algebra::{Function, Query, Relation, Ty};

/// Names of differing elements shown as evidence; enough to act on, short enough to read.
const SHOWN: usize = 3;

/// Computes a serialised query again and compares with a tool's output.
///
/// A number must be equal; a list must be the same set, in the order the query asks for, each element tested again;
/// the first of an order may leave out nothing better; text must be equal line by line. What moves by itself (free
/// memory, the list of processes) must agree within a named tolerance, and the evidence says so.
#[must_use]
pub fn verify(query: &Value, output: &str, fs: &dyn FileSystem) -> Verification {
    let Ok(query) = serde_json::from_value::<Query>(query.clone()) else {
        return Verification::fail("the check holds no query");
    };
    let checked = match query.ty() {
        Ok(Ty::Files) => files::listed(&query, output, fs),
        Ok(Ty::Rows) => match &query {
            Query::Details { .. } => files::listed(&query, output, fs),
            _ => files::rows(&query, output, fs),
        },
        Ok(_) => value(&query, output, fs),
        Err(problem) => return Verification::fail(format!("the query has no meaning: {problem}")),
    };
    checked.unwrap_or_else(|problem| Verification::fail(format!("could not be computed again: {problem}")))
}

fn value(query: &Query, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    match query {
        Query::System { fact } => return facts::fact(fact, output, fs),
        Query::Compare { of, with, relation: Relation::Difference } => {
            return difference::applied(of, with, output, fs);
        }
        Query::TextFile { path } if let Some(same) = lines::same_file(path, output, fs) => return Ok(same),
        Query::Aggregate { of, function: Function::Count } if of.ty() == Ok(Ty::Processes) => {
            return processes::count(query, output, fs);
        }
        _ => {}
    }
    Ok(match evaluate(query, fs)? {
        Answer::Number(expected) => whole(expected, output),
        Answer::Decimal(expected) => decimal_number(query, expected, output),
        Answer::Lines(expected) => lines::same(query, &expected, output),
        Answer::Groups(expected) => lines::groups(&expected, output),
        Answer::Truth(expected) => lines::truth(query, expected, output),
        Answer::Processes(_) => return processes::list(query, output, fs),
        Answer::Files(_) | Answer::Rows(_) | Answer::Text(_) => return Err(EvalError::Meaningless),
    })
}

/// The output on one line, for evidence.
fn shown(output: &str) -> String {
    escape::shorten(&escape::one_line(output.trim()), 40)
}

/// Passes with what was found and its tolerance, or fails with what was found and what the output says.
fn judged(holds: bool, found: String, tolerance: &str, said: &str) -> Verification {
    match holds {
        true => Verification::pass(found + tolerance),
        false => Verification::fail(format!("{found}; the output says {:?}", shown(said))),
    }
}

fn whole(expected: u64, output: &str) -> Verification {
    match output.trim().parse::<u64>() {
        Ok(said) if said == expected => Verification::pass(format!("computed again: {expected}")),
        Ok(said) => Verification::fail(format!("computed again: {expected}; the output says {said}")),
        Err(_) => Verification::fail(format!(
            "computed again: {expected}; the output is no whole number: {:?}",
            shown(output)
        )),
    }
}

/// A mean may have no end; what is computed in floating point agrees to this part of a unit.
const MEAN_DIFFERS: i128 = decimal::UNIT / 1_000_000;

fn decimal_number(query: &Query, expected: i128, output: &str) -> Verification {
    let output = output.trim();
    let is_number = output.strip_prefix('-').unwrap_or(output).chars().all(|c| c.is_ascii_digit() || c == '.');
    let (expected_shown, said) = (decimal::shown(expected), decimal::leading(output.as_bytes()));
    let is_mean = matches!(query, Query::Aggregate { function: Function::Average, .. });
    let differs = if is_mean { MEAN_DIFFERS } else { 0 };
    let holds = is_number && said.is_some_and(|said| said.abs_diff(expected) <= differs.unsigned_abs());
    judged(holds, format!("computed again: {expected_shown}"), "", output)
}
