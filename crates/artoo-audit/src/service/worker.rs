//! The loop of the auditor's thread: it writes events, answers commands, and makes reports at intervals.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::{Duration, Instant};

use artoo_bus::{Observed, Tap, TapEvent};
use artoo_proto::{AuditReport, Timestamp, Trigger};

use super::files::Files;
use super::{AuditConfig, AuditError, AuditSummary, Command};
use crate::auditor::Auditor;
use crate::event::{AuditEvent, Note};
use crate::finding::{Finding, Rule};
use crate::stats::save_stats;
use crate::window::LogHead;
use crate::words;

/// Longest time that the auditor's thread waits for an event before it looks for a command.
const POLL: Duration = Duration::from_millis(20);

/// Longest time for which pending events are read before a report is made.
const CATCH_UP: Duration = Duration::from_secs(2);

/// Size in bytes from which collected events are written to the log in one write; larger writes are not faster.
const BATCH_BYTES: usize = 16 * 1024;

/// Longest time that written lines wait to be synced to disk while events keep coming.
const PERSIST_EVERY: Duration = Duration::from_secs(5);

/// The state of the auditor's thread.
pub(super) struct Worker {
    tap: Tap,
    tap_open: bool,
    commands: Receiver<Command>,
    reports: SyncSender<AuditReport>,
    config: AuditConfig,
    auditor: Auditor,
    files: Files,
    /// Checked events that are about to be written.
    waiting: Vec<AuditEvent>,
    /// Estimated length of the waiting events, in bytes.
    waiting_bytes: usize,
    summary: AuditSummary,
    /// Text of the last error of the log or the statistics.
    problem: Option<String>,
    /// When the next periodic report is due.
    next_report: Instant,
    /// When the log was last synced.
    persisted: Instant,
    /// Whether events were written since the last sync.
    unpersisted: bool,
}

impl Worker {
    /// Creates the state of the auditor's thread from its files and channels.
    pub(super) fn new(
        files: Files,
        tap: Tap,
        commands: Receiver<Command>,
        reports: SyncSender<AuditReport>,
        config: AuditConfig,
    ) -> Self {
        let mut auditor = Auditor::from_stats(files.stats.clone());
        for problem in files.notes.iter().filter_map(words::problem) {
            auditor.note(&Finding::new(Rule::AuditTrail, problem));
        }
        if let Some((missing, problem)) = files.log.unreported() {
            auditor.note(&Finding::new(Rule::AuditTrail, words::lost_events(missing, problem)));
        }
        let started = Instant::now();
        Self {
            tap,
            tap_open: true,
            commands,
            reports,
            auditor,
            summary: AuditSummary { log: files.log_path.clone(), ..AuditSummary::default() },
            waiting: Vec::new(),
            waiting_bytes: 0,
            problem: None,
            next_report: started + config.report_every,
            persisted: started,
            unpersisted: true,
            files,
            config,
        }
    }

    /// Runs the auditor's thread until a close command, or until the service is dropped.
    pub(super) fn run(mut self) {
        // The log may have been renamed: the statistics must name its new end at once.
        self.persist();
        let close = loop {
            match self.command() {
                Ok(Command::Report(reply)) => {
                    self.catch_up(CATCH_UP);
                    let report = self.report(Trigger::OnDemand);
                    // The caller may have stopped waiting; the report is in the log.
                    let _ = reply.send(report);
                }
                Ok(Command::Note(note)) => {
                    let at = (self.config.clock)();
                    self.append(&AuditEvent::note(at, note));
                }
                Ok(Command::Resumed(task_id, events, reply)) => {
                    self.auditor.replayed(&events);
                    let at = (self.config.clock)();
                    self.append(&AuditEvent::note(at, Note::Resumed { task_id, events: events.len() as u64 }));
                    // The caller waits for this.
                    let _ = reply.send(());
                }
                Ok(Command::Close(reply)) => break Some(reply),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => self.wait_for_event(),
            }
            if Instant::now() >= self.next_report {
                self.catch_up(CATCH_UP);
                let report = self.report(Trigger::Periodic);
                // If the channel is full, this report is only in the log.
                let _ = self.reports.try_send(report);
            }
            if self.unpersisted && self.persisted.elapsed() >= PERSIST_EVERY {
                self.persist();
            }
        };
        let result = self.finish();
        if let Some(reply) = close {
            // The caller may have stopped waiting.
            let _ = reply.send(result);
        }
    }

