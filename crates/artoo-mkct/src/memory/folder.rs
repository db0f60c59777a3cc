//! The files of a memory, and opening them.
//!
//! `memory.lock` is locked by one process (the *holder*; other processes that open the memory are *guests*);
//! `memory.journal` is authoritative; `memory.snapshot` makes most of its replay unnecessary; `memory.inbox/` has the
//! journals of guests until the holder merges them; `memory.erasing` is an erasure in progress.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{
    disk::{Disk, DiskFile, LockedFile, OpenMode},
    engine::Engine,
    journal::{
        self, Journal, JournalError, JournalStep,
        erase::{self, Intent},
        repair, scan, seal, snapshot,
        source::{OWN, Sources},
    },
    memory::{
        error::OpenError,
        options::{DamagePolicy, Options},
        report::OpenSummary,
    },
    record::{DeletionReason, Frame, Offset},
};

/// How often a guest (a process without the memory's lock) tries to read the journal while the lock's holder writes to
/// it.
const GUEST_ATTEMPTS: usize = 5;

/// Time between two attempts of a guest (a process without the memory's lock) to read the journal.
const GUEST_PAUSE: Duration = Duration::from_millis(5);

/// How often a guest (a process without the lock) tries to create its own journal, since the lock's holder may remove
/// the new file as abandoned.
const NAME_ATTEMPTS: usize = 100;

/// The paths of the files of a memory, and the disk they are on.
#[derive(Debug, Clone)]
pub(super) struct MemoryFiles {
    pub(super) disk: Arc<dyn Disk>,
    folder: PathBuf,
}

/// The role of this process: holder of the memory's lock, or guest.
#[derive(Debug)]
pub(super) enum Role {
    /// This process holds the memory's lock and writes the main journal.
    Holder(#[expect(dead_code, reason = "released when dropped")] LockedFile),
    /// Another process holds the lock; this one reads that process's journal (`main`) and writes one of its own.
    Guest { main: Arc<dyn DiskFile> },
}

/// An open memory before its threads are started.
#[derive(Debug)]
pub(super) struct Opened {
    /// The paths of the files.
    pub(super) files: MemoryFiles,
    /// Whether this process is the holder or a guest.
    pub(super) role: Role,
    /// The journal that this process writes.
    pub(super) journal: Journal,
    /// The engine as `memory.journal` has it: the snapshot and the frames after it. The journals of guests are merged
    /// later.
    pub(super) engine: Engine,
    /// What opening found, for the caller.
    pub(super) summary: OpenSummary,
    /// Offset in the journal up to which the snapshot contains all changes; 0 without a snapshot.
    pub(super) snapshot_end: u64,
}

impl MemoryFiles {
    /// The files of the memory in a folder on this disk.
    pub(super) fn new(disk: &Arc<dyn Disk>, folder: &Path) -> Self {
        Self { disk: Arc::clone(disk), folder: folder.to_owned() }
    }

    /// Path of the journal.
    pub(super) fn journal(&self) -> PathBuf {
        self.folder.join("memory.journal")
    }

    /// Path of the snapshot.
    pub(super) fn snapshot(&self) -> PathBuf {
        self.folder.join("memory.snapshot")
    }

    /// Path of the LevelDB index that earlier versions wrote; `None` if it does not exist or is empty.
    fn old_index(&self) -> Option<PathBuf> {
        let path = self.folder.join("memory.index");
        self.disk.list(&path).is_ok_and(|names| !names.is_empty()).then_some(path)
    }

    /// Path of the folder with the journals of guests.
    pub(super) fn inbox(&self) -> PathBuf {
        self.folder.join("memory.inbox")
    }

    /// Path of the file that lists the records of an erasure in progress.
    pub(super) fn erasing(&self) -> PathBuf {
        self.folder.join("memory.erasing")
    }

