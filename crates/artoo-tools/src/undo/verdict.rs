//! Outcomes of an undo for one path: already restored, changed since, or impossible to restore.

use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::format::Change;
use super::restore::Told;
use super::resumed::Resumed;
use super::state::State;
use super::store::ItemOutcome;
use crate::{paths, texts};

/// The outcome of undoing a change if it is known without trying: already restored, changed since, or impossible;
/// otherwise `None`.
pub(super) fn judge(change: &Change, present: &State, resumed: &Resumed) -> Option<ItemOutcome> {
    if present.same(&change.before) {
        return Some(ItemOutcome::Already);
    }
    if !present.same(&change.after) && !resumed.has_left(&change.path, present) {
        let reason = texts::not_left_by_task(present.name());
        return Some(ItemOutcome::Conflict { reason });
    }
    let impossible = |reason: String| Some(ItemOutcome::Impossible { reason });
    match &change.before {
        State::Odd { what } => impossible(format!("it was {what}, which can't be made again")),
        State::File(was) if was.digest.is_none() => impossible(texts::NOT_READ.to_owned()),
        State::Absent | State::File(_) | State::Folder(_) | State::Pipe(_) | State::Link { .. } => None,
    }
}

/// Whether a file has another modification time than before the change.
pub(super) fn has_other_time(change: &Change, present: &State) -> bool {
    change.before.file().zip(present.file()).is_some_and(|(was, is)| !was.facts.same_time(&is.facts))
}

/// The verb that reports that a move to this path was reverted.
pub(super) fn moved_from(to: &Path) -> &'static str {
    if super::blobs::is_stored(to) {
        return "brought back";
    }
    let is_trash = crate::trash::note_of(to).is_some_and(|note| crate::trash::is_bookkeeping(&note));
    if is_trash { "taken out of the trash" } else { "moved back" }
}

/// The undo outcome of a move that a crash interrupted and that can't be reverted, with the reason.
pub(super) fn interrupted_move(from: &Path, to: &Path) -> Told {
    let reason = texts::cut_off_move(paths::line(to));
    (from.to_path_buf(), "moved back", ItemOutcome::Impossible { reason })
}

/// Whether an undo left a path as it is, because of a conflict or because it can't be restored.
pub(super) fn is_left(outcome: &ItemOutcome) -> bool {
    matches!(outcome, ItemOutcome::Conflict { .. } | ItemOutcome::Impossible { .. })
}

/// The undo outcome of a path that could not be restored because of an error.
pub(super) fn failed_restore(error: &io::Error) -> ItemOutcome {
    let reason = match Errno::from_io_error(error) {
        Some(Errno::LOOP | Errno::NOTDIR) => texts::FOLDER_IS_LINK.to_owned(),
        Some(Errno::NOENT) => texts::FOLDER_GONE.to_owned(),
        _ => error.to_string(),
    };
    ItemOutcome::Impossible { reason }
}

/// The outcome "changed meanwhile" if the error means that the path exists; any other error is returned.
pub(super) fn conflict_or(error: Errno) -> io::Result<ItemOutcome> {
    match error {
        Errno::EXIST | Errno::NOTEMPTY => Ok(changed_meanwhile()),
        error => Err(error.into()),
    }
}

/// The undo outcome of a path that another program changed since: a conflict.
pub(super) fn changed_meanwhile() -> ItemOutcome {
    ItemOutcome::Conflict { reason: texts::CHANGED_SINCE.to_owned() }
}

/// The undo outcome of a path whose present file is too large to save before it is replaced.
pub(super) fn too_large() -> ItemOutcome {
    ItemOutcome::Impossible { reason: texts::TOO_LARGE_TO_KEEP.to_owned() }
}
