//! The files one process writes: a log, its statistics, and the lock that keeps other processes off both.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::event::{AuditEvent, Note};
use crate::log::{AuditLog, LogError};
use crate::stats::{LoadedStats, stats_path};
use crate::window::AuditStats;

/// Processes that may write audit logs in one folder at once: nobody runs more on one machine by hand.
const LANES_MAX: u32 = 16;

/// Everything one process needs on disk.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) log_path: PathBuf,
    pub(super) log: AuditLog,
    pub(super) stats_path: PathBuf,
    pub(super) stats: AuditStats,
    /// What was found at opening; it stands in the log too.
    pub(super) notes: Vec<Note>,
    /// Held as long as the log is written.
    _lock: File,
}

/// Why there are none.
#[derive(Debug)]
pub(super) enum FilesError {
    Folder(io::Error),
    InUse(u32),
    Log(LogError),
}

impl Files {
    pub(super) fn open(dir: &Path, now: Timestamp) -> Result<Self, FilesError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(FilesError::Folder)?;
        for lane in 1..=LANES_MAX {
            let suffix = if lane == 1 { String::new() } else { format!("-{lane}") };
            if let Some(lock) = try_lock(&dir.join(format!("audit{suffix}.lock")))? {
                return Self::open_lane(dir.join(format!("audit{suffix}.jsonl")), now, lock);
            }
        }
        Err(FilesError::InUse(LANES_MAX))
    }

    fn open_lane(log_path: PathBuf, now: Timestamp, lock: File) -> Result<Self, FilesError> {
        let stats_path = stats_path(&log_path).unwrap_or_else(|| log_path.with_extension("stats.json"));
        let LoadedStats { stats, problem } = LoadedStats::load_or_new(&stats_path, now);
        let (mut log, mut notes) = AuditLog::open(&log_path, now, stats.head.as_ref()).map_err(FilesError::Log)?;
        if let Some(problem) = problem {
            let note = Note::StatsSetAside { problem: problem.to_string() };
            // A failure is counted in the log itself and told by the next write that succeeds.
            let _ = log.append(&AuditEvent::note(now, note.clone()));
            notes.push(note);
        }
        Ok(Self { log_path, log, stats_path, stats, notes, _lock: lock })
    }
}

/// The lock, or `None` where another process holds it.
fn try_lock(path: &Path) -> Result<Option<File>, FilesError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(FilesError::Folder)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(FilesError::Folder(error)),
    }
}
