//! Modes, times and owners set on exactly the thing that was looked at, and names exchanged in one step.

use std::io;

use rustix::fs::{AtFlags, Gid, Mode, Timespec, Timestamps, Uid};
use rustix::io::Errno;

use super::state::Facts;
use crate::beneath::Place;

/// Exchanges two names of a folder; `false` where the file system can't.
pub(super) fn swap(one: &Place, two: &Place) -> io::Result<bool> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(&one.folder, &one.name, &two.folder, &two.name, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn set_facts(place: &Place, facts: &Facts) -> io::Result<()> {
    set_mode(place, facts.mode)?;
    set_time(place, facts)
}

/// The mode of what is opened, so that a link put in its place leads nowhere.
pub(super) fn set_mode(place: &Place, mode: u32) -> io::Result<()> {
    let mode = Mode::from_raw_mode(mode);
    #[cfg(target_os = "linux")]
    {
        use rustix::fd::AsRawFd;
        let opened = place.open_path()?;
        let found = rustix::fs::fstat(&opened)?;
        if rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink() {
            return Err(Errno::LOOP.into());
        }
        Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", opened.as_raw_fd()), mode)?)
    }
    #[cfg(not(target_os = "linux"))]
    Ok(rustix::fs::chmodat(&place.folder, &place.name, mode, AtFlags::SYMLINK_NOFOLLOW)?)
}

pub(super) fn set_time(place: &Place, facts: &Facts) -> io::Result<()> {
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
