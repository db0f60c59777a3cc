//! From a window to the report a person reads.

use artoo_proto::{AuditReport, TaskTrend, Trigger};

use crate::window::{Totals, Window, drift};

/// The report on a window, compared with the history before it.
#[must_use]
pub fn report(window: &Window, history: &Totals, trigger: Trigger) -> AuditReport {
    AuditReport {
        trigger,
        window_start: window.start,
        tasks_observed: window.totals.tasks,
        total_corrections: window.totals.corrections,
        gap_trends: window
            .trends
            .iter()
            .map(|(task_id, trend)| TaskTrend { task_id: task_id.clone(), trend: *trend })
            .collect(),
        boundary_violations: window.violations.lines(),
        drift_alerts: drift(&window.totals, history),
        anomalies: window.anomalies.lines(),
        tool_health: window.totals.tool_health,
    }
}
