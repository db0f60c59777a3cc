//! A copy-on-write view of the disk, in which steps are simulated.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use artoo_proto::{Timestamp, escape};
use serde::{Deserialize, Serialize};

use crate::algebra::{Depth, Query};
use crate::eval::files::walk;
use crate::eval::{Answer, Entry, EntryKind, FileSystem, FileSystemError, Space, evaluate};

/// Maximum number of entries that one selection or question may read.
const MAX_ENTRIES: usize = 100_000;

/// Maximum size of a file that is read as text, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

/// Maximum number of bytes that one selection or question may read.
const MAX_READ_BYTES: u64 = 64 << 20;

/// The entry at a path before and after the simulated steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PathState {
    /// The entry when the task began; `None` if there was none.
    pub(super) was: Option<Entry>,
    /// SHA-256 of the file when the task began, if it was read then.
    pub(super) digest: Option<String>,
    /// The entry after the simulated steps; `None` if it is removed.
    pub(super) now: Option<Entry>,
    pub(super) content: Content,
    pub(super) mode: ModeRule,
}

/// The simulated content of a path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Content {
    /// No content: a folder or a removed path.
    None,
    /// One of these acceptable texts; later steps of the request see the first.
    OneOf(Vec<Vec<u8>>),
    /// The content of this path when the task began.
    Original(PathBuf),
    /// Content with this SHA-256.
    Digest(String),
    /// A symbolic link to this path.
    Link(PathBuf),
    /// An archive of these roots with all members and their contents.
    Archive(Vec<PathBuf>, Vec<(PathBuf, Self)>),
    /// Unknown content, such as a download.
    Any,
}

/// Which permission bits are acceptable for a simulated entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ModeRule {
    Any,
    /// Exactly those of the simulated entry.
    Exact,
    /// No execute or special bit that the simulated entry doesn't have.
    AtMost,
    /// Those of the simulated entry, except that only the owner's execute bit is required.
    Executable,
}

/// The disk with simulated changes, which are stored by path with links among its folders resolved.
pub(super) struct Overlay<'a> {
    pub(super) fs: &'a dyn FileSystem,
    pub(super) nodes: BTreeMap<PathBuf, PathState>,
    entries: Cell<usize>,
    bytes: Cell<u64>,
    pub(super) is_limited: bool,
    /// Why the result of the last evaluation is not reliable, if a limit was exceeded or a content is unknown.
    pub(super) problem: Cell<Option<&'static str>>,
    /// Whether the last evaluation met a file or folder that the user may not read. The evaluation takes such a folder
    /// for empty, and such a file for one without text.
    pub(super) is_partial: Cell<bool>,
}

/// The reason why a question is not answered if the user may not read a file or folder that it is about.
pub(super) const PARTIAL: &str = "not all of it can be read";

/// The reason if a file's content is only known after the task.
pub(super) const UNKNOWN_CONTENT: &str = "what it holds is only known afterwards";

impl<'a> Overlay<'a> {
    /// A view of this disk with these simulated states of paths.
    pub(super) fn new(fs: &'a dyn FileSystem, nodes: BTreeMap<PathBuf, PathState>) -> Self {
        Self {
            fs,
            nodes,
            entries: Cell::new(0),
            bytes: Cell::new(0),
            is_limited: true,
            problem: Cell::new(None),
            is_partial: Cell::new(false),
        }
    }

    /// The answer to a query on the simulated disk; an error if it exceeds the limits of entries and bytes.
    pub(super) fn evaluate(&self, query: &Query) -> Result<Answer, String> {
        self.within_limits(|| evaluate(query, self).map_err(|problem| problem.to_string()))
    }

    /// The answer to a question on the simulated disk; an error if it exceeds the limits of entries and bytes, or if the
    /// user may not read a file or folder that the question is about.
    pub(super) fn answer(&self, query: &Query) -> Result<Answer, String> {
        let found = self.evaluate(query)?;
        if self.is_partial.get() { Err(PARTIAL.to_owned()) } else { Ok(found) }
    }

    /// The entry itself and everything below it.
    pub(super) fn tree(&self, entry: &Entry) -> Result<Vec<Entry>, String> {
        let mut all = vec![entry.clone()];
        if entry.kind == EntryKind::Folder {
            self.within_limits(|| {
                walk(&entry.path, Depth::Whole, true, self, &mut all).map_err(|problem| problem.to_string())
            })?;
        }
        Ok(all)
    }

