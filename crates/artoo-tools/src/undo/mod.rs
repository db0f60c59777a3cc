//! Undo: a journal of the changes that artoo makes to files.
//!
//! Every change of files is recorded. Before a command runs without a view, the files that it may change are copied, and
//! afterwards the journal keeps those that differ. Moves and deletions are announced in the journal and reverted by
//! moving. [`UndoStore`] reverts an entry; that is recorded too.
//!
//! A commit of a view's changes copies nothing: its operations are written first, then each new file or folder is moved
//! to its path, and the old one into the journal, whatever its size.
//!
//! *Limits*: without a view, changes outside the workspace and the named paths are not seen, and changes that others make
//! there during the command count as its own. Extended attributes, access lists and holes of copied files are not
//! saved.

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

use std::path::PathBuf;

pub(crate) use act::{Act, tree_digest};
pub(crate) use attributes::Attributes;
pub(crate) use blobs::remove_tree;
pub(crate) use commit::{Stopped, Touched};
pub(crate) use facts::{OWNER, chmod_opened, set_time, with_mode};
pub(crate) use format::{Change, Operation};
pub(crate) use journal::{Journal, Subject};
pub(crate) use recorded::RecordedChanges;
pub(crate) use state::{Identity, State, of_stat, stat};
pub use store::{Entry, Item, ItemOutcome, Report, UndoError, UndoStore};
pub(crate) use survey::{UndoSurvey, is_system};
pub use taken_back::TakenBack;
pub(crate) use tree::{fingerprint, list};
pub(crate) use walk::names;

/// Maximum bytes of files copied into the undo journal before one command: a large source tree fits, copied in a second
/// or two.
#[doc(alias = "limit")]
pub const KEPT_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Maximum number of files and folders copied into the undo journal before one command.
#[doc(alias = "limit")]
pub const KEPT_MAX_ENTRIES: u64 = 20_000;

/// Maximum number of tasks in the undo journal; the oldest is deleted first.
pub const TASKS_MAX: usize = 50;

/// Maximum size of the undo journal in bytes; beyond it the oldest task is deleted.
#[doc(alias = "limit")]
pub const JOURNAL_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Days after which a task is deleted from the undo journal; a file that the user misses is usually missed within a
/// month.
#[doc(alias = "limit")]
pub const DAYS_MAX: i64 = 30;

/// The folder of the journal and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConfig {
    /// The journal's folder, created with mode 0700.
    pub folder: PathBuf,
    /// Maximum bytes copied before one command.
    pub max_bytes: u64,
    /// Maximum number of files and folders copied before one command.
    pub max_entries: u64,
    /// Maximum number of tasks.
    pub max_tasks: usize,
    /// Maximum bytes of all tasks.
    pub max_total_bytes: u64,
}

impl UndoConfig {
    /// An undo journal in this folder with the default limits.
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
