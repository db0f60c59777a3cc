//! The auditor's report to the operator.

use serde::{Deserialize, Serialize};

use crate::{TaskId, Timestamp};

/// Why the auditor wrote a report: the interval passed, or the operator asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The regular interval passed.
    Periodic,
    /// The operator asked for the report.
    OnDemand,
}

/// Whether a task is getting closer to its goal, by its distance D between result and intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapTrend {
    /// D falls: the task gets closer to its goal.
    Improving,
    /// D does not change.
    Stable,
    /// D rises: the task gets farther from its goal.
    Worsening,
}

/// Whether the distance D of one task fell, stayed or rose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTrend {
    /// The task's id.
    pub task_id: TaskId,
    /// Whether the task's distance D falls, stays or rises.
    pub trend: GapTrend,
}

/// Counts of failed and repeated executions since the last report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHealth {
    /// Executions that reported failure.
    pub execution_failures: u64,
    /// Attempts repeated because of the environment (network, permission, missing file).
    pub environmental_retries: u64,
    /// Attempts repeated because the approach was wrong.
    pub logical_retries: u64,
}

/// The auditor's report: what happened on the bus since its last report, with violations, drifts and anomalies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditReport {
    /// What made the auditor write this report.
    pub trigger: Trigger,
    /// When the reported period began.
    pub window_start: Timestamp,
    /// Tasks seen in the period; a replan does not count as another task.
    pub tasks_observed: u64,
    /// Corrections that the agent-validator sent to executors.
    pub total_corrections: u64,
    /// The trend of each task with a new D in the period.
    pub gap_trends: Vec<TaskTrend>,
    /// Messages that broke the rules of the bus, one line each.
    pub boundary_violations: Vec<String>,
    /// Rates that got worse compared with earlier periods, one line each.
    pub drift_alerts: Vec<String>,
    /// Other findings that look wrong, one line each.
    pub anomalies: Vec<String>,
    /// Counts of failed and repeated executions.
    pub tool_health: ToolHealth,
}
