//! Modes, times and owners set on exactly the thing that was looked at, and names exchanged in one step.

use std::io;

use rustix::fs::{AtFlags, Gid, Mode, Timespec, Timestamps, Uid};
use rustix::io::Errno;

use super::state::Facts;
use crate::files;
use crate::openat::Place;

/// What a folder's owner needs to change what is in it.
pub(super) const OWNER: u32 = 0o700;

/// Exchanges two names; `false` where the file system can't.
pub(super) fn swap(one: &Place, two: &Place) -> io::Result<bool> {
    use rustix::fs::{RenameFlags, renameat_with};
    let exchange = || renameat_with(&one.folder, &one.name, &two.folder, &two.name, RenameFlags::EXCHANGE);
    match opened(one, || opened(two, exchange)) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Renames without replacing, a folder also where its own mode keeps it from being moved.
pub(super) fn shift(from: &Place, to: &Place) -> Result<(), Errno> {
    opened(from, || files::rename(from, to))
}

/// Does it once more with a folder that its owner may write to, if that is what it failed for; the mode stays.
fn opened(place: &Place, act: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    match act() {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => {
            let denied = |_| Errno::ACCESS;
            let folder = place.open_path().map_err(denied)?;
            let found = rustix::fs::fstat(&folder)?;
            let mode = found.st_mode & 0o7777;
            if !rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() || mode & 0o700 == 0o700 {
                return Err(Errno::ACCESS);
            }
            chmod_opened(&folder, mode | 0o700).map_err(denied)?;
            let done = act();
            chmod_opened(&folder, mode).map_err(denied)?;
            done
        }
        done => done,
    }
}

/// Sets the mode of what a descriptor that only names it leads to.
#[cfg(target_os = "linux")]
pub(crate) fn chmod_opened(opened: &rustix::fd::OwnedFd, mode: u32) -> io::Result<()> {
    use rustix::fd::AsRawFd;
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", opened.as_raw_fd()), Mode::from_raw_mode(mode))?)
}

pub(super) fn set_facts(place: &Place, facts: &Facts) -> io::Result<()> {
    set_mode(place, facts.mode)?;
    set_time(place, facts)
}

/// The mode of what is opened, so that a link put in its place leads nowhere.
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

pub(crate) fn set_time(place: &Place, facts: &Facts) -> io::Result<()> {
    let time = Timespec { tv_sec: facts.modified_s, tv_nsec: facts.modified_ns.into() };
    let times = Timestamps { last_access: time, last_modification: time };
    Ok(rustix::fs::utimensat(&place.folder, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Gives a thing back to whom it belonged, where this process may.
pub(super) fn set_owner(place: &Place, facts: &Facts) {
    let (owner, group) = (Uid::from_raw(facts.owner), Gid::from_raw(facts.group));
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    // An ordinary user can't give things away, and then they were their own.
    let _ = rustix::fs::chownat(&place.folder, &place.name, Some(owner), Some(group), flags);
}
