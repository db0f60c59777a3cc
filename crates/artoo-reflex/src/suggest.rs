//! Finds missing files and folders that a request names, and suggests existing ones.

use std::path::{Path, PathBuf};

use crate::algebra::{Act, Depth, NameTest, Pred, Query, Step};
use crate::eval::{EntryKind, FileSystem, FileSystemError};
use crate::lexicon::slips;

/// Number of entries after which no further folder is searched for a similar name.
const ENTRIES_MAX: usize = 5_000;

/// The first path that the steps read and that doesn't exist. Paths below a folder that an earlier step makes are not
/// checked, nor any path that is read after another change.
pub(crate) fn missing(steps: &[Step], fs: &dyn FileSystem) -> Option<String> {
    let mut named = Vec::new();
    let mut made: Vec<&Path> = Vec::new();
    for step in steps {
        match step {
            Step::Ask(query) => sources(query, &mut named),
            Step::Do(Act::CreateFolder { paths }) => made.extend(paths.iter().map(Path::new)),
            Step::Do(act) => {
                act.selection().into_iter().for_each(|of| sources(of, &mut named));
                named.extend(match act {
                    Act::Replace { path, .. } | Act::Link { target: path, .. } => Some(path.clone()),
                    // A new file is made only if none of its name is elsewhere.
                    Act::Insert { path, .. } => Some(path.clone()).filter(|path| is_below(Path::new(path), fs)),
                    _ => None,
                });
                if let Act::Save { of, .. } = act {
                    sources(of, &mut named);
                }
                break;
            }
        }
    }
    let is_missing = |path: &str| fs.metadata(Path::new(path)) == Err(FileSystemError::NotFound);
    // If even the root can't be read, there is no file system to ask, so no path counts as missing.
    let is_made = |path: &str| made.iter().any(|folder| Path::new(path).starts_with(folder));
    if is_missing("/") { None } else { named.into_iter().find(|path| is_missing(path) && !is_made(path)) }
}

/// Whether a path doesn't exist, but a file of the same name exists in its folder's subfolders.
fn is_below(path: &Path, fs: &dyn FileSystem) -> bool {
    let is_new = fs.metadata(path) == Err(FileSystemError::NotFound);
    is_new && near(path, fs).iter().any(|near| near.file_name() == path.file_name())
}

/// Collects the paths of the files and folders that a query reads.
fn sources(query: &Query, named: &mut Vec<String>) {
    match query {
        Query::Tree { roots: several, .. } | Query::Paths { paths: several, .. } => {
            named.extend(several.iter().cloned())
        }
        Query::TextFile { path } | Query::ArchiveEntries { path } => named.push(path.clone()),
        Query::Compare { of, with, .. } => [of, with].into_iter().for_each(|side| sources(side, named)),
        // "the file ~/x/notes.txt".
        Query::Filter { of, keep: Pred::Name(NameTest::Is(name)) } if matches!(of.as_ref(), Query::Tree { depth: Depth::Direct, roots, .. } if roots.len() == 1) =>
        {
            sources(of, named);
            let file = named.last().map(|root| format!("{}/{name}", root.trim_end_matches('/')));
            named.extend(file);
        }
        // If no file has that name, the answer is 0 or no: only the source must exist.
        Query::Aggregate { of, .. } => sources(of.source(), named),
        Query::Known { known } => known.needed().iter().for_each(|of| sources(of, named)),
        other => other.operand().into_iter().for_each(|of| sources(of, named)),
    }
}

/// The message about a missing path, with similar existing paths as suggestions.
pub(crate) fn advice(path: &str, fs: &dyn FileSystem) -> String {
    let absent = Path::new(path).ancestors().take_while(|above| fs.metadata(above).is_err()).last();
    let absent = absent.unwrap_or(Path::new(path));
    let said = format!("There is no {}", absent.display());
    let found: Vec<String> = near(absent, fs).iter().map(|path| path.display().to_string()).collect();
    if found.is_empty() { format!("{said}.") } else { format!("{said}; there is {}.", found.join(" and ")) }
}

/// Existing paths like a missing one: of a similar name beside it, or of the same name below its folder.
pub(crate) fn near(absent: &Path, fs: &dyn FileSystem) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (absent.parent(), absent.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let wanted = name.to_lowercase();
    let mut open = std::collections::VecDeque::from([folder.to_owned()]);
    let (mut seen, mut beside, mut below) = (0, None, None);
    while let Some(at) = open.pop_front().filter(|_| seen < ENTRIES_MAX && below.is_none()) {
        for entry in fs.list(&at).unwrap_or_default() {
            seen += 1;
            let known = String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
            if at == folder
                && let Some(slips) = slips(&wanted, &known)
                && beside.as_ref().is_none_or(|(fewest, _)| slips < *fewest)
            {
                beside = Some((slips, entry.path.clone()));
            } else if known == wanted && below.is_none() {
                below = Some(entry.path.clone());
            }
            if entry.kind == EntryKind::Folder && !known.starts_with('.') {
                open.push_back(entry.path);
            }
        }
    }
    beside.map(|(_, path)| path).into_iter().chain(below).collect()
}
