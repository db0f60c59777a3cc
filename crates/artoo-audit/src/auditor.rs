//! The auditor as a state machine without clock and I/O: events in, log entries and reports out.

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{AuditReport, ExecutionStatus, FailureClass, Message, TerminalDirective, Timestamp, Trigger};

use crate::detector::{Detector, Observation};
use crate::event::AuditEvent;
use crate::finding::Finding;
use crate::report::report;
use crate::window::{AuditStats, Window};

/// Checks and counts every event of the bus. It has no way to send anything to a role.
#[derive(Debug)]
pub struct Auditor {
    stats: AuditStats,
    detector: Detector,
}

impl Auditor {
    /// An auditor without earlier counts, whose first window begins at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self::from_stats(AuditStats::new(start))
    }

    /// An auditor that continues the counts of an earlier process.
    #[must_use]
    pub fn from_stats(stats: AuditStats) -> Self {
        Self { stats, detector: Detector::default() }
    }

    /// The auditor's counts, which must survive a restart.
    #[must_use]
    pub fn stats(&self) -> &AuditStats {
        &self.stats
    }

    /// Checks and counts one event, and returns its log entry.
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

    /// Counts a finding that belongs to no event, such as a damaged log.
    pub fn note(&mut self, finding: &Finding) {
        self.stats.window.count(finding);
    }

    /// Makes the report on the current window; a new one begins at `now`.
    pub fn report(&mut self, now: Timestamp, trigger: Trigger) -> AuditReport {
        for finding in self.detector.overdue(now) {
            self.stats.window.count(&finding);
        }
        let report = report(&self.stats.window, &self.stats.history, trigger);
        self.stats.history.absorb(&self.stats.window.totals);
        self.stats.window = Window::new(now);
        report
    }

    /// Finds and counts tasks without a final result, after the bus was closed.
    pub fn end(&mut self) -> Vec<Finding> {
        let findings = self.detector.without_result();
        for finding in &findings {
            self.stats.window.count(finding);
        }
        findings
    }

    /// Adds a message to the counts and trends of the current window.
    fn count(&mut self, message: &Message, seen: &Observation) {
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
