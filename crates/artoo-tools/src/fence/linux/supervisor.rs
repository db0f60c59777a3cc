//! Answers the seccomp notifications of a sandboxed program. Landlock decides by whole folders and knows no modes, so
//! some calls are made here on behalf of the program, on files that stay open from the check to the act, so that
//! nothing can be swapped in between. All other calls continue in the kernel, where Landlock still applies.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, StatVfsMountFlags, Timespec, Timestamps, fstat, fstatvfs, linkat, mkdirat,
    openat, renameat_with, symlinkat, unlinkat,
};
use rustix::process::{Pid, Signal, pidfd_send_signal};

use super::call::{self, Call, PathArgument, Subject, TimeFormat};
use super::caller::{self, Caller, DirEntry};
use super::disk::Disk;
use super::incidental;
use super::kernel::{self, Answer, Notification};
use super::network::Substitute;
use super::predict::{Change, Predicted, is_set_id};
use super::rename_folder;
use super::syscalls::{INTERFACE_ADDRESSES, SET_ID_BITS};
use super::temporaries::Temporaries;
use crate::fence::denial::{DENIALS_MAX, Denial};
use crate::fence::reach::session;
use crate::fence::{Fence, NetworkScope, RunKind};
use crate::run_by::run_by;

/// Maximum number of recorded renames; later ones are seen as deleted and new.
const RENAMED_MAX: usize = 10_000;

/// A program whose seccomp notifications artoo receives: its listener and its first process.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) listener: OwnedFd,
    /// The run's first process, which leads its own session from its first instruction on.
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
}

/// Facts about a run that the supervisor records while it answers: denials, renames and sessions.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Denied actions, each once, in the order of the first attempt.
    pub(crate) denied: Vec<Denial>,
    /// The run is being killed for its first denial.
    pub(crate) is_stopped: bool,
    /// The run is being killed for using more than this many bytes of disk space.
    pub(crate) full: Option<u64>,
    /// The run was allowed to use the network and created a socket for it.
    pub(crate) reached_out: bool,
    /// One of its processes may have left the first process's group or session.
    pub(crate) left_group: bool,
    /// Folders renamed in a view: old and new path.
    pub(crate) renamed: Vec<(PathBuf, PathBuf)>,
    /// Files that the run created beside those it may change.
    pub(crate) temporaries: Temporaries,
}

impl Observed {
    /// Whether the run is being killed (for a denial, or for its disk use), so that its calls are no longer answered.
    pub(crate) fn is_being_killed(&self) -> bool {
        self.is_stopped || self.full.is_some()
    }
}

/// The facts about a run, shared between the supervisor and other threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedObserved(Arc<Mutex<Observed>>);

impl SharedObserved {
    /// Locks the recorded facts, waiting for other threads.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Observed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the recorded facts; `None` while another thread has them locked. The monitor must not wait: that thread
    /// may have ended.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Observed>> {
        match self.0.try_lock() {
            Ok(observed) => Some(observed),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Limits that the supervisor enforces on a run: bytes copied to rename a folder, and disk space.
#[derive(Debug)]
pub(crate) struct RunLimits {
    /// Maximum bytes of one copy made for the program.
    pub(crate) file_bytes: u64,
    pub(crate) disk: Disk,
}

/// Answers the system calls of one sandboxed program on which the kernel alone can't decide.
pub(crate) struct Supervisor {
    pub(super) listener: OwnedFd,
    /// The program's temporary folder.
    scratch: PathBuf,
    pub(super) fence: Fence,
    pub(super) kind: RunKind,
    limits: RunLimits,
    first: OwnedFd,
    /// Sessions of the run, by the processes that asked for them.
    pub(super) sessions: HashSet<i32>,
    /// Unix sockets that the program was given instead of others, by inode.
    pub(super) substitutes: HashMap<u64, Substitute>,
    pub(super) observed: SharedObserved,
    /// Held by each thread on which a call waits for the network.
    pub(super) waiting: Arc<()>,
}

/// What the program may do with a path: it is in its temporary folder, approved, or outside of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Landlock allows everything there.
    Writable,
    /// Approved by name, or the program's own.
    Granted,
    Outside,
}

impl Supervisor {
    /// A supervisor for the run of one program. `scratch` is the program's temporary folder.
    pub(crate) fn new(
        Listening { listener, pid, pidfd }: Listening,
        fence: Fence,
        kind: RunKind,
        scratch: &Path,
        limits: RunLimits,
        observed: SharedObserved,
    ) -> Self {
        Self {
            listener,
            scratch: scratch.to_path_buf(),
            fence,
            kind,
            limits,
            first: pidfd,
            sessions: HashSet::from([pid.as_raw_nonzero().get()]),
            substitutes: HashMap::new(),
            observed,
            waiting: Arc::new(()),
        }
    }

