//! The real file system, for the second computation that checks the answers of recipes.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use artoo_proto::Timestamp;
use artoo_reflex::eval::{Entry, EntryKind, FileSystem, FileSystemError, Space};

/// The file system of this machine, read with the standard library and `statvfs`. It shares no code with the tools
/// whose answers it checks.
#[derive(Debug, Clone, Copy)]
pub(super) struct RealFiles;

impl FileSystem for RealFiles {
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError> {
        let entries = fs::read_dir(folder).map_err(|error| problem(&error))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| problem(&error))?.path();
            match self.metadata(&path) {
                Ok(entry) => found.push(entry),
                // The entry was removed after the folder was listed.
                Err(FileSystemError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError> {
        let metadata = fs::symlink_metadata(path).map_err(|error| problem(&error))?;
        let kind = if metadata.is_file() {
            EntryKind::File
        } else if metadata.is_dir() {
            EntryKind::Folder
        } else if metadata.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::Other
        };
        let modified = metadata.modified().map_err(|error| problem(&error))?;
        Ok(Entry {
            path: path.to_owned(),
            kind,
            bytes: metadata.len(),
            modified: Timestamp::from(modified),
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            group: metadata.gid(),
            accessed: Timestamp::from(metadata.accessed().map_err(|error| problem(&error))?),
            // The kernel counts blocks of 512 bytes, whatever the block size of the file system.
            disk_bytes: metadata.blocks().saturating_mul(512),
        })
    }

    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn Read + 'a>, FileSystemError> {
        // Reading a pipe or a device could block or never end.
        if !fs::metadata(file).map_err(|error| problem(&error))?.is_file() {
            return Err(FileSystemError::OtherKind);
        }
        let file = File::open(file).map_err(|error| problem(&error))?;
        Ok(Box::new(file))
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn real(&self, path: &Path) -> PathBuf {
        let name = path.file_name();
        let mut folder = path.parent().unwrap_or(path);
        let mut missing: Vec<_> = name.into_iter().collect();
        loop {
            match (folder.canonicalize(), folder.parent(), folder.file_name()) {
                (Ok(real), ..) => return missing.iter().rev().fold(real, |path, name| path.join(name)),
                (Err(_), Some(above), Some(name)) => {
                    missing.push(name);
                    folder = above;
                }
                _ => return path.to_owned(),
            }
        }
    }

    fn space(&self, path: &Path) -> Result<Space, FileSystemError> {
        let told = rustix::fs::statvfs(path).map_err(|error| problem(&error.into()))?;
        let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
        Ok(Space {
            total: bytes(told.f_blocks),
            used: bytes(told.f_blocks.saturating_sub(told.f_bfree)),
            available: bytes(told.f_bavail),
        })
    }

    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        std::env::var_os(name).map(OsStringExt::into_vec)
    }

    fn current_folder(&self) -> PathBuf {
        std::env::current_dir().unwrap_or_default()
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(SystemTime::now())
    }

    fn utc_offset_s(&self, at: Timestamp) -> i32 {
        super::environment::utc_offset_s(at)
    }
}

/// The kind of an I/O error, as a check reports it.
fn problem(error: &std::io::Error) -> FileSystemError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "io::ErrorKind is open-ended")]
    match error.kind() {
        ErrorKind::NotFound => FileSystemError::NotFound,
        ErrorKind::PermissionDenied => FileSystemError::Denied,
        ErrorKind::NotADirectory | ErrorKind::IsADirectory => FileSystemError::OtherKind,
        _ => FileSystemError::Failed,
    }
}

#[cfg(test)]
mod tests;
