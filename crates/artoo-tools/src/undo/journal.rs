//! The undo journal: one act at a time; the oldest tasks are deleted first.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use artoo_proto::{TaskId, Timestamp};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::act::Act;
use super::blobs::{BlobDir, private_folder, remove_tree, sync_folder};
use super::format::{Before, Begun, Ended, Header, VERSION};
use super::reconcile::reconcile;
use super::state::State;
use super::survey::{UndoSurvey, is_skipped};
use super::walk::walk;
use super::{DAYS_MAX, UndoConfig, fault};
use crate::limit::Limit;
use crate::protect::Protected;

/// Pause between attempts to take the lock of the journal.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Text by which the journal describes a folder that could not be read.
pub(super) const CLOSED: &str = "a folder that can't be read";

const LOCK: &str = "lock";
const FORGOTTEN: &str = "forgotten.json";
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The undo journal, in which acts are recorded.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    pub(super) config: UndoConfig,
    pub(super) protected: Protected,
}

/// What a journal entry is about: the task, the tool, the call and the action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The task, whose id is the entry's name.
    pub(crate) task: &'a TaskId,
    pub(crate) tool: &'a str,
    /// The call, by the id of its evidence.
    pub(crate) call: &'a str,
    /// The action in one line.
    pub(crate) what: &'a str,
}

/// The lock of the journal, held during an act, since the changes of two acts at once could not be told apart.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// How many tasks were deleted from the journal because of its limits.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct DeletedTasks {
    pub(super) tasks: u64,
}

impl Journal {
    /// The undo journal with this configuration; opens no file yet.
    pub(crate) fn new(config: UndoConfig, protected: Protected) -> Self {
        Self { config, protected }
    }

    /// Reads the paths that a command may change, to find out whether they can be copied.
    pub(crate) fn survey(&self, may_change: &[PathBuf], limit: &Limit) -> UndoSurvey {
        UndoSurvey::survey(&self.config, &self.protected, may_change, limit)
    }

    /// Begins to record an act. Everything needed for an undo is on disk when this returns.
    pub(crate) fn begin(&self, subject: Subject<'_>, survey: Option<&UndoSurvey>, limit: &Limit) -> io::Result<Act> {
        let lock = self.lock(limit)?;
        let entry = self.config.folder.join(subject.task.as_str());
        if !entry.is_dir() {
            self.forget_oldest()?;
        }
        let header = Header {
            version: VERSION,
            at: now(),
            tool: subject.tool.to_owned(),
            what: subject.what.to_owned(),
            not_undoable: survey.and_then(UndoSurvey::not_undoable).map(str::to_owned),
            undoes: None,
            call: Some(subject.call.to_owned()),
        };
        self.open(&entry, header, survey, lock, limit)
    }

    /// Creates the folder of a new act in a task's journal entry, after ending its interrupted acts, saves what the act
    /// may change, and writes the note that it begins.
    pub(super) fn open(
        &self,
        entry: &Path,
        header: Header,
        survey: Option<&UndoSurvey>,
        lock: Lock,
        limit: &Limit,
    ) -> io::Result<Act> {
        self.reconcile_open(entry, limit)?;
        let number = acts(entry)?.last().map_or(1, |(number, _)| number + 1);
        let blobs = BlobDir::make(entry.join(format!("{number:06}")))?;
        let begun = self.snapshot(&blobs, header, survey.filter(|survey| survey.not_undoable().is_none()), limit);
        let begun = begun.and_then(|begun| {
            fault::point("contents are kept");
            blobs.write_begun(&begun)?;
            // The names of the folders themselves, up to the data folder.
            sync_folder(entry)?;
            sync_folder(&self.config.folder)?;
            Ok(begun)
        });
        match begun {
            Ok(begun) => Ok(Act::new(self.clone(), blobs, begun, lock, survey.is_some_and(UndoSurvey::sees_all))),
            Err(error) => {
                // No act has begun, so no data is lost with the folder.
                let _ = blobs.forget();
                let _ = fs::remove_dir(entry);
                Err(error)
            }
        }
    }

