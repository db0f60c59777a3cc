//! Outcomes of one path: already restored, changed since, or impossible to restore.

use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::format::Change;
use super::restore::Told;
use super::resumed::Resumed;
use super::state::State;
use super::store::ItemOutcome;
use crate::paths;

/// The outcome that is known without a change; `None` if the path is to be restored.
pub(super) fn judge(change: &Change, present: &State, resumed: &Resumed) -> Option<ItemOutcome> {
    if present.same(&change.before) {
        return Some(ItemOutcome::Already);
    }
    if !present.same(&change.after) && !resumed.has_left(&change.path, present) {
        let reason = format!("changed since: {} stands there that the task did not leave", present.name());
        return Some(ItemOutcome::Conflict { reason });
    }
    let impossible = |reason: String| Some(ItemOutcome::Impossible { reason });
    match &change.before {
        State::Odd { what } => impossible(format!("it was {what}, which can't be made again")),
        State::File(was) if was.digest.is_none() => {
            impossible("its content could not be read, so it was not kept".into())
        }
        State::Absent | State::File(_) | State::Folder(_) | State::Pipe(_) | State::Link { .. } => None,
    }
}

/// A verb for reverting a move to this path.
pub(super) fn moved_from(to: &Path) -> &'static str {
    if super::blobs::is_stored(to) {
        return "brought back";
    }
    let is_trash = crate::trash::note_of(to).is_some_and(|note| crate::trash::is_bookkeeping(&note));
    if is_trash { "taken out of the trash" } else { "moved back" }
}

/// The outcome of a move that was cut off.
pub(super) fn torn(from: &Path, to: &Path) -> Told {
    let reason = format!("it was being moved to {}; what is at both places is left", paths::line(to));
    (from.to_path_buf(), "moved back", ItemOutcome::Impossible { reason })
}

pub(super) fn is_left(outcome: &ItemOutcome) -> bool {
    matches!(outcome, ItemOutcome::Conflict { .. } | ItemOutcome::Impossible { .. })
}

pub(super) fn told(error: &io::Error) -> ItemOutcome {
    let reason = match Errno::from_io_error(error) {
        Some(Errno::LOOP | Errno::NOTDIR) => "a folder on the way is a link now, or no folder".to_owned(),
        Some(Errno::NOENT) => "the folder it was in is gone".to_owned(),
        _ => error.to_string(),
    };
    ItemOutcome::Impossible { reason }
}

pub(super) fn conflict_or(error: Errno) -> io::Result<ItemOutcome> {
    match error {
        Errno::EXIST | Errno::NOTEMPTY => Ok(changed_meanwhile()),
        error => Err(error.into()),
    }
}

pub(super) fn changed_meanwhile() -> ItemOutcome {
    ItemOutcome::Conflict { reason: "changed since".to_owned() }
}

pub(super) fn too_large() -> ItemOutcome {
    ItemOutcome::Impossible { reason: "it is too large to keep a copy of, so it is not taken away".to_owned() }
}
