//! The auditor as a state machine without clock and I/O: events in, log entries and reports out.

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{AuditReport, ExecutionStatus, FailureClass, Message, TerminalDirective, Timestamp, Trigger};

use crate::detector::{Detector, Observation};
use crate::event::AuditEvent;
use crate::finding::Finding;
use crate::window::{AuditStats, Window};

/// The state machine: checks and counts every event of the bus. It can't send anything to a role.
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

    /// Observes the earlier events of a resumed task without counting them, so that later events have known causes.
    pub fn replayed(&mut self, events: &[Observed]) {
        events.iter().for_each(|observed| drop(self.detector.observe(observed)));
        self.detector.restart_positions();
    }

    /// Counts a finding that belongs to no event, such as a damaged log.
    pub fn note(&mut self, finding: &Finding) {
        self.stats.window.count(finding);
    }

    /// Makes the report on the current window; a new one begins at `now`.
    pub fn report(&mut self, now: Timestamp, trigger: Trigger) -> AuditReport {
        let report = self.stats.report(trigger);
        if !report.drift_alerts.is_empty() {
            // The same tasks are reported once; the next comparison is of later ones.
            self.stats.newest.clear();
        }
        self.stats.history.absorb(&self.stats.window.totals);
        self.stats.window = Window::new(now);
        report
    }

    /// Finds and counts tasks without a final result long after their hard limit; each is found once.
    pub fn overdue(&mut self, now: Timestamp) -> Vec<Finding> {
        let findings = self.detector.overdue(now);
        findings.iter().for_each(|finding| self.note(finding));
        findings
    }

    /// Finds and counts tasks without a final result, after the bus was closed.
    pub fn end(&mut self) -> Vec<Finding> {
        let findings = self.detector.without_result();
        findings.iter().for_each(|finding| self.note(finding));
        findings
    }

    /// Adds a message to the counts and trends of the current window.
    fn count(&mut self, message: &Message, seen: &Observation) {
        let totals = &mut self.stats.window.totals;
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
        if let (Message::FinalResult(result), Some(corrections)) = (message, seen.ended_after) {
            let is_abandoned = result.ending.directive() == TerminalDirective::Abandon;
            self.stats.ended(is_abandoned, corrections);
        }
        if let (Some(task), Some(trend)) = (message.task_id(), seen.trend) {
            self.stats.window.trend(task, trend);
        }
    }
}

#[cfg(test)]
mod tests;
