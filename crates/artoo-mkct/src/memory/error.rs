//! Errors of an open memory, and the durability that a write can be waited for.

use std::{io, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    export::ImportError,
    journal::JournalError,
    record::{ForgetError, PromoteError, WriteError},
};

/// What an accepted write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// The death of the process: the operating system has the bytes.
    Acknowledged,
    /// The loss of power: the disk has the bytes.
    Synced,
}

/// Why a memory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder, the lock file or the inbox cannot be used.
    #[error("{path:?} cannot be used: {source}")]
    Io {
        /// The path that cannot be used.
        path: PathBuf,
        /// The system's error.
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
        /// Bytes waiting.
        queued: usize,
        /// The most that may wait, [`crate::Options::max_queued_bytes`].
        max: usize,
    },
    /// The journal failed; the memory must be opened anew.
    #[error("the journal failed and takes no more writes: {0}")]
    Failed(#[source] Arc<JournalError>),
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}

/// Why an accepted write does not have the durability that was waited for.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DurabilityError {
    /// The journal could not be written; the record stays in RAM, and is written again if `retried`.
    #[error("the write is not {durability:?}: {source}")]
    Journal {
        /// The durability it does not have.
        durability: Durability,
        /// Whether the write is tried again.
        retried: bool,
        /// The journal's error.
        source: Arc<JournalError>,
    },
    /// The memory was closed first.
    #[error("the memory was closed before the write was {durability:?}")]
    Closed {
        /// The durability it does not have.
        durability: Durability,
    },
}

/// Why a record was not forgotten, or not erased from the disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryForgetError {
    /// The record does not exist, or is of level T.
    #[error(transparent)]
    Refused(#[from] ForgetError),
    /// The record is forgotten, but its text could not be erased; the next opening tries again if the intent was saved.
    #[error("forgotten, but not erased from the disk: {source}")]
    NotErased {
        /// The journal's error.
        source: Arc<JournalError>,
    },
    /// The record is forgotten here; the process that holds the journal erases its text later, at the latest on closing.
    #[error("forgotten; another process holds the journal and erases it later")]
    HeldElsewhere,
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}

/// Why a maintenance step failed; the memory goes on as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintenanceError {
    /// The journal could not be read or written.
    #[error("the journal could not be read or written: {0}")]
    Journal(#[source] Arc<JournalError>),
    /// Another process holds the memory; this one writes a journal of its own.
    #[error("another process holds the memory")]
    HeldElsewhere,
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}
