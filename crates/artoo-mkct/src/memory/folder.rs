//! The files of one memory, and who may write which.
//!
//! `memory.lock` is locked by the process that holds the memory; `memory.journal` is the truth; `memory.snapshot` saves
//! reading it; `memory.inbox/` holds the journals of processes that came second,
//! until the holder takes them in; `memory.erasing` is an erasure under way.

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

/// Attempts of a second process to read a journal that the first is writing at this moment.
const GUEST_ATTEMPTS: usize = 5;

/// Time between two of these: a batch is written in less.
const GUEST_PAUSE: Duration = Duration::from_millis(5);

/// Attempts to make a journal of one's own that nobody took for an abandoned one.
const NAME_ATTEMPTS: usize = 100;

/// The folder of a memory.
#[derive(Debug, Clone)]
pub(super) struct MemoryFiles {
    pub(super) disk: Arc<dyn Disk>,
    folder: PathBuf,
}

/// What this process is to the memory.
#[derive(Debug)]
pub(super) enum Role {
    /// The one that writes it; the lock is kept as long as this lives.
    Holder(#[expect(dead_code, reason = "held, not read")] LockedFile),
    /// One that came second.
    Guest { main: Arc<dyn DiskFile> },
}

/// An open memory, before its threads start.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) home: MemoryFiles,
    pub(super) role: Role,
    pub(super) journal: Journal,
    pub(super) engine: Engine,
    pub(super) summary: OpenSummary,
    /// Up to where the snapshot on the disk reaches.
    pub(super) snapshot_end: u64,
}

impl MemoryFiles {
    pub(super) fn new(disk: &Arc<dyn Disk>, folder: &Path) -> Self {
        Self { disk: Arc::clone(disk), folder: folder.to_owned() }
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.folder.join("memory.journal")
    }

    pub(super) fn snapshot(&self) -> PathBuf {
        self.folder.join("memory.snapshot")
    }

    /// The folder of the LevelDB index that earlier versions kept, if it exists.
    fn old_index(&self) -> Option<PathBuf> {
        let path = self.folder.join("memory.index");
        self.disk.list(&path).is_ok_and(|names| !names.is_empty()).then_some(path)
    }

    pub(super) fn inbox(&self) -> PathBuf {
        self.folder.join("memory.inbox")
    }

    pub(super) fn erasing(&self) -> PathBuf {
        self.folder.join("memory.erasing")
    }

    fn lock(&self) -> io::Result<Option<LockedFile>> {
        LockedFile::lock(self.disk.open(&self.folder.join("memory.lock"), OpenMode::Write)?)
    }

    /// Removes a file that may not be there.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        match self.disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The journals of other processes, oldest first.
    pub(super) fn inbox_journals(&self) -> Vec<PathBuf> {
        let inbox = self.inbox();
        let names = self.disk.list(&inbox).unwrap_or_default();
        let journals = names.into_iter().filter(|name| name.extension().is_some_and(|kind| kind == "journal"));
        let mut paths: Vec<PathBuf> = journals.map(|name| inbox.join(name)).collect();
        paths.sort_unstable();
        paths
    }

    fn step<'a>(&'a self, path: &'a Path) -> impl FnOnce(io::Error) -> OpenError + 'a {
        |source| OpenError::Io { path: path.to_owned(), source }
    }
}

/// Opens a memory: as its holder where nobody else is, as a guest otherwise.
pub(super) fn open(folder: &Path, options: &Options) -> Result<Opened, OpenError> {
    let home = MemoryFiles::new(&options.disk, folder);
    home.disk.create_folder(folder).map_err(home.step(folder))?;
    let mut opened = match home.lock().map_err(home.step(folder))? {
        Some(lock) => open_as_holder(home, lock, options)?,
        None => open_as_guest(home)?,
    };
    opened.engine.set_writer_salt(random());
    Ok(opened)
}

