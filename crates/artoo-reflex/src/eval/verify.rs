//! Verification: a tool's output against the query, computed again.

#![expect(clippy::wildcard_enum_match_arm, reason = "it takes off the operators it names and hands on the rest")]

use std::collections::{HashMap, HashSet};

use artoo_proto::{Timestamp, escape};
use serde_json::Value;

use super::{Answer, Entry, EvalError, FileSystem, compare, evaluate, path_bytes, pred};
use crate::algebra::{Order, Pred, Query, Ty};

/// Names of differing elements shown as evidence; enough to act on, short enough to read.
const SHOWN: usize = 3;

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Whether the output is the query's value.
    pub pass: bool,
    /// What was computed and compared, or why it could not be.
    pub evidence: String,
}

impl Verification {
    fn pass(evidence: String) -> Self {
        Self { pass: true, evidence }
    }

    fn fail(evidence: String) -> Self {
        Self { pass: false, evidence }
    }
}

/// Computes a serialised query again and compares with a tool's output.
///
/// A number must be equal; a list must be the same set, in the order the query asks for, each element tested again;
/// the first of an order may leave out nothing better; text must be equal line by line.
#[must_use]
pub fn verify(query: &Value, output: &str, fs: &dyn FileSystem) -> Verification {
    let Ok(query) = serde_json::from_value::<Query>(query.clone()) else {
        return Verification::fail("the check holds no query".to_owned());
    };
    let checked = match query.ty() {
        Ok(Ty::Number) => number(&query, output, fs),
        Ok(Ty::Lines) => lines(&query, output, fs),
        Ok(Ty::Files | Ty::Rows) => files(&query, output, fs),
        Err(problem) => return Verification::fail(format!("the query has no meaning: {problem}")),
    };
    checked.unwrap_or_else(|problem| Verification::fail(format!("could not be computed again: {problem}")))
}

fn number(query: &Query, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let Answer::Number(expected) = evaluate(query, fs)? else { return Err(EvalError::Meaningless) };
    let shown = escape::shorten(&escape::one_line(output.trim()), 40);
    Ok(match output.trim().parse::<u64>() {
        Ok(said) if said == expected => Verification::pass(format!("computed again: {expected}")),
        Ok(said) => Verification::fail(format!("computed again: {expected}; the output says {said}")),
        Err(_) => Verification::fail(format!("computed again: {expected}; the output is no whole number: {shown:?}")),
    })
}

fn lines(query: &Query, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let Answer::Lines(expected) = evaluate(query, fs)? else { return Err(EvalError::Meaningless) };
    let is_text = expected.iter().all(|line| std::str::from_utf8(line).is_ok());
    // Bytes that are not UTF-8 reach the output as replacement characters; the end of the last line may be lost.
    let expected: Vec<String> = expected.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let text = expected.join("\n");
    let said = output.strip_suffix('\n').unwrap_or(output);
    if said == text || said == escape::visible(&text) || (said.is_empty() && expected.is_empty()) {
        return Ok(Verification::pass(format!("read again: the same {} lines", expected.len())));
    }
    // Of what is no text, a last line says so.
    let remark = said.strip_prefix(&text).and_then(|rest| rest.strip_prefix("\n[not text: "));
    if !is_text && remark.is_some_and(|remark| !remark.contains('\n')) {
        return Ok(Verification::pass(format!("read again: the same {} lines, not all of it text", expected.len())));
    }
    // A text that ends in empty lines may have lost more than one line end on its way.
    if !expected.is_empty() && said.trim_end_matches('\n') == text.trim_end_matches('\n') {
        return Ok(Verification::pass(format!(
            "read again: the same {} lines, up to empty ones at the end",
            expected.len()
        )));
    }
    let different = said.lines().zip(&expected).position(|(a, b)| a != b);
    let at = different.unwrap_or_else(|| expected.len().min(said.lines().count())) + 1;
    Ok(Verification::fail(format!("read again: {} lines; the output differs from line {at} on", expected.len())))
}

/// The parts of a selection of files: what is shown, how it is ordered, how many of it.
struct Selection<'a> {
    with_details: bool,
    limit: Option<u64>,
    order: Option<(crate::algebra::Key, Order)>,
    /// The members, before order and limit.
    members: &'a Query,
}

fn selection(query: &Query) -> Selection<'_> {
    let mut found = Selection { with_details: false, limit: None, order: None, members: query };
    loop {
        found.members = match found.members {
            Query::Details { of } if found.limit.is_none() && found.order.is_none() => {
                found.with_details = true;
                of
            }
            Query::Limit { of, count } if found.limit.is_none() && found.order.is_none() => {
                found.limit = Some(*count);
                of
            }
            Query::Sort { of, by, order } if found.order.is_none() => {
                found.order = Some((*by, *order));
                of
            }
            _ => return found,
        };
    }
}

