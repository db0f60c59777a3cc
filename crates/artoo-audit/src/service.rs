//! The auditor on a thread of its own: the tap on one side, the log, the statistics and the reports on the other.

mod files;
mod worker;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use artoo_bus::Tap;
use artoo_proto::{AuditReport, Timestamp};

use crate::event::Note;
use crate::log::LogError;
use crate::stats::StatsError;
use files::{Files, FilesError};
use worker::Worker;

/// How often a report is made unasked: the spec's five minutes.
pub const REPORT_EVERY: Duration = Duration::from_secs(5 * 60);

/// How long a person waits for a report at most: the spec's three seconds.
pub const REPORT_WITHIN: Duration = Duration::from_secs(3);

/// Unasked reports kept until someone takes them: more than an hour of them. All are in the log.
const REPORTS_KEPT: usize = 16;

/// What the service needs.
pub struct AuditConfig {
    /// Folder of `audit.jsonl` and `audit_stats.json`; made if it is not there.
    pub dir: PathBuf,
    /// Wall-clock time for what the auditor itself notes.
    pub clock: Box<dyn Fn() -> Timestamp + Send>,
    /// [`REPORT_EVERY`], or what a test needs.
    pub report_every: Duration,
}

/// The service did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The folder could not be made or used.
    #[error("can't use {path:?} for the audit log")]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Too many processes write audit logs in this folder.
    #[error("{path:?} is in use by {lanes} processes")]
    InUse {
        /// Which folder.
        path: PathBuf,
        /// How many logs were tried.
        lanes: u32,
    },
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The statistics.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// No thread could be started.
    #[error("can't start the auditor's thread")]
    Thread(#[source] std::io::Error),
    /// The report was not ready in time.
    #[error("no report within {} s", REPORT_WITHIN.as_secs())]
    ReportTooLate,
    /// The auditor's thread is gone.
    #[error("the auditor's thread is gone")]
    Gone,
    /// The log ends incomplete; the summary counts what is missing.
    #[error("the audit log is incomplete: {} events could not be written", summary.lost)]
    Incomplete {
        /// What was done.
        summary: Box<AuditSummary>,
        /// The last thing that went wrong.
        problem: Option<String>,
    },
}

/// What the auditor did from start to close.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSummary {
    /// The log.
    pub log: PathBuf,
    /// Events taken from the tap.
    pub events: u64,
    /// Events the tap could not hold; each gap stands in the log.
    pub missing: u64,
    /// Events that could not be written.
    pub lost: u64,
    /// What was found at the end, such as tasks without a result.
    pub found: Vec<String>,
}

/// The running auditor.
#[derive(Debug)]
pub struct AuditService {
    commands: Option<Sender<Command>>,
    reports: Receiver<AuditReport>,
    thread: Option<JoinHandle<()>>,
    log: PathBuf,
}

/// What the service may be asked.
#[derive(Debug)]
enum Command {
    Report(Sender<AuditReport>),
    Note(Note),
    Close(Sender<Result<AuditSummary, AuditError>>),
}

/// Starts the auditor on a thread of its own.
///
/// Where another process already writes `audit.jsonl` in this folder, this one writes `audit-2.jsonl`, and so on, each
/// with its own statistics.
///
/// # Errors
/// When the folder, the log or the thread can't be had. What to do then is the caller's choice; nothing else depends on it.
pub fn spawn(tap: Tap, config: AuditConfig) -> Result<AuditService, AuditError> {
    let files = Files::open(&config.dir, (config.clock)()).map_err(|error| match error {
        FilesError::Folder(source) => AuditError::Folder { path: config.dir.clone(), source },
        FilesError::InUse(lanes) => AuditError::InUse { path: config.dir.clone(), lanes },
        FilesError::Log(error) => AuditError::Log(error),
    })?;
    let log = files.log_path.clone();
    let (commands, receiver) = channel();
    let (report_sender, reports) = sync_channel(REPORTS_KEPT);
    let worker = Worker::new(files, tap, receiver, report_sender, config);
    let thread =
        thread::Builder::new().name("artoo-audit".to_owned()).spawn(|| worker.run()).map_err(AuditError::Thread)?;
    Ok(AuditService { commands: Some(commands), reports, thread: Some(thread), log })
}

impl AuditService {
    /// The report on everything since the last one; the window then starts anew.
    ///
    /// # Errors
    /// [`AuditError::ReportTooLate`] after [`REPORT_WITHIN`], [`AuditError::Gone`] when the thread is.
    pub fn report(&self) -> Result<AuditReport, AuditError> {
        let (reply, answer) = channel();
        self.ask(Command::Report(reply))?;
        answer.recv_timeout(REPORT_WITHIN).map_err(|error| match error {
            std::sync::mpsc::RecvTimeoutError::Timeout => AuditError::ReportTooLate,
            std::sync::mpsc::RecvTimeoutError::Disconnected => AuditError::Gone,
        })
    }

    /// Has something written to the log that no bus told of: what a person had done by a command of its own.
    ///
    /// # Errors
    /// [`AuditError::Gone`] when the thread is.
    pub fn note(&self, note: Note) -> Result<(), AuditError> {
        self.ask(Command::Note(note))
    }

    /// Reports made since the last call that nobody called [`AuditService::report`] for: by the timer, or for an
    /// `AuditQuery` on the bus. Oldest first.
    pub fn take_reports(&self) -> Vec<AuditReport> {
        self.reports.try_iter().collect()
    }

    /// The log this process writes.
    #[must_use]
    pub fn log(&self) -> &PathBuf {
        &self.log
    }

    /// Writes everything that stands on the tap, brings it to the disk, and stops. Whoever drives the bus stops first.
    ///
    /// # Errors
    /// [`AuditError::Incomplete`] when the end of the log is not on the disk; [`AuditError::Gone`] when the thread was lost.
    pub fn close(mut self) -> Result<AuditSummary, AuditError> {
        let (reply, answer) = channel();
        self.ask(Command::Close(reply))?;
        let result = answer.recv().map_err(|_| AuditError::Gone)?;
        self.stop();
        result
    }

    fn ask(&self, command: Command) -> Result<(), AuditError> {
        self.commands.as_ref().ok_or(AuditError::Gone)?.send(command).map_err(|_| AuditError::Gone)
    }

    fn stop(&mut self) {
        // Without a sender the thread finishes its work and ends.
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has nobody left to tell; the log shows it by having no closing line.
            let _ = thread.join();
        }
    }
}

impl Drop for AuditService {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests;
