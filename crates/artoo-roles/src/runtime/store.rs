//! The memory stored in a data folder. Its Dreamer (a background pass that makes rules of experience) maintains it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artoo_mkct::{
    Durability, Engine, Memory, Options,
    disk::SystemDisk,
    leveldb::IndexError,
    memory::{DamagePolicy, DurabilityError, MemoryWriteError, OpenError, OpenSummary, Receipt},
    record::Frame,
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::distiller::PlainWords;

/// Maximum number of memory records for which the Dreamer runs when artoo closes, which takes some milliseconds. For a
/// larger memory it runs only in the background of longer runs.
const DREAM_AT_CLOSE_RECORDS: usize = 20_000;

/// The stored memory, which writes the frames (journal entries) of the memory role (R5).
#[derive(Debug)]
pub(super) struct Store {
    memory: Memory,
    /// Whether a task has ended since this store was opened, so that the Dreamer may have new records to process.
    has_news: AtomicBool,
}

/// Why memory frames (journal entries) could not be stored.
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
pub(super) fn open(folder: &Path) -> Result<(Store, Engine, Vec<String>), OpenError> {
    let options = Options::default().with(|options| {
        options.distiller = Some(Arc::new(PlainWords));
        // A damaged memory is still used: valid records are kept; damaged bytes are moved to another file and reported.
        options.on_damage = DamagePolicy::Repair;
    });
    let (memory, summary) = Memory::open(folder, options)?;
    let engine = (*memory.engine()).clone();
    Ok((Store { memory, has_news: AtomicBool::new(false) }, engine, notes(&summary)))
}

impl Store {
    /// Queues memory frames (journal entries) for writing without waiting for the disk. The receiver gets the result
    /// when the frames are synced or have failed.
    pub(super) fn write(&self, frames: Vec<Value>) -> oneshot::Receiver<Result<(), String>> {
        let (done, answer) = oneshot::channel();
        // The caller may have ended with its task.
        let tell = |result: Result<(), String>| drop(done.send(result));
        match self.accept(frames) {
            Ok(receipt) => receipt.then(Durability::Synced, move |kept| tell(kept.map_err(|error| error.to_string()))),
            Err(error) => tell(Err(error.to_string())),
        }
        answer
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
        self.memory.close()
    }
}

/// Why the memory of a data folder could not be exported as a LevelDB.
#[derive(Debug, thiserror::Error)]
pub enum MemoryIndexError {
    /// The data folder holds no memory.
    #[error("there is no memory in {} yet", folder.display())]
    Missing {
        /// The data folder.
        folder: PathBuf,
    },
    /// The memory can't be opened.
    #[error(transparent)]
    Memory(#[from] OpenError),
    /// The target folder is not empty or can't be written, or LevelDB failed.
    #[error(transparent)]
    Target(#[from] IndexError),
}

/// Exports the memory of a data folder as a LevelDB into a new or empty folder; returns the number of records.
///
/// # Errors
/// [`MemoryIndexError`]; a folder that is not empty is left unchanged.
pub fn export_memory_index(data_dir: &Path, target: &Path) -> Result<usize, MemoryIndexError> {
    if !data_dir.join("memory.journal").is_file() {
        return Err(MemoryIndexError::Missing { folder: data_dir.to_owned() });
    }
    let (memory, _) = Memory::open(data_dir, Options::default().with(|options| options.dream = None))?;
    Ok(artoo_mkct::leveldb::export(&memory.engine(), &SystemDisk, target)?)
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
