//! Maintenance on the thread that writes the journal: merging, forgetting, compacting, snapshots, checks.

use std::{io, path::PathBuf, sync::Arc};

use crate::{
    disk::{DiskFile, LockedFile, OpenMode},
    engine::Engine,
    journal::{
        self, JournalError, JournalStep, compact,
        erase::{self, Intent},
        format::Entry,
        repair, scan, snapshot,
        source::{self, OWN},
    },
    memory::{
        error::MemoryForgetError,
        folder::{self, Role},
        report::{Adopted, Hindsight, Verification},
        writer::JournalWriter,
    },
    record::{DeletionReason, Frame, MegramId, Offset},
};

impl JournalWriter {
    /// Merges the journals of guests that have ended; does nothing in a guest.
    pub(super) fn adopt_inbox(&mut self) -> Result<Adopted, Arc<JournalError>> {
        let mut taken = Adopted::default();
        if self.role.is_guest() {
            return Ok(taken);
        }
        for path in self.files.inbox_journals() {
            let at = |step| JournalError::at(&path, step);
            let Ok(file) = self.files.disk.open(&path, OpenMode::Write) else { continue };
            let Some(file) = LockedFile::lock(file).map_err(at(JournalStep::Lock)).map_err(Arc::new)? else { continue };
            let (frames, damaged) = folder::read_inbox_journal(&self.files, &file, &path).map_err(Arc::new)?;
            self.forget_as_asked(&frames);
            taken.frames += self.accept(frames)?;
            taken.journals += 1;
            taken.damaged += usize::from(damaged);
            // Removed only after its frames are synced in the own journal.
            self.files.remove(&path).map_err(at(JournalStep::Write)).map_err(Arc::new)?;
        }
        if taken.journals > 0 {
            // If a crash restores the file, it is merged again, which changes nothing.
            let _ = self.files.disk.sync_folder(&self.files.inbox());
        }
        Ok(taken)
    }

    /// Erases the records that a guest deleted on request, since a guest cannot erase them itself.
    fn forget_as_asked(&mut self, frames: &[Frame]) {
        for frame in frames {
            if let Frame::Deleted { ids, at_ms, reason: DeletionReason::Forgotten } = frame {
                for id in ids {
                    // A missing record needs no erasing. If the disk fails, the deletion is merged
                    // as a frame.
                    let _ = self.forget(*id, *at_ms);
                }
            }
        }
    }

    /// Deletes a record on request and erases its text from the journal and the snapshot.
    pub(super) fn forget(&mut self, id: MegramId, now_ms: i64) -> Result<(), MemoryForgetError> {
        let at = |error| MemoryForgetError::NotErased { source: Arc::new(error) };
        let place = self.shared.master().offset_of(id);
        let own =
            place.filter(|place| self.role.is_guest() == (place.0 & OWN != 0)).map(|place| Offset(place.0 & !OWN));
        let file = Arc::clone(self.journal.file());
        let bodies = own.and_then(|at| body_at(&file, id, at)).into_iter().collect();
        let intent = Intent { bodies, at_ms: now_ms, generation: self.journal.generation() };
        let marks: Vec<Frame> = own.and_then(|at| mark_at(&file, at)).into_iter().collect();
        // Check before anything is written.
        let mut trial = self.shared.master().clone();
        trial.forget(id, now_ms)?;
        let failed = |step| JournalError::at(self.journal.path(), step);
        if !self.role.is_guest() {
            erase::intend(self.files.disk.as_ref(), &self.files.erasing(), &intent)
                .map_err(failed(JournalStep::Write))
                .map_err(at)?;
        }
        let deleted = Frame::Deleted { ids: vec![id], at_ms: now_ms, reason: DeletionReason::Forgotten };
        self.accept(marks.into_iter().chain([deleted]).collect())
            .map_err(|source| MemoryForgetError::NotErased { source })?;
        if place.is_some() && own.is_none() {
            return Err(MemoryForgetError::HeldElsewhere);
        }
        self.erase(&file, &intent).map_err(JournalError::at(self.journal.path(), JournalStep::Write)).map_err(at)
    }

