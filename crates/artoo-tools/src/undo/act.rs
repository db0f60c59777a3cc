//! Recording of one change of files: each step is written to the journal before it is made, the result at the end.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use artoo_proto::FileChange;

use super::blobs::BlobDir;
use super::commit::{Commit, Stopped, Touched};
use super::fault;
use super::format::{Begun, Change, Done, Ended, Header, Operation, Step};
use super::journal::{Journal, Lock};
use super::reconcile::reconcile;
use super::recorded::RecordedChanges;
use super::survey::topmost_missing;
use crate::digest;
use crate::limit::Limit;
use crate::paths;

/// Of this many first steps of one act each announcement is synced, so that no power failure can lose it. Later steps
/// survive the end of the process but not of the machine, since syncing each of thousands would take minutes.
const SYNCED_MAX: usize = 256;

/// The recording of one change of files in the undo journal. The default records nothing.
#[derive(Debug, Default)]
pub(crate) struct Act {
    open: Option<Open>,
    /// Whether every path that may change was read before the change.
    sees_all: bool,
}

/// An act that is being recorded: its folder in the journal, its log, and the journal's lock.
#[derive(Debug)]
struct Open {
    journal: Journal,
    blobs: BlobDir,
    begun: Begun,
    steps: Vec<Step>,
    log: Option<File>,
    /// Paths that were created but that the tool's record does not list.
    made: Vec<PathBuf>,
    _lock: Lock,
}

impl Act {
    /// Starts a recording; `sees_all`: every path that may change was read before the change.
    pub(super) fn new(journal: Journal, blobs: BlobDir, begun: Begun, lock: Lock, sees_all: bool) -> Self {
        let open = Open { journal, blobs, begun, steps: Vec::new(), log: None, made: Vec::new(), _lock: lock };
        Self { open: Some(open), sees_all }
    }

