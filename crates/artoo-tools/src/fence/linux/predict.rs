//! What a call would do without a fence: fail, change nothing, or change something. All of it is found out by looking.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid, accessat,
    chmodat, chownat, fstat, openat, statat, utimensat,
};
use rustix::io::{Errno, Result};
use rustix::process::geteuid;

use super::caller::DirEntry;
use super::syscalls::ACTING_BITS;

/// The effect a call would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predicted {
    Fails(i32),
    ChangesNothing,
    Changes,
}

impl From<Errno> for Predicted {
    fn from(error: Errno) -> Self {
        Self::Fails(error.raw_os_error())
    }
}

/// `Changes`, or the error that comes before it.
fn unless(checked: Result<()>) -> Predicted {
    checked.map_or_else(Predicted::from, |()| Predicted::Changes)
}

fn or_fail(fails: bool, error: Errno) -> Result<()> {
    if fails { Err(error) } else { Ok(()) }
}

/// A new mode, owner or times for a file.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Mode(u32),
    Owner(Option<u32>, Option<u32>),
    Times(Timestamps),
}

impl Change {
    /// Makes it.
    pub(super) fn apply(&self, file: &OwnedFd) -> Result<()> {
        let path = through(file);
        match *self {
            Self::Mode(mode) if acts(mode) => Err(Errno::PERM),
            Self::Mode(mode) => chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty()),
            Self::Owner(user, group) => {
                chownat(file, "", user.map(Uid::from_raw), group.map(Gid::from_raw), AtFlags::EMPTY_PATH)
            }
            Self::Times(ref times) => utimensat(CWD, path, times, AtFlags::empty()),
        }
    }

    /// Its effect on a file. What is as it was asked to be is left alone: the kernel would only note the moment.
    pub(super) fn effect(&self, file: &OwnedFd) -> Predicted {
        let Ok(found) = fstat(file) else { return Predicted::Changes };
        let may = match self {
            Self::Times(times) if is_now(&times.last_access) && is_now(&times.last_modification) => {
                writable(file).or_else(|error| if is_owned(&found) { Ok(()) } else { Err(error) })
            }
            Self::Owner(..) if !geteuid().is_root() && !is_owned(&found) => Err(Errno::PERM),
            Self::Mode(_) | Self::Times(_) => or_fail(!is_owned(&found), Errno::PERM),
            Self::Owner(..) => Ok(()),
        };
        if may.is_ok() && self.is_made(&found) { Predicted::ChangesNothing } else { unless(may) }
    }

    fn is_made(&self, found: &Stat) -> bool {
        match self {
            Self::Mode(mode) => *mode & 0o7777 == found.st_mode & 0o7777,
            // A new owner, even the same one, ends the bits that let others act as the owner.
            Self::Owner(user, group) => {
                !acts(found.st_mode)
                    && user.is_none_or(|user| user == found.st_uid)
                    && group.is_none_or(|group| group == found.st_gid)
            }
            Self::Times(times) => {
                let is = |time: &Timespec, seconds: i64, nanos: u64| {
                    time.tv_nsec == libc::UTIME_OMIT
                        || (time.tv_sec, u64::try_from(time.tv_nsec)) == (seconds, Ok(nanos))
                };
                is(&times.last_access, found.st_atime, found.st_atime_nsec)
                    && is(&times.last_modification, found.st_mtime, found.st_mtime_nsec)
            }
        }
    }
}

/// Whether a mode lets others act as the owner.
pub(super) fn acts(mode: u32) -> bool {
    ACTING_BITS.iter().any(|bit| mode & bit != 0)
}

fn is_now(time: &Timespec) -> bool {
    time.tv_nsec == libc::UTIME_NOW
}

fn is_owned(found: &Stat) -> bool {
    geteuid().is_root() || found.st_uid == geteuid().as_raw()
}

/// Whether this user may write to an open file, found out without opening it again.
pub(super) fn writable(file: &OwnedFd) -> Result<()> {
    may(file, Access::WRITE_OK)
}

fn may(file: &OwnedFd, access: Access) -> Result<()> {
    accessat(CWD, through(file), access, AtFlags::EACCESS)
}

