//! The report on a window (the period since the last report).

use artoo_proto::{AuditReport, TaskTrend, Trigger};

use crate::window::{Totals, Window, drift};

/// Makes the report on a window, compared with the totals of all earlier windows.
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
