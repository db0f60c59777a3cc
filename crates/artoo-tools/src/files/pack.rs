//! Packs files and folders into an archive.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{AtFlags, FileType, statat};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::digest;
use crate::files::copy;
use crate::limit::Limit;
use crate::openat::{Made, Place};
use crate::paths;

/// The formats of archives that can be packed and unpacked, chosen by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Tar,
    TarGz,
    Zip,
    /// One file, compressed.
    Gz,
}

impl Format {
    /// The archive format by the path's extension; an error if it is not known.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        if ends(".tar.gz") || ends(".tgz") {
            Ok(Self::TarGz)
        } else if ends(".tar") {
            Ok(Self::Tar)
        } else if ends(".zip") {
            Ok(Self::Zip)
        } else if ends(".gz") {
            Ok(Self::Gz)
        } else {
            let path = paths::line(path);
            let reason =
                "is not a supported archive; its name must end in .tar.gz, .tgz, .tar, .zip, or .gz for one file";
            Err(io::Error::other(format!("{path} {reason}")))
        }
    }
}

/// Packs `sources` into the new file, which is removed if that fails; returns its digest and the number of entries.
pub(super) fn pack(sources: &[PathBuf], to: &Path, mut new: Made, limit: &Limit) -> io::Result<(String, u64)> {
    let written =
        write(sources, to, &new.file, limit).and_then(|entries| Ok((digest::of_whole(&mut new.file, limit)?, entries)));
    if written.is_err() {
        new.remove_created();
    }
    written
}

/// Writes the archive in the format of its extension; returns the number of entries.
fn write(sources: &[PathBuf], to: &Path, file: &File, limit: &Limit) -> io::Result<u64> {
    let file = file.try_clone()?;
    match Format::of(to)? {
        Format::Tar => tar(sources, file, limit).map(|(_, entries)| entries),
        Format::TarGz => {
            let (encoder, entries) = tar(sources, GzEncoder::new(file, Compression::default()), limit)?;
            encoder.finish().map(|_| entries)
        }
        Format::Zip => zip(sources, file, limit),
        Format::Gz => gz(sources, file, limit),
    }
}

/// Compresses one file; returns the number of entries, one.
fn gz(sources: &[PathBuf], to: File, limit: &Limit) -> io::Result<u64> {
    let [source] = sources else { return Err(io::Error::other("a .gz file holds one file; use .tar.gz for several")) };
    let mut encoder = GzEncoder::new(Metered(to, limit), Compression::default());
    copy::copy_until_deadline(&mut Place::of(source)?.open_file()?, &mut encoder, limit)?;
    encoder.finish().map(|_| 1)
}

/// A writer that advances the progress meter by what is written, and fails at the deadline.
struct Metered<'a, W>(W, &'a Limit);

impl<W: Write> Write for Metered<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.1.reached() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let written = self.0.write(bytes)?;
        self.1.meter.add_bytes(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a tar archive; returns the writer and the number of entries.
fn tar<W: Write>(sources: &[PathBuf], to: W, limit: &Limit) -> io::Result<(W, u64)> {
    let mut archive = tar::Builder::new(Metered(to, limit));
    let entries = each_entry(sources, limit, &mut |mut entry, found, name| {
        if found.is_file() {
            return archive.append_file(name, &mut entry);
        }
        let mut header = tar::Header::new_gnu();
        header.set_metadata(found);
        header.set_entry_type(tar::EntryType::Directory);
        header.set_size(0);
        archive.append_data(&mut header, name, io::empty())
    })?;
    Ok((archive.into_inner()?.0, entries))
}

/// Writes a zip archive; returns the number of entries.
fn zip(sources: &[PathBuf], to: File, limit: &Limit) -> io::Result<u64> {
    let mut archive = ZipWriter::new(to);
    let entries = each_entry(sources, limit, &mut |mut entry, found, name| {
        let name = name.to_str().ok_or_else(|| io::Error::other("a name that is not text can't go into a zip"))?;
        if found.is_dir() {
            return archive.add_directory(name, SimpleFileOptions::default()).map_err(io::Error::other);
        }
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(found.len() >= u64::from(u32::MAX))
            .unix_permissions(found.mode() & 0o777);
        archive.start_file(name, options).map_err(io::Error::other)?;
        copy::copy_until_deadline(&mut entry, &mut archive, limit)
    })?;
    archive.finish().map_err(io::Error::other)?;
    Ok(entries)
}

/// The names that sources get in the archive, relative to the folder that contains all of them.
fn names(sources: &[PathBuf]) -> Vec<PathBuf> {
    let parent = |path: &Path| path.parent().unwrap_or(Path::new("/")).to_path_buf();
    let mut common = sources.first().map(|path| parent(path)).unwrap_or_default();
    for source in sources {
        while !source.starts_with(&common) {
            common = parent(&common);
        }
    }
    sources.iter().map(|source| source.strip_prefix(&common).unwrap_or(source).to_path_buf()).collect()
}

/// Callback that adds an open folder or file with its metadata and name to an archive.
type Add<'a> = dyn FnMut(File, &Metadata, &Path) -> io::Result<()> + 'a;

/// Passes every source folder and file to `add`, a folder before its content; returns their number.
fn each_entry(sources: &[PathBuf], limit: &Limit, add: &mut Add<'_>) -> io::Result<u64> {
    let mut entries = 0;
    for (source, name) in sources.iter().zip(names(sources)) {
        entries += entry(&Place::of(source)?, &name, limit, 0, add)?;
    }
    Ok(entries)
}

/// Passes an open file or folder and everything below it to `add`, which packs it; returns their number.
fn entry(place: &Place, name: &Path, limit: &Limit, depth: usize, add: &mut Add<'_>) -> io::Result<u64> {
    copy::check_depth(depth)?;
    let kind = FileType::from_raw_mode(statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
    if !kind.is_file() && !kind.is_dir() {
        let name = paths::line(name);
        return Err(io::Error::other(format!("{name} is not a file or folder; it can't be packed")));
    }
    let open = if kind.is_dir() { File::from(place.open_folder()?) } else { place.open_file()? };
    let found = open.metadata()?;
    add(open, &found, name)?;
    let mut entries = 1;
    for inner in if kind.is_dir() { copy::names(place)? } else { Vec::new() } {
        entries += entry(&place.inside(&inner)?, &name.join(&inner), limit, depth + 1, add)?;
    }
    if limit.reached() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(entries) }
}
