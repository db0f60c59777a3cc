//! Renames folders in a view. Overlays fail with `EXDEV` for a folder of the lower layer, so it is copied within the
//! view and the old one is deleted; the commit renames the real folder.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Statx, StatxAttributes, StatxFlags, Timespec, Timestamps,
    Uid, XattrFlags, chownat, fchmod, fgetxattr, flistxattr, fsetxattr, linkat, mkdirat, mknodat, openat, readlinkat,
    renameat_with, statx, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;

use super::caller::DirEntry;

/// Maximum depth of a folder that is copied to rename it in a view.
const DEPTH_MAX: usize = 128;

/// Maximum number of entries copied to rename a folder in a view; a larger folder is not renamed.
const ENTRIES_MAX: usize = 500_000;

/// Maximum bytes of the names, and of one value, of extended attributes that are copied.
const ATTRIBUTES_MAX_BYTES: usize = 64 * 1024;

/// Renames a folder in a view, by copying at most `bytes` bytes of files if the overlay can't; `false` for a file or
/// other flags, which are left to the kernel.
pub(super) fn rename(from: &DirEntry, to: &DirEntry, flags: RenameFlags, bytes: u64) -> io::Result<bool> {
    let found = facts(&from.folder, &from.name)?;
    let is_folder = kind(&found) == FileType::Directory;
    if !is_folder || !(flags - RenameFlags::NOREPLACE).is_empty() {
        return Ok(false);
    }
    // Through these descriptors the kernel would not notice a mount of the view.
    let is_mount = |facts: &Statx| facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
    let there = facts(&to.folder, &to.name);
    if is_mount(&found) || there.as_ref().is_ok_and(is_mount) {
        return Err(Errno::BUSY.into());
    }
    match renameat_with(&from.folder, &from.name, &to.folder, &to.name, flags) {
        Ok(()) => return Ok(true),
        Err(Errno::XDEV) => {}
        Err(error) => return Err(error.into()),
    }
    let mount =
        |folder: &OwnedFd| statx(folder, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).map(|found| found.stx_mnt_id);
    if mount(&from.folder)? != mount(&to.folder)? {
        return Err(Errno::XDEV.into());
    }
    match there {
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
        // Only an empty folder can be replaced.
        Ok(_) => unlinkat(&to.folder, &to.name, AtFlags::REMOVEDIR)?,
    }
    let mut copy = Copy { links: HashMap::new(), root: None, bytes, entries: ENTRIES_MAX };
    if let Err(error) = copy.entry(&from.folder, &from.name, &to.folder, &to.name, Path::new(""), 0) {
        // The call fails; the partial copy is deleted.
        let _ = delete(&to.folder, &to.name, 0);
        return Err(error);
    }
    delete(&from.folder, &from.name, 0)?;
    Ok(true)
}

/// A copy of a folder in progress: its hard links, and the bytes and entries that may still be copied.
struct Copy {
    /// Copied files with several names, by device and inode: path of the first copy below `root`.
    links: HashMap<(u32, u32, u64), PathBuf>,
    /// The new folder.
    root: Option<OwnedFd>,
    /// Remaining bytes and entries.
    bytes: u64,
    entries: usize,
}

impl Copy {
    /// Copies a directory entry with everything below it into an open folder; `path` is its path relative to the new
    /// folder.
    fn entry(
        &mut self,
        from: &OwnedFd,
        name: &OsStr,
        to: &OwnedFd,
        new_name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> io::Result<()> {
        let found = facts(from, name)?;
        self.entries = self.entries.checked_sub(1).ok_or(Errno::XDEV)?;
        if depth > DEPTH_MAX {
            return Err(Errno::XDEV.into());
        }
        if found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
            return Err(Errno::BUSY.into());
        }
        let kind = kind(&found);
        if kind != FileType::Directory && found.stx_nlink > 1 && self.link(&found, to, new_name, path)? {
            return Ok(());
        }
        let open = match kind {
            FileType::Directory => {
                mkdirat(to, new_name, Mode::RWXU)?;
                let (old, new) = (folder(from, name)?, folder(to, new_name)?);
                if self.root.is_none() {
                    self.root = Some(rustix::io::fcntl_dupfd_cloexec(&new, 0)?);
                }
                for inner in names(&old)? {
                    self.entry(&old, &inner, &new, &inner, &path.join(&inner), depth + 1)?;
                }
                attributes(&old, &new);
                Some(new)
            }
            FileType::RegularFile => {
                self.bytes = self.bytes.checked_sub(found.stx_size).ok_or(Errno::XDEV)?;
                let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let old = openat(from, name, OFlags::RDONLY | flags, Mode::empty())?;
                let made = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let new = openat(to, new_name, made | flags, Mode::RUSR | Mode::WUSR)?;
                attributes(&old, &new);
                io::copy(&mut File::from(old), &mut File::from(new.try_clone()?))?;
                Some(new)
            }
            FileType::Symlink => {
                symlinkat(readlinkat(from, name, Vec::new())?, to, new_name)?;
                None
            }
            FileType::Fifo | FileType::Socket => {
                mknodat(to, new_name, kind, Mode::from_raw_mode(u32::from(found.stx_mode) & 0o777), 0)?;
                None
            }
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => return Err(Errno::XDEV.into()),
        };
        finish(to, new_name, open.as_ref(), &found)
    }

