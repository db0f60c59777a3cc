//! Names in folders of a layer or below it, and how they are opened.

use std::ffi::OsStr;
use std::io;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

use crate::openat::Place;
use crate::undo::{chmod_opened, stat};

/// How a thing in a layer or below it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The person's own: what can't be opened stays closed.
    Real,
    /// In a layer, where a mode that keeps its owner out is lifted for the moment of opening.
    Layer,
}

/// An open folder of a layer, whose mode is lifted as long as it keeps its owner out.
pub(super) struct LayerFolder {
    pub(super) folder: OwnedFd,
    lifted: Option<(OwnedFd, u32)>,
}

impl LayerFolder {
    pub(super) fn open(folder: &OwnedFd, name: &OsStr) -> io::Result<Self> {
        let held = openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let mode = fstat(&held)?.st_mode & 0o7777;
        let mut lifted = None;
        if mode & 0o500 != 0o500 {
            chmod_opened(&held, mode | 0o700)?;
            lifted = Some((held, mode));
        }
        Ok(Self { folder: open(folder, name, OFlags::DIRECTORY | OFlags::RDONLY, Side::Layer)?, lifted })
    }
}

impl Drop for LayerFolder {
    fn drop(&mut self) {
        if let Some((held, mode)) = &self.lifted {
            // It is the layer's own folder; where this fails its state still tells the mode that was looked at.
            let _ = chmod_opened(held, *mode);
        }
    }
}

/// Opens a file or a folder by its name in an open folder, without following a link or waiting for a pipe.
pub(super) fn open(folder: &OwnedFd, name: &OsStr, flags: OFlags, side: Side) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let reopen = || Ok(openat(folder, name, flags, Mode::empty())?);
    match openat(folder, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) if side == Side::Layer => {
            let held = openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            let mode = fstat(&held)?.st_mode & 0o7777;
            with_mode(&held, mode | 0o700, mode, reopen)
        }
        opened => Ok(opened?),
    }
}

/// Does something while a thing of a layer has another mode.
pub(super) fn with_mode<T>(held: &OwnedFd, open: u32, mode: u32, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    chmod_opened(held, open)?;
    let done = act();
    chmod_opened(held, mode)?;
    done
}

/// What stands at a path; `None` where nothing does, or where its folder is missing.
pub(super) fn stat_path(path: &std::path::Path) -> Option<Stat> {
    let place = Place::of(path).ok()?;
    stat(&place.folder, &place.name).ok().flatten()
}