    /// Locks the memory; `None` if another process has the lock.
    fn lock(&self) -> io::Result<Option<LockedFile>> {
        LockedFile::lock(self.disk.open(&self.folder.join("memory.lock"), OpenMode::Write)?)
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        match self.disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Paths of the journals of guests, sorted by name.
    pub(super) fn inbox_journals(&self) -> Vec<PathBuf> {
        let inbox = self.inbox();
        let names = self.disk.list(&inbox).unwrap_or_default();
        let journals = names.into_iter().filter(|name| name.extension().is_some_and(|kind| kind == "journal"));
        let mut paths: Vec<PathBuf> = journals.map(|name| inbox.join(name)).collect();
        paths.sort_unstable();
        paths
    }

    /// Turns an error of the system for a path into an `OpenError`.
    fn step<'a>(&'a self, path: &'a Path) -> impl FnOnce(io::Error) -> OpenError + 'a {
        |source| OpenError::Io { path: path.to_owned(), source }
    }
}

/// Opens a memory: as its holder if no other process has the lock, otherwise as a guest.
pub(super) fn open(folder: &Path, options: &Options) -> Result<Opened, OpenError> {
    let files = MemoryFiles::new(&options.disk, folder);
    files.disk.create_folder(folder).map_err(files.step(folder))?;
    let mut opened = match files.lock().map_err(files.step(folder))? {
        Some(lock) => open_as_holder(files, lock, options)?,
        None => open_as_guest(files)?,
    };
    opened.engine.set_writer_salt(random());
    Ok(opened)
}

/// Opens a memory as its holder; `None` if another process has the lock.
pub(super) fn open_if_free(folder: &Path, options: &Options) -> Result<Option<Opened>, OpenError> {
    let files = MemoryFiles::new(&options.disk, folder);
    let lock = files.lock().map_err(files.step(folder))?;
    lock.map(|lock| open_as_holder(files, lock, options)).transpose()
}

/// Opens a memory as its holder: finishes an erasure, reads the journal, and repairs it if that is the policy.
fn open_as_holder(files: MemoryFiles, lock: LockedFile, options: &Options) -> Result<Opened, OpenError> {
    let (path, snapshot) = (files.journal(), files.snapshot());
    for leftover in [&path, &snapshot, &files.erasing()] {
        files.remove(&seal::beside(leftover)).map_err(files.step(leftover))?;
    }
    let erasing = finish_overwriting(&files).map_err(files.step(&files.erasing()))?;
    let mut summary = OpenSummary { old_index: files.old_index(), ..OpenSummary::default() };
    let read = match read_as_holder(&files, &mut summary) {
        Err(JournalError::Corrupt { .. } | JournalError::NotAJournal { .. })
            if options.on_damage == DamagePolicy::Repair =>
        {
            // The erasure is finished, and its offsets are not valid for the repaired journal.
            erase::done(files.disk.as_ref(), &files.erasing()).map_err(files.step(&files.erasing()))?;
            let damage = repair::repair(files.disk.as_ref(), &path)?;
            summary = OpenSummary { damage: Some(damage), old_index: summary.old_index, ..OpenSummary::default() };
            read_as_holder(&files, &mut summary)
        }
        read => read,
    };
    let (mut journal, mut engine, snapshot_end) = read?;
    engine.attach(Arc::new(Sources { main: Arc::clone(journal.file()), own: None }));
    if let Some(intent) = erasing {
        summary.erasures_finished = intent.bodies.len();
        let ids = intent.bodies.iter().map(|body| body.id).collect();
        let frame = Frame::Deleted { ids, at_ms: intent.at_ms, reason: DeletionReason::Forgotten };
        // If the record was forgotten already, this changes nothing.
        let _ = engine.apply(&frame);
        journal.append(&[frame])?;
        journal.sync()?;
        erase::done(files.disk.as_ref(), &files.erasing()).map_err(files.step(&files.erasing()))?;
    }
    Ok(Opened { files, role: Role::Holder(lock), journal, engine, summary, snapshot_end })
}

/// Finishes overwriting the records of an earlier process's erasure and returns their list; `None` if no erasure was
/// pending. Removes the snapshot first, which may contain their texts.
fn finish_overwriting(files: &MemoryFiles) -> io::Result<Option<Intent>> {
    let Some(intent) = erase::pending(files.disk.as_ref(), &files.erasing()) else {
        return files.remove(&files.erasing()).map(|()| None);
    };
    files.remove(&files.snapshot())?;
    let file = files.disk.open(&files.journal(), OpenMode::Write)?;
    erase::overwrite(file.as_ref(), &intent)?;
    Ok(Some(intent))
}

/// Opens the journal and replays it, from the snapshot's position on if there is one; returns journal, engine and that
/// position (0 without a snapshot).
fn read_as_holder(files: &MemoryFiles, summary: &mut OpenSummary) -> Result<(Journal, Engine, u64), JournalError> {
    let path = files.journal();
    let saved = files.disk.open(&path, OpenMode::Read).ok().and_then(|file| {
        summary.missing_bytes = snapshot::missing_bytes(files.disk.as_ref(), &files.snapshot(), file.as_ref());
        let source = Arc::new(Sources { main: Arc::clone(&file), own: None });
        snapshot::load(files.disk.as_ref(), &files.snapshot(), &file, source)
    });
    summary.from_snapshot = saved.is_some();
    let (mut engine, resume) = saved.map_or_else(|| (Engine::new(), None), |(engine, resume)| (engine, Some(resume)));
    let mut refused = 0;
    let (journal, report) = Journal::open_from(files.disk.as_ref(), &path, resume, &mut |at, frame| {
        refused += usize::from(engine.apply_at(&frame, at).is_err());
    })?;
    summary.created = report.created;
    summary.frames = report.frames;
    summary.refused_frames = refused;
    summary.truncated_tail_bytes = report.truncated_tail_bytes;
    Ok((journal, engine, resume.map_or(0, |resume| resume.offset.0)))
}

/// Opens a memory as a guest; retries, since the holder may be writing.
fn open_as_guest(files: MemoryFiles) -> Result<Opened, OpenError> {
    let mut summary = OpenSummary { guest: true, ..OpenSummary::default() };
    let mut attempt = read_as_guest(&files, &mut summary);
    for _ in 1..GUEST_ATTEMPTS {
        if attempt.is_ok() {
            break;
        }
        std::thread::sleep(GUEST_PAUSE);
        attempt = read_as_guest(&files, &mut summary);
    }
    let (main, mut engine) = attempt?;
    let journal = own_journal(&files)?;
    engine.attach(Arc::new(Sources { main: Arc::clone(&main), own: Some(Arc::clone(journal.file())) }));
    Ok(Opened { files, role: Role::Guest { main }, journal, engine, summary, snapshot_end: 0 })
}

/// Replays the journal of the holder without changing the journal.
fn read_as_guest(files: &MemoryFiles, summary: &mut OpenSummary) -> Result<(Arc<dyn DiskFile>, Engine), JournalError> {
    let path = files.journal();
    let at = |step| JournalError::at(&path, step);
    let file = match files.disk.open(&path, OpenMode::Read) {
        // The holder is about to create the journal, and accepts an empty file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => files.disk.open(&path, OpenMode::Write),
        opened => opened,
    };
    let file = file.map_err(at(JournalStep::Open))?;
    let source = Arc::new(Sources { main: Arc::clone(&file), own: None });
    let saved = snapshot::load(files.disk.as_ref(), &files.snapshot(), &file, source);
    summary.from_snapshot = saved.is_some();
    let (mut engine, from) =
        saved.map_or_else(|| (Engine::new(), Offset(0)), |(engine, resume)| (engine, resume.offset));
    let length = file.length().map_err(at(JournalStep::Read))?;
    let mut refused = 0;
    let scanned = scan::scan(file.as_ref(), &path, from, length, &mut |at, frame| {
        refused += usize::from(engine.apply_at(&frame, at).is_err());
    })?;
    summary.frames = scanned.frames;
    summary.refused_frames = refused;
    Ok((file, engine))
}

/// Creates the own journal of a guest, under a random name in the inbox.
fn own_journal(files: &MemoryFiles) -> Result<Journal, OpenError> {
    let inbox = files.inbox();
    files.disk.create_folder(&inbox).map_err(files.step(&inbox))?;
    for _ in 0..NAME_ATTEMPTS {
        let path = inbox.join(format!("{:016x}.journal", random()));
        match Journal::open_from(files.disk.as_ref(), &path, None, &mut |_, _| {}) {
            // The holder may have removed the new file as abandoned.
            Ok((journal, report)) if report.created && files.inbox_journals().contains(&path) => {
                return Ok(journal);
            }
            Ok(_) | Err(JournalError::Locked { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(OpenError::Journal(JournalError::Locked { path: inbox }))
}

impl Role {
    /// Whether this process is a guest, i.e. another process has the lock.
    pub(super) fn is_guest(&self) -> bool {
        matches!(self, Self::Guest { .. })
    }

    /// Turns an offset in this process's own journal into the offset that the engine stores (marked in a guest).
    pub(super) fn place(&self, at: Offset) -> Offset {
        if self.is_guest() { Offset(at.0 | OWN) } else { at }
    }

    /// The journals from which this process reads the texts of records.
    pub(super) fn sources(&self, journal: &Journal) -> Sources {
        match self {
            Self::Holder(_) => Sources { main: Arc::clone(journal.file()), own: None },
            Self::Guest { main } => Sources { main: Arc::clone(main), own: Some(Arc::clone(journal.file())) },
        }
    }
}

/// A random number that two processes are unlikely to have in common, for the name of a guest's journal and for new
/// ids.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// Reads the valid frames of a guest's journal; the boolean says whether the journal is damaged.
pub(super) fn read_inbox_journal(
    files: &MemoryFiles,
    file: &LockedFile,
    path: &Path,
) -> Result<(Vec<Frame>, bool), JournalError> {
    let mut frames = Vec::new();
    let length = file.file().length().map_err(JournalError::at(path, JournalStep::Read))?;
    match scan::scan(file.file().as_ref(), path, Offset(0), length, &mut |_, frame| frames.push(frame)) {
        Ok(_) => Ok((frames, false)),
        Err(JournalError::Corrupt { .. } | JournalError::NotAJournal { .. }) => {
            // Also read the valid frames after the damage.
            let repaired = repair::repair(files.disk.as_ref(), path);
            if repaired.is_ok() {
                frames.clear();
                journal::replay(files.disk.as_ref(), path, Offset(0), &mut |_, frame| frames.push(frame))?;
            }
            Ok((frames, true))
        }
        Err(error) => Err(error),
    }
}
