//! What can go wrong with a memory that is open.

use std::{io, path::PathBuf, sync::Arc};

use crate::{ForgetError, JournalError, PromoteError, ReadError, StoreError, WriteError, service::queue::Promise};

/// Why a memory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its folder, lock or inbox cannot be used.
    #[error("{path:?} cannot be used")]
    Io {
        /// Which of them.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its journal cannot be used.
    #[error("the memory's journal cannot be used")]
    Journal(#[from] JournalError),
}

/// Why a write was not accepted; nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedWrite {
    /// The draft is not valid.
    #[error(transparent)]
    Invalid(#[from] WriteError),
    /// The rule is not valid any more.
    #[error(transparent)]
    Stale(#[from] PromoteError),
    /// As much as may wait for the disk is waiting; try again later.
    #[error("{queued} bytes wait for the disk, {max} may")]
    QueueFull {
        /// Bytes waiting.
        queued: usize,
        /// The bound.
        max: usize,
    },
    /// The journal failed for good; open the memory anew.
    #[error("the journal failed and takes no more")]
    Failed(#[source] Arc<JournalError>),
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}

/// Why an accepted write is not kept as promised (yet).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NotKept {
    /// It could not be written; it waits in memory and is tried again as long as `retried`.
    #[error("not {promise:?}")]
    Journal {
        /// What it is not.
        promise: Promise,
        /// Whether it is tried again.
        retried: bool,
        /// Why.
        #[source]
        source: Arc<JournalError>,
    },
    /// The memory was dropped before.
    #[error("the memory was closed before the write was {promise:?}")]
    Closed {
        /// What it is not.
        promise: Promise,
    },
}

/// Why something was not forgotten, or not wholly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetFailed {
    /// There is no such record, or it is a law.
    #[error(transparent)]
    Refused(#[from] ForgetError),
    /// It is forgotten, but the disk refused to erase it; the next opening finishes that where the intent was kept.
    #[error("forgotten, but not erased from the disk")]
    NotErased {
        /// Why.
        #[source]
        source: Arc<JournalError>,
    },
    /// It is forgotten here; its body is another process's to erase, at the latest when that one closes.
    #[error("forgotten; another process holds the journal and erases it later")]
    HeldElsewhere,
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}

/// Why a maintenance step failed; memory goes on as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintenanceError {
    /// The journal.
    #[error("the journal could not be read or written")]
    Journal(#[source] Arc<JournalError>),
    /// The index.
    #[error("the index could not be made")]
    Index(#[from] StoreError),
    /// A record.
    #[error("a record could not be read")]
    Record(#[from] ReadError),
    /// Another process holds the memory; this one keeps a journal of its own.
    #[error("another process holds the memory")]
    HeldElsewhere,
    /// The memory is closed.
    #[error("the memory is closed")]
    Closed,
}
