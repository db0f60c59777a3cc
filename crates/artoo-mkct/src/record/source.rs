//! Reading the text of a record that is not in RAM.

use std::{fmt::Debug, io};

use serde::{Deserialize, Serialize};

use crate::record::{id::MegramId, megram::Megram};

/// An offset in a journal, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offset(pub u64);

/// Reads the records whose text is not in RAM.
pub trait RecordSource: Debug + Send + Sync {
    /// The record in the frame at `at`, as it was written; later changes are not in it.
    ///
    /// # Errors
    /// [`ReadError`] when the frame is missing, damaged or unreadable.
    fn record(&self, id: MegramId, at: Offset) -> Result<Megram, ReadError>;
}

/// Why a record could not be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Its text was erased, or the journal rewritten.
    #[error("{id} is no longer in the journal")]
    Gone {
        /// The record.
        id: MegramId,
    },
    /// Its frame is damaged.
    #[error("{id} is damaged at byte {}: {problem:?}", offset.0)]
    Damaged {
        /// The record.
        id: MegramId,
        /// Where its frame begins.
        offset: Offset,
        /// What is wrong with it.
        problem: FrameProblem,
    },
    /// The system failed to read it.
    #[error("{id} could not be read: {source}")]
    Io {
        /// The record.
        id: MegramId,
        /// The error of the system.
        source: io::Error,
    },
}

/// What is wrong with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FrameProblem {
    /// The marker of a frame is missing.
    Marker,
    /// The length is zero, above the limit, or beyond the end of the file.
    Length,
    /// The checksum differs.
    Checksum,
    /// The checksum is right, but this version does not know the content.
    Content,
}
