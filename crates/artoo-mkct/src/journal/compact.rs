//! Compaction: rewriting a journal without records that were deleted long ago.
//!
//! Records deleted before a given moment are dropped together with their deletions, and so are outdated recalls.
//! Records deleted later stay, with their deletions, so that the memory can be rebuilt as of any moment since. Entries
//! are copied unchanged and in order.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use crate::{
    disk::{Disk, DiskFile, LockedFile, OpenMode, folder_of},
    journal::{
        Journal, JournalError, JournalStep,
        format::{self, Encoded, HEADER_BYTES, Note},
        scan,
        seal::{self, FileEnd},
    },
    record::{DeletionReason, Frame, MegramId, Offset, RuleKind, Watermark},
};

/// A compacted journal and the new offsets of its records.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// The compacted journal, open and locked.
    pub(crate) journal: Journal,
    /// The new offset of each record in the compacted journal.
    pub(crate) moved: Vec<(MegramId, Offset)>,
    /// Length of the journal before the compaction, in bytes.
    pub(crate) bytes_before: u64,
}

/// Which records were deleted, recalled or replaced, as found by the first pass over the journal.
#[derive(Debug, Default)]
struct Deletions {
    /// Deleted records, with when and why each was deleted.
    gone: HashMap<MegramId, DeletionInfo>,
    /// Offset of the frame with the last recall of each rule.
    last_recall: HashMap<MegramId, Offset>,
    /// The present rule of each tag and kind.
    present_rules: HashMap<(String, String, RuleKind), MegramId>,
}

/// When (Unix milliseconds) and why a record was deleted.
#[derive(Debug, Clone, Copy)]
struct DeletionInfo {
    /// When the record was deleted, Unix milliseconds.
    at_ms: i64,
    /// Why the record was deleted; `None` for a rule that was replaced by another.
    reason: Option<DeletionReason>,
}

impl Deletions {
    /// Notes which records a frame of the old journal deletes, recalls or replaces.
    fn see(&mut self, at: Offset, frame: &Frame) {
        match frame {
            Frame::Deleted { ids, at_ms, reason } => {
                for id in ids {
                    self.gone.entry(*id).or_insert(DeletionInfo { at_ms: *at_ms, reason: Some(*reason) });
                }
            }
            Frame::Promoted { rule, rule_kind, .. } => {
                let tag = (rule.space.clone(), rule.entity.clone(), *rule_kind);
                if let Some(replaced) = self.present_rules.insert(tag, rule.id).filter(|replaced| *replaced != rule.id)
                {
                    self.gone.entry(replaced).or_insert(DeletionInfo { at_ms: rule.created_at_ms, reason: None });
                }
            }
            Frame::Demoted { id, .. } => self.present_rules.retain(|_, present_rules| present_rules != id),
            Frame::Recalled { ids, .. } => self.last_recall.extend(ids.iter().map(|id| (*id, at))),
            Frame::Written { .. } | Frame::Marked { .. } | Frame::Attempted { .. } => {}
        }
    }

    /// Whether a record was deleted, or replaced by another rule, before `keep_from_ms`, so that compaction drops it.
    fn is_dropped(&self, id: MegramId, keep_from_ms: i64) -> bool {
        self.gone.get(&id).is_some_and(|gone| gone.at_ms < keep_from_ms)
    }
}

/// Replaces a journal by one without the records deleted before `keep_from_ms`; if that fails, the old journal is
/// unchanged.
pub(crate) fn compact(disk: &dyn Disk, old: &Journal, keep_from_ms: i64) -> Result<Compacted, JournalError> {
    let path = old.path();
    let at = |step| JournalError::at(path, step);
    let mut deletions = Deletions::default();
    let (file, length) = (old.file().as_ref(), old.end().0);
    scan::scan(file, path, Offset(0), length, &mut |at, frame| deletions.see(at, &frame))?;
    let dropped = deletions.gone.values().filter(|gone| gone.at_ms < keep_from_ms).map(|gone| gone.at_ms + 1).max();
    let complete_from_ms = dropped.max(old.complete_from_ms());
    let generation = old.generation() + 1;

    let beside = seal::beside(path);
    let new = disk.open(&beside, OpenMode::Truncate).map_err(at(JournalStep::Open))?;
    let mut rewrite = Rewrite::new(&new, &deletions, keep_from_ms);
    let note = Note::Compacted { generation, complete_from_ms: complete_from_ms.unwrap_or(i64::MIN) };
    let copied = rewrite.begin(&note).and_then(|()| {
        let mut result = Ok(());
        scan::scan(file, path, Offset(0), length, &mut |at, frame| {
            if result.is_ok() {
                result = rewrite.copy(at, frame);
            }
        })
        .map_err(io::Error::other)?;
        result.and_then(|()| rewrite.finish())
    });
    let CopyResult { end, last, moved } = match copied {
        Ok(copied) => copied,
        Err(error) => {
            // The unfinished file takes disk space, which may be the reason for the failure.
            let _ = disk.remove(&beside);
            return Err(at(JournalStep::Write)(error));
        }
    };
    let (locked, named) = publish(disk, &beside, path, new).map_err(at(JournalStep::Sync))?;
    let journal = Journal {
        file: locked,
        path: path.to_owned(),
        end,
        synced: end,
        noted: end,
        // If the new name is not synced, a crash may restore the old file, without the frames appended since.
        failed: !named,
        last: Some(last),
        generation,
        complete_from_ms,
    };
    Ok(Compacted { journal, moved, bytes_before: length })
}

