//! Reads the memory, files and paths of a thread whose call waits for an answer.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::paths::PATH_MAX_BYTES;

/// `AT_FDCWD`: the working folder, in the form in which a program passes it.
const WORKING_FOLDER: i32 = libc::AT_FDCWD;

/// A thread of the program whose system call waits for the supervisor's answer.
pub(super) struct Caller {
    thread: i32,
    memory: File,
    /// Its root folder, if it runs in a view.
    root: Option<OwnedFd>,
}

/// A directory entry that a call names: the open folder, the name in it, and the real path.
#[derive(Debug)]
pub(super) struct DirEntry {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    pub(super) path: PathBuf,
    /// The path ended in a slash, which is valid for a folder only.
    pub(super) is_slashed: bool,
}

impl Caller {
    /// Opens the memory of the thread with this id, to read its arguments.
    pub(super) fn new(thread: i32) -> io::Result<Self> {
        Ok(Self { thread, memory: File::open(format!("/proc/{thread}/mem"))?, root: None })
    }

    /// A thread in a view, with its root folder opened, so that its paths are resolved among the view's mounts.
    pub(super) fn in_view(thread: i32) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(format!("/proc/{thread}/root"), flags, Mode::empty())?;
        Ok(Self { root: Some(root), ..Self::new(thread)? })
    }

    /// Reads `N` bytes of the calling thread's memory.
    pub(super) fn bytes<const N: usize>(&self, address: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.memory.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    /// Writes bytes to the calling thread's memory.
    pub(super) fn write_memory(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        File::options().write(true).open(format!("/proc/{}/mem", self.thread))?.write_all_at(bytes, address)
    }

    /// Reads `length` bytes of the calling thread's memory.
    pub(super) fn some_bytes(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.memory.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    /// Reads a path argument from the calling thread's memory.
    pub(super) fn path(&self, address: u64) -> io::Result<PathBuf> {
        let mut bytes = vec![0; PATH_MAX_BYTES];
        let read = self.memory.read_at(&mut bytes, address)?;
        bytes.truncate(read);
        let end = bytes.iter().position(|byte| *byte == 0).ok_or(io::ErrorKind::InvalidFilename)?;
        bytes.truncate(end);
        if bytes.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(OsString::from_vec(bytes).into()) }
    }

    /// Opens with `O_PATH` the file behind one of the calling thread's descriptors.
    pub(super) fn file(&self, number: i32) -> io::Result<OwnedFd> {
        Ok(open(format!("/proc/{}/fd/{number}", self.thread), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// Opens again, for reading, the file behind one of the thread's descriptors.
    pub(super) fn open(&self, number: i32) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(open(format!("/proc/{}/fd/{number}", self.thread), flags, Mode::empty())?)
    }

    /// The umask of the calling thread; `0o077` if `/proc` does not tell.
    pub(super) fn umask(&self) -> Mode {
        let mask = self.field("status", "Umask:").and_then(|mask| u32::from_str_radix(&mask, 8).ok());
        Mode::from_raw_mode(mask.unwrap_or(0o077))
    }

    /// The process id of the calling thread.
    pub(super) fn process(&self) -> Option<Pid> {
        self.field("status", "Tgid:")?.parse().ok().and_then(Pid::from_raw)
    }

    /// The value of a field, such as `Uid:`, in a file of the thread's folder in `/proc`.
    fn field(&self, file: &str, name: &str) -> Option<String> {
        let fields = std::fs::read_to_string(format!("/proc/{}/{file}", self.thread)).ok()?;
        fields.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
    }

    /// The flags with which one of the thread's descriptors was opened; `None` if `/proc` does not tell.
    pub(super) fn flags_of(&self, number: i32) -> Option<OFlags> {
        let flags = self.field(&format!("fdinfo/{number}"), "flags:")?;
        u32::from_str_radix(&flags, 8).ok().map(OFlags::from_bits_retain)
    }

    /// The process that one of the calling thread's descriptors stands for: a pidfd or a folder in `/proc`.
    pub(super) fn process_of(&self, number: i32) -> Option<Pid> {
        let made = self.field(&format!("fdinfo/{number}"), "Pid:");
        let folder = || real(&self.file(number).ok()?).ok()?.strip_prefix("/proc").ok()?.to_str().map(str::to_owned);
        made.or_else(folder)?.parse().ok().and_then(Pid::from_raw)
    }

    /// A duplicate of one of the calling thread's file descriptors, in this process.
    pub(super) fn handle(&self, number: i32) -> io::Result<OwnedFd> {
        let process = self.process().ok_or(io::ErrorKind::NotFound)?;
        let process = pidfd_open(process, PidfdFlags::empty())?;
        Ok(pidfd_getfd(&process, number, PidfdGetfdFlags::empty())?)
    }

    /// The file name of the thread's program, and the program's arguments (without its name) from `/proc`; empty if
    /// unreadable.
    pub(super) fn command(&self) -> (OsString, Vec<Vec<u8>>) {
        let program = std::fs::read_link(format!("/proc/{}/exe", self.thread)).unwrap_or_default();
        let arguments = std::fs::read(format!("/proc/{}/cmdline", self.thread)).unwrap_or_default();
        let arguments = arguments.split(|byte| *byte == 0).skip(1).map(<[u8]>::to_vec).collect();
        (program.file_name().unwrap_or_default().to_owned(), arguments)
    }

    /// Opens with `O_PATH` the file at a path as the caller sees it; a symlink in the last part is followed only if
    /// `follows`.
    pub(super) fn target(&self, folder: i32, path: &Path, follows: bool) -> io::Result<OwnedFd> {
        // glibc sets modes through this path, which would be one of this process's own files here.
        if let Some(number) = own_file(path) {
            return self.file(number);
        }
        let link = if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        self.open_path(folder, path, link)
    }

    /// The directory entry at a path as the calling thread sees it; `None` for paths without a name of their own (`/`,
    /// `..`).
    pub(super) fn place(&self, folder: i32, path: &Path) -> io::Result<Option<DirEntry>> {
        let bytes = path.as_os_str().as_bytes();
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let is_slashed = end < bytes.len();
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
        Ok(Some(DirEntry { folder, name, path, is_slashed }))
    }

    /// Opens a path with `O_PATH` as the calling thread would: in its view, relative to this folder, with its own
    /// `/proc/self`.
    fn open_path(&self, folder: i32, path: &Path, more: OFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | more;
        // Magic links in /proc would resolve to this process's own files.
        let resolve = ResolveFlags::NO_MAGICLINKS;
        let own = ["/proc/self", "/proc/thread-self"].iter().find_map(|own| path.strip_prefix(own).ok());
        let own = own.map(|own| Path::new("/proc").join(self.thread.to_string()).join(own));
        let path = own.as_deref().unwrap_or(path);
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

/// The number of the caller's own file descriptor in a path like `/dev/stdin` or `/proc/self/fd/3`; `None` for other
/// paths.
fn own_file(path: &Path) -> Option<i32> {
    let standard = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().position(|known| Path::new(known) == path);
    let number =
        || ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"].iter().find_map(|fd| path.strip_prefix(fd).ok());
    standard.and_then(|number| number.try_into().ok()).or_else(|| number()?.to_str()?.parse().ok())
}

/// The real path of an open file, from `/proc`.
pub(super) fn real(file: &OwnedFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether an open file is a pipe, a socket or a deleted memory file, which no other program can open by a path.
pub(super) fn is_nameless(file: &OwnedFd, path: &Path) -> bool {
    let in_memory = path.as_os_str().as_bytes().starts_with(b"/memfd:");
    !path.is_absolute() || (in_memory && fstat(file).is_ok_and(|found| found.st_nlink == 0))
}
