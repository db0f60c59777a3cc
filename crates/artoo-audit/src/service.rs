//! The auditor as a service: a thread that reads the bus's events from a tap and writes the log, the statistics and the
//! reports.

mod files;
mod worker;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use artoo_bus::{Observed, Tap};
use artoo_proto::{AuditReport, TaskId, Timestamp};

use crate::event::Note;
use crate::log::LogError;
use crate::words;
use files::Files;
pub use files::deleted_log;
use worker::Worker;

/// Interval between the auditor's reports: the five minutes of the specification.
#[doc(alias = "limit")]
pub const REPORT_EVERY: Duration = Duration::from_secs(5 * 60);

/// Longest time the user waits for a report: the three seconds of the specification.
pub const REPORT_WITHIN: Duration = Duration::from_secs(3);

/// Maximum number of reports that wait to be read, more than one hour's. Further ones are only in the log.
const REPORTS_WAITING_MAX: usize = 16;

/// Configuration of the auditor's service.
pub struct AuditConfig {
    /// Folder of `audit.jsonl` and `audit_stats.json`; created if missing.
    pub dir: PathBuf,
    /// Files and folders that only a run with a log leaves; if one of them has content and the folder has no log, the
    /// log was deleted.
    pub traces: Vec<PathBuf>,
    /// Wall clock for the notes of the auditor.
    pub clock: Box<dyn Fn() -> Timestamp + Send>,
    /// Interval between reports; [`REPORT_EVERY`] outside tests.
    pub report_every: Duration,
}

/// Why the auditor could not be started, did not answer, or left an incomplete log.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The folder could not be created or used.
    #[error("can't use {path:?} for the audit log")]
    Folder {
        /// The folder or lock file that could not be used.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: std::io::Error,
    },
    /// Too many processes write audit logs in this folder.
    #[error("{path:?} is in use by {processes} processes")]
    InUse {
        /// The folder in which every log is in use.
        path: PathBuf,
        /// Number of processes that already write logs in the folder.
        processes: u32,
    },
    /// The log could not be opened or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The thread could not be started.
    #[error("can't start the auditor's thread")]
    Thread(#[source] std::io::Error),
    /// The report was not ready in time.
    #[error("no report within {} s", REPORT_WITHIN.as_secs())]
    ReportTooLate,
    /// The auditor's thread has ended.
    #[error("the auditor's thread has ended")]
    Gone,
    /// The end of the log is not on the disk.
    #[error("the audit log {:?} is incomplete: {} events could not be written ({})", summary.log, summary.lost,
        problem.as_deref().unwrap_or("the disk was full or failed for a while"))]
    Incomplete {
        /// What the auditor wrote, and how many events were lost.
        summary: Box<AuditSummary>,
        /// Text of the last write error, if any.
        problem: Option<String>,
    },
}

/// What the auditor counted from its start to its close: events and losses; and its findings at the close.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSummary {
    /// The path of the log.
    pub log: PathBuf,
    /// Number of events read from the tap.
    pub events: u64,
    /// Number of events lost because the tap was full; the log shows each gap.
    pub missing: u64,
    /// Number of events that could not be written.
    pub lost: u64,
    /// Findings at the end, such as tasks without a result.
    pub found: Vec<String>,
}

/// A handle to the running auditor's thread.
#[derive(Debug)]
pub struct AuditService {
    commands: Option<Sender<Command>>,
    reports: Receiver<AuditReport>,
    thread: Option<JoinHandle<()>>,
    gaps: Vec<String>,
}

/// A request to the auditor's thread: make a report, write a note, resume a task, or close.
#[derive(Debug)]
enum Command {
    /// Make a report now and send it here.
    Report(Sender<AuditReport>),
    /// Write a note to the log.
    Note(Note),
    /// A task is resumed that did this in another process.
    Resumed(TaskId, Vec<Observed>, Sender<()>),
    /// Write everything, send the summary here, and stop.
    Close(Sender<Result<AuditSummary, AuditError>>),
}

