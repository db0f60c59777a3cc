//! How a memory is opened: on which disk, by which clock, and who words its rules.

use std::{sync::Arc, time::Duration};

use crate::{
    clock::{Clock, SystemClock},
    disk::{Disk, SystemDisk},
    memory::distil::Distiller,
};

/// Bytes of accepted writes that may wait for the disk: about 100,000 records, a burst no task makes.
pub const MAX_QUEUED_BYTES: usize = 64 * 1024 * 1024;

/// How long what a sweep deleted can still be looked back at: the half-life of a failure, twice.
pub const KEEP_DELETED_DAYS: u32 = 30;

/// Journal read at an opening beyond the snapshot before a new one is written: a few milliseconds of replay.
pub const SNAPSHOT_TAIL_BYTES: u64 = 1024 * 1024;

/// Time between two runs of the Dreamer.
pub const DREAM_EVERY: Duration = Duration::from_secs(5 * 60);

/// Time after the last finished task before the Dreamer looks at it: its writes come in a burst.
pub const DREAM_SETTLE: Duration = Duration::from_secs(10);

/// Time a distiller has for one rule: a slow model's answer, with room.
pub const DISTIL_TIMEOUT: Duration = Duration::from_secs(120);

/// Settings of a memory; the defaults suit most programs.
///
/// ```
/// let options = artoo_mkct::Options::default().with(|options| options.keep_deleted_days = 7);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where its files live.
    pub disk: Arc<dyn Disk>,
    /// What time it is, for the Dreamer.
    pub clock: Arc<dyn Clock>,
    /// What to do about a damaged journal.
    pub on_damage: DamagePolicy,
    /// Who words rules; without one, experience stays as it is.
    pub distiller: Option<Arc<dyn Distiller>>,
    /// When the Dreamer runs; `None` = only when asked.
    pub dream: Option<DreamTimes>,
    /// How long a distiller has for one rule.
    pub distil_timeout: Duration,
    /// Bytes of accepted writes that may wait for the disk.
    pub max_queued_bytes: usize,
    /// How long what a sweep deleted can still be looked back at.
    pub keep_deleted_days: u32,
    /// Journal beyond the snapshot before a new one is written.
    pub snapshot_tail_bytes: u64,
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
        }
    }
}

impl Options {
    /// These settings with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// When the Dreamer runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DreamTimes {
    /// Between two runs.
    pub every: Duration,
    /// After the last finished task.
    pub settle: Duration,
}

impl Default for DreamTimes {
    fn default() -> Self {
        Self { every: DREAM_EVERY, settle: DREAM_SETTLE }
    }
}

/// What to do about a journal that is damaged in its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DamagePolicy {
    /// Do not open it; not a byte changes.
    #[default]
    Refuse,
    /// Keep what is sound, set the rest aside and say so.
    Repair,
}
