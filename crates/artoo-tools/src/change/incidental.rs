//! Incidental changes, such as caches, recognised by content and place: not committed, and listed separately with the
//! reason.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::set::{ChangeSet, Entry, Kind};
use crate::limit::Limit;
use crate::openat::Place;
use crate::undo::State;

/// Maximum size of a git index that is compared, in bytes.
const INDEX_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A pattern by which incidental changes, such as caches and compiled modules, are recognised.
#[derive(Debug, Clone, Copy)]
enum IncidentalPattern {
    /// A file with this suffix and this beginning in a folder of this name, and the folder if it is new and has no other
    /// files.
    In { folder: &'static str, end: &'static str, begins: fn(&[u8]) -> bool },
    /// A new folder of this name with the file that marks caches.
    Cache(&'static str),
    /// A git index that lists the same entries as before.
    Index,
}

/// Patterns of incidental changes, reviewed one by one: programs create each of these files again, and none is the
/// user's own work.
const TABLE: [(IncidentalPattern, &str); 7] = [
    (IncidentalPattern::Index, "git refreshed the times in its index; the entries are the same"),
    (
        IncidentalPattern::In { folder: "__pycache__", end: ".pyc", begins: is_bytecode },
        "python keeps compiled modules; it compiles them again",
    ),
    (IncidentalPattern::Cache(".pytest_cache"), "pytest notes which tests failed last"),
    (IncidentalPattern::Cache(".mypy_cache"), "mypy keeps what it worked out"),
    (IncidentalPattern::Cache(".ruff_cache"), "ruff keeps what it worked out"),
    (
        IncidentalPattern::In { folder: "fontconfig", end: ".cache-9", begins: is_font_list },
        "fontconfig lists the fonts it found",
    ),
    (IncidentalPattern::In { folder: "_logs", end: "-debug-0.log", begins: is_npm_log }, "npm logs each run"),
];

/// The signature with which a valid `CACHEDIR.TAG` begins.
const MARK: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Number of bytes at the start of a file that are read to recognise which program wrote it.
const BEGINNING: u64 = 64;

/// Whether the bytes begin like a compiled Python module: version of the compiler, then flags.
fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.len() > 16 && bytes.get(2..4) == Some(b"\r\n") && matches!(bytes.get(4..8), Some([0..=3, 0, 0, 0]))
}

/// Whether the bytes begin like a cache of `fc-cache`.
fn is_font_list(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x04, 0xfc, 0x02, 0xfc, 9, 0, 0, 0])
}

/// Whether the bytes begin like a log of `npm`.
fn is_npm_log(bytes: &[u8]) -> bool {
    bytes.starts_with(b"0 verbose cli ") || bytes.starts_with(b"0 info it worked if it ends with ok")
}

/// Moves incidental changes, such as caches, from the change set's entries to a list of their own.
pub(super) fn set_aside(set: &mut ChangeSet, limit: &Limit) {
    let is_outer = |entry: &&Entry| !entry.is_inside && matches!(entry.kind, Kind::Created | Kind::Changed);
    let gone = RemovedContents::of(set);
    let mut found = Vec::new();
    for (at, entry) in set.entries.iter().enumerate().filter(|(_, entry)| is_outer(entry)) {
        let Some((which, reason)) = TABLE.iter().find(|(which, _)| which.is_named(entry)) else { continue };
        // In sorted order, a folder comes right before its entries.
        let all = set.entries.iter().skip(at).take_while(|other| other.path.starts_with(&entry.path));
        let all: Vec<&Entry> = all.collect();
        let is_moved = !matches!(which, IncidentalPattern::Index) && all.iter().any(|entry| gone.may_be(entry));
        if !is_moved && which.is(entry, &all, limit) {
            found.push((entry.path.clone(), *reason));
        }
    }
    if found.is_empty() {
        return;
    }
    found.sort();
    let is_found = |path: &Path| {
        path.ancestors().any(|part| found.binary_search_by(|(found, _)| found.as_path().cmp(part)).is_ok())
    };
    set.entries.retain(|entry| !is_found(&entry.path));
    set.touched.retain(|touched| !is_found(&touched.path));
    set.incidental = found;
}

/// The contents before of all files that a change set deletes, replaces or changes. A new file with such content may be
/// the only copy.
struct RemovedContents<'a> {
    digests: BTreeSet<&'a str>,
    /// Sizes of files whose content was not read.
    unread: BTreeSet<u64>,
}

