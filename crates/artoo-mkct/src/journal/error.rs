//! Errors of a journal.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::record::FrameProblem;

/// A step of opening, reading or writing a journal, named in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalStep {
    /// Opening the journal's file.
    Open,
    /// Locking the file.
    Lock,
    /// Reading frames.
    Read,
    /// Writing frames.
    Write,
    /// Waiting until written frames are on the disk.
    Sync,
    /// Cutting off an unfinished write at the end.
    Truncate,
}

/// Why a journal could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process, or another `Journal`, has the journal open.
    #[error("{path:?} is open in another process")]
    Locked {
        /// Path of the journal that is open elsewhere.
        path: PathBuf,
    },
    /// The file is not a journal, or its header is damaged.
    #[error("{path:?} is not a journal")]
    NotAJournal {
        /// Path of the file that is not a journal.
        path: PathBuf,
    },
    /// The journal was written by a newer version of this library.
    #[error("{path:?} has version {found}, this library knows {supported}")]
    NewerVersion {
        /// Path of the journal.
        path: PathBuf,
        /// Version of the journal's format.
        found: u32,
        /// The newest version of the format that this library knows.
        supported: u32,
    },
    /// A frame is damaged, and not just by an interrupted write at the end of the journal.
    #[error("{path:?} is damaged at byte {offset}: {problem:?}")]
    Corrupt {
        /// Path of the damaged journal.
        path: PathBuf,
        /// Offset of the damaged frame, in bytes from the start of the journal.
        offset: u64,
        /// What is wrong with the damaged frame.
        problem: FrameProblem,
        /// Offset of the next valid frame; `None` if there is none, or it was not searched for.
        next_sound: Option<u64>,
    },
    /// A frame has more bytes than an entry of a journal may have.
    #[error("a frame of {bytes} bytes for {path:?}, more than {max_bytes}")]
    TooLarge {
        /// Path of the journal.
        path: PathBuf,
        /// Size of the frame in bytes.
        bytes: usize,
        /// Most bytes that a frame may have.
        max_bytes: usize,
    },
    /// A frame cannot be written as JSON.
    #[error("a frame for {path:?} cannot be written as JSON: {source}")]
    Encode {
        /// Path of the journal.
        path: PathBuf,
        /// Why the frame cannot be written as JSON.
        source: serde_json::Error,
    },
    /// The operating system failed to open, read or write the journal.
    #[error("{path:?}: {step:?} failed: {source}")]
    Io {
        /// Path of the journal.
        path: PathBuf,
        /// The failed step.
        step: JournalStep,
        /// The error of the system.
        source: io::Error,
    },
    /// An earlier write or sync failed, so the journal accepts no more frames; it must be reopened.
    #[error("{path:?} accepts no writes after an earlier failure")]
    Failed {
        /// Path of the failed journal.
        path: PathBuf,
    },
}

impl JournalError {
    /// Turns an error of the system at a step into a [`JournalError::Io`].
    pub(crate) fn at(path: &Path, step: JournalStep) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, step, source }
    }
}
