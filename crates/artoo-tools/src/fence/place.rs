//! What a fenced program means by a path, looked up for it from outside.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};

use crate::paths::PATH_MAX_BYTES;

/// A folder of this process or "the working folder", as a program passes it.
const WORKING_FOLDER: i32 = libc::AT_FDCWD;

/// A thread whose call is looked at.
pub(super) struct Caller {
    thread: i32,
    memory: File,
    /// Its root folder, where that is another one than ours.
    root: Option<OwnedFd>,
}

/// An entry of a folder: the folder held open, and where the entry really lies.
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    pub(super) path: PathBuf,
}

impl Caller {
    pub(super) fn new(thread: i32) -> io::Result<Self> {
        Ok(Self { thread, memory: File::open(format!("/proc/{thread}/mem"))?, root: None })
    }

    /// A thread with mounts of its own: its paths are looked up among those.
    pub(super) fn in_view(thread: i32) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(format!("/proc/{thread}/root"), flags, Mode::empty())?;
        Ok(Self { root: Some(root), ..Self::new(thread)? })
    }

    /// Bytes at an address of its memory.
    pub(super) fn bytes<const N: usize>(&self, address: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.memory.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    /// The path at an address of its memory.
    pub(super) fn path(&self, address: u64) -> io::Result<PathBuf> {
        let mut bytes = vec![0; PATH_MAX_BYTES];
        let read = self.memory.read_at(&mut bytes, address)?;
        bytes.truncate(read);
        let end = bytes.iter().position(|byte| *byte == 0).ok_or(io::ErrorKind::InvalidFilename)?;
        bytes.truncate(end);
        if bytes.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(OsString::from_vec(bytes).into()) }
    }

    /// A file it has open.
    pub(super) fn file(&self, number: i32) -> io::Result<OwnedFd> {
        Ok(open(format!("/proc/{}/fd/{number}", self.thread), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// The bits it takes from the modes of new files.
    pub(super) fn umask(&self) -> Mode {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.thread)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        Mode::from_raw_mode(line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077))
    }

    /// Where a path leads, without following a link in its last part unless asked to.
    pub(super) fn target(&self, folder: i32, path: &Path, follows: bool) -> io::Result<OwnedFd> {
        // glibc sets modes through this; here it would be a file of ours.
        if let Some(number) = path.strip_prefix("/proc/self/fd").ok().and_then(|number| number.to_str()?.parse().ok()) {
            return self.file(number);
        }
        let link = if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        self.open_path(folder, path, link)
    }

    /// The entry a path names; `None` where it names no entry of its own (`/`, `..`).
    pub(super) fn place(&self, folder: i32, path: &Path) -> io::Result<Option<Place>> {
        let bytes = path.as_os_str().as_bytes();
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let bytes = bytes.get(..end).unwrap_or_default();
        let (parent, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (bytes.get(..=slash).unwrap_or_default(), bytes.get(slash + 1..).unwrap_or_default()),
            None => (&b"."[..], bytes),
        };
        if matches!(name, b"" | b"." | b"..") {
            return Ok(None);
        }
        let folder = self.open_path(folder, Path::new(OsStr::from_bytes(parent)), OFlags::DIRECTORY)?;
        let name = OsStr::from_bytes(name).to_owned();
        let path = real(&folder)?.join(&name);
        Ok(Some(Place { folder, name, path }))
    }

    fn open_path(&self, folder: i32, path: &Path, more: OFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | more;
        // Links of /proc that are no paths would lead to our own files instead of the program's.
        let resolve = ResolveFlags::NO_MAGICLINKS;
        if let Some(root) = &self.root {
            let start = match folder {
                WORKING_FOLDER => format!("/proc/{}/cwd", self.thread),
                number => format!("/proc/{}/fd/{number}", self.thread),
            };
            let path = if path.is_absolute() { path.to_path_buf() } else { std::fs::read_link(start)?.join(path) };
            return Ok(openat2(root, path, flags, Mode::empty(), resolve | ResolveFlags::IN_ROOT)?);
        }
        if path.is_absolute() {
            return Ok(openat2(CWD, path, flags, Mode::empty(), resolve)?);
        }
        let base = if folder == WORKING_FOLDER {
            open(format!("/proc/{}/cwd", self.thread), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?
        } else {
            self.file(folder)?
        };
        Ok(openat2(&base, path, flags, Mode::empty(), resolve)?)
    }
}

/// The path of an open file as the system knows it.
pub(super) fn real(file: &OwnedFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
