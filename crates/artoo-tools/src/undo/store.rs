//! Lists and reverts the entries of the undo journal.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::{Environment, Timestamp};

use super::UndoConfig;
use super::blobs::BlobDir;
use super::format::{Done, Ended, Header, VERSION};
use super::journal::{self, Journal};
use super::preview::Preview;
use super::restore::{Restoring, Told, Undone};
use super::resumed::Resumed;
use crate::activity::{Activity, Meter, Stage, Unit};
use crate::limit::Limit;
use crate::paths;
use crate::protect::Protected;
use crate::trash;

/// Longest wait for an act in progress, since a user who wants to undo should not wait for the end of a command.
const WAIT: Duration = Duration::from_secs(2);

/// Time limit of an undo: every file may have to be copied on a slow disk.
#[doc(alias = "limit")]
const UNDO_TIMEOUT: Duration = Duration::from_secs(600);

/// Prefix of ids of journal entries that undos themselves write; a number follows.
const UNDO_PREFIX: &str = "undo-";

/// The undo journal of a user, for listing and reverting its entries.
#[derive(Debug, Clone)]
pub struct UndoStore {
    config: UndoConfig,
    environment: Environment,
    /// The meter of an undo in progress, shared by clones.
    meter: Arc<Meter>,
}

/// An entry of the undo journal: one task that changed something, or one undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The entry's name: a task's id, or `undo-` and a number.
    pub id: String,
    /// When the last act began.
    pub at: Timestamp,
    /// The acts, one line each.
    pub acts: Vec<String>,
    /// Number of paths that differ.
    pub changes: usize,
    /// Acts whose changes can't be undone, with the reason.
    pub not_undoable: Vec<String>,
    /// Whether artoo ended before it recorded the end of one of the acts.
    pub interrupted: bool,
    /// Whether the entry was undone completely.
    pub undone: bool,
    /// The entry that this undo reverted.
    pub undoes: Option<String>,
}

/// One path of an undo's report, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The path on one line, with escapes.
    pub path: String,
    /// The action: `removed`, `brought back`, `moved back`, `taken out of the trash`, `given its mode`.
    pub action: &'static str,
    /// The outcome of the action.
    pub outcome: ItemOutcome,
}

/// What an undo did with one path: restored, unchanged, or left as it is and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemOutcome {
    /// The path was restored; in a preview: it would be.
    Done,
    /// The path was in this state already.
    Already,
    /// Another program changed the path since; it is left as it is.
    Conflict {
        /// The present state.
        reason: String,
    },
    /// The path can't be restored.
    Impossible {
        /// The reason.
        reason: String,
    },
}

/// The result of an undo: the outcome for each path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The outcome for each path.
    pub items: Vec<Item>,
    /// Acts whose changes can't be undone, with the reason.
    pub not_undoable: Vec<String>,
    /// The undo's own entry: undoing it restores the task's changes. `None` if nothing was changed.
    pub redo: Option<String>,
}

/// Why an undo did not start, such as an unknown or already undone entry, or a busy journal.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// No entry has this id.
    #[error("there is no entry {given:?} in the undo journal")]
    Unknown {
        /// The given text.
        given: String,
    },
    /// Several entries start with the given text.
    #[error("{given:?} begins more than one entry of the undo journal")]
    Ambiguous {
        /// The given text.
        given: String,
    },
    /// Another process is changing files.
    #[error("another artoo is changing files right now")]
    Busy,
    /// The entry was undone already.
    #[error("{id} was undone already")]
    Undone {
        /// The id of the entry.
        id: String,
    },
    /// The journal can't be read or written.
    #[error("the undo journal can't be used")]
    Io(#[from] io::Error),
}

impl UndoStore {
    /// The undo journal of this configuration; opens no file yet.
    #[must_use]
    pub fn open(config: UndoConfig, environment: &Environment) -> Self {
        Self { config, environment: environment.clone(), meter: Arc::default() }
    }

    /// The configuration of the journal.
    pub(super) fn config(&self) -> &UndoConfig {
        &self.config
    }

    /// The deadline of one undo, from now on; its work advances the store's meter.
    pub(super) fn limit(&self) -> Limit {
        Limit::metered(UNDO_TIMEOUT, &self.meter)
    }

    /// Opens the journal for acts and undos, with the protected places, which are slow to find.
    pub(super) fn journal(&self) -> Journal {
        let protected = Protected::new(&self.environment, std::slice::from_ref(&self.config.folder));
        Journal::new(self.config.clone(), protected)
    }

    /// Every entry, newest first.
    /// # Errors
    /// If the journal can't be read.
    pub fn entries(&self) -> Result<Vec<Entry>, UndoError> {
        let mut entries = Vec::new();
        for id in journal::entry_names(&self.config.folder)? {
            let acts: Vec<Ended> = self.acts(&id)?.into_iter().map(|(_, ended)| ended).collect();
            entries.extend(entry(id, &acts));
        }
        entries.sort_by(|one, two| (two.at, &two.id).cmp(&(one.at, &one.id)));
        // Up to here the flag says that an undo restored everything it tried to.
        let undone: Vec<bool> = entries.iter().map(|entry| is_undone(&entry.id, &entries, 0)).collect();
        for (entry, undone) in entries.iter_mut().zip(undone) {
            entry.undone = undone;
        }
        Ok(entries)
    }

