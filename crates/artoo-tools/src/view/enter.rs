//! Entering a view: a child process makes the mounts in a namespace of its own before it executes a program.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, Mode, OFlags, access, fstat, mkdirat, open, openat, stat};
use rustix::io::Errno;
use rustix::process::{WaitOptions, getegid, geteuid, waitpid};
use rustix::thread::{CapabilitySet, capabilities};

use super::mount::{attach, copy, hold, make_private, make_read_only, map_owners, memory, overlay};
use super::problem::{NoView, Step};
use super::{View, child};

/// Everything that a child needs to enter a view, prepared before the child is started.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    view: &'a View,
    /// Each layer's folder for the kernel.
    work: Vec<PathBuf>,
    /// Paths that are covered by an empty file or folder.
    covered: Vec<&'a Path>,
    /// The user and group that are mapped; `None` where no user namespace is needed.
    mapped: Option<(u32, u32)>,
    /// A user namespace that doesn't know the owner of a cover; `None` where modes alone keep the user out.
    strangers: Option<OwnedFd>,
}

impl<'a> Entry<'a> {
    /// Prepares one run in a view. The files of `left_out` are hidden too; a hidden path is readable only if it is
    /// itself in `shown`.
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
        // Everything in a covered folder is covered with it.
        covered.dedup_by(|inner, outer| inner.starts_with(outer));
        // Root's namespace needs no mapping: every owner stays the same.
        let is_administrator = capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_ADMIN));
        let own = (geteuid().as_raw(), getegid().as_raw());
        let mapped = (!is_administrator).then_some(own);
        let strangers = is_administrator.then(|| foreign_user_namespace(own)).transpose()?;
        Ok(Self { view, work: work.map_err(Step::State.failed())?, covered, mapped, strangers })
    }

    /// Flags of `clone` that give the child the namespaces in which it enters the view.
    pub(crate) fn namespaces(&self) -> libc::c_int {
        libc::CLONE_NEWNS | if self.mapped.is_some() { libc::CLONE_NEWUSER } else { 0 }
    }

    /// Makes the mounts of the view in the calling child's own namespaces; returns the folders that may be changed.
    /// `scratch` stays writable.
    ///
    /// # Errors
    /// [`NoView::Refused`] with the step that failed.
    pub(crate) fn enter(&self, scratch: Option<&Path>) -> Result<Vec<OwnedFd>, NoView> {
        if let Some(own) = self.mapped {
            map(own, own)?;
        }
        let open = Step::Open.failed();
        let folder = |path: &Path| hold(path, OFlags::DIRECTORY).map_err(&open);
        let state = self.view.state.path();
        let (root, state_folder) = (folder(Path::new("/"))?, folder(state)?);
        // Opened before there is a writable mount of their folder.
        let empty = folder(&self.view.state.empty_folder())?;
        let none = hold(&*self.view.state.empty_file(), OFlags::empty()).map_err(&open)?;
        let lowers = self.view.layers.iter().map(|layer| folder(&layer.lower));
        let lowers: Vec<OwnedFd> = lowers.collect::<Result<_, _>>()?;
        let scratch_folder = scratch.map(folder).transpose()?;

        make_private(root.as_fd()).map_err(Step::Private.failed())?;
        // Copied before all mounts become read-only.
        let writable = copy(&state_folder).map_err(Step::Bind.failed())?;
        let writable_scratch = scratch_folder.as_ref().map(copy).transpose().map_err(Step::Bind.failed())?;
        make_read_only(root.as_fd()).map_err(Step::ReadOnly.failed())?;
        // Older kernels accept no layer from a detached mount.
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
            // The folder may be in one of the overlays.
            let place = hold(path, OFlags::DIRECTORY).map_err(Step::Bind.failed())?;
            attach(mount, place).map_err(Step::Bind.failed())?;
        }
        let (empty, none) = self.covers(empty, none).map_err(Step::Cover.failed())?;
        for place in &self.covered {
            self.cover(place, &empty, &none).map_err(Step::Cover.failed())?;
        }
        Ok(overlays)
    }

    /// The empty folder and file to mount over hidden paths: the view's own, or new ones in memory where their owners
    /// can't be mapped.
    fn covers(&self, empty: OwnedFd, none: OwnedFd) -> Result<(OwnedFd, OwnedFd), Errno> {
        let Some(strangers) = &self.strangers else { return Ok((empty, none)) };
        if map_owners(&copy(&empty)?, strangers).is_ok() {
            return Ok((empty, none));
        }
        let memory = memory()?;
        attach(&memory, &empty)?;
        mkdirat(&memory, "folder", Mode::empty())?;
        openat(&memory, "file", OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty())?;
        let held = |name| openat(&memory, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        Ok((held("folder")?, held("file")?))
    }

    /// Mounts an empty, inaccessible file or folder over a path, to hide it in the view; does nothing if the path is a
    /// symlink, does not exist or can't be reached.
    fn cover(&self, place: &Path, empty: &OwnedFd, none: &OwnedFd) -> io::Result<()> {
        let place = match hold(place, OFlags::empty()) {
            Ok(place) => place,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let cover = match FileType::from_raw_mode(fstat(&place)?.st_mode) {
            FileType::Directory => copy(empty)?,
            // Opened without following it, since its target has a cover of its own.
            FileType::Symlink => return Ok(()),
            FileType::RegularFile
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => copy(none)?,
        };
        if let Some(strangers) = &self.strangers {
            map_owners(&cover, strangers)?;
        }
        Ok(attach(cover, &place)?)
    }
}

/// Whether the user can read or enter a path, or owns it and could add the permission.
fn could_be_read(place: &Path) -> bool {
    let is_open = |right| access(place, right).is_ok();
    let is_own = || stat(place).is_ok_and(|found| found.st_uid == geteuid().as_raw());
    is_open(Access::READ_OK) || is_open(Access::EXEC_OK) || is_own()
}

/// A user namespace in which user and group have other numbers: files of a mount with these owners have no owner there.
fn foreign_user_namespace((user, group): (u32, u32)) -> Result<OwnedFd, NoView> {
    let mut made = Err(Step::Users.failed()(Errno::INTR));
    let body = || {
        made = map((user ^ 1, group ^ 1), (user, group)).and_then(|()| {
            open("/proc/self/ns/user", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(Step::Users.failed())
        });
        0
    };
    let pid = child::start(libc::CLONE_FILES | libc::CLONE_NEWUSER, body).map_err(Step::Namespaces.failed())?;
    let _ = waitpid(Some(pid), WaitOptions::empty());
    made
}

/// Maps the user and the group of the calling child to these ids in its new user namespace.
fn map(inside: (u32, u32), own: (u32, u32)) -> Result<(), NoView> {
    let set = |file: &str, text: &str| fs::write(format!("/proc/self/{file}"), text).map_err(Step::Users.failed());
    set("setgroups", "deny")?;
    set("uid_map", &format!("{} {} 1", inside.0, own.0))?;
    set("gid_map", &format!("{} {} 1", inside.1, own.1))
}
