//! The memory stored in a data folder. Its Dreamer (a background pass that makes rules of experience) maintains it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use artoo_mkct::{
    Durability, Engine, Memory, Options,
    memory::{DamagePolicy, DurabilityError, MemoryWriteError, Observer, OpenError, OpenSummary, Receipt},
    record::{Frame, Megram, MegramId},
    rules::SopRecord,
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::distiller::PlainWords;
use crate::skill;

/// Maximum number of memory records for which the Dreamer runs when artoo closes, which takes some milliseconds. For a
/// larger memory it runs only in the background of longer runs.
const DREAM_AT_CLOSE_RECORDS: usize = 20_000;

/// Error text for a write that is never confirmed because the memory was closed.
pub(super) const CLOSED: &str = "the memory is closed";

/// The stored memory, which writes the frames (journal entries) of the memory role (R5).
#[derive(Debug)]
pub(super) struct Store {
    memory: Arc<Memory>,
    /// Whether a task has ended since this store was opened, so that the Dreamer may have new records to process.
    has_news: AtomicBool,
    /// Number of writes that were refused at once.
    refused: AtomicU64,
}

/// Callback that gets the frames (journal entries) of changes that others than R5 (the memory) made to the stored
/// memory.
pub(super) type OnChange = Box<dyn Fn(Vec<Value>) + Send + Sync>;

/// Passes changes of the stored memory to R5 (the memory), which then knows what the Dreamer changed.
struct Changes(OnChange);

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changes")
    }
}

impl Observer for Changes {
    fn changed(&self, frames: &[Frame]) {
        (self.0)(frames.iter().filter_map(|frame| serde_json::to_value(frame).ok()).collect());
    }
}

/// Why memory frames (journal entries) were not stored.
#[derive(Debug, thiserror::Error)]
enum Unkept {
    /// A frame is not valid JSON of its type.
    #[error("a record can't be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// This many records do not fit the records already in memory and were not stored.
    #[error("{0} record(s) did not fit what memory holds")]
    Unfitting(usize),
    /// The memory refused the frames, for example because it is closed.
    #[error(transparent)]
    Refused(#[from] MemoryWriteError),
}

/// Opens the memory of a folder. Returns the store, the records that the memory role (R5) starts with, and notes for
/// the user.
///
/// If another artoo has the memory open, this one reads it and writes to a file of its own, which the other one adopts.
///
/// `changes` gets the changes that the Dreamer makes, or another artoo's file brings.
pub(super) fn open(folder: &Path, changes: OnChange) -> Result<(Store, Engine, Vec<String>), OpenError> {
    let options = Options::default().with(|options| {
        options.distiller = Some(Arc::new(PlainWords));
        options.observer = Some(Arc::new(Changes(changes)));
        // A damaged memory is still used: valid records are kept; damaged bytes are moved to another file and reported.
        options.on_damage = DamagePolicy::Repair;
    });
    #[cfg(test)]
    let options = tests::planted(options);
    let (memory, summary) = Memory::open(folder, options)?;
    let engine = (*memory.engine()).clone();
    let store = Store { memory: Arc::new(memory), has_news: AtomicBool::new(false), refused: AtomicU64::new(0) };
    Ok((store, engine, notes(&summary)))
}

impl Store {
    /// The open memory, for reading or changing it for the user. The store can close only after the caller has dropped
    /// it.
    pub(super) fn memory(&self) -> Arc<Memory> {
        Arc::clone(&self.memory)
    }

    /// Queues memory frames (journal entries) for writing without waiting for the disk. The receiver gets the result
    /// when the frames are synced or have failed.
    pub(super) fn write(&self, frames: Vec<Value>) -> oneshot::Receiver<Result<(), String>> {
        let (done, answer) = oneshot::channel();
        // The caller may have ended with its task.
        let tell = |result: Result<(), String>| drop(done.send(result));
        match self.accept(frames) {
            Ok(receipt) => receipt.then(Durability::Synced, move |kept| tell(kept.map_err(|error| error.to_string()))),
            Err(error) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                tell(Err(error.to_string()));
            }
        }
        answer
    }

