//! The journal: an append-only file of checksummed frames, the one copy that counts.
//!
//! Three words, used everywhere alike. A write is *accepted* when the engine applied it, *acknowledged* when
//! [`Journal::append`] returned (it survives the death of this process), *synced* when [`Journal::sync`] returned (it
//! survives the loss of power, as far as the disk keeps its word).

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::Frame;

pub use error::{FrameProblem, JournalError, JournalStep};
pub use format::{FORMAT_VERSION, MAX_FRAME_BYTES};

mod error;
mod format;
mod scan;

/// A place in a journal, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub u64);

/// What opening a journal found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenReport {
    /// The journal is new.
    pub created: bool,
    /// Frames read.
    pub frames: usize,
    /// Bytes cut off the end: a frame that was being written when its process or the machine died.
    pub truncated_tail_bytes: u64,
}

/// An open journal, locked against other processes.
#[derive(Debug)]
pub struct Journal {
    file: LockedFile,
    path: PathBuf,
    end: u64,
    synced: u64,
    failed: bool,
}

impl Journal {
    /// Opens or makes a journal, takes its lock, reads its frames and cuts off a torn tail.
    ///
    /// # Errors
    /// [`JournalError::Locked`] where another process (or another `Journal` in this one) has it open;
    /// [`JournalError::NotAJournal`], [`JournalError::NewerVersion`], [`JournalError::Corrupt`] without changing a byte.
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, Vec<Frame>, OpenReport), JournalError> {
        let path = path.as_ref().to_owned();
        let step = |step| JournalError::at(&path, step);
        let file = private().open(&path).map_err(step(JournalStep::Open))?;
        if !file.metadata().map_err(step(JournalStep::Open))?.is_file() {
            return Err(JournalError::NotAJournal { path });
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { path }),
            Err(TryLockError::Error(source)) => return Err(step(JournalStep::Lock)(source)),
        }
        let mut file = LockedFile(file);
        // Measured under the lock: whoever had it before may have written.
        let length = file.0.metadata().map_err(step(JournalStep::Open))?.len();
        let mut report = OpenReport::default();
        let scanned = scan::scan(&mut file.0, &path, length)?;
        if scanned.needs_header {
            file.0.set_len(0).map_err(step(JournalStep::Truncate))?;
            file.0.rewind().map_err(step(JournalStep::Write))?;
            file.0.write_all(&format::header()).map_err(step(JournalStep::Write))?;
            file.0.sync_all().map_err(step(JournalStep::Sync))?;
            sync_folder(&path)?;
            report.created = true;
        } else if scanned.end < length {
            file.0.set_len(scanned.end).map_err(step(JournalStep::Truncate))?;
            file.0.sync_all().map_err(step(JournalStep::Sync))?;
            report.truncated_tail_bytes = length - scanned.end;
        }
        file.0.seek(SeekFrom::Start(scanned.end)).map_err(step(JournalStep::Write))?;
        report.frames = scanned.frames.len();
        // What was read may still be in the page cache alone, so nothing counts as synced yet.
        let journal = Self { file, path, end: scanned.end, synced: 0, failed: false };
        Ok((journal, scanned.frames, report))
    }

    /// Appends frames, in one write; returns the journal's new end. They are acknowledged, not yet synced.
    ///
    /// # Errors
    /// [`JournalError::TooLarge`] before anything is written. [`JournalError::Io`] when the write failed, e.g. on a
    /// full disk: its part is taken back and the journal can go on. [`JournalError::Failed`] after a write that could
    /// not be taken back, or a failed sync.
    pub fn append(&mut self, frames: &[Frame]) -> Result<Offset, JournalError> {
        self.expect_sound()?;
        let mut bytes = Vec::new();
        for frame in frames {
            format::encode(frame, &mut bytes).map_err(|problem| problem.at(&self.path))?;
        }
        if let Err(source) = self.file.0.write_all(&bytes) {
            let taken_back =
                self.file.0.set_len(self.end).and_then(|()| self.file.0.seek(SeekFrom::Start(self.end)).map(drop));
            self.failed = taken_back.is_err();
            return Err(JournalError::at(&self.path, JournalStep::Write)(source));
        }
        self.end += bytes.len() as u64;
        Ok(Offset(self.end))
    }

    /// Waits until everything appended is on the disk; returns up to where.
    ///
    /// # Errors
    /// [`JournalError::Io`] when the disk failed. What was not synced may be lost, so the journal takes no more:
    /// asking again could report success for pages the system already dropped.
    pub fn sync(&mut self) -> Result<Offset, JournalError> {
        self.expect_sound()?;
        if self.synced < self.end {
            self.file.0.sync_data().map_err(|source| {
                self.failed = true;
                JournalError::at(&self.path, JournalStep::Sync)(source)
            })?;
            self.synced = self.end;
        }
        Ok(Offset(self.synced))
    }

    /// Syncs and closes.
    ///
    /// # Errors
    /// As [`Journal::sync`].
    pub fn close(mut self) -> Result<(), JournalError> {
        self.sync().map(drop)
    }

    /// The end of what is acknowledged.
    #[must_use]
    pub fn end(&self) -> Offset {
        Offset(self.end)
    }

    /// The end of what is synced since this journal was opened.
    #[must_use]
    pub fn synced(&self) -> Offset {
        Offset(self.synced)
    }

    fn expect_sound(&self) -> Result<(), JournalError> {
        if self.failed { Err(JournalError::Failed { path: self.path.clone() }) } else { Ok(()) }
    }
}

/// A file whose lock goes when it is dropped.
///
/// Closing alone does not do that: a child that another thread has just forked holds a copy of the descriptor, and the
/// lock with it, until it runs its own program.
#[derive(Debug)]
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Where unlocking fails, closing is what is left.
        let _ = self.0.unlock();
    }
}

/// How a journal is opened: memory is the user's alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a new file's name survive the loss of power.
#[cfg(unix)]
fn sync_folder(path: &Path) -> Result<(), JournalError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(JournalError::at(path, JournalStep::Sync))
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> Result<(), JournalError> {
    Ok(())
}

#[cfg(test)]
mod tests;
