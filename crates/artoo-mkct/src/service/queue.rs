//! What waits for the disk, and what was promised about it.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc::channel},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    Frame, JournalError,
    service::{
        error::{NotKept, RefusedWrite},
        keeper::Keeper,
    },
};

/// What can be waited for, beyond acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// It survives the death of the process.
    Acknowledged,
    /// It survives the loss of power.
    Synced,
}

/// What the journal's thread is asked to do, in this order.
pub(super) enum Job {
    /// Frames the engine has applied.
    Frames(Vec<Frame>),
    /// Recalls that the engine has yet to apply.
    Touch(Vec<Frame>),
    /// Anything that needs the journal to itself.
    Task(Box<dyn FnOnce(&mut Keeper) + Send>),
}

/// A queue with one reader.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the journal's thread.
    filled: Condvar,
    /// Wakes whoever waits for a promise.
    moved: Condvar,
    max_bytes: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(Job, usize)>,
    /// Of jobs, and of what was taken out but not yet written.
    bytes: usize,
    accepted: u64,
    acknowledged: u64,
    synced: u64,
    refused: u64,
    failure: Option<Failure>,
    waiting: Vec<Waiting>,
    closed: bool,
}

/// Why writes do not get on.
#[derive(Debug, Clone)]
struct Failure {
    error: Arc<JournalError>,
    for_good: bool,
}

struct Waiting {
    number: u64,
    promise: Promise,
    then: Box<dyn FnOnce(Result<(), NotKept>) + Send>,
}

/// How far things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QueueStats {
    /// Writes accepted since the memory was opened.
    pub accepted: u64,
    /// Of these, acknowledged.
    pub acknowledged: u64,
    /// Of these, synced.
    pub synced: u64,
    /// Writes refused because too much was waiting, or the journal had failed; every one was told.
    pub refused: u64,
    /// Bytes waiting for the disk.
    pub waiting_bytes: usize,
    /// Whether the last attempt to write failed.
    pub failing: bool,
}

/// An accepted write; says when it is kept.
#[derive(Clone)]
pub struct Receipt {
    queue: Arc<Queue>,
    number: u64,
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receipt").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Receipt {
    pub(super) fn new(queue: &Arc<Queue>, number: u64) -> Self {
        Self { queue: Arc::clone(queue), number }
    }

