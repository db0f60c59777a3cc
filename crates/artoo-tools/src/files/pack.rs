//! Packs files and folders into an archive.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{AtFlags, FileType, statat};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::digest;
use crate::files::copy;
use crate::files::survey::DEPTH_MAX;
use crate::limit::Limit;
use crate::openat::{Made, Place};
use crate::paths;

/// The formats of archives, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Tar,
    TarGz,
    Zip,
}

impl Format {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        if ends(".tar.gz") || ends(".tgz") {
            Ok(Self::TarGz)
        } else if ends(".tar") {
            Ok(Self::Tar)
        } else if ends(".zip") {
            Ok(Self::Zip)
        } else {
            let path = paths::line(path);
            let reason = "is not a supported archive; its name must end in .tar.gz, .tgz, .tar or .zip";
            Err(io::Error::other(format!("{path} {reason}")))
        }
    }
}

/// Packs `sources` into the new file; returns its digest and the number of entries.
pub(super) fn pack(sources: &[PathBuf], to: &Path, mut new: Made, limit: &Limit) -> io::Result<(String, u64)> {
    let written =
        write(sources, to, &new.file, limit).and_then(|entries| Ok((digest::of_whole(&mut new.file, limit)?, entries)));
    if written.is_err() {
        new.unmake();
    }
    written
}

fn write(sources: &[PathBuf], to: &Path, file: &File, limit: &Limit) -> io::Result<u64> {
    let format = Format::of(to)?;
    let mut archive = match format {
        Format::Tar => Archive::Tar(tar::Builder::new(Stream::Plain(file.try_clone()?))),
        Format::TarGz => {
            Archive::Tar(tar::Builder::new(Stream::Gz(GzEncoder::new(file.try_clone()?, Compression::default()))))
        }
        Format::Zip => Archive::Zip(Box::new(ZipWriter::new(file.try_clone()?))),
    };
    let mut entries = 0;
    for (source, name) in sources.iter().zip(names(sources)) {
        entries += add(&mut archive, &Place::of(source)?, &name, limit, 0)?;
    }
    archive.finish()?;
    Ok(entries)
}

/// The names in the archive, relative to the folder that contains all sources.
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

enum Stream {
    Plain(File),
    Gz(GzEncoder<File>),
}

impl io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gz(encoder) => encoder.flush(),
        }
    }
}

enum Archive {
    Tar(tar::Builder<Stream>),
    Zip(Box<ZipWriter<File>>),
}

impl Archive {
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Tar(builder) => match builder.into_inner()? {
                Stream::Plain(_) => Ok(()),
                Stream::Gz(encoder) => encoder.finish().map(drop),
            },
            Self::Zip(writer) => writer.finish().map(drop).map_err(io::Error::other),
        }
    }
}

fn add(archive: &mut Archive, place: &Place, name: &Path, limit: &Limit, depth: usize) -> io::Result<u64> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("folders are nested too deep"));
    }
    let found = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(found.st_mode);
    if kind.is_dir() {
        match archive {
            Archive::Tar(builder) => builder.append_folder(name, &File::from(place.open_folder()?))?,
            Archive::Zip(writer) => {
                writer.add_directory(zip_name(name)?, SimpleFileOptions::default()).map_err(io::Error::other)?;
            }
        }
        let mut entries = 1;
        for inner in copy::names(place)? {
            entries += add(archive, &place.inside(&inner)?, &name.join(&inner), limit, depth + 1)?;
        }
        return Ok(entries);
    }
    if !kind.is_file() {
        let name = paths::line(name);
        return Err(io::Error::other(format!("{name} is not a file or folder; it can't be packed")));
    }
    let mut file = place.open_file()?;
    match archive {
        Archive::Tar(builder) => builder.append_file(name, &mut file)?,
        Archive::Zip(writer) => {
            let options = SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Deflated)
                .large_file(file.metadata()?.len() >= u64::from(u32::MAX))
                .unix_permissions(found.st_mode & 0o777);
            writer.start_file(zip_name(name)?, options).map_err(io::Error::other)?;
            copy::pour(&mut file, writer, limit)?;
        }
    }
    if limit.reached() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(1) }
}

/// Adds a folder with the metadata of an open folder.
trait FolderHeader {
    fn append_folder(&mut self, name: &Path, folder: &File) -> io::Result<()>;
}

impl FolderHeader for tar::Builder<Stream> {
    fn append_folder(&mut self, name: &Path, folder: &File) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_metadata(&folder.metadata()?);
        header.set_entry_type(tar::EntryType::Directory);
        header.set_size(0);
        self.append_data(&mut header, name, io::empty())
    }
}

fn zip_name(name: &Path) -> io::Result<String> {
    name.to_str().map(str::to_owned).ok_or_else(|| io::Error::other("a name that is not text can't go into a zip"))
}
