//! Incidental changes, such as caches: not committed, and listed separately with the reason.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::set::{ChangeSet, Entry, Kind};
use crate::limit::Limit;
use crate::openat::Place;
use crate::undo::State;

/// Maximum size of a git index that is compared.
const INDEX_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A pattern of incidental changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// A file of this name, new or changed.
    File(&'static str),
    /// A file with this suffix in a folder of this name, and the folder if it is new and has no other files.
    In(&'static str, &'static str),
    /// A new folder of this name with its content, or changes in it.
    Folder(&'static str),
    /// A git index that lists the same entries as before.
    Index,
}

/// The reviewed list. None of these is a person's own work, and programs create each again.
const TABLE: [(Which, &str); 18] = [
    (Which::Index, "git refreshed the times in its index; the entries are the same"),
    (Which::In("__pycache__", ".pyc"), "python keeps compiled modules; it compiles them again"),
    (Which::Folder(".pytest_cache"), "pytest notes which tests failed last"),
    (Which::Folder(".mypy_cache"), "mypy keeps what it worked out"),
    (Which::Folder(".ruff_cache"), "ruff keeps what it worked out"),
    (Which::Folder(".hypothesis"), "hypothesis keeps examples it tried"),
    (Which::File(".lesshst"), "less notes what was searched for"),
    (Which::File(".viminfo"), "vim notes what was opened"),
    (Which::File(".python_history"), "python notes what was typed; nobody typed here"),
    (Which::File(".node_repl_history"), "node notes what was typed; nobody typed here"),
    (Which::File(".sqlite_history"), "sqlite notes what was typed; nobody typed here"),
    (Which::File(".wget-hsts"), "wget notes which hosts want encryption"),
    (Which::File(".DS_Store"), "the Finder notes how a folder is shown"),
    (Which::File("recently-used.xbel"), "desktop programs note what was opened"),
    (Which::In("_logs", ".log"), "npm logs each run"),
    (Which::File("_update-notifier-last-checked"), "npm notes when it looked for a new version"),
    (Which::Folder(".eslintcache"), "eslint keeps what it worked out"),
    (Which::In("fontconfig", ".cache-9"), "fontconfig lists the fonts it found"),
];

/// Moves incidental changes out of the entries.
pub(super) fn set_aside(set: &mut ChangeSet, limit: &Limit) {
    let is_outer = |entry: &&Entry| !entry.is_inside && matches!(entry.kind, Kind::Created | Kind::Changed);
    let mut found = Vec::new();
    for entry in set.entries.iter().filter(is_outer) {
        let inside =
            || set.entries.iter().filter(|other| other.path != entry.path && other.path.starts_with(&entry.path));
        let row = TABLE.iter().find(|(which, _)| is(*which, entry, inside(), limit));
        found.extend(row.map(|(_, reason)| (entry.path.clone(), *reason)));
    }
    if found.is_empty() {
        return;
    }
    // Sorted, a path comes right before what lies below it.
    found.sort();
    let is_found = |path: &Path| {
        path.ancestors().any(|part| found.binary_search_by(|(found, _)| found.as_path().cmp(part)).is_ok())
    };
    set.entries.retain(|entry| !is_found(&entry.path));
    set.touched.retain(|touched| !is_found(&touched.path));
    set.incidental = found;
}

fn is<'a>(which: Which, entry: &Entry, mut inside: impl Iterator<Item = &'a Entry>, limit: &Limit) -> bool {
    let named = |path: Option<&Path>, name: &str| path.and_then(Path::file_name).is_some_and(|found| found == name);
    let (path, folder) = (Some(entry.path.as_path()), entry.path.parent());
    let is_file = |state: &State| matches!(state, State::File(_));
    match which {
        Which::File(name) => named(path, name) && is_file(&entry.after),
        Which::In(name, end) => {
            let fits = |path: &Path| path.file_name().is_some_and(|name| name.as_bytes().ends_with(end.as_bytes()));
            match &entry.after {
                State::File(_) => named(folder, name) && fits(&entry.path),
                State::Folder(_) => named(path, name) && inside.all(|entry| is_file(&entry.after) && fits(&entry.path)),
                State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => false,
            }
        }
        Which::Folder(name) => {
            matches!(entry.after, State::File(_) | State::Folder(_))
                && entry.path.ancestors().any(|part| named(Some(part), name))
        }
        Which::Index => {
            named(path, "index") && named(folder, ".git") && entry.kind == Kind::Changed && same_index(entry, limit)
        }
    }
}

/// Whether both indexes list the same files with the same contents and flags.
fn same_index(entry: &Entry, limit: &Limit) -> bool {
    let read = |path: &Path| -> Option<Vec<u8>> {
        let file = Place::of(path).ok()?.open_file().ok()?;
        if file.metadata().ok()?.len() > INDEX_MAX_BYTES || limit.reached() {
            return None;
        }
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, INDEX_MAX_BYTES), &mut bytes).ok()?;
        Some(bytes)
    };
    let (Some(before), Some(after)) = (read(&entry.path), read(&entry.source)) else { return false };
    index_entries(&before).is_some_and(|before| Some(before) == index_entries(&after))
}

/// Mode, object and name of each entry of a git index of version 2 or 3 with SHA-1; `None` for any other index.
pub(super) fn index_entries(bytes: &[u8]) -> Option<Vec<[&[u8]; 3]>> {
    const FIXED: usize = 62;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" || !(2..=3).contains(&number(4)?) {
        return None;
    }
    let (count, mut at) = (number(8)?, 12);
    let mut entries = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + FIXED)?.try_into().ok()?);
        let name_at = at + FIXED + if flags & 0x4000 == 0 { 0 } else { 2 };
        let length = bytes.get(name_at..)?.iter().position(|byte| *byte == 0)?;
        let mode = bytes.get(at + 24..at + 28)?;
        let object_and_flags = bytes.get(at + 40..name_at)?;
        entries.push([mode, object_and_flags, bytes.get(name_at..name_at + length)?]);
        // Names are padded to a multiple of eight bytes, with one zero at least.
        at += (name_at - at + length + 8) / 8 * 8;
    }
    // Extensions up to the checksum; a split index keeps its entries elsewhere.
    while at + 20 < bytes.len() {
        let length = usize::try_from(number(at + 4)?).ok()?;
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(length)?;
    }
    (at + 20 == bytes.len()).then_some(entries)
}