impl<'a> RemovedContents<'a> {
    /// Collects the earlier contents of the files in the change set as digests, and as sizes where they were not read.
    fn of(set: &'a ChangeSet) -> Self {
        let files = || set.entries.iter().filter_map(|entry| entry.before.file());
        let unread = files().filter(|file| file.digest.is_none()).map(|file| file.bytes);
        Self { digests: files().filter_map(|file| file.digest.as_deref()).collect(), unread: unread.collect() }
    }

    /// Whether a new file may have the content of a removed file: by digest, or by size if the removed file was not
    /// read.
    fn may_be(&self, entry: &Entry) -> bool {
        entry.after.file().is_some_and(|file| {
            self.unread.contains(&file.bytes) || file.digest.as_deref().is_some_and(|it| self.digests.contains(it))
        })
    }
}

impl IncidentalPattern {
    /// Whether the name and folder of an entry fit the pattern; the content is checked by `is`.
    fn is_named(self, entry: &Entry) -> bool {
        let above = |name: &str| entry.path.parent().is_some_and(|folder| named(folder, name));
        match self {
            Self::In { folder, .. } => match &entry.after {
                State::File(_) => above(folder),
                State::Folder(_) => named(&entry.path, folder),
                State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => false,
            },
            Self::Cache(name) => named(&entry.path, name),
            Self::Index => named(&entry.path, "index") && above(".git"),
        }
    }

    /// Whether the entry matches this pattern of an incidental change, in name and content; `all`: the entry and
    /// everything below it.
    fn is(self, entry: &Entry, all: &[&Entry], limit: &Limit) -> bool {
        let is_plain = |entry: &&Entry| match &entry.after {
            State::File(file) => !entry.gains_capability && file.facts.mode & 0o7111 == 0 && file.links == 1,
            State::Folder(_) => true,
            State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => false,
        };
        let is_new = entry.kind == Kind::Created && matches!(entry.after, State::Folder(_));
        match self {
            Self::In { end, begins, .. } => {
                let fits = |path: &Path| path.file_name().is_some_and(|name| name.as_bytes().ends_with(end.as_bytes()));
                let is_own = |path: &Path| beginning(path).is_some_and(|bytes| begins(&bytes));
                // An existing file must have been the tool's own as well.
                let is_same_kind =
                    |entry: &Entry| entry.kind == Kind::Created || is_own(&entry.path) && same_facts(entry);
                let files = || all.iter().filter(|entry| !matches!(entry.after, State::Folder(_)));
                let is_mark = |entry: &Entry| named(&entry.path, "CACHEDIR.TAG") && is_marked(&entry.source);
                all.iter().all(is_plain)
                    && files().count() + usize::from(is_new) == all.len()
                    && files().any(|entry| fits(&entry.path))
                    && files().all(|entry| {
                        is_mark(entry) || fits(&entry.path) && is_own(&entry.source) && is_same_kind(entry)
                    })
            }
            Self::Cache(_) => {
                let mark = entry.path.join("CACHEDIR.TAG");
                let is_mark = |entry: &&&Entry| entry.path == mark && is_marked(&entry.source);
                is_new && all.iter().all(is_plain) && all.iter().any(|entry| is_mark(&entry))
            }
            Self::Index => entry.kind == Kind::Changed && same_facts(entry) && same_index(entry, limit),
        }
    }
}

/// Whether the last name of the path is `name`.
fn named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| found == name)
}

/// Whether the file starts with the signature of a `CACHEDIR.TAG`, which marks its folder as a cache.
fn is_marked(path: &Path) -> bool {
    beginning(path).is_some_and(|bytes| bytes.starts_with(MARK))
}

/// Whether mode, owner, group and attributes are equal before and after.
fn same_facts(entry: &Entry) -> bool {
    let facts = |state: &State| state.facts().map(|facts| (facts.mode, facts.owner, facts.group));
    facts(&entry.before) == facts(&entry.after) && entry.attributes.0 == entry.attributes.1
}

/// The first [`BEGINNING`] bytes of a file, fewer if it is shorter; `None` if it can't be read.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = Place::of(path).ok()?.open_file().ok()?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, BEGINNING), &mut bytes).ok()?;
    Some(bytes)
}

/// Whether an entry's file before and after are git indexes with the same names, modes, objects and flags; `false` if
/// one is too large, of another format, or not read in time.
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

/// Mode, object with flags, and name of each entry of a git index of version 2 or 3 with SHA-1; `None` for any other.
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
        // Names are padded with at least one zero to a multiple of eight bytes.
        at += (name_at - at + length + 8) / 8 * 8;
    }
    // Extensions end at the checksum. A split index has its entries in another file.
    while at + 20 < bytes.len() {
        let length = usize::try_from(number(at + 4)?).ok()?;
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(length)?;
    }
    (at + 20 == bytes.len()).then_some(entries)
}
