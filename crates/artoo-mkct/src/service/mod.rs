//! A memory that is open: its engine, the journal's thread, the index's thread and the Dreamer.
//!
//! A write is *accepted* when [`Memory::write`] returned (every later query sees it), *acknowledged* when its
//! [`Receipt`] says so (it survives the death of this process), *synced* when that says so (it survives the loss of
//! power). Readers take a copy of the engine that nobody changes: they wait for no write, no sweep and no disk.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    Engine, MegramId, Stats,
    journal::repair::{self, Damage},
};

pub use distil::Distiller;
pub use dreamer::Dream;
pub use error::{ForgetFailed, MaintenanceError, NotKept, OpenError, RefusedWrite};
pub use folder::{OpenSummary, TakenIn};
pub use indexing::IndexStatus;
pub use options::{
    Clock, DISTIL_TIMEOUT, DREAM_EVERY, DREAM_SETTLE, DreamTimes, KEEP_DELETED_DAYS, MAX_QUEUED_BYTES, OnDamage,
    Options, SNAPSHOT_TAIL_BYTES, SystemClock,
};
pub use queue::{Promise, QueueStats, Receipt};

pub use memory::Memory;

mod access;
mod distil;
mod dreamer;
mod error;
mod folder;
mod indexing;
mod keeper;
mod memory;
mod options;
mod queue;
mod upkeep;

/// An accepted write.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// The new records, in the order of their drafts.
    pub ids: Vec<MegramId>,
    /// Says when they are kept.
    pub receipt: Receipt,
}

/// How a memory is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStats {
    /// What stands in it.
    pub engine: Stats,
    /// What waits for the disk.
    pub queue: QueueStats,
    /// The index; `None` where there is none.
    pub index: Option<IndexStatus>,
    /// Another process holds the memory; this one keeps a journal of its own.
    pub guest: bool,
}

/// A memory as it was.
#[derive(Debug, Clone)]
pub struct Hindsight {
    /// What stood then; answers every question but those for texts that were erased since.
    pub engine: Engine,
    /// From this moment on nothing is missing; what was deleted before left no trace. `None` = nothing ever is.
    pub complete_from_ms: Option<i64>,
}

/// What a check of the whole memory found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// The journal, entry by entry.
    pub journal: Damage,
    /// Frames of it that fit nothing, e.g. because what they speak of was damaged.
    pub refused_frames: usize,
    /// What the journal makes is what stands in memory.
    pub memory_matches: bool,
    /// What is wrong with the index; `None` where nothing is, or there is none.
    pub index_problem: Option<String>,
}

impl Verified {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.journal.ranges.is_empty()
            && self.refused_frames == 0
            && self.memory_matches
            && self.index_problem.is_none()
    }
}

/// Names what is damaged in the journal of a folder; opens and changes nothing.
///
/// # Errors
/// Where there is no journal.
pub fn inspect(folder: &Path, options: &Options) -> Result<Damage, OpenError> {
    let home = folder::Home::new(&options.disk, folder);
    Ok(repair::inspect(options.disk.as_ref(), &home.journal())?)
}