    /// Creates a hard link to the copy that was made for another name of the same file; `false` if there is no copy
    /// yet.
    fn link(&mut self, found: &Statx, to: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<bool> {
        let key = (found.stx_dev_major, found.stx_dev_minor, found.stx_ino);
        match (self.links.get(&key), &self.root) {
            (Some(first), Some(root)) => {
                linkat(root, first, to, name, AtFlags::empty())?;
                Ok(true)
            }
            _ => {
                self.links.insert(key, path.to_path_buf());
                Ok(false)
            }
        }
    }
}

/// Copies owner, mode and times of an entry to its copy.
fn finish(folder: &OwnedFd, name: &OsStr, open: Option<&OwnedFd>, found: &Statx) -> io::Result<()> {
    let owner = (Uid::from_raw(found.stx_uid), Gid::from_raw(found.stx_gid));
    // Without the right to change owners, the file already has the right one.
    let _ = chownat(folder, name, Some(owner.0), Some(owner.1), AtFlags::SYMLINK_NOFOLLOW);
    if let Some(open) = open {
        fchmod(open, Mode::from_raw_mode(u32::from(found.stx_mode) & 0o7777))?;
    }
    let time = |time: rustix::fs::StatxTimestamp| Timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec.into() };
    let times = Timestamps { last_access: time(found.stx_atime), last_modification: time(found.stx_mtime) };
    Ok(utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Copies extended attributes; like `cp`, skips those that can't be set.
fn attributes(from: impl AsFd, to: impl AsFd) {
    let mut names = vec![0; ATTRIBUTES_MAX_BYTES];
    let count = flistxattr(&from, names.as_mut_slice()).unwrap_or(0);
    for name in names.get(..count).unwrap_or_default().split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; ATTRIBUTES_MAX_BYTES];
        let length = fgetxattr(&from, name, value.as_mut_slice());
        if let Some(value) = length.ok().and_then(|length| value.get(..length)) {
            let _ = fsetxattr(&to, name, value, XattrFlags::empty());
        }
    }
}

/// Deletes a directory entry, and for a folder everything below it; fails with `EXDEV` beyond the maximum depth.
fn delete(parent: &OwnedFd, name: &OsStr, depth: usize) -> io::Result<()> {
    if kind(&facts(parent, name)?) != FileType::Directory {
        return Ok(unlinkat(parent, name, AtFlags::empty())?);
    }
    if depth > DEPTH_MAX {
        return Err(Errno::XDEV.into());
    }
    let inner = folder(parent, name)?;
    for entry in names(&inner)? {
        delete(&inner, &entry, depth + 1)?;
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Opens a subfolder of an open folder.
fn folder(parent: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// The names of the entries in an open folder, without `.` and `..`.
fn names(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
    let names = Dir::read_from(folder)?
        .map(|entry| entry.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned()));
    let mut names: Vec<OsString> = names.collect::<Result<_, _>>()?;
    names.retain(|name| name != "." && name != "..");
    Ok(names)
}

/// The `statx` result of a name in an open folder, not following a symlink.
fn facts(folder: &OwnedFd, name: &OsStr) -> Result<Statx, Errno> {
    statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)
}

/// The file type in a `statx` result.
fn kind(found: &Statx) -> FileType {
    FileType::from_raw_mode(found.stx_mode.into())
}
