//! Opening files and folders in a layer and in the real folders.

use std::ffi::OsStr;
use std::io;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

use crate::openat::Place;
use crate::undo::{chmod_opened, stat, with_mode};

/// An open folder of a layer. If its mode denies the owner access, access is added while it is open and removed
/// afterwards.
pub(super) struct LayerFolder {
    pub(super) folder: OwnedFd,
    lifted: Option<(OwnedFd, u32)>,
}

impl LayerFolder {
    /// Opens a folder of a layer, changing its mode while it is open if that denies access.
    pub(super) fn open(folder: &OwnedFd, name: &OsStr) -> io::Result<Self> {
        let (held, mode) = hold(folder, name)?;
        let mut lifted = None;
        if mode & 0o500 != 0o500 {
            chmod_opened(&held, mode | 0o700)?;
            lifted = Some((held, mode));
        }
        Ok(Self { folder: open_in_layer(folder, name, OFlags::DIRECTORY | OFlags::RDONLY)?, lifted })
    }
}

impl Drop for LayerFolder {
    fn drop(&mut self) {
        if let Some((held, mode)) = &self.lifted {
            // The mode of the layer's own folder is restored. If that fails, the recorded state still has the mode.
            let _ = chmod_opened(held, *mode);
        }
    }
}

/// Opens a name in an open folder; follows no symlink and does not block on a pipe.
pub(super) fn open(folder: &OwnedFd, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// Opens a name in a layer; if its mode denies the owner access, the mode is changed while it is opened.
pub(super) fn open_in_layer(folder: &OwnedFd, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    match open(folder, name, flags) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::ACCESS) => {
            let (held, mode) = hold(folder, name)?;
            with_mode(&held, mode | 0o700, mode, || open(folder, name, flags))
        }
        opened => opened,
    }
}

/// Opens a name in an open folder with `O_PATH`, and returns the handle with its mode.
fn hold(folder: &OwnedFd, name: &OsStr) -> io::Result<(OwnedFd, u32)> {
    let held = openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let mode = fstat(&held)?.st_mode & 0o7777;
    Ok((held, mode))
}

/// The `stat` result of a path, of a symlink itself; `None` if it is missing or can't be read.
pub(super) fn stat_path(path: &std::path::Path) -> Option<Stat> {
    let place = Place::of(path).ok()?;
    stat(&place.folder, &place.name).ok().flatten()
}
