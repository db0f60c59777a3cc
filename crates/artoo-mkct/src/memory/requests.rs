//! The calls of an open memory: writes, queries, and maintenance on request.

use std::{
    io::{BufRead, Write},
    sync::{Arc, atomic::Ordering, mpsc::channel},
};

use crate::{
    advice::{Recall, recall::RecallQuery},
    engine::{Engine, Potentials},
    export::{ExportError, ImportReport},
    journal::JournalError,
    memory::{
        dreamer::{Command, Dream},
        error::{Durability, DurabilityError, MaintenanceError, MemoryForgetError, MemoryWriteError},
        handle::Memory,
        progress::Receipt,
        report::{AcceptedWrite, Hindsight, MemoryStats, Verification},
        writer::{self, JournalWriter},
    },
    record::{ForgetError, Frame, MegramId, NewMegram, Tag},
    rules::{PromotionTicket, SopRecord, ThinkingProposal},
};

/// Number of bytes that a record takes in the queue besides its texts.
const RECORD_OVERHEAD_BYTES: usize = 512;

impl Memory {
    /// Accepts an event: every later query sees the event, and the receipt reports when it is on the disk.
    ///
    /// `now_ms` should be the time of [`crate::Options::clock`]. While the last write was more than a day off, the
    /// Dreamer deletes and demotes nothing, and reports [`crate::rules::SweepSkipped::WritesOffClock`].
    ///
    /// # Errors
    /// [`MemoryWriteError`] if the draft is not valid, the queue is full, the journal failed or the memory is closed;
    /// then nothing changed.
    pub fn write(&self, draft: NewMegram, now_ms: i64) -> Result<AcceptedWrite, MemoryWriteError> {
        self.write_all(vec![draft], now_ms)
    }

    /// Accepts several events, all or none; cheaper than one call for each event.
    ///
    /// # Errors
    /// The same as [`Memory::write`], for the first draft that is not valid.
    pub fn write_all(&self, drafts: Vec<NewMegram>, now_ms: i64) -> Result<AcceptedWrite, MemoryWriteError> {
        self.compare_clocks(now_ms);
        self.change(|engine| drafts.into_iter().map(|draft| engine.write(draft, now_ms)).collect::<Result<_, _>>())
    }

    /// Records whether a lesson that was recalled for a task helped.
    ///
    /// # Errors
    /// The same as [`Memory::write`]; also when `lesson` is not a lesson.
    pub fn lesson_outcome(
        &self,
        lesson: MegramId,
        worked: bool,
        task: Option<&str>,
        now_ms: i64,
    ) -> Result<AcceptedWrite, MemoryWriteError> {
        self.change(|engine| engine.lesson_outcome(lesson, worked, task, now_ms).map(|frame| vec![frame]))
    }

    /// Records that a person found the result of a task wrong, see [`Engine::correct`]; the ids are empty if nothing
    /// was written.
    ///
    /// # Errors
    /// The same as [`Memory::write`].
    pub fn correct(&self, task: &str, words: &str, now_ms: i64) -> Result<AcceptedWrite, MemoryWriteError> {
        self.change(|engine| engine.correct(task, words, now_ms))
    }

    /// Accepts a note of a person, which is kept until it is deleted on request.
    ///
    /// # Errors
    /// The same as [`Memory::write`].
    pub fn remember(&self, text: &str, now_ms: i64) -> Result<AcceptedWrite, MemoryWriteError> {
        self.write(NewMegram::note(text), now_ms)
    }

    /// Adopts a text for level T that rules propose; [`Memory::forget`] revokes it.
    ///
    /// # Errors
    /// The same as [`Memory::write`]; also when the text is not proposed, or no longer.
    pub fn adopt_thinking(&self, text: &ThinkingProposal, now_ms: i64) -> Result<AcceptedWrite, MemoryWriteError> {
        self.change(|engine| engine.adopt_thinking(text, now_ms).map(|frame| vec![frame]))
    }

    /// Accepts an event that contradicts a rule.
    ///
    /// # Errors
    /// The same as [`Memory::write`]; also when `rule` is not a rule.
    pub fn record_negative_feedback(
        &self,
        rule: MegramId,
        content: &str,
        task: Option<&str>,
        now_ms: i64,
    ) -> Result<AcceptedWrite, MemoryWriteError> {
        self.compare_clocks(now_ms);
        self.change(|engine| engine.record_negative_feedback(rule, content, task, now_ms).map(|frame| vec![frame]))
    }

    /// Adds a law or a part of the persona at level T; does nothing if the tag has the same text already.
    ///
    /// # Errors
    /// The same as [`Memory::write`]; also when the tag has another law.
    pub fn write_thinking(&self, tag: &Tag, content: &str, now_ms: i64) -> Result<AcceptedWrite, MemoryWriteError> {
        self.change(|engine| engine.write_thinking(tag, content, now_ms).map(|frame| frame.into_iter().collect()))
    }

