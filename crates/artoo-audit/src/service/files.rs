//! The files of one process: a log, its statistics, and the lock that keeps other processes from writing them.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use super::AuditError;
use crate::event::{AuditEvent, Note};
use crate::log::AuditLog;
use crate::stats::{StatsError, load_or_new, stats_path};
use crate::verify::{Damage, VerifyError, verify};
use crate::window::AuditStats;

/// Maximum number of processes that can write audit logs in one folder.
#[doc(alias = "limit")]
const LANES_MAX: u32 = 16;

/// The open files of one process.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) log_path: PathBuf,
    pub(super) log: AuditLog,
    pub(super) stats_path: PathBuf,
    pub(super) stats: AuditStats,
    /// What was found when the log was opened; it is in the log too.
    pub(super) notes: Vec<Note>,
    /// Lock on the log, held until this value is dropped.
    _lock: File,
}

impl Files {
    /// Opens the first log in the folder that no other process writes; creates the folder if missing.
    pub(super) fn open(dir: &Path, now: Timestamp) -> Result<Self, AuditError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| folder(dir, source))?;
        for lane in 1..=LANES_MAX {
            let suffix = if lane == 1 { String::new() } else { format!("-{lane}") };
            if let Some(lock) = try_lock(&dir.join(format!("audit{suffix}.lock")))? {
                return Self::open_lane(dir.join(format!("audit{suffix}.jsonl")), now, lock);
            }
        }
        Err(AuditError::InUse { path: dir.to_owned(), lanes: LANES_MAX })
    }

    /// Opens a locked log with its statistics, and notes what was found.
    fn open_lane(log_path: PathBuf, now: Timestamp, lock: File) -> Result<Self, AuditError> {
        let stats_path = stats_path(&log_path).unwrap_or_else(|| log_path.with_extension("stats.json"));
        let is_missing = !stats_path.exists();
        let (stats, problem) = load_or_new(&stats_path, now);
        let mut damage = problem.map(|problem| (problem.to_string(), matches!(problem, StatsError::Format { .. })));
        if is_missing && let Err(error @ VerifyError { what: Damage::Statistics, .. }) = verify(&log_path) {
            damage = Some((error.what.to_string(), true));
        }
        let (mut log, mut notes) = AuditLog::open(&log_path, now, stats.head.as_ref())?;
        if let Some((problem, is_damaged)) = damage {
            let note = Note::StatsSetAside { problem, is_damaged };
            let written = log.append(&AuditEvent::note(now, note.clone()));
            if is_damaged {
                written?;
            }
            notes.push(note);
        }
        Ok(Self { log_path, log, stats_path, stats, notes, _lock: lock })
    }
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

/// The error for a folder or lock file that can't be used.
fn folder(path: &Path, source: io::Error) -> AuditError {
    AuditError::Folder { path: path.to_owned(), source }
}
