//! Undo: what artoo changes in a person's files, kept first, so that it can be brought back.
//!
//! Every act that may change files goes through a journal. Before a command runs, what stands in
//! the places it may change is kept; afterwards the journal holds only what differs. Moves and deletions are noted
//! before they are made, and taken back by moving. [`UndoStore`] brings an entry back, and is an act itself.
//!
//! A commit of what a command did in a view copies nothing: its operations are written down first, then each new thing
//! takes its place, and what stood there is moved into the act's folder, whatever its size.
//!
//! *Limits today*: what a command changes outside the workspace and the paths it names is not seen. Extended
//! attributes, access lists and holes in files are not kept. What somebody else changes in those places while a command
//! runs counts as the command's doing.

mod act;
mod attributes;
mod blobs;
mod commit;
mod facts;
pub(crate) mod fault;
mod format;
mod journal;
mod preview;
mod reconcile;
mod recorded;
mod restore;
mod resumed;
mod state;
mod store;
mod survey;
mod taken_back;
mod tree;
mod verdict;
mod walk;

use std::io;
use std::path::PathBuf;

pub(crate) use act::{Act, tree_digest};
pub(crate) use attributes::Attributes;
pub(crate) use commit::{Stopped, Touched};
pub(crate) use facts::{chmod_opened, set_time};
pub(crate) use format::{Change, Operation};
pub(crate) use journal::{Journal, Subject};
pub(crate) use recorded::RecordedChanges;
pub(crate) use state::{Identity, State, of_stat, stat};
pub use store::{Entry, Item, ItemOutcome, Report, UndoError, UndoStore};
pub(crate) use survey::{UndoSurvey, is_system};
pub(crate) use tree::{fingerprint, list};
pub(crate) use walk::names;

/// Bytes kept before one command: a large source tree fits, and copying it stays within a second or two.
#[doc(alias = "limit")]
pub const KEPT_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Files and folders kept before one command.
#[doc(alias = "limit")]
pub const KEPT_MAX_ENTRIES: u64 = 20_000;

/// Tasks whose changes can be brought back; the oldest goes first.
pub const TASKS_MAX: usize = 50;

/// Bytes of all that is kept, before the oldest task goes.
#[doc(alias = "limit")]
pub const JOURNAL_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Days after which a task's changes are no longer brought back: who has not missed a file in a month has let it go.
#[doc(alias = "limit")]
pub const DAYS_MAX: i64 = 30;

/// Where the journal lies, and how much it keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConfig {
    /// Its folder, made with mode 0700.
    pub folder: PathBuf,
    /// Bytes kept before one command.
    pub max_bytes: u64,
    /// Files and folders kept before one command.
    pub max_entries: u64,
    /// Tasks kept.
    pub max_tasks: usize,
    /// Bytes kept of all tasks.
    pub max_total_bytes: u64,
}

impl UndoConfig {
    /// The default limits.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            max_bytes: KEPT_MAX_BYTES,
            max_entries: KEPT_MAX_ENTRIES,
            max_tasks: TASKS_MAX,
            max_total_bytes: JOURNAL_MAX_BYTES,
        }
    }
}

#[cfg(test)]
mod tests;
fn survey_problem(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::TimedOut {
        return "what it may change could not be looked over in time".to_owned();
    }
    format!("what it may change can't be looked over: {error}")
}
