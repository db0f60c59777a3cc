//! Writing the records of the open tasks of one process, and deleting old ones.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use artoo_proto::{TaskId, Timestamp};

use super::format::{Begun, Frame, encode, header};
use super::read::{ENDED, OPEN, Record};

/// Maximum size of a task record in bytes. A record that would exceed it is ended, and its task can't be resumed.
pub const RECORD_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Number of files in the records' folder from which on, when a task begins, the older half of the ended records is
/// deleted.
pub const RECORDS_MAX: usize = 500;

/// The records of the open tasks of one process.
#[derive(Debug)]
pub struct Records {
    folder: PathBuf,
    /// The first frame of each record; its time is set when the task begins.
    begun: Begun,
    open: Mutex<BTreeMap<TaskId, Open>>,
}

/// A record that is being written. Its file stays locked until it is closed.
#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Records {
    /// Access to the records in this folder; the folder is created with the first record.
    #[must_use]
    pub fn new(folder: PathBuf, begun: Begun) -> Self {
        Self { folder, begun, open: Mutex::default() }
    }

    /// Creates the record of a task. If that fails, the task goes on without a record, and a warning is logged.
    pub fn begin(&self, task: &TaskId, at: Timestamp) {
        let begun = Frame::Begun(Box::new(Begun { at, ..self.begun.clone() }));
        match self.create(task) {
            Ok(open) => {
                self.opened().insert(task.clone(), open);
                self.append(task, &begun);
            }
            Err(error) => tracing_warning(task, &error),
        }
    }

    /// Continues the record of a task that is resumed, after its last sound frame.
    ///
    /// # Errors
    /// If the file can't be opened or cut, or if another process writes it.
    pub fn resume(&self, record: &Record, at: Timestamp) -> io::Result<()> {
        let file = OpenOptions::new().append(true).open(&record.path)?;
        lock(&file)?;
        // Between the reading and the lock, another process may have resumed the task and been killed.
        if file.metadata()?.len() != record.sound_bytes + record.damaged_bytes {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "another artoo has written to it"));
        }
        file.set_len(record.sound_bytes)?;
        let open = Open { path: record.path.clone(), file, bytes: record.sound_bytes };
        self.opened().insert(record.task_id().clone(), open);
        self.append(record.task_id(), &Frame::Resumed { at });
        Ok(())
    }

    /// Creates the file of a new record, and deletes old records if there are too many.
    fn create(&self, task: &TaskId) -> io::Result<Open> {
        if !self.folder.is_dir() {
            fs::create_dir_all(&self.folder)?;
            private(&self.folder, 0o700)?;
        }
        if fs::read_dir(&self.folder)?.count() >= RECORDS_MAX {
            collect(&self.folder, None, &|_| true);
        }
        let path = self.folder.join(format!("{task}.{OPEN}"));
        let mut file = OpenOptions::new().create_new(true).append(true).open(&path)?;
        private(&path, 0o600)?;
        lock(&file)?;
        file.write_all(&header())?;
        Ok(Open { path, file, bytes: header().len() as u64 })
    }

    /// Appends a frame to the record of a task, if it has one. A frame that is too large is left out; after a failed
    /// write the record ends.
    pub fn append(&self, task: &TaskId, frame: &Frame) {
        let mut opened = self.opened();
        let Some(open) = opened.get_mut(task) else { return };
        let written = match encode(frame) {
            // What is too large is left out: only a ledger can be, and without one nothing counts as shown.
            None => Ok(()),
            Some(bytes) if open.bytes + bytes.len() as u64 > RECORD_MAX_BYTES => {
                Err(io::Error::new(io::ErrorKind::FileTooLarge, "the record has become too large"))
            }
            Some(bytes) => {
                open.bytes += bytes.len() as u64;
                open.file.write_all(&bytes)
            }
        };
        if let Err(error) = written {
            tracing_warning(task, &error);
            if let Some(open) = opened.remove(task) {
                drop(open.close());
            }
        }
    }

    /// Writes the record of a task to the disk, before something is changed that must not be done twice.
    pub fn sync(&self, task: &TaskId) {
        // The lock is not held while the disk works.
        let file = self.opened().get(task).map(|open| open.file.try_clone());
        if let Some(Err(error)) = file.map(|file| file.and_then(|file| file.sync_data())) {
            tracing_warning(task, &error);
        }
    }

    /// Closes the record of a task whose result was published, and marks it as ended.
    pub fn end(&self, task: &TaskId, frame: &Frame) {
        self.append(task, frame);
        if let Some(open) = self.opened().remove(task)
            && let Err(error) = open.close()
        {
            tracing_warning(task, &error);
        }
    }

    /// Locks and returns the map of records that are being written.
    fn opened(&self) -> std::sync::MutexGuard<'_, BTreeMap<TaskId, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Renames the record's file to mark its task as ended, so that it is not offered for resuming.
    fn close(self) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_extension(ENDED))
    }
}

/// Deletes ended records: those older than `older_than`, or without it the older half. `is_free` tells whether
/// nothing else needs the record of a task. Returns the number of deleted records and their bytes.
pub fn collect(folder: &Path, older_than: Option<Duration>, is_free: &dyn Fn(&str) -> bool) -> (usize, u64) {
    let mut ended: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == ENDED))
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    ended.sort();
    let half = ended.len() / 2;
    let now = SystemTime::now();
    let is_old = |at: usize, modified: SystemTime| match older_than {
        Some(age) => now.duration_since(modified).is_ok_and(|its_age| its_age > age),
        None => at < half,
    };
    let (mut gone, mut bytes) = (0, 0);
    for (at, (modified, length, path)) in ended.into_iter().enumerate() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if is_old(at, modified) && is_free(&name) && fs::remove_file(&path).is_ok() {
            (gone, bytes) = (gone + 1, bytes + length);
        }
    }
    (gone, bytes)
}

/// Locks a record's file; an error if another process has locked it.
fn lock(file: &File) -> io::Result<()> {
    file.try_lock().map_err(|error| match error {
        fs::TryLockError::Error(error) => error,
        fs::TryLockError::WouldBlock => io::Error::new(io::ErrorKind::WouldBlock, "another artoo works on it"),
    })
}

/// Sets the Unix permission bits of a file or folder, so that other users can't read it; elsewhere does nothing.
fn private(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    let _ = (path, mode);
    Ok(())
}

/// Logs that a record can't be written.
fn tracing_warning(task: &TaskId, error: &io::Error) {
    #[cfg(feature = "runtime")]
    tracing::warn!("the record of {task} can't be written, so it can't be resumed: {error}");
    let _ = (task, error);
}
