//! Checks the output of a tool by evaluating the query again, without the tool.

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

/// The evidence of a passed check of a tool's output, or why the check failed.
type Checked<T = String> = Result<T, Failure>;

/// Why a check failed.
struct Failure(String);

impl From<EvalError> for Failure {
    fn from(problem: EvalError) -> Self {
        Self(format!("could not be computed again: {problem}"))
    }
}

/// The result of a failed check, with the reason.
fn fail<T>(why: impl Into<String>) -> Checked<T> {
    Err(Failure(why.into()))
}

/// Fails the check unless a condition holds.
fn ensure(holds: bool, why: impl FnOnce() -> String) -> Checked<()> {
    crate::ensure::ensure(holds, || Failure(why()))
}

/// Evaluates a serialised query again and compares the result with a tool's output.
///
/// A number must be equal. A list must have the same elements in the query's order, and each is tested again; a limited
/// list may omit nothing that sorts before its end. Text must be equal line by line. Facts that change by themselves
/// may differ within a tolerance, which the evidence names.
#[must_use]
pub fn verify(query: &Value, output: &str, fs: &dyn FileSystem) -> Verification {
    checked(query, output, fs).map_or_else(|Failure(why)| Verification::fail(why), Verification::pass)
}

/// Checks a tool's output for a query of any type.
fn checked(query: &Value, output: &str, fs: &dyn FileSystem) -> Checked {
    let Ok(query) = serde_json::from_value::<Query>(query.clone()) else { return fail("the check holds no query") };
    match query.ty() {
        Ok(Ty::Files) => files::listed(&query, output, fs),
        Ok(Ty::Rows) if matches!(query, Query::Details { .. }) => files::listed(&query, output, fs),
        Ok(Ty::Rows) => files::rows(&query, output, fs),
        Ok(_) => value(&query, output, fs),
        Err(problem) => fail(format!("the query has no meaning: {problem}")),
    }
}

/// Checks a tool's output for a query that yields anything but a list of files.
fn value(query: &Query, output: &str, fs: &dyn FileSystem) -> Checked {
    match query {
        Query::System { fact } => return facts::fact(fact, output, fs),
        Query::Known { known } if let Some((fact, unit)) = known.room() => {
            return facts::in_unit(&fact, unit, output, fs);
        }
        Query::Compare { of, with, relation: Relation::Difference } => {
            return difference::applied(of, with, output, fs);
        }
        Query::TextFile { path } if let Some(same) = lines::same_file(path, output, fs) => return Ok(same),
        Query::Aggregate { of, function: Function::Count } if of.ty() == Ok(Ty::Processes) => {
            return processes::count(query, output, fs);
        }
        _ => {}
    }
    match evaluate(query, fs)? {
        Answer::Number(expected) => whole(expected, output),
        Answer::Decimal(expected) => decimal_number(query, expected, output),
        Answer::Lines(expected) => lines::same(query, &expected, output),
        Answer::Groups(expected) => lines::groups(&expected, output),
        Answer::Truth(expected) => lines::truth(query, expected, output),
        Answer::Processes(_) => processes::list(query, output, fs),
        Answer::Files(_) | Answer::Rows(_) | Answer::Text(_) => Err(EvalError::Meaningless.into()),
    }
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

/// The result of a check: what was computed and the tolerance if it `holds`, else a failure that quotes the output.
fn judged(holds: bool, computed: String, tolerance: &str, output: &str) -> Checked {
    ensure(holds, || format!("{computed}; the output says {:?}", shown(output)))?;
    Ok(computed + tolerance)
}

/// Checks that a tool's output is this whole number.
fn whole(expected: u64, output: &str) -> Checked {
    match output.trim().parse::<u64>() {
        Ok(printed) if printed == expected => Ok(format!("computed again: {expected}")),
        Ok(printed) => fail(format!("computed again: {expected}; the output says {printed}")),
        Err(_) => fail(format!("computed again: {expected}; the output is no whole number: {:?}", shown(output))),
    }
}

/// Tolerance for an average, in billionths, as it is printed with six decimals below one and with four above.
const fn mean_tolerance(expected: i128) -> u128 {
    let decimals = if expected.unsigned_abs() < decimal::UNIT.unsigned_abs() { 1_000_000 } else { 10_000 };
    decimal::UNIT.unsigned_abs() / decimals
}

/// Checks that the output is this decimal number (in billionths), averages within a tolerance.
fn decimal_number(query: &Query, expected: i128, output: &str) -> Checked {
    let output = output.trim();
    let is_number = output.strip_prefix('-').unwrap_or(output).chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_mean = matches!(query, Query::Aggregate { function: Function::Average, .. });
    let tolerance = if is_mean { mean_tolerance(expected) } else { 0 };
    let is_close = decimal::leading(output.as_bytes()).is_some_and(|printed| printed.abs_diff(expected) <= tolerance);
    judged(is_number && is_close, format!("computed again: {}", decimal::shown(expected)), "", output)
}
