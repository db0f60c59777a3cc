//! Suggests existing names that are similar to a missing one.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::paths;

/// Maximum number of similar names that are suggested.
const ALTERNATIVES_MAX: usize = 5;

/// Maximum number of directory entries searched for similar names, and again for the same name in folders below.
const ENTRIES_MAX: usize = 10_000;

/// Longest name that is compared by edit distance, in characters, since the work grows with the square.
const NAME_MAX_CHARS: usize = 100;

/// Existing paths that a missing path may mean, at most [`ALTERNATIVES_MAX`], the most similar first.
///
/// Searches the deepest folder that exists for names similar to the first missing one, or if there is none, the folders
/// below it for exactly that name.
pub(crate) fn alternatives(missing: &Path) -> Vec<String> {
    let Some((folder, wanted)) = first_missing(missing) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let wanted = wanted.to_string_lossy().to_lowercase();
    let mut near: Vec<(usize, OsString)> = entries
        .take(ENTRIES_MAX)
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .filter(|name| !paths::is_hidden(name) || wanted.starts_with('.'))
        .filter_map(|name| distance(&wanted, &name.to_string_lossy().to_lowercase()).map(|d| (d, name)))
        .collect();
    near.sort();
    let mut found: Vec<PathBuf> = near.into_iter().map(|(_, name)| folder.join(name)).collect();
    if found.is_empty() {
        found = below(folder, &wanted);
    }
    found.truncate(ALTERNATIVES_MAX);
    found.iter().map(|path| paths::line(path)).collect()
}

/// Existing paths below a folder whose last name in lowercase is `wanted`, the highest first; hidden folders are
/// skipped.
fn below(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let (mut open, mut left) = (VecDeque::from([folder.to_path_buf()]), ENTRIES_MAX);
    while let Some(folder) = open.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            let (name, is_folder) = (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
            if name.to_string_lossy().to_lowercase() == wanted {
                found.push(entry.path());
            }
            if is_folder && !paths::is_hidden(&name) && left > 0 {
                open.push_back(entry.path());
            }
        }
        if left == 0 || found.len() >= ALTERNATIVES_MAX {
            break;
        }
    }
    found.sort_by_key(|path| (path.components().count(), path.clone()));
    found
}

/// The known word that is most similar to an unknown one; `None` if no word is similar.
pub(crate) fn nearest(wanted: &str, known: &[&'static str]) -> Option<&'static str> {
    let wanted = wanted.to_lowercase();
    let near = known.iter().filter_map(|word| Some((distance(&wanted, &word.to_lowercase())?, *word)));
    near.min().map(|(_, word)| word)
}

/// The deepest existing folder of a missing path, and the first name that is missing in it; `None` if no parent exists.
fn first_missing(path: &Path) -> Option<(&Path, &std::ffi::OsStr)> {
    let mut missing = path;
    loop {
        let parent = missing.parent()?;
        if parent.is_dir() {
            return Some((parent, missing.file_name()?));
        }
        missing = parent;
    }
}

/// How different two lowercase names are: 0 if equal, 1 if equal without extension, more by edit distance; `None` if
/// they are not similar enough to suggest.
fn distance(wanted: &str, found: &str) -> Option<usize> {
    if wanted == found {
        return Some(0);
    }
    let stem = |name: &str| name.rsplit_once('.').map_or(name.to_owned(), |(stem, _)| stem.to_owned());
    if stem(wanted) == stem(found) {
        return Some(1);
    }
    if wanted.chars().count().max(found.chars().count()) > NAME_MAX_CHARS {
        return None;
    }
    let edits = strsim::levenshtein(wanted, found);
    let allowed = (wanted.chars().count() / 3).max(1);
    if edits <= allowed {
        return Some(edits + 1);
    }
    let shares_much = wanted.chars().count() >= 3 && (found.contains(wanted) || wanted.contains(found));
    (shares_much && found.chars().count() >= 3).then_some(allowed + 2)
}

/// Tests of suggestions for missing names.
#[cfg(test)]
mod tests {
    use super::alternatives;

    /// For a missing path, similar names in the same folder are suggested, or if there are none, equal names below it.
    #[test]
    fn suggestions_come_from_beside_then_below() {
        let dir = tempfile::TempDir::new().unwrap();
        let docs = dir.path().join("Documents");
        for folder in ["Work/old", ".hidden", "Empty"] {
            std::fs::create_dir_all(docs.join(folder)).unwrap();
        }
        for file in ["Work/contract.txt", "Work/old/contract.txt", ".hidden/contract.txt", "notes.txt"] {
            std::fs::write(docs.join(file), "x").unwrap();
        }
        let near = |missing: &str| -> Vec<String> {
            let shown = |path: String| path.rsplit_once("Documents/").unwrap().1.to_owned();
            alternatives(&docs.join(missing)).into_iter().map(shown).collect()
        };
        assert_eq!(near("contract.txt"), ["Work/contract.txt", "Work/old/contract.txt"]);
        assert_eq!(near("ntoes.txt"), ["notes.txt"], "a slip of the keys is nearer than a name below");
        assert_eq!(near("Wrk/contract.txt"), ["Work"], "the first part that is missing");
        assert_eq!(near("invoice.pdf"), [""; 0]);
    }
}
