//! Undoes an act that has just ended, or that was cut off with its process, and removes it from the journal.

use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{EvidenceId, TaskId};

use super::act::Act;
use super::blobs::BlobDir;
use super::format::{Done, Ended, Header, VERSION};
use super::journal::{self, Journal, Lock};
use super::restore::{Restoring, Undone};
use super::resumed::Resumed;
use super::store::{UndoError, UndoStore};
use super::verdict::is_left;
use crate::limit::Limit;
use crate::paths;

/// What happened to the changes of a call that a crash interrupted: how many were undone, and what could not be
/// restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    /// Whether the call had made all its changes.
    pub was_whole: bool,
    /// Number of changes that were undone.
    pub changes: usize,
    /// Paths that could not be restored, one line each; or why nothing can be.
    pub left: Vec<String>,
}

impl Act {
    /// Whether an undo of the act can restore everything: all that it may have changed was read before, and nothing is
    /// excepted.
    pub(crate) fn can_be_taken_back(&self) -> bool {
        self.sees_all() && self.header().is_some_and(|header| header.not_undoable.is_none())
    }

    /// Ends the act and undoes its changes at once; returns the paths that could not be restored.
    ///
    /// # Errors
    /// When nothing was recorded, or the journal can't be used.
    pub(crate) fn take_back(self, limit: &Limit) -> io::Result<Vec<PathBuf>> {
        let no_record = || io::Error::other("it was not recorded");
        let (journal, source) = self.recording().ok_or_else(no_record)?;
        let header = self.header().ok_or_else(no_record)?.clone();
        let done = self.close(&[], false, limit)?;
        if done.is_empty() {
            return Ok(Vec::new());
        }
        journal.take_back(&source, &header, &done, journal.lock(limit)?, limit)
    }
}

impl Journal {
    /// Undoes an ended act; returns the paths that could not be restored. If all could, the act is removed from the
    /// journal.
    fn take_back(
        &self,
        source: &BlobDir,
        header: &Header,
        done: &[Done],
        lock: Lock,
        limit: &Limit,
    ) -> io::Result<Vec<PathBuf>> {
        let entry = source.folder.parent().unwrap_or(Path::new("/"));
        let what = format!("restores what was changed by {}", header.what);
        let header = Header { version: VERSION, at: journal::now(), what, ..header.clone() };
        let mut act = self.open(entry, header, None, lock, limit)?;
        let own = act.recording().map(|(_, own)| own);
        let (resumed, mut undone) = (Resumed::default(), Undone { room: u64::MAX, ..Undone::default() });
        let mut restoring = Restoring::new(&mut act, source, &resumed, limit, &mut undone);
        let mut left = Vec::new();
        for done in done.iter().rev() {
            let told = restoring.take_back(done);
            left.extend(told.into_iter().filter(|(_, _, outcome)| is_left(outcome)).map(|(path, _, _)| path));
        }
        act.close(&[], false, limit)?;
        if left.is_empty() {
            source.forget()?;
            // The second folder is removed already if it changed nothing.
            let _ = own.map(|own| own.forget());
            // Earlier calls of the task may be in the entry.
            let _ = std::fs::remove_dir(entry);
        }
        Ok(left)
    }
}

impl UndoStore {
    /// Undoes the changes of a call that a crash interrupted, so that it can be made again. `None` if it had changed
    /// nothing.
    ///
    /// # Errors
    /// When the journal can't be used, or another process changes files.
    pub fn take_back(&self, task: &TaskId, call: &EvidenceId) -> Result<Option<TakenBack>, UndoError> {
        let entry = self.config().folder.join(task.as_str());
        if !entry.is_dir() {
            return Ok(None);
        }
        let (journal, limit) = (self.journal(), self.limit());
        let lock = self.lock(&journal)?;
        journal.reconcile_open(&entry, &limit)?;
        drop(lock);
        let of_call = |(blobs, ended): (BlobDir, Ended)| {
            (ended.header.call.as_deref() == Some(&*call.0)).then_some((blobs, ended))
        };
        let acts: Vec<(BlobDir, Ended)> = self.acts(task.as_str())?.into_iter().filter_map(of_call).collect();
        let Some((_, first)) = acts.first() else { return Ok(None) };
        let mut taken = TakenBack { was_whole: !first.interrupted, changes: 0, left: Vec::new() };
        // The newest first: an earlier attempt to undo the call may have been cut off.
        for (blobs, Ended { header, done, .. }) in acts.iter().rev() {
            if let Some(reason) = &header.not_undoable {
                taken.left.push(reason.clone());
                break;
            }
            taken.changes += done.len();
            let left = journal.take_back(blobs, header, done, self.lock(&journal)?, &limit)?;
            taken.left.extend(left.iter().map(|path| paths::line(path)));
            if !taken.left.is_empty() {
                break;
            }
        }
        Ok(Some(taken))
    }
}