    /// Takes the next command: returns at once while the tap is open, else waits up to `POLL`.
    fn command(&self) -> Result<Command, RecvTimeoutError> {
        if !self.tap_open {
            return self.commands.recv_timeout(POLL);
        }
        self.commands.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Waits up to `POLL` for an event and writes it and those behind it; if none comes, syncs the log.
    fn wait_for_event(&mut self) {
        if !self.tap_open {
            return;
        }
        match self.tap.recv_timeout(POLL) {
            Ok(Some(observed)) => self.observe_pending(&observed),
            Ok(None) if self.unpersisted => self.persist(),
            Ok(None) => {}
            Err(_) => {
                self.tap_open = false;
                self.persist();
            }
        }
    }

    /// Checks this event and those already waiting behind it in the tap, and writes them all to the log.
    fn observe_pending(&mut self, observed: &Observed) {
        self.observe(observed);
        while !self.waiting.is_empty()
            && let Ok(Some(next)) = self.tap.recv_timeout(Duration::ZERO)
        {
            self.observe(&next);
        }
        self.write();
    }

    /// Reads waiting events for at most `limit`; if some remain, the next report says so.
    fn catch_up(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while self.tap_open {
            match self.tap.recv_timeout(Duration::ZERO) {
                Ok(Some(observed)) => self.observe(&observed),
                Ok(None) => return,
                Err(_) => self.tap_open = false,
            }
            if Instant::now() >= end {
                self.note(Finding::new(Rule::AuditTrail, "events were still waiting when a report was made"));
                return;
            }
        }
    }

    /// Checks an event against the rules and queues its entry for the log.
    fn observe(&mut self, observed: &Observed) {
        self.summary.events += 1;
        if let TapEvent::Gap { missing } = &observed.event {
            self.summary.missing += missing;
        }
        let event = self.auditor.observe(observed);
        self.waiting_bytes += event.bytes();
        self.waiting.push(event);
        if self.waiting_bytes >= BATCH_BYTES {
            self.write();
        }
    }

    /// Makes a report, writes it to the log, and starts the next report interval.
    fn report(&mut self, trigger: Trigger) -> AuditReport {
        let now = (self.config.clock)();
        let overdue = self.auditor.overdue(now);
        self.found(now, overdue);
        let report = self.auditor.report(now, trigger);
        self.append(&AuditEvent::note(now, Note::Report { report: report.clone() }));
        self.next_report = Instant::now() + self.config.report_every;
        self.persist();
        report
    }

    /// Writes the queued log entries in one write, or one by one if that fails.
    fn write(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.unpersisted |= !waiting.is_empty();
        if !self.files.log.append_batch(&waiting) {
            waiting.iter().for_each(|event| self.append_alone(event));
        }
        // Keep the buffer's capacity.
        self.waiting = waiting;
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// Writes the queued log entries, then this one.
    fn append(&mut self, event: &AuditEvent) {
        self.write();
        self.append_alone(event);
    }

    /// Writes one entry to the log; a failure is counted.
    fn append_alone(&mut self, event: &AuditEvent) {
        self.unpersisted = true;
        if let Err(error) = self.files.log.append(event) {
            self.count_failure(&error);
        }
    }

    /// Syncs the log, then writes the statistics, which must never name a line that is not on the disk.
    fn persist(&mut self) {
        self.write();
        self.persisted = Instant::now();
        self.unpersisted = false;
        if let Err(error) = self.files.log.sync() {
            self.count_failure(&error);
            return;
        }
        let mut stats = self.auditor.stats().clone();
        stats.head = Some(LogHead { at: Some((self.config.clock)()), ..self.files.log.head() });
        if let Err(error) = save_stats(&self.files.stats_path, &stats) {
            self.count_failure(&error);
        }
    }

    /// Counts a failure of the auditor itself, such as a full disk; the next report shows it, and the auditor goes on.
    fn count_failure(&mut self, error: &dyn std::error::Error) {
        let text = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        self.auditor.note(&Finding::new(Rule::AuditTrail, &text));
        self.problem = Some(text);
    }

    /// Counts a finding that belongs to no event of the bus, and writes it to the log.
    fn note(&mut self, finding: Finding) {
        self.auditor.note(&finding);
        self.found((self.config.clock)(), vec![finding]);
    }

    /// Writes findings that belong to no event of the bus, and are counted already, to the log.
    fn found(&mut self, at: Timestamp, findings: Vec<Finding>) {
        if !findings.is_empty() {
            self.append(&AuditEvent { findings, ..AuditEvent::note(at, Note::Found) });
        }
    }

    /// Ends the auditor: writes every waiting event and a closing line; an error if any event since the start was lost
    /// or the end is not on the disk.
    fn finish(mut self) -> Result<AuditSummary, AuditError> {
        while self.tap_open {
            match self.tap.recv_timeout(Duration::ZERO) {
                Ok(Some(observed)) => self.observe(&observed),
                Ok(None) | Err(_) => self.tap_open = false,
            }
        }
        let at = (self.config.clock)();
        let found = self.auditor.end();
        self.summary.found = found.iter().map(Finding::to_string).collect();
        self.found(at, found);
        let closed = Note::LogClosed { events: self.summary.events, missing: self.summary.missing };
        self.problem = None;
        self.append(&AuditEvent::note(at, closed));
        self.persist();
        self.summary.lost = self.files.log.lost();
        if self.summary.lost > 0 || self.problem.is_some() {
            return Err(AuditError::Incomplete { summary: Box::new(self.summary), problem: self.problem });
        }
        Ok(self.summary)
    }
}
