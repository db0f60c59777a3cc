//! Fingerprints of folders by their metadata, so that moving a large one reads no content.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::state::State;
use super::walk::walk_place;
use crate::digest;
use crate::limit::Limit;
use crate::openat::Place;

/// Prefix of a fingerprint made from metadata; a digest without it is of contents.
const FACTS: &str = "facts:";

/// Lists the states of everything at and below a place, parents first. `read` may add a file's digest.
pub(crate) fn list(
    place: &Place,
    path: &Path,
    limit: &Limit,
    read: &mut dyn FnMut(&Place, &mut State) -> io::Result<()>,
) -> io::Result<Vec<(PathBuf, State)>> {
    let mut all = Vec::new();
    walk_place(place, path, &|_| false, limit, &mut |mut seen| {
        read(seen.place, &mut seen.state)?;
        all.push((seen.path.to_path_buf(), seen.state));
        Ok(())
    })?;
    Ok(all)
}

/// One digest of the names, kinds, modes and link targets of a tree, and the sizes and times of its files, without
/// their contents.
pub(crate) fn fingerprint(root: &Path, all: &[(PathBuf, State)]) -> String {
    let facts: Vec<String> = all.iter().map(|(_, state)| facts(state)).collect();
    let parts = all.iter().zip(&facts).flat_map(|((path, _), facts)| {
        [path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes(), facts.as_bytes()]
    });
    format!("{FACTS}{}", digest::of_parts(parts))
}

/// The fingerprint (a digest of metadata) of the file or folder tree at a place.
pub(super) fn fingerprint_at(place: &Place, path: &Path, limit: &Limit) -> io::Result<String> {
    Ok(fingerprint(path, &list(place, path, limit, &mut |_, _| Ok(()))?))
}

/// Whether a digest is a fingerprint made from metadata, and not a digest of content.
pub(super) fn is_fingerprint(tree: &str) -> bool {
    tree.starts_with(FACTS)
}

/// The metadata of a state as text, to be hashed for a fingerprint.
fn facts(state: &State) -> String {
    match state {
        State::File(file) => {
            let facts = &file.facts;
            format!("f {:o} {} {}.{}", facts.mode, file.bytes, facts.modified_s, facts.modified_ns)
        }
        State::Folder(facts) => format!("d {:o}", facts.mode),
        State::Pipe(facts) => format!("p {:o}", facts.mode),
        State::Link { target } => format!("l {target}"),
        State::Absent | State::Odd { .. } => state.name().to_owned(),
    }
}
