//! Progress of long work: meters that blocking work advances and a display reads at any time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The unit in which a progress meter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of file contents.
    Bytes,
    /// Files and folders.
    Entries,
}

/// The progress of a call for display: its tool, a verb, the amount done, the total if known, the unit and the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The tool's name.
    pub tool: String,
    /// What the call does, for display before its count: `copying`.
    pub verb: &'static str,
    /// The amount that is done; at most the total.
    pub done: u64,
    /// The total amount; `None` if it is not known.
    pub total: Option<u64>,
    /// The unit of both numbers.
    pub unit: Unit,
    /// When this work began.
    pub started: Instant,
}

/// What a progress meter measures in one stage of a call: verb, unit, total and passes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) verb: &'static str,
    pub(crate) unit: Unit,
    pub(crate) total: Option<u64>,
    /// Number of passes in which each byte is read or written, as when a copy is read back.
    pub(crate) passes: u64,
}

/// Progress counters of one call. Counting costs one atomic addition and reads no clock.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    bytes: AtomicU64,
    entries: AtomicU64,
    stage: Mutex<Option<(Stage, Instant)>>,
}

impl Meter {
    /// Sets the meter's stage (verb, unit, total) and starts counting at zero. A meter without a stage is not
    /// displayed.
    pub(crate) fn begin(&self, stage: Stage) {
        self.bytes.store(0, Ordering::Relaxed);
        self.entries.store(0, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, Instant::now()));
    }

    /// Ends the current stage of a meter: it is not displayed until the next [`Meter::begin`], which sets its counts to
    /// zero.
    pub(crate) fn end(&self) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Advances the meter by this many bytes.
    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Advances the meter by this many files or folders.
    pub(crate) fn add_entries(&self, entries: usize) {
        self.entries.fetch_add(entries as u64, Ordering::Relaxed);
    }

    /// The meter's progress for display, bytes divided by the stage's passes, at most the total; `None` outside of a
    /// stage.
    pub(crate) fn activity(&self, tool: &str) -> Option<Activity> {
        let (Stage { verb, unit, total, passes }, started) =
            (*self.stage.lock().unwrap_or_else(PoisonError::into_inner))?;
        let counted = match unit {
            Unit::Bytes => self.bytes.load(Ordering::Relaxed) / passes.max(1),
            Unit::Entries => self.entries.load(Ordering::Relaxed),
        };
        let done = counted.min(total.unwrap_or(u64::MAX));
        Some(Activity { tool: tool.to_owned(), verb, done, total, unit, started })
    }
}

/// The calls in progress, each with its tool and meter.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<Vec<(String, Arc<Meter>)>>);

impl Calls {
    /// Adds a call to the list of calls in progress until the returned guard is dropped.
    pub(crate) fn list<'a>(&'a self, tool: &str, meter: &'a Arc<Meter>) -> Listed<'a> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((tool.to_owned(), Arc::clone(meter)));
        Listed { calls: self, meter }
    }

    /// The progress of every listed call that is in a stage of counted work.
    pub(crate) fn activity(&self) -> Vec<Activity> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().filter_map(|(tool, meter)| meter.activity(tool)).collect()
    }
}

/// Guard that removes a call from the list of calls in progress when dropped.
pub(crate) struct Listed<'a> {
    calls: &'a Calls,
    meter: &'a Arc<Meter>,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|(_, meter)| !Arc::ptr_eq(meter, self.meter));
    }
}
