//! The recorded changes of a task: the net change of each path over all calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, EffectClass, EvidenceId, ToolCall, escape};
use sha2::Sha256;

use crate::eval::{EntryKind, FileSystem, digest};

/// Length of a SHA-256 in hexadecimal.
const DIGEST_CHARS: usize = 64;

/// The recorded states of one path: before its first change and after its last, `None` for no entry.
#[derive(Debug, Clone)]
pub(super) struct NetChange {
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) by: Vec<EvidenceId>,
}

impl NetChange {
    /// Whether the path's state after all calls differs from its state before the first.
    pub(super) fn is_net(&self) -> bool {
        self.before != self.after
    }

    /// Whether only the modification time changed.
    pub(super) fn is_of_times(&self) -> bool {
        self.before.as_deref() == Some("its times") && self.after.as_deref() == Some("other times")
    }

    /// The change as a word, such as "created".
    pub(super) fn words(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "created",
            (_, None) => "removed",
            _ if self.is_of_times() => "its times were changed",
            (Some(before), Some(after)) if content(before) == content(after) => "its permissions were changed",
            _ => "changed",
        }
    }
}

/// The content part of a recorded state, without its mode.
pub(super) fn content(state: &str) -> &str {
    match state.split_once(" mode ") {
        Some((content, _)) if is_digest(content) || content == artoo_proto::FOLDER => content,
        _ => state,
    }
}

/// The recorded changes of all calls of a task, with access to the current disk.
pub(super) struct Records<'a> {
    pub(super) fs: &'a dyn FileSystem,
    pub(super) calls: &'a [ToolCall],
    /// All recorded changes by real path.
    pub(super) touched: BTreeMap<PathBuf, NetChange>,
    digests: RefCell<BTreeMap<PathBuf, Option<String>>>,
}

impl<'a> Records<'a> {
    /// Merges the recorded changes of these calls, by path.
    pub(super) fn of(calls: &'a [ToolCall], fs: &'a dyn FileSystem) -> Self {
        let mut touched: BTreeMap<PathBuf, NetChange> = BTreeMap::new();
        for call in calls {
            for change in &call.changed {
                let path = path(&change.path);
                // `write_file` records paths as given; all other tools record real paths.
                let path = if call.tool == "write_file" { fs.real(&path) } else { path };
                let new = NetChange { before: change.before.clone(), after: None, by: Vec::new() };
                let known = touched.entry(path).or_insert(new);
                // A change of time alone says nothing about the content.
                let is_of_times = after_is_times(change.after.as_deref());
                if !is_of_times || known.by.is_empty() {
                    if after_is_times(known.before.as_deref()) && !is_of_times {
                        known.before.clone_from(&change.before);
                    }
                    known.after = change.after.clone();
                }
                known.by.push(call.evidence_id.clone());
            }
        }
        Self { fs, calls, touched, digests: RefCell::default() }
    }

    /// The recorded change of a path; `None` if its state is the same after all calls.
    pub(super) fn net(&self, path: &Path) -> Option<&NetChange> {
        self.touched.get(path).filter(|change| change.is_net())
    }

    /// SHA-256 of the current file at a path.
    pub(super) fn digest(&self, path: &Path) -> Option<String> {
        if let Some(known) = self.digests.borrow().get(path) {
            return known.clone();
        }
        let is_file = self.fs.metadata(path).is_ok_and(|entry| entry.kind == EntryKind::File);
        let digest = is_file.then(|| digest::of_file::<Sha256>(path, self.fs).ok()).flatten();
        self.digests.borrow_mut().insert(path.to_path_buf(), digest.clone());
        digest
    }

    /// SHA-256 of the file that was at a path when the task began; `None` if unknown.
    pub(super) fn start_digest(&self, path: &Path) -> Option<String> {
        match self.touched.get(path) {
            Some(change) if change.is_of_times() => self.digest(path),
            Some(change) => change.before.as_deref().map(content).filter(|state| is_digest(state)).map(str::to_owned),
            None => self.digest(path),
        }
    }

    /// The calls that may have changed more than was recorded.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &'a ToolCall> {
        self.calls.iter().filter(|call| {
            let is_of_files =
                matches!(call.tool.as_str(), "files" | "write_file") && call.status != CallStatus::Uncertain;
            let is_known = call.changes_known || is_of_files || call.class == EffectClass::ReadOnly;
            !is_known && call.status != CallStatus::Denied
        })
    }
}

/// Whether a recorded state is exactly a SHA-256.
fn is_digest(state: &str) -> bool {
    state.len() == DIGEST_CHARS && state.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a recorded state stands for a modification time alone.
fn after_is_times(state: Option<&str>) -> bool {
    matches!(state, Some("other times" | "its times"))
}

/// The path from a line of a record; a line that can't be unescaped is used as it is.
pub(super) fn path(line: &str) -> PathBuf {
    #[cfg(unix)]
    let name = |bytes| <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes);
    escape::path_from_line(line).map_or_else(|| PathBuf::from(line), |bytes| PathBuf::from(name(bytes)))
}