/// Starts the auditor on a thread of its own, which reads events from `tap`.
///
/// If another process already writes `audit.jsonl` in this folder, this one writes `audit-2.jsonl` and so on, with
/// statistics of its own.
///
/// # Errors
/// [`AuditError`] if the folder, the log or the thread can't be created. The rest of artoo works without the auditor.
pub fn spawn(tap: Tap, config: AuditConfig) -> Result<AuditService, AuditError> {
    let files = Files::open(&config, (config.clock)())?;
    let gaps = files.notes.iter().filter(|note| note.is_gap()).filter_map(words::problem).collect();
    let (commands, receiver) = channel();
    let (report_sender, reports) = sync_channel(REPORTS_WAITING_MAX);
    let worker = Worker::new(files, tap, receiver, report_sender, config);
    let thread =
        thread::Builder::new().name("artoo-audit".to_owned()).spawn(|| worker.run()).map_err(AuditError::Thread)?;
    Ok(AuditService { commands: Some(commands), reports, thread: Some(thread), gaps })
}

impl AuditService {
    /// Asks the auditor for the report on everything since the last one; its counts then start from zero. An error if
    /// it takes too long.
    ///
    /// # Errors
    /// [`AuditError::ReportTooLate`] after [`REPORT_WITHIN`]; [`AuditError::Gone`] if the thread has ended.
    pub fn report(&self) -> Result<AuditReport, AuditError> {
        let (reply, answer) = channel();
        self.ask(Command::Report(reply))?;
        answer.recv_timeout(REPORT_WITHIN).map_err(|error| match error {
            std::sync::mpsc::RecvTimeoutError::Timeout => AuditError::ReportTooLate,
            std::sync::mpsc::RecvTimeoutError::Disconnected => AuditError::Gone,
        })
    }

    /// Writes a note to the log about something that did not pass the bus, such as an undo by the user.
    ///
    /// # Errors
    /// [`AuditError::Gone`] if the thread has ended.
    pub fn note(&self, note: Note) -> Result<(), AuditError> {
        self.ask(Command::Note(note))
    }

    /// Tells the auditor that a task is resumed, with its events of an earlier process, and waits until they are noted.
    ///
    /// # Errors
    /// [`AuditError::Gone`] if the thread has ended.
    pub fn resumed(&self, task_id: TaskId, events: Vec<Observed>) -> Result<(), AuditError> {
        let (reply, done) = channel();
        self.ask(Command::Resumed(task_id, events, reply))?;
        done.recv().map_err(|_| AuditError::Gone)
    }

    /// Returns and removes the reports that the auditor made at its interval since the last call, oldest first.
    pub fn take_reports(&self) -> Vec<AuditReport> {
        self.reports.try_iter().collect()
    }

    /// Gaps (missing lines) found when the log was opened. The log notes each, so that later processes don't return it
    /// again.
    #[must_use]
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// Ends the auditor: writes every pending event and syncs the log. The bus must have stopped before.
    ///
    /// # Errors
    /// [`AuditError::Incomplete`] if the end of the log is not on the disk; [`AuditError::Gone`] if the thread has
    /// ended.
    pub fn close(mut self) -> Result<AuditSummary, AuditError> {
        let (reply, answer) = channel();
        self.ask(Command::Close(reply))?;
        let result = answer.recv().map_err(|_| AuditError::Gone)?;
        self.stop();
        result
    }

    /// Sends a command to the auditor's thread.
    fn ask(&self, command: Command) -> Result<(), AuditError> {
        self.commands.as_ref().ok_or(AuditError::Gone)?.send(command).map_err(|_| AuditError::Gone)
    }

    /// Waits until the auditor's thread has written everything and ended.
    fn stop(&mut self) {
        // Dropping the sender ends the thread's loop.
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread needs no report here: the log then has no closing line.
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
