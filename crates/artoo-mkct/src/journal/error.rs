//! What can go wrong with a journal.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::record::FrameProblem;

/// What a journal was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JournalStep {
    /// Opening the file.
    Open,
    /// Taking the lock.
    Lock,
    /// Reading frames.
    Read,
    /// Writing frames.
    Write,
    /// Waiting for the disk.
    Sync,
    /// Cutting off a torn tail.
    Truncate,
}

/// Why a journal could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process has it open.
    #[error("{path:?} is open in another process")]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// The file is something else, or its header is damaged.
    #[error("{path:?} is not a journal")]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this library wrote it.
    #[error("{path:?} has version {found}, this library knows {supported}")]
    NewerVersion {
        /// The journal.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest known.
        supported: u32,
    },
    /// A frame is damaged, and what follows it is not just the end of an interrupted write.
    #[error("{path:?} is damaged at byte {offset}: {problem:?}")]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// Where the damaged frame begins.
        offset: u64,
        /// What is wrong with it.
        problem: FrameProblem,
        /// Where the next sound frame begins.
        next_sound: Option<u64>,
    },
    /// A frame is larger than a journal takes.
    #[error("a frame of {bytes} bytes for {path:?}, more than {max_bytes}")]
    TooLarge {
        /// The journal.
        path: PathBuf,
        /// The frame's size.
        bytes: usize,
        /// The bound.
        max_bytes: usize,
    },
    /// A frame cannot be written as JSON.
    #[error("a frame for {path:?} has no text form")]
    Encode {
        /// The journal.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The system refused.
    #[error("{step:?} failed on {path:?}")]
    Io {
        /// The journal.
        path: PathBuf,
        /// While doing what.
        step: JournalStep,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An earlier write or sync failed for good; open the journal anew.
    #[error("{path:?} failed earlier and takes no more")]
    Failed {
        /// The journal.
        path: PathBuf,
    },
}

impl JournalError {
    /// Makes an [`JournalError::Io`] of the system's error.
    pub(crate) fn at(path: &Path, step: JournalStep) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, step, source }
    }
}
