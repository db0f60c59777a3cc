//! The journal: an append-only file of frames with checksums. The journal is authoritative; snapshots and the engine in
//! RAM are derived from it.
//!
//! A write is *accepted* when the engine applied it, *acknowledged* when [`Journal::append`] returned (it survives the
//! death of this process), *synced* when [`Journal::sync`] returned (it survives the loss of power, if the disk works).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    disk::{Disk, DiskFile, LockedFile, OpenMode, SystemDisk, folder_of},
    journal::{
        format::{Encoded, Note},
        scan::Scanned,
    },
    record::{Frame, Offset},
};

pub use error::{JournalError, JournalStep};
pub use format::{FORMAT_VERSION, MAX_FRAME_BYTES};
pub use repair::{Damage, DamagedRange};

pub(crate) mod compact;
pub(crate) mod erase;
mod error;
pub(crate) mod format;
pub(crate) mod repair;
pub(crate) mod scan;
pub(crate) mod seal;
pub(crate) mod snapshot;
pub(crate) mod source;

/// What [`Journal::open`] found in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OpenReport {
    /// Whether the journal was created because it did not exist or was empty.
    pub created: bool,
    /// Number of frames read.
    pub frames: usize,
    /// Length in bytes of the unfinished write that was cut off the end of the journal; 0 for none.
    pub truncated_tail_bytes: u64,
    /// Number of valid entries in the bytes cut off: they followed a gap and were never synced.
    pub truncated_sound_entries: usize,
}

/// An open journal, locked against other processes.
#[derive(Debug)]
pub struct Journal {
    file: LockedFile,
    path: PathBuf,
    /// Offset of the next entry.
    end: u64,
    /// Offset up to which the file is synced.
    synced: u64,
    /// Offset up to which a note in the file confirms the sync.
    noted: u64,
    /// Whether a write or sync failed in a way that requires reopening the journal.
    failed: bool,
    /// Offset and checksum of the newest entry; distinguishes journals of the same length.
    last: Option<(Offset, u32)>,
    /// Number of times that the journal was compacted.
    generation: u64,
    /// Records deleted before this moment (Unix milliseconds) may be missing from the journal; `None` if none is.
    complete_from_ms: Option<i64>,
}

