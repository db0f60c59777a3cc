//! Runs blocking work on its own thread with a deadline; dropping the future cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::activity::Meter;

/// How long the caller waits after the deadline for blocking work that is in a slow system call.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// A deadline of blocking work with its progress meter; it is also reached when the caller is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    deadline: Instant,
    abandoned: Arc<AtomicBool>,
    pub(crate) meter: Arc<Meter>,
}

impl Limit {
    /// A deadline this long from now.
    pub(crate) fn after(timeout: Duration) -> Self {
        Self { deadline: Instant::now() + timeout, abandoned: Arc::default(), meter: Arc::default() }
    }

    /// A deadline this long from now, for work that advances this meter.
    pub(crate) fn metered(timeout: Duration, meter: &Arc<Meter>) -> Self {
        Self { meter: Arc::clone(meter), ..Self::after(timeout) }
    }

    /// Whether blocking work must stop: the deadline has passed, or its caller was dropped.
    pub(crate) fn reached(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// Why blocking work has no result: it did not return in time, or it panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The work did not return in time; it may still be in a system call.
    TimedOut,
    /// The work panicked.
    Panicked,
}

/// Guard that sets a flag when it is dropped with its future, so that blocking work stops.
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a blocking thread; its limit is reached after `timeout`, or when this future is dropped. `Err` if it
/// panics, or has not returned [`STOP_GRACE`] after the limit.
pub(crate) async fn blocking<T: Send + 'static>(
    timeout: Duration,
    meter: &Arc<Meter>,
    work: impl FnOnce(&Limit) -> T + Send + 'static,
) -> Result<T, Stopped> {
    let limit = Limit::metered(timeout, meter);
    let _abandon = AbandonOnDrop(Arc::clone(&limit.abandoned));
    let task = tokio::task::spawn_blocking(move || work(&limit));
    match tokio::time::timeout(timeout + STOP_GRACE, task).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(Stopped::Panicked),
        Err(_) => Err(Stopped::TimedOut),
    }
}
