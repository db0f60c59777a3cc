//! The thread that writes the journal.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, atomic::AtomicI64},
    time::Duration,
};

use crate::{
    engine::Engine,
    journal::{Journal, JournalError, format::Encoded},
    memory::{
        error::Durability,
        folder::{self, MemoryFiles, Role},
        options::{Observer, Options},
        queue::{Job, Queue},
    },
    record::{Frame, MegramId, Offset},
};

/// Number of bytes of pending frames at which they are written and synced; larger batches are not faster.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Time between two attempts to write pending frames to a disk that failed, e.g. because it is full.
const RETRY: Duration = Duration::from_millis(500);

/// Most ids of one deletion that are applied at once, which blocks writers for some hundred microseconds.
pub(super) const MAX_IDS_AT_ONCE: usize = 512;

/// The engine and the queue, shared by all threads of a memory.
pub(super) struct Shared {
    /// The engine that readers see; it is replaced, never changed.
    published: RwLock<Arc<Engine>>,
    /// The engine that writers change.
    master: Mutex<Engine>,
    pub(super) queue: Arc<Queue<JournalWriter>>,
    /// Time given with the last write minus the clock's time then, milliseconds.
    pub(super) write_gap_ms: AtomicI64,
    observer: Option<Arc<dyn Observer>>,
}

impl Shared {
    /// The shared state of a memory that begins with this engine.
    pub(super) fn new(engine: Engine, options: &Options) -> Self {
        Self {
            published: RwLock::new(Arc::new(engine.clone())),
            master: Mutex::new(engine),
            queue: Arc::new(Queue::new(options.max_queued_bytes)),
            write_gap_ms: AtomicI64::new(0),
            observer: options.observer.clone(),
        }
    }

    /// Tells the observer about changes; no lock may be held.
    pub(super) fn tell(&self, frames: &[Frame]) {
        if let Some(observer) = self.observer.as_ref().filter(|_| !frames.is_empty()) {
            observer.changed(frames);
        }
    }

    /// The engine with all published changes, which queries read.
    pub(super) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks the engine that writes are applied to, before they are published to readers.
    pub(super) fn master(&self) -> MutexGuard<'_, Engine> {
        self.master.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the changes of the master engine visible to readers.
    pub(super) fn publish(&self, master: &Engine) {
        let engine = Arc::new(master.clone());
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = engine;
    }
}

/// The state of the thread that writes the journal.
pub(super) struct JournalWriter {
    pub(super) shared: Arc<Shared>,
    pub(super) files: MemoryFiles,
    pub(super) role: Role,
    pub(super) journal: Journal,
    /// Offset in the journal up to which the snapshot contains all changes; 0 without a snapshot.
    pub(super) snapshot_end: u64,
    /// Number of bytes that the journal grows after a snapshot before a new one is saved.
    pub(super) snapshot_tail_bytes: u64,
    /// When the journal was last compacted, Unix milliseconds; at first, when that was first checked.
    pub(super) last_compaction_ms: Option<i64>,
    /// When the whole journal was last checked, Unix milliseconds.
    pub(super) last_look_ms: Option<i64>,
    /// Frames that are not in the journal yet.
    pub(super) pending: PendingFrames,
    /// Whether the thread is to end.
    finished: bool,
}

/// Frames that are to be written to the journal, with their counts.
#[derive(Default)]
pub(super) struct PendingFrames {
    pub(super) frames: Vec<Frame>,
    /// Number of accepted writes among the frames.
    writes: u64,
    /// Number of bytes that the frames take in the queue.
    bytes: usize,
}

impl JournalWriter {
    /// The state of the journal's thread for a memory that was just opened.
    pub(super) fn new(opened: folder::Opened, shared: Arc<Shared>, tail_bytes: u64) -> Self {
        Self {
            shared,
            files: opened.files,
            role: opened.role,
            journal: opened.journal,
            snapshot_end: opened.snapshot_end,
            snapshot_tail_bytes: tail_bytes,
            last_compaction_ms: None,
            last_look_ms: None,
            pending: PendingFrames::default(),
            finished: false,
        }
    }