    /// Deletes the oldest entries until one more fits the limits of the journal, and all that are too old.
    /// # Errors
    /// If the journal can't be used, or another process changes files.
    pub fn clean(&self) -> Result<(), UndoError> {
        let journal = self.journal();
        let _lock = self.lock(&journal)?;
        Ok(journal.forget_oldest()?)
    }

    /// How many tasks were deleted from the journal so far because it exceeded its limits.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        journal::forgotten(&self.config.folder).tasks
    }

    /// The entry with this id, or the only one whose id starts with it.
    /// # Errors
    /// If there is no such entry, or more than one.
    pub fn find(&self, given: &str) -> Result<Entry, UndoError> {
        let entries = self.entries()?;
        if let Some(entry) = entries.iter().find(|entry| entry.id == given) {
            return Ok(entry.clone());
        }
        let mut fitting = entries.into_iter().filter(|entry| !given.is_empty() && entry.id.starts_with(given));
        match (fitting.next(), fitting.next()) {
            (Some(entry), None) => Ok(entry),
            (Some(_), Some(_)) => Err(UndoError::Ambiguous { given: given.to_owned() }),
            (None, _) => Err(UndoError::Unknown { given: given.to_owned() }),
        }
    }

    /// The newest journal entry of a task that is not undone; `None` if there is none.
    pub fn last(&self) -> Result<Option<Entry>, UndoError> {
        Ok(self.entries()?.into_iter().find(|entry| entry.undoes.is_none() && !entry.undone))
    }

    /// What an undo of this entry would do now. If a later act of the entry changed the same path, the outcome of the
    /// earlier one can't be predicted.
    /// # Errors
    /// If the entry is missing, was undone, or is still being written.
    pub fn preview(&self, id: &str) -> Result<Report, UndoError> {
        let Ready { not_undoable, acts, resumed, limit, .. } = self.ready(id)?;
        let mut preview = Preview::default();
        for done in acts.iter().rev().flat_map(|(_, ended)| ended.done.iter().rev()) {
            preview.add(done, &resumed, &limit);
        }
        preview.items.extend(items(resumed.leftovers()));
        Ok(Report { items: preview.items, not_undoable, redo: None })
    }

    /// Undoes an entry, its last act first. Paths that were changed since are left as they are.
    pub fn undo(&self, id: &str) -> Result<Report, UndoError> {
        let report = self.undo_entry(id);
        self.meter.end();
        report
    }

    /// Undoes an entry; see [`Self::undo`].
    fn undo_entry(&self, id: &str) -> Result<Report, UndoError> {
        let Ready { not_undoable, acts, resumed, limit, journal, lock } = self.ready(id)?;
        let own = self.next_undo()?;
        let header = Header {
            version: VERSION,
            at: journal::now(),
            tool: "undo".to_owned(),
            what: format!("undoes {id}"),
            not_undoable: None,
            undoes: Some(id.to_owned()),
            call: None,
        };
        let entry = self.config.folder.join(&own);
        let mut act = journal.open(&entry, header, None, lock, &limit)?;
        let mut told: Vec<Told> = Vec::new();
        let total = acts.iter().flat_map(|(_, ended)| ended.done.iter().map(paths_of)).sum::<usize>() as u64;
        limit.meter.begin(Stage { verb: "restoring", unit: Unit::Entries, total: Some(total), passes: 1 });
        let mut undone = Undone { room: self.config.max_bytes, ..Undone::default() };
        for (source, ended) in acts.iter().rev() {
            let mut restoring = Restoring::new(&mut act, source, &resumed, &limit, &mut undone);
            for done in ended.done.iter().rev() {
                told.extend(restoring.take_back(done));
            }
        }
        let items = items(told.into_iter().chain(resumed.leftovers()));
        let is_left = |item: &Item| !matches!(item.outcome, ItemOutcome::Done | ItemOutcome::Already);
        act.close(&[], !items.iter().any(is_left), &limit)?;
        Ok(Report { items, not_undoable, redo: entry.is_dir().then_some(own) })
    }

    /// The progress of an undo that this store or a clone of it has begun; `None` if none runs.
    #[must_use]
    pub fn activity(&self) -> Option<Activity> {
        self.meter.activity("undo")
    }

    /// Takes the lock of the journal; [`UndoError::Busy`] if an act holds it for longer than [`WAIT`].
    pub(super) fn lock(&self, journal: &Journal) -> Result<journal::Lock, UndoError> {
        let locked = journal.lock(&Limit::after(WAIT));
        let problem = |error: io::Error| {
            if error.kind() == io::ErrorKind::TimedOut { UndoError::Busy } else { UndoError::Io(error) }
        };
        locked.map_err(problem)
    }

    /// Takes the journal's lock, and finds the changes of the entry's acts that a crash interrupted. `Unknown` or
    /// `Undone` if there is nothing to undo.
    fn ready(&self, id: &str) -> Result<Ready, UndoError> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|entry| entry.id == id);
        let entry = entry.ok_or_else(|| UndoError::Unknown { given: id.to_owned() })?;
        if entry.undone {
            return Err(UndoError::Undone { id: entry.id.clone() });
        }
        let journal = self.journal();
        let (lock, limit) = (self.lock(&journal)?, self.limit());
        let undos = || entries.iter().filter(|undo| undo.undoes.as_deref() == Some(id));
        for entry in [entry].into_iter().chain(undos()) {
            journal.reconcile_open(&self.config.folder.join(&entry.id), &limit)?;
        }
        let mut resumed = Resumed::default();
        for undo in undos().rev().filter(|undo| !undo.undone) {
            let cut_off = self.acts(&undo.id)?.into_iter().filter(|(_, ended)| ended.interrupted);
            cut_off.for_each(|(_, ended)| resumed.add(ended));
        }
        Ok(Ready { not_undoable: entry.not_undoable.clone(), acts: self.acts(id)?, resumed, limit, journal, lock })
    }

    /// The acts of a journal entry with their changes. An interrupted act that is not reconciled yet has none.
    pub(super) fn acts(&self, id: &str) -> io::Result<Vec<(BlobDir, Ended)>> {
        let mut all = Vec::new();
        for (_, blobs) in journal::acts(&self.config.folder.join(id))? {
            let begun = || blobs.begun().ok().flatten();
            let interrupted = |header| Ended { header, done: Vec::new(), interrupted: true, complete: false };
            let ended = blobs.ended()?.or_else(|| begun().map(|begun| interrupted(begun.header)));
            all.extend(ended.map(|ended| (blobs, ended)));
        }
        Ok(all)
    }

    /// The id under which the next undo is stored in the journal: `undo-` and a number.
    fn next_undo(&self) -> io::Result<String> {
        let names = journal::entry_names(&self.config.folder)?;
        let numbers = names.iter().filter_map(|name| name.strip_prefix(UNDO_PREFIX)?.parse::<u64>().ok());
        Ok(format!("{UNDO_PREFIX}{}", numbers.max().unwrap_or(0) + 1))
    }
}

