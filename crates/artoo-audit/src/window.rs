//! Counts of the current window (the period between two reports), totals of earlier windows, and the drift between
//! them.

use std::collections::BTreeMap;

use artoo_proto::{GapTrend, TaskId, Timestamp, ToolHealth};
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, FindingClass, Rule};

/// Version of `audit_stats.json`; a file of another version is renamed and not read.
pub const STATS_VERSION: u32 = 1;

/// Maximum number of different descriptions kept of one class of findings. Further ones are only counted; the log has
/// them all.
const TALLY_MAX: usize = 64;

/// Maximum number of tasks whose trend is kept.
const TRENDS_MAX: usize = 256;

/// Ended tasks a window must have before it is compared with the history: fewer prove nothing.
pub const DRIFT_MIN_WINDOW: u64 = 5;

/// Ended tasks the history must have before a window is compared with it.
pub const DRIFT_MIN_HISTORY: u64 = 20;

/// Increase of the share of abandoned tasks that counts as drift.
const DRIFT_ABANDON_STEP: f64 = 0.25;

/// Increase of corrections per task that counts as drift: one more attempt for every task.
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
    /// The last line of the log when these counts were written; the log must still contain it.
    pub head: Option<LogHead>,
}

/// The number and hash of a line of the log.
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

/// Sums over the tasks of one window or of all earlier windows.
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

/// Counts since the last report.
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
    /// Other findings that look wrong.
    pub anomalies: Tally,
}

/// Findings counted by description, up to a maximum number of descriptions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of findings by description.
    seen: BTreeMap<String, u64>,
    /// Number of findings whose description was not kept.
    beyond: u64,
}

impl AuditStats {
    /// Empty counts for a window that begins at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self { version: STATS_VERSION, window: Window::new(start), history: Totals::default(), head: None }
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

    /// Counts a finding in the list of its class.
    pub(crate) fn count(&mut self, finding: &Finding) {
        match finding.rule.class() {
            FindingClass::BoundaryViolation => self.violations.add(finding.to_string()),
            FindingClass::Anomaly => self.anomalies.add(finding.to_string()),
        }
    }

    /// Records the trend of a task.
    pub(crate) fn trend(&mut self, task: &TaskId, trend: GapTrend) {
        if self.trends.len() < TRENDS_MAX || self.trends.contains_key(task) {
            self.trends.insert(task.clone(), trend);
        } else {
            self.anomalies.add(format!("{}: more than {TRENDS_MAX} tasks in one window", Rule::AuditTrail.name()));
        }
    }
}

impl Tally {
    /// Counts a finding; a new description beyond the maximum is only counted, not kept.
    fn add(&mut self, description: String) {
        if let Some(times) = self.seen.get_mut(&description) {
            *times = times.saturating_add(1);
        } else if self.seen.len() < TALLY_MAX {
            self.seen.insert(description, 1);
        } else {
            self.beyond = self.beyond.saturating_add(1);
        }
    }

    /// One line for each description, with its count if it is more than one.
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
    /// Adds the totals of a window that has ended.
    pub(crate) fn absorb(&mut self, window: &Self) {
        self.tasks += window.tasks;
        self.ended += window.ended;
        self.abandoned += window.abandoned;
        self.corrections += window.corrections;
        self.tool_health.execution_failures += window.tool_health.execution_failures;
        self.tool_health.environmental_retries += window.tool_health.environmental_retries;
        self.tool_health.logical_retries += window.tool_health.logical_retries;
    }

    /// A count divided by the number of ended tasks.
    fn per_ended_task(&self, count: u64) -> f64 {
        count as f64 / self.ended.max(1) as f64
    }
}

/// The rates of `window` that are worse than those of `history`, with their numbers.
///
/// It compares two means: it names a change, not its cause.
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