    /// Writes a step to the act's log; must be called before the step is made.
    pub(super) fn write(&mut self, step: Step) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |open| open.write(step))
    }

    /// Whether every path that may change was read before, so that all changes will be found.
    pub(super) fn sees_all(&self) -> bool {
        self.sees_all
    }

    /// The header of the recording (task, tool, call); `None` if nothing is recorded.
    pub(super) fn header(&self) -> Option<&Header> {
        self.open.as_ref().map(|open| &open.begun.header)
    }

    /// The journal, and this act's own folder in it; `None` if nothing is recorded.
    pub(super) fn recording(&self) -> Option<(Journal, BlobDir)> {
        self.open.as_ref().map(|open| (open.journal.clone(), open.blobs.clone()))
    }

    /// Announces that `path` is about to be created, with its missing parent folders; nothing if it exists.
    pub(crate) fn creating(&mut self, path: &Path) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let root = topmost_missing(path);
        // An existing path is not the act's own; the act will fail on it.
        if std::fs::symlink_metadata(&root).is_ok() {
            return Ok(());
        }
        let is_known = open.steps.iter().filter_map(Step::creating).any(|known| root.starts_with(known));
        if is_known { Ok(()) } else { open.write(Step::Creating { root }) }
    }

    /// Notes that `path` has been created, with its missing parent folders, so that an undo removes them.
    pub(crate) fn made(&mut self, path: &Path) {
        let Some(open) = &mut self.open else { return };
        let roots: Vec<&PathBuf> = open.steps.iter().filter_map(Step::creating).collect();
        let own = path.ancestors().take_while(|path| roots.iter().any(|root| path.starts_with(root)));
        open.made.extend(own.map(Path::to_path_buf));
    }

    /// Announces a move of a file or folder; `tree` is its [`tree_digest`].
    pub(crate) fn moving(&mut self, from: &Path, to: &Path, tree: &str) -> io::Result<()> {
        self.write(Step::Moving { from: from.to_path_buf(), to: to.to_path_buf(), tree: tree.to_owned() })
    }

    /// Writes to the log that an announced move was made; `tree` is the [`tree_digest`] of what was moved.
    pub(crate) fn moved(&mut self, from: &Path, to: &Path, tree: &str) -> io::Result<()> {
        let (from, to, tree) = (from.to_path_buf(), to.to_path_buf(), tree.to_owned());
        self.write(Step::Done { done: Done::Moved { from, to, tree } })
    }

    /// Performs a commit as part of this act; returns where it stopped, if it did. `left_out`: what an undo can't
    /// revert. An error without a journal.
    pub(crate) fn commit(
        &mut self,
        operations: Vec<Operation>,
        touched: &[Touched],
        left_out: Option<String>,
        limit: &Limit,
    ) -> io::Result<Option<Stopped>> {
        let open = self.open.as_mut().ok_or_else(|| io::Error::other("a commit needs the undo journal"))?;
        let blobs = open.blobs.clone();
        let nonce = format!("{:x}", super::journal::now().as_millis());
        let mut commit = Commit::new(&blobs, nonce.clone(), limit)?;
        if let Some(stopped) = commit.check(&operations) {
            return Ok(Some(stopped));
        }
        commit.sync_sources(&operations)?;
        open.begun.header.not_undoable = left_out;
        open.write(Step::Committing { nonce: nonce.clone(), operations })?;
        let Some(Step::Committing { operations, .. }) = open.steps.pop() else { return Ok(None) };
        for (number, operation) in operations.iter().enumerate() {
            match commit.perform(operation) {
                Ok(done) => open.steps.extend(done.into_iter().map(|done| Step::Done { done })),
                Err(stopped) => {
                    // The changes of the other steps, and a half-done one, are found by comparing the files.
                    let operations = operations.get(number..).unwrap_or_default().to_vec();
                    open.steps.push(Step::Committing { nonce, operations });
                    return Ok(Some(stopped));
                }
            }
        }
        super::commit::touch(touched);
        Ok(None)
    }

    /// Writes to the log the changes of paths that an undo has reverted.
    pub(super) fn note_reverted(&mut self, changes: Vec<Change>) -> io::Result<()> {
        self.write(Step::Done { done: Done::Changed { changes } })
    }

    /// The journal folder in which the act saves contents; `None` if nothing is recorded.
    pub(super) fn blobs(&self) -> Option<&BlobDir> {
        self.open.as_ref().map(|open| &open.blobs)
    }

    /// Ends the recording and returns the changes. Of the announced new paths, only those in `made` or noted as made
    /// count as created.
    pub(crate) fn end(self, made: &[FileChange], limit: &Limit) -> io::Result<RecordedChanges> {
        let sees_all = self.sees_all;
        let done = self.close(made, false, limit)?;
        Ok(RecordedChanges::of(&done, sees_all))
    }

    /// Ends the recording and returns the steps that were done; `complete`: it was an undo that has reverted every
    /// change.
    pub(super) fn close(self, made: &[FileChange], complete: bool, limit: &Limit) -> io::Result<Vec<Done>> {
        let Some(open) = self.open else { return Ok(Vec::new()) };
        fault::point("the act is over");
        let recorded = made.iter().filter_map(|change| Some((change.path.clone(), Some(change.after.clone()?))));
        let others = open.made.iter().map(|path| (paths::line(path), None));
        let made = recorded.chain(others).collect();
        let done = reconcile(&open.journal, &open.blobs, &open.begun, &open.steps, Some(made), limit)?;
        let header = open.begun.header;
        if done.is_empty() && header.not_undoable.is_none() && !open.blobs.holds_stored() {
            open.blobs.forget()?;
            // Another act may be in the folder.
            let _ = open.blobs.folder.parent().map(std::fs::remove_dir);
            return Ok(done);
        }
        fault::point("the act is reconciled");
        let numbers = done.iter().flat_map(Done::saved).collect();
        let ended = Ended { header, done, interrupted: false, complete };
        open.blobs.write_ended(&ended)?;
        open.blobs.keep_only(&numbers)?;
        Ok(ended.done)
    }
}

impl Open {
    /// Appends a step to the journal's log of the act; synced to disk if it is an announcement among the first
    /// [`SYNCED_MAX`] steps.
    fn write(&mut self, step: Step) -> io::Result<()> {
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(self.blobs.steps_log()?),
        };
        let mut line = serde_json::to_vec(&step)?;
        line.push(b'\n');
        fault::point("a step is due");
        log.write_all(&line)?;
        let is_announcement = !matches!(step, Step::Done { .. });
        if is_announcement && self.steps.len() < SYNCED_MAX {
            fault::sync(log)?;
        }
        fault::point("a step is written");
        self.steps.push(step);
        Ok(())
    }
}

impl Step {
    /// The root of the new path that this step announces; `None` if it is another kind of step.
    fn creating(&self) -> Option<&PathBuf> {
        if let Self::Creating { root } = self { Some(root) } else { None }
    }
}

impl Done {
    /// The numbers under which the journal saved the contents that this record of changes refers to.
    fn saved(&self) -> Vec<u64> {
        match self {
            Self::Changed { changes } => changes.iter().filter_map(|change| change.before.saved()).collect(),
            Self::Moved { .. } | Self::Torn { .. } => Vec::new(),
        }
    }
}

/// One digest of the paths and contents at and below `root`, computed from a list of paths with digests.
pub(crate) fn tree_digest(root: &Path, inventory: &[(PathBuf, String)]) -> String {
    let parts = inventory.iter().flat_map(|(path, digest)| {
        use std::os::unix::ffi::OsStrExt;
        let below = path.strip_prefix(root).unwrap_or(path);
        [below.as_os_str().as_bytes(), digest.as_bytes()]
    });
    digest::of_parts(parts)
}
