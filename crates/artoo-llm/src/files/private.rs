//! Files and folders that are this user's alone: made, opened, read, replaced in one step, removed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::FilesError;

/// Only the owner may look in.
const FOLDER_MODE: u32 = 0o700;

/// Only the owner may read or write.
const FILE_MODE: u32 = 0o600;

/// Longest record read: some forty times what one holds.
const RECORD_MAX_BYTES: u64 = 64 * 1024;

/// Makes a folder, and those above it.
pub(super) fn make_folder(path: &Path) -> Result<(), FilesError> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path).map_err(FilesError::io(path))
}

/// Opens or makes a file of one's own; what a link leads to is not one.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> Result<File, FilesError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    if is_link {
        return Err(FilesError::NotPrivate { path: path.to_path_buf(), problem: "is no plain file" });
    }
    options.mode(FILE_MODE).open(path).map_err(FilesError::io(path))
}

/// Whether a folder is there; one that is a link, or another's, or open to others, is an error.
pub(super) fn is_folder(folder: &Path) -> Result<bool, FilesError> {
    let problem = |problem| Err(FilesError::NotPrivate { path: folder.to_path_buf(), problem });
    let found = match fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(FilesError::Io { path: folder.to_path_buf(), source }),
    };
    if !found.is_dir() {
        return problem("is no folder of its own (a link, or a file)");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return problem("belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return problem("can be changed by others than you; take that away: chmod go-w");
    }
    Ok(true)
}

/// Removes a file that may not be there.
pub(super) fn remove(path: PathBuf) -> Result<(), FilesError> {
    match fs::remove_file(&path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(FilesError::Io { path, source }),
    }
}

/// Reads a record; `None` where there is none.
pub(super) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, FilesError> {
    let problem = |problem: String| FilesError::Record { path: path.to_path_buf(), problem };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(problem("it is no plain file".to_owned())),
        Ok(found) if found.len() > RECORD_MAX_BYTES => return Err(problem("it is too long".to_owned())),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FilesError::Io { path: path.to_path_buf(), source }),
    }
    let text = fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    toml::from_str(&text).map(Some).map_err(|error| problem(error.message().to_owned()))
}

/// Replaces a record in one step that outlives a power cut.
pub(super) fn write(path: &Path, record: &impl Serialize) -> Result<(), FilesError> {
    let text = toml::to_string(record)
        .map_err(|error| FilesError::Record { path: path.to_path_buf(), problem: error.to_string() })?;
    let new = path.with_extension("new");
    let mut file = open(OpenOptions::new().write(true).create(true).truncate(true), &new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, path));
    written.and_then(|()| sync_folder(path)).map_err(FilesError::io(path))
}

/// Brings a change of names to the disk.
pub(super) fn sync_folder(of: &Path) -> io::Result<()> {
    File::open(of.parent().unwrap_or(Path::new("/")))?.sync_all()
}
