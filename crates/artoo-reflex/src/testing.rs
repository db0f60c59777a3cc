//! Support for tests: a file system in memory, and access to intermediate results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::algebra::Query;
use crate::eval::{Entry, EntryKind, FileSystem, FileSystemError, Space};
use crate::lower::Unsupported;

/// The permission bit that lets the owner read; a file or folder without it can't be read in this file system.
const OWNER_READS: u32 = 0o400;

/// Block size in bytes; the disk usage of a file is a multiple of it.
const BLOCK_BYTES: u64 = 4096;

/// A file system in memory, for tests.
#[derive(Debug, Clone, Default)]
pub struct MemoryFileSystem {
    /// All files and folders by absolute path.
    nodes: BTreeMap<PathBuf, Node>,
    /// The environment variables with their values.
    pub variables: BTreeMap<String, Vec<u8>>,
    /// The space reported for every path; `None` makes the request fail.
    pub space: Option<Space>,
    /// The time that the file system reports as the current one.
    pub now: Timestamp,
    /// The offset of local time from UTC, in seconds.
    pub utc_offset_s: i32,
}

/// A file or folder in memory.
#[derive(Debug, Clone)]
struct Node {
    kind: EntryKind,
    content: Vec<u8>,
    modified: Timestamp,
    mode: u32,
}

impl MemoryFileSystem {
    /// A file system that has only this one empty folder, with its parents.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let mut fs = Self::default();
        fs.add_folder(root, Timestamp::default());
        fs
    }

    /// Adds a folder and its missing parents.
    pub fn add_folder(&mut self, path: impl Into<PathBuf>, modified: Timestamp) {
        let path = path.into();
        let folder = Node { kind: EntryKind::Folder, content: Vec::new(), modified, mode: 0o755 };
        for above in path.ancestors().skip(1) {
            self.nodes.entry(above.to_owned()).or_insert_with(|| folder.clone());
        }
        self.nodes.insert(path, folder);
    }

    /// Adds a file and its missing parents.
    pub fn add_file(&mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>, modified: Timestamp) {
        let path = path.into();
        if let Some(folder) = path.parent().filter(|folder| !self.nodes.contains_key(*folder)) {
            self.add_folder(folder, modified);
        }
        let file = Node { kind: EntryKind::File, content: content.into(), modified, mode: 0o644 };
        self.nodes.insert(path, file);
    }

    /// Adds a symbolic link, and the missing parents of its path.
    pub fn add_link(&mut self, path: impl Into<PathBuf>, target: &str) {
        let path = path.into();
        self.add_file(&path, target, Timestamp::default());
        if let Some(node) = self.nodes.get_mut(&path) {
            node.kind = EntryKind::Link;
        }
    }

    /// Removes a path with everything below it.
    pub fn remove(&mut self, path: impl AsRef<Path>) {
        self.nodes.retain(|known, _| !known.starts_with(path.as_ref()));
    }

    /// Sets the permission bits of a path.
    pub fn set_mode(&mut self, path: impl AsRef<Path>, mode: u32) {
        if let Some(node) = self.nodes.get_mut(path.as_ref()) {
            node.mode = mode;
        }
    }

    /// The entry that describes a node.
    fn entry(path: &Path, node: &Node) -> Entry {
        Entry {
            path: path.to_owned(),
            kind: node.kind,
            bytes: node.content.len() as u64,
            modified: node.modified,
            mode: node.mode,
            owner: 0,
            group: 0,
            accessed: node.modified,
            disk_bytes: (node.content.len() as u64).next_multiple_of(BLOCK_BYTES),
        }
    }
}

impl FileSystem for MemoryFileSystem {
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError> {
        match self.nodes.get(folder) {
            None => Err(FileSystemError::NotFound),
            Some(node) if node.kind != EntryKind::Folder => Err(FileSystemError::OtherKind),
            Some(node) if node.mode & OWNER_READS == 0 => Err(FileSystemError::Denied),
            Some(_) => Ok(self
                .nodes
                .iter()
                .filter(|(path, _)| path.parent() == Some(folder))
                .map(|(path, node)| Self::entry(path, node))
                .collect()),
        }
    }

    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError> {
        self.nodes.get(path).map(|node| Self::entry(path, node)).ok_or(FileSystemError::NotFound)
    }

    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn std::io::Read + 'a>, FileSystemError> {
        match self.nodes.get(file) {
            None => Err(FileSystemError::NotFound),
            Some(node) if node.kind != EntryKind::File => Err(FileSystemError::OtherKind),
            Some(node) if node.mode & OWNER_READS == 0 => Err(FileSystemError::Denied),
            Some(node) => Ok(Box::new(node.content.as_slice())),
        }
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        let node = self.nodes.get(path).filter(|node| node.kind == EntryKind::Link)?;
        String::from_utf8(node.content.clone()).ok().map(PathBuf::from)
    }

    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn space(&self, _path: &Path) -> Result<Space, FileSystemError> {
        self.space.ok_or(FileSystemError::Failed)
    }

    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        self.variables.get(name).cloned()
    }

    fn current_folder(&self) -> PathBuf {
        PathBuf::from("/")
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn utc_offset_s(&self, _at: Timestamp) -> i32 {
        self.utc_offset_s
    }
}

/// The programs, with their arguments, that answer a query, even if a typed tool answers it too.
///
/// # Errors
/// `Unsupported` if no pipeline computes exactly this query.
pub fn programs(query: &Query, os: &str) -> Result<Vec<Vec<String>>, Unsupported> {
    crate::lower::programs(query, os)
}

/// The number of tokens of a request.
#[must_use]
pub fn token_count(request: &str) -> usize {
    crate::lex::lex(request).len()
}
