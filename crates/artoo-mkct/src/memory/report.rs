//! What a memory reports about itself: on opening, after a write, while it runs and after a check.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    engine::{Engine, Stats},
    journal::Damage,
    memory::progress::{QueueStats, Receipt},
    record::MegramId,
};

/// An accepted write: the ids of its records, and a receipt to wait until they are on the disk.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AcceptedWrite {
    /// Ids of the new records, in the order of their drafts.
    pub ids: Vec<MegramId>,
    /// Reports when the records are on the disk.
    pub receipt: Receipt,
}

/// What opening a memory found: frames read, damage, an unfinished write, merged journals.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenSummary {
    /// Whether there was no memory in the folder, so that an empty one was created.
    pub created: bool,
    /// Whether another process has the lock of the memory: this process reads what existed then, and writes a journal
    /// of its own.
    pub guest: bool,
    /// Whether the state was read from a snapshot, so that only the newest part of the journal was replayed.
    pub from_snapshot: bool,
    /// Number of frames read from the journal.
    pub frames: usize,
    /// Number of frames that could not be applied, e.g. because the record they name was in a damaged part.
    pub refused_frames: usize,
    /// Length in bytes of the unfinished write that was cut off the end of the journal; 0 for none.
    pub truncated_tail_bytes: u64,
    /// Number of bytes that the journal had when its snapshot was taken and no longer has: the journal is an old
    /// backup, or was truncated.
    pub missing_bytes: u64,
    /// Journals of other processes that were merged into this memory.
    pub adopted: Adopted,
    /// Number of erasures that an earlier process began and this process finished.
    pub erasures_finished: usize,
    /// The folder of a LevelDB index that an earlier version wrote; `None` if there is none. The index is no longer
    /// updated, and still contains records that were forgotten since: delete the folder.
    pub old_index: Option<PathBuf>,
    /// The damage that was found and repaired; `None` without damage, or without [`super::DamagePolicy::Repair`].
    pub damage: Option<Damage>,
}

/// Counts of the journals of other processes that were merged into the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Adopted {
    /// Number of journals that were merged.
    pub journals: usize,
    /// Number of frames of these journals that were applied.
    pub frames: usize,
    /// Number of merged journals that were damaged: their valid frames were merged, the damaged bytes moved to a file.
    pub damaged: usize,
}

/// Counters of an open memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryStats {
    /// Counts of records, tags and tools.
    pub engine: Stats,
    /// Counts of the writes accepted since the memory was opened, and how many of them are on the disk.
    pub queue: QueueStats,
    /// Whether another process has the lock of the memory, so that this process writes a journal of its own.
    pub guest: bool,
}

/// A memory rebuilt as it was at an earlier moment, and from when on it is complete.
#[doc(alias = "snapshot")]
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hindsight {
    /// The engine as of that moment; it answers every query except for texts that were erased since.
    pub engine: Engine,
    /// The moment from which on nothing is missing, Unix milliseconds: records that were deleted before are not in the
    /// journal. `None` if nothing is missing.
    pub complete_from_ms: Option<i64>,
}

/// The result of checking a memory: damage in the journal, and whether a replay equals the engine in RAM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verification {
    /// The damage found in the journal.
    pub journal: Damage,
    /// Number of frames of the journal that could not be applied, e.g. because the record they name was in a damaged
    /// part.
    pub refused_frames: usize,
    /// Whether replaying the journal gives the same counts of records as the engine in RAM.
    pub memory_matches: bool,
}

impl Verification {
    /// Whether the check found no damage, no refused frame and no difference.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.journal.ranges.is_empty() && self.refused_frames == 0 && self.memory_matches
    }
}
