//! A view of the disk as it was before an act, as far as that is known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::eval::{Entry, EntryKind, FileSystem, FileSystemError, Space};

/// A view of a file system as it was before an act: created paths are hidden, removed ones shown.
pub(super) struct Before<'a> {
    fs: &'a dyn FileSystem,
    made: BTreeSet<PathBuf>,
    /// Removed paths, each with the kind of entry and, if the entry was moved, its new path.
    gone: BTreeMap<PathBuf, (EntryKind, Option<PathBuf>)>,
}

impl<'a> Before<'a> {
    /// The view that undoes the creation and the removal of these paths.
    pub(super) fn new(
        fs: &'a dyn FileSystem,
        made: impl Iterator<Item = &'a PathBuf>,
        gone: impl Iterator<Item = (PathBuf, EntryKind, Option<PathBuf>)>,
    ) -> Self {
        Self {
            fs,
            made: made.cloned().collect(),
            gone: gone.map(|(path, kind, now_at)| (path, (kind, now_at))).collect(),
        }
    }

    /// The entry that was at a removed path; of a deleted entry only path and kind are known.
    fn removed_entry(&self, path: &Path) -> Option<Entry> {
        let (kind, now_at) = self.gone.get(path)?;
        let unknown = Entry { path: path.to_owned(), kind: *kind, ..Entry::default() };
        let moved = now_at.as_ref().and_then(|now_at| self.fs.metadata(now_at).ok());
        Some(moved.map_or(unknown, |entry| Entry { path: path.to_owned(), ..entry }))
    }
}

impl FileSystem for Before<'_> {
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError> {
        let was_removed = self.gone.contains_key(folder);
        let mut entries = match self.fs.list(folder) {
            Ok(entries) if !self.made.contains(folder) => entries,
            _ if was_removed => Vec::new(),
            Ok(_) => return Err(FileSystemError::NotFound),
            Err(problem) => return Err(problem),
        };
        entries.retain(|entry| !self.made.contains(&entry.path));
        let inside = self.gone.keys().filter(|path| path.parent() == Some(folder));
        entries.extend(inside.filter_map(|path| self.removed_entry(path)));
        Ok(entries)
    }

    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError> {
        match self.removed_entry(path) {
            Some(removed_entry) => Ok(removed_entry),
            None if self.made.contains(path) => Err(FileSystemError::NotFound),
            None => self.fs.metadata(path),
        }
    }

    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn std::io::Read + 'a>, FileSystemError> {
        match self.gone.get(file) {
            Some((_, Some(now_at))) => self.fs.open(now_at),
            Some((_, None)) => Err(FileSystemError::NotFound),
            None if self.made.contains(file) => Err(FileSystemError::NotFound),
            None => self.fs.open(file),
        }
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.fs.real(path)
    }

    fn space(&self, path: &Path) -> Result<Space, FileSystemError> {
        self.fs.space(path)
    }

    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        self.fs.variable(name)
    }

    fn current_folder(&self) -> PathBuf {
        self.fs.current_folder()
    }

    fn now(&self) -> Timestamp {
        self.fs.now()
    }

    fn utc_offset_s(&self, at: Timestamp) -> i32 {
        self.fs.utc_offset_s(at)
    }
}
