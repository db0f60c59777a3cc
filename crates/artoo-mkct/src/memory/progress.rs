//! Which accepted writes are on the disk, and the receipts that wait for them.

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    journal::JournalError,
    memory::error::{Durability, DurabilityError, MemoryWriteError},
};

/// How many of the accepted writes are acknowledged and synced, and the callers that wait for them.
pub(super) struct Progress {
    state: Mutex<State>,
    /// Wakes the threads that wait for a write, at every change.
    moved: Condvar,
    max_bytes: usize,
}

/// Counters of writes, and the callbacks that wait for them.
#[derive(Default)]
struct State {
    /// Bytes of queued jobs, and of jobs taken from the queue but not yet written.
    bytes: usize,
    /// Number of accepted writes, which is also the number of the last one.
    accepted: u64,
    /// Number of acknowledged writes.
    acknowledged: u64,
    /// Number of synced writes.
    synced: u64,
    /// Number of rejected writes and dropped recalls.
    refused: u64,
    /// Why the last attempt to write to the journal failed; `None` if it did not.
    failure: Option<Failure>,
    /// Callbacks of receipts whose writes are not durable yet.
    waiting: Vec<Waiting>,
    /// Whether the memory is closed, so that further writes are rejected.
    closed: bool,
}

/// Why the last attempt to write to the journal failed.
#[derive(Debug, Clone)]
struct Failure {
    error: Arc<JournalError>,
    /// Whether there will be no further attempt.
    is_final: bool,
}

/// A callback to call when a write has a durability, or failed.
struct Waiting {
    /// Number of the write that the callback waits for.
    number: u64,
    /// The durability that the callback waits for.
    durability: Durability,
    /// The callback.
    then: Box<dyn FnOnce(Result<(), DurabilityError>) + Send>,
}

/// Counters of the writes of an open memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueStats {
    /// Number of writes accepted since the memory was opened.
    pub accepted: u64,
    /// Number of accepted writes that are acknowledged (they survive the death of the process).
    pub acknowledged: u64,
    /// Number of accepted writes that are synced (they survive the loss of power).
    pub synced: u64,
    /// Number of writes rejected with an error, and of recalls dropped, because too much was waiting, the journal had
    /// failed or the memory was closed.
    pub refused: u64,
    /// Number of bytes that wait for the disk.
    pub waiting_bytes: usize,
    /// Whether the last attempt to write to the journal failed.
    pub failing: bool,
}

/// A handle on an accepted write, to wait until it is on the disk.
#[derive(Clone)]
pub struct Receipt {
    progress: Arc<Progress>,
    number: u64,
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receipt").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Receipt {
    /// A receipt for the write with this number.
    pub(super) fn new(progress: &Arc<Progress>, number: u64) -> Self {
        Self { progress: Arc::clone(progress), number }
    }

