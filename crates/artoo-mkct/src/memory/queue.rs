//! The queue of jobs for the thread that writes the journal.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc::channel},
    time::Duration,
};

use crate::{memory::progress::Progress, record::Frame};

/// A job for the thread that writes the journal; `W` is the state of that thread.
pub(super) enum Job<W> {
    /// Append these frames, which the engine has applied already.
    Frames(Vec<Frame>),
    /// Apply and append these frames, which record that queries returned rules.
    Recalls(Vec<Frame>),
    /// Call this function on the thread.
    Task(Box<dyn FnOnce(&mut W) + Send>),
}

/// Jobs, each with the number of bytes that it takes in the queue.
type Jobs<W> = VecDeque<(Job<W>, usize)>;

/// A queue of jobs with one reader, the thread that writes the journal.
pub(super) struct Queue<W> {
    jobs: Mutex<Jobs<W>>,
    /// Signals the reader that there are jobs.
    filled: Condvar,
    /// Which of the queued writes are on the disk.
    pub(super) progress: Arc<Progress>,
}

impl<W> Queue<W> {
    /// An empty queue of jobs that may hold at most `max_bytes` bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { jobs: Mutex::default(), filled: Condvar::new(), progress: Arc::new(Progress::new(max_bytes)) }
    }

    /// Locks the list of jobs, also after a panic of another thread.
    fn lock(&self) -> MutexGuard<'_, Jobs<W>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the frames of accepted writes; returns the number of the last write.
    pub(super) fn push(&self, frames: Vec<Frame>, bytes: usize) -> u64 {
        let number = self.progress.accept(frames.len() as u64, bytes);
        self.put(Job::Frames(frames), bytes);
        number
    }

    /// Queues recalls, unless the queue is full: only recalls may be dropped, and are counted as rejected then.
    pub(super) fn push_recalls(&self, frames: Vec<Frame>, bytes: usize) {
        if self.progress.admit(bytes).is_ok() {
            self.progress.accept(0, bytes);
            self.put(Job::Recalls(frames), bytes);
        }
    }

    /// Appends a job and wakes the reader.
    fn put(&self, job: Job<W>, bytes: usize) {
        self.lock().push_back((job, bytes));
        self.filled.notify_one();
    }

    /// Runs a function on the reader's thread and waits for its result; `None` if the queue is closed.
    pub(super) fn task<T: Send + 'static>(&self, task: impl FnOnce(&mut W) -> T + Send + 'static) -> Option<T> {
        let (done, answer) = channel();
        if self.progress.is_closed() {
            return None;
        }
        // The caller waits below.
        let run = move |worker: &mut W| drop(done.send(task(worker)));
        self.put(Job::Task(Box::new(run)), 0);
        answer.recv().ok()
    }

    /// Takes all jobs; waits for the first one, at most as long as `retry` (`None`: without limit).
    pub(super) fn take(&self, retry: Option<Duration>) -> Jobs<W> {
        let mut jobs = self.lock();
        while jobs.is_empty() {
            match retry {
                None => jobs = self.filled.wait(jobs).unwrap_or_else(PoisonError::into_inner),
                Some(retry) => {
                    jobs = self.filled.wait_timeout(jobs, retry).unwrap_or_else(PoisonError::into_inner).0;
                    break;
                }
            }
        }
        std::mem::take(&mut *jobs)
    }

    /// Whether the queue is empty; it stays empty only while the caller holds the lock on the master engine.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().is_empty()
    }
}
