//! Entering a view: the mounts a child process makes in a namespace of its own, before it executes a program.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, Mode, OFlags, access, fstat, openat, stat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities};

use super::View;
use super::mount::{attach, copy, hold, make_private, make_read_only, overlay};
use super::problem::{NoView, Step};

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
    /// Prepares one run in a view. Content of `left_out` is hidden as well; a hidden place is shown only if it is itself
    /// among `shown`, never with a folder above it.
    ///
    /// # Errors
    /// When the folders for it can't be made.
    pub(crate) fn new(view: &'a View, left_out: &'a [PathBuf], shown: &[PathBuf]) -> Result<Self, NoView> {
        let work = (0..view.layers.len()).map(|number| view.state.work(number)).collect::<io::Result<_>>();
        let is_hidden = |place: &&Path| !shown.iter().any(|shown| place == shown);
        let mut covered: Vec<&Path> = view.hidden.iter().map(PathBuf::as_path).filter(is_hidden).collect();
        covered.extend(left_out.iter().map(PathBuf::as_path));
        covered.retain(|place| could_be_read(place));
        covered.sort_unstable();
        // What lies in a covered folder is covered with it.
        covered.dedup_by(|inner, outer| inner.starts_with(outer));
        // An administrator's namespace needs no mapping: every owner stays as it is.
        let is_administrator = capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_ADMIN));
        let mapped = (!is_administrator).then(|| (geteuid().as_raw(), getegid().as_raw()));
        Ok(Self { view, work: work.map_err(Step::State.failed())?, covered, mapped })
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
        let folder = |path: &Path| hold(path, OFlags::DIRECTORY).map_err(&open);
        let state = self.view.state.path();
        let (root, state_folder) = (folder(Path::new("/"))?, folder(state)?);
        let empty = folder(&self.view.state.empty_folder())?;
        let none = hold(&*self.view.state.empty_file(), OFlags::empty()).map_err(&open)?;
        let lowers = self.view.layers.iter().map(|layer| folder(&layer.lower));
        let lowers: Vec<OwnedFd> = lowers.collect::<Result<_, _>>()?;
        let scratch_folder = scratch.map(folder).transpose()?;

        make_private(root.as_fd()).map_err(Step::Private.failed())?;
        // Copied before they are read-only with all others.
        let writable = copy(&state_folder).map_err(Step::Bind.failed())?;
        let writable_scratch = scratch_folder.as_ref().map(copy).transpose().map_err(Step::Bind.failed())?;
        make_read_only(root.as_fd()).map_err(Step::ReadOnly.failed())?;
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

/// Whether the user can read it or enter it, or is its owner and could take the right to.
fn could_be_read(place: &Path) -> bool {
    let is_open = |right| access(place, right).is_ok();
    let is_own = || stat(place).is_ok_and(|found| found.st_uid == geteuid().as_raw());
    is_open(Access::READ_OK) || is_open(Access::EXEC_OK) || is_own()
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
    fs::write(format!("/proc/self/{file}"), text).map_err(Step::Users.failed())
}
