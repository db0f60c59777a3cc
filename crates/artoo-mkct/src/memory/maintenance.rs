//! What the journal's thread does besides writing: takes in, forgets, compacts, saves, rebuilds, verifies.

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
    /// Takes in the journals of processes that came second and are gone.
    pub(super) fn adopt_inbox(&mut self) -> Result<Adopted, Arc<JournalError>> {
        let mut taken = Adopted::default();
        if self.role.is_guest() {
            return Ok(taken);
        }
        for path in self.home.inbox_journals() {
            let at = |step| JournalError::at(&path, step);
            let Ok(file) = self.home.disk.open(&path, OpenMode::Write) else { continue };
            let Some(file) = LockedFile::lock(file).map_err(at(JournalStep::Lock)).map_err(Arc::new)? else { continue };
            let (frames, damaged) = folder::read_inbox_journal(&self.home, &file, &path).map_err(Arc::new)?;
            self.forget_as_asked(&frames);
            taken.frames += self.accept(frames)?;
            taken.journals += 1;
            taken.damaged += usize::from(damaged);
            // Only now that its frames are synced here.
            self.home.remove(&path).map_err(at(JournalStep::Write)).map_err(Arc::new)?;
        }
        if taken.journals > 0 {
            // A name that comes back is taken in once more, which changes nothing.
            let _ = self.home.disk.sync_folder(&self.home.inbox());
        }
        Ok(taken)
    }

    /// What a guest could only wish for, its holder does: bodies of what it forgot are erased here.
    fn forget_as_asked(&mut self, frames: &[Frame]) {
        for frame in frames {
            if let Frame::Deleted { ids, at_ms, reason: DeletionReason::Forgotten } = frame {
                for id in ids {
                    // What is not there, or was erased in between, needs no erasing; a refusal of the disk leaves the
                    // tombstone, which is taken in like any frame.
                    let _ = self.forget(*id, *at_ms);
                }
            }
        }
    }

    /// Forgets a record and erases its body from journal, snapshot and index.
    pub(super) fn forget(&mut self, id: MegramId, now_ms: i64) -> Result<(), MemoryForgetError> {
        let at = |error| MemoryForgetError::NotErased { source: Arc::new(error) };
        let place = self.shared.master().offset_of(id);
        let own =
            place.filter(|place| self.role.is_guest() == (place.0 & OWN != 0)).map(|place| Offset(place.0 & !OWN));
        let file = Arc::clone(self.journal.file());
        let bodies = own.and_then(|at| body_at(&file, id, at)).into_iter().collect();
        let intent = Intent { bodies, at_ms: now_ms, generation: self.journal.generation() };
        let marks: Vec<Frame> = own.and_then(|at| mark_at(&file, at)).into_iter().collect();
        // Checked before anything is written down.
        let mut trial = self.shared.master().clone();
        trial.forget(id, now_ms)?;
        let failed = |step| JournalError::at(self.journal.path(), step);
        if !self.role.is_guest() {
            erase::intend(self.home.disk.as_ref(), &self.home.erasing(), &intent)
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

    fn erase(&mut self, file: &Arc<dyn DiskFile>, intent: &Intent) -> io::Result<()> {
        if !self.role.is_guest() {
            self.home.remove(&self.home.snapshot())?;
            self.snapshot_end = 0;
        }
        erase::overwrite(file.as_ref(), intent)?;
        if self.role.is_guest() { Ok(()) } else { erase::done(self.home.disk.as_ref(), &self.home.erasing()) }
    }

    /// Rewrites the journal without what was deleted before `keep_from_ms`; bytes before and after.
    pub(super) fn compact(&mut self, keep_from_ms: i64) -> Result<(u64, u64), Arc<JournalError>> {
        self.flush()?;
        let compacted = compact::compact(self.home.disk.as_ref(), &self.journal, keep_from_ms).map_err(Arc::new)?;
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
        // A snapshot of the old places is useless, not harmful: it no longer fits.
        let _ = self.save_snapshot();
        Ok((compacted.bytes_before, self.journal.end().0))
    }

    /// Saves a snapshot where the journal grew enough for it to matter.
    pub(super) fn save_snapshot_if_worth(&mut self) -> io::Result<bool> {
        let tail = self.journal.synced().0.saturating_sub(self.snapshot_end);
        if self.role.is_guest() || tail < self.snapshot_tail_bytes.max(1) {
            return Ok(false);
        }
        self.save_snapshot()
    }

    fn save_snapshot(&mut self) -> io::Result<bool> {
        let master = self.shared.master();
        // With the master held nothing new is accepted: what the engine knows is what the journal has.
        if !self.pending.frames.is_empty() || !self.shared.queue.is_idle() || self.journal.is_failed() {
            return Ok(false);
        }
        let engine = master.clone();
        drop(master);
        snapshot::save(self.home.disk.as_ref(), &self.home.snapshot(), &engine, &self.journal.resume())?;
        self.snapshot_end = self.journal.end().0;
        Ok(true)
    }

    /// The journals of this process, as far as they are written.
    pub(super) fn journals(&mut self) -> Result<Journals, Arc<JournalError>> {
        self.flush()?;
        let own = (Arc::clone(self.journal.file()), self.journal.end().0);
        let main = match &self.role {
            Role::Holder(_) => None,
            Role::Guest { main } => Some(Arc::clone(main)),
        };
        Ok(Journals { main, own, path: self.home.journal(), complete_from_ms: self.journal.complete_from_ms() })
    }

    /// Reads the whole journal where that was not done for a while; the damage, in words.
    pub(super) fn look_over(&mut self, now_ms: i64, every_ms: i64) -> Result<(), String> {
        let last = self.last_look_ms.replace(now_ms);
        if self.role.is_guest() || last.is_some_and(|last| now_ms.saturating_sub(last) < every_ms) {
            self.last_look_ms = last;
            return Ok(());
        }
        let found = repair::inspect(self.home.disk.as_ref(), self.journal.path()).map_err(|error| error.to_string())?;
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

    /// Reads the journal anew, from its beginning, and makes the index anew.
    pub(super) fn rebuild(&mut self) -> Result<usize, Arc<JournalError>> {
        self.flush()?;
        let _ = self.home.remove(&self.home.snapshot());
        self.snapshot_end = 0;
        let mut engine = Engine::new();
        engine.attach(Arc::new(self.role.sources(&self.journal)));
        let path = self.home.journal();
        let mut refused = 0;
        journal::replay(self.home.disk.as_ref(), &path, Offset(0), &mut |at, frame| {
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

    /// Reads the whole journal and compares what it makes with what stands in memory and in the index.
    pub(super) fn verify(&mut self) -> Result<Verification, Arc<JournalError>> {
        self.flush()?;
        let (disk, path) = (Arc::clone(&self.home.disk), self.home.journal());
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

/// The journals of one process, to be read on any thread.
pub(super) struct Journals {
    /// The holder's, in a guest.
    main: Option<Arc<dyn DiskFile>>,
    own: (Arc<dyn DiskFile>, u64),
    path: PathBuf,
    complete_from_ms: Option<i64>,
}

impl Journals {
    /// What stood at a moment.
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

/// Where the body of a record stands, as far as it can be read.
fn body_at(file: &Arc<dyn DiskFile>, id: MegramId, at: Offset) -> Option<erase::Body> {
    erase::find(file.as_ref(), id, at).ok().flatten()
}

/// What remembers, once a rule's body is erased, how much evidence it had used.
fn mark_at(file: &Arc<dyn DiskFile>, at: Offset) -> Option<Frame> {
    let (_, entry) = source::read_entry(file.as_ref(), at.0).ok()?.ok()?;
    match entry {
        Entry::Frame(Frame::Promoted { rule, rule_kind, watermark, .. }) => {
            Some(Frame::Marked { space: rule.space, entity: rule.entity, rule_kind, watermark })
        }
        Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_) => None,
    }
}