    /// The whole content of a file on the simulated disk.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.within_limits(|| crate::eval::text::content(path, self).map_err(|problem| problem.to_string()))
    }

    /// Runs a computation; an error if it exceeded a limit or read unknown content.
    pub(super) fn within_limits<T>(&self, compute: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        self.entries.set(0);
        self.bytes.set(0);
        self.problem.set(None);
        self.is_partial.set(false);
        let result = compute();
        match self.problem.get() {
            Some(problem) => Err(problem.to_owned()),
            None => result,
        }
    }

    /// The path with links among its folders resolved.
    pub(super) fn key(&self, path: &Path) -> PathBuf {
        self.fs.real(path)
    }

    /// The entry at a path when the task began.
    pub(super) fn start(&self, key: &Path) -> Option<Entry> {
        match self.nodes.get(key) {
            Some(node) => node.was.clone(),
            None => self.fs.metadata(key).ok(),
        }
    }

    /// The simulated state of a path; `None` if it is unchanged.
    fn node(&self, path: &Path) -> Option<&PathState> {
        // Without changes no path has to be resolved, which is slow.
        if self.nodes.is_empty() { None } else { self.nodes.get(&self.key(path)) }
    }

    /// Returns the result, and sets `is_partial` if the user has no permission to read the file or folder.
    fn noted<T>(&self, result: Result<T, FileSystemError>) -> Result<T, FileSystemError> {
        self.is_partial.set(self.is_partial.get() || matches!(result, Err(FileSystemError::Denied)));
        result
    }

    /// Adds to the numbers of entries and bytes read; an error beyond the limits.
    fn count(&self, entries: usize, bytes: u64) -> Result<(), FileSystemError> {
        self.entries.set(self.entries.get().saturating_add(entries));
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        let problem = if !self.is_limited {
            return Ok(());
        } else if self.entries.get() > MAX_ENTRIES {
            "more than 100,000 entries"
        } else if bytes > MAX_FILE_BYTES || self.bytes.get() > MAX_READ_BYTES {
            "more than 16 MB in a file, or 64 MB in all"
        } else {
            return Ok(());
        };
        self.problem.set(Some(problem));
        Err(FileSystemError::Failed)
    }
}

impl FileSystem for Overlay<'_> {
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError> {
        if self.nodes.is_empty() {
            let found = self.noted(self.fs.list(folder))?;
            return self.count(found.len(), 0).map(|()| found);
        }
        let inside = self.fs.real(&folder.join("-"));
        let at = inside.parent().unwrap_or(folder);
        let mut found = match self.nodes.get(at) {
            Some(PathState { now: None, .. }) => return Err(FileSystemError::NotFound),
            Some(PathState { now: Some(entry), .. }) if entry.kind != EntryKind::Folder => {
                return Err(FileSystemError::OtherKind);
            }
            Some(PathState { was: None, .. }) => Vec::new(),
            _ => self.noted(self.fs.list(folder))?,
        };
        let name = |path: &Path| path.file_name().map(|name| at.join(name)).unwrap_or_default();
        found.retain(|entry| !self.nodes.contains_key(&name(&entry.path)));
        let first = std::ops::Bound::Excluded(at.to_path_buf());
        let below = self.nodes.range((first, std::ops::Bound::Unbounded));
        for (path, node) in below.take_while(|(path, _)| path.starts_with(at)) {
            if let (Some(entry), Some(name), true) = (&node.now, path.file_name(), path.parent() == Some(at)) {
                found.push(Entry { path: folder.join(name), ..entry.clone() });
            }
        }
        self.count(found.len(), 0)?;
        Ok(found)
    }

    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError> {
        match self.node(path) {
            Some(PathState { now: Some(entry), .. }) => Ok(Entry { path: path.to_owned(), ..entry.clone() }),
            Some(PathState { now: None, .. }) => Err(FileSystemError::NotFound),
            None => self.fs.metadata(path),
        }
    }

    fn open<'b>(&'b self, file: &Path) -> Result<Box<dyn Read + 'b>, FileSystemError> {
        let of_disk = |path: &Path| {
            self.count(0, self.fs.metadata(path)?.bytes)?;
            self.noted(self.fs.open(path))
        };
        match self.node(file) {
            None => of_disk(file),
            Some(PathState { now: None, .. }) => Err(FileSystemError::NotFound),
            Some(PathState { content: Content::OneOf(texts), .. }) => match texts.first() {
                Some(text) => Ok(Box::new(text.as_slice())),
                None => Err(FileSystemError::Failed),
            },
            Some(PathState { content: Content::Original(path), .. }) => of_disk(path),
            Some(PathState { content: Content::None, .. }) => Err(FileSystemError::OtherKind),
            Some(_) => {
                self.problem.set(Some(UNKNOWN_CONTENT));
                Err(FileSystemError::Failed)
            }
        }
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.fs.link(path).filter(|_| self.node(path).is_none())
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

/// A path escaped to one line, for messages.
pub(super) fn shown(path: &Path) -> String {
    escape::path_line(path.as_os_str().as_encoded_bytes())
}
