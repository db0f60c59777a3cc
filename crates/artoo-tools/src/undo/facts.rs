//! Sets modes, times and owners, and exchanges and moves names, without following symlinks.

use std::io;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Gid, Mode, Timespec, Timestamps, Uid};
use rustix::io::Errno;

use super::state::Facts;
use crate::files;
use crate::openat::Place;

/// Mode bits that a folder's owner needs to change its entries.
pub(crate) const OWNER: u32 = 0o700;

/// Exchanges two files or folders in one step; `false` if the file system does not support it.
pub(super) fn swap(one: &Place, two: &Place) -> io::Result<bool> {
    use rustix::fs::{RenameFlags, renameat_with};
    let exchange = || renameat_with(&one.folder, &one.name, &two.folder, &two.name, RenameFlags::EXCHANGE);
    match opened(one, || opened(two, exchange)) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Renames a file or folder without replacing another; also moves a folder whose own mode would prevent that.
pub(super) fn shift(from: &Place, to: &Place) -> Result<(), Errno> {
    opened(from, || files::rename(from, to))
}

/// Runs `act`, and if a folder's own mode prevents it, again with the folder made writable meanwhile.
fn opened(place: &Place, act: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    match act() {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => {
            let denied = |_: io::Error| Errno::ACCESS;
            let folder = place.open_path().map_err(denied)?;
            let found = rustix::fs::fstat(&folder)?;
            let mode = found.st_mode & 0o7777;
            if !rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() || mode & OWNER == OWNER {
                return Err(Errno::ACCESS);
            }
            with_mode(&folder, mode | OWNER, mode, || Ok(act())).map_err(denied)?
        }
        done => done,
    }
}

/// Sets the mode of a file opened with `O_PATH`.
#[cfg(target_os = "linux")]
pub(crate) fn chmod_opened(opened: &OwnedFd, mode: u32) -> io::Result<()> {
    use rustix::fd::AsRawFd;
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", opened.as_raw_fd()), Mode::from_raw_mode(mode))?)
}

/// Runs `act` while the file has the mode `open`, then sets `mode`.
#[cfg(target_os = "linux")]
pub(crate) fn with_mode<T>(held: &OwnedFd, open: u32, mode: u32, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    chmod_opened(held, open)?;
    let done = act();
    chmod_opened(held, mode)?;
    done
}

/// Sets the mode and the modification time recorded in a state on a file or folder.
pub(super) fn set_facts(place: &Place, facts: &Facts) -> io::Result<()> {
    set_mode(place, facts.mode)?;
    set_time(place, facts)
}

/// Sets the mode through a descriptor, so that a symlink put at the name is not followed.
pub(super) fn set_mode(place: &Place, mode: u32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let opened = place.open_path()?;
        let found = rustix::fs::fstat(&opened)?;
        if rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink() {
            return Err(Errno::LOOP.into());
        }
        chmod_opened(&opened, mode)
    }
    #[cfg(not(target_os = "linux"))]
    Ok(rustix::fs::chmodat(&place.folder, &place.name, Mode::from_raw_mode(mode), AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Sets the modification time of a place, and its access time, to the modification time in these facts.
pub(crate) fn set_time(place: &Place, facts: &Facts) -> io::Result<()> {
    let time = Timespec { tv_sec: facts.modified_s, tv_nsec: facts.modified_ns.into() };
    let times = Timestamps { last_access: time, last_modification: time };
    Ok(rustix::fs::utimensat(&place.folder, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Sets owner and group of a place; ignores an error, since an ordinary user can't set another one.
pub(super) fn set_owner(place: &Place, facts: &Facts) {
    let (owner, group) = (Uid::from_raw(facts.owner), Gid::from_raw(facts.group));
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    // An ordinary user can't give files away, so they had the right owner before.
    let _ = rustix::fs::chownat(&place.folder, &place.name, Some(owner), Some(group), flags);
}
