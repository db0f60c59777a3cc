//! The thread's own loop: events first, then what was asked, then what time asks for.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::{Duration, Instant};

use artoo_bus::{Observed, Tap, TapEvent};
use artoo_proto::{AuditReport, MessageKind, Trigger};

use super::files::Files;
use super::{AuditConfig, AuditError, AuditSummary, Command};
use crate::auditor::Auditor;
use crate::event::{AuditEvent, Note};
use crate::finding::{Finding, Rule};
use crate::stats::save_stats;

/// How long the thread waits for one event. A report or the closing that was asked for waits no longer than this before
/// it is begun; fifty wakings a second cost next to nothing.
const POLL: Duration = Duration::from_millis(20);

/// How long a report that was asked for may first catch up with the tap: within the three seconds a person waits.
const CATCH_UP: Duration = Duration::from_secs(2);

/// Bytes of events that are written at once, where more than one waits: a write of more is no cheaper a byte, and they
/// are held no longer than it takes to look at them.
const TOGETHER_BYTES: usize = 16 * 1024;

/// Longest time during which a busy auditor leaves its last lines unsynced.
const PERSIST_EVERY: Duration = Duration::from_secs(5);

pub(super) struct Worker {
    tap: Tap,
    tap_open: bool,
    commands: Receiver<Command>,
    reports: SyncSender<AuditReport>,
    config: AuditConfig,
    auditor: Auditor,
    files: Files,
    /// Looked at and about to be written.
    waiting: Vec<AuditEvent>,
    waiting_bytes: usize,
    summary: AuditSummary,
    problem: Option<String>,
    next_report: Instant,
    persisted: Instant,
    unpersisted: bool,
}