    /// Overwrites the texts of the listed records, after removing the snapshot, and then removes the list from the
    /// disk.
    fn erase(&mut self, file: &Arc<dyn DiskFile>, intent: &Intent) -> io::Result<()> {
        if !self.role.is_guest() {
            self.files.remove(&self.files.snapshot())?;
            self.snapshot_end = 0;
        }
        erase::overwrite(file.as_ref(), intent)?;
        if self.role.is_guest() { Ok(()) } else { erase::done(self.files.disk.as_ref(), &self.files.erasing()) }
    }

    /// Rewrites the journal without records that were deleted before `keep_from_ms`; returns its length in bytes before
    /// and after.
    pub(super) fn compact(&mut self, keep_from_ms: i64) -> Result<(u64, u64), Arc<JournalError>> {
        self.flush()?;
        let compacted = compact::compact(self.files.disk.as_ref(), &self.journal, keep_from_ms).map_err(Arc::new)?;
        let old = std::mem::replace(&mut self.journal, compacted.journal);
        let mut master = self.shared.master();
        master.attach(Arc::new(self.role.sources(&self.journal)));
        for (id, at) in compacted.moved {
            master.set_offset(id, at);
        }
        self.shared.publish(&master);
        drop(master);
        drop(old);
        self.snapshot_end = 0;
        // An old snapshot does no harm: its generation does not fit.
        let _ = self.save_snapshot();
        Ok((compacted.bytes_before, self.journal.end().0))
    }

    /// Saves a snapshot if the journal grew enough since the last one; returns whether it did.
    pub(super) fn save_snapshot_if_worth(&mut self) -> io::Result<bool> {
        let tail = self.journal.synced().0.saturating_sub(self.snapshot_end);
        if self.role.is_guest() || tail < self.snapshot_tail_bytes.max(1) {
            return Ok(false);
        }
        self.save_snapshot()
    }

    /// Saves a snapshot, unless writes are pending or the journal failed; returns whether it did.
    fn save_snapshot(&mut self) -> io::Result<bool> {
        let master = self.shared.master();
        // While the master is locked nothing is accepted, so engine and journal agree.
        if !self.pending.frames.is_empty() || !self.shared.queue.is_idle() || self.journal.is_failed() {
            return Ok(false);
        }
        let engine = master.clone();
        drop(master);
        snapshot::save(self.files.disk.as_ref(), &self.files.snapshot(), &engine, &self.journal.resume())?;
        self.snapshot_end = self.journal.end().0;
        Ok(true)
    }

    /// The journals of this process with their lengths, after writing pending frames.
    pub(super) fn journals(&mut self) -> Result<Journals, Arc<JournalError>> {
        self.flush()?;
        let own = (Arc::clone(self.journal.file()), self.journal.end().0);
        let main = match &self.role {
            Role::Holder(_) => None,
            Role::Guest { main } => Some(Arc::clone(main)),
        };
        Ok(Journals { main, own, path: self.files.journal(), complete_from_ms: self.journal.complete_from_ms() })
    }

    /// Checks the whole journal if the last check is at least `every_ms` old; the error describes the damage.
    pub(super) fn look_over(&mut self, now_ms: i64, every_ms: i64) -> Result<(), String> {
        let last = self.last_look_ms.replace(now_ms);
        if self.role.is_guest() || last.is_some_and(|last| now_ms.saturating_sub(last) < every_ms) {
            self.last_look_ms = last;
            return Ok(());
        }
        let found =
            repair::inspect(self.files.disk.as_ref(), self.journal.path()).map_err(|error| error.to_string())?;
        let bytes: u64 = found.ranges.iter().map(|range| range.bytes).sum();
        match found.ranges.first() {
            None => Ok(()),
            Some(first) => Err(format!(
                "the journal is damaged at byte {} and in {} places, {bytes} bytes in all; reopen it with repair",
                first.offset,
                found.ranges.len()
            )),
        }
    }

