//! Reads the paths that a command may change, to find out before the question whether an undo is possible.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::units;

use super::UndoConfig;
use super::state::State;
use super::walk::walk;
use crate::limit::Limit;
use crate::protect::Protected;
use crate::{paths, texts};

/// Folders of the kernel and of devices, which are never copied into the journal.
const SYSTEM_PLACES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// `/dev/shm`, the folder below `/dev` that has ordinary files.
const MEMORY_DISK: &str = "/dev/shm";

/// Devices that discard what is written to them, such as `/dev/null`.
const SINKS: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdout", "/dev/stderr"];

/// Free space in bytes that copies for an undo must leave on the journal's disk.
const ROOM_LEFT_BYTES: u64 = 16 * 1024 * 1024;

/// The paths that a command may change, and whether they can be copied first.
#[derive(Debug, Clone)]
pub(crate) struct UndoSurvey {
    /// Real paths, none below another; everything below them is included.
    pub(super) roots: Vec<PathBuf>,
    /// Whether a path that may change is never read: keys, artoo's own data, the kernel's files.
    leaves_out: bool,
    /// The number of files that are copied first, or the reason why none is.
    copied: Result<Copied, String>,
}

/// The number of files and folders that a command may change, and the size of the files in bytes, to be copied before
/// it runs.
#[derive(Debug, Clone, Default)]
struct Copied {
    entries: u64,
    bytes: u64,
    /// Paths that can't be read, or can't be created again.
    left_out: Vec<PathBuf>,
}

impl UndoSurvey {
    /// Reads the paths that a command may change, and counts what has to be copied first.
    pub(crate) fn survey(config: &UndoConfig, protected: &Protected, may_change: &[PathBuf], limit: &Limit) -> Self {
        let roots = roots(may_change);
        let leaves_out = Cell::new(may_change.iter().any(|path| is_system(path) && !is_sink(path)));
        let skip = |path: &Path| {
            let is_skipped = is_skipped(protected, path);
            leaves_out.set(leaves_out.get() || is_skipped);
            is_skipped
        };
        let copied = count_files(config, &roots, &skip, limit);
        Self { roots, leaves_out: leaves_out.get(), copied }
    }

    /// Whether the survey covers all paths the command may change, so that a comparison afterwards finds every change.
    pub(crate) fn sees_all(&self) -> bool {
        !self.leaves_out && self.copied.as_ref().is_ok_and(|copied| copied.left_out.is_empty())
    }

    /// Why the command can't be undone; `None` if it can.
    pub(crate) fn not_undoable(&self) -> Option<&str> {
        self.copied.as_ref().err().map(String::as_str)
    }

    /// The end of a sentence for the user that says whether the command can be undone; its subject is "it".
    pub(crate) fn message(&self) -> String {
        match &self.copied {
            Ok(Copied { entries, bytes, left_out }) => {
                let left_out = texts::first(left_out.iter().map(|path| paths::line(path)), texts::NAMED_MAX);
                texts::copied_first(*entries, *bytes, &left_out)
            }
            Err(reason) => texts::not_undoable(reason),
        }
    }
}

/// Whether a path is never copied into the journal: protected places, such as keys and artoo's own data, and the
/// kernel's files.
pub(super) fn is_skipped(protected: &Protected, path: &Path) -> bool {
    protected.refusal(path).is_some() || is_system(path)
}

/// Whether a path is at or below `/proc`, `/sys` or `/dev`, but not in `/dev/shm`.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM_PLACES.iter().any(|place| path.starts_with(place)) && !path.starts_with(MEMORY_DISK)
}

/// Whether a path is a device that discards what is written to it.
fn is_sink(path: &Path) -> bool {
    SINKS.iter().any(|sink| path == Path::new(sink))
}

/// Counts the files and folders at and below these paths; `Err` is the reason for which they can't be copied.
fn count_files(
    config: &UndoConfig,
    roots: &[PathBuf],
    skip: &dyn Fn(&Path) -> bool,
    limit: &Limit,
) -> Result<Copied, String> {
    if roots.iter().any(|root| root.parent().is_none()) {
        return Err(texts::WHOLE_DISK.to_owned());
    }
    let mut copied = Copied::default();
    for root in roots {
        let walked = walk(root, skip, limit, &mut |seen| {
            copied.entries += 1;
            let is_left_out = match &seen.state {
                State::File(file) => {
                    copied.bytes = copied.bytes.saturating_add(file.bytes);
                    seen.place.open_file().is_err()
                }
                State::Odd { .. } => true,
                State::Absent | State::Folder(_) | State::Pipe(_) | State::Link { .. } => seen.is_closed,
            };
            copied.left_out.extend(is_left_out.then(|| seen.path.to_path_buf()));
            let is_over = copied.entries > config.max_entries || copied.bytes > config.max_bytes;
            if is_over { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
        });
        walked.map_err(|error| {
            if error.kind() == io::ErrorKind::FileTooLarge {
                return texts::too_large_to_copy(copied.entries, copied.bytes, config.max_entries, config.max_bytes);
            }
            if error.kind() == io::ErrorKind::TimedOut {
                return texts::NO_TIME_TO_LOOK.to_owned();
            }
            format!("what it may change can't be looked through: {error}")
        })?;
    }
    let Copied { bytes, .. } = copied;
    match free_bytes(&config.folder) {
        Some(room) if room < bytes.saturating_add(ROOM_LEFT_BYTES) => {
            Err(texts::no_room(units::bytes(bytes), units::bytes(room)))
        }
        _ => Ok(copied),
    }
}

/// Free bytes on the disk of the journal; `None` if that can't be found out.
fn free_bytes(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|folder| folder.is_dir())?;
    let found = rustix::fs::statvfs(existing).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The paths to start reading from: each exists or is the topmost missing one, symlinks are listed with their targets,
/// and none is below another.
fn roots(may_change: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = BTreeSet::new();
    for path in may_change {
        let named = paths::without_links(path);
        if fs::symlink_metadata(&named).is_ok_and(|found| found.is_symlink()) {
            all.insert(topmost_missing(&paths::real(&named)));
        }
        all.insert(topmost_missing(&named));
    }
    all.retain(|path| !is_system(path));
    // Sorted by name, a folder comes right before its entries.
    let mut roots: Vec<PathBuf> = Vec::new();
    for path in all {
        if !roots.iter().any(|root| path.starts_with(root)) {
            roots.push(path);
        }
    }
    roots
}

/// The path itself if it exists, else its topmost ancestor that does not exist.
pub(super) fn topmost_missing(path: &Path) -> PathBuf {
    let mut missing = path;
    while let Some(parent) = missing.parent() {
        if fs::symlink_metadata(missing).is_ok() || fs::symlink_metadata(parent).is_ok() {
            break;
        }
        missing = parent;
    }
    missing.to_path_buf()
}