    /// Blocks until the write has this durability.
    ///
    /// # Errors
    /// [`DurabilityError`] at the first attempt that failed; the write itself stays accepted and is retried unless the
    /// journal failed for good.
    pub fn wait(&self, durability: Durability) -> Result<(), DurabilityError> {
        let mut state = self.progress.lock();
        loop {
            if let Some(result) = state.outcome(self.number, durability) {
                return result;
            }
            state = self.progress.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls `then` when the write has this durability, or failed: on the journal's thread, or at once if that is
    /// known.
    pub fn then(self, durability: Durability, then: impl FnOnce(Result<(), DurabilityError>) + Send + 'static) {
        let mut state = self.progress.lock();
        match state.outcome(self.number, durability) {
            None => state.waiting.push(Waiting { number: self.number, durability, then: Box::new(then) }),
            Some(result) => {
                drop(state);
                then(result);
            }
        }
    }
}

impl State {
    /// Number of writes that have this durability.
    fn reached(&self, durability: Durability) -> u64 {
        match durability {
            Durability::Acknowledged => self.acknowledged,
            Durability::Synced => self.synced,
        }
    }

    /// Whether the write with this number has the durability, or failed; `None` while that is unknown.
    fn outcome(&self, number: u64, durability: Durability) -> Option<Result<(), DurabilityError>> {
        if self.reached(durability) >= number {
            return Some(Ok(()));
        }
        match &self.failure {
            Some(Failure { error, is_final }) => {
                let source = Arc::clone(error);
                Some(Err(DurabilityError::Journal { durability, retried: !is_final && !self.closed, source }))
            }
            None if self.closed => Some(Err(DurabilityError::Closed { durability })),
            None => None,
        }
    }
}

impl Progress {
    /// Counters at zero for a queue of at most `max_bytes` bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { state: Mutex::default(), moved: Condvar::new(), max_bytes }
    }

    /// Locks the counters, also after a panic of another thread.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that `bytes` more may be queued; otherwise counts a rejected write and returns why.
    pub(super) fn admit(&self, bytes: usize) -> Result<(), MemoryWriteError> {
        let mut state = self.lock();
        let refusal = match &state.failure {
            _ if state.closed => Some(MemoryWriteError::Closed),
            Some(Failure { error, is_final: true }) => Some(MemoryWriteError::Failed(Arc::clone(error))),
            _ if state.bytes.saturating_add(bytes) > self.max_bytes => {
                Some(MemoryWriteError::QueueFull { queued: state.bytes, max: self.max_bytes })
            }
            _ => None,
        };
        match refusal {
            None => Ok(()),
            Some(refusal) => {
                state.refused += 1;
                Err(refusal)
            }
        }
    }

    /// Counts accepted writes and the bytes they take in the queue; returns the number of the last write.
    pub(super) fn accept(&self, writes: u64, bytes: usize) -> u64 {
        let mut state = self.lock();
        state.accepted += writes;
        state.bytes += bytes;
        state.accepted
    }

    /// Whether the memory is closed, so that further writes are rejected.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Counts `writes` more as acknowledged, or all acknowledged writes as synced, and `bytes` fewer as waiting; wakes
    /// the callers that wait.
    pub(super) fn advance(&self, durability: Durability, writes: u64, bytes: usize) {
        let mut state = self.lock();
        match durability {
            Durability::Acknowledged => state.acknowledged += writes,
            Durability::Synced => state.synced = state.acknowledged,
        }
        state.bytes = state.bytes.saturating_sub(bytes);
        state.failure = None;
        self.notify(state);
    }

    /// Records that the journal could not be written, and wakes the callers that wait.
    pub(super) fn fail(&self, error: Arc<JournalError>, is_final: bool) {
        let mut state = self.lock();
        state.failure = Some(Failure { error, is_final });
        self.notify(state);
    }

    /// Rejects all further writes, and wakes the callers that wait.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.notify(state);
    }

    /// Wakes and calls all callers whose write is durable now, or failed.
    fn notify(&self, mut state: MutexGuard<'_, State>) {
        let mut finished = Vec::new();
        let waiting = std::mem::take(&mut state.waiting);
        for wait in waiting {
            match state.outcome(wait.number, wait.durability) {
                Some(result) => finished.push((wait.then, result)),
                None => state.waiting.push(wait),
            }
        }
        drop(state);
        self.moved.notify_all();
        for (then, result) in finished {
            then(result);
        }
    }

    /// Waits until all writes accepted so far have this durability.
    pub(super) fn wait_all(self: &Arc<Self>, durability: Durability) -> Result<(), DurabilityError> {
        let number = self.lock().accepted;
        Receipt::new(self, number).wait(durability)
    }

    /// The counters, as `QueueStats`.
    pub(super) fn stats(&self) -> QueueStats {
        let state = self.lock();
        QueueStats {
            accepted: state.accepted,
            acknowledged: state.acknowledged,
            synced: state.synced,
            refused: state.refused,
            waiting_bytes: state.bytes,
            failing: state.failure.is_some(),
        }
    }
}
