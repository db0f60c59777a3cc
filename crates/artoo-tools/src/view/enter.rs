//! Entering a view: the mounts a child process makes in a namespace of its own, before it executes a program.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, Mode, OFlags, access, fstat, openat, stat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities};

use super::mount::{attach, copy, hold, make_private, make_read_only, overlay};
use super::problem::{NoView, Step};
use super::{Layer, View};

/// What a child needs to enter a view, prepared before there is one.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    view: &'a View,
    /// Each layer's folder for the kernel.
    work: Vec<PathBuf>,
    /// Places that are covered.
    covered: Vec<&'a Path>,
    /// The user and group that are mapped; `None` where no user namespace is needed.
    mapped: Option<(u32, u32)>,
}

impl<'a> Entry<'a> {
    /// Prepares one run in a view. Content of `left_out` is hidden as well, that of `shown` and below it is not.
    ///
    /// # Errors
    /// When the folders for it can't be made.
    pub(crate) fn new(view: &'a View, left_out: &'a [PathBuf], shown: &[PathBuf]) -> Result<Self, NoView> {
        let work = (0..view.layers.len()).map(|number| view.state.work(number)).collect::<io::Result<_>>();
        let is_shown = |place: &&Path| !shown.iter().any(|shown| place.starts_with(shown));
        let mut covered: Vec<&Path> = view.hidden.iter().map(PathBuf::as_path).filter(is_shown).collect();
        covered.extend(left_out.iter().map(PathBuf::as_path));
        covered.sort_unstable();
        // What lies in a covered folder is covered with it.
        covered.dedup_by(|inner, outer| inner.starts_with(outer));
        covered.retain(|place| could_be_read(place));
        // An administrator's namespace needs no mapping: every owner stays as it is.
        let is_administrator = capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_ADMIN));
        let mapped = (!is_administrator).then(|| (geteuid().as_raw(), getegid().as_raw()));
        Ok(Self { view, work: work.map_err(Step::State.io())?, covered, mapped })
    }

    /// Flags of `clone` for the child that enters.
    pub(crate) fn namespaces(&self) -> libc::c_int {
        libc::CLONE_NEWNS | if self.mapped.is_some() { libc::CLONE_NEWUSER } else { 0 }
    }

    /// Makes the view around the calling child, which is alone in new namespaces. `scratch` stays writable. Returns the
    /// folders that may be changed, as they are in the view.
    ///
    /// # Errors
    /// [`NoView::Refused`] with the step that failed.
    pub(crate) fn enter(&self, scratch: Option<&Path>) -> Result<Vec<OwnedFd>, NoView> {
        if let Some((user, group)) = self.mapped {
            map("setgroups", "deny")?;
            map("uid_map", &format!("{user} {user} 1"))?;
            map("gid_map", &format!("{group} {group} 1"))?;
        }
        let open = Step::Open.failed();
        let state = self.view.state.path();
        let (root, state_folder) = (hold("/", OFlags::DIRECTORY).map_err(&open)?, hold(state, OFlags::DIRECTORY));
        let state_folder = state_folder.map_err(&open)?;
        let (empty, none) = (
            hold(&*self.view.state.empty_folder(), OFlags::empty()),
            hold(&*self.view.state.empty_file(), OFlags::empty()),
        );
        let (empty, none) = (empty.map_err(&open)?, none.map_err(&open)?);
        let lower = |layer: &Layer| hold(&*layer.lower, OFlags::DIRECTORY);
        let lowers: Vec<OwnedFd> = self.view.layers.iter().map(lower).collect::<Result<_, _>>().map_err(&open)?;
        let scratch_folder = scratch.map(|scratch| hold(scratch, OFlags::DIRECTORY)).transpose().map_err(&open)?;

        make_private(root.as_fd()).map_err(Step::Private.io())?;
        // Copied before they are read-only with all others.
        let writable = copy(&state_folder).map_err(Step::Bind.failed())?;
        let writable_scratch = scratch_folder.as_ref().map(copy).transpose().map_err(Step::Bind.failed())?;
        make_read_only(root.as_fd()).map_err(Step::ReadOnly.io())?;
        // Older kernels take no layer from a mount that lies nowhere.
        attach(&writable, &state_folder).map_err(Step::Bind.failed())?;

        let mut overlays = Vec::with_capacity(lowers.len());
        for ((layer, work), lower) in self.view.layers.iter().zip(&self.work).zip(&lowers) {
            let within = |path: &Path| {
                let below = path.strip_prefix(state).unwrap_or(path);
                openat(&writable, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(&open)
            };
            overlays.push(overlay(lower, &within(&layer.upper)?, &within(work)?)?);
        }
        for (overlay, lower) in overlays.iter().zip(&lowers) {
            attach(overlay, lower).map_err(Step::Attach.failed())?;
        }
        if let (Some(path), Some(mount)) = (scratch, writable_scratch) {
            // It may lie in one of the overlays.
            let place = hold(path, OFlags::DIRECTORY).map_err(Step::Bind.failed())?;
            attach(mount, place).map_err(Step::Bind.failed())?;
        }
        for place in &self.covered {
            cover(place, &empty, &none).map_err(Step::Cover.failed())?;
        }
        Ok(overlays)
    }
}

/// Whether the user can read it, or is its owner and could take the right to.
fn could_be_read(place: &Path) -> bool {
    access(place, Access::READ_OK).is_ok() || stat(place).is_ok_and(|found| found.st_uid == geteuid().as_raw())
}

/// Lays an empty file or folder over what stands at a path, if anything does. What a link there leads to is a place of
/// its own.
fn cover(place: &Path, empty: &OwnedFd, none: &OwnedFd) -> Result<(), Errno> {
    let place = match hold(place, OFlags::empty()) {
        Ok(place) => place,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(()),
        Err(error) => return Err(error),
    };
    match FileType::from_raw_mode(fstat(&place)?.st_mode) {
        FileType::Directory => attach(copy(empty)?, &place),
        // Held as itself: where it leads is another place.
        FileType::Symlink => Ok(()),
        FileType::RegularFile
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => attach(copy(none)?, &place),
    }
}

/// Writes one of the child's own settings of its user namespace.
fn map(file: &str, text: &str) -> Result<(), NoView> {
    fs::write(format!("/proc/self/{file}"), text).map_err(Step::Users.io())
}
