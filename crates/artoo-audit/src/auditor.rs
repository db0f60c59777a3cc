//! The auditor as a machine: events in, log entries and reports out. No clock, no I/O, no way to speak on the bus.

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{AuditReport, ExecutionStatus, FailureClass, Message, TerminalDirective, Timestamp, Trigger};

use crate::detector::{Detector, Seen};
use crate::event::AuditEvent;
use crate::finding::Finding;
use crate::report::report;
use crate::window::{AuditStats, Window};

/// Observes everything that happens on the bus and counts it; nothing it does can reach a role.
#[derive(Debug)]
pub struct Auditor {
    stats: AuditStats,
    detector: Detector,
}

impl Auditor {
    /// An auditor without a past, whose first window begins at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self::from_stats(AuditStats::new(start))
    }

    /// An auditor that goes on where an earlier process stopped.
    #[must_use]
    pub fn from_stats(stats: AuditStats) -> Self {
        Self { stats, detector: Detector::default() }
    }

    /// What must survive a restart.
    #[must_use]
    pub fn stats(&self) -> &AuditStats {
        &self.stats
    }

    /// Takes in one event; the result is what belongs in the log.
    pub fn observe(&mut self, observed: &Observed) -> AuditEvent {
        let seen = self.detector.observe(observed);
        if let TapEvent::Message { envelope } = &observed.event {
            self.count(&envelope.message, &seen);
        }
        for finding in &seen.findings {
            self.stats.window.count(finding);
        }
        AuditEvent::seen(observed, seen.findings)
    }

    /// Counts something found outside the tap, such as trouble with the log.
    pub fn note(&mut self, finding: &Finding) {
        self.stats.window.count(finding);
    }

    /// The report on the window, which then starts anew at `now`.
    pub fn report(&mut self, now: Timestamp, trigger: Trigger) -> AuditReport {
        for finding in self.detector.overdue(now) {
            self.stats.window.count(&finding);
        }
        let report = report(&self.stats.window, &self.stats.history, trigger);
        self.stats.history.absorb(&self.stats.window.totals);
        self.stats.window = Window::new(now);
        report
    }

    /// The bus is gone: tasks that never got a final result are found now, and counted.
    pub fn end(&mut self) -> Vec<Finding> {
        let findings = self.detector.without_result();
        for finding in &findings {
            self.stats.window.count(finding);
        }
        findings
    }

    fn count(&mut self, message: &Message, seen: &Seen) {
        let window = &mut self.stats.window;
        let totals = &mut window.totals;
        if seen.new_task {
            totals.tasks += 1;
        }
        if let Message::ExecutionResult(result) = message
            && result.status == ExecutionStatus::Failed
        {
            totals.tool_health.execution_failures += 1;
        }
        if let Message::CorrectionSignal(correction) = message {
            totals.corrections += 1;
            match correction.failure_class {
                FailureClass::Environmental => totals.tool_health.environmental_retries += 1,
                FailureClass::Logical => totals.tool_health.logical_retries += 1,
            }
        }
        if let Message::FinalResult(result) = message
            && seen.first_result
        {
            totals.ended += 1;
            if result.ending.directive() == TerminalDirective::Abandon {
                totals.abandoned += 1;
            }
        }
        if let (Some(task), Some(trend)) = (message.task_id(), seen.trend) {
            window.trend(task, trend);
        }
    }
}

#[cfg(test)]
mod tests;
