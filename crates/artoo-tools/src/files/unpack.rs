//! Unpacks an archive. Every entry is checked first, and none is written outside the target folder.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use artoo_proto::FOLDER;
use flate2::read::{GzDecoder, MultiGzDecoder};
use rustix::fs::{Mode, fchmod};
use zip::ZipArchive;

use crate::change::NewNames;
use crate::files::copy::{self, Changes, made};
use crate::files::pack::Format;
use crate::files::survey::{TREE_MAX, exists};
use crate::limit::Limit;
use crate::openat::Place;
use crate::record::Record;
use crate::undo::Act;
use crate::{digest, input, open, paths};

/// Maximum number of bytes that one archive may unpack to.
#[doc(alias = "limit")]
pub(super) const UNPACKED_MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// The number of files in an archive, and the bytes they unpack to.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// Checks the names and sizes of an archive's entries before unpacking, and that none exists already. Notes names that
/// need approval.
pub(super) fn survey(archive: &Path, into: &Path, names: &mut NewNames) -> Result<Contents, Box<Record>> {
    let format = Format::of(archive).map_err(|error| input::unfit(error.to_string()))?;
    let mut contents = Contents::default();
    let mut seen = 0;
    let mut problem = None;
    let looked = each_entry(archive, format, |entry, reader| {
        seen += 1;
        if seen > TREE_MAX {
            return Err(io::Error::other(format!("it holds more than {TREE_MAX} entries")));
        }
        let target = into.join(&entry.name);
        names.add(&target, entry.is_folder);
        if entry.is_folder {
            return Ok(());
        }
        if fs::symlink_metadata(&target).is_ok() {
            problem = Some(exists(&target, "something of this name"));
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        contents.files += 1;
        // The size in the archive may be wrong, so the bytes are counted.
        let left = UNPACKED_MAX_BYTES.saturating_sub(contents.bytes);
        contents.bytes += io::copy(&mut reader.take(left.saturating_add(1)), &mut io::sink())?;
        if contents.bytes > UNPACKED_MAX_BYTES {
            return Err(io::Error::other(format!("it unpacks to more than {UNPACKED_MAX_BYTES} bytes")));
        }
        Ok(())
    });
    match (problem, looked) {
        (Some(problem), _) => Err(problem),
        (None, Ok(())) => Ok(contents),
        (None, Err(error)) => Err(input::unfit(format!("{}: {error}", paths::line(archive)))),
    }
}

/// Unpacks an archive into a folder; returns the number of files.
pub(super) fn unpack(
    archive: &Path,
    into: &Path,
    changes: &mut Changes,
    act: &mut Act,
    limit: &Limit,
) -> io::Result<u64> {
    let format = Format::of(archive)?;
    let (mut files, mut bytes) = (0, 0_u64);
    each_entry(archive, format, |entry, reader| {
        if limit.reached() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let target = into.join(&entry.name);
        let mut folders = Vec::new();
        // A name in the folder, so that the folder itself is created too.
        let reached = if entry.is_folder { target.join("-") } else { target.clone() };
        act.creating(&target)?;
        let place = Place::making_folders(&reached, &mut folders);
        changes.extend(folders.iter().map(|folder| made(folder, FOLDER.to_owned())));
        let place = place?;
        if entry.is_folder {
            return Ok(());
        }
        let left = UNPACKED_MAX_BYTES.saturating_sub(bytes);
        let mut new = place.make_file()?;
        let written = copy::copy_until_deadline(&mut reader.take(left.saturating_add(1)), &mut new.file, limit)
            .and_then(|()| {
                bytes = bytes.saturating_add(new.file.metadata()?.len());
                if bytes > UNPACKED_MAX_BYTES {
                    return Err(io::Error::other("it grew while it was unpacked"));
                }
                entry.set_mode(&new.file)?;
                digest::of_whole(&mut new.file, limit)
            });
        copy::finish(new, &target, written, changes)?;
        files += 1;
        Ok(())
    })?;
    Ok(files)
}

/// An entry of an archive that is unpacked: its relative path, whether it is a folder, and its permissions.
struct Entry {
    /// Relative, without `..`.
    name: PathBuf,
    is_folder: bool,
    /// Its permissions in the archive, if it has them.
    mode: Option<u32>,
}

impl Entry {
    /// Gives an unpacked file the entry's permissions, without those that new files may not have here.
    fn set_mode(&self, file: &File) -> io::Result<()> {
        let Some(mode) = self.mode.filter(|mode| mode & 0o400 != 0) else { return Ok(()) };
        let readable = file.metadata()?.mode() & 0o444;
        let allowed = readable | readable >> 2 | 0o200;
        fchmod(file, Mode::from_raw_mode(mode & allowed)).map_err(io::Error::from)
    }
}

/// Visits every entry of an archive, with a reader of its content.
fn each_entry(
    archive: &Path,
    format: Format,
    mut visit: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let file = BufReader::new(open::regular(archive).map_err(|problem| io::Error::other(problem.to_string()))?);
    match format {
        Format::Zip => each_zip(file, &mut visit),
        Format::Tar => each_tar(file, &mut visit),
        Format::TarGz => each_tar(GzDecoder::new(file), &mut visit),
        Format::Gz => {
            let name = plain(Path::new(archive.file_stem().unwrap_or_default()))?;
            visit(&Entry { name, is_folder: false, mode: None }, &mut MultiGzDecoder::new(file))
        }
    }
}

/// Visits every entry of a tar archive with a reader of its content; an error for links.
fn each_tar(stream: impl Read, visit: &mut dyn FnMut(&Entry, &mut dyn Read) -> io::Result<()>) -> io::Result<()> {
    for entry in tar::Archive::new(stream).entries()? {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if matches!(kind, tar::EntryType::XGlobalHeader) {
            continue;
        }
        let name = plain(&entry.path()?)?;
        if !kind.is_file() && !kind.is_dir() {
            return Err(io::Error::other(format!("{} is a link or a device; it is not unpacked", paths::line(&name))));
        }
        let mode = entry.header().mode().ok();
        visit(&Entry { name, is_folder: kind.is_dir(), mode }, &mut entry)?;
    }
    Ok(())
}

/// Visits every entry of a zip archive with a reader of its content; an error for links.
fn each_zip(file: BufReader<File>, visit: &mut dyn FnMut(&Entry, &mut dyn Read) -> io::Result<()>) -> io::Result<()> {
    let mut archive = ZipArchive::new(file).map_err(io::Error::other)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        let name = plain(Path::new(&*entry.name().map_err(io::Error::other)?))?;
        if entry.is_symlink() {
            return Err(io::Error::other(format!("{} is a link; it is not unpacked", paths::line(&name))));
        }
        let is_folder = entry.is_dir();
        let mode = entry.unix_mode();
        visit(&Entry { name, is_folder, mode }, &mut entry)?;
    }
    Ok(())
}

/// The relative path of an archive's entry, without `.`; an error if it is absolute or contains `..`, and so leads out
/// of the folder, or if it is too deep.
fn plain(name: &Path) -> io::Result<PathBuf> {
    let mut plain = PathBuf::new();
    for component in name.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            Component::RootDir | Component::ParentDir | Component::Prefix(_) => {
                return Err(io::Error::other(format!("{} leads out of the folder", paths::line(name))));
            }
        }
    }
    copy::check_depth(plain.components().count())?;
    Ok(plain)
}
