//! Checks after an act that the disk shows what was asked for, and nothing else.

mod acts;
mod before;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, FOLDER, ToolCall, escape};
use serde_json::Value;
use sha2::Sha256;

use super::{EntryKind, EvalError, FileSystem, Verification, digest, unreadable};
use crate::algebra::Act;

/// Checks that an act was performed as asked, and that nothing else was changed.
///
/// `calls` are all tool calls made for the act: the listings of the selection and the calls of `files` with their
/// recorded changes. The disk is read again: deleted files no longer exist, copies and moves arrived with equal hashes,
/// new names are as asked, an archive contains the selection. The selection is computed again on the disk as it was
/// before, as far as that is known; the evidence says where it isn't.
#[must_use]
pub fn performed(act: &Value, calls: &[ToolCall], fs: &dyn FileSystem) -> Verification {
    let Ok(act) = serde_json::from_value::<Act>(act.clone()) else {
        return Verification::fail("the check holds no act");
    };
    match Changes::read(calls, fs).and_then(|changes| acts::check(&act, &changes, fs)) {
        Ok(evidence) => Verification::pass(evidence),
        Err(NotPerformed(problem)) => Verification::fail(problem),
    }
}

/// Why verification of an act fails, in one sentence.
#[derive(Debug)]
struct NotPerformed(String);

impl From<EvalError> for NotPerformed {
    fn from(problem: EvalError) -> Self {
        Self(format!("could not be read again: {problem}"))
    }
}

/// A failed verification with this reason.
fn not_performed<T>(problem: impl Into<String>) -> Result<T, NotPerformed> {
    Err(NotPerformed(problem.into()))
}

/// A path escaped to one line, for messages.
fn shown(path: &Path) -> String {
    escape::path_line(path.as_os_str().as_encoded_bytes())
}

/// The paths that the tool calls of an act listed, removed and created.
struct Changes {
    /// The listed paths with links resolved, in the order of the listing.
    listed: Vec<PathBuf>,
    /// The removed paths, each with the hash of its former content.
    gone: BTreeMap<PathBuf, String>,
    /// The created paths, each with the hash of its content.
    made: BTreeMap<PathBuf, String>,
}

impl Changes {
    /// Collects the listed and changed paths from the tool calls; an error if a call failed or changed a file in place.
    fn read(calls: &[ToolCall], fs: &dyn FileSystem) -> Result<Self, NotPerformed> {
        let mut changes = Self { listed: Vec::new(), gone: BTreeMap::new(), made: BTreeMap::new() };
        let mut listing: Option<&ToolCall> = None;
        let mut acts = 0;
        for call in calls {
            if call.status != CallStatus::Ok {
                return not_performed(format!("a call of {} did not succeed", call.tool));
            }
            if call.tool != "files" {
                if !call.changed.is_empty() {
                    return not_performed(format!("a call of {} changed something", call.tool));
                }
                listing = Some(call);
                continue;
            }
            acts += 1;
            // An act that names its path itself has no listing.
            if let (Some(listing), Some(paths)) = (listing.take(), call.input.get("paths")) {
                changes.take_list(listing, paths, fs)?;
            }
            for change in &call.changed {
                changes.take_change(&change.path, change.before.as_deref(), change.after.as_deref())?;
            }
        }
        if acts == 0 { not_performed("no call did it") } else { Ok(changes) }
    }

    /// Checks that the paths acted on are exactly those listed, and records them.
    fn take_list(&mut self, listing: &ToolCall, acted_on: &Value, fs: &dyn FileSystem) -> Result<(), NotPerformed> {
        let lines: Vec<&str> = listing.output.lines().filter(|line| !line.is_empty()).collect();
        let acted_on = acted_on.as_array().map(|paths| paths.iter().filter_map(Value::as_str).collect::<Vec<_>>());
        if listing.truncated || acted_on.as_ref() != Some(&lines) {
            return not_performed("what was acted on is not what was listed");
        }
        for line in lines {
            self.listed.push(fs.real(&path(line)?));
        }
        Ok(())
    }

    /// Records a created or removed path with its hash; an error for a change in place.
    fn take_change(&mut self, line: &str, before: Option<&str>, after: Option<&str>) -> Result<(), NotPerformed> {
        let at = path(line)?;
        let (changes, digest) = match (before, after) {
            (Some(digest), None) => (&mut self.gone, digest),
            (None, Some(digest)) => (&mut self.made, digest),
            _ => return not_performed(format!("{} was changed in place", shown(&at))),
        };
        match changes.insert(at, digest.to_owned()) {
            None => Ok(()),
            Some(_) => not_performed(format!("{line} was changed twice")),
        }
    }

    /// The listed paths that are not below another listed path.
    fn outermost(&self) -> Vec<&PathBuf> {
        let is_below = |path: &PathBuf| self.listed.iter().any(|other| other != path && path.starts_with(other));
        self.listed.iter().filter(|path| !is_below(path)).collect()
    }

    /// Checks that the act removed nothing.
    fn nothing_gone(&self) -> Result<(), NotPerformed> {
        match self.gone.keys().next() {
            None => Ok(()),
            Some(path) => not_performed(format!("{} is gone, which was not asked for", shown(path))),
        }
    }

    /// Checks that every expected path was created with its hash, and nothing else was created except parent folders.
    fn made_exactly(&self, expected: &BTreeMap<PathBuf, String>, fs: &dyn FileSystem) -> Result<(), NotPerformed> {
        for (path, digest) in expected {
            match self.made.get(path) {
                Some(made) if made == digest => {}
                Some(_) => return not_performed(format!("{} is not what was to be there", shown(path))),
                None => return not_performed(format!("{} was not made", shown(path))),
            }
            if digest_of(path, fs)? != *digest {
                return not_performed(format!("{}, read again, is not what was to be there", shown(path)));
            }
        }
        for (path, digest) in self.made.iter().filter(|(path, _)| !expected.contains_key(*path)) {
            let is_on_the_way = digest == FOLDER && expected.keys().any(|target| target.starts_with(path));
            if !is_on_the_way {
                return not_performed(format!("{} was made, which was not asked for", shown(path)));
            }
        }
        Ok(())
    }
}

/// The path that a line of tool output means, with its escapes decoded.
fn path(line: &str) -> Result<PathBuf, NotPerformed> {
    #[cfg(unix)]
    let name = |bytes| <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes);
    match escape::path_from_line(line) {
        Some(bytes) if bytes.starts_with(b"/") => Ok(PathBuf::from(name(bytes))),
        _ => not_performed(format!("{:?} is no path", escape::shorten(&escape::one_line(line), 200))),
    }
}

/// The hash of the file at a path, or the marker for a folder.
fn digest_of(path: &Path, fs: &dyn FileSystem) -> Result<String, NotPerformed> {
    let entry = fs.metadata(path).map_err(unreadable(path))?;
    match entry.kind {
        EntryKind::Folder => Ok(FOLDER.to_owned()),
        EntryKind::File => Ok(digest::of_file::<Sha256>(path, fs)?),
        EntryKind::Link | EntryKind::Other => not_performed(format!("{} is neither file nor folder", shown(path))),
    }
}
