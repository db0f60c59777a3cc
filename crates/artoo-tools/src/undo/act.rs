//! An act under way: what it is about to do is written down first, what it has done when it is over.

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

/// Steps of one act that are synced one by one: so many a power cut can't take. Those after them survive the end of
/// artoo itself, not of the machine: an act on thousands of files would else wait minutes for the disk.
const SYNCED_MAX: usize = 256;

/// A recording of one act, or of none where nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct Act {
    open: Option<Open>,
    /// Whether all that it may change was looked at before it began.
    sees_all: bool,
}

#[derive(Debug)]
struct Open {
    journal: Journal,
    blobs: BlobDir,
    begun: Begun,
    steps: Vec<Step>,
    log: Option<File>,
    /// What was made that its own record does not name.
    made: Vec<PathBuf>,
    _lock: Lock,
}

impl Act {
    pub(super) fn new(journal: Journal, blobs: BlobDir, begun: Begun, lock: Lock) -> Self {
        let open = Open { journal, blobs, begun, steps: Vec::new(), log: None, made: Vec::new(), _lock: lock };
        Self { open: Some(open), sees_all: false }
    }

    /// The act as one of which all is seen that it may change, or not.
    pub(super) fn seeing(self, sees_all: bool) -> Self {
        Self { sees_all, ..self }
    }

    pub(super) fn sees_all(&self) -> bool {
        self.sees_all
    }

    pub(super) fn header(&self) -> Option<&Header> {
        self.open.as_ref().map(|open| &open.begun.header)
    }

    /// The journal, and the act's own folder in it.
    pub(super) fn recording(&self) -> Option<(Journal, BlobDir)> {
        self.open.as_ref().map(|open| (open.journal.clone(), open.blobs.clone()))
    }

    /// Something is about to be made here, with the folders missing on the way.
    pub(crate) fn creating(&mut self, path: &Path) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let root = topmost_missing(path);
        // What stands there is not the act's, which will fail on it.
        if std::fs::symlink_metadata(&root).is_ok() {
            return Ok(());
        }
        let is_known = open.steps.iter().filter_map(Step::creating).any(|known| root.starts_with(known));
        if is_known { Ok(()) } else { open.write(Step::Creating { root }) }
    }

    /// It has been made, with the folders on the way.
    pub(crate) fn made(&mut self, path: &Path) {
        let Some(open) = &mut self.open else { return };
        let roots: Vec<&PathBuf> = open.steps.iter().filter_map(Step::creating).collect();
        let own = path.ancestors().take_while(|path| roots.iter().any(|root| path.starts_with(root)));
        open.made.extend(own.map(Path::to_path_buf));
    }

    /// All that stands at one path is about to go to the other; `tree` is what [`tree_digest`] makes of it.
    pub(crate) fn moving(&mut self, from: &Path, to: &Path, tree: &str) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.write(Step::Moving { from: from.to_path_buf(), to: to.to_path_buf(), tree: tree.to_owned() })
    }

    /// It has gone there.
    pub(crate) fn moved(&mut self, from: &Path, to: &Path, tree: &str) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let (from, to, tree) = (from.to_path_buf(), to.to_path_buf(), tree.to_owned());
        open.write(Step::Done { done: Done::Moved { from, to, tree } })
    }

    /// Performs a commit, and tells where it stopped; what was done until there is undone with the act. `left_out`: what
    /// of it undo can't bring back.
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
                    // What the others did, and what this one may have left half done, the files tell.
                    let operations = operations.get(number..).unwrap_or_default().to_vec();
                    open.steps.push(Step::Committing { nonce, operations });
                    return Ok(Some(stopped));
                }
            }
        }
        super::commit::touch(touched);
        Ok(None)
    }

    /// This path is about to be brought back.
    pub(super) fn bringing(&mut self, step: Step) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |open| open.write(step))
    }

    /// These have been.
    pub(super) fn brought(&mut self, changes: Vec<Change>) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.write(Step::Done { done: Done::Changed { changes } })
    }

    /// Where contents are kept.
    pub(super) fn blobs(&self) -> Option<&BlobDir> {
        self.open.as_ref().map(|open| &open.blobs)
    }

    /// Writes down what the act did, and tells it; of what it was to make only what `made` names is its own.
    pub(crate) fn end(self, made: &[FileChange], limit: &Limit) -> io::Result<RecordedChanges> {
        let sees_all = self.sees_all;
        let done = self.close(made, false, limit)?;
        Ok(RecordedChanges::of(&done, sees_all))
    }

    /// Likewise for an undo; `complete`: nothing was left that it was to bring back.
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
            // Another act may be in it.
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
    fn creating(&self) -> Option<&PathBuf> {
        if let Self::Creating { root } = self { Some(root) } else { None }
    }
}

impl Done {
    fn saved(&self) -> Vec<u64> {
        match self {
            Self::Changed { changes } => changes.iter().filter_map(|change| change.before.saved()).collect(),
            Self::Moved { .. } | Self::Torn { .. } => Vec::new(),
        }
    }
}

/// One digest for everything at and below a path, as an inventory lists it.
pub(crate) fn tree_digest(root: &Path, inventory: &[(PathBuf, String)]) -> String {
    let parts = inventory.iter().flat_map(|(path, digest)| {
        use std::os::unix::ffi::OsStrExt;
        let below = path.strip_prefix(root).unwrap_or(path);
        [below.as_os_str().as_bytes(), digest.as_bytes()]
    });
    digest::of_parts(parts)
}
