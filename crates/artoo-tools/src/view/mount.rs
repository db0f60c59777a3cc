//! The mounts of a view. All are made by file descriptors: after the first one, a path may lead into the view.
#![expect(unsafe_code, reason = "mount_setattr has no safe interface in any crate we use")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, fstatvfs, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use rustix::path::Arg;

use super::problem::{NoView, Step};

/// Number of attempts to make the mounts read-only, a millisecond apart.
const READ_ONLY_TRIES: u32 = 50;

/// Flags of `mount_setattr` that apply a change to a mount and all mounts below it.
const WHOLE_TREE: libc::c_uint = libc::AT_EMPTY_PATH as libc::c_uint | libc::AT_RECURSIVE as libc::c_uint;

/// Mount attributes that change nothing, to which single changes are added.
const UNCHANGED: libc::mount_attr = libc::mount_attr { attr_set: 0, attr_clr: 0, propagation: 0, userns_fd: 0 };

/// Opens a path with `O_PATH`; fails if one of its names is a symlink.
pub(super) fn hold(path: impl Arg, more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Makes all mounts private to this namespace, so that changes do not spread to others.
pub(super) fn make_private(root: BorrowedFd<'_>) -> io::Result<()> {
    change(root, WHOLE_TREE, &libc::mount_attr { propagation: libc::MS_PRIVATE, ..UNCHANGED })
}

/// Makes all mounts of the calling process's namespace read-only.
///
/// The kernel returns `EBUSY` while another process writes to a file through `/proc/PID/root` of this process, so the call
/// is made up to [`READ_ONLY_TRIES`] times.
pub(super) fn make_read_only(root: BorrowedFd<'_>) -> io::Result<()> {
    let read_only = libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, ..UNCHANGED };
    for _ in 1..READ_ONLY_TRIES {
        match change(root, WHOLE_TREE, &read_only) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(Duration::from_millis(1)),
            done => return done,
        }
    }
    change(root, WHOLE_TREE, &read_only)
}

/// Maps the owners of a mount by a user namespace. If it maps no owner of a file, not even root can override the file's
/// mode.
pub(super) fn map_owners(mount: &OwnedFd, users: &OwnedFd) -> io::Result<()> {
    let userns_fd = users.as_raw_fd().unsigned_abs().into();
    let owners = libc::mount_attr { attr_set: libc::MOUNT_ATTR_IDMAP, userns_fd, ..UNCHANGED };
    change(mount.as_fd(), libc::AT_EMPTY_PATH.unsigned_abs(), &owners)
}

/// Changes the attributes of a mount, by `mount_setattr`.
fn change(mount: BorrowedFd<'_>, flags: libc::c_uint, change: &libc::mount_attr) -> io::Result<()> {
    let (path, size) = (c"".as_ptr(), size_of::<libc::mount_attr>());
    // SAFETY: the structure is the one the call is defined for, with its size, and outlives the call like the path.
    let done =
        unsafe { libc::syscall(libc::SYS_mount_setattr, mount.as_raw_fd(), path, flags, ptr::from_ref(change), size) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a bind mount of a file or folder that is not attached to a path yet.
pub(super) fn copy(of: impl AsFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(of, c"", flags)
}

/// Mounts a detached mount over an open path.
pub(super) fn attach(mount: impl AsFd, over: impl AsFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, c"", over, c"", flags)
}

/// Makes an overlay of `lower` with the changes in `upper`, not attached to a path yet.
pub(super) fn overlay(lower: &OwnedFd, upper: &OwnedFd, work: &OwnedFd) -> Result<OwnedFd, NoView> {
    let failed = Step::Overlay.failed();
    let system = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC).map_err(&failed)?;
    for (key, layer) in [(c"lowerdir", lower), (c"upperdir", upper), (c"workdir", work)] {
        // Names of folders may contain characters with a meaning in mount options; a number can't.
        let path = format!("/proc/self/fd/{}", layer.as_raw_fd());
        fsconfig_set_string(&system, key, path.as_str()).map_err(&failed)?;
    }
    for (key, value) in [(c"source", c"overlay"), (c"index", c"off"), (c"xino", c"off")] {
        fsconfig_set_string(&system, key, value).map_err(&failed)?;
    }
    // The second: copies are not written to disk at once, and unmounting does not wait for the disk. The commit syncs
    // them.
    for key in [c"userxattr", c"volatile"] {
        fsconfig_set_flag(&system, key).map_err(&failed)?;
    }
    fsconfig_create(&system).map_err(&failed)?;
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
    if fstatvfs(lower).map_err(&failed)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        attributes |= MountAttrFlags::MOUNT_ATTR_NOEXEC;
    }
    fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map_err(&failed)
}

/// A new, empty file system in memory, not mounted at a path yet.
pub(super) fn memory() -> Result<OwnedFd, Errno> {
    let system = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&system)?;
    fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_NODEV)
}
