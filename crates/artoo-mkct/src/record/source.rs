//! Where the text of a record is read from when it is not in RAM.

use std::{fmt::Debug, io};

use serde::{Deserialize, Serialize};

use crate::record::{id::MegramId, megram::Megram};

/// A place in a journal, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offset(pub u64);

/// Where an engine finds what it does not hold in memory.
pub trait RecordSource: Debug + Send + Sync {
    /// The record that the frame at `at` holds, as it was written; what changed since is the engine's to add.
    ///
    /// # Errors
    /// When it is not there, damaged or unreadable.
    fn record(&self, id: MegramId, at: Offset) -> Result<Megram, ReadError>;
}

/// Why a record could not be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Its body was erased, or the journal moved on.
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
    /// The system refused.
    #[error("{id} could not be read")]
    Io {
        /// The record.
        id: MegramId,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// What is wrong with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameProblem {
    /// No frame begins here.
    Marker,
    /// Its length is zero, beyond the bound, or beyond the end of the file.
    Length,
    /// Its checksum differs.
    Checksum,
    /// Its checksum is right but its text is no frame this version knows.
    Content,
}
