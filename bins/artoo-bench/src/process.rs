//! CPU time and memory that this process and its children have used, as the kernel counts them.

use std::fs;
use std::time::{Duration, Instant};

/// The kernel's clock ticks per second, the same on every Linux machine that artoo runs on.
const TICKS_PER_S: f64 = 100.0;

/// CPU time used by this process and by its ended children, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) own_s: f64,
    pub(crate) children_s: f64,
}

impl Used {
    /// The CPU time used so far; zero if `/proc` can't be read.
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // Fields are counted after the process name, which may hold any character; user and system time are the 14th
        // and 15th.
        let fields: Vec<&str> =
            stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
        let ticks = |place: usize| fields.get(place - 3).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        Self { own_s: (ticks(14) + ticks(15)) / TICKS_PER_S, children_s: (ticks(16) + ticks(17)) / TICKS_PER_S }
    }

    /// The CPU time used between the earlier reading `before` and this one.
    pub(crate) fn since(self, before: &Self) -> Self {
        Self { own_s: self.own_s - before.own_s, children_s: self.children_s - before.children_s }
    }

    /// The CPU time of this process and its children together, in seconds.
    pub(crate) fn total_s(self) -> f64 {
        self.own_s + self.children_s
    }
}

/// Peak resident memory of this process, in KiB; 0 if unknown.
pub(crate) fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// When this process was started, to a hundredth of a second; the current time if `/proc` can't be read.
pub(crate) fn started() -> Instant {
    let now = Instant::now();
    let age = || {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let began: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
        let uptime: f64 = fs::read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
        Duration::try_from_secs_f64(uptime - began / TICKS_PER_S).ok()
    };
    age().and_then(|age| now.checked_sub(age)).unwrap_or(now)
}
