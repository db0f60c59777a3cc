//! Surveys the paths of an act before approval.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, Timestamp};

use crate::input::denied;
use crate::protect::Protected;
use crate::record::Record;
use crate::{open, paths, texts};

/// Maximum number of files and folders below each source of a `files` act, and of entries in each archive.
pub(super) const TREE_MAX: u64 = 100_000;

/// Maximum depth of folders below the sources of an act.
pub(super) const DEPTH_MAX: usize = 128;

/// The kind of a source: file, folder or symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
}

/// A source path of a `files` act: its kind, size and times, and how many files and bytes are below it.
#[derive(Debug)]
pub(super) struct Source {
    /// The path as given.
    pub(super) path: PathBuf,
    /// The path with the symlinks in its folder resolved.
    pub(super) real: PathBuf,
    pub(super) kind: Kind,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) modified: Timestamp,
    /// The newest change at or below it.
    pub(super) newest: Timestamp,
    /// Device, inode, length and time, to detect that it was replaced.
    pub(super) identity: String,
}

/// The record of a `files` act that fails because of the environment, such as a missing file.
pub(super) fn hindered(reason: String) -> Box<Record> {
    Box::new(Record::hindered(reason))
}

/// The record of an act that fails because of an I/O error at this path.
pub(super) fn io_failed(path: &Path, error: &std::io::Error) -> Box<Record> {
    hindered(format!("{}: {error}", paths::line(path)))
}

/// Surveys a source path of an act; `leaves`: the act removes it from its folder. `Err` if it is protected or unusable.
pub(super) fn source(
    environment: &Environment,
    protected: &Protected,
    path: &Path,
    leaves: bool,
) -> Result<Source, Box<Record>> {
    if let Some(reason) = protected.refusal(path) {
        return Err(denied(&reason));
    }
    let real = paths::without_links(path);
    let found = fs::symlink_metadata(&real).map_err(|error| io_failed(path, &error))?;
    let kind = match found.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_symlink() => Kind::Link,
        odd => {
            let (path, kind) = (paths::line(path), open::kind_name(odd));
            return Err(hindered(format!("{path} is {kind}; only files, folders and links are acted on")));
        }
    };
    let modified = time(&found);
    let mut source = Source {
        path: path.to_path_buf(),
        identity: identity(&found),
        files: 1,
        bytes: if kind == Kind::File { found.len() } else { 0 },
        modified,
        newest: modified,
        kind,
        real,
    };
    if kind == Kind::Folder {
        if protected.lies_below(&source.real) {
            return Err(denied(&texts::holds_protected(paths::line(path))));
        }
        if leaves && let Some(content) = essential_folder(environment, &source.real) {
            return Err(denied(&texts::stays(paths::line(path), content)));
        }
        tree(&mut source)?;
    }
    Ok(source)
}

/// The real path for a new file, if nothing exists there and it is not protected; otherwise the record that says so.
pub(super) fn free_place(protected: &Protected, path: &Path) -> Result<PathBuf, Box<Record>> {
    if let Some(reason) = protected.refusal(path) {
        return Err(denied(&reason));
    }
    let real = paths::without_links(path);
    match fs::symlink_metadata(&real) {
        Ok(found) => Err(exists(path, open::kind_name(found.file_type()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(real),
        Err(error) => Err(io_failed(path, &error)),
    }
}

/// The record of an act that is refused because its target exists.
pub(super) fn exists(path: &Path, kind: &str) -> Box<Record> {
    denied(&texts::exists(paths::line(path), kind))
}

/// Which of home folder, workspace and working folder the given folder contains or is, by name for a message; `None` if
/// none.
fn essential_folder(environment: &Environment, folder: &Path) -> Option<&'static str> {
    let places = [
        ("your home folder", &environment.home),
        ("the workspace", &environment.workspace),
        ("the folder you are in", &environment.cwd),
    ];
    places.into_iter().find(|(_, place)| paths::real(Path::new(place)).starts_with(folder)).map(|(name, _)| name)
}

/// Adds to a source the number, size and newest change of all files below it; `Err` beyond the limits.
fn tree(source: &mut Source) -> Result<(), Box<Record>> {
    let path = paths::line(&source.path);
    let too_large =
        || hindered(format!("{path} holds more than {TREE_MAX} entries, or folders deeper than {DEPTH_MAX}"));
    let mut open = vec![(source.real.clone(), 0)];
    let (mut entries, mut files) = (0, 0);
    while let Some((folder, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            return Err(too_large());
        }
        for entry in fs::read_dir(&folder).map_err(|error| io_failed(&folder, &error))? {
            let entry = entry.map_err(|error| io_failed(&folder, &error))?;
            let found = entry.metadata().map_err(|error| io_failed(&entry.path(), &error))?;
            entries += 1;
            if entries > TREE_MAX {
                return Err(too_large());
            }
            source.newest = source.newest.max(time(&found));
            if found.is_dir() {
                open.push((entry.path(), depth + 1));
            } else {
                files += 1;
                source.bytes += if found.is_file() { found.len() } else { 0 };
            }
        }
    }
    source.files = files;
    source.identity.push_str(&format!(" {entries} {} {}", source.bytes, source.newest));
    Ok(())
}

/// Device, inode, size and modification time of a file as text, for the consent digest.
fn identity(found: &fs::Metadata) -> String {
    format!("{} {} {} {} {}", found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec())
}

/// The time of a file's last change as a timestamp.
fn time(found: &fs::Metadata) -> Timestamp {
    Timestamp::from_millis(found.mtime().saturating_mul(1000).saturating_add(found.mtime_nsec() / 1_000_000))
}
