//! The auditor (R6) as a state machine without clock and I/O: bus events go in, log entries and reports come out.

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{AuditReport, ExecutionStatus, FailureClass, Message, TerminalDirective, Timestamp, Trigger};

use crate::detector::{Detector, Observation};
use crate::event::AuditEvent;
use crate::finding::Finding;
use crate::window::{AuditStats, Window};

/// The state machine of the auditor: checks every event of the bus against the rules and counts it. It can't send
/// anything to a role.
#[derive(Debug)]
pub struct Auditor {
    stats: AuditStats,
    detector: Detector,
}

impl Auditor {
    /// Creates an auditor without earlier counts; its first window (period of a report) begins at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self::from_stats(AuditStats::new(start))
    }

    /// Creates an auditor that continues the counts of an earlier process.
    #[must_use]
    pub fn from_stats(stats: AuditStats) -> Self {
        Self { stats, detector: Detector::default() }
    }

    /// The auditor's counts, which the caller stores so that they survive a restart.
    #[must_use]
    pub fn stats(&self) -> &AuditStats {
        &self.stats
    }

    /// Checks an event of the bus against the rules, counts it, and returns the entry to write to the log.
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

    /// Feeds the earlier events of a resumed task to the rules, so that later events have known causes. Neither these
    /// events nor findings about them are counted.
    pub fn replayed(&mut self, events: &[Observed]) {
        events.iter().for_each(|observed| drop(self.detector.observe(observed)));
        self.detector.restart_positions();
    }

    /// Counts a finding that belongs to no event, such as a damaged log.
    pub fn note(&mut self, finding: &Finding) {
        self.stats.window.count(finding);
    }

    /// Makes the report on the current window (the time since the last report); the next window begins at `now`.
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

    /// Findings for tasks that have no final result although their hard limit passed more than five seconds ago; each
    /// task is found and counted once.
    pub fn overdue(&mut self, now: Timestamp) -> Vec<Finding> {
        let findings = self.detector.overdue(now);
        findings.iter().for_each(|finding| self.note(finding));
        findings
    }

    /// Findings for tasks that have no final result when the bus has closed; they are counted too.
    pub fn end(&mut self) -> Vec<Finding> {
        let findings = self.detector.without_result();
        findings.iter().for_each(|finding| self.note(finding));
        findings
    }

    /// Adds a message to the counts of the current window and to the trend of its task.
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