    /// Runs jobs of the queue until [`JournalWriter::finish`].
    pub(super) fn run(mut self) {
        while !self.finished {
            let retry = (!self.pending.frames.is_empty()).then_some(RETRY);
            for (job, bytes) in self.shared.queue.take(retry) {
                match job {
                    Job::Frames(frames) => {
                        self.pending.writes += frames.len() as u64;
                        self.pending.frames.extend(frames);
                    }
                    Job::Recalls(frames) => self.apply_recalls(frames),
                    Job::Task(task) => {
                        self.write_out();
                        task(&mut self);
                    }
                }
                self.pending.bytes += bytes;
                if self.pending.bytes >= MAX_BATCH_BYTES {
                    self.write_out();
                }
            }
            self.write_out();
        }
    }

    /// Applies recalls and adds them to the pending frames.
    fn apply_recalls(&mut self, frames: Vec<Frame>) {
        let mut master = self.shared.master();
        let applied: Vec<Frame> = frames.into_iter().filter(|frame| master.apply(frame).is_ok()).collect();
        self.pending.frames.extend(applied);
    }

    /// Writes and syncs pending frames, if the journal has not failed; on an error they stay pending.
    fn write_out(&mut self) {
        if !self.journal.is_failed() {
            // Callers that wait for these writes get the error from their receipts.
            let _ = self.flush();
        }
    }

    /// Writes and syncs pending frames, and reports both to the receipts.
    fn append_pending(&mut self) -> Result<(), JournalError> {
        let mut encoded = Encoded::default();
        for frame in &self.pending.frames {
            encoded.frame(frame).map_err(|problem| problem.at(self.journal.path()))?;
        }
        let base = self.journal.append_encoded(&encoded)?;
        let PendingFrames { frames, writes, bytes } = std::mem::take(&mut self.pending);
        self.shared.queue.progress.advance(Durability::Acknowledged, writes, bytes);
        // If this fails the journal accepts no more, so nothing is written twice.
        self.journal.sync()?;
        self.shared.queue.progress.advance(Durability::Synced, 0, 0);
        self.drop_texts(frames.iter().zip(encoded.places(base)).filter_map(|(frame, at)| Some((recorded(frame)?, at))));
        Ok(())
    }

    /// Drops the texts of records from RAM that are in the journal now.
    fn drop_texts(&self, places: impl Iterator<Item = (MegramId, Offset)>) {
        let mut master = self.shared.master();
        for (id, at) in places {
            master.set_offset(id, self.role.place(at));
        }
        if self.shared.queue.is_idle() {
            self.shared.publish(&master);
        }
    }

    /// Applies frames, skipping those that are not valid, writes them to the journal, and returns the number applied.
    pub(super) fn accept(&mut self, frames: Vec<Frame>) -> Result<usize, Arc<JournalError>> {
        let mut master = self.shared.master();
        let applied: Vec<Frame> = frames.into_iter().filter(|frame| master.apply(frame).is_ok()).collect();
        self.shared.publish(&master);
        drop(master);
        self.shared.tell(&applied);
        let count = applied.len();
        self.pending.frames.extend(applied);
        self.flush()?;
        Ok(count)
    }

    /// Writes and syncs pending frames; an error if any stay pending.
    pub(super) fn flush(&mut self) -> Result<(), Arc<JournalError>> {
        if self.pending.frames.is_empty() {
            return Ok(());
        }
        self.append_pending().map_err(|error| {
            let error = Arc::new(error);
            self.shared.queue.progress.fail(Arc::clone(&error), self.journal.is_failed());
            error
        })
    }

    /// Writes pending frames, merges the journals of guests, saves a snapshot, and ends the thread's loop.
    pub(super) fn finish(&mut self) -> Result<(), Arc<JournalError>> {
        self.finished = true;
        let flushed = self.flush();
        let taken = self.adopt_inbox().map(drop);
        // Without a snapshot the next opening replays the journal.
        let _ = self.save_snapshot_if_worth();
        let failed = if self.journal.is_failed() {
            Err(Arc::new(JournalError::Failed { path: self.journal.path().to_owned() }))
        } else {
            Ok(())
        };
        flushed.and(taken).and(failed)
    }
}

/// The id of the record that a frame adds; `None` for other frames.
pub(super) fn recorded(frame: &Frame) -> Option<MegramId> {
    let (Frame::Written { megram: record } | Frame::Promoted { rule: record, .. }) = frame else { return None };
    Some(record.id)
}
