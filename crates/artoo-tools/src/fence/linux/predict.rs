//! Predicts what a call would do without a sandbox, without making it.

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
use super::syscalls::SET_ID_BITS;

/// The predicted effect of a call without a sandbox: a change, no change, or an error.
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

/// [`Predicted::Changes`] if the check of the call succeeded, otherwise that the call fails with its error.
fn changes_unless(checked: Result<()>) -> Predicted {
    checked.map_or_else(Predicted::from, |()| Predicted::Changes)
}

/// `Err(error)` if `fails`, otherwise `Ok(())`.
fn or_fail(fails: bool, error: Errno) -> Result<()> {
    if fails { Err(error) } else { Ok(()) }
}

/// A change of a file's metadata: a new mode, owner or times.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Mode(u32),
    Owner(Option<u32>, Option<u32>),
    Times(Timestamps),
}

impl Change {
    /// Makes the change of mode, owner or times on the open file; a mode with set-id bits fails.
    pub(super) fn apply(&self, file: &OwnedFd) -> Result<()> {
        let path = proc_path(file);
        match *self {
            Self::Mode(mode) if is_set_id(mode) => Err(Errno::PERM),
            Self::Mode(mode) => chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty()),
            Self::Owner(user, group) => {
                chownat(file, "", user.map(Uid::from_raw), group.map(Gid::from_raw), AtFlags::EMPTY_PATH)
            }
            Self::Times(ref times) => utimensat(CWD, path, times, AtFlags::empty()),
        }
    }

    /// Whether a change of mode, owner or times would have an effect on the open file, fail, or leave everything as it
    /// is.
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
        if may.is_ok() && self.is_made(&found) { Predicted::ChangesNothing } else { changes_unless(may) }
    }

    /// Whether the file already has the new mode, owner or times, so that setting them changes nothing.
    fn is_made(&self, found: &Stat) -> bool {
        match self {
            Self::Mode(mode) => *mode & 0o7777 == found.st_mode & 0o7777,
            // Setting even the same owner clears the set-id bits.
            Self::Owner(user, group) => {
                !is_set_id(found.st_mode)
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

/// Whether a mode has a set-user-id or set-group-id bit.
pub(super) fn is_set_id(mode: u32) -> bool {
    SET_ID_BITS.iter().any(|bit| mode & bit != 0)
}

/// Whether a time argument is `UTIME_NOW`, which stands for the current time.
fn is_now(time: &Timespec) -> bool {
    time.tv_nsec == libc::UTIME_NOW
}

/// Whether this user may set the metadata of a file, as its owner or as root.
fn is_owned(found: &Stat) -> bool {
    geteuid().is_root() || found.st_uid == geteuid().as_raw()
}

/// Whether this user may write to an open file; otherwise the kernel's error.
pub(super) fn writable(file: &OwnedFd) -> Result<()> {
    may(file, Access::WRITE_OK)
}

/// Whether this user may access an open file in this way; otherwise the kernel's error.
fn may(file: &OwnedFd, access: Access) -> Result<()> {
    accessat(CWD, proc_path(file), access, AtFlags::EACCESS)
}

/// The `/proc/self/fd` path of an open file, which leads to it even after the file was renamed.
fn proc_path(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Predicts whether creating an entry would succeed, or fail with which error.
pub(super) fn making(entry: &DirEntry, is_folder: bool) -> Predicted {
    let check = || {
        or_fail(find(entry).is_ok(), Errno::EXIST)?;
        or_fail(entry.is_slashed && !is_folder, Errno::NOENT)?;
        may_change(entry)
    };
    changes_unless(check())
}

/// Predicts whether deleting an entry would succeed, and so be a change, or fail with which error.
pub(super) fn removing(entry: &DirEntry, is_folder: bool) -> Predicted {
    let check = || {
        let found = find(entry)?;
        may_change(entry)?;
        may_delete(entry, &found)?;
        or_fail(entry.is_slashed && !is_dir(&found), Errno::NOTDIR)?;
        may_be_gone(is_folder, entry, &found)
    };
    changes_unless(check())
}

/// Predicts whether renaming an entry would succeed, fail with which error, or change nothing.
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
        may_delete(from, &moved)?;
        may_change(to)?;
        let Ok(replaced) = &replaced else { return or_fail(flags.contains(RenameFlags::EXCHANGE), Errno::NOENT) };
        may_delete(to, replaced)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            return Ok(());
        }
        may_be_gone(is_dir(&moved), to, replaced)
    };
    changes_unless(check())
}

/// Predicts whether creating a hard link would succeed, or fail with which error.
pub(super) fn linking(from: &DirEntry, to: &DirEntry) -> Predicted {
    let check = || {
        let found = find(from)?;
        or_fail(find(to).is_ok(), Errno::EXIST)?;
        or_fail(fstat(&from.folder)?.st_dev != fstat(&to.folder)?.st_dev, Errno::XDEV)?;
        may_change(to)?;
        or_fail(is_dir(&found), Errno::PERM)
    };
    changes_unless(check())
}

/// Predicts whether opening an existing file for writing or truncating would succeed, fail, or change nothing.
pub(super) fn opening(file: &OwnedFd, flags: OFlags) -> Predicted {
    let Ok(found) = fstat(file) else { return Predicted::Changes };
    let reads = flags.contains(OFlags::RDWR);
    let writes = reads || flags.intersects(OFlags::WRONLY | OFlags::TRUNC);
    let access = if reads { Access::WRITE_OK | Access::READ_OK } else { Access::WRITE_OK };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => Errno::LOOP.into(),
        FileType::Directory if flags.contains(OFlags::TMPFILE) => changes_unless(may(file, access)),
        FileType::Directory => Errno::ISDIR.into(),
        _ if flags.contains(OFlags::DIRECTORY) => Errno::NOTDIR.into(),
        FileType::Socket => Errno::NXIO.into(),
        // A process in its own session has no controlling terminal.
        FileType::CharacterDevice if found.st_rdev == rustix::fs::makedev(5, 0) => Errno::NXIO.into(),
        FileType::CharacterDevice if is_data(&found) => Predicted::ChangesNothing,
        FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Fifo
        | FileType::RegularFile
        | FileType::Unknown => {
            if writes {
                changes_unless(may(file, access))
            } else {
                Predicted::ChangesNothing
            }
        }
    }
}

