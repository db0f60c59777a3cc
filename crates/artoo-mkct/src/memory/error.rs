//! Errors of an open memory, and the levels of durability of a write.

use std::{io, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    export::ImportError,
    journal::JournalError,
    record::{ForgetError, PromoteError, WriteError},
};

/// What an accepted write survives: the end of the process, or also the loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// The write survives the death of the process: the operating system has the bytes.
    Acknowledged,
    /// The write survives the loss of power: the disk has the bytes.
    Synced,
}

/// Why a memory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder or a file in it cannot be used, or a thread cannot be started; for the journal see
    /// [`OpenError::Journal`].
    #[error("{path:?} cannot be used: {source}")]
    Io {
        /// The path that cannot be used.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The journal cannot be used.
    #[error("the memory's journal cannot be used: {0}")]
    Journal(#[from] JournalError),
}

/// Why a write was not accepted; nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryWriteError {
    /// The draft is not valid.
    #[error(transparent)]
    Invalid(#[from] WriteError),
    /// The rule cannot be made.
    #[error(transparent)]
    Promote(#[from] PromoteError),
    /// The export cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The queue of writes that wait for the disk is full; try again later.
    #[error("{queued} bytes of writes wait for the disk, at most {max} may: try again later")]
    QueueFull {
        /// Number of bytes that wait for the disk.
        queued: usize,
        /// Most bytes that may wait for the disk, [`crate::Options::max_queued_bytes`].
        max: usize,
    },
    /// The journal failed; the memory must be reopened.
    #[error("the journal failed and accepts no more writes: {0}")]
    Failed(#[source] Arc<JournalError>),
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}

/// Why an accepted write does not have the durability that was waited for.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DurabilityError {
    /// The journal could not be written; the record stays in RAM, and is written again if `retried` is true.
    #[error("the write is not {durability:?}: {source}")]
    Journal {
        /// The durability that the write does not have.
        durability: Durability,
        /// Whether the write will be tried again.
        retried: bool,
        /// The error of the journal.
        source: Arc<JournalError>,
    },
    /// The memory was closed before the write had the durability.
    #[error("the memory was closed before the write was {durability:?}")]
    Closed {
        /// The durability that the write does not have.
        durability: Durability,
    },
}

/// Why a record was not forgotten, or not erased from the disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryForgetError {
    /// The record was not forgotten: it does not exist, or is of level T.
    #[error(transparent)]
    Refused(#[from] ForgetError),
    /// The record is forgotten, but its text could not be erased; the next opening tries again if the intent to erase
    /// was saved on disk.
    #[error("forgotten, but not erased from the disk: {source}")]
    NotErased {
        /// The error of the journal.
        source: Arc<JournalError>,
    },
    /// The record is forgotten here; the process that has the lock of the memory erases its text later, at the latest
    /// on closing.
    #[error("forgotten; another process holds the journal and erases it later")]
    HeldElsewhere,
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}

/// Why a maintenance step failed; the memory stays usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintenanceError {
    /// The journal could not be read or written.
    #[error("the journal could not be read or written: {0}")]
    Journal(#[source] Arc<JournalError>),
    /// Another process has the lock of the memory; this process is a guest, which writes a journal of its own.
    #[error("another process holds the memory")]
    HeldElsewhere,
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}
