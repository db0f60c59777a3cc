//! R6's contract with the human: queries in, reports out.

use serde::{Deserialize, Serialize};

use crate::{TaskId, Timestamp};

/// Operator to R6: report now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditQuery {}

/// Why a report was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The timer.
    Periodic,
    /// The human asked.
    OnDemand,
}

/// Where a task's gap is heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapTrend {
    /// D falls.
    Improving,
    /// D stays.
    Stable,
    /// D rises.
    Worsening,
}

/// One task's trend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTrend {
    /// The task.
    pub task_id: TaskId,
    /// Its trend.
    pub trend: GapTrend,
}

/// How tools fared in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHealth {
    /// Execution results that failed.
    pub execution_failures: u64,
    /// Corrections for the environment's sake.
    pub environmental_retries: u64,
    /// Corrections for the approach's sake.
    pub logical_retries: u64,
}

/// R6 to the human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditReport {
    /// Why now.
    pub trigger: Trigger,
    /// Start of the window.
    pub window_start: Timestamp,
    /// Tasks seen (a replan is not a task).
    pub tasks_observed: u64,
    /// Corrections of the fast loop.
    pub total_corrections: u64,
    /// Trends.
    pub gap_trends: Vec<TaskTrend>,
    /// Messages that broke the rules of the bus.
    pub boundary_violations: Vec<String>,
    /// Slow changes for the worse.
    pub drift_alerts: Vec<String>,
    /// Everything else that looks wrong.
    pub anomalies: Vec<String>,
    /// Tools.
    pub tool_health: ToolHealth,
}
