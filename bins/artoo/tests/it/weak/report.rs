//! The results of all weak-model tasks as a table and as one JSON line.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::tasks::Task;
use crate::world::RunOutput;

/// The result of one weak-model task, as a row of the report's table.
pub(crate) struct Row {
    name: String,
    ending: String,
    basis: String,
    pub(crate) checked_true: usize,
    pub(crate) judged: usize,
    pub(crate) is_right: bool,
    model_calls: u64,
    /// Tokens that all models of the task wrote, as the program counts them.
    pub(crate) completion_tokens: u64,
    pub(crate) weak_tokens: u64,
    pub(crate) took: Duration,
    /// What artoo said that is not so.
    pub(crate) lies: Vec<String>,
}

impl Row {
    /// Makes the row from a task's run, its last JSON line, and its duration.
    pub(crate) fn new(task: &Task, ran: &RunOutput, last: &Value, took: Duration) -> Self {
        let result = &last["result"];
        let directive = result["directive"].as_str().unwrap_or("none");
        let why = result["reason"]["kind"].as_str().unwrap_or_default();
        let usage = last["usage"].as_object();
        let sum = |field: &str| {
            let of_roles = usage.into_iter().flat_map(|usage| usage.values());
            of_roles.filter_map(|of_role| of_role[field].as_u64()).sum()
        };
        Self {
            name: task.name(),

            ending: format!("{} {directive} {why}", ran.code.map_or("-".to_owned(), |code| code.to_string())),
            basis: result["basis"].as_str().unwrap_or("-").to_owned(),
            checked_true: 0,
            judged: 0,
            is_right: false,
            model_calls: sum("model_calls"),
            completion_tokens: sum("completion_tokens"),
            weak_tokens: 0,
            took,
            lies: Vec::new(),
        }
    }

    /// Whether artoo accepted the result.
    fn is_accept(&self) -> bool {
        self.basis != "-"
    }

    /// Whether artoo accepted the result and the result is right.
    pub(crate) fn is_true_accept(&self) -> bool {
        self.is_accept() && self.is_right
    }

    /// Whether the basis of the accepted result is checks in code.
    fn is_in_code(&self) -> bool {
        self.basis == "checked"
    }
}

/// A table with one line for each task.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut lines = vec![format!(
        "\n{:<27} {:<26} {:<8} {:>7} {:>5} {:>6} {:>6} {:>5} {:>6} {:>6}",
        "task", "exit, ending", "basis", "checked", "false", "judged", "result", "calls", "tokens", "s"
    )];
    lines.extend(rows.iter().map(|row| {
        format!(
            "{:<27} {:<26} {:<8} {:>7} {:>5} {:>6} {:>6} {:>5} {:>6} {:>6.1}",
            row.name,
            row.ending,
            row.basis,
            row.checked_true,
            row.lies.len(),
            row.judged,
            if row.is_right { "right" } else { "wrong" },
            row.model_calls,
            row.weak_tokens,
            row.took.as_secs_f64()
        )
    }));
    lines.join("\n")
}

/// The totals over all weak-model tasks as JSON.
pub(crate) fn summary(rows: &[Row]) -> Value {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *endings.entry(row.ending.trim()).or_default() += 1;
    }
    json!({
        "tasks": rows.len(),
        "checked_true": rows.iter().map(|row| row.checked_true).sum::<usize>(),
        "false": rows.iter().map(|row| row.lies.len()).sum::<usize>(),
        "accepted_in_code": {"right": count(&|row| row.is_in_code() && row.is_right),
                             "wrong": count(&|row| row.is_in_code() && !row.is_right)},
        "accepted_on_its_word": {"right": count(&|row| row.is_accept() && !row.is_in_code() && row.is_right),
                                 "wrong": count(&|row| row.is_accept() && !row.is_in_code() && !row.is_right)},
        "not_accepted": {"right": count(&|row| !row.is_accept() && row.is_right),
                         "wrong": count(&|row| !row.is_accept() && !row.is_right)},
        "model_calls": rows.iter().map(|row| row.model_calls).sum::<u64>(),
        "weak_tokens": rows.iter().map(|row| row.weak_tokens).sum::<u64>(),
        "seconds": rows.iter().map(|row| row.took.as_secs()).sum::<u64>(),
        "endings": endings,
    })
}

/// Prints a line past the output capture of the test harness.
pub(crate) fn print(text: &str) {
    drop(writeln!(std::io::stderr(), "{text}"));
}
