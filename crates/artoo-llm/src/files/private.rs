//! Reads and writes files and folders that only this user can change.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::FilesError;
use crate::whole_file::{self, FILE_MODE};

/// Permission bits of new folders: only the owner has access.
const FOLDER_MODE: u32 = 0o700;

/// Permission bits that let the group or others write.
const OTHERS_WRITE: u32 = 0o022;

/// Maximum size of a model's record file, in bytes: some forty times a usual one.
const RECORD_MAX_BYTES: u64 = 64 * 1024;

/// Creates a private folder and its missing parents.
pub(super) fn make_folder(path: &Path) -> Result<(), FilesError> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path).map_err(FilesError::io(path))
}

/// Opens a file, or creates one that only its owner can access; symbolic links and special files are errors.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> Result<File, FilesError> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(FilesError::NotPrivate { path: path.to_path_buf(), problem: "is not a regular file" });
    }
    options.mode(FILE_MODE).open(path).map_err(FilesError::io(path))
}

/// Whether a folder exists. A symbolic link, or a folder that another user can change, is an error.
pub(super) fn is_folder(path: &Path) -> Result<bool, FilesError> {
    let Some(found) = found(path)? else { return Ok(false) };
    let problem = match () {
        () if !found.is_dir() => "is not a folder of its own (a link, or a file)",
        () if found.uid() != rustix::process::geteuid().as_raw() => "belongs to another user",
        () if found.mode() & OTHERS_WRITE != 0 => "can be changed by other users; remove that: chmod go-w",
        () => return Ok(true),
    };
    Err(FilesError::NotPrivate { path: path.to_path_buf(), problem })
}

/// Removes a file if it exists.
pub(super) fn remove(path: &Path) -> Result<(), FilesError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FilesError::io(path)(error)),
        _ => Ok(()),
    }
}

/// Reads a record in TOML from a file; `None` if the file doesn't exist.
pub(super) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, FilesError> {
    let problem = |problem: String| FilesError::Record { path: path.to_path_buf(), problem };
    match found(path)? {
        None => return Ok(None),
        Some(found) if !found.is_file() => return Err(problem("not a regular file".to_owned())),
        Some(found) if found.len() > RECORD_MAX_BYTES => return Err(problem("too long".to_owned())),
        Some(_) => {}
    }
    let text = fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    toml::from_str(&text).map(Some).map_err(|error| problem(error.message().to_owned()))
}

/// Writes a record in TOML to a file, which is replaced atomically and synced to disk.
pub(super) fn write(path: &Path, record: &impl Serialize) -> Result<(), FilesError> {
    let problem = |error: toml::ser::Error| FilesError::Record { path: path.to_path_buf(), problem: error.to_string() };
    let text = toml::to_string(record).map_err(problem)?;
    whole_file::replace(path, text.as_bytes()).map_err(FilesError::io(path))
}

/// Metadata of a path without following symbolic links; `None` if nothing exists there.
fn found(path: &Path) -> Result<Option<fs::Metadata>, FilesError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FilesError::io(path)(error)),
    }
}
