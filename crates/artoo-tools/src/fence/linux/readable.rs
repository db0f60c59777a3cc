//! Lists all readable paths beside some hidden paths, since Landlock rules can only allow.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of Landlock rules for reading. Beside the protected paths of a home lie some hundred entries; further
/// ones can't be read.
const RULES_MAX: usize = 8192;

/// Readable paths below a folder, and the number of those beyond [`RULES_MAX`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Readable {
    /// Files and folders that may be read with everything below them.
    pub(crate) whole: Vec<PathBuf>,
    /// Number of entries beyond `RULES_MAX`.
    pub(crate) left_out: usize,
}

/// Hidden paths and the folders above them, as sets since thousands of entries may be looked up.
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
    /// All folders above the hidden paths, up to the root.
    pub(crate) fn above(&self) -> impl Iterator<Item = &Path> {
        self.above.iter().map(PathBuf::as_path)
    }
}

/// The highest files and folders in `root`, or `root` itself, that are neither hidden nor contain a hidden path.
/// Symbolic links are skipped, since their targets are listed by their own paths. A file created beside a hidden path
/// later can't be read.
pub(crate) fn readable_below(root: &Path, hidden: &Hidden) -> Readable {
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