    /// Makes a rule of level C, with the text `rule`, from a ticket of [`Engine::promotions`].
    ///
    /// # Errors
    /// The same as [`Memory::write`], and [`MemoryWriteError::Promote`] if the text is not valid or the evidence
    /// changed since.
    pub fn promote(
        &self,
        ticket: &PromotionTicket,
        rule: &str,
        now_ms: i64,
    ) -> Result<AcceptedWrite, MemoryWriteError> {
        self.change(|engine| engine.promote(ticket, rule, now_ms).map(|frame| vec![frame]))
    }

    /// Replaces the text of a rule, see [`Engine::reword`], and tells the observer; the ids are empty if nothing
    /// changed.
    ///
    /// # Errors
    /// The same as [`Memory::write`].
    pub fn reword(&self, rule: MegramId, text: &str, source: &str) -> Result<AcceptedWrite, MemoryWriteError> {
        let mut told = Vec::new();
        let accepted = self.change(|engine| {
            told.extend(engine.reword(rule, text, source));
            Ok::<_, MemoryWriteError>(told.clone())
        })?;
        self.shared.tell(&told);
        Ok(accepted)
    }

    /// Applies frames of another memory, e.g. of its journal; frames that are not valid here are skipped.
    ///
    /// # Errors
    /// The same as [`Memory::write`].
    pub fn adopt(&self, frames: Vec<Frame>) -> Result<AcceptedWrite, MemoryWriteError> {
        let fitting = |engine: &mut Engine| frames.into_iter().filter(|frame| engine.apply(frame).is_ok()).collect();
        self.change(|engine| Ok::<_, MemoryWriteError>(fitting(engine)))
    }