/// Predicts whether truncating a file by its path would change it or fail.
pub(super) fn truncating(file: &OwnedFd) -> Predicted {
    let effect = opening(file, OFlags::WRONLY);
    if effect == Predicted::ChangesNothing { Predicted::Fails(libc::EINVAL) } else { effect }
}

/// Whether a device is `/dev/null`, `zero`, `full`, `random` or `urandom`, so that writing to it changes nothing.
fn is_data(found: &Stat) -> bool {
    [3, 5, 7, 8, 9].iter().any(|minor| found.st_rdev == rustix::fs::makedev(1, *minor))
}

/// The `stat` result of an entry; of a symlink itself.
fn find(entry: &DirEntry) -> Result<Stat> {
    statat(&entry.folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Whether the `stat` result is that of a folder.
fn is_dir(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode).is_dir()
}

/// Whether this user may add and delete entries in the folder; otherwise the kernel's error.
fn may_change(entry: &DirEntry) -> Result<()> {
    may(&entry.folder, Access::WRITE_OK | Access::EXEC_OK)
}

/// Whether the folder's sticky bit lets this user delete the entry; otherwise the kernel's error.
fn may_delete(entry: &DirEntry, found: &Stat) -> Result<()> {
    let folder = fstat(&entry.folder)?;
    or_fail(folder.st_mode & libc::S_ISVTX != 0 && !is_owned(found) && !is_owned(&folder), Errno::PERM)
}

/// Whether an entry can be removed or replaced: as an empty folder, or as a file; otherwise the kernel's error.
fn may_be_gone(as_folder: bool, entry: &DirEntry, found: &Stat) -> Result<()> {
    match (as_folder, is_dir(found)) {
        (false, true) => Err(Errno::ISDIR),
        (true, false) => Err(Errno::NOTDIR),
        (true, true) => or_fail(!is_empty(entry), Errno::NOTEMPTY),
        (false, false) => Ok(()),
    }
}

/// Whether a folder is empty; an unreadable one counts as empty.
fn is_empty(entry: &DirEntry) -> bool {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(&entry.folder, &entry.name, flags, Mode::empty()) else { return true };
    let is_own = |name: &[u8]| name == OsStr::new(".").as_bytes() || name == OsStr::new("..").as_bytes();
    Dir::new(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_own(entry.file_name().to_bytes()))))
}
