//! Opening a memory, the threads behind it, and closing it.

use std::{
    collections::HashMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
};

use crate::{
    IndexChoice,
    service::{
        IndexStatus, MaintenanceError, NotKept, OpenError, OpenSummary, Options, Promise,
        distil::Asker,
        dreamer::{Call, Dreamer},
        folder,
        indexing::{Indexer, Source},
        keeper::{Keeper, Shared},
    },
};

const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1_000;

/// An open memory; shared by reference between threads.
pub struct Memory {
    pub(super) shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
    pub(super) dreamer: Option<(Sender<Call>, JoinHandle<()>)>,
    /// A task ended that the Dreamer has not heard of yet: one call says it for any number.
    pub(super) task_ended: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    pub(super) index: Option<Arc<Mutex<IndexStatus>>>,
    pub(super) guest: bool,
    reopen: Reopen,
}

/// What a guest needs to become the holder once it closes.
struct Reopen {
    folder: PathBuf,
    options: Options,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("folder", &self.reopen.folder)
            .field("guest", &self.guest)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// Opens or makes the memory in a folder.
    ///
    /// Where another process holds it, this one works all the same: it reads what was there and writes to a journal of
    /// its own, which the holder, or whoever comes next, takes in.
    ///
    /// # Errors
    /// [`OpenError`] where the folder cannot be used, or the journal is damaged and [`Options::on_damage`] says to
    /// refuse it; then not a byte of it changed.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, OpenSummary), OpenError> {
        let folder = folder.as_ref();
        let opened = folder::open(folder, &options)?;
        let mut summary = opened.summary.clone();
        let guest = opened.role.is_guest();
        let shared = Arc::new(Shared::new(opened.engine.clone(), options.max_queued_bytes));
        let status = Arc::new(Mutex::new(IndexStatus::default()));
        let opener = if guest { None } else { options.index.opener() };
        let index = opener.and_then(|open| {
            let source = Source {
                disk: Arc::clone(&options.disk),
                folder: opened.home.index(),
                open,
                file: Arc::clone(opened.journal.file()),
                generation: opened.journal.generation(),
                end: opened.journal.synced(),
            };
            // Whatever made it necessary to read the journal anew makes the index doubtful too.
            Indexer::spawn(source, Arc::clone(&status))
        });
        let has_index = index.is_some();
        let erased = summary.erasures_finished > 0 || summary.damage.is_some();
        if let Some(index) = index.as_ref().filter(|_| erased) {
            index.wipe().map_err(|source| OpenError::Io { path: folder.to_owned(), source })?;
        }
        let mut keeper = Keeper::new(opened, Arc::clone(&shared), index, options.snapshot_tail_bytes);
        // Before its thread runs: whoever opens a memory need not wait for that to be woken. What can't be taken in now
        // stays where it is for another time.
        summary.taken_in = keeper.take_in().unwrap_or_default();
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        let thread = thread::Builder::new().name("mkct-journal".to_owned()).spawn(move || keeper.run());
        let mut memory = Self {
            shared,
            keeper: Some(thread.map_err(failed)?),
            dreamer: None,
            task_ended: Arc::new(AtomicBool::new(false)),
            stopping: Arc::new(AtomicBool::new(false)),
            index: has_index.then_some(status),
            guest,
            reopen: Reopen { folder: folder.to_owned(), options },
        };
        if !guest {
            memory.dreamer = Some(memory.spawn_dreamer().map_err(failed)?);
        }
        Ok((memory, summary))
    }

    fn spawn_dreamer(&self) -> io::Result<(Sender<Call>, JoinHandle<()>)> {
        let options = &self.reopen.options;
        let asker = options
            .distiller
            .as_ref()
            .map(|distiller| Asker::new(Arc::clone(distiller), options.distil_timeout, Arc::clone(&self.stopping)));
        let dreamer = Dreamer {
            shared: Arc::clone(&self.shared),
            clock: Arc::clone(&options.clock),
            task_ended: Arc::clone(&self.task_ended),
            stopping: Arc::clone(&self.stopping),
            asker,
            times: options.dream,
            keep_deleted_ms: i64::from(options.keep_deleted_days) * MILLIS_PER_DAY,
            failed: HashMap::new(),
        };
        let (calls, receiver) = channel();
        let thread = thread::Builder::new().name("mkct-dreamer".to_owned()).spawn(move || dreamer.run(&receiver))?;
        Ok((calls, thread))
    }

    /// Stops the Dreamer, writes and syncs what is left, and closes everything.
    ///
    /// # Errors
    /// [`NotKept`] where something accepted could not be written.
    pub fn close(mut self) -> Result<(), NotKept> {
        self.shut()
    }

    fn shut(&mut self) -> Result<(), NotKept> {
        self.stopping.store(true, Ordering::Release);
        if let Some((calls, thread)) = self.dreamer.take() {
            let _ = calls.send(Call::Stop);
            // A Dreamer that panicked has nothing to hand over.
            let _ = thread.join();
        }
        let Some(thread) = self.keeper.take() else { return Ok(()) };
        let finished = self.task(Keeper::finish);
        self.shared.queue.close();
        let _ = thread.join();
        let closed = NotKept::Closed { promise: Promise::Synced };
        let kept = match finished {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(NotKept::Journal { promise: Promise::Synced, retried: false, source }),
            Err(_) => Err(closed),
        };
        if self.guest {
            self.hand_over();
        }
        kept
    }

    /// A guest whose holder is gone takes its own journal in; where it is not, that one will.
    fn hand_over(&self) {
        let options = Options { index: IndexChoice::None, dream: None, ..self.reopen.options.clone() };
        let holder = folder::open_if_free(&self.reopen.folder, &options);
        if let Ok(Some(opened)) = holder {
            let shared = Arc::new(Shared::new(opened.engine.clone(), options.max_queued_bytes));
            let mut keeper = Keeper::new(opened, shared, None, options.snapshot_tail_bytes);
            // What fails here is still in its journal.
            let _ = keeper.finish();
        }
    }

    /// Has the journal's thread do something, and waits for it.
    pub(super) fn task<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Keeper) -> T + Send + 'static,
    ) -> Result<T, MaintenanceError> {
        self.shared.queue.task(task).ok_or(MaintenanceError::Closed)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Whoever wants to know closes it.
        let _ = self.shut();
    }
}