    /// Writes the memory as JSON lines, which [`Memory::import`] reads.
    ///
    /// # Errors
    /// [`ExportError`] if the text of a record cannot be read back or a line cannot be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        self.engine().export(out)
    }

    /// Adds what [`Memory::export`] wrote, all or nothing; records that exist already or were deleted on request here
    /// are skipped.
    ///
    /// # Errors
    /// The same as [`Memory::write`], and [`MemoryWriteError::Import`] with the line that is not valid. An export that
    /// is larger than [`crate::Options::max_queued_bytes`] is rejected.
    pub fn import(&self, input: &mut dyn BufRead) -> Result<(ImportReport, AcceptedWrite), MemoryWriteError> {
        let mut report = ImportReport::default();
        let accepted = self.change(|engine| {
            let mut frames = Vec::new();
            report = engine.import(input, &mut |frame| frames.push(frame))?;
            Ok::<_, MemoryWriteError>(frames)
        })?;
        Ok((report, accepted))
    }

    /// Stores how far the time of a write is from the clock that the Dreamer uses.
    fn compare_clocks(&self, now_ms: i64) {
        let gap_ms = now_ms.saturating_sub(self.reopen.options.clock.wall_ms());
        self.shared.write_gap_ms.store(gap_ms, Ordering::Release);
    }

    /// Applies a change to a copy of the engine, queues its frames, and publishes the copy.
    fn change<E: Into<MemoryWriteError>>(
        &self,
        change: impl FnOnce(&mut Engine) -> Result<Vec<Frame>, E>,
    ) -> Result<AcceptedWrite, MemoryWriteError> {
        let queue = &self.shared.queue;
        let mut master = self.shared.master();
        // A copy, so that an error in the middle changes nothing.
        let mut next = master.clone();
        let frames = change(&mut next).map_err(Into::into)?;
        let bytes = frames.iter().map(size_of_frame).sum();
        queue.progress.admit(bytes)?;
        let ids = frames.iter().filter_map(writer::recorded).collect();
        *master = next;
        let number = queue.push(frames, bytes);
        self.shared.publish(&master);
        drop(master);
        Ok(AcceptedWrite { ids, receipt: Receipt::new(&queue.progress, number) })
    }

    /// Advice on an intent; also records which rules were returned.
    #[must_use]
    pub fn recall(&self, query: &RecallQuery<'_>, now_ms: i64) -> Recall {
        let more = self.reopen.options.similarity.as_deref();
        let recall = self.shared.engine().recall_with(query, more, now_ms);
        self.remember_recall(&recall.frames);
        recall
    }

    /// The rules of a tag; also records that they were returned.
    #[doc(alias = "rules")]
    #[must_use]
    pub fn query_c(&self, tag: &Tag, now_ms: i64) -> Vec<SopRecord> {
        let (sops, frames) = self.shared.engine().query_c(tag, now_ms);
        self.remember_recall(&frames);
        sops
    }

    /// Attention and decision of a tag, and the action they imply.
    #[doc(alias = "potentials")]
    #[must_use]
    pub fn query_mk(&self, tag: &Tag, now_ms: i64) -> Potentials {
        self.shared.engine().query_mk(tag, now_ms)
    }

    /// A copy of the engine as it is now, for all other queries; later changes are not in the copy.
    #[must_use]
    pub fn engine(&self) -> Arc<Engine> {
        self.shared.engine()
    }

    /// Queues the frames that record which rules a query returned.
    fn remember_recall(&self, frames: &[Frame]) {
        if !frames.is_empty() {
            self.shared.queue.push_recalls(frames.to_vec(), frames.iter().map(size_of_frame).sum());
        }
    }

    /// Deletes a record that is not a law on request, and erases its text from the journal and the snapshot before it
    /// returns.
    ///
    /// # Errors
    /// [`MemoryForgetError`], which says whether the record is deleted and only the erasure of its text failed.
    pub fn forget(&self, id: MegramId, now_ms: i64) -> Result<(), MemoryForgetError> {
        self.task(move |writer| writer.forget(id, now_ms)).map_err(|_| MemoryForgetError::Closed)?
    }

    /// Deletes several records on request, one after the other; records that no longer exist are skipped.
    ///
    /// # Errors
    /// The first error of [`Memory::forget`]; all records that can be deleted are.
    pub fn forget_all(&self, ids: &[MegramId], now_ms: i64) -> Result<(), MemoryForgetError> {
        let unknown =
            |error: &MemoryForgetError| matches!(error, MemoryForgetError::Refused(ForgetError::Unknown { .. }));
        let mut failed = ids.iter().filter_map(|id| self.forget(*id, now_ms).err()).filter(|error| !unknown(error));
        let first = failed.next();
        failed.for_each(drop);
        first.map_or(Ok(()), Err)
    }

    /// Waits until every write accepted so far has this durability.
    ///
    /// # Errors
    /// [`DurabilityError`] at the first attempt to write that failed.
    pub fn flush(&self, durability: Durability) -> Result<(), DurabilityError> {
        self.shared.queue.progress.wait_all(durability)
    }

    /// Notifies the Dreamer that a task ended, so that it runs [`super::DreamTimes::settle`] later.
    pub fn task_ended(&self) {
        if let Some((commands, _)) = self.dreamer.as_ref().filter(|_| !self.task_ended.swap(true, Ordering::AcqRel)) {
            // The Dreamer's thread may have ended.
            let _ = commands.send(Command::TaskEnded);
        }
    }

    /// Runs the Dreamer now and waits for its report; `None` if there is no Dreamer, as in a guest.
    #[doc(alias = "maintenance")]
    #[must_use]
    pub fn dream(&self) -> Option<Dream> {
        let (answer, finished) = channel();
        let (commands, _) = self.dreamer.as_ref()?;
        commands.send(Command::Run(answer)).ok()?;
        finished.recv().ok()
    }

    /// Rewrites the journal without records that were deleted before `keep_from_ms`; returns its length in bytes before
    /// and after.
    ///
    /// # Errors
    /// [`MaintenanceError`]; the journal is unchanged then.
    pub fn compact(&self, keep_from_ms: i64) -> Result<(u64, u64), MaintenanceError> {
        self.maintain(move |writer| writer.compact(keep_from_ms))
    }

    /// Replays the journal from its beginning to rebuild the engine; returns the number of frames that could not be
    /// applied.
    ///
    /// # Errors
    /// [`MaintenanceError`]; the memory stays as it was.
    pub fn rebuild(&self) -> Result<usize, MaintenanceError> {
        self.maintain(JournalWriter::rebuild)
    }

    /// The memory as it was at `at_ms`, read from the journal; records deleted on request since are not in it.
    ///
    /// # Errors
    /// [`MaintenanceError::Journal`] if the journal cannot be read.
    #[doc(alias = "hindsight")]
    pub fn as_of(&self, at_ms: i64) -> Result<Hindsight, MaintenanceError> {
        let journals = self.task(|writer| writer.journals())?.map_err(MaintenanceError::Journal)?;
        // Read on the caller's thread, so that writes need not wait.
        journals.as_of(at_ms).map_err(|error| MaintenanceError::Journal(Arc::new(error)))
    }

    /// Replays the whole journal and compares the result with the engine in RAM.
    ///
    /// # Errors
    /// [`MaintenanceError`] if the journal cannot be read at all.
    pub fn verify(&self) -> Result<Verification, MaintenanceError> {
        self.maintain(JournalWriter::verify)
    }

    /// Runs a maintenance step on the journal's thread; `MaintenanceError::HeldElsewhere` in a guest.
    fn maintain<T: Send + 'static>(
        &self,
        step: impl FnOnce(&mut JournalWriter) -> Result<T, Arc<JournalError>> + Send + 'static,
    ) -> Result<T, MaintenanceError> {
        if self.guest {
            return Err(MaintenanceError::HeldElsewhere);
        }
        self.task(step)?.map_err(MaintenanceError::Journal)
    }

    /// Counts of records and of queued writes.
    #[must_use]
    pub fn stats(&self) -> MemoryStats {
        let queue = self.shared.queue.progress.stats();
        MemoryStats { engine: self.shared.engine().stats(), queue, guest: self.guest }
    }
}

/// Number of bytes that a frame takes in the queue, about.
fn size_of_frame(frame: &Frame) -> usize {
    let texts = match frame {
        Frame::Written { megram: record } | Frame::Promoted { rule: record, .. } => record.text_bytes(),
        Frame::Recalled { ids, .. } | Frame::Deleted { ids, .. } => 40 * ids.len(),
        Frame::Demoted { .. } | Frame::Marked { .. } | Frame::Attempted { .. } => 0,
    };
    RECORD_OVERHEAD_BYTES + texts
}