/// A journal entry that is complete and can be undone, with the journal's lock held.
struct Ready {
    not_undoable: Vec<String>,
    acts: Vec<(BlobDir, Ended)>,
    resumed: Resumed,
    limit: Limit,
    journal: Journal,
    lock: journal::Lock,
}

/// The number of paths that an act changed with this entry; notes of the trash are not counted.
fn paths_of(done: &Done) -> usize {
    match done {
        Done::Changed { changes } => changes.iter().filter(|change| !trash::is_bookkeeping(&change.path)).count(),
        Done::Moved { .. } | Done::Torn { .. } => 1,
    }
}

/// A listed journal entry, made from its acts; `None` without acts.
fn entry(id: String, acts: &[Ended]) -> Option<Entry> {
    let last = acts.last()?;
    let reason =
        |ended: &Ended| ended.header.not_undoable.as_ref().map(|reason| format!("{}: {reason}", ended.header.what));
    Some(Entry {
        id,
        at: last.header.at,
        acts: acts.iter().map(|ended| format!("{}: {}", ended.header.tool, ended.header.what)).collect(),
        changes: acts.iter().flat_map(|ended| ended.done.iter().map(paths_of)).sum(),
        not_undoable: acts.iter().filter_map(reason).collect(),
        interrupted: acts.iter().any(|ended| ended.interrupted),
        undone: acts.iter().all(|ended| ended.complete),
        undoes: last.header.undoes.clone(),
    })
}

/// Whether an undo that was not undone itself has reverted an entry completely.
fn is_undone(id: &str, entries: &[Entry], depth: usize) -> bool {
    let undoing = |entry: &&Entry| entry.undoes.as_deref() == Some(id) && entry.undone;
    // A chain of undos has at most as many entries as the journal.
    depth <= entries.len() && entries.iter().filter(undoing).any(|undo| !is_undone(&undo.id, entries, depth + 1))
}

/// The outcomes of an undo as items of its report, without notes of the trash that were restored.
pub(super) fn items(told: impl IntoIterator<Item = Told>) -> Vec<Item> {
    // Notes of the trash are removed with their files; a report names them only if they stay.
    let is_told = |(path, _, outcome): &Told| {
        !matches!(outcome, ItemOutcome::Done | ItemOutcome::Already) || !trash::is_bookkeeping(path)
    };
    let item = |(path, action, outcome): Told| Item { path: paths::line(&path), action, outcome };
    told.into_iter().filter(is_told).map(item).collect()
}
