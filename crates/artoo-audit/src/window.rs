//! The auditor's counts in the current window (the time since the last report), their totals, and the drift of the
//! newest tasks.

use std::collections::{BTreeMap, VecDeque};

use artoo_proto::{AuditReport, GapTrend, TaskId, TaskTrend, Timestamp, ToolHealth, Trigger};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::words;

/// Version of the statistics file `audit_stats.json`; a file of another version is renamed and not read.
pub const STATS_VERSION: u32 = 1;

/// Maximum number of different descriptions stored for one class of findings. Further ones are only counted; the log
/// has all.
const TALLY_MAX: usize = 64;

/// Maximum number of tasks whose trend of D is stored in a window; five minutes have fewer tasks.
const TRENDS_MAX: usize = 256;

/// Number of the newest ended tasks that are compared with all earlier ones to find drift; fewer prove nothing.
pub const DRIFT_TASKS: usize = 10;

/// Minimum number of earlier ended tasks from which on drift is looked for.
pub const DRIFT_MIN_EARLIER: u64 = 20;

/// Increase of the share of abandoned tasks (0 to 1) that counts as drift.
const DRIFT_ABANDON_STEP: f64 = 0.25;

/// Increase of corrections per task that counts as drift: one more attempt in every task.
const DRIFT_CORRECTION_STEP: f64 = 1.0;

/// The counts of the auditor that survive a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditStats {
    /// [`STATS_VERSION`] when the file was written.
    pub version: u32,
    /// Counts since the last report.
    pub window: Window,
    /// Totals of all earlier windows.
    pub history: Totals,
    /// Counts of each of the newest ended tasks, oldest first, at most [`DRIFT_TASKS`]; the totals contain them. Empty
    /// after a drift was reported, and in files of 0.1.0.
    #[serde(default)]
    pub newest: VecDeque<Totals>,
    /// The last line of the log when these counts were written; the log must still contain it.
    pub head: Option<LogHead>,
}

/// The number and hash of a line of the log, usually the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// Number of lines up to and including this one.
    pub lines: u64,
    /// The hash of the line, in hex.
    pub hash: String,
    /// When the line was known to be on the disk; `None` if unknown.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// Sums over tasks (tasks, ended and abandoned ones, corrections, failed and repeated executions): of one task, of a
/// window, or of all earlier windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Tasks seen; a replan does not count as another task.
    pub tasks: u64,
    /// Tasks with a final result.
    pub ended: u64,
    /// Tasks that were abandoned.
    pub abandoned: u64,
    /// Corrections that agent-validators sent to executors.
    pub corrections: u64,
    /// Failed and repeated executions.
    pub tool_health: ToolHealth,
}

/// Counts since the last report: sums, trends of tasks, and findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// When the window began.
    pub start: Timestamp,
    /// Sums over the tasks of the window.
    pub totals: Totals,
    /// Trend of each task that had a new D (distance from the goal) in this window.
    pub trends: BTreeMap<TaskId, GapTrend>,
    /// Findings about broken rules of the bus.
    pub violations: Tally,
    /// Findings of all other rules.
    pub anomalies: Tally,
}

/// Findings counted by their description; beyond a maximum number of descriptions only their sum.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of findings by description.
    seen: BTreeMap<String, u64>,
    /// Number of findings whose description was not stored.
    beyond: u64,
}

