//! What a memory is asked: writes, queries, and care on request.

use std::sync::{Arc, PoisonError, atomic::Ordering, mpsc::channel};

use crate::{
    Engine, Frame, MegramId, NewMegram, Potentials, Recall, RecallQuery, SopRecord, WriteError,
    service::{
        Accepted, Dream, ForgetFailed, Hindsight, MaintenanceError, Memory, MemoryStats, NotKept, Promise, Receipt,
        RefusedWrite, Verified,
        dreamer::Call,
        keeper::{self, Keeper},
    },
};

/// Bytes a record takes in a queue beside its texts.
const RECORD_OVERHEAD_BYTES: usize = 512;

impl Memory {
    /// Accepts an event; it is visible at once, and kept when its receipt says so.
    ///
    /// # Errors
    /// [`RefusedWrite`]; then nothing changed, and the refusal is counted.
    pub fn write(&self, now_ms: i64, draft: NewMegram) -> Result<Accepted, RefusedWrite> {
        self.write_all(now_ms, vec![draft])
    }

    /// Accepts several events, all or none; cheaper than one by one.
    ///
    /// # Errors
    /// As [`Memory::write`], for the first that is not valid.
    pub fn write_all(&self, now_ms: i64, drafts: Vec<NewMegram>) -> Result<Accepted, RefusedWrite> {
        let bytes = drafts.iter().map(size_of_draft).sum();
        self.change(bytes, |engine| drafts.into_iter().map(|draft| engine.write(now_ms, draft)).collect())
    }

    /// Appends experience that speaks against a rule.
    ///
    /// # Errors
    /// As [`Memory::write`].
    pub fn record_negative_feedback(
        &self,
        rule: MegramId,
        content: &str,
        task: Option<&str>,
        now_ms: i64,
    ) -> Result<Accepted, RefusedWrite> {
        self.change(content.len() + RECORD_OVERHEAD_BYTES, |engine| {
            engine.record_negative_feedback(rule, content, task, now_ms).map(|frame| vec![frame])
        })
    }

    /// Puts a law or a part of the persona at level T, unless it stands already.
    ///
    /// # Errors
    /// As [`Memory::write`].
    pub fn write_thinking(
        &self,
        now_ms: i64,
        space: &str,
        entity: &str,
        content: &str,
    ) -> Result<Accepted, RefusedWrite> {
        self.change(content.len() + RECORD_OVERHEAD_BYTES, |engine| {
            engine.write_thinking(now_ms, space, entity, content).map(|frame| frame.into_iter().collect())
        })
    }

    /// Takes in frames of another memory, e.g. imported ones; those that do not fit are left out.
    ///
    /// # Errors
    /// As [`Memory::write`].
    pub fn adopt(&self, frames: Vec<Frame>) -> Result<Accepted, RefusedWrite> {
        let bytes = frames.iter().map(size_of_frame).sum();
        self.change(bytes, |engine| Ok(frames.into_iter().filter(|frame| engine.apply(frame).is_ok()).collect()))
    }

    fn change(
        &self,
        bytes: usize,
        change: impl FnOnce(&mut Engine) -> Result<Vec<Frame>, WriteError>,
    ) -> Result<Accepted, RefusedWrite> {
        self.shared.queue.admit(bytes)?;
        let mut master = self.shared.master();
        // A copy, so that a refusal in the middle leaves nothing behind.
        let mut next = master.clone();
        let frames = change(&mut next)?;
        let ids = frames.iter().filter_map(keeper::recorded).collect();
        *master = next;
        let number = self.shared.queue.push(frames, bytes);
        self.shared.publish(&master);
        drop(master);
        Ok(Accepted { ids, receipt: Receipt::new(&self.shared.queue, number) })
    }

    /// What memory says about an intent; the recall of rules is remembered.
    #[must_use]
    pub fn recall(&self, query: &RecallQuery<'_>, now_ms: i64) -> Recall {
        let recall = self.shared.engine().recall(query, now_ms);
        self.remember_recall(&recall.frames);
        recall
    }

    /// The rules of a tag; their recall is remembered.
    #[must_use]
    pub fn query_c(&self, space: &str, entity: &str, now_ms: i64) -> Vec<SopRecord> {
        let (sops, frames) = self.shared.engine().query_c(space, entity, now_ms);
        self.remember_recall(&frames);
        sops
    }

    /// Both channels of a tag.
    #[must_use]
    pub fn query_mk(&self, space: &str, entity: &str, now_ms: i64) -> Potentials {
        self.shared.engine().query_mk(space, entity, now_ms)
    }

    /// The engine as it stands, for every other question; it does not change any more.
    #[must_use]
    pub fn engine(&self) -> Arc<Engine> {
        self.shared.engine()
    }

