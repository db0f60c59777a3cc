//! Small files of the data folder, read whole and replaced in one step.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest file read: several times what the entries of any of them can need.
const FILE_MAX_BYTES: u64 = 256 * 1024;

/// What a file holds. One that is not there, is too long or can't be read holds nothing: it is found out again.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    let is_small = fs::metadata(path).is_ok_and(|found| found.len() <= FILE_MAX_BYTES);
    let text = is_small.then(|| fs::read(path).ok()).flatten().unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Drops the oldest entries beyond `most`.
pub(crate) fn keep_newest<T>(entries: &mut BTreeMap<String, T>, most: usize, at_s: impl Fn(&T) -> i64) {
    while entries.len() > most {
        let oldest = entries.iter().min_by_key(|(_, entry)| at_s(entry)).map(|(key, _)| key.clone());
        oldest.map(|key| entries.remove(&key));
    }
}

/// Puts a value in the place of the file.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let bytes = serde_json::to_vec_pretty(value)?;
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        // What could not be put in place is of no use.
        drop(fs::remove_file(&beside));
    }
    renamed
}
