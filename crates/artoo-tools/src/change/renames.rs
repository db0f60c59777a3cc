//! Folders renamed in a view. An overlay can't rename them, so the view copies, deletes and notes the rename.

use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use super::content::stat_path;
use super::set::Layer;

/// Joins consecutive renames of the same folder to one, from its first to its last path; a rename from below the new
/// path of another is left out.
pub(super) fn joined(renames: &[(PathBuf, PathBuf)]) -> Vec<(PathBuf, PathBuf)> {
    let mut all: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (from, to) in renames {
        if let Some(earlier) = all.iter_mut().find(|(_, earlier)| earlier == from) {
            earlier.1.clone_from(to);
        } else if !all.iter().any(|(_, earlier)| from.starts_with(earlier)) {
            all.push((from.clone(), to.clone()));
        }
    }
    all
}

/// Whether the layers confirm a rename: the folder is deleted at its old path and new at the other one, and no other
/// rename concerns either path.
pub(super) fn is_whole(layers: &[Layer], renames: &[(PathBuf, PathBuf)], from: &Path, to: &Path) -> bool {
    let in_upper = |path: &Path| {
        let fitting = layers.iter().filter(|layer| path.starts_with(&layer.lower));
        let layer = fitting.max_by_key(|layer| layer.lower.components().count())?;
        stat_path(&layer.upper.join(path.strip_prefix(&layer.lower).ok()?))
    };
    let is_folder = |found: &Stat| FileType::from_raw_mode(found.st_mode).is_dir();
    let touches = |other: &Path, path: &Path| other.starts_with(path) || path.starts_with(other);
    let own = |pair: &&(PathBuf, PathBuf)| pair.0 == from && pair.1 == to;
    let is_alone = renames.iter().filter(|pair| !own(pair)).all(|(other_from, other_to)| {
        [other_from, other_to].iter().all(|other| !touches(other, from) && !touches(other, to))
    });
    is_alone
        && renames.iter().filter(own).count() == 1
        && !touches(from, to)
        && stat_path(from).as_ref().is_some_and(is_folder)
        && stat_path(to).is_none()
        && to.parent().and_then(stat_path).as_ref().is_some_and(is_folder)
        && in_upper(from).is_some_and(|found| is_whiteout(&found))
        && in_upper(to).as_ref().is_some_and(is_folder)
}

/// Whether the `stat` result is that of an overlay's mark (whiteout) for a deleted file.
pub(super) fn is_whiteout(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode).is_char_device() && found.st_rdev == 0
}
