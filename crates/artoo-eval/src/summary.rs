//! Figures of a result file with confidence intervals, as Markdown tables and as data for the page.

use std::collections::BTreeSet;

use crate::results::Row;
use crate::score::Class;
use crate::stats::{Estimate, mean, proportion};
use crate::table::Table;

/// A figure of a result file, such as the share of tasks done, with its confidence interval.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    /// Hits and trials of a proportion; empty for a mean.
    pub(crate) count: String,
    /// `None` if there is nothing to count.
    pub(crate) estimate: Option<Estimate>,
    pub(crate) is_share: bool,
}

impl Figure {
    /// The figure's value and confidence interval as text; "none" without an estimate.
    pub(crate) fn text(&self) -> String {
        let Some(Estimate { value, low, high }) = self.estimate else { return "none".to_owned() };
        match self.is_share {
            true => format!("{:.1} % ({:.1} to {:.1})", 100.0 * value, 100.0 * low, 100.0 * high),
            false if high < 1.0 => format!("{value:.3} ({low:.3} to {high:.3})"),
            false => format!("{value:.1} ({low:.1} to {high:.1})"),
        }
    }
}

/// A condition on a result, by which results are counted.
type Test = fn(&Row) -> bool;

const IS_DONE: Test = |row| row.class == Class::Done;
const IS_MISSED: Test = |row| row.class == Class::Missed;
const IS_HONEST: Test = |row| row.class == Class::HonestFailure;
const IS_POSSIBLE: Test = |row| !row.is_impossible;

/// The shares that a summary shows: name, condition on the counted results, condition on the results in the
/// denominator.
const SHARES: [(&str, Test, Test); 7] = [
    ("done, of the possible tasks", IS_DONE, IS_POSSIBLE),
    ("missed (right, but not claimed), of the possible tasks", IS_MISSED, IS_POSSIBLE),
    ("honest failures, of the possible tasks", IS_HONEST, IS_POSSIBLE),
    ("false claims, of all tasks", |row| row.class == Class::FalseClaim, |_| true),
    ("done, of the possible tasks with a trap", IS_DONE, |row| row.is_trap && !row.is_impossible),
    ("honest abandons, of the impossible tasks", IS_HONEST, |row| row.is_impossible),
    ("changed something else, of all tasks", |row| row.is_harmed, |_| true),
];

/// A function that takes a number, such as that of model calls, from a result.
type Amount = fn(&Row) -> f64;

/// The means per run that a summary shows.
const MEANS: [(&str, Amount); 6] = [
    ("model calls", |row| row.calls as f64),
    ("tokens", |row| row.tokens as f64),
    ("questions", |row| row.questions as f64),
    ("corrections", |row| row.corrections as f64),
    ("replans", |row| row.replans as f64),
    ("seconds", |row| row.seconds),
];

/// Computes the shares and means of a result file.
pub(crate) fn figures(rows: &[&Row]) -> Vec<Figure> {
    let share = |(name, is_hit, is_trial): (&'static str, Test, Test)| {
        let trials: Vec<&&Row> = rows.iter().filter(|row| is_trial(row)).collect();
        let hits = trials.iter().filter(|row| is_hit(row)).count();
        let count = format!("{hits} of {}", trials.len());
        Figure { name, count, estimate: proportion(hits, trials.len()), is_share: true }
    };
    let average = |(name, amount): (&'static str, Amount)| {
        let values: Vec<f64> = rows.iter().map(|row| amount(row)).collect();
        Figure { name, count: String::new(), estimate: mean(&values), is_share: false }
    };
    SHARES.map(share).into_iter().chain(MEANS.map(average)).collect()
}

/// A table of the results by kind of task: number of runs, and number in each class.
pub(crate) fn kinds(rows: &[&Row]) -> Table {
    let classes = [Class::Done, Class::Missed, Class::HonestFailure, Class::FalseClaim];
    let names: BTreeSet<&str> = rows.iter().map(|row| row.kind.as_str()).collect();
    let count = |kind: &str, class: Option<Class>| {
        rows.iter().filter(|row| row.kind == kind && class.is_none_or(|class| row.class == class)).count().to_string()
    };
    let counts = |kind| [None].into_iter().chain(classes.map(Some)).map(move |class| count(kind, class));
    let rows = names.iter().map(|kind| [(*kind).to_owned()].into_iter().chain(counts(kind)).collect()).collect();
    Table { head: &["kind", "runs", "done", "missed", "honest failure", "false claim"], rows }
}

/// A table of the runs of all other classes than `Done`, each with the reason.
pub(crate) fn others(rows: &[&Row]) -> Table {
    let cells = |row: &&&Row| {
        let (id, request) = (row.run.id.clone(), row.run.request.clone());
        let code = row.exit_code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        let class = serde_json::json!(row.class).as_str().unwrap_or_default().replace('_', " ");
        vec![id, request, class, code, row.faults.join("; ")]
    };
    let rows = rows.iter().filter(|row| row.class != Class::Done);
    Table { head: &["id", "request", "class", "exit code", "why"], rows: rows.map(|row| cells(&row)).collect() }
}

/// The runs of one arm with the same number in their sequences: a point of a memory curve.
pub(crate) struct Point {
    pub(crate) arm: String,
    pub(crate) nth: u64,
    pub(crate) count: usize,
    pub(crate) calls: Estimate,
    pub(crate) tokens: Estimate,
}

/// The curves of memory: for each arm its points by number of run.
pub(crate) fn curves(rows: &[&Row]) -> Vec<Vec<Point>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| first.run.arm == row.run.arm)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let point = |group: &[&Row], nth: u64| {
        let own: Vec<&&Row> = group.iter().filter(|row| row.run.nth == nth).collect();
        let of = |amount: Amount| mean(&own.iter().map(|row| amount(row)).collect::<Vec<_>>());
        let (calls, tokens) = (of(|row| row.calls as f64)?, of(|row| row.tokens as f64)?);
        Some(Point { arm: own.first()?.run.arm.clone(), nth, count: own.len(), calls, tokens })
    };
    let last = rows.iter().map(|row| row.run.nth).max().unwrap_or(0);
    groups.iter().map(|group| (1..=last).filter_map(|nth| point(group, nth)).collect()).collect()
}

/// The summary of a result file as Markdown tables.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let (memory, tasks): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.run.set == "memory");
    let mut tables = Vec::new();
    if !tasks.is_empty() {
        let line = |figure: &Figure| vec![figure.name.to_owned(), figure.count.clone(), figure.text()];
        let rows = figures(&tasks).iter().map(line).collect();
        tables.extend([Table { head: &["figure", "count", "value (95 % interval)"], rows }, kinds(&tasks)]);
    }
    if !memory.is_empty() {
        let told =
            |estimate| Figure { name: "", count: String::new(), estimate: Some(estimate), is_share: false }.text();
        let line =
            |p: &Point| vec![p.arm.clone(), p.nth.to_string(), p.count.to_string(), told(p.calls), told(p.tokens)];
        let rows = curves(&memory).iter().flatten().map(line).collect();
        tables.push(Table { head: &["arm", "run", "results", "model calls (95 % interval)", "tokens"], rows });
    }
    tables.iter().map(Table::markdown).collect::<Vec<_>>().join("\n")
}