    /// Whether the program is killed at its first denial.
    pub(super) fn stops_at_denial(&self) -> bool {
        self.kind == RunKind::Reading
    }

    /// Receives and answers the program's system calls until no process of the run is left, or until `is_over`.
    pub(crate) fn serve(mut self, is_over: impl Fn() -> bool) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // Older kernels report the end only once the last zombie has been waited for.
        let look_every = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            let listener = self.listener.as_fd();
            let mut files = [PollFd::new(&listener, PollFlags::IN)];
            let Ok(ready) = poll(&mut files, Some(&look_every)) else { continue };
            let [events] = files.map(|file| file.revents());
            self.check_disk();
            if events.contains(PollFlags::IN) {
                // Deleted or ended since it was listed.
                let Ok(notification) = kernel::receive(self.listener.as_fd()) else { continue };
                self.answer(notification);
            } else if !events.is_empty() || (ready == 0 && is_over()) {
                // Space that was reserved since the last check counts too.
                self.limits.disk.check_now();
                return self.check_disk();
            }
        }
    }

    /// Kills the run if it exceeds its limit on disk space, and records that.
    fn check_disk(&mut self) {
        let full =
            self.limits.disk.exceeded(|pid| session(pid).is_some_and(|session| self.sessions.contains(&session)));
        let mut observed = self.observed.lock();
        if full.is_some() && !observed.is_being_killed() {
            observed.full = full;
            let _ = pidfd_send_signal(&self.first, Signal::KILL);
        }
    }

    /// The thread that made the system call; in a view, with the view's mounts.
    fn caller(&self, notification: Notification) -> io::Result<Caller> {
        if self.kind == RunKind::View { Caller::in_view(notification.thread) } else { Caller::new(notification.thread) }
    }

    /// The seccomp listener from which notifications of the program's system calls are received.
    fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Handles one seccomp notification: decodes the system call, decides, and sends the answer to the kernel.
    fn answer(&mut self, notification: Notification) {
        let answer = match call::read(notification) {
            _ if self.observed.lock().is_being_killed() => Ok(Answer::NoReply),
            Some(call @ (Call::NewSession | Call::NewGroup)) => self.answer_call(notification, call),
            Some(call) if self.stops_at_denial() => self.answer_reading_run(notification, call),
            Some(call) => self.answer_call(notification, call),
            None => Ok(Answer::Fails(libc::ENOSYS)),
        };
        let answer = answer.unwrap_or_else(|error| Answer::Fails(number(&error)));
        kernel::answer(self.listener(), notification, answer);
    }

    /// Decides about a decoded system call: makes it for the program, denies it, or lets it continue in the kernel.
    pub(super) fn answer_call(&mut self, notification: Notification, call: Call) -> io::Result<Answer> {
        match call {
            Call::NewSession | Call::NewGroup => Ok(self.leave_group(notification, call == Call::NewSession)),
            Call::Socket { family, .. } if family != libc::AF_UNIX && self.network() == NetworkScope::Everything => {
                self.observed.lock().reached_out = true;
                Ok(Answer::Continue)
            }
            Call::Socket { family, kind, protocol } => self.socket(notification, family, kind, protocol),
            Call::Bind { socket, address } => {
                let caller = self.caller(notification)?;
                self.bind(notification, &caller, socket, address)
            }
            Call::Listen => Ok(self.listen()),
            Call::OwnAddress { socket, into } => {
                self.own_address(notification, &self.caller(notification)?, socket, into)
            }
            Call::SetOption { level, option } => Ok(self.set_option(level, option)),
            Call::Send { socket, at, message, flags } if self.network() == NetworkScope::Addresses => {
                self.send_approved(notification, &self.caller(notification)?, socket, at, (message, flags))
            }
            Call::Send { socket, at, message, .. } => Ok(self.send(&self.caller(notification)?, socket, at, message)),
            Call::Request { request, at, .. } if INTERFACE_ADDRESSES.contains(&request) => {
                self.interface_address(notification, &self.caller(notification)?, request, at)
            }
            Call::Mode { of, mode } => self.set_metadata(notification, of, &Change::Mode(mode)),
            Call::Owner { of, user, group } => {
                let some = |id: u32| (id != u32::MAX).then_some(id);
                self.set_metadata(notification, of, &Change::Owner(some(user), some(group)))
            }
            Call::Times { of, address, format } => {
                let times = times(&self.caller(notification)?, address, format)?;
                self.set_metadata(notification, of, &Change::Times(times))
            }
            Call::Remove { path, is_folder } => self.change(notification, [path], |[entry], _| {
                let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                Ok(unlinkat(&entry.folder, &entry.name, flags)?)
            }),
            Call::MakeFolder { path, mode } => self.change(notification, [path], |[entry], caller| {
                Ok(mkdirat(&entry.folder, &entry.name, plain(mode) & !caller.umask())?)
            }),
            Call::Symlink { target, path } => self.change(notification, [path], |[entry], caller| {
                Ok(symlinkat(caller.path(target)?, &entry.folder, &entry.name)?)
            }),
            Call::Rename { from, to, flags } if self.kind == RunKind::View => {
                self.rename_in_view(notification, from, to, RenameFlags::from_bits_retain(flags))
            }
            Call::Rename { from, to, flags } => self.change(notification, [from, to], |[from, to], _| {
                let flags = RenameFlags::from_bits_retain(flags);
                Ok(renameat_with(&from.folder, &from.name, &to.folder, &to.name, flags)?)
            }),
            Call::Link { from, to } => self.change(notification, [from, to], |[from, to], _| {
                Ok(linkat(&from.folder, &from.name, &to.folder, &to.name, AtFlags::empty())?)
            }),
            Call::Truncate { path } | Call::Make { path, .. } => {
                self.change(notification, [path], |_, _| Err(io::Error::from_raw_os_error(libc::EACCES)))
            }
            Call::Open { path, flags, mode } => self.open(notification, path, flags, mode),
            Call::Connect { socket, address: to } => {
                self.connect(notification, &self.caller(notification)?, socket, to)
            }
            Call::Lock { file, waits } => self.lock(&self.caller(notification)?, file, waits),
            Call::Signal { process, signal } => self.caller(notification).map(|_| self.signal(process, signal)),
            Call::SignalThrough { file, signal } => Ok(self.signal_through(&self.caller(notification)?, file, signal)),
            Call::Share { .. }
            | Call::Identity { .. }
            | Call::Request { .. }
            | Call::Attributes { .. }
            | Call::ReadLink { .. }
            | Call::Log { .. }
            | Call::Denied { .. } => Ok(Answer::Fails(libc::EPERM)),
        }
    }

    /// Records that a process leaves its process group or session, and lets the call continue.
    fn leave_group(&mut self, notification: Notification, is_session: bool) -> Answer {
        self.observed.lock().left_group = true;
        if is_session {
            let process = Caller::new(notification.thread).ok().and_then(|caller| caller.process());
            self.sessions.extend(process.map(|pid| pid.as_raw_nonzero().get()));
        }
        Answer::Continue
    }

    /// Renames a folder in a view by copying it, which the overlay can't do; any other rename is left to the kernel.
    fn rename_in_view(
        &self,
        notification: Notification,
        from: PathArgument,
        to: PathArgument,
        flags: RenameFlags,
    ) -> io::Result<Answer> {
        let caller = self.caller(notification)?;
        let (Some(from), Some(to)) = (find_entry(&caller, from), find_entry(&caller, to)) else {
            return Ok(Answer::Continue);
        };
        self.ensure_waiting(notification)?;
        let renamed = rename_folder::rename(&from, &to, flags, self.limits.file_bytes);
        for entry in [&from, &to].into_iter().filter(|entry| !matches!(renamed, Ok(true)) && is_read_only(entry)) {
            self.deny(Denial::Write(entry.path.clone()), Answer::Continue);
        }
        if !renamed? {
            return Ok(Answer::Continue);
        }
        let mut observed = self.observed.lock();
        if observed.renamed.len() < RENAMED_MAX {
            observed.renamed.push((from.path, to.path));
        }
        Ok(Answer::Returns(0))
    }

    /// Sets a file's mode, owner or times on behalf of the program, if the file is approved; otherwise denies it.
    pub(super) fn set_metadata(&self, notification: Notification, of: Subject, change: &Change) -> io::Result<Answer> {
        let file = subject(&self.caller(notification)?, of)?;
        let path = caller::real(&file)?;
        let is_own = caller::is_nameless(&file, &path) || self.observed.lock().temporaries.holds(identity(&file)?);
        if self.access(&path) == Access::Outside && !is_own {
            return Ok(match change.effect(&file) {
                Predicted::Fails(error) if self.stops_at_denial() => Answer::Fails(error),
                Predicted::ChangesNothing if self.stops_at_denial() => Answer::Returns(0),
                Predicted::Fails(_) | Predicted::ChangesNothing | Predicted::Changes => {
                    self.deny(Denial::Metadata(path), Answer::Fails(libc::EPERM))
                }
            });
        }
        if self.stops_at_denial() && matches!(change, Change::Mode(mode) if is_set_id(*mode)) {
            return Ok(self.deny(Denial::Metadata(path), Answer::NoReply));
        }
        self.ensure_waiting(notification)?;
        change.apply(&file)?;
        Ok(Answer::Returns(0))
    }

    /// Makes a change of entries on behalf of the program, if all may be changed and one was approved by name;
    /// otherwise the kernel answers.
    fn change<const N: usize>(
        &self,
        notification: Notification,
        paths: [PathArgument; N],
        act: impl FnOnce(&[DirEntry; N], &Caller) -> io::Result<()>,
    ) -> io::Result<Answer> {
        let caller = self.caller(notification)?;
        let found: Vec<DirEntry> = paths.into_iter().filter_map(|path| find_entry(&caller, path)).collect();
        let Ok(entries) = <[DirEntry; N]>::try_from(found) else { return Ok(Answer::Continue) };
        let accesses = entries.each_ref().map(|entry| self.access_to(entry));
        let denied = entries.iter().zip(accesses).filter(|(_, access)| *access == Access::Outside);
        for (entry, _) in denied.filter(|(entry, _)| !incidental::is_write(&caller, &entry.path)) {
            self.deny(Denial::Write(entry.path.clone()), Answer::Continue);
        }
        if accesses.contains(&Access::Outside) || !accesses.contains(&Access::Granted) {
            return Ok(Answer::Continue);
        }
        self.ensure_waiting(notification)?;
        act(&entries, &caller)?;
        Ok(Answer::Returns(0))
    }

    /// Opens a file for writing on behalf of the program, if it was approved by name, or is a temporary file beside an
    /// approved one.
    fn open(&mut self, notification: Notification, path: PathArgument, flags: OFlags, mode: u32) -> io::Result<Answer> {
        let caller = self.caller(notification)?;
        let Some(entry) = find_entry(&caller, path) else { return Ok(Answer::Continue) };
        let is_new = flags.contains(OFlags::CREATE | OFlags::EXCL);
        let access = self.access_to(&entry);
        // Programs often change a file by writing a new one beside it and renaming that.
        let is_beside = access == Access::Outside && is_new && self.is_beside_granted(&entry.path);
        if access != Access::Granted && !is_beside {
            let is_device = ["/dev", "/proc"].iter().any(|folder| entry.path.starts_with(folder));
            if access == Access::Outside && !is_device && !incidental::is_write(&caller, &entry.path) {
                self.deny(Denial::Write(entry.path), Answer::Continue);
            }
            return Ok(Answer::Continue);
        }
        self.ensure_waiting(notification)?;
        let mode = plain(mode) & !caller.umask();
        // A link at the end could lead to a path that was not approved.
        let open = |entry: &DirEntry| {
            let flags = flags | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
            Ok(openat(&entry.folder, &entry.name, flags, mode)?)
        };
        let file = if is_beside { self.observed.lock().temporaries.make(entry, open)? } else { open(&entry)? };
        kernel::add_file(self.listener(), notification, file.as_fd(), None, flags.contains(OFlags::CLOEXEC))?;
        Ok(Answer::NoReply)
    }

    /// Fails if the thread's system call no longer waits: the thread may have ended and its number may have been
    /// reused.
    pub(super) fn ensure_waiting(&self, notification: Notification) -> io::Result<()> {
        if kernel::still_waits(self.listener(), notification) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// What the program may do with this path: change it, because it is approved or temporary, or not.
    pub(super) fn access(&self, path: &Path) -> Access {
        if self.fence.kept_back.iter().any(|kept| path.starts_with(kept) || kept.starts_with(path)) {
            Access::Outside
        } else if path.starts_with(&self.scratch) {
            Access::Writable
        } else if self.fence.granted.iter().any(|granted| path.starts_with(granted)) {
            Access::Granted
        } else {
            Access::Outside
        }
    }

    /// What the program may do with a directory entry: change it, because it is approved or temporary, or not.
    pub(super) fn access_to(&self, entry: &DirEntry) -> Access {
        let access = self.access(&entry.path);
        let is_own = access == Access::Outside && self.observed.lock().temporaries.stands_at(entry);
        if is_own { Access::Granted } else { access }
    }

    /// Whether a new file of this name may be a temporary file beside an approved one. Names that other programs run
    /// are excluded, since they might be run before the file is removed.
    fn is_beside_granted(&self, path: &Path) -> bool {
        let is_beside = |granted: &PathBuf| granted.parent().is_some() && granted.parent() == path.parent();
        self.fence.granted.iter().any(is_beside) && run_by(path, false).is_none()
    }

    /// Records a denial. A reading run is killed; in any other run the system call gets the answer `otherwise`.
    pub(super) fn deny(&self, denial: Denial, otherwise: Answer) -> Answer {
        let mut observed = self.observed.lock();
        if observed.denied.len() < DENIALS_MAX && !observed.denied.contains(&denial) {
            observed.denied.push(denial);
        }
        if !self.stops_at_denial() {
            return otherwise;
        }
        observed.is_stopped = true;
        // It may have ended already; the monitor kills the remaining processes.
        let _ = pidfd_send_signal(&self.first, Signal::KILL);
        Answer::NoReply
    }
}

