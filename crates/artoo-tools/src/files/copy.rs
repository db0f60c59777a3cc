//! Copying a file, a folder or a link, name by name, with what was made told and read back.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use artoo_proto::{FOLDER, FileChange};
use rustix::fs::{AtFlags, Dir, FileType, Mode, Timespec, Timestamps, fchmod, futimens, readlinkat, statat, symlinkat};

use crate::beneath::Place;
use crate::digest;
use crate::files::survey::DEPTH_MAX;
use crate::limit::Limit;
use crate::paths;

/// Bytes copied at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// What is different now.
pub(super) type Changes = Vec<FileChange>;

/// Copies what stands at `from` to `to`, where nothing may stand; times and modes are kept.
pub(crate) fn copy(from: &Place, to: Place, to_path: &Path, changes: &mut Changes, limit: &Limit) -> io::Result<()> {
    tree(from, to, to_path, changes, limit, 0)
}

fn tree(from: &Place, to: Place, to_path: &Path, changes: &mut Changes, limit: &Limit, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("folders are nested too deep"));
    }
    let found = statat(&from.folder, &from.name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => file(from, to, to_path, changes, limit),
        FileType::Symlink => {
            let target = readlinkat(&from.folder, &from.name, Vec::new())?;
            symlinkat(&target, &to.folder, &to.name)?;
            changes.push(made(to_path, link_digest(target.as_bytes())));
            Ok(())
        }
        FileType::Directory => {
            to.make_folder()?;
            changes.push(made(to_path, FOLDER.to_owned()));
            for name in names(from)? {
                let (inner, place) = (from.inside(&name)?, to.inside(&name)?);
                tree(&inner, place, &to_path.join(&name), changes, limit, depth + 1)?;
            }
            let folder = to.open_folder()?;
            keep_facts(&folder, &found)
        }
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            Err(io::Error::other("it is neither file, folder nor link"))
        }
    }
}

fn file(from: &Place, to: Place, to_path: &Path, changes: &mut Changes, limit: &Limit) -> io::Result<()> {
    let mut source = from.open_file()?;
    let facts = rustix::fs::fstat(&source)?;
    let mut new = to.make_file()?;
    let copied = pour(&mut source, &mut new.file, limit).and_then(|()| {
        keep_facts(&new.file, &facts)?;
        let (before, after) = (digest::of_whole(&mut source, limit)?, digest::of_whole(&mut new.file, limit)?);
        if before == after { Ok(after) } else { Err(io::Error::other("it changed while it was copied")) }
    });
    match copied {
        Ok(after) => {
            changes.push(made(to_path, after));
            Ok(())
        }
        Err(error) => {
            new.unmake();
            Err(error)
        }
    }
}

/// Copies bytes until the source ends or the time is up.
pub(crate) fn pour(source: &mut impl Read, to: &mut impl Write, limit: &Limit) -> io::Result<()> {
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
    }
}

/// What stands at a place, for the record: content, folder or where a link points.
pub(super) fn digest_of(place: &Place, limit: &Limit) -> io::Result<String> {
    let found = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Ok(FOLDER.to_owned()),
        FileType::Symlink => Ok(link_digest(readlinkat(&place.folder, &place.name, Vec::new())?.as_bytes())),
        FileType::RegularFile
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => {
            let digest = digest::of_file(&mut place.open_file()?, limit)?;
            digest.ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))
        }
    }
}

/// Everything at and below a place with its digest, the place itself first.
pub(crate) fn inventory(place: &Place, path: &Path, limit: &Limit) -> io::Result<Vec<(PathBuf, String)>> {
    let mut all = Vec::new();
    listed(place, path, limit, &mut all, 0)?;
    Ok(all)
}

fn listed(place: &Place, path: &Path, limit: &Limit, all: &mut Vec<(PathBuf, String)>, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("folders are nested too deep"));
    }
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

/// Names in the folder at a place, sorted.
pub(super) fn names(place: &Place) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::new(place.open_folder()?)? {
        let name = entry?.file_name().to_bytes().to_owned();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(&name).to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn keep_facts(to: impl rustix::fd::AsFd, found: &rustix::fs::Stat) -> io::Result<()> {
    // Who may run as its owner is never copied along.
    fchmod(&to, Mode::from_raw_mode(found.st_mode & 0o777))?;
    let seconds = |tv_sec, tv_nsec: i64| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: seconds(found.st_atime, found.st_atime_nsec.try_into().unwrap_or(0)),
        last_modification: seconds(found.st_mtime, found.st_mtime_nsec.try_into().unwrap_or(0)),
    };
    Ok(futimens(&to, &times)?)
}

/// A link's digest: of where it points, marked so that no file has the same.
fn link_digest(target: &[u8]) -> String {
    digest::of_parts([b"link".as_slice(), target])
}

pub(super) fn made(path: &Path, after: String) -> FileChange {
    FileChange { path: paths::line(path), before: None, after: Some(after) }
}

pub(super) fn gone(path: &Path, before: String) -> FileChange {
    FileChange { path: paths::line(path), before: Some(before), after: None }
}
