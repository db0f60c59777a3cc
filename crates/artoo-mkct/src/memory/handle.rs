//! Opening and closing a memory, and its threads.

use std::{
    collections::HashMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
};

use crate::{
    journal::{Damage, repair},
    memory::{
        distil::DistillerRunner,
        dreamer::{Command, Dreamer},
        error::{Durability, DurabilityError, MaintenanceError, OpenError},
        folder,
        options::Options,
        report::OpenSummary,
        writer::{JournalWriter, Shared},
    },
};

/// Number of milliseconds in a day.
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1_000;

/// An open memory. It can be shared by reference between threads.
pub struct Memory {
    pub(super) shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    pub(super) dreamer: Option<(Sender<Command>, JoinHandle<()>)>,
    /// Whether [`Command::TaskEnded`] was sent and not received yet.
    pub(super) task_ended: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    pub(super) guest: bool,
    pub(super) reopen: Reopen,
}

/// Folder and settings of a guest's memory, so that the guest can merge its journal when it closes.
pub(super) struct Reopen {
    folder: PathBuf,
    pub(super) options: Options,
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
    /// Opens or creates the memory in a folder.
    ///
    /// If another process has the lock of the memory, this process is a guest: it reads what existed then, and writes
    /// to a journal of its own, which is merged later.
    ///
    /// # Errors
    /// [`OpenError`] when the folder cannot be used, or the journal is damaged and [`Options::on_damage`] is to refuse;
    /// then no byte of the journal has changed.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, OpenSummary), OpenError> {
        let folder = folder.as_ref();
        let opened = folder::open(folder, &options)?;
        let mut summary = opened.summary.clone();
        let guest = opened.role.is_guest();
        let shared = Arc::new(Shared::new(opened.engine.clone(), &options));
        let mut writer = JournalWriter::new(opened, Arc::clone(&shared), options.snapshot_tail_bytes);
        // Before the thread starts, so that opening need not wait for it. Journals that cannot be merged now
        // are merged later.
        summary.adopted = writer.adopt_inbox().unwrap_or_default();
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        let thread = thread::Builder::new().name("mkct-journal".to_owned()).spawn(move || writer.run());
        let mut memory = Self {
            shared,
            writer: Some(thread.map_err(failed)?),
            dreamer: None,
            task_ended: Arc::new(AtomicBool::new(false)),
            stopping: Arc::new(AtomicBool::new(false)),
            guest,
            reopen: Reopen { folder: folder.to_owned(), options },
        };
        if !guest {
            memory.dreamer = Some(memory.spawn_dreamer().map_err(failed)?);
        }
        Ok((memory, summary))
    }

    /// Starts the thread of the Dreamer.
    fn spawn_dreamer(&self) -> io::Result<(Sender<Command>, JoinHandle<()>)> {
        let options = &self.reopen.options;
        let distiller_runner = options.distiller.as_ref().map(|distiller| {
            DistillerRunner::new(Arc::clone(distiller), options.distil_timeout, Arc::clone(&self.stopping))
        });
        let dreamer = Dreamer {
            shared: Arc::clone(&self.shared),
            clock: Arc::clone(&options.clock),
            task_ended: Arc::clone(&self.task_ended),
            stopping: Arc::clone(&self.stopping),
            distiller_runner,
            times: options.dream,
            keep_deleted_ms: i64::from(options.keep_deleted_days) * MILLIS_PER_DAY,
            failed: HashMap::new(),
        };
        let (commands, receiver) = channel();
        let thread = thread::Builder::new().name("mkct-dreamer".to_owned()).spawn(move || dreamer.run(&receiver))?;
        Ok((commands, thread))
    }

    /// Stops the Dreamer, writes and syncs pending writes, and closes the memory.
    ///
    /// # Errors
    /// [`DurabilityError`] when an accepted write could not be written.
    pub fn close(mut self) -> Result<(), DurabilityError> {
        self.shut()
    }

    /// Stops the threads; returns whether all accepted writes are synced.
    fn shut(&mut self) -> Result<(), DurabilityError> {
        self.stopping.store(true, Ordering::Release);
        if let Some((commands, thread)) = self.dreamer.take() {
            let _ = commands.send(Command::Stop);
            // If the Dreamer panicked, nothing is lost.
            let _ = thread.join();
        }
        let Some(thread) = self.writer.take() else { return Ok(()) };
        let finished = self.task(JournalWriter::finish);
        self.shared.queue.progress.close();
        let _ = thread.join();
        let closed = DurabilityError::Closed { durability: Durability::Synced };
        let kept = match finished {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(DurabilityError::Journal { durability: Durability::Synced, retried: false, source }),
            Err(_) => Err(closed),
        };
        if self.guest {
            self.hand_over();
        }
        kept
    }

    /// Merges the journal of a guest into the memory if no process has the lock any more; otherwise the process with
    /// the lock merges it.
    fn hand_over(&self) {
        let options = Options { dream: None, observer: None, ..self.reopen.options.clone() };
        let holder = folder::open_if_free(&self.reopen.folder, &options);
        if let Ok(Some(opened)) = holder {
            let shared = Arc::new(Shared::new(opened.engine.clone(), &options));
            let mut writer = JournalWriter::new(opened, shared, options.snapshot_tail_bytes);
            // Frames that cannot be merged now stay in the journal of the guest.
            let _ = writer.finish();
        }
    }

    /// Runs a task on the thread that writes the journal, and waits for its result.
    pub(super) fn task<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut JournalWriter) -> T + Send + 'static,
    ) -> Result<T, MaintenanceError> {
        self.shared.queue.task(task).ok_or(MaintenanceError::Closed)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Call `close` instead of dropping to get the error.
        let _ = self.shut();
    }
}

/// Lists the damage in the journal of a folder, without opening or changing it.
///
/// # Errors
/// [`OpenError::Journal`] if there is no journal, or the journal cannot be read.
pub fn inspect(folder: &Path, options: &Options) -> Result<Damage, OpenError> {
    let files = folder::MemoryFiles::new(&options.disk, folder);
    Ok(repair::inspect(options.disk.as_ref(), &files.journal())?)
}
