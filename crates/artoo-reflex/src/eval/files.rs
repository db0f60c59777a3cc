//! Evaluates queries about files: walks folders, filters and sorts.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use super::{Entry, EntryKind, EvalError, FileSystem, MAX_ENTRIES, by_keys, pred, unreadable};
use crate::algebra::{Depth, Key, Kind, Pred, Query, SortKey};
use crate::ensure::ensure;

/// The entries of one kind below the search roots, each once, sorted by path.
pub(crate) fn tree(
    roots: &[String],
    depth: Depth,
    hidden: bool,
    kind: Kind,
    fs: &dyn FileSystem,
) -> Result<Vec<Entry>, EvalError> {
    let mut found = Vec::new();
    for root in roots {
        walk(Path::new(root), depth, hidden, fs, &mut found)?;
    }
    found.retain(|entry| is_of(kind, entry.kind));
    by_path(&mut found);
    Ok(found)
}

/// The entries at the given paths that exist and are of this kind, each once, sorted by path.
pub(crate) fn named(paths: &[String], kind: Kind, fs: &dyn FileSystem) -> Result<Vec<Entry>, EvalError> {
    let mut found = Vec::new();
    for path in paths {
        match fs.metadata(Path::new(path)) {
            Ok(entry) if is_of(kind, entry.kind) => found.push(entry),
            Ok(_) | Err(super::FileSystemError::NotFound) => {}
            Err(source) => return Err(unreadable(Path::new(path))(source)),
        }
    }
    by_path(&mut found);
    Ok(found)
}

/// Sorts entries by path and removes duplicates.
fn by_path(found: &mut Vec<Entry>) {
    found.sort_by(|a, b| a.path_bytes().cmp(b.path_bytes()));
    found.dedup_by(|a, b| a.path == b.path);
}

/// Whether an entry of kind `found` is one of those that a query for `wanted` selects.
pub(crate) fn is_of(wanted: Kind, found: EntryKind) -> bool {
    match wanted {
        Kind::Any => true,
        Kind::File => found == EntryKind::File,
        Kind::Folder => found == EntryKind::Folder,
        Kind::Link => found == EntryKind::Link,
    }
}

/// Those of the files that satisfy a predicate, in their order.
pub(crate) fn keep(
    mut files: Vec<Entry>,
    keep: &Pred,
    of: &Query,
    fs: &dyn FileSystem,
) -> Result<Vec<Entry>, EvalError> {
    let scene = pred::FileTest::new(keep, of, fs)?;
    files.retain(|entry| scene.holds(keep, entry));
    Ok(files)
}

/// Sorts files by the sort keys; equal files keep their order.
pub(crate) fn sort(mut files: Vec<Entry>, keys: &[SortKey], fs: &dyn FileSystem) -> Result<Vec<Entry>, EvalError> {
    let totals = totals(&files, keys, fs)?;
    files.sort_by(|a, b| compare(keys, a, b, &totals));
    Ok(files)
}

/// The total sizes of the folders by path, if a sort key is [`Key::TotalSize`]; else empty.
pub(crate) fn totals(
    files: &[Entry],
    keys: &[SortKey],
    fs: &dyn FileSystem,
) -> Result<HashMap<std::path::PathBuf, u64>, EvalError> {
    let mut totals = HashMap::new();
    if keys.iter().any(|key| key.by == Key::TotalSize) {
        for entry in files {
            totals.insert(entry.path.clone(), total_size(&entry.path, fs)?);
        }
    }
    Ok(totals)
}

/// Compares two files by the sort keys; `totals` has the total sizes of folders.
pub(crate) fn compare(keys: &[SortKey], a: &Entry, b: &Entry, totals: &HashMap<std::path::PathBuf, u64>) -> Ordering {
    by_keys(keys, |key| match key {
        Key::Size => a.bytes.cmp(&b.bytes),
        Key::TotalSize => totals.get(&a.path).cmp(&totals.get(&b.path)),
        Key::Modified => a.modified.cmp(&b.modified),
        Key::Name => a.name_bytes().cmp(b.name_bytes()),
        Key::Path => a.path_bytes().cmp(b.path_bytes()),
        Key::Extension => extension(a).cmp(&extension(b)),
        Key::Text | Key::Numeric | Key::Length | Key::Value | Key::Memory | Key::Cpu => Ordering::Equal,
    })
}

/// The part of a file's name after its last dot, in lower case; empty if the name has no dot.
pub(crate) fn extension(entry: &Entry) -> Vec<u8> {
    let name = entry.name_bytes();
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) => name.get(dot + 1..).unwrap_or_default().to_ascii_lowercase(),
        None => Vec::new(),
    }
}

/// Total size in bytes of the regular files below a folder, hidden ones included.
pub(crate) fn total_size(folder: &Path, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let mut found = Vec::new();
    walk(folder, Depth::Whole, true, fs, &mut found)?;
    let regular = found.iter().filter(|entry| entry.kind == EntryKind::File);
    Ok(regular.fold(0, |sum: u64, entry| sum.saturating_add(entry.bytes)))
}

/// Adds all entries below a folder to `found`, without the folder itself; a folder below it that can't be read counts
/// as empty.
pub(crate) fn walk(
    root: &Path,
    depth: Depth,
    hidden: bool,
    fs: &dyn FileSystem,
    found: &mut Vec<Entry>,
) -> Result<(), EvalError> {
    let mut open = fs.list(root).map_err(unreadable(root))?;
    while let Some(entry) = open.pop() {
        if !hidden && entry.name_bytes().starts_with(b".") {
            continue;
        }
        // A search through everything skips the file systems that the kernel generates on each read.
        let is_kernels = || matches!(entry.path_bytes(), b"/proc" | b"/sys");
        if root == Path::new("/") && depth == Depth::Whole && is_kernels() {
            continue;
        }
        ensure(found.len() + open.len() < MAX_ENTRIES, || EvalError::TooMany)?;
        if depth == Depth::Whole && entry.kind == EntryKind::Folder {
            open.extend(fs.list(&entry.path).unwrap_or_default());
        }
        found.push(entry);
    }
    Ok(())
}
