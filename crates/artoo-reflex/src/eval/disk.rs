//! What a second computation may look at: files, and what the machine tells of itself.

use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

/// Read access to a machine: its files, and the few facts that no file holds.
pub trait FileSystem {
    /// The entries directly in a folder, in any order.
    ///
    /// # Errors
    /// When it is not there, is no folder, or can't be read.
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError>;

    /// What lies at a path; a symbolic link is not followed.
    ///
    /// # Errors
    /// When nothing is there or it can't be read.
    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError>;

    /// Opens a regular file for reading from its start.
    ///
    /// # Errors
    /// When it is not there, is no regular file, or can't be read.
    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn std::io::Read + 'a>, FileSystemError>;

    /// A path with the links among its folders followed; its last part is not, and need not be there.
    fn real(&self, path: &Path) -> PathBuf;

    /// Room on the file system that holds a path.
    ///
    /// # Errors
    /// When nothing is there or the system does not say.
    fn space(&self, path: &Path) -> Result<Space, FileSystemError>;

    /// The value of an environment variable of the person's own session.
    fn variable(&self, name: &str) -> Option<Vec<u8>>;

    /// The folder this program was started in.
    fn current_folder(&self) -> PathBuf;

    /// The present.
    fn now(&self) -> Timestamp;

    /// Seconds that local time is ahead of UTC at a moment.
    fn utc_offset_s(&self, at: Timestamp) -> i32;
}

/// Room on a file system, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total: u64,
    /// What holds data.
    pub used: u64,
    /// What a person without special rights can still fill.
    pub available: u64,
}

/// One element of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Absolute path.
    pub path: PathBuf,
    /// What it is, without following links.
    pub kind: EntryKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Time of last change, rounded down to milliseconds.
    pub modified: Timestamp,
    /// Permission bits: the lowest nine and the three special ones.
    pub mode: u32,
    /// The owner's number.
    pub owner: u32,
    /// The owning group's number.
    pub group: u32,
    /// Time of last reading, rounded down to milliseconds.
    pub accessed: Timestamp,
    /// Room it takes on disk, in bytes.
    pub disk_bytes: u64,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// Why something can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileSystemError {
    /// Nothing is there.
    #[error("not found")]
    NotFound,
    /// It is there and may not be read.
    #[error("not readable")]
    Denied,
    /// It is something else than was asked for (a file where a folder is meant).
    #[error("of another kind")]
    OtherKind,
    /// Anything else the system reports.
    #[error("input or output failed")]
    Failed,
}

impl Entry {
    pub(crate) fn path_bytes(&self) -> &[u8] {
        self.path.as_os_str().as_encoded_bytes()
    }

    pub(crate) fn name_bytes(&self) -> &[u8] {
        self.path.file_name().map_or(&[], |name| name.as_encoded_bytes())
    }

    /// The path on one line, as the tools show it.
    pub(crate) fn shown(&self) -> String {
        artoo_proto::escape::path_line(self.path_bytes())
    }
}