/// Syncs and locks the new file and renames it to the journal's path; false if the new name could not be synced.
fn publish(disk: &dyn Disk, beside: &Path, path: &Path, new: Arc<dyn DiskFile>) -> io::Result<(LockedFile, bool)> {
    new.sync()?;
    let locked = LockedFile::lock(new)?.ok_or(io::ErrorKind::WouldBlock)?;
    disk.rename(beside, path)?;
    Ok((locked, disk.sync_folder(folder_of(path)).is_ok()))
}

/// The end, the last entry and the record offsets of a compacted journal.
struct CopyResult {
    end: u64,
    last: (Offset, u32),
    moved: Vec<(MegramId, Offset)>,
}

/// Writes the entries of the compacted journal.
struct Rewrite<'a> {
    out: io::BufWriter<FileEnd>,
    at: u64,
    last: (Offset, u32),
    deletions: &'a Deletions,
    keep_from_ms: i64,
    moved: Vec<(MegramId, Offset)>,
    /// The evidence that dropped rules have used, by tag and kind of rule.
    marks: HashMap<(String, String, RuleKind), Watermark>,
}

impl<'a> Rewrite<'a> {
    /// A compacted journal to be written to `file`, without records deleted before `keep_from_ms`.
    fn new(file: &Arc<dyn DiskFile>, deletions: &'a Deletions, keep_from_ms: i64) -> Self {
        Self {
            out: io::BufWriter::with_capacity(256 * 1024, FileEnd { file: Arc::clone(file), at: 0 }),
            at: 0,
            last: (Offset(0), 0),
            deletions,
            keep_from_ms,
            moved: Vec::new(),
            marks: HashMap::new(),
        }
    }

    /// Writes the header and the note about the compaction.
    fn begin(&mut self, note: &Note) -> io::Result<()> {
        self.out.write_all(&format::header())?;
        self.at = HEADER_BYTES as u64;
        self.put(|encoded| encoded.note(note)).map(drop)
    }

    /// Copies a frame from the old journal, or the part of the frame that is still needed.
    fn copy(&mut self, at: Offset, frame: Frame) -> io::Result<()> {
        let dropped = |id: MegramId| self.deletions.is_dropped(id, self.keep_from_ms);
        match frame {
            Frame::Written { ref megram } if dropped(megram.id) => Ok(()),
            Frame::Written { megram: ref record } | Frame::Promoted { rule: ref record, .. } if !dropped(record.id) => {
                let place = self.put(|encoded| encoded.frame(&frame))?;
                self.moved.push((record.id, place));
                Ok(())
            }
            Frame::Written { .. } => Ok(()),
            Frame::Promoted { rule, rule_kind, watermark, .. } => {
                // If the whole tag faded, there is no evidence left that could be used twice.
                let gone = self.deletions.gone.get(&rule.id);
                if gone.is_some_and(|gone| gone.reason != Some(DeletionReason::Faded)) {
                    let mark = self.marks.entry((rule.space, rule.entity, rule_kind)).or_insert(watermark);
                    *mark = watermark.max(*mark);
                }
                Ok(())
            }
            Frame::Recalled { ids, at_ms } => {
                let last = |id: &MegramId| self.deletions.last_recall.get(id) == Some(&at) && !dropped(*id);
                let ids: Vec<MegramId> = ids.into_iter().filter(last).collect();
                self.put_unless(ids.is_empty(), &Frame::Recalled { ids, at_ms })
            }
            Frame::Deleted { ids, at_ms, reason } => {
                let kept = |id: &MegramId| reason == DeletionReason::Forgotten || !dropped(*id);
                let ids: Vec<MegramId> = ids.into_iter().filter(kept).collect();
                self.put_unless(ids.is_empty(), &Frame::Deleted { ids, at_ms, reason })
            }
            Frame::Demoted { id, .. } => self.put_unless(dropped(id), &frame),
            Frame::Attempted { at_ms, .. } => self.put_unless(at_ms < self.keep_from_ms, &frame),
            Frame::Marked { .. } => self.put_unless(false, &frame),
        }
    }

    /// Writes which evidence the dropped rules have used, and the final note about the sync.
    fn finish(&mut self) -> io::Result<CopyResult> {
        for ((space, entity, rule_kind), watermark) in std::mem::take(&mut self.marks) {
            self.put_unless(false, &Frame::Marked { space, entity, rule_kind, watermark })?;
        }
        let end = self.at;
        self.put(|encoded| encoded.note(&Note::Synced { end }))?;
        self.out.flush()?;
        Ok(CopyResult { end: self.at, last: self.last, moved: std::mem::take(&mut self.moved) })
    }

    /// Writes a frame to the compacted journal unless `skipped` is true.
    fn put_unless(&mut self, skipped: bool, frame: &Frame) -> io::Result<()> {
        if skipped { Ok(()) } else { self.put(|encoded| encoded.frame(frame)).map(drop) }
    }

    /// Writes an entry; returns its offset in the compacted journal.
    fn put(&mut self, encode: impl FnOnce(&mut Encoded) -> Result<(), format::Unencodable>) -> io::Result<Offset> {
        let mut encoded = Encoded::default();
        // All frames were read from a journal, so they can be encoded.
        encode(&mut encoded).map_err(|_| io::ErrorKind::InvalidData)?;
        self.out.write_all(&encoded.bytes)?;
        let place = Offset(self.at);
        self.last = (place, format::u32_at(&encoded.bytes, 8));
        self.at += encoded.bytes.len() as u64;
        Ok(place)
    }
}
