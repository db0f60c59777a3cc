//! How a memory is opened: where, with which index, by which clock, and who words its rules.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::{
    disk::{Disk, SystemDisk},
    service::distil::Distiller,
    store::IndexChoice,
    sweep::Clocks,
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

/// How a memory is opened; [`Options::default`] is what a program wants.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where its files live.
    pub disk: Arc<dyn Disk>,
    /// The index beside the journal.
    pub index: IndexChoice,
    /// What time it is, for the Dreamer.
    pub clock: Arc<dyn Clock>,
    /// What to do about a damaged journal.
    pub on_damage: OnDamage,
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
            index: IndexChoice::default(),
            clock: Arc::new(SystemClock::default()),
            on_damage: OnDamage::Refuse,
            distiller: None,
            dream: Some(DreamTimes::default()),
            distil_timeout: DISTIL_TIMEOUT,
            max_queued_bytes: MAX_QUEUED_BYTES,
            keep_deleted_days: KEEP_DELETED_DAYS,
            snapshot_tail_bytes: SNAPSHOT_TAIL_BYTES,
        }
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
pub enum OnDamage {
    /// Do not open it; not a byte changes.
    #[default]
    Refuse,
    /// Keep what is sound, set the rest aside and say so.
    Repair,
}

/// What time it is.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// Both clocks now.
    fn now(&self) -> Clocks;
}

/// The system's clocks.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    began: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Clocks {
        let wall_ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        let running = || i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Clocks { wall_ms, uptime_ms: boot_time_ms().unwrap_or_else(running) }
    }
}

/// Milliseconds since the machine started, suspended time included; `None` where the system does not tell.
fn boot_time_ms() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some((seconds * 1_000.0) as i64)
}
