//! The trait through which this crate reads the machine, and the types of its results.

use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

/// Read access to a machine: its files, and facts that no file contains.
pub trait FileSystem {
    /// The direct entries of a folder, in any order.
    ///
    /// # Errors
    /// If the folder does not exist, is no folder, or can't be read.
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError>;

    /// The entry at a path, without following a symbolic link.
    ///
    /// # Errors
    /// If nothing exists at the path, or it can't be read.
    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError>;

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// If the file does not exist, is no regular file, or can't be read.
    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn std::io::Read + 'a>, FileSystemError>;

    /// Where the symbolic link at a path points, as it is written; `None` if the path is no link or can't be read.
    fn link(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// The path with symbolic links among its folders resolved; its last component is unchanged and need not exist.
    fn real(&self, path: &Path) -> PathBuf;

    /// The total, used and free space on the file system that contains a path.
    ///
    /// # Errors
    /// If nothing exists at the path, or the system does not report the space.
    fn space(&self, path: &Path) -> Result<Space, FileSystemError>;

    /// The value of an environment variable of the user's session; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<Vec<u8>>;

    /// The folder in which this program was started.
    fn current_folder(&self) -> PathBuf;

    /// The current time.
    fn now(&self) -> Timestamp;

    /// The offset of local time from UTC at a given time, in seconds.
    fn utc_offset_s(&self, at: Timestamp) -> i32;
}

/// The space on a file system, each number in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Size of the whole file system.
    pub total: u64,
    /// Used bytes of the file system.
    pub used: u64,
    /// The bytes available to an unprivileged user.
    pub available: u64,
}

/// A file, folder or other entry of the file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The absolute path of the entry.
    pub path: PathBuf,
    /// Whether the entry is a file, folder, link or other; links are not followed.
    pub kind: EntryKind,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The modification time, rounded down to milliseconds.
    pub modified: Timestamp,
    /// The permission bits: the lowest nine and the three special ones.
    pub mode: u32,
    /// The user id of the owner.
    pub owner: u32,
    /// The id of the owning group.
    pub group: u32,
    /// The time of the last read, rounded down to milliseconds.
    pub accessed: Timestamp,
    /// The space taken on disk, in bytes.
    pub disk_bytes: u64,
}

/// The kind of an entry of the file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    #[default]
    Other,
}

/// Why a file or folder can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileSystemError {
    /// The path doesn't exist.
    #[error("not found")]
    NotFound,
    /// The user has no permission to read it.
    #[error("not readable")]
    Denied,
    /// The entry has the wrong kind, for example a file where a folder is expected.
    #[error("of another kind")]
    OtherKind,
    /// Any other error that the system reports.
    #[error("input or output failed")]
    Failed,
}

impl Entry {
    /// The entry's path as bytes.
    pub(crate) fn path_bytes(&self) -> &[u8] {
        self.path.as_os_str().as_encoded_bytes()
    }

    /// The entry's file name as bytes.
    pub(crate) fn name_bytes(&self) -> &[u8] {
        self.path.file_name().map_or(&[], |name| name.as_encoded_bytes())
    }

    /// The entry's path escaped to one line, as the tools print it.
    pub(crate) fn shown(&self) -> String {
        artoo_proto::escape::path_line(self.path_bytes())
    }
}
