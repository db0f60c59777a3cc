//! What of an act could be brought back: the places it may change, looked over before anyone is asked.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::state::State;
use super::walk::walk;
use super::{UndoConfig, survey_problem};
use crate::limit::Limit;
use crate::paths;
use crate::protect::Protected;

/// Places whose files are the kernel's, and devices.
const SYSTEM_PLACES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Ordinary files among the devices: memory that is used as a disk.
const MEMORY_DISK: &str = "/dev/shm";

/// Devices that keep nothing of what is written to them.
const SINKS: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdout", "/dev/stderr"];

/// Room left on the disk of the journal beyond what is kept there: the journal must not be what fills it.
const ROOM_LEFT_BYTES: u64 = 16 * 1024 * 1024;

/// Paths named that can't be kept; the rest is counted.
const NAMED_MAX: usize = 3;

/// What a command may change, and whether it can be kept.
#[derive(Debug, Clone)]
pub(crate) struct UndoSurvey {
    /// Real paths, none below another: each with all below it.
    pub(super) roots: Vec<PathBuf>,
    /// Whether something it may change is left out of every look: keys, artoo's own data, the kernel's files.
    leaves_out: bool,
    verdict: Verdict,
}

#[derive(Debug, Clone)]
enum Verdict {
    Kept { entries: u64, bytes: u64, unkept: Vec<PathBuf> },
    NotKept { reason: String },
}

impl UndoSurvey {
    /// Looks over what a command may change.
    pub(crate) fn survey(config: &UndoConfig, protected: &Protected, may_change: &[PathBuf], limit: &Limit) -> Self {
        let roots = roots(may_change);
        let leaves_out = Cell::new(may_change.iter().any(|path| is_system(path) && !is_sink(path)));
        let skip = |path: &Path| {
            let is_skipped = is_skipped(protected, path);
            leaves_out.set(leaves_out.get() || is_skipped);
            is_skipped
        };
        let verdict = look(config, &roots, &skip, limit)
            .unwrap_or_else(|error| Verdict::NotKept { reason: survey_problem(&error) });
        Self { roots, leaves_out: leaves_out.get(), verdict }
    }

    /// Whether what differs afterwards is all that was changed in these places.
    pub(crate) fn sees_all(&self) -> bool {
        !self.leaves_out && matches!(&self.verdict, Verdict::Kept { unkept, .. } if unkept.is_empty())
    }

    /// Why it can't be undone, if so.
    pub(crate) fn not_undoable(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::NotKept { reason } => Some(reason),
            Verdict::Kept { .. } => None,
        }
    }

    /// What a person is told, after "it".
    pub(crate) fn message(&self) -> String {
        match &self.verdict {
            Verdict::NotKept { reason } => format!("is not undoable: {reason}"),
            Verdict::Kept { entries, bytes, unkept } => {
                let mut said = format!(
                    "can be undone with artoo undo where it changes the workspace or what it names \
                     ({entries} entries of {bytes} bytes are kept first)"
                );
                if !unkept.is_empty() {
                    let named: Vec<String> = unkept.iter().take(NAMED_MAX).map(|path| paths::line(path)).collect();
                    let more = unkept.len().saturating_sub(NAMED_MAX);
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    said.push_str(&format!("; not undoable for {}{more}", named.join(", ")));
                }
                said
            }
        }
    }
}

/// Whether a walk leaves a place alone: keys and artoo's own data are not copied around.
pub(super) fn is_skipped(protected: &Protected, path: &Path) -> bool {
    protected.refusal(path).is_some() || is_system(path)
}

/// Whether it lies on a file system that holds no stored files.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM_PLACES.iter().any(|place| path.starts_with(place)) && !path.starts_with(MEMORY_DISK)
}

fn is_sink(path: &Path) -> bool {
    SINKS.iter().any(|sink| path == Path::new(sink))
}

fn look(config: &UndoConfig, roots: &[PathBuf], skip: &dyn Fn(&Path) -> bool, limit: &Limit) -> io::Result<Verdict> {
    if roots.iter().any(|root| root.parent().is_none()) {
        return Ok(Verdict::NotKept { reason: "it may change the whole disk".to_owned() });
    }
    let (mut entries, mut bytes, mut unkept) = (0_u64, 0_u64, Vec::new());
    let too_much = |entries: u64, bytes: u64| {
        (entries > config.max_entries || bytes > config.max_bytes).then(|| {
            format!(
                "what it may change is too large to keep ({entries} entries of {bytes} bytes and more; the limits \
                 are {} and {})",
                config.max_entries, config.max_bytes
            )
        })
    };
    let mut over = None;
    for root in roots {
        let looked = walk(root, skip, limit, &mut |seen| {
            entries += 1;
            match &seen.state {
                State::File(file) => {
                    bytes = bytes.saturating_add(file.bytes);
                    if seen.place.open_file().is_err() {
                        unkept.push(seen.path.to_path_buf());
                    }
                }
                State::Odd { .. } => unkept.push(seen.path.to_path_buf()),
                State::Folder(_) if seen.is_closed => unkept.push(seen.path.to_path_buf()),
                State::Absent | State::Folder(_) | State::Pipe(_) | State::Link { .. } => {}
            }
            over = too_much(entries, bytes);
            if over.is_some() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
        });
        if let Some(reason) = over.take() {
            return Ok(Verdict::NotKept { reason });
        }
        looked?;
    }
    if let Some(room) = room(&config.folder).filter(|room| *room < bytes.saturating_add(ROOM_LEFT_BYTES)) {
        let reason = format!("there is no room to keep {bytes} bytes ({room} are free)");
        return Ok(Verdict::NotKept { reason });
    }
    Ok(Verdict::Kept { entries, bytes, unkept })
}

/// Bytes free where the journal lies, or will.
fn room(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|folder| folder.is_dir())?;
    let found = rustix::fs::statvfs(existing).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The paths as walks begin with them: really there or the topmost that is missing, a link with what it points to, and
/// none below another.
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
    // Sorted by name, a folder comes right before what lies below it.
    let mut roots: Vec<PathBuf> = Vec::new();
    for path in all {
        if !roots.iter().any(|root| path.starts_with(root)) {
            roots.push(path);
        }
    }
    roots
}

/// The path itself where something stands, else the first name on the way to it where nothing does.
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
