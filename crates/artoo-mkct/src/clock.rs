//! The time of a memory: the wall clock, and a clock that cannot be set.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Largest difference between the elapsed wall-clock time and the elapsed uptime at which records may still be
/// deleted, in milliseconds: one day.
pub const MAX_CLOCK_DISAGREEMENT_MS: i64 = 24 * 60 * 60 * 1_000;

/// The wall clock and the uptime at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Wall-clock time, Unix milliseconds; a user or the network can set this clock.
    pub wall_ms: i64,
    /// Milliseconds of a clock that cannot be set and that counts suspended time (on Linux `CLOCK_BOOTTIME`).
    pub uptime_ms: i64,
}

/// A source of the wall-clock time and the uptime.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// The wall clock and the uptime at this moment.
    fn now(&self) -> Clocks;

    /// The wall clock now, Unix milliseconds.
    fn wall_ms(&self) -> i64 {
        self.now().wall_ms
    }
}

/// The clocks of the operating system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    /// When this clock was created: the start of the uptime where the system does not report one.
    began: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Clocks {
        let running = || i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Clocks { wall_ms: self.wall_ms(), uptime_ms: boot_time_ms().unwrap_or_else(running) }
    }

    fn wall_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        }
    }
}

/// Milliseconds since the machine started, suspended time included; `None` where there is no `/proc/uptime`.
fn boot_time_ms() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some((seconds * 1_000.0) as i64)
}
