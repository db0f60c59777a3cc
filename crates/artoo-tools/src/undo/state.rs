//! The state of a path that undo records: kind, content, mode, link target.

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

/// The bits of a mode that an undo saves and restores.
const MODE_BITS: u32 = 0o7777;

/// The state of a path: absent, a file, folder, link or pipe, or something else, with its metadata.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum State {
    #[default]
    Absent,
    File(FileState),
    Folder(Facts),
    /// The target with escapes.
    Link {
        target: String,
    },
    /// A named pipe.
    Pipe(Facts),
    /// A socket, a device or an unreadable folder, which can't be created again.
    Odd {
        what: String,
    },
}

/// The metadata of a path: mode, modification time, owner and group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) mode: u32,
    pub(crate) modified_s: i64,
    pub(crate) modified_ns: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}

/// What identifies a file or folder among others at the same path: device, inode, size and modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    bytes: u64,
    modified_s: i64,
    modified_ns: u32,
}

/// The state of a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    #[serde(flatten)]
    pub(crate) facts: Facts,
    pub(crate) bytes: u64,
    /// SHA-256 of the content; `None` if it was not read.
    pub(crate) digest: Option<String>,
    /// The number of the saved content.
    pub(crate) saved: Option<u64>,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The number of names of the file.
    pub(crate) links: u64,
}

impl State {
    /// Whether two states have equal kind, content, mode and link target; times and owners are not compared. Content
    /// without a digest equals no other.
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

    /// Whether owner and group of two states are the same; `true` if one of the states has none.
    pub(crate) fn same_owner(&self, other: &Self) -> bool {
        let owner = |facts: &Facts| (facts.owner, facts.group);
        self.facts().zip(other.facts()).is_none_or(|(one, two)| owner(one) == owner(two))
    }

    /// A noun for the kind of the state, such as "a file" or "nothing".
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

    /// The state of a regular file; `None` for other kinds.
    pub(crate) fn file(&self) -> Option<&FileState> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    /// The metadata of a file, folder or pipe; `None` for other kinds.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        match self {
            Self::File(file) => Some(&file.facts),
            Self::Folder(facts) | Self::Pipe(facts) => Some(facts),
            Self::Absent | Self::Link { .. } | Self::Odd { .. } => None,
        }
    }

    /// The state of a file with the number under which the journal saves its content; other states unchanged.
    pub(crate) fn stored_as(mut self, number: Option<u64>) -> Self {
        if let Self::File(file) = &mut self {
            file.saved = number;
        }
        self
    }

    /// The number under which the journal saved the file's content; `None` if it did not.
    pub(super) fn saved(&self) -> Option<u64> {
        self.file().and_then(|file| file.saved)
    }
}

#[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
impl Identity {
    /// The device, inode, size and modification time in a `stat` result.
    pub(crate) fn of(found: &Stat) -> Self {
        Self {
            device: u64::from(found.st_dev),
            inode: u64::from(found.st_ino),
            bytes: u64::try_from(found.st_size).unwrap_or(0),
            modified_s: found.st_mtime,
            modified_ns: found.st_mtime_nsec.try_into().unwrap_or(0),
        }
    }

    /// The device, inode, size and time by which a file or folder is recognised; `None` if nothing is at the place.
    pub(crate) fn at(place: &Place) -> io::Result<Option<Self>> {
        Ok(stat(&place.folder, &place.name)?.as_ref().map(Self::of))
    }

    /// Whether two identities have the same device and inode.
    pub(crate) fn same_inode(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl Facts {
    /// The mode, owner and modification time in a `stat` result.
    pub(crate) fn of(found: &Stat) -> Self {
        Self {
            mode: found.st_mode & MODE_BITS,
            modified_s: found.st_mtime,
            modified_ns: found.st_mtime_nsec.try_into().unwrap_or(0),
            owner: found.st_uid,
            group: found.st_gid,
        }
    }

    /// Whether the two have the same modification time.
    pub(crate) fn same_time(&self, other: &Self) -> bool {
        (self.modified_s, self.modified_ns) == (other.modified_s, other.modified_ns)
    }
}

/// `fstatat` of a name in an open folder; `None` if nothing is there.
pub(crate) fn stat(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Reads the state of a place, with the digest of a file.
pub(super) fn read(place: &Place, limit: &Limit) -> io::Result<State> {
    let mut state = read_facts(place)?;
    if let State::File(file) = &mut state {
        file.digest = Some(digest::of_whole(&mut place.open_file()?, limit)?);
    }
    Ok(state)
}

/// Reads the state of a place without the content.
pub(super) fn read_facts(place: &Place) -> io::Result<State> {
    let found = stat(&place.folder, &place.name)?;
    found.map_or(Ok(State::Absent), |found| of_stat(&place.folder, &place.name, &found))
}

/// Reads the state of a path, with the digest if it is a file; `Absent` if a parent folder is missing.
pub(super) fn at(path: &Path, limit: &Limit) -> io::Result<State> {
    match Place::of(path) {
        Ok(place) => read(&place, limit),
        Err(error) if is_missing(path, &error) => Ok(State::Absent),
        Err(error) => Err(error),
    }
}

/// Whether a file, folder or link exists at a place.
pub(super) fn exists(place: &Place) -> io::Result<bool> {
    Ok(stat(&place.folder, &place.name)?.is_some())
}

/// Whether `error` means that a parent of the path is missing or not a folder. A link among the parents does not count.
pub(super) fn is_missing(path: &Path, error: &io::Error) -> bool {
    let is_link = |folder: &Path| std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink());
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) => true,
        Some(Errno::NOTDIR) => !path.ancestors().skip(1).any(is_link),
        _ => false,
    }
}

/// The state of a path from the result of `stat`, without a file's content.
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

/// Whether two open files hold the same bytes from their present positions on; the error `TimedOut` at the deadline.
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