    fn remember_recall(&self, frames: &[Frame]) {
        if !frames.is_empty() {
            self.shared.queue.touch(frames.to_vec(), frames.iter().map(size_of_frame).sum());
        }
    }

    /// Forgets a record of level M, K or C, and erases its body from journal, snapshot and index before it returns.
    ///
    /// # Errors
    /// [`ForgetFailed`]; it says whether the record is forgotten and only its erasure is still open.
    pub fn forget(&self, id: MegramId, now_ms: i64) -> Result<(), ForgetFailed> {
        self.task(move |keeper| keeper.forget(id, now_ms)).map_err(|_| ForgetFailed::Closed)?
    }

    /// Waits until everything accepted so far is kept this well.
    ///
    /// # Errors
    /// [`NotKept`] at the first attempt that failed.
    pub fn flush(&self, promise: Promise) -> Result<(), NotKept> {
        self.shared.queue.settled(promise)
    }

    /// A task ended: the Dreamer has a look once its writes have settled.
    pub fn task_ended(&self) {
        if let Some((calls, _)) = self.dreamer.as_ref().filter(|_| !self.task_ended.swap(true, Ordering::AcqRel)) {
            // A Dreamer that is gone dreams no more.
            let _ = calls.send(Call::TaskEnded);
        }
    }

    /// Has the Dreamer run now, and waits for it; `None` where there is none, as in a guest.
    #[must_use]
    pub fn dream(&self) -> Option<Dream> {
        let (answer, dreamt) = channel();
        let (calls, _) = self.dreamer.as_ref()?;
        calls.send(Call::Now(answer)).ok()?;
        dreamt.recv().ok()
    }

    /// Rewrites the journal without what was deleted before `keep_from_ms`; its bytes before and after.
    ///
    /// # Errors
    /// [`MaintenanceError`]; the journal is then what it was.
    pub fn compact(&self, keep_from_ms: i64) -> Result<(u64, u64), MaintenanceError> {
        if self.guest {
            return Err(MaintenanceError::HeldElsewhere);
        }
        self.task(move |keeper| keeper.compact(keep_from_ms))?.map_err(MaintenanceError::Journal)
    }

    /// Reads the journal anew from its beginning, and has the index made anew; frames that did not fit.
    ///
    /// # Errors
    /// [`MaintenanceError`]; memory goes on as it was.
    pub fn rebuild(&self) -> Result<usize, MaintenanceError> {
        if self.guest {
            return Err(MaintenanceError::HeldElsewhere);
        }
        self.task(Keeper::rebuild)?.map_err(MaintenanceError::Journal)
    }

    /// The memory as it was at a moment, read from the journal; what was forgotten since is not in it.
    ///
    /// # Errors
    /// [`MaintenanceError`] where the journal cannot be read.
    pub fn as_of(&self, at_ms: i64) -> Result<Hindsight, MaintenanceError> {
        let journals = self.task(|keeper| keeper.journals())?.map_err(MaintenanceError::Journal)?;
        // Read on the caller's thread: the journal's has better things to do.
        journals.as_of(at_ms).map_err(|error| MaintenanceError::Journal(Arc::new(error)))
    }

    /// Reads everything there is and compares it.
    ///
    /// # Errors
    /// [`MaintenanceError`] where something cannot be read at all.
    pub fn verify(&self) -> Result<Verified, MaintenanceError> {
        if self.guest {
            return Err(MaintenanceError::HeldElsewhere);
        }
        self.task(Keeper::verify)?.map_err(MaintenanceError::Journal)
    }

    /// How the memory is.
    #[must_use]
    pub fn stats(&self) -> MemoryStats {
        let index = self.index.as_ref().map(|status| status.lock().unwrap_or_else(PoisonError::into_inner).clone());
        MemoryStats { engine: self.shared.engine().stats(), queue: self.shared.queue.stats(), index, guest: self.guest }
    }
}

fn size_of_draft(draft: &NewMegram) -> usize {
    draft.space.len() + draft.entity.len() + draft.content.len() + RECORD_OVERHEAD_BYTES
}

fn size_of_frame(frame: &Frame) -> usize {
    match frame {
        Frame::Written { megram: record } | Frame::Promoted { rule: record, .. } => {
            record.space.len() + record.entity.len() + record.content.len() + RECORD_OVERHEAD_BYTES
        }
        Frame::Recalled { ids, .. } | Frame::Deleted { ids, .. } => RECORD_OVERHEAD_BYTES + 40 * ids.len(),
        Frame::Demoted { .. } | Frame::Marked { .. } | Frame::Attempted { .. } => RECORD_OVERHEAD_BYTES,
    }
}
