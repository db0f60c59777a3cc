//! Why the runtime could not start.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use artoo_audit::AuditError;
use artoo_mkct::memory::OpenError;

use super::environment::EnvironmentError;
use crate::record::Difference;

/// The runtime could not start, or has stopped.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The home folder or the current folder could not be determined.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The data folder, or a record in it, can't be created or written.
    #[error("the data folder {path} can't be used; choose another with --data-dir")]
    DataDir {
        /// The data folder, or the file of the record.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The disk of the data folder is full.
    #[error("the disk is full: nothing can be written to {path}")]
    DiskFull {
        /// The data folder.
        path: PathBuf,
    },
    /// The audit log can't be written, and artoo doesn't run without it; or the auditor failed or did not answer in
    /// time.
    #[error("the audit log can't be written, and artoo does not run without it")]
    Audit(#[from] AuditError),
    /// The stored memory can't be opened.
    #[error("the memory can't be opened; move memory.journal away to start with an empty one")]
    Memory(#[from] OpenError),
    /// The user's feedback is not on the disk; artoo tries again while it runs.
    #[error("the feedback can't be written to memory: {0}")]
    NotKept(String),
    /// The interrupted task can't be resumed.
    #[error(transparent)]
    NotResumable(#[from] NotResumable),
    /// The runtime has stopped.
    #[error("the runtime has stopped")]
    Stopped,
}

/// The error as [`RuntimeError::DiskFull`] if the disk of the data folder is full.
pub(super) fn or_disk_full(error: RuntimeError, dir: &Path) -> RuntimeError {
    if is_disk_full(&error) { RuntimeError::DiskFull { path: dir.to_owned() } } else { error }
}

/// Whether an error, or one of its sources, is a full disk or an exceeded quota.
fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    let is_full = |error: &io::Error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    error.downcast_ref::<io::Error>().is_some_and(is_full) || error.source().is_some_and(is_disk_full)
}

/// Why a task can't be resumed; its record is not changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotResumable {
    /// The task has its result.
    #[error("the task has ended already")]
    Ended,
    /// Another process works on the task.
    #[error("the task is still running in another artoo")]
    Running,
    /// The task began under other conditions, which the text names.
    #[error("the task began with {was}, and now it is {is}; its record can be shown, but not resumed")]
    Other {
        /// What the task began with.
        was: String,
        /// What is there now.
        is: String,
    },
    /// Replayed, the task would not have done what was recorded.
    #[error("this version of artoo decides differently at input {} of the record", .0.input)]
    Differs(Difference),
}
