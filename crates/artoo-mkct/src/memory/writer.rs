//! The journal's thread: appends, syncs and settles; the only one that writes.

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
        queue::{Job, Queue},
    },
    record::{Frame, MegramId, Offset},
};

/// Bytes of frames that are written and synced at once: a batch this large is as fast per byte as any larger one.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Time between two attempts to write what a full disk refused.
const RETRY: Duration = Duration::from_millis(500);

/// Ids of one deletion that are applied at once: a few hundred microseconds of the writers' time.
pub(super) const MAX_IDS_AT_ONCE: usize = 512;

/// What the threads share.
pub(super) struct Shared {
    /// What readers see; replaced, never waited for.
    published: RwLock<Arc<Engine>>,
    /// What writers change.
    master: Mutex<Engine>,
    pub(super) queue: Arc<Queue<JournalWriter>>,
    /// How far the time of the last write was from the clock then, milliseconds.
    pub(super) write_gap_ms: AtomicI64,
}

impl Shared {
    pub(super) fn new(engine: Engine, max_queued_bytes: usize) -> Self {
        Self {
            published: RwLock::new(Arc::new(engine.clone())),
            master: Mutex::new(engine),
            queue: Arc::new(Queue::new(max_queued_bytes)),
            write_gap_ms: AtomicI64::new(0),
        }
    }

    /// The engine as it stands.
    pub(super) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn master(&self) -> MutexGuard<'_, Engine> {
        self.master.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn publish(&self, master: &Engine) {
        let engine = Arc::new(master.clone());
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = engine;
    }
}

/// The journal and everything that moves with it.
pub(super) struct JournalWriter {
    pub(super) shared: Arc<Shared>,
    pub(super) home: MemoryFiles,
    pub(super) role: Role,
    pub(super) journal: Journal,
    pub(super) snapshot_end: u64,
    pub(super) snapshot_tail_bytes: u64,
    pub(super) last_compaction_ms: Option<i64>,
    pub(super) last_look_ms: Option<i64>,
    pub(super) pending: PendingFrames,
    finished: bool,
}

/// Frames on their way into the journal.
#[derive(Default)]
pub(super) struct PendingFrames {
    pub(super) frames: Vec<Frame>,
    writes: u64,
    bytes: usize,
}

impl JournalWriter {
    pub(super) fn new(opened: folder::Opened, shared: Arc<Shared>, tail_bytes: u64) -> Self {
        Self {
            shared,
            home: opened.home,
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

    /// Works until it is told to finish.
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

    /// Remembers that rules were recalled; a rule that went in between is no longer spoken of.
    fn apply_recalls(&mut self, frames: Vec<Frame>) {
        let mut master = self.shared.master();
        let applied: Vec<Frame> = frames.into_iter().filter(|frame| master.apply(frame).is_ok()).collect();
        self.pending.frames.extend(applied);
    }

    /// Appends what is pending and waits for the disk; what fails stays pending.
    fn write_out(&mut self) {
        if !self.journal.is_failed() {
            // Who waits for these writes hears of an error from the queue.
            let _ = self.flush();
        }
    }

    fn append_pending(&mut self) -> Result<(), JournalError> {
        let mut encoded = Encoded::default();
        for frame in &self.pending.frames {
            encoded.frame(frame).map_err(|problem| problem.at(self.journal.path()))?;
        }
        let base = self.journal.append_encoded(&encoded)?;
        let PendingFrames { frames, writes, bytes } = std::mem::take(&mut self.pending);
        self.shared.queue.progress.advance(Durability::Acknowledged, writes, bytes);
        // Where this fails the journal takes no more, so nothing is written twice.
        self.journal.sync()?;
        self.shared.queue.progress.advance(Durability::Synced, 0, 0);
        self.drop_texts(frames.iter().zip(encoded.places(base)).filter_map(|(frame, at)| Some((recorded(frame)?, at))));
        Ok(())
    }

    /// Lets the engine forget the texts that the journal has now.
    fn drop_texts(&self, places: impl Iterator<Item = (MegramId, Offset)>) {
        let mut master = self.shared.master();
        for (id, at) in places {
            master.set_offset(id, self.role.place(at));
        }
        if self.shared.queue.is_idle() {
            self.shared.publish(&master);
        }
    }

    /// Puts frames through the engine and into the journal.
    pub(super) fn accept(&mut self, frames: Vec<Frame>) -> Result<usize, Arc<JournalError>> {
        let mut master = self.shared.master();
        let applied: Vec<Frame> = frames.into_iter().filter(|frame| master.apply(frame).is_ok()).collect();
        self.shared.publish(&master);
        drop(master);
        let count = applied.len();
        self.pending.frames.extend(applied);
        self.flush()?;
        Ok(count)
    }

    /// Writes what is pending; an error where any of it stays pending.
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

    /// Writes, syncs, takes in and saves what there is; the last thing a writer does.
    pub(super) fn finish(&mut self) -> Result<(), Arc<JournalError>> {
        self.finished = true;
        let flushed = self.flush();
        let taken = self.adopt_inbox().map(drop);
        // A copy: where it cannot be saved, the next opening reads the journal.
        let _ = self.save_snapshot_if_worth();
        let failed = if self.journal.is_failed() {
            Err(Arc::new(JournalError::Failed { path: self.journal.path().to_owned() }))
        } else {
            Ok(())
        };
        flushed.and(taken).and(failed)
    }
}

/// The record that a frame adds.
pub(super) fn recorded(frame: &Frame) -> Option<MegramId> {
    match frame {
        Frame::Written { megram: record } | Frame::Promoted { rule: record, .. } => Some(record.id),
        Frame::Recalled { .. }
        | Frame::Demoted { .. }
        | Frame::Deleted { .. }
        | Frame::Marked { .. }
        | Frame::Attempted { .. } => None,
    }
}
