//! Runs blocking work on its own thread with a deadline; dropping the future cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the caller waits after the deadline, since the work may be in a slow system call.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// A deadline that is also reached when the caller is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    deadline: Instant,
    abandoned: Arc<AtomicBool>,
}

impl Limit {
    /// A deadline this long from now.
    pub(crate) fn after(timeout: Duration) -> Self {
        Self { deadline: Instant::now() + timeout, abandoned: Arc::new(AtomicBool::new(false)) }
    }

    /// Whether the work must stop.
    pub(crate) fn reached(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// Why blocking work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It did not return in time; it may still be in a system call.
    TimedOut,
    /// It panicked.
    Panicked,
}

struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a blocking thread; its limit is reached after `timeout`, or when this future is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce(&Limit) -> T + Send + 'static,
) -> Result<T, Stopped> {
    let limit = Limit::after(timeout);
    let _abandon = AbandonOnDrop(Arc::clone(&limit.abandoned));
    let task = tokio::task::spawn_blocking(move || work(&limit));
    match tokio::time::timeout(timeout + STOP_GRACE, task).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(Stopped::Panicked),
        Err(_) => Err(Stopped::TimedOut),
    }
}