    /// Replays the whole journal into a new engine, which replaces the one in RAM unless writes are queued; returns the
    /// number of frames that could not be applied.
    pub(super) fn rebuild(&mut self) -> Result<usize, Arc<JournalError>> {
        self.flush()?;
        let _ = self.files.remove(&self.files.snapshot());
        self.snapshot_end = 0;
        let mut engine = Engine::new();
        engine.attach(Arc::new(self.role.sources(&self.journal)));
        let path = self.files.journal();
        let mut refused = 0;
        journal::replay(self.files.disk.as_ref(), &path, Offset(0), &mut |at, frame| {
            refused += usize::from(engine.apply_at(&frame, at).is_err());
        })
        .map_err(Arc::new)?;
        let mut master = self.shared.master();
        if self.shared.queue.is_idle() {
            *master = engine;
            self.shared.publish(&master);
        }
        drop(master);
        Ok(refused)
    }

    /// Replays the whole journal and compares the counts of records with those of the engine in RAM.
    pub(super) fn verify(&mut self) -> Result<Verification, Arc<JournalError>> {
        self.flush()?;
        let (disk, path) = (Arc::clone(&self.files.disk), self.files.journal());
        let journal = repair::inspect(disk.as_ref(), &path).map_err(Arc::new)?;
        let mut engine = Engine::new();
        let mut refused_frames = 0;
        if journal.ranges.is_empty() {
            journal::replay(disk.as_ref(), &path, Offset(0), &mut |at, frame| {
                refused_frames += usize::from(engine.apply_at(&frame, at).is_err());
            })
            .map_err(Arc::new)?;
        }
        let master = self.shared.master();
        let memory_matches = journal.ranges.is_empty() && engine.stats() == master.stats();
        drop(master);
        Ok(Verification { journal, refused_frames, memory_matches })
    }
}

/// The journals of a process, which can be read on any thread.
pub(super) struct Journals {
    /// The journal of the holder; `None` if this process is the holder.
    main: Option<Arc<dyn DiskFile>>,
    own: (Arc<dyn DiskFile>, u64),
    path: PathBuf,
    complete_from_ms: Option<i64>,
}

impl Journals {
    /// The memory as it was at `at_ms`, rebuilt from the journals.
    pub(super) fn as_of(&self, at_ms: i64) -> Result<Hindsight, JournalError> {
        let mut hindsight = Hindsight { engine: Engine::new(), complete_from_ms: self.complete_from_ms };
        let mut read = |file: &dyn DiskFile, length: u64| {
            scan::scan(file, &self.path, Offset(0), length, &mut |_, frame| {
                hindsight.engine.apply_as_of(&frame, at_ms);
            })
        };
        let main = match &self.main {
            None => None,
            Some(main) => {
                let length = main.length().map_err(JournalError::at(&self.path, JournalStep::Read))?;
                read(main.as_ref(), length)?.complete_from_ms
            }
        };
        read(self.own.0.as_ref(), self.own.1)?;
        hindsight.complete_from_ms = hindsight.complete_from_ms.max(main);
        Ok(hindsight)
    }
}

/// The frame with the text of a record at an offset; `None` if it cannot be read.
fn body_at(file: &Arc<dyn DiskFile>, id: MegramId, at: Offset) -> Option<erase::Body> {
    erase::find(file.as_ref(), id, at).ok().flatten()
}

/// The frame that preserves which evidence was used for a rule that is about to be erased; `None` for other records.
fn mark_at(file: &Arc<dyn DiskFile>, at: Offset) -> Option<Frame> {
    let (_, entry) = source::read_entry(file.as_ref(), at.0).ok()?.ok()?;
    match entry {
        Entry::Frame(Frame::Promoted { rule, rule_kind, watermark, .. }) => {
            Some(Frame::Marked { space: rule.space, entity: rule.entity, rule_kind, watermark })
        }
        Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_) => None,
    }
}