/// A name by which an open file is reached itself, whatever has become of its path.
fn through(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Making an entry.
pub(super) fn making(place: &DirEntry, is_folder: bool) -> Predicted {
    let check = || {
        or_fail(find(place).is_ok(), Errno::EXIST)?;
        or_fail(place.is_slashed && !is_folder, Errno::NOENT)?;
        may_change(place)
    };
    unless(check())
}

/// Removing one.
pub(super) fn removing(place: &DirEntry, is_folder: bool) -> Predicted {
    let check = || {
        let found = find(place)?;
        may_change(place)?;
        may_take(place, &found)?;
        or_fail(place.is_slashed && !is_dir(&found), Errno::NOTDIR)?;
        may_end(is_folder, place, &found)
    };
    unless(check())
}

/// Renaming one.
pub(super) fn renaming(from: &DirEntry, to: &DirEntry, flags: RenameFlags) -> Predicted {
    let replaced = find(to);
    if let (Ok(from), Ok(to)) = (find(from), &replaced)
        && (from.st_dev, from.st_ino) == (to.st_dev, to.st_ino)
        && flags.is_empty()
    {
        return Predicted::ChangesNothing;
    }
    let check = || {
        let moved = find(from)?;
        or_fail((from.is_slashed || to.is_slashed) && !is_dir(&moved), Errno::NOTDIR)?;
        or_fail(fstat(&from.folder)?.st_dev != fstat(&to.folder)?.st_dev, Errno::XDEV)?;
        or_fail(replaced.is_ok() && flags.contains(RenameFlags::NOREPLACE), Errno::EXIST)?;
        may_change(from)?;
        may_take(from, &moved)?;
        may_change(to)?;
        let Ok(replaced) = &replaced else { return or_fail(flags.contains(RenameFlags::EXCHANGE), Errno::NOENT) };
        may_take(to, replaced)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            return Ok(());
        }
        may_end(is_dir(&moved), to, replaced)
    };
    unless(check())
}

/// Giving one a second name.
pub(super) fn linking(from: &DirEntry, to: &DirEntry) -> Predicted {
    let check = || {
        let found = find(from)?;
        or_fail(find(to).is_ok(), Errno::EXIST)?;
        or_fail(fstat(&from.folder)?.st_dev != fstat(&to.folder)?.st_dev, Errno::XDEV)?;
        may_change(to)?;
        or_fail(is_dir(&found), Errno::PERM)
    };
    unless(check())
}

/// Opening what is there, to write or to empty it.
pub(super) fn opening(file: &OwnedFd, flags: OFlags) -> Predicted {
    let Ok(found) = fstat(file) else { return Predicted::Changes };
    let reads = flags.contains(OFlags::RDWR);
    let writes = reads || flags.intersects(OFlags::WRONLY | OFlags::TRUNC);
    let access = if reads { Access::WRITE_OK | Access::READ_OK } else { Access::WRITE_OK };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => Errno::LOOP.into(),
        FileType::Directory if flags.contains(OFlags::TMPFILE) => unless(may(file, access)),
        FileType::Directory => Errno::ISDIR.into(),
        _ if flags.contains(OFlags::DIRECTORY) => Errno::NOTDIR.into(),
        FileType::Socket => Errno::NXIO.into(),
        // A process in a session of its own has no terminal.
        FileType::CharacterDevice if found.st_rdev == rustix::fs::makedev(5, 0) => Errno::NXIO.into(),
        FileType::CharacterDevice if is_data(&found) => Predicted::ChangesNothing,
        FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Fifo
        | FileType::RegularFile
        | FileType::Unknown => {
            if writes {
                unless(may(file, access))
            } else {
                Predicted::ChangesNothing
            }
        }
    }
}

/// Emptying a file by its path.
pub(super) fn truncating(file: &OwnedFd) -> Predicted {
    let effect = opening(file, OFlags::WRONLY);
    if effect == Predicted::ChangesNothing { Predicted::Fails(libc::EINVAL) } else { effect }
}

/// Null, zero, full, random, urandom: the same numbers everywhere.
fn is_data(found: &Stat) -> bool {
    [3, 5, 7, 8, 9].iter().any(|minor| found.st_rdev == rustix::fs::makedev(1, *minor))
}

fn find(place: &DirEntry) -> Result<Stat> {
    statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)
}

fn is_dir(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode).is_dir()
}

/// Whether this user may add entries to its folder and remove them.
fn may_change(place: &DirEntry) -> Result<()> {
    may(&place.folder, Access::WRITE_OK | Access::EXEC_OK)
}

/// In a folder with the sticky bit only owners remove entries.
fn may_take(place: &DirEntry, found: &Stat) -> Result<()> {
    let folder = fstat(&place.folder)?;
    or_fail(folder.st_mode & libc::S_ISVTX != 0 && !is_owned(found) && !is_owned(&folder), Errno::PERM)
}

/// Whether an entry can be removed or replaced as a folder, which must be empty, or as a file.
fn may_end(as_folder: bool, place: &DirEntry, found: &Stat) -> Result<()> {
    match (as_folder, is_dir(found)) {
        (false, true) => Err(Errno::ISDIR),
        (true, false) => Err(Errno::NOTDIR),
        (true, true) => or_fail(!is_empty(place), Errno::NOTEMPTY),
        (false, false) => Ok(()),
    }
}

/// Whether a folder holds nothing; one that can't be read is taken for empty.
fn is_empty(place: &DirEntry) -> bool {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(&place.folder, &place.name, flags, Mode::empty()) else { return true };
    let is_own = |name: &[u8]| name == OsStr::new(".").as_bytes() || name == OsStr::new("..").as_bytes();
    Dir::new(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_own(entry.file_name().to_bytes()))))
}
