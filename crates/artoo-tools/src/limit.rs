//! Work that blocks, on its own thread, with a deadline it can ask about; dropping the wait stops the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much longer the caller waits for work that has been told to stop; it may sit in one slow system call.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// When to stop: at a moment, or as soon as nobody waits.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    deadline: Instant,
    abandoned: Arc<AtomicBool>,
}

impl Limit {
    /// Until `timeout` from now.
    pub(crate) fn after(timeout: Duration) -> Self {
        Self { deadline: Instant::now() + timeout, abandoned: Arc::new(AtomicBool::new(false)) }
    }

    /// Whether to stop now.
    pub(crate) fn reached(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// Why blocking work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It did not come back in time; it may still sit in a system call.
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

/// Runs `work` on a blocking thread; it sees the limit reached at `timeout`, or when this future is dropped.
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