/// Opens a memory that nobody holds; `None` where somebody does.
pub(super) fn open_if_free(folder: &Path, options: &Options) -> Result<Option<Opened>, OpenError> {
    let home = MemoryFiles::new(&options.disk, folder);
    let lock = home.lock().map_err(home.step(folder))?;
    lock.map(|lock| open_as_holder(home, lock, options)).transpose()
}

fn open_as_holder(home: MemoryFiles, lock: LockedFile, options: &Options) -> Result<Opened, OpenError> {
    let (path, snapshot) = (home.journal(), home.snapshot());
    for leftover in [&path, &snapshot, &home.erasing()] {
        home.remove(&seal::beside(leftover)).map_err(home.step(leftover))?;
    }
    let erasing = finish_overwriting(&home).map_err(home.step(&home.erasing()))?;
    let mut summary = OpenSummary { old_index: home.old_index(), ..OpenSummary::default() };
    let read = match read_as_holder(&home, &mut summary) {
        Err(JournalError::Corrupt { .. } | JournalError::NotAJournal { .. })
            if options.on_damage == DamagePolicy::Repair =>
        {
            // What is left to erase is erased; its places are not those of the repaired journal.
            erase::done(home.disk.as_ref(), &home.erasing()).map_err(home.step(&home.erasing()))?;
            let damage = repair::repair(home.disk.as_ref(), &path)?;
            summary = OpenSummary { damage: Some(damage), old_index: summary.old_index, ..OpenSummary::default() };
            read_as_holder(&home, &mut summary)
        }
        read => read,
    };
    let (mut journal, mut engine, snapshot_end) = read?;
    engine.attach(Arc::new(Sources { main: Arc::clone(journal.file()), own: None }));
    if let Some(intent) = erasing {
        summary.erasures_finished = intent.bodies.len();
        let ids = intent.bodies.iter().map(|body| body.id).collect();
        let frame = Frame::Deleted { ids, at_ms: intent.at_ms, reason: DeletionReason::Forgotten };
        // Where it was forgotten already, this changes nothing.
        let _ = engine.apply(&frame);
        journal.append(&[frame])?;
        journal.sync()?;
        erase::done(home.disk.as_ref(), &home.erasing()).map_err(home.step(&home.erasing()))?;
    }
    Ok(Opened { home, role: Role::Holder(lock), journal, engine, summary, snapshot_end })
}

/// Overwrites what an earlier process meant to erase; a snapshot may still hold it, so that goes first.
fn finish_overwriting(home: &MemoryFiles) -> io::Result<Option<Intent>> {
    let Some(intent) = erase::pending(home.disk.as_ref(), &home.erasing()) else {
        return home.remove(&home.erasing()).map(|()| None);
    };
    home.remove(&home.snapshot())?;
    let file = home.disk.open(&home.journal(), OpenMode::Write)?;
    erase::overwrite(file.as_ref(), &intent)?;
    Ok(Some(intent))
}

fn read_as_holder(home: &MemoryFiles, summary: &mut OpenSummary) -> Result<(Journal, Engine, u64), JournalError> {
    let path = home.journal();
    let saved = home.disk.open(&path, OpenMode::Read).ok().and_then(|file| {
        summary.missing_bytes = snapshot::missing_bytes(home.disk.as_ref(), &home.snapshot(), file.as_ref());
        let source = Arc::new(Sources { main: Arc::clone(&file), own: None });
        snapshot::load(home.disk.as_ref(), &home.snapshot(), &file, source)
    });
    summary.from_snapshot = saved.is_some();
    let (mut engine, resume) = saved.map_or_else(|| (Engine::new(), None), |(engine, resume)| (engine, Some(resume)));
    let mut refused = 0;
    let (journal, report) = Journal::open_from(home.disk.as_ref(), &path, resume, &mut |at, frame| {
        refused += usize::from(engine.apply_at(&frame, at).is_err());
    })?;
    summary.created = report.created;
    summary.frames = report.frames;
    summary.refused_frames = refused;
    summary.truncated_tail_bytes = report.truncated_tail_bytes;
    Ok((journal, engine, resume.map_or(0, |resume| resume.offset.0)))
}