impl Journal {
    /// Opens or creates a journal, locks it, reads its frames and cuts off an unfinished write.
    ///
    /// # Errors
    /// [`JournalError::Locked`] when it is open in another process or by another `Journal`.
    /// [`JournalError::NotAJournal`], [`JournalError::NewerVersion`] or [`JournalError::Corrupt`] without changing a
    /// byte.
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, Vec<Frame>, OpenReport), JournalError> {
        let mut frames = Vec::new();
        let (journal, report) = Self::open_from(&SystemDisk, path.as_ref(), None, &mut |_, frame| frames.push(frame))?;
        Ok((journal, frames, report))
    }

    /// [`Journal::open`] on any disk; passes the frames from the position `from` on (`None`: all) to `visit`.
    pub(crate) fn open_from(
        disk: &dyn Disk,
        path: &Path,
        from: Option<Resume>,
        visit: &mut dyn FnMut(Offset, Frame),
    ) -> Result<(Self, OpenReport), JournalError> {
        let at = |step| JournalError::at(path, step);
        let file = match disk.open(path, OpenMode::Write) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                return Err(JournalError::NotAJournal { path: path.to_owned() });
            }
            opened => opened.map_err(at(JournalStep::Open))?,
        };
        let file = LockedFile::lock(file).map_err(at(JournalStep::Lock))?;
        let file = file.ok_or_else(|| JournalError::Locked { path: path.to_owned() })?;
        // Read after locking: the process that had the lock may have written.
        let length = file.file().length().map_err(at(JournalStep::Open))?;
        let start = from.map_or(Offset(0), |from| from.offset);
        let scanned = scan::scan(file.file().as_ref(), path, start, length, visit)?;
        let mut journal = Self {
            file,
            path: path.to_owned(),
            end: scanned.end,
            synced: 0,
            noted: 0,
            failed: false,
            last: scanned.last.or(from.and_then(|from| from.last)),
            generation: scanned.generation.max(from.map_or(0, |from| from.generation)),
            complete_from_ms: scanned.complete_from_ms.or(from.and_then(|from| from.complete_from_ms)),
        };
        let noted = scanned.noted || from.is_some();
        let report = journal.truncate_and_sync(disk, &scanned, length, noted)?;
        Ok((journal, report))
    }

    /// Writes a missing header, cuts off an unfinished write, and syncs the file.
    fn truncate_and_sync(
        &mut self,
        disk: &dyn Disk,
        scanned: &Scanned,
        length: u64,
        noted: bool,
    ) -> Result<OpenReport, JournalError> {
        let path = self.path.clone();
        let at = |step| JournalError::at(&path, step);
        let file = Arc::clone(self.file.file());
        let mut report = OpenReport { frames: scanned.frames, ..OpenReport::default() };
        if scanned.needs_header {
            file.set_length(0).map_err(at(JournalStep::Truncate))?;
            file.write_at(&format::header(), 0).map_err(at(JournalStep::Write))?;
            report.created = true;
        } else if scanned.end < length {
            file.set_length(scanned.end).map_err(at(JournalStep::Truncate))?;
            report.truncated_tail_bytes = length - scanned.end;
            report.truncated_sound_entries = scanned.torn_entries;
        }
        // The bytes that were read may be in the page cache only.
        file.sync().map_err(at(JournalStep::Sync))?;
        if report.created {
            disk.sync_folder(folder_of(&path)).map_err(at(JournalStep::Sync))?;
        }
        self.synced = self.end;
        let cut = Note::Cut { bytes: report.truncated_tail_bytes, entries: report.truncated_sound_entries };
        if report.truncated_tail_bytes > 0 {
            self.note(&cut)?;
        }
        if !noted || report.truncated_tail_bytes > 0 {
            // The first batch needs a synced note before it: see `scan`.
            self.note(&Note::Synced { end: self.synced })?;
            self.sync()?;
            // The sync of this note needs no note of its own.
            self.noted = self.synced;
        }
        Ok(report)
    }

    /// Appends frames in one write; returns the new end of the journal. The frames are acknowledged then, not yet
    /// synced.
    ///
    /// # Errors
    /// [`JournalError::TooLarge`] or [`JournalError::Encode`] before anything is written. [`JournalError::Io`] when the
    /// write failed, e.g. on a full disk: what it wrote is removed, and the journal stays usable.
    /// [`JournalError::Failed`] after a write that could not be removed, or a failed sync.
    pub fn append(&mut self, frames: &[Frame]) -> Result<Offset, JournalError> {
        let mut encoded = Encoded::default();
        for frame in frames {
            encoded.frame(frame).map_err(|problem| problem.at(&self.path))?;
        }
        self.append_encoded(&encoded)?;
        Ok(Offset(self.end))
    }

    /// Appends encoded entries; returns the offset of the first entry.
    pub(crate) fn append_encoded(&mut self, encoded: &Encoded) -> Result<u64, JournalError> {
        self.expect_sound()?;
        let mut note = Encoded::default();
        if self.noted < self.synced {
            note.note(&Note::Synced { end: self.synced }).map_err(|problem| problem.at(&self.path))?;
        }
        let begin = self.end + note.bytes.len() as u64;
        let file = self.file.file();
        let written = file.write_at(&note.bytes, self.end).and_then(|()| file.write_at(&encoded.bytes, begin));
        if let Err(source) = written {
            self.failed = file.set_length(self.end).is_err();
            return Err(JournalError::at(&self.path, JournalStep::Write)(source));
        }
        self.noted = self.synced;
        self.end = begin + encoded.bytes.len() as u64;
        let last = encoded.starts.last().map(|start| (begin + *start as u64, encoded.bytes.get(*start..)));
        if let Some((place, Some(entry))) = last {
            self.last = Some((Offset(place), format::u32_at(entry, 8)));
        }
        Ok(begin)
    }

    /// Appends a note about the journal itself.
    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        let mut encoded = Encoded::default();
        encoded.note(note).map_err(|problem| problem.at(&self.path))?;
        self.noted = self.synced;
        self.append_encoded(&encoded).map(drop)
    }

    /// Waits until all appended frames are on the disk; returns the end of the synced frames.
    ///
    /// # Errors
    /// [`JournalError::Io`] when the disk failed. Frames may be lost then, so the journal accepts no more frames: a
    /// second sync could report success for pages that the system already dropped.
    pub fn sync(&mut self) -> Result<Offset, JournalError> {
        self.expect_sound()?;
        if self.synced < self.end {
            self.file.file().sync().map_err(|source| {
                self.failed = true;
                JournalError::at(&self.path, JournalStep::Sync)(source)
            })?;
            self.synced = self.end;
        }
        Ok(Offset(self.synced))
    }

    /// Syncs and closes the journal.
    ///
    /// # Errors
    /// As [`Journal::sync`].
    pub fn close(mut self) -> Result<(), JournalError> {
        self.sync().map(drop)
    }

    /// Offset of the end of the acknowledged frames, in bytes from the start of the journal.
    #[must_use]
    pub fn end(&self) -> Offset {
        Offset(self.end)
    }

    /// Offset of the end of the synced frames, in bytes from the start of the journal.
    #[must_use]
    pub fn synced(&self) -> Offset {
        Offset(self.synced)
    }

    /// Reads the frames of a journal from `from` on without changing or locking it.
    ///
    /// # Errors
    /// As [`Journal::open`], except [`JournalError::Locked`].
    pub fn replay(path: &Path, from: Offset, visit: &mut dyn FnMut(Offset, Frame)) -> Result<(), JournalError> {
        replay(&SystemDisk, path, from, visit).map(drop)
    }

    /// The position to store in a snapshot that is taken now.
    pub(crate) fn resume(&self) -> Resume {
        Resume {
            generation: self.generation,
            offset: Offset(self.end),
            last: self.last,
            complete_from_ms: self.complete_from_ms,
        }
    }

    /// Number of times that the journal was compacted.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Records deleted before this moment (Unix milliseconds) may be missing from the journal; `None` if none is.
    pub(crate) fn complete_from_ms(&self) -> Option<i64> {
        self.complete_from_ms
    }

    /// The path of the journal.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The open file of the journal.
    pub(crate) fn file(&self) -> &Arc<dyn DiskFile> {
        self.file.file()
    }

    /// Whether a write or sync failed so that the journal must be reopened.
    pub(crate) fn is_failed(&self) -> bool {
        self.failed
    }

    /// [`JournalError::Failed`] if an earlier write or sync failed.
    fn expect_sound(&self) -> Result<(), JournalError> {
        if self.failed { Err(JournalError::Failed { path: self.path.clone() }) } else { Ok(()) }
    }
}

