//! The memory of a data folder: opened, kept up by its Dreamer, written to, and answered for.

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

/// Records up to which memory is looked over at the end of a run: some milliseconds, which nobody waiting for the
/// prompt notices. A larger one is looked over while a longer run goes on.
const DREAM_AT_CLOSE_RECORDS: usize = 20_000;

/// Where R5's frames go.
#[derive(Debug)]
pub(super) struct Store {
    memory: Memory,
    /// Whether there is anything new since the Dreamer's last look that it may not get to.
    has_news: AtomicBool,
}

/// Why frames are not kept.
#[derive(Debug, thiserror::Error)]
enum Unkept {
    #[error("a record can't be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("{0} record(s) did not fit what memory holds")]
    Unfitting(usize),
    #[error(transparent)]
    Refused(#[from] MemoryWriteError),
}

/// Opens the memory of a folder: who keeps it, what R5 starts from, and what is to be said.
///
/// Where another artoo holds it, this one knows what was there and writes beside it; that one takes it in.
pub(super) fn open(folder: &Path) -> Result<(Store, Engine, Vec<String>), OpenError> {
    let options = Options::default().with(|options| {
        options.distiller = Some(Arc::new(PlainWords));
        // Damage is no reason to do without a memory: the sound records stay, the damaged bytes are set aside and reported.
        options.on_damage = DamagePolicy::Repair;
    });
    let (memory, summary) = Memory::open(folder, options)?;
    let engine = (*memory.engine()).clone();
    Ok((Store { memory, has_news: AtomicBool::new(false) }, engine, notes(&summary)))
}

impl Store {
    /// Takes frames; the answer comes when they are synced, or not. Never waits for the disk.
    pub(super) fn write(&self, frames: Vec<Value>) -> oneshot::Receiver<Result<(), String>> {
        let (done, answer) = oneshot::channel();
        // Whoever asked may have ended with its task.
        let tell = |result: Result<(), String>| drop(done.send(result));
        match self.accept(frames) {
            Ok(receipt) => receipt.then(Durability::Synced, move |kept| tell(kept.map_err(|error| error.to_string()))),
            Err(error) => tell(Err(error.to_string())),
        }
        answer
    }

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

    /// A task ended: once its writes have settled, the Dreamer has a look.
    pub(super) fn task_ended(&self) {
        self.has_news.store(true, Ordering::Relaxed);
        self.memory.task_ended();
    }

    /// Writes and syncs what is left; waits for the disk.
    ///
    /// A run of one task ends long before the Dreamer's time comes, so that it is called here.
    pub(super) fn close(self) -> Result<(), DurabilityError> {
        if self.has_news.load(Ordering::Relaxed) && self.memory.engine().len() <= DREAM_AT_CLOSE_RECORDS {
            // What it could not do now it does at another end.
            drop(self.memory.dream());
        }
        self.memory.close()
    }
}

/// Why the memory of a data folder can't be written as a LevelDB.
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

/// Writes the memory of a data folder as a LevelDB into a new or empty folder; returns the number of records.
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

/// What a person should know about how memory was found.
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
