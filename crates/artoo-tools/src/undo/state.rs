//! What stands at a path, as far as undo is concerned: its kind, bytes, mode, and where a link points.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType, Stat, readlinkat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::limit::Limit;
use crate::openat::Place;

/// The bits of a mode that are kept and brought back.
const MODE_BITS: u32 = 0o7777;

/// What stands at a path.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum State {
    /// Nothing.
    #[default]
    Absent,
    File(FileState),
    Folder(Facts),
    /// Where it points, with escapes.
    Link {
        target: String,
    },
    /// A named pipe, which holds nothing to keep.
    Pipe(Facts),
    /// A socket, a device, a folder that can't be read: nothing to make again.
    Odd {
        what: String,
    },
}

/// What the system keeps beside the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) mode: u32,
    pub(crate) modified_s: i64,
    pub(crate) modified_ns: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}

/// What tells this very thing from another at the same path: its inode, its size and the time of its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    bytes: u64,
    modified_s: i64,
    modified_ns: u32,
}

/// A regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    #[serde(flatten)]
    pub(crate) facts: Facts,
    pub(crate) bytes: u64,
    /// SHA-256 of the content; `None` where it has not been read.
    pub(crate) digest: Option<String>,
    /// Under which number the content is kept.
    pub(crate) saved: Option<u64>,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Names of the same file, this one included.
    pub(crate) links: u64,
}

impl State {
    /// The same to whoever reads it: kind, bytes, mode, target. What nobody has read is the same as nothing.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (Self::File(one), Self::File(two)) => {
                one.facts.mode == two.facts.mode && one.digest.is_some() && one.digest == two.digest
            }
            (Self::Folder(one), Self::Folder(two)) | (Self::Pipe(one), Self::Pipe(two)) => one.mode == two.mode,
            (Self::Link { target: one }, Self::Link { target: two }) => one == two,
            (Self::Odd { what: one }, Self::Odd { what: two }) => one == two,
            (
                Self::Absent | Self::File(_) | Self::Folder(_) | Self::Pipe(_) | Self::Link { .. } | Self::Odd { .. },
                _,
            ) => false,
        }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Absent => "nothing",
            Self::File(_) => "a file",
            Self::Folder(_) => "a folder",
            Self::Pipe(_) => "a pipe",
            Self::Link { .. } => "a symbolic link",
            Self::Odd { what } => what,
        }
    }

    pub(crate) fn file(&self) -> Option<&FileState> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    /// Mode, owner and time, where it has them.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        match self {
            Self::File(file) => Some(&file.facts),
            Self::Folder(facts) | Self::Pipe(facts) => Some(facts),
            Self::Absent | Self::Link { .. } | Self::Odd { .. } => None,
        }
    }

    /// The same, the content of a file kept under a number.
    pub(crate) fn stored_as(mut self, number: Option<u64>) -> Self {
        if let Self::File(file) = &mut self {
            file.saved = number;
        }
        self
    }

    /// The number its content is kept under.
    pub(super) fn saved(&self) -> Option<u64> {
        self.file().and_then(|file| file.saved)
    }
}

#[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
impl Identity {
    pub(crate) fn of(found: &Stat) -> Self {
        Self {
            device: u64::from(found.st_dev),
            inode: u64::from(found.st_ino),
            bytes: u64::try_from(found.st_size).unwrap_or(0),
            modified_s: found.st_mtime,
            modified_ns: found.st_mtime_nsec.try_into().unwrap_or(0),
        }
    }

    /// Of what stands at a place; `None` where nothing does.
    pub(crate) fn at(place: &Place) -> io::Result<Option<Self>> {
        Ok(stat(&place.folder, &place.name)?.as_ref().map(Self::of))
    }

    pub(crate) fn same_inode(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl Facts {
    pub(crate) fn of(found: &Stat) -> Self {
        Self {
            mode: found.st_mode & MODE_BITS,
            modified_s: found.st_mtime,
            modified_ns: found.st_mtime_nsec.try_into().unwrap_or(0),
            owner: found.st_uid,
            group: found.st_gid,
        }
    }

    pub(crate) fn same_time(&self, other: &Self) -> bool {
        (self.modified_s, self.modified_ns) == (other.modified_s, other.modified_ns)
    }
}

/// What stands at a name in an open folder; `None` where nothing does.
pub(crate) fn stat(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// What stands at a place, its content read.
pub(super) fn read(place: &Place, limit: &Limit) -> io::Result<State> {
    let mut state = read_facts(place)?;
    if let State::File(file) = &mut state {
        file.digest = Some(digest::of_whole(&mut place.open_file()?, limit)?);
    }
    Ok(state)
}

/// What stands at a place, its content not read.
pub(super) fn read_facts(place: &Place) -> io::Result<State> {
    let found = stat(&place.folder, &place.name)?;
    found.map_or(Ok(State::Absent), |found| of_stat(&place.folder, &place.name, &found))
}

/// What stands at a path, its content read; nothing where a folder on the way is missing.
pub(super) fn at(path: &Path, limit: &Limit) -> io::Result<State> {
    match Place::of(path) {
        Ok(place) => read(&place, limit),
        Err(error) if is_missing(path, &error) => Ok(State::Absent),
        Err(error) => Err(error),
    }
}

/// Whether anything is there.
pub(super) fn stands(place: &Place) -> io::Result<bool> {
    Ok(stat(&place.folder, &place.name)?.is_some())
}

/// Whether a name on the way to a path is not there, or is no folder; a link there is something else.
pub(super) fn is_missing(path: &Path, error: &io::Error) -> bool {
    let is_link = |folder: &Path| std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink());
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) => true,
        Some(Errno::NOTDIR) => !path.ancestors().skip(1).any(is_link),
        _ => false,
    }
}

/// What a stat of a name in an open folder tells; content is not read.
#[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
pub(crate) fn of_stat(folder: impl AsFd, name: &OsStr, found: &Stat) -> io::Result<State> {
    let odd = |what: &str| State::Odd { what: what.to_owned() };
    Ok(match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => State::File(FileState {
            facts: Facts::of(found),
            bytes: u64::try_from(found.st_size).unwrap_or(0),
            digest: None,
            saved: None,
            device: u64::from(found.st_dev),
            inode: u64::from(found.st_ino),
            links: u64::from(found.st_nlink),
        }),
        FileType::Directory => State::Folder(Facts::of(found)),
        FileType::Symlink => {
            let target = readlinkat(folder, name, Vec::new())?;
            State::Link { target: artoo_proto::escape::path_line(target.as_bytes()) }
        }
        FileType::Fifo => State::Pipe(Facts::of(found)),
        FileType::Socket => odd("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => odd("a device"),
        FileType::Unknown => odd("a special file"),
    })
}

/// Whether two open files hold the same bytes.
pub(super) fn equal(one: &mut File, two: &mut File, limit: &Limit) -> io::Result<bool> {
    use std::io::Read;
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        if limit.reached() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let read = one.read(&mut left)?;
        if read == 0 {
            return Ok(two.read(&mut right)? == 0);
        }
        let Some(right) = right.get_mut(..read) else { return Ok(false) };
        match two.read_exact(right) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
        if left.get(..read) != Some(&*right) {
            return Ok(false);
        }
    }
}
