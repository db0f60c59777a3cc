//! A file system in memory, for tests and for trying queries without a disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::eval::{Entry, EntryKind, FileSystem, FileSystemError};

/// Files by path. Folders are there as soon as something lies in them.
#[derive(Debug, Clone, Default)]
pub struct MemoryFileSystem {
    nodes: BTreeMap<PathBuf, Node>,
}

#[derive(Debug, Clone)]
struct Node {
    kind: EntryKind,
    content: Vec<u8>,
    modified: Timestamp,
}

impl MemoryFileSystem {
    /// One empty folder.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let mut fs = Self::default();
        fs.add_folder(root, Timestamp::default());
        fs
    }

    /// Adds a folder and those above it.
    pub fn add_folder(&mut self, path: impl Into<PathBuf>, modified: Timestamp) {
        let path = path.into();
        for above in path.ancestors().skip(1) {
            let folder = Node { kind: EntryKind::Folder, content: Vec::new(), modified };
            self.nodes.entry(above.to_owned()).or_insert(folder);
        }
        self.nodes.insert(path, Node { kind: EntryKind::Folder, content: Vec::new(), modified });
    }

    /// Adds a file, and the folders above it.
    pub fn add_file(&mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>, modified: Timestamp) {
        let path = path.into();
        if let Some(folder) = path.parent().filter(|folder| !self.nodes.contains_key(*folder)) {
            self.add_folder(folder, modified);
        }
        self.nodes.insert(path, Node { kind: EntryKind::File, content: content.into(), modified });
    }

    fn entry(path: &Path, node: &Node) -> Entry {
        Entry { path: path.to_owned(), kind: node.kind, bytes: node.content.len() as u64, modified: node.modified }
    }
}

impl FileSystem for MemoryFileSystem {
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError> {
        match self.nodes.get(folder) {
            None => Err(FileSystemError::NotFound),
            Some(node) if node.kind != EntryKind::Folder => Err(FileSystemError::OtherKind),
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
            Some(node) => Ok(Box::new(node.content.as_slice())),
        }
    }
}