    /// Waits until the promise is kept.
    ///
    /// # Errors
    /// [`NotKept`] at the first attempt that failed; the write itself stays accepted and is tried again.
    pub fn wait(&self, promise: Promise) -> Result<(), NotKept> {
        let mut state = self.queue.lock();
        loop {
            if let Some(result) = state.outcome(self.number, promise) {
                return result;
            }
            state = self.queue.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls back when the promise is kept, or not; from the journal's thread, or at once.
    pub fn then(self, promise: Promise, then: impl FnOnce(Result<(), NotKept>) + Send + 'static) {
        let mut state = self.queue.lock();
        match state.outcome(self.number, promise) {
            None => state.waiting.push(Waiting { number: self.number, promise, then: Box::new(then) }),
            Some(result) => {
                drop(state);
                then(result);
            }
        }
    }
}

impl State {
    fn reached(&self, promise: Promise) -> u64 {
        match promise {
            Promise::Acknowledged => self.acknowledged,
            Promise::Synced => self.synced,
        }
    }

    /// What became of a promise; `None` while it is open.
    fn outcome(&self, number: u64, promise: Promise) -> Option<Result<(), NotKept>> {
        if self.reached(promise) >= number {
            return Some(Ok(()));
        }
        match &self.failure {
            Some(Failure { error, for_good }) => {
                let source = Arc::clone(error);
                Some(Err(NotKept::Journal { promise, retried: !for_good && !self.closed, source }))
            }
            None if self.closed => Some(Err(NotKept::Closed { promise })),
            None => None,
        }
    }
}

impl Queue {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { state: Mutex::default(), filled: Condvar::new(), moved: Condvar::new(), max_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `bytes` more may wait; counts a refusal.
    pub(super) fn admit(&self, bytes: usize) -> Result<(), RefusedWrite> {
        let mut state = self.lock();
        let refusal = match &state.failure {
            _ if state.closed => Some(RefusedWrite::Closed),
            Some(Failure { error, for_good: true }) => Some(RefusedWrite::Failed(Arc::clone(error))),
            _ if state.bytes.saturating_add(bytes) > self.max_bytes => {
                Some(RefusedWrite::QueueFull { queued: state.bytes, max: self.max_bytes })
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

    /// Puts accepted frames in; returns the number of the last write.
    pub(super) fn push(&self, frames: Vec<Frame>, bytes: usize) -> u64 {
        let mut state = self.lock();
        state.accepted += frames.len() as u64;
        let number = state.accepted;
        self.put(state, Job::Frames(frames), bytes);
        number
    }

    /// Puts recalls in, unless there is no room: they are the one thing that may be left out, and are counted then.
    pub(super) fn touch(&self, frames: Vec<Frame>, bytes: usize) {
        if self.admit(bytes).is_ok() {
            self.put(self.lock(), Job::Touch(frames), bytes);
        }
    }

    fn put(&self, mut state: MutexGuard<'_, State>, job: Job, bytes: usize) {
        state.bytes += bytes;
        state.jobs.push_back((job, bytes));
        drop(state);
        self.filled.notify_one();
    }

    /// Has the journal's thread do something, and waits for it; `None` after closing.
    pub(super) fn task<T: Send + 'static>(&self, task: impl FnOnce(&mut Keeper) -> T + Send + 'static) -> Option<T> {
        let (done, answer) = channel();
        let state = self.lock();
        if state.closed {
            return None;
        }
        // The caller waits below.
        let run = move |keeper: &mut Keeper| drop(done.send(task(keeper)));
        self.put(state, Job::Task(Box::new(run)), 0);
        answer.recv().ok()
    }

    /// The next jobs; waits for them, at most for `retry` where there is one.
    pub(super) fn take(&self, retry: Option<Duration>) -> VecDeque<(Job, usize)> {
        let mut state = self.lock();
        while state.jobs.is_empty() {
            match retry {
                None => state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(retry) => {
                    state = self.filled.wait_timeout(state, retry).unwrap_or_else(PoisonError::into_inner).0;
                    break;
                }
            }
        }
        std::mem::take(&mut state.jobs)
    }

    /// Whether nothing waits; only a held master makes that last.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// `writes` more are kept this well, `bytes` fewer wait.
    pub(super) fn advance(&self, promise: Promise, writes: u64, bytes: usize) {
        let mut state = self.lock();
        match promise {
            Promise::Acknowledged => state.acknowledged += writes,
            Promise::Synced => state.synced = state.acknowledged,
        }
        state.bytes = state.bytes.saturating_sub(bytes);
        state.failure = None;
        self.tell(state);
    }

    /// Nothing gets on for now, or for good.
    pub(super) fn fail(&self, error: Arc<JournalError>, for_good: bool) {
        let mut state = self.lock();
        state.failure = Some(Failure { error, for_good });
        self.tell(state);
    }

    /// No more is taken.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.tell(state);
    }

    fn tell(&self, mut state: MutexGuard<'_, State>) {
        let mut told = Vec::new();
        let waiting = std::mem::take(&mut state.waiting);
        for wait in waiting {
            match state.outcome(wait.number, wait.promise) {
                Some(result) => told.push((wait.then, result)),
                None => state.waiting.push(wait),
            }
        }
        drop(state);
        self.moved.notify_all();
        for (then, result) in told {
            then(result);
        }
    }

    /// Waits until everything accepted so far is kept this well.
    pub(super) fn settled(self: &Arc<Self>, promise: Promise) -> Result<(), NotKept> {
        let number = self.lock().accepted;
        Receipt::new(self, number).wait(promise)
    }

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
