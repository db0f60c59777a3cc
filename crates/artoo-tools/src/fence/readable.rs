//! Reading everything but some places, in a system of rules that can only allow: everything beside them is listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Rules made for one command at most. Beside the protected places of a home folder lie some hundred entries; what is
/// beyond this many can't be read by the command.
const RULES_MAX: usize = 8192;

/// What may be read below a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Readable {
    /// Folders and files whose content may be read, each with all below it.
    pub(crate) whole: Vec<PathBuf>,
    /// Entries left out because there were too many.
    pub(crate) left_out: usize,
}

/// Everything below `root` that is neither `hidden` nor leads to it.
///
/// Symbolic links are no entries of their own: where they lead is listed where it really lies. What is made beside a
/// hidden place later than this can't be read.
pub(crate) fn beside(root: &Path, hidden: &BTreeSet<PathBuf>) -> Readable {
    let mut readable = Readable::default();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        if hidden.contains(&path) {
            continue;
        }
        if !leads_to_hidden(&path, hidden) {
            if readable.whole.len() < RULES_MAX {
                readable.whole.push(path);
            } else {
                readable.left_out += 1;
            }
            continue;
        }
        let Ok(entries) = fs::read_dir(&path) else { continue };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                open.push(entry.path());
            }
        }
    }
    readable.whole.sort();
    readable
}

fn leads_to_hidden(path: &Path, hidden: &BTreeSet<PathBuf>) -> bool {
    // Paths sort by their components, so what lies below a path follows it directly.
    hidden.range(path.to_path_buf()..).next().is_some_and(|next| next.starts_with(path))
}