fn files(query: &Query, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let selection = selection(query);
    let Answer::Files(members) = evaluate(selection.members, fs)? else { return Err(EvalError::Meaningless) };
    let by_line: HashMap<String, &Entry> =
        members.iter().map(|entry| (escape::path_line(path_bytes(entry)), entry)).collect();
    let mut shown: Vec<&Entry> = Vec::new();
    for line in output.lines().filter(|line| !line.is_empty()) {
        let path = if selection.with_details {
            match details(line) {
                Some((bytes, modified, path)) => match by_line.get(path) {
                    Some(entry) if entry.bytes != bytes || !same_second(entry.modified, modified) => {
                        let path = escape::one_line(path);
                        return Ok(Verification::fail(format!("size or time of {path} is not what was read again")));
                    }
                    _ => path,
                },
                None => return Ok(Verification::fail("a line of the output is not size, time and path".to_owned())),
            }
        } else {
            line
        };
        let Some(entry) = by_line.get(path) else {
            let path = escape::shorten(&escape::one_line(path), 200);
            return Ok(Verification::fail(format!("{path} is listed and does not belong")));
        };
        if let Some(problem) = broken_condition(selection.members, entry, fs) {
            return Ok(Verification::fail(format!("{}: {problem}", escape::one_line(path))));
        }
        shown.push(entry);
    }
    Ok(listed(&selection, &members, &shown))
}

/// Duplicates, number, completeness and order of what is listed; every element is known to be a member.
fn listed(selection: &Selection<'_>, members: &[Entry], shown: &[&Entry]) -> Verification {
    let distinct: HashSet<&[u8]> = shown.iter().map(|entry| path_bytes(entry)).collect();
    if distinct.len() < shown.len() {
        return Verification::fail("an element is listed twice".to_owned());
    }
    let wanted =
        selection.limit.map_or(members.len(), |limit| usize::try_from(limit).unwrap_or(usize::MAX).min(members.len()));
    let missing: Vec<&Entry> = members.iter().filter(|entry| !distinct.contains(path_bytes(entry))).collect();
    if shown.len() != wanted {
        let names: Vec<String> = missing.iter().take(SHOWN).map(|entry| escape::path_line(path_bytes(entry))).collect();
        return Verification::fail(format!(
            "found again: {wanted}; the output lists {}; not listed: {}",
            shown.len(),
            names.join(", ")
        ));
    }
    if let Some((by, order)) = selection.order {
        let goes_before = |a: &Entry, b: &Entry| match order {
            Order::Ascending => compare(by, a, b).is_lt(),
            Order::Descending => compare(by, a, b).is_gt(),
        };
        if shown.windows(2).any(|pair| matches!(pair, [a, b] if goes_before(b, a))) {
            return Verification::fail("the output is not in the order asked for".to_owned());
        }
        if let Some(last) = shown.last()
            && let Some(better) = missing.iter().find(|entry| goes_before(entry, last))
        {
            let better = escape::path_line(path_bytes(better));
            return Verification::fail(format!("{better} comes before the last one listed and is left out"));
        }
    }
    Verification::pass(match selection.limit {
        Some(_) => format!("found again: the same first {wanted} of {}", members.len()),
        None => format!("found again: the same {wanted}"),
    })
}

/// Reads the element's state anew and tests it against the query's conditions.
fn broken_condition(members: &Query, entry: &Entry, fs: &dyn FileSystem) -> Option<&'static str> {
    let Ok(current) = fs.metadata(&entry.path) else { return Some("is no longer there") };
    let keep = match members {
        Query::Filter { keep, .. } => keep,
        _ => &Pred::All(Vec::new()),
    };
    (!pred::holds_of_file(keep, &current, fs)).then_some("does not satisfy the conditions when read again")
}

/// `bytes<TAB>time<TAB>path`.
fn details(line: &str) -> Option<(u64, Timestamp, &str)> {
    let (bytes, rest) = line.split_once('\t')?;
    let (modified, path) = rest.split_once('\t')?;
    Some((bytes.parse().ok()?, Timestamp::parse(modified).ok()?, path))
}

/// Whether two times agree to the second, the coarsest a tool shows.
fn same_second(a: Timestamp, b: Timestamp) -> bool {
    a.as_millis().div_euclid(1000) == b.as_millis().div_euclid(1000)
}