fn open_as_guest(home: MemoryFiles) -> Result<Opened, OpenError> {
    let mut summary = OpenSummary { guest: true, ..OpenSummary::default() };
    let mut attempt = read_as_guest(&home, &mut summary);
    for _ in 1..GUEST_ATTEMPTS {
        if attempt.is_ok() {
            break;
        }
        std::thread::sleep(GUEST_PAUSE);
        attempt = read_as_guest(&home, &mut summary);
    }
    let (main, mut engine) = attempt?;
    let journal = own_journal(&home)?;
    engine.attach(Arc::new(Sources { main: Arc::clone(&main), own: Some(Arc::clone(journal.file())) }));
    Ok(Opened { home, role: Role::Guest { main }, journal, engine, summary, snapshot_end: 0 })
}

fn read_as_guest(home: &MemoryFiles, summary: &mut OpenSummary) -> Result<(Arc<dyn DiskFile>, Engine), JournalError> {
    let path = home.journal();
    let at = |step| JournalError::at(&path, step);
    let file = match home.disk.open(&path, OpenMode::Read) {
        // The holder is about to make it; an empty one is as good as none to it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => home.disk.open(&path, OpenMode::Write),
        opened => opened,
    };
    let file = file.map_err(at(JournalStep::Open))?;
    let source = Arc::new(Sources { main: Arc::clone(&file), own: None });
    let saved = snapshot::load(home.disk.as_ref(), &home.snapshot(), &file, source);
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

/// Makes a journal of this process's own.
fn own_journal(home: &MemoryFiles) -> Result<Journal, OpenError> {
    let inbox = home.inbox();
    home.disk.create_folder(&inbox).map_err(home.step(&inbox))?;
    for _ in 0..NAME_ATTEMPTS {
        let path = inbox.join(format!("{:016x}.journal", random()));
        match Journal::open_from(home.disk.as_ref(), &path, None, &mut |_, _| {}) {
            // The holder may have taken the new file for an abandoned one, and removed it.
            Ok((journal, report)) if report.created && home.inbox_journals().contains(&path) => {
                return Ok(journal);
            }
            Ok(_) | Err(JournalError::Locked { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(OpenError::Journal(JournalError::Locked { path: inbox }))
}

impl Role {
    pub(super) fn is_guest(&self) -> bool {
        matches!(self, Self::Guest { .. })
    }

    /// The place of a frame in this process's journal, as the engine knows it.
    pub(super) fn place(&self, at: Offset) -> Offset {
        if self.is_guest() { Offset(at.0 | OWN) } else { at }
    }

    pub(super) fn sources(&self, journal: &Journal) -> Sources {
        match self {
            Self::Holder(_) => Sources { main: Arc::clone(journal.file()), own: None },
            Self::Guest { main } => Sources { main: Arc::clone(main), own: Some(Arc::clone(journal.file())) },
        }
    }
}

/// A number that no other process has, without a source of randomness of our own.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// Reads the frames of another process's journal; what comes before damage, and whether there is any.
pub(super) fn read_inbox_journal(
    home: &MemoryFiles,
    file: &LockedFile,
    path: &Path,
) -> Result<(Vec<Frame>, bool), JournalError> {
    let mut frames = Vec::new();
    let length = file.file().length().map_err(JournalError::at(path, JournalStep::Read))?;
    match scan::scan(file.file().as_ref(), path, Offset(0), length, &mut |_, frame| frames.push(frame)) {
        Ok(_) => Ok((frames, false)),
        Err(JournalError::Corrupt { .. } | JournalError::NotAJournal { .. }) => {
            // What is sound behind the damage is experience too.
            let repaired = repair::repair(home.disk.as_ref(), path);
            if repaired.is_ok() {
                frames.clear();
                journal::replay(home.disk.as_ref(), path, Offset(0), &mut |_, frame| frames.push(frame))?;
            }
            Ok((frames, true))
        }
        Err(error) => Err(error),
    }
}
