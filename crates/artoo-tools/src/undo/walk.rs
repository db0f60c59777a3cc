//! Walks everything at and below a path, parents before children, without following symlinks.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::Dir;

use super::state::{self, State};
use crate::limit::Limit;
use crate::openat::Place;

/// Maximum depth of folders that are walked.
pub(super) const DEPTH_MAX: usize = 256;

/// A path that a folder walk has reached, with its state. The content of a file has not been read.
pub(super) struct WalkedPath<'a> {
    pub(super) path: &'a Path,
    pub(super) place: &'a Place,
    pub(super) state: State,
    /// Whether it is a folder that can't be read.
    pub(super) is_closed: bool,
}

/// Calls `visit` for everything at and below `root`, if it exists, except at and below paths that `skip` returns true
/// for.
pub(super) fn walk(
    root: &Path,
    skip: &dyn Fn(&Path) -> bool,
    limit: &Limit,
    visit: &mut dyn FnMut(WalkedPath<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let place = match Place::of(root) {
        Ok(place) => place,
        Err(error) if state::is_missing(root, &error) => return Ok(()),
        Err(error) => return Err(error),
    };
    walk_place(&place, root, skip, limit, visit)
}

/// Walks like [`walk`], starting from an open place.
pub(super) fn walk_place(
    place: &Place,
    path: &Path,
    skip: &dyn Fn(&Path) -> bool,
    limit: &Limit,
    visit: &mut dyn FnMut(WalkedPath<'_>) -> io::Result<()>,
) -> io::Result<()> {
    Walk { skip, limit, visit }.step(place.reopen()?, path.to_path_buf(), 0)
}

/// A folder walk in progress, with the functions it calls and its deadline.
struct Walk<'a> {
    skip: &'a dyn Fn(&Path) -> bool,
    limit: &'a Limit,
    visit: &'a mut dyn FnMut(WalkedPath<'_>) -> io::Result<()>,
}

impl Walk<'_> {
    /// Visits a path and, if it is a folder, everything below it, unless `skip` excludes it; an error at the deadline
    /// or beyond the maximum depth.
    fn step(&mut self, place: Place, path: PathBuf, depth: usize) -> io::Result<()> {
        if (self.skip)(&path) {
            return Ok(());
        }
        if self.limit.reached() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if depth > DEPTH_MAX {
            return Err(io::Error::other(format!("folders are nested deeper than {DEPTH_MAX}")));
        }
        let state = state::read_facts(&place)?;
        if state == State::Absent {
            return Ok(());
        }
        if !matches!(state, State::Folder(_)) {
            return (self.visit)(WalkedPath { path: &path, place: &place, state, is_closed: false });
        }
        let inside = place.open_folder();
        let is_closed = matches!(&inside, Err(error) if error.kind() == io::ErrorKind::PermissionDenied);
        (self.visit)(WalkedPath { path: &path, place: &place, state, is_closed })?;
        if is_closed {
            return Ok(());
        }
        let folder = inside?;
        for name in names(&folder)? {
            let below = path.join(&name);
            self.step(Place { folder: rustix::io::dup(&folder)?, name }, below, depth + 1)?;
        }
        Ok(())
    }
}

/// The names of the entries in an open folder, sorted, without `.` and `..`.
pub(crate) fn names(folder: &rustix::fd::OwnedFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_owned();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(&name).to_owned());
        }
    }
    names.sort();
    Ok(names)
}
