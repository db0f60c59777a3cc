//! Settings of a memory.

use std::{sync::Arc, time::Duration};

use crate::{
    advice::Similarity,
    clock::{Clock, SystemClock},
    disk::{Disk, SystemDisk},
    memory::distil::Distiller,
    record::Frame,
};

/// Default of [`Options::max_queued_bytes`]: about 100,000 records.
#[doc(alias = "limit")]
pub const MAX_QUEUED_BYTES: usize = 64 * 1024 * 1024;

/// Default of [`Options::keep_deleted_days`]: about twice the half-life of a failure.
#[doc(alias = "limit")]
pub const KEEP_DELETED_DAYS: u32 = 30;

/// Default of [`Options::snapshot_tail_bytes`]: replaying this much of the journal takes a few milliseconds.
pub const SNAPSHOT_TAIL_BYTES: u64 = 1024 * 1024;

/// Default of [`DreamTimes::every`], the time between two runs of the Dreamer: five minutes.
#[doc(alias = "limit")]
pub const DREAM_EVERY: Duration = Duration::from_secs(5 * 60);

/// Default of [`DreamTimes::settle`], the time between the end of a task and a run of the Dreamer: ten seconds.
pub const DREAM_SETTLE: Duration = Duration::from_secs(10);

/// Default of [`Options::distil_timeout`]: two minutes, enough for a slow language model.
#[doc(alias = "limit")]
pub const DISTIL_TIMEOUT: Duration = Duration::from_secs(120);

/// Settings of a memory; the defaults suit most programs.
///
/// ```
/// let options = artoo_mkct::Options::default().with(|options| options.keep_deleted_days = 7);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Access to the files of the memory.
    pub disk: Arc<dyn Disk>,
    /// The clock of the Dreamer; the times passed to writes and queries should come from the same clock.
    pub clock: Arc<dyn Clock>,
    /// Whether opening a damaged journal fails or repairs the journal.
    pub on_damage: DamagePolicy,
    /// Writes the texts of rules, e.g. with a language model; without a distiller the Dreamer makes no rules.
    pub distiller: Option<Arc<dyn Distiller>>,
    /// When the Dreamer runs by itself; `None`: only when `crate::Memory::dream` is called.
    pub dream: Option<DreamTimes>,
    /// Time limit for one call of the distiller.
    pub distil_timeout: Duration,
    /// Most bytes of accepted writes that may wait for the disk; further writes are rejected.
    pub max_queued_bytes: usize,
    /// Number of days that records deleted by a sweep stay in the journal, for [`crate::Memory::as_of`].
    pub keep_deleted_days: u32,
    /// Number of bytes that the journal grows after a snapshot before a new one is written.
    pub snapshot_tail_bytes: u64,
    /// Is told about changes by the Dreamer, a merge, a deletion on request or [`crate::Memory::reword`]; `None` for no
    /// observer.
    pub observer: Option<Arc<dyn Observer>>,
    /// Adds candidates for alike intents to each recall.
    pub similarity: Option<Arc<dyn Similarity>>,
}

/// Receives the changes that the Dreamer, the merge of another process's journal, a deletion on request or a reworded
/// rule made, so that a program with its own copy of the engine can apply them.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// Called after the changes were made, on the thread that made them, which waits. A copy of the engine that was
    /// taken in between rejects frames that it has already.
    fn changed(&self, frames: &[Frame]);
}

impl Default for Options {
    fn default() -> Self {
        Self {
            disk: Arc::new(SystemDisk),
            clock: Arc::new(SystemClock::default()),
            on_damage: DamagePolicy::Refuse,
            distiller: None,
            dream: Some(DreamTimes::default()),
            distil_timeout: DISTIL_TIMEOUT,
            max_queued_bytes: MAX_QUEUED_BYTES,
            keep_deleted_days: KEEP_DELETED_DAYS,
            snapshot_tail_bytes: SNAPSHOT_TAIL_BYTES,
            observer: None,
            similarity: None,
        }
    }
}

impl Options {
    /// Returns these settings after `change` was applied to them.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// When the Dreamer runs by itself: at intervals, and some time after a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DreamTimes {
    /// Time between two runs of the Dreamer.
    pub every: Duration,
    /// Time between the end of a task and the run that follows, so that the task's last writes are included.
    pub settle: Duration,
}

impl DreamTimes {
    /// Times with these intervals between runs, and between the end of a task and a run.
    #[must_use]
    pub fn new(every: Duration, settle: Duration) -> Self {
        Self { every, settle }
    }
}

impl Default for DreamTimes {
    fn default() -> Self {
        Self { every: DREAM_EVERY, settle: DREAM_SETTLE }
    }
}

/// Whether opening refuses or repairs a damaged journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DamagePolicy {
    /// Opening fails without changing a byte.
    #[default]
    Refuse,
    /// Opening keeps the valid entries, moves the damaged bytes to a file, and reports both.
    Repair,
}