impl Worker {
    pub(super) fn new(
        files: Files,
        tap: Tap,
        commands: Receiver<Command>,
        reports: SyncSender<AuditReport>,
        config: AuditConfig,
    ) -> Self {
        let mut auditor = Auditor::from_stats(files.stats.clone());
        for finding in files.notes.iter().filter_map(about_trail) {
            auditor.note(&finding);
        }
        if let Some((missing, problem)) = files.log.untold() {
            auditor.note(&Finding::new(Rule::AuditTrail, format!("{missing} events could not be written: {problem}")));
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

    /// Runs until it is told to close or nobody is left to tell it.
    pub(super) fn run(mut self) {
        // The log may have been put aside: the statistics must name its new end at once.
        self.persist();
        let close = loop {
            match self.command() {
                Ok(Command::Report(reply)) => {
                    self.catch_up(CATCH_UP);
                    let report = self.report(Trigger::OnDemand);
                    // Whoever asked may have stopped waiting; the report stands in the log.
                    let _ = reply.send(report);
                }
                Ok(Command::Note(note)) => {
                    let at = (self.config.clock)();
                    self.append(&AuditEvent::note(at, note));
                }
                Ok(Command::Close(reply)) => break Some(reply),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => self.wait_for_event(),
            }
            if Instant::now() >= self.next_report {
                self.catch_up(CATCH_UP);
                let report = self.report(Trigger::Periodic);
                self.offer(report);
            }
            if self.unpersisted && self.persisted.elapsed() >= PERSIST_EVERY {
                self.persist();
            }
        };
        let result = self.finish();
        if let Some(reply) = close {
            // Nobody waiting any more is no failure.
            let _ = reply.send(result);
        }
    }

    /// What was asked meanwhile; once the tap is closed there is nothing else to wait for.
    fn command(&self) -> Result<Command, RecvTimeoutError> {
        if !self.tap_open {
            return self.commands.recv_timeout(POLL);
        }
        self.commands.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    fn wait_for_event(&mut self) {
        if !self.tap_open {
            return;
        }
        match self.tap.recv_timeout(POLL) {
            Ok(Some(observed)) => self.observe_with_others(&observed),
            Ok(None) if self.unpersisted => self.persist(),
            Ok(None) => {}
            Err(_) => {
                self.tap_open = false;
                self.persist();
            }
        }
    }

    /// Takes in an event and what came with it, and writes all of them.
    fn observe_with_others(&mut self, observed: &Observed) {
        self.observe(observed);
        while !self.waiting.is_empty()
            && let Ok(Some(next)) = self.tap.recv_timeout(Duration::ZERO)
        {
            self.observe(&next);
        }
        self.write();
    }

    /// Takes what stands on the tap, for as long as `limit`; what is then left is told in the report.
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

    fn observe(&mut self, observed: &Observed) {
        self.summary.events += 1;
        if let TapEvent::Gap { missing } = &observed.event {
            self.summary.missing += missing;
        }
        let event = self.auditor.observe(observed);
        self.waiting_bytes += event.bytes();
        self.waiting.push(event);
        if self.waiting_bytes >= TOGETHER_BYTES {
            self.write();
        }
        if let TapEvent::Message { envelope } = &observed.event
            && envelope.message.kind() == MessageKind::AuditQuery
        {
            let report = self.report(Trigger::OnDemand);
            self.offer(report);
        }
    }

    fn report(&mut self, trigger: Trigger) -> AuditReport {
        let now = (self.config.clock)();
        let report = self.auditor.report(now, trigger);
        self.append(&AuditEvent::note(now, Note::Report { report: report.clone() }));
        self.next_report = Instant::now() + self.config.report_every;
        self.persist();
        report
    }

    fn offer(&self, report: AuditReport) {
        // A reader that takes none leaves the oldest standing; every report is in the log.
        let _ = self.reports.try_send(report);
    }

    /// Writes what was looked at: together, or one by one where something is in the way.
    fn write(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.unpersisted |= !waiting.is_empty();
        if !self.files.log.append_together(&waiting) {
            waiting.iter().for_each(|event| self.append_alone(event));
        }
        // Its room is used again.
        self.waiting = waiting;
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    fn append(&mut self, event: &AuditEvent) {
        self.write();
        self.append_alone(event);
    }

    fn append_alone(&mut self, event: &AuditEvent) {
        self.unpersisted = true;
        if let Err(error) = self.files.log.append(event) {
            self.trouble(&error);
        }
    }

    /// The log first, then the statistics that name its last line: they must never name one that is not there.
    fn persist(&mut self) {
        self.write();
        self.persisted = Instant::now();
        self.unpersisted = false;
        if let Err(error) = self.files.log.sync() {
            self.trouble(&error);
            return;
        }
        let mut stats = self.auditor.stats().clone();
        stats.head = Some(self.files.log.head());
        if let Err(error) = save_stats(&self.files.stats_path, &stats) {
            self.trouble(&error);
        }
    }

    /// The auditor's own failure: counted, told in the next report, and no reason to stop.
    fn trouble(&mut self, error: &dyn std::error::Error) {
        let told = match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        self.auditor.note(&Finding::new(Rule::AuditTrail, &told));
        self.problem = Some(told);
    }

    fn note(&mut self, finding: Finding) {
        self.auditor.note(&finding);
        let at = (self.config.clock)();
        self.append(&AuditEvent { findings: vec![finding], ..AuditEvent::note(at, Note::Found) });
    }

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
        if !found.is_empty() {
            self.append(&AuditEvent { findings: found, ..AuditEvent::note(at, Note::Found) });
        }
        let closed = Note::LogClosed { events: self.summary.events, missing: self.summary.missing };
        self.problem = None;
        self.append(&AuditEvent::note(at, closed));
        self.persist();
        self.summary.lost = self.files.log.lost();
        let untold = self.files.log.untold().is_some();
        if untold || self.problem.is_some() {
            return Err(AuditError::Incomplete { summary: Box::new(self.summary), problem: self.problem });
        }
        Ok(self.summary)
    }
}

/// What a note at opening means for the person who reads the report.
fn about_trail(note: &Note) -> Option<Finding> {
    let told = match note {
        Note::TornTail { bytes } => format!("the log's last line had no end; {bytes} bytes were cut off"),
        Note::SetAside { file, line, problem } => {
            format!("the log was damaged at line {line} ({problem}); kept as {file}")
        }
        Note::CutShort { expected, found } => format!("the log once had {expected} lines and had {found} at the start"),
        Note::StatsSetAside { problem } => format!("earlier counts are not used: {problem}"),
        Note::LogOpened { .. }
        | Note::SegmentStarted { .. }
        | Note::WriteLost { .. }
        | Note::Report { .. }
        | Note::Undone { .. }
        | Note::Found
        | Note::LogClosed { .. } => return None,
    };
    Some(Finding::new(Rule::AuditTrail, told))
}
