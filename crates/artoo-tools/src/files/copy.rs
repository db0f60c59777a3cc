//! Copies files, folders and symlinks, and reads every copy back.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use artoo_proto::{FOLDER, FileChange};
use rustix::fs::{AtFlags, FileType, Mode, Timespec, Timestamps, fchmod, futimens, readlinkat, statat, symlinkat};

use crate::digest;
use crate::files::survey::DEPTH_MAX;
use crate::limit::Limit;
use crate::openat::{Made, Place};
use crate::{paths, undo};

/// Bytes of a file that are copied at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// The paths that a `files` act changed, as its record lists them.
pub(super) type Changes = Vec<FileChange>;

/// Copies `from` to `to`, which must not exist, with times and modes (no set-id bits); adds every created path to
/// `changes`.
pub(crate) fn copy(from: &Place, to: Place, to_path: &Path, changes: &mut Changes, limit: &Limit) -> io::Result<()> {
    tree(from, to, to_path, changes, limit, 0)
}

/// Copies a file, symlink or folder with everything below it; `depth` is its depth, which is limited.
fn tree(from: &Place, to: Place, to_path: &Path, changes: &mut Changes, limit: &Limit, depth: usize) -> io::Result<()> {
    check_depth(depth)?;
    let found = statat(&from.folder, &from.name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(found.st_mode);
    if kind.is_dir() {
        to.make_folder()?;
        changes.push(made(to_path, FOLDER.to_owned()));
        for name in names(from)? {
            let (inner, place) = (from.inside(&name)?, to.inside(&name)?);
            tree(&inner, place, &to_path.join(&name), changes, limit, depth + 1)?;
        }
        keep_facts(&to.open_folder()?, &found)
    } else if kind.is_symlink() {
        let target = readlinkat(&from.folder, &from.name, Vec::new())?;
        symlinkat(&target, &to.folder, &to.name)?;
        changes.push(made(to_path, link_digest(target.as_bytes())));
        Ok(())
    } else if kind.is_file() {
        file(from, to, to_path, changes, limit)
    } else {
        Err(io::Error::other("it is not a file, folder or symlink"))
    }
}

/// Copies a regular file with its mode and times, and checks that original and copy have the same digest.
fn file(from: &Place, to: Place, to_path: &Path, changes: &mut Changes, limit: &Limit) -> io::Result<()> {
    let mut source = from.open_file()?;
    let facts = rustix::fs::fstat(&source)?;
    let mut new = to.make_file()?;
    let copied = copy_until_deadline(&mut source, &mut new.file, limit).and_then(|()| {
        keep_facts(&new.file, &facts)?;
        let (before, after) = (digest::of_whole(&mut source, limit)?, digest::of_whole(&mut new.file, limit)?);
        if before == after { Ok(after) } else { Err(io::Error::other("it changed while it was copied")) }
    });
    finish(new, to_path, copied, changes)
}

/// Ends the creation of a file: adds its path and digest to `changes`, or removes it if writing failed.
pub(super) fn finish(new: Made, path: &Path, written: io::Result<String>, changes: &mut Changes) -> io::Result<()> {
    match written {
        Ok(digest) => {
            changes.push(made(path, digest));
            Ok(())
        }
        Err(error) => {
            new.remove_created();
            Err(error)
        }
    }
}

/// Copies bytes until the source ends; fails at the deadline.
pub(crate) fn copy_until_deadline(source: &mut impl Read, to: &mut impl Write, limit: &Limit) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        if limit.reached() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let read = source.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(chunk.get(..read).unwrap_or_default())?;
        limit.meter.add_bytes(read);
    }
}

/// An error if a folder is nested deeper than the limit for copying.
pub(super) fn check_depth(depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX { Err(io::Error::other("folders are nested too deep")) } else { Ok(()) }
}

/// The digest of a file or symlink, or [`FOLDER`].
pub(super) fn digest_of(place: &Place, limit: &Limit) -> io::Result<String> {
    let found = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(found.st_mode);
    if kind.is_dir() {
        return Ok(FOLDER.to_owned());
    }
    if kind.is_symlink() {
        return Ok(link_digest(readlinkat(&place.folder, &place.name, Vec::new())?.as_bytes()));
    }
    digest::of_file(&mut place.open_file()?, limit)?.ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// The digests of a path and of everything below it, the path itself first.
pub(crate) fn inventory(place: &Place, path: &Path, limit: &Limit) -> io::Result<Vec<(PathBuf, String)>> {
    let mut all = Vec::new();
    listed(place, path, limit, &mut all, 0)?;
    Ok(all)
}

/// Lists the digests of a path and of everything below it, the path first.
fn listed(place: &Place, path: &Path, limit: &Limit, all: &mut Vec<(PathBuf, String)>, depth: usize) -> io::Result<()> {
    check_depth(depth)?;
    let digest = digest_of(place, limit)?;
    let is_folder = digest == FOLDER;
    all.push((path.to_path_buf(), digest));
    if is_folder {
        for name in names(place)? {
            listed(&place.inside(&name)?, &path.join(&name), limit, all, depth + 1)?;
        }
    }
    Ok(())
}

/// The names of the entries in a folder, sorted.
pub(super) fn names(place: &Place) -> io::Result<Vec<OsString>> {
    undo::names(&place.open_folder()?)
}

/// Sets times and mode of the original on a copy, without set-id bits.
fn keep_facts(to: impl rustix::fd::AsFd, found: &rustix::fs::Stat) -> io::Result<()> {
    // Set-id bits are not copied.
    fchmod(&to, Mode::from_raw_mode(found.st_mode & 0o777))?;
    let seconds = |tv_sec, tv_nsec: i64| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: seconds(found.st_atime, found.st_atime_nsec.try_into().unwrap_or(0)),
        last_modification: seconds(found.st_mtime, found.st_mtime_nsec.try_into().unwrap_or(0)),
    };
    Ok(futimens(&to, &times)?)
}

/// The digest of a symlink: of its target, with a prefix that no file's digest has.
fn link_digest(target: &[u8]) -> String {
    digest::of_parts([b"link".as_slice(), target])
}

/// The recorded change of a path that was created; `after` is its digest.
pub(super) fn made(path: &Path, after: String) -> FileChange {
    FileChange { path: paths::line(path), before: None, after: Some(after) }
}

/// The recorded change of a path that was removed; `before` is its digest.
pub(super) fn removed_path(path: &Path, before: String) -> FileChange {
    FileChange { path: paths::line(path), before: Some(before), after: None }
}