/// Opens with `O_PATH` the file whose mode, owner or times a system call sets, by descriptor or path.
pub(super) fn subject(caller: &Caller, of: Subject) -> io::Result<OwnedFd> {
    match of {
        Subject::File(number) => caller.file(number),
        Subject::Path { path, follows } => caller.target(path.folder, &caller.path(path.address)?, follows),
    }
}

/// The directory entry at the caller's path; `None` if the lookup fails, as the call then fails in the kernel too.
fn find_entry(caller: &Caller, path: PathArgument) -> Option<DirEntry> {
    caller.place(path.folder, &caller.path(path.address).ok()?).ok().flatten()
}

/// Whether the entry lies on a read-only mount.
fn is_read_only(entry: &DirEntry) -> bool {
    fstatvfs(&entry.folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// The device and inode of an open file.
fn identity(file: &OwnedFd) -> io::Result<(u64, u64)> {
    let found = fstat(file)?;
    Ok((found.st_dev, found.st_ino))
}

/// A mode without its set-user-id and set-group-id bits.
fn plain(mode: u32) -> Mode {
    Mode::from_raw_mode(SET_ID_BITS.iter().fold(mode, |mode, bit| mode & !bit))
}

/// The error number (`errno`) of an I/O error; `EPERM` if it has none.
pub(super) fn number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EPERM)
}

/// Reads from the caller's memory the times that a call sets on a file; at address 0, the present time.
fn times(caller: &Caller, address: u64, format: TimeFormat) -> io::Result<Timestamps> {
    let now = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
    if address == 0 {
        return Ok(Timestamps { last_access: now, last_modification: now });
    }
    let numbers = |at: u64| Ok::<i64, io::Error>(i64::from_ne_bytes(caller.bytes(address + at)?));
    let pair = |at: u64, scale: i64| {
        Ok::<_, io::Error>(Timespec { tv_sec: numbers(at)?, tv_nsec: numbers(at + 8)?.saturating_mul(scale) })
    };
    let (last_access, last_modification) = match format {
        TimeFormat::Seconds => {
            (Timespec { tv_sec: numbers(0)?, tv_nsec: 0 }, Timespec { tv_sec: numbers(8)?, tv_nsec: 0 })
        }
        TimeFormat::Microseconds => (pair(0, 1000)?, pair(16, 1000)?),
        TimeFormat::Nanoseconds => (pair(0, 1)?, pair(16, 1)?),
    };
    Ok(Timestamps { last_access, last_modification })
}
