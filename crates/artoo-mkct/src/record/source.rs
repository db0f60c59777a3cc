//! Reading the text of a record that is not in RAM.

use std::{fmt::Debug, io};

use serde::{Deserialize, Serialize};

use crate::record::{id::MegramId, megram::Megram};

/// An offset in a journal, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offset(pub u64);

/// Reads records whose text is stored in the journal, not in RAM.
pub trait RecordSource: Debug + Send + Sync {
    /// The record in the frame at offset `at`, as it was first written; changes in later frames are not in it.
    ///
    /// # Errors
    /// [`ReadError`] when the frame is missing, damaged or unreadable.
    fn record(&self, id: MegramId, at: Offset) -> Result<Megram, ReadError>;
}

/// Why a record could not be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text of the record was erased, or the journal was rewritten.
    #[error("{id} is no longer in the journal")]
    Gone {
        /// The record that is no longer in the journal.
        id: MegramId,
    },
    /// The frame of the record is damaged.
    #[error("{id} is damaged at byte {}: {problem:?}", offset.0)]
    Damaged {
        /// The record whose frame is damaged.
        id: MegramId,
        /// Where the damaged frame begins.
        offset: Offset,
        /// What is wrong with the frame.
        problem: FrameProblem,
    },
    /// The system failed to read the record.
    #[error("{id} could not be read: {source}")]
    Io {
        /// The record that could not be read.
        id: MegramId,
        /// The error of the system.
        source: io::Error,
    },
}

/// What is wrong with a frame of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FrameProblem {
    /// The frame does not begin with the marker of frames.
    Marker,
    /// The frame's length is zero, above the limit, or reaches beyond the end of the file.
    Length,
    /// The checksum of the frame does not match its content.
    Checksum,
    /// The checksum matches, but this version of the library cannot decode the content of the frame.
    Content,
}
