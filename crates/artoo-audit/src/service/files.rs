//! The files of one process's auditor: a log, its statistics, and the lock that keeps other processes from writing
//! them.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use super::{AuditConfig, AuditError};
use crate::event::{AuditEvent, Note};
use crate::log::AuditLog;
use crate::stats::{StatsError, load_or_new, stats_path};
use crate::verify::{Damage, VerifyError, verify};
use crate::window::AuditStats;
use crate::words;

/// Maximum number of processes that can write audit logs in one folder at the same time.
#[doc(alias = "limit")]
const WRITERS_MAX: u32 = 16;

/// The open files of one process's auditor.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) log_path: PathBuf,
    pub(super) log: AuditLog,
    pub(super) stats_path: PathBuf,
    pub(super) stats: AuditStats,
    /// Notes that were written to the log when it was opened.
    pub(super) notes: Vec<Note>,
    /// Lock on the log, held until this value is dropped.
    _lock: File,
}

impl Files {
    /// Opens the first log in the folder that no other process has locked; creates the folder if missing.
    pub(super) fn open(config: &AuditConfig, now: Timestamp) -> Result<Self, AuditError> {
        let dir = &config.dir;
        let trace = trace(dir, &config.traces);
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| folder(dir, source))?;
        for number in 1..=WRITERS_MAX {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            if let Some(lock) = try_lock(&dir.join(format!("audit{suffix}.lock")))? {
                return Self::open_locked(dir.join(format!("audit{suffix}.jsonl")), trace, now, lock);
            }
        }
        Err(AuditError::InUse { path: dir.to_owned(), processes: WRITERS_MAX })
    }

    /// Opens a log whose lock is held, with its statistics, and notes problems in it. `trace`: a file of earlier runs
    /// that shows that the log was deleted.
    fn open_locked(log_path: PathBuf, trace: Option<String>, now: Timestamp, lock: File) -> Result<Self, AuditError> {
        let stats_path = stats_path(&log_path).unwrap_or_else(|| log_path.with_extension("stats.json"));
        let is_missing = !stats_path.exists();
        let (stats, problem) = load_or_new(&stats_path, now);
        let mut damage = problem.map(|problem| (problem.to_string(), matches!(problem, StatsError::Format { .. })));
        if is_missing && let Err(error @ VerifyError { what: Damage::Statistics, .. }) = verify(&log_path) {
            damage = Some((error.what.to_string(), true));
        }
        let (mut log, mut notes) = AuditLog::open(&log_path, now, stats.head.as_ref())?;
        let of_stats = damage.map(|(problem, is_damaged)| Note::StatsSetAside { problem, is_damaged });
        for note in of_stats.into_iter().chain(trace.map(|trace| Note::LogMissing { trace })) {
            let written = log.append(&AuditEvent::note(now, note.clone()));
            if note.is_gap() {
                written?;
            }
            notes.push(note);
        }
        Ok(Self { log_path, log, stats_path, stats, notes, _lock: lock })
    }
}

/// The problem text if the folder's log and statistics were deleted: one of `traces`, files of earlier runs, still has
/// content. Otherwise `None`.
#[must_use]
pub fn deleted_log(dir: &Path, traces: &[PathBuf]) -> Option<String> {
    trace(dir, traces).map(|trace| words::log_missing(&trace))
}

/// The name of the first of `traces` (files of earlier runs) that is not empty, if the folder has neither log nor
/// statistics; else `None`.
fn trace(dir: &Path, traces: &[PathBuf]) -> Option<String> {
    let is_log = |name: &str| name.starts_with("audit") && (name.contains(".jsonl") || name.contains("_stats"));
    let mut names = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.file_name());
    if names.any(|name| name.to_str().is_some_and(is_log)) {
        return None;
    }
    // Memory, evidence and undo create empty files when they are opened, before the first task.
    let is_filled = |path: &Path| fs::metadata(path).is_ok_and(|file| file.is_dir() || file.len() > 0);
    let has_content = |path: &&PathBuf| match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| is_filled(&entry.path())),
        Err(_) => is_filled(path),
    };
    Some(traces.iter().find(has_content)?.file_name()?.to_string_lossy().into_owned())
}

/// Creates and locks a lock file; `None` if another process holds the lock.
fn try_lock(path: &Path) -> Result<Option<File>, AuditError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|source| folder(path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(folder(path, error)),
    }
}

/// The error for a folder or lock file that the auditor can't use.
fn folder(path: &Path, source: io::Error) -> AuditError {
    AuditError::Folder { path: path.to_owned(), source }
}
