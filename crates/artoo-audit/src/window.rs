//! What is counted between two reports, the history before it, and what of both survives a restart.

use std::collections::BTreeMap;

use artoo_proto::{GapTrend, TaskId, Timestamp, ToolHealth};
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, FindingClass, Rule};

/// Version of `audit_stats.json`; another one is set aside, never read as if it were this.
pub const STATS_VERSION: u32 = 1;

/// Different descriptions kept of one class between two reports: a person reads a page, not a thousand lines. What is
/// beyond is still counted and is in the log in full.
const TALLY_MAX: usize = 64;

/// Tasks whose trend is kept between two reports.
const TRENDS_MAX: usize = 256;

/// Ended tasks a window must hold before it is compared with the history: fewer say nothing.
pub const DRIFT_MIN_WINDOW: u64 = 5;

/// Ended tasks the history must hold before anything is compared with it.
pub const DRIFT_MIN_HISTORY: u64 = 20;

/// How far the share of abandoned tasks must lie above the history's: a quarter of all tasks is what a person notices.
const DRIFT_ABANDON_STEP: f64 = 0.25;

/// How many more corrections a task must need than before: one more attempt for every task.
const DRIFT_CORRECTION_STEP: f64 = 1.0;

/// Everything of the auditor that survives a restart: the open window and the history before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditStats {
    /// [`STATS_VERSION`].
    pub version: u32,
    /// Counted since the last report.
    pub window: Window,
    /// Counted before it, over all earlier windows.
    pub history: Totals,
    /// The last line of the log when this was written; what the log must still reach.
    pub head: Option<LogHead>,
}

/// A line of the log, by number and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// Lines up to and with this one.
    pub lines: u64,
    /// Its hash, in hex.
    pub hash: String,
}

/// Plain sums over tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Tasks seen; a replan is not a task.
    pub tasks: u64,
    /// Tasks with a final result.
    pub ended: u64,
    /// Of these, abandoned.
    pub abandoned: u64,
    /// Corrections of the fast loop.
    pub corrections: u64,
    /// Tools.
    pub tool_health: ToolHealth,
}

/// Counts between two reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Since when.
    pub start: Timestamp,
    /// Sums.
    pub totals: Totals,
    /// Where the gap of tasks is heading that had a new D in this window.
    pub trends: BTreeMap<TaskId, GapTrend>,
    /// Broken rules of the bus.
    pub violations: Tally,
    /// Everything else that looked wrong.
    pub anomalies: Tally,
}

/// Findings by description, each with how often it was seen; bounded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    seen: BTreeMap<String, u64>,
    beyond: u64,
}

impl AuditStats {
    /// Nothing counted yet, from `start` on.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self { version: STATS_VERSION, window: Window::new(start), history: Totals::default(), head: None }
    }
}

impl Window {
    /// An empty window.
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

    /// Counts a finding in the list it belongs to.
    pub(crate) fn count(&mut self, finding: &Finding) {
        match finding.rule.class() {
            FindingClass::BoundaryViolation => self.violations.add(finding.to_string()),
            FindingClass::Anomaly => self.anomalies.add(finding.to_string()),
        }
    }

    /// Notes where a task's gap is heading.
    pub(crate) fn trend(&mut self, task: &TaskId, trend: GapTrend) {
        if self.trends.len() < TRENDS_MAX || self.trends.contains_key(task) {
            self.trends.insert(task.clone(), trend);
        } else {
            self.anomalies.add(format!("{}: more than {TRENDS_MAX} tasks in one window", Rule::AuditTrail.name()));
        }
    }
}

impl Tally {
    fn add(&mut self, description: String) {
        if let Some(times) = self.seen.get_mut(&description) {
            *times = times.saturating_add(1);
        } else if self.seen.len() < TALLY_MAX {
            self.seen.insert(description, 1);
        } else {
            self.beyond = self.beyond.saturating_add(1);
        }
    }

    /// One line a description, with a count where it was seen more than once.
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
            lines.push(format!("{} more, in the audit log", self.beyond));
        }
        lines
    }
}

impl Totals {
    /// Adds a window that has ended.
    pub(crate) fn absorb(&mut self, window: &Self) {
        self.tasks += window.tasks;
        self.ended += window.ended;
        self.abandoned += window.abandoned;
        self.corrections += window.corrections;
        self.tool_health.execution_failures += window.tool_health.execution_failures;
        self.tool_health.environmental_retries += window.tool_health.environmental_retries;
        self.tool_health.logical_retries += window.tool_health.logical_retries;
    }

    fn per_ended_task(&self, count: u64) -> f64 {
        count as f64 / self.ended.max(1) as f64
    }
}

/// What got worse in `window` against `history`, with the numbers it rests on. A comparison of two means, no more: it
/// names a change, not its cause.
#[must_use]
pub fn drift(window: &Totals, history: &Totals) -> Vec<String> {
    if window.ended < DRIFT_MIN_WINDOW || history.ended < DRIFT_MIN_HISTORY {
        return Vec::new();
    }
    let mut alerts = Vec::new();
    let (now, before) = (window.per_ended_task(window.abandoned), history.per_ended_task(history.abandoned));
    if now - before >= DRIFT_ABANDON_STEP {
        alerts.push(format!(
            "abandoned tasks: {} of {} in this window, {} of {} before",
            window.abandoned, window.ended, history.abandoned, history.ended
        ));
    }
    let (now, before) = (window.per_ended_task(window.corrections), history.per_ended_task(history.corrections));
    if now - before >= DRIFT_CORRECTION_STEP {
        alerts.push(format!(
            "corrections per ended task: {now:.1} in this window ({} tasks), {before:.1} before ({} tasks)",
            window.ended, history.ended
        ));
    }
    alerts
}

#[cfg(test)]
mod tests;
