//! What can go wrong with a journal.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::record::FrameProblem;

/// A step of opening, reading or writing a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
    /// The file is not a journal, or its header is damaged.
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
        /// Version of the journal.
        found: u32,
        /// The newest known.
        supported: u32,
    },
    /// A frame is damaged, and not just by an interrupted write at the end.
    #[error("{path:?} is damaged at byte {offset}: {problem:?}")]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// Offset of the damaged frame.
        offset: u64,
        /// What is wrong with it.
        problem: FrameProblem,
        /// Offset of the next sound frame.
        next_sound: Option<u64>,
    },
    /// A frame is too large.
    #[error("a frame of {bytes} bytes for {path:?}, more than {max_bytes}")]
    TooLarge {
        /// The journal.
        path: PathBuf,
        /// The frame's size.
        bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// A frame cannot be written as JSON.
    #[error("a frame for {path:?} cannot be written as JSON: {source}")]
    Encode {
        /// The journal.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The system failed.
    #[error("{path:?}: {step:?} failed: {source}")]
    Io {
        /// The journal.
        path: PathBuf,
        /// The failed step.
        step: JournalStep,
        /// The cause.
        source: io::Error,
    },
    /// An earlier write or sync failed; the journal must be opened anew.
    #[error("{path:?} failed earlier and takes no more")]
    Failed {
        /// The journal.
        path: PathBuf,
    },
}

impl JournalError {
    /// Makes a [`JournalError::Io`] of an error of the system.
    pub(crate) fn at(path: &Path, step: JournalStep) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, step, source }
    }
}
