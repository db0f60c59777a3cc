//! The net change of each path over all calls of a task, as it was recorded.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, EffectClass, EvidenceId, ToolCall, escape};
use sha2::Sha256;

use crate::eval::{EntryKind, FileSystem, digest};

/// Length of a SHA-256 in hexadecimal.
const DIGEST_CHARS: usize = 64;

/// What is recorded of one path: the state before the first change and after the last.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) by: Vec<EvidenceId>,
}

impl Change {
    /// Whether the path is different after all calls.
    pub(super) fn is_net(&self) -> bool {
        self.before != self.after
    }

    /// Whether only times changed.
    pub(super) fn is_of_times(&self) -> bool {
        self.before.as_deref() == Some("its times") && self.after.as_deref() == Some("other times")
    }

    /// The change in words.
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

/// The content part of a recorded state, without the words about mode and time.
pub(super) fn content(state: &str) -> &str {
    match state.split_once(" mode ") {
        Some((content, _)) if is_digest(content) || content == artoo_proto::FOLDER => content,
        _ => state,
    }
}

/// The records of all calls together with the disk as it is now.
pub(super) struct Found<'a> {
    pub(super) fs: &'a dyn FileSystem,
    pub(super) calls: &'a [ToolCall],
    /// Everything that was touched, by real path.
    pub(super) touched: BTreeMap<PathBuf, Change>,
    digests: RefCell<BTreeMap<PathBuf, Option<String>>>,
}

impl<'a> Found<'a> {
    pub(super) fn of(calls: &'a [ToolCall], fs: &'a dyn FileSystem) -> Self {
        let mut touched: BTreeMap<PathBuf, Change> = BTreeMap::new();
        for call in calls {
            for change in &call.changed {
                let path = path(&change.path);
                // This tool names paths as they were given; all others name real ones.
                let path = if call.tool == "write_file" { fs.real(&path) } else { path };
                let new = Change { before: change.before.clone(), after: None, by: Vec::new() };
                let known = touched.entry(path).or_insert(new);
                // A time that changed says nothing of the content.
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

    /// The recorded change of a path, if it is different after all calls.
    pub(super) fn net(&self, path: &Path) -> Option<&Change> {
        self.touched.get(path).filter(|change| change.is_net())
    }

    /// SHA-256 of the file that is at a path now.
    pub(super) fn digest(&self, path: &Path) -> Option<String> {
        if let Some(known) = self.digests.borrow().get(path) {
            return known.clone();
        }
        let is_file = self.fs.metadata(path).is_ok_and(|entry| entry.kind == EntryKind::File);
        let digest = is_file.then(|| digest::of_file::<Sha256>(path, self.fs).ok()).flatten();
        self.digests.borrow_mut().insert(path.to_path_buf(), digest.clone());
        digest
    }

    /// SHA-256 of the file that was at a path when the task began; `None` if it is not known.
    pub(super) fn start_digest(&self, path: &Path) -> Option<String> {
        match self.touched.get(path) {
            Some(change) if change.is_of_times() => self.digest(path),
            Some(change) => change.before.as_deref().map(content).filter(|state| is_digest(state)).map(str::to_owned),
            None => self.digest(path),
        }
    }

    /// The calls that ran and of which it is not known what they changed.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &'a ToolCall> {
        self.calls.iter().filter(|call| {
            let is_of_files =
                matches!(call.tool.as_str(), "files" | "write_file") && call.status != CallStatus::Uncertain;
            let is_known = call.changes_known || is_of_files || call.class == EffectClass::ReadOnly;
            !is_known && call.status != CallStatus::Denied
        })
    }
}

/// Whether a recorded state is a SHA-256 alone.
fn is_digest(state: &str) -> bool {
    state.len() == DIGEST_CHARS && state.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn after_is_times(state: Option<&str>) -> bool {
    matches!(state, Some("other times" | "its times"))
}

/// The path that a record means; a line that is no path stands for itself, and no obligation names it.
pub(super) fn path(line: &str) -> PathBuf {
    #[cfg(unix)]
    let name = |bytes| <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes);
    escape::path_from_line(line).map_or_else(|| PathBuf::from(line), |bytes| PathBuf::from(name(bytes)))
}
