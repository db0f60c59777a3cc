//! Small files that are read as a whole and replaced atomically, such as the results of probes.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum size of such a file, in bytes; a larger one counts as empty.
const FILE_MAX_BYTES: u64 = 256 * 1024;

/// Permission bits of new files: only the owner can read or write.
pub(crate) const FILE_MODE: u32 = 0o600;

/// A JSON file with named entries, held in memory.
#[derive(Debug)]
pub(crate) struct Book<T> {
    path: PathBuf,
    pub(crate) entries: BTreeMap<String, T>,
}

impl<T: Serialize + DeserializeOwned> Book<T> {
    /// Reads the JSON file; a missing, too large or invalid one counts as empty.
    pub(crate) fn open(path: PathBuf) -> Self {
        let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= FILE_MAX_BYTES);
        let text = is_small.then(|| fs::read(&path).ok()).flatten().unwrap_or_default();
        Self { entries: serde_json::from_slice(&text).unwrap_or_default(), path }
    }

    /// Writes the entries to the file, which is replaced; the oldest beyond `most` are dropped. `at_s` gives an entry's
    /// time in seconds.
    pub(crate) fn save(&mut self, most: usize, at_s: impl Fn(&T) -> i64) -> io::Result<()> {
        while self.entries.len() > most {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| at_s(entry)).map(|(key, _)| key.clone());
            oldest.map(|key| self.entries.remove(&key));
        }
        replace(&self.path, &serde_json::to_vec_pretty(&self.entries)?)
    }
}

/// Replaces a file atomically: the bytes are written to a new file beside it, synced, and renamed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    // A leftover, or a symbolic link that someone placed there.
    drop(fs::remove_file(&beside));
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&beside);
    let written = file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    let renamed = written.and_then(|()| fs::rename(&beside, path)).and_then(|()| sync_folder(path));
    if renamed.is_err() {
        drop(fs::remove_file(&beside));
    }
    renamed
}

/// Syncs the folder that contains `path`, so that a rename survives a power loss.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // The parent of a bare file name is the empty path.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