impl AuditStats {
    /// Empty counts for a window that begins at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        let (window, history) = (Window::new(start), Totals::default());
        Self { version: STATS_VERSION, window, history, newest: VecDeque::new(), head: None }
    }

    /// Makes the report on the current window.
    #[must_use]
    pub fn report(&self, trigger: Trigger) -> AuditReport {
        let Window { start, totals, trends, violations, anomalies } = &self.window;
        let of_task = |(task_id, trend): (&TaskId, &GapTrend)| TaskTrend { task_id: task_id.clone(), trend: *trend };
        AuditReport {
            trigger,
            window_start: *start,
            tasks_observed: totals.tasks,
            total_corrections: totals.corrections,
            gap_trends: trends.iter().map(of_task).collect(),
            boundary_violations: violations.lines(),
            drift_alerts: self.drift(),
            anomalies: anomalies.lines(),
            tool_health: totals.tool_health,
        }
    }

    /// Counts a task that has ended, in the window and among the newest tasks; its corrections were counted before.
    pub(crate) fn ended(&mut self, is_abandoned: bool, corrections: u64) {
        let task = Totals { ended: 1, abandoned: is_abandoned.into(), ..Totals::default() };
        self.window.totals.absorb(&task);
        if self.newest.len() == DRIFT_TASKS {
            self.newest.pop_front();
        }
        self.newest.push_back(Totals { corrections, ..task });
    }

    /// Drift alerts: the rates (abandoned tasks, corrections) of the newest tasks that are clearly worse than those of
    /// all earlier ones; empty if there are too few tasks.
    ///
    /// It compares two means, so it shows a change and not its cause.
    fn drift(&self) -> Vec<String> {
        let (mut now, mut before) = (Totals::default(), self.history);
        self.newest.iter().for_each(|task| now.absorb(task));
        before.absorb(&self.window.totals);
        before.ended = before.ended.saturating_sub(now.ended);
        before.abandoned = before.abandoned.saturating_sub(now.abandoned);
        before.corrections = before.corrections.saturating_sub(now.corrections);
        if self.newest.len() < DRIFT_TASKS || before.ended < DRIFT_MIN_EARLIER {
            return Vec::new();
        }
        let rates = [
            (words::ABANDONED, [now.abandoned, before.abandoned], DRIFT_ABANDON_STEP),
            (words::RETRIES, [now.corrections, before.corrections], DRIFT_CORRECTION_STEP),
        ];
        let worse = rates.into_iter().filter_map(|(what, [newest, earlier], step)| {
            let [now, before] = [(newest, now.ended), (earlier, before.ended)];
            let per_task = |(number, tasks): (u64, u64)| number as f64 / tasks as f64;
            (per_task(now) - per_task(before) >= step).then(|| words::drift(what, now, before))
        });
        worse.collect()
    }
}

impl Window {
    /// An empty window that begins at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            start,
            totals: Totals::default(),
            trends: BTreeMap::new(),
            violations: Tally::default(),
            anomalies: Tally::default(),
        }
    }

    /// Counts a finding, as a violation of the bus's rules or as an anomaly.
    pub(crate) fn count(&mut self, finding: &Finding) {
        let list = if finding.rule.is_violation() { &mut self.violations } else { &mut self.anomalies };
        list.add(finding.to_string());
    }

    /// Stores the trend of a task's D, for at most [`TRENDS_MAX`] tasks.
    pub(crate) fn trend(&mut self, task: &TaskId, trend: GapTrend) {
        if self.trends.len() < TRENDS_MAX || self.trends.contains_key(task) {
            self.trends.insert(task.clone(), trend);
        }
    }
}

impl Tally {
    /// Counts a finding by its description; a new description beyond the maximum only adds to the sum.
    fn add(&mut self, description: String) {
        if let Some(times) = self.seen.get_mut(&description) {
            *times = times.saturating_add(1);
        } else if self.seen.len() < TALLY_MAX {
            self.seen.insert(description, 1);
        } else {
            self.beyond = self.beyond.saturating_add(1);
        }
    }

    /// One line for each description of findings, with its count if it occurred more than once; then one with the
    /// number of findings whose description was not stored.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .seen
            .iter()
            .map(|(description, times)| match times {
                1 => description.clone(),
                times => format!("{description} (×{times})"),
            })
            .collect();
        if self.beyond > 0 {
            lines.push(words::count_of_unlisted(self.beyond));
        }
        lines
    }
}

impl Totals {
    /// Adds the totals of a window, or of a task, to these.
    pub(crate) fn absorb(&mut self, window: &Self) {
        self.tasks += window.tasks;
        self.ended += window.ended;
        self.abandoned += window.abandoned;
        self.corrections += window.corrections;
        self.tool_health.execution_failures += window.tool_health.execution_failures;
        self.tool_health.environmental_retries += window.tool_health.environmental_retries;
        self.tool_health.logical_retries += window.tool_health.logical_retries;
    }
}

#[cfg(test)]
mod tests;
