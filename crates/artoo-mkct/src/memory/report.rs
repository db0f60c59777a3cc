//! What a memory reports about itself: on opening, after a write, while it runs and after a check.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    engine::{Engine, Stats},
    journal::Damage,
    memory::progress::{QueueStats, Receipt},
    record::MegramId,
};

/// An accepted write: the ids of its records, and a receipt to wait for the disk.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AcceptedWrite {
    /// The new records, in the order of their drafts.
    pub ids: Vec<MegramId>,
    /// Tells when the records are on the disk.
    pub receipt: Receipt,
}

/// What opening a memory found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenSummary {
    /// There was no memory in the folder; an empty one was created.
    pub created: bool,
    /// Another process holds the memory: this one reads what was there and writes a journal of its own.
    pub guest: bool,
    /// The state was read from a snapshot, so that only the newest part of the journal was replayed.
    pub from_snapshot: bool,
    /// Frames read from the journal.
    pub frames: usize,
    /// Frames that could not be applied, e.g. because the record they name was in a damaged part.
    pub refused_frames: usize,
    /// Bytes of unfinished writes that were cut off the journal's end.
    pub truncated_tail_bytes: u64,
    /// Bytes that the journal had when its snapshot was taken and no longer has: an old backup, or a truncated file.
    pub missing_bytes: u64,
    /// Journals of other processes that were merged into this memory.
    pub adopted: Adopted,
    /// Erasures that an earlier process began and this one finished.
    pub erasures_finished: usize,
    /// The folder of a LevelDB index that an earlier version kept. It is not updated any more, and still holds what was
    /// forgotten since: delete it.
    pub old_index: Option<PathBuf>,
    /// The damage found and repaired, if [`super::DamagePolicy::Repair`] was asked for.
    pub damage: Option<Damage>,
}

/// Counts of the journals of other processes that were merged into the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Adopted {
    /// Journals merged.
    pub journals: usize,
    /// Frames in these journals.
    pub frames: usize,
    /// Journals among them that were damaged: their sound frames were merged, the damaged bytes set aside.
    pub damaged: usize,
}

/// Counters of an open memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryStats {
    /// Counts of records.
    pub engine: Stats,
    /// Writes on their way to the disk.
    pub queue: QueueStats,
    /// Another process holds the memory; this one writes a journal of its own.
    pub guest: bool,
}

/// A memory as it was at an earlier moment.
#[doc(alias = "snapshot")]
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hindsight {
    /// The engine of that moment; it answers everything but requests for texts that were erased since.
    pub engine: Engine,
    /// The moment from which on nothing is missing, Unix milliseconds: records deleted before it left no trace.
    /// `None` if nothing is ever missing.
    pub complete_from_ms: Option<i64>,
}

/// What a check of the whole memory found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verification {
    /// Damage found in the journal.
    pub journal: Damage,
    /// Frames of the journal that could not be applied, e.g. because the record they name was in a damaged part.
    pub refused_frames: usize,
    /// Whether replaying the journal gives the counts of the engine in RAM.
    pub memory_matches: bool,
}

impl Verification {
    /// Whether no problem was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.journal.ranges.is_empty() && self.refused_frames == 0 && self.memory_matches
    }
}