/// A position at which to resume reading a journal, with the data that identifies the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Resume {
    /// How often the journal had been compacted.
    pub(crate) generation: u64,
    /// Offset of the next entry to read.
    pub(crate) offset: Offset,
    /// Offset and checksum of the newest entry before `offset`.
    pub(crate) last: Option<(Offset, u32)>,
    /// Records deleted before this moment (Unix milliseconds) may be missing; `None` if no record is.
    pub(crate) complete_from_ms: Option<i64>,
}

impl Resume {
    /// Whether a file is the journal that this position belongs to.
    pub(crate) fn fits(&self, file: &dyn DiskFile) -> bool {
        let Some((place, checksum)) = self.last else { return false };
        if source::generation(file) != self.generation {
            return false;
        }
        let entry = source::read_entry(file, place.0).ok().and_then(Result::ok);
        entry.is_some_and(|(header, _)| header.checksum == checksum && place.0 + header.entry_bytes() == self.offset.0)
    }
}

/// Like [`Journal::replay`], on any disk; returns what was found.
pub(crate) fn replay(
    disk: &dyn Disk,
    path: &Path,
    from: Offset,
    visit: &mut dyn FnMut(Offset, Frame),
) -> Result<Scanned, JournalError> {
    let file = disk.open(path, OpenMode::Read).map_err(JournalError::at(path, JournalStep::Open))?;
    let length = file.length().map_err(JournalError::at(path, JournalStep::Read))?;
    scan::scan(file.as_ref(), path, from, length, visit)
}

#[cfg(test)]
mod tests;