    /// Saves in the journal the files that a command may change, and returns the note with the states of all its paths;
    /// an error if they have grown beyond the limits.
    fn snapshot(
        &self,
        blobs: &BlobDir,
        header: Header,
        survey: Option<&UndoSurvey>,
        limit: &Limit,
    ) -> io::Result<Begun> {
        let mut begun = Begun { header, roots: Vec::new(), before: Vec::new() };
        let Some(survey) = survey else { return Ok(begun) };
        begun.roots.clone_from(&survey.roots);
        let (mut saved, mut bytes) = (0_u64, 0_u64);
        for root in &survey.roots {
            let skip = |path: &Path| is_skipped(&self.protected, path);
            walk(root, &skip, limit, &mut |seen| {
                let mut state = seen.state;
                if let State::File(file) = &mut state
                    && let Ok(mut source) = seen.place.open_file()
                {
                    // The file may have grown since the survey.
                    bytes = bytes.saturating_add(file.bytes);
                    let is_over = bytes > self.config.max_bytes || saved >= self.config.max_entries;
                    if is_over {
                        return Err(io::Error::other("what it may change has grown beyond what is kept"));
                    }
                    blobs.keep(&mut source, saved, limit)?;
                    fault::point("one content is kept");
                    file.saved = Some(saved);
                    saved += 1;
                }
                if seen.is_closed {
                    state = State::Odd { what: CLOSED.to_owned() };
                }
                begun.before.push(Before { path: seen.path.to_path_buf(), state });
                Ok(())
            })?;
        }
        blobs.sync_saved(saved)?;
        Ok(begun)
    }

    /// Waits until no other act holds the lock of the journal, and takes it; the error `TimedOut` at the deadline.
    pub(super) fn lock(&self, limit: &Limit) -> io::Result<Lock> {
        private_folder(&self.config.folder)?;
        let path = self.config.folder.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK) if !limit.reached() => std::thread::sleep(LOOK_EVERY),
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "another act is still changing files"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Finds the changes of an entry's acts that a crash interrupted, and records them as ended.
    pub(super) fn reconcile_open(&self, entry: &Path, limit: &Limit) -> io::Result<()> {
        for (_, blobs) in acts(entry)? {
            if blobs.is_ended() {
                continue;
            }
            let Some(begun) = blobs.begun()? else {
                // The process ended before the act could do anything.
                blobs.forget()?;
                continue;
            };
            let done = reconcile(self, &blobs, &begun, &blobs.steps()?, None, limit)?;
            blobs.write_ended(&Ended { header: begun.header, done, interrupted: true, complete: false })?;
        }
        Ok(())
    }

    /// Deletes the oldest tasks from the journal until one more fits its limits, and all that are older than
    /// [`DAYS_MAX`] days.
    pub(super) fn forget_oldest(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        for name in entry_names(&self.config.folder)? {
            let folder = self.config.folder.join(&name);
            // An entry that can't be read may be of a later version, so it is not deleted.
            entries.extend(begun_at(&folder).map(|at| (at, size(&folder), folder)));
        }
        entries.sort();
        let too_old = now().as_millis().saturating_sub(DAYS_MAX * DAY_MS);
        let mut bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        let mut left = entries.len();
        let mut gone = 0;
        for (at, its_bytes, folder) in entries {
            let is_over = left >= self.config.max_tasks || bytes > self.config.max_total_bytes;
            if !is_over && at.as_millis() >= too_old {
                break;
            }
            remove_tree(&folder)?;
            left -= 1;
            bytes = bytes.saturating_sub(its_bytes);
            gone += 1;
        }
        if gone > 0 {
            let mut forgotten = forgotten(&self.config.folder);
            forgotten.tasks += gone;
            fs::write(self.config.folder.join(FORGOTTEN), serde_json::to_vec(&forgotten)?)?;
        }
        Ok(())
    }
}

/// Reads how many tasks were deleted from the journal because of its limits; 0 if none.
pub(super) fn forgotten(folder: &Path) -> DeletedTasks {
    fs::read(folder.join(FORGOTTEN)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The names of the subfolders of the journal, one for each entry.
pub(super) fn entry_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    Ok(names)
}

/// The acts of a journal entry, in their order.
pub(super) fn acts(entry: &Path) -> io::Result<Vec<(u64, BlobDir)>> {
    let mut acts: Vec<(u64, BlobDir)> = entry_names(entry)?
        .into_iter()
        .filter_map(|name| Some((name.parse::<u64>().ok()?, BlobDir { folder: entry.join(name) })))
        .collect();
    acts.sort_by_key(|(number, _)| *number);
    Ok(acts)
}

/// When the newest act of a journal entry began; `None` if it can't be read.
fn begun_at(entry: &Path) -> Option<Timestamp> {
    let acts = acts(entry).ok()?;
    let header = |blobs: &BlobDir| {
        let ended = blobs.ended().ok().flatten().map(|ended| ended.header);
        ended.or_else(|| blobs.begun().ok().flatten().map(|begun| begun.header))
    };
    acts.iter().rev().find_map(|(_, blobs)| header(blobs)).map(|header| header.at)
}

/// The size in bytes of all files in a folder and its subfolders.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok().map(|found| (entry, found)))
        .map(|(entry, found)| if found.is_dir() { size(&entry.path()) } else { found.len() })
        .sum()
}

/// The present time as a timestamp.
pub(super) fn now() -> Timestamp {
    SystemTime::now().into()
}
