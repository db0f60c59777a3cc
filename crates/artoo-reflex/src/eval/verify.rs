//! Checks the output of a tool by evaluating the query again.

mod difference;
mod facts;
mod files;
mod lines;
mod processes;

/// The result of a check: passed or failed, with the evidence.
pub use artoo_proto::CheckOutcome as Verification;
use artoo_proto::escape;
use serde_json::Value;

use super::{Answer, EvalError, FileSystem, decimal, evaluate};
use crate::algebra::{Function, Query, Relation, Ty};

/// Maximum number of differing elements listed in the evidence of a failed check.
const SHOWN: usize = 3;

/// Evaluates a serialised query again and compares the result with a tool's output.
///
/// A number must be equal. A list must have the same elements in the query's order, and each is tested again; a limited
/// list may omit nothing that sorts before its end. Text must be equal line by line. Facts that change by themselves
/// may differ within a tolerance, which the evidence names.
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

/// Checks a tool's output for any query that does not yield a list of files.
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

/// Removes the first word and the spaces after it from a line; `None` if the line has one word.
fn take_word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let (word, after) = rest.split_once(' ')?;
    *rest = after.trim_start();
    Some(word)
}

/// The tool's output shortened to one line, for the evidence.
fn shown(output: &str) -> String {
    escape::shorten(&escape::one_line(output.trim()), 40)
}

/// A passed check that reports what was found and the tolerance, or a failed one that quotes the output.
fn judged(holds: bool, found: String, tolerance: &str, said: &str) -> Verification {
    match holds {
        true => Verification::pass(found + tolerance),
        false => Verification::fail(format!("{found}; the output says {:?}", shown(said))),
    }
}

/// Checks that the output is this whole number.
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

/// Tolerance for an average, in billionths, as tools compute averages in floating point.
const MEAN_TOLERANCE: i128 = decimal::UNIT / 1_000_000;

/// Checks that the output is this decimal number (in billionths), averages within a tolerance.
fn decimal_number(query: &Query, expected: i128, output: &str) -> Verification {
    let output = output.trim();
    let is_number = output.strip_prefix('-').unwrap_or(output).chars().all(|c| c.is_ascii_digit() || c == '.');
    let (expected_shown, said) = (decimal::shown(expected), decimal::leading(output.as_bytes()));
    let is_mean = matches!(query, Query::Aggregate { function: Function::Average, .. });
    let differs = if is_mean { MEAN_TOLERANCE } else { 0 };
    let holds = is_number && said.is_some_and(|said| said.abs_diff(expected) <= differs.unsigned_abs());
    judged(holds, format!("computed again: {expected_shown}"), "", output)
}
