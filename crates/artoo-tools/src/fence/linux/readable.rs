//! Reading everything but some places, in a system of rules that can only allow: everything beside them is listed.

use std::collections::HashSet;
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

/// Places that may not be read, with the folders above them: each entry of a folder is looked up, and there may be
/// thousands.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    places: HashSet<PathBuf>,
    above: HashSet<PathBuf>,
}

impl FromIterator<PathBuf> for Hidden {
    fn from_iter<T: IntoIterator<Item = PathBuf>>(places: T) -> Self {
        let mut hidden = Self::default();
        for place in places {
            let new = place.ancestors().skip(1).take_while(|folder| !hidden.above.contains(*folder));
            let new: Vec<PathBuf> = new.map(Path::to_path_buf).collect();
            hidden.above.extend(new);
            hidden.places.insert(place);
        }
        hidden
    }
}

impl Hidden {
    /// The folders in which they lie, up to the root.
    pub(crate) fn above(&self) -> impl Iterator<Item = &Path> {
        self.above.iter().map(PathBuf::as_path)
    }
}

/// Everything below `root` that is neither `hidden` nor leads to it.
///
/// Symbolic links are no entries of their own: where they lead is listed where it really lies. What is made beside a
/// hidden place later than this can't be read.
pub(crate) fn beside(root: &Path, hidden: &Hidden) -> Readable {
    let mut readable = Readable::default();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        if hidden.places.contains(&path) {
            continue;
        }
        if !hidden.above.contains(&path) {
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