    /// Number of writes that memory refused when they were queued, not those that failed on the disk.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Parses frames and passes them to the memory; an error if one is not valid or was refused.
    fn accept(&self, frames: Vec<Value>) -> Result<Receipt, Unkept> {
        let frames: Vec<Frame> = frames.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
        let records =
            frames.iter().filter(|frame| matches!(frame, Frame::Written { .. } | Frame::Promoted { .. })).count();
        let accepted = self.memory.adopt(frames)?;
        match records.saturating_sub(accepted.ids.len()) {
            0 => Ok(accepted.receipt),
            missing => Err(Unkept::Unfitting(missing)),
        }
    }

    /// A memory rule that still has its fixed sentence and is not in `asked`, with the texts of its evidence; `None` if
    /// there is none, or if another artoo has the memory open.
    pub(super) fn unworded_rule(&self, asked: &BTreeSet<MegramId>) -> Option<(Megram, Vec<String>)> {
        let engine = self.memory.engine();
        let record = |id: MegramId| engine.get(id).ok().flatten();
        let is_guest = self.memory.stats().guest;
        let is_skill = |rule: &SopRecord| rule.tag.space.starts_with(skill::SPACE);
        let rules = engine.sop_records().into_iter();
        let rules = rules.filter(|rule| !is_guest && !asked.contains(&rule.id) && !is_skill(rule));
        let mut unworded = rules.filter_map(|rule| record(rule.id)).filter(|rule| rule.provenance.source.is_none());
        let rule = unworded.next()?;
        let evidence = rule.provenance.evidence.iter().filter_map(|id| Some(record(*id)?.content)).collect();
        Some((rule, evidence))
    }

    /// Replaces the text of a memory rule by `words`, written by the model `source`, without waiting for the disk.
    pub(super) fn reword(&self, rule: MegramId, words: &str, source: &str) {
        if let Err(error) = self.memory.reword(rule, words, source) {
            tracing::warn!("a rule keeps its words: {error}");
        }
    }

    /// Notes that a task ended, so that the Dreamer runs after the task's writes.
    pub(super) fn task_ended(&self) {
        self.has_news.store(true, Ordering::Relaxed);
        self.memory.task_ended();
    }

    /// Writes and syncs pending frames; waits for the disk.
    ///
    /// The Dreamer runs first if a task has ended, because a run with one task is too short for it to start by itself.
    pub(super) fn close(self) -> Result<(), DurabilityError> {
        if self.has_news.load(Ordering::Relaxed) && self.memory.engine().len() <= DREAM_AT_CLOSE_RECORDS {
            // If the Dreamer fails here, it tries again at a later close.
            drop(self.memory.dream());
        }
        Arc::into_inner(self.memory).map_or(Ok(()), Memory::close)
    }
}

/// Notes for the user about how the memory was opened: damage, missing bytes, another process using it.
fn notes(summary: &OpenSummary) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |text: String| notes.push(format!("memory: {text}"));
    if summary.guest {
        note("another artoo is using it; what this run learns is handed over to it".to_owned());
    }
    if let Some(damage) = &summary.damage {
        note(format!(
            "its journal was damaged in {} place(s); what is sound is kept, the rest was set aside in the data folder",
            damage.ranges.len()
        ));
    }
    if summary.truncated_tail_bytes > 0 {
        note(format!("{} bytes of an unfinished write were cut off", summary.truncated_tail_bytes));
    }
    if summary.missing_bytes > 0 {
        note(format!("{} bytes that it once had are gone: an old copy, or somebody cut it", summary.missing_bytes));
    }
    if let Some(folder) = &summary.old_index {
        note(format!("{} is an index of an earlier version; nothing updates it, so delete it", folder.display()));
    }
    if summary.refused_frames > 0 {
        note(format!("{} record(s) of the journal could not be replayed", summary.refused_frames));
    }
    if summary.adopted.damaged > 0 {
        note(format!("{} journal(s) of other runs were damaged and set aside", summary.adopted.damaged));
    }
    notes
}

#[cfg(test)]
mod tests;
