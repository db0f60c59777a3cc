//! Answers what a fenced program asks about: modes, owners and times everywhere, and entries that were allowed by name.
//!
//! Landlock decides by whole folders and knows no modes. What it can't tell apart is made here for the program, on files
//! held open from the look to the act, so that nothing can be swapped in between. Whatever is not made here goes on to
//! the kernel, where Landlock still holds it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, StatVfsMountFlags, Timespec, Timestamps, fstat, fstatvfs, linkat, mkdirat,
    openat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::process::{Pid, Signal, pidfd_send_signal};

use super::call::{self, Call, PathArgument, Subject, TimeFormat};
use super::caller::{self, Caller, DirEntry};
use super::disk::Disk;
use super::kernel::{self, Answer, Notification};
use super::network::StandIn;
use super::predict::{Change, Predicted, acts};
use super::rename_folder;
use super::syscalls::{ACTING_BITS, INTERFACE_ADDRESSES};
use crate::fence::denial::{DENIALS_MAX, Denial};
use crate::fence::reach::session;
use crate::fence::{Fence, NetworkScope, Reach, RunKind};

/// Renamed folders remembered; of a program that renames more, the rest is seen as deleted and new.
const RENAMED_MAX: usize = 10_000;

/// A program whose calls are answered.
#[derive(Debug)]
pub(crate) struct Asking {
    /// What it asks is answered through this.
    pub(crate) listener: OwnedFd,
    /// Its first process, which has a session of its own, made before the program's first instruction.
    pub(crate) pid: Pid,
    /// The same process as a file.
    pub(crate) pidfd: OwnedFd,
}

/// What was seen of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    /// What it was denied, each act once, in the order of the first tries.
    pub(crate) denied: Vec<Denial>,
    /// The run is being killed for the first of these.
    pub(crate) is_stopped: bool,
    /// The run is being killed since it used more than these bytes of disk space.
    pub(crate) full: Option<u64>,
    /// It was let onto the network and made a socket there.
    pub(crate) reached_out: bool,
    /// One of its processes has, or may have, left the group and session in which the first one began.
    pub(crate) left_group: bool,
    /// Folders it renamed in a view, from where to where.
    pub(crate) renamed: Vec<(PathBuf, PathBuf)>,
}

impl Observed {
    /// Whether nothing is to be answered any more.
    pub(crate) fn is_being_killed(&self) -> bool {
        self.is_stopped || self.full.is_some()
    }
}

/// What is seen, shared between the one who writes and those who read.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedObserved(Arc<Mutex<Observed>>);

impl SharedObserved {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Observed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits that are watched here.
#[derive(Debug)]
pub(crate) struct Most {
    /// Bytes that are copied for the program at once.
    pub(crate) file_bytes: u64,
    pub(crate) disk: Disk,
}

/// Answers for one program.
pub(crate) struct Supervisor {
    pub(super) listener: OwnedFd,
    /// The program's own temporary folder.
    scratch: PathBuf,
    granted: Vec<PathBuf>,
    kept_back: Vec<PathBuf>,
    pub(super) reach: Reach,
    pub(super) kind: RunKind,
    most: Most,
    /// The first process.
    first: OwnedFd,
    /// Processes that have a session of their own or asked for one: who is in one of these came of the program.
    pub(super) sessions: HashSet<i32>,
    /// Sockets of the program that only look like ones of the internet, by their numbers.
    pub(super) stand_ins: HashMap<u64, StandIn>,
    /// Files the program has made beside those it may change, by device and number: its own temporary files.
    made: BTreeSet<(u64, u64)>,
    pub(super) notes: SharedObserved,
    /// Held by each thread on which a call waits for the network.
    pub(super) waiting: Arc<()>,
}

/// What a path is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// In a folder in which Landlock lets it do everything.
    Writable,
    /// Allowed by name, or its own.
    Granted,
    Outside,
}

impl Supervisor {
    /// `scratch` is the program's own temporary folder.
    pub(crate) fn new(
        Asking { listener, pid, pidfd }: Asking,
        fence: &Fence,
        kind: RunKind,
        scratch: &Path,
        most: Most,
        notes: SharedObserved,
    ) -> Self {
        Self {
            listener,
            scratch: scratch.to_path_buf(),
            granted: fence.granted.clone(),
            kept_back: fence.kept_back.clone(),
            reach: fence.reach.clone(),
            kind,
            most,
            first: pidfd,
            sessions: HashSet::from([pid.as_raw_nonzero().get()]),
            stand_ins: HashMap::new(),
            made: BTreeSet::new(),
            notes,
            waiting: Arc::new(()),
        }
    }

    /// Whether the program is killed at its first denial.
    pub(super) fn stops_at_denial(&self) -> bool {
        self.kind == RunKind::Reading
    }

    /// Answers until nobody is left who could ask, or `is_over` says so.
    pub(crate) fn serve(mut self, is_over: impl Fn() -> bool) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // Older kernels say that nobody is left only when the last zombie has been fetched.
        let look_every = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            let listener = self.listener.as_fd();
            let mut files = [PollFd::new(&listener, PollFlags::IN)];
            let Ok(ready) = poll(&mut files, Some(&look_every)) else { continue };
            let [events] = files.map(|file| file.revents());
            self.watch_disk();
            if events.contains(PollFlags::IN) {
                // Gone again in the meantime.
                let Ok(asked) = kernel::receive(self.listener.as_fd()) else { continue };
                self.answer(asked);
            } else if !events.is_empty() || (ready == 0 && is_over()) {
                return;
            }
        }
    }

    /// Kills the run if it has used more disk space than it may.
    fn watch_disk(&mut self) {
        let full = self.most.disk.exceeded(|pid| session(pid).is_some_and(|session| self.sessions.contains(&session)));
        let mut seen = self.notes.seen();
        if full.is_some() && !seen.is_being_killed() {
            seen.full = full;
            let _ = pidfd_send_signal(&self.first, Signal::KILL);
        }
    }

    /// The thread that made a call, with the mounts among which its paths are looked up.
    fn caller(&self, asked: Notification) -> io::Result<Caller> {
        if self.kind == RunKind::View { Caller::in_view(asked.thread) } else { Caller::new(asked.thread) }
    }

    fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn answer(&mut self, asked: Notification) {
        let answer = match call::read(asked) {
            _ if self.notes.seen().is_being_killed() => Ok(Answer::NoReply),
            Some(call @ (Call::NewSession | Call::NewGroup)) => self.other(asked, call),
            Some(call) if self.stops_at_denial() => self.reading_run(asked, call),
            Some(call) => self.other(asked, call),
            None => Ok(Answer::Fails(libc::ENOSYS)),
        };
        let answer = answer.unwrap_or_else(|error| Answer::Fails(number(&error)));
        kernel::answer(self.listener(), asked, answer);
    }

    pub(super) fn other(&mut self, asked: Notification, call: Call) -> io::Result<Answer> {
        match call {
            Call::NewSession | Call::NewGroup => {
                self.notes.seen().left_group = true;
                if call == Call::NewSession {
                    let process = Caller::new(asked.thread).ok().and_then(|caller| caller.process());
                    self.sessions.extend(process.map(|pid| pid.as_raw_nonzero().get()));
                }
                Ok(Answer::Continue)
            }
            Call::Socket { family, .. } if family != libc::AF_UNIX && self.network() == NetworkScope::Everything => {
                self.notes.seen().reached_out = true;
                Ok(Answer::Continue)
            }
            Call::Socket { family, kind, protocol } => self.socket(asked, family, kind, protocol),
            Call::Bind { socket, address } => {
                let caller = self.caller(asked)?;
                self.bind(asked, &caller, socket, address)
            }
            Call::Listen => Ok(self.listening()),
            Call::OwnAddress { socket, into } => self.own_address(asked, &self.caller(asked)?, socket, into),
            Call::SetOption { level, option } => Ok(self.option(level, option)),
            Call::Send { socket, at, message, flags } if self.network() == NetworkScope::Addresses => {
                self.send_approved(asked, &self.caller(asked)?, socket, at, (message, flags))
            }
            Call::Send { socket, at, message, .. } => Ok(self.send(&self.caller(asked)?, socket, at, message)),
            Call::Request { request, at, .. } if INTERFACE_ADDRESSES.contains(&request) => {
                self.interface_address(asked, &self.caller(asked)?, request, at)
            }
            Call::Mode { of, mode } => self.fact(asked, of, &Change::Mode(mode)),
            Call::Owner { of, user, group } => {
                let some = |id: u32| (id != u32::MAX).then_some(id);
                self.fact(asked, of, &Change::Owner(some(user), some(group)))
            }
            Call::Times { of, address, format } => {
                let times = times(&self.caller(asked)?, address, format)?;
                self.fact(asked, of, &Change::Times(times))
            }
            Call::Remove { path, is_folder } => self.change(asked, [path], |[entry], _| {
                let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                Ok(unlinkat(&entry.folder, &entry.name, flags)?)
            }),
            Call::MakeFolder { path, mode } => self.change(asked, [path], |[entry], caller| {
                Ok(mkdirat(&entry.folder, &entry.name, plain(mode) & !caller.umask())?)
            }),
            Call::Symlink { target, path } => self.change(asked, [path], |[entry], caller| {
                Ok(symlinkat(caller.path(target)?, &entry.folder, &entry.name)?)
            }),
            Call::Rename { from, to, flags } if self.kind == RunKind::View => {
                self.rename_in_view(asked, from, to, RenameFlags::from_bits_retain(flags))
            }
            Call::Rename { from, to, flags } => self.change(asked, [from, to], |[from, to], _| {
                let flags = RenameFlags::from_bits_retain(flags);
                Ok(renameat_with(&from.folder, &from.name, &to.folder, &to.name, flags)?)
            }),
            Call::Link { from, to } => self.change(asked, [from, to], |[from, to], _| {
                Ok(linkat(&from.folder, &from.name, &to.folder, &to.name, AtFlags::empty())?)
            }),
            Call::Truncate { path } | Call::Make { path, .. } => {
                self.change(asked, [path], |_, _| Err(io::Error::from_raw_os_error(libc::EACCES)))
            }
            Call::Open { path, flags, mode } => self.open(asked, path, flags, mode),
            Call::Connect { socket, address } => self.connect(asked, &self.caller(asked)?, socket, address),
            Call::Lock { file, waits } => self.lock(&self.caller(asked)?, file, waits),
            Call::Signal { process, signal } => self.caller(asked).map(|_| self.signal(process, signal)),
            Call::SignalThrough { file, signal } => Ok(self.signal_through(&self.caller(asked)?, file, signal)),
            Call::Share { .. }
            | Call::Identity { .. }
            | Call::Request { .. }
            | Call::Attributes { .. }
            | Call::ReadLink { .. }
            | Call::Log { .. }
            | Call::Denied { .. } => Ok(Answer::Fails(libc::EPERM)),
        }
    }

    /// Renames a folder in a view, where the kernel alone would not; anything else is left to it.
    fn rename_in_view(
        &self,
        asked: Notification,
        from: PathArgument,
        to: PathArgument,
        flags: RenameFlags,
    ) -> io::Result<Answer> {
        let caller = self.caller(asked)?;
        let (Some(from), Some(to)) = (look(&caller, from), look(&caller, to)) else { return Ok(Answer::Continue) };
        self.must_wait(asked)?;
        let renamed = rename_folder::rename(&from, &to, flags, self.most.file_bytes);
        for entry in [&from, &to].into_iter().filter(|entry| !matches!(renamed, Ok(true)) && is_read_only(entry)) {
            self.deny(Denial::Write(entry.path.clone()), Answer::Continue);
        }
        if !renamed? {
            return Ok(Answer::Continue);
        }
        let mut seen = self.notes.seen();
        if seen.renamed.len() < RENAMED_MAX {
            seen.renamed.push((from.path, to.path));
        }
        Ok(Answer::Returns(0))
    }

    /// Changes a mode, an owner or times of what may be changed. The kernel would not look, so it never goes on to it.
    pub(super) fn fact(&self, asked: Notification, of: Subject, change: &Change) -> io::Result<Answer> {
        let file = subject(&self.caller(asked)?, of)?;
        let path = caller::real(&file)?;
        let is_own = caller::is_nameless(&file, &path) || self.made.contains(&identity(&file)?);
        if self.access(&path) == Access::Outside && !is_own {
            return Ok(match change.effect(&file) {
                Predicted::Fails(error) if self.stops_at_denial() => Answer::Fails(error),
                Predicted::ChangesNothing if self.stops_at_denial() => Answer::Returns(0),
                Predicted::Fails(_) | Predicted::ChangesNothing | Predicted::Changes => {
                    self.deny(Denial::Metadata(path), Answer::Fails(libc::EPERM))
                }
            });
        }
        if self.stops_at_denial() && matches!(change, Change::Mode(mode) if acts(*mode)) {
            return Ok(self.deny(Denial::Metadata(path), Answer::NoReply));
        }
        self.must_wait(asked)?;
        change.apply(&file)?;
        Ok(Answer::Returns(0))
    }

    /// Changes entries if all may be changed and one of them was approved by name. The kernel answers for any others.
    fn change<const N: usize>(
        &self,
        asked: Notification,
        paths: [PathArgument; N],
        act: impl FnOnce(&[DirEntry; N], &Caller) -> io::Result<()>,
    ) -> io::Result<Answer> {
        let caller = self.caller(asked)?;
        let found: Vec<DirEntry> = paths.into_iter().filter_map(|path| look(&caller, path)).collect();
        let Ok(entries) = <[DirEntry; N]>::try_from(found) else { return Ok(Answer::Continue) };
        let accesses = entries.each_ref().map(|entry| self.access_to(entry));
        for (entry, _) in entries.iter().zip(accesses).filter(|(_, access)| *access == Access::Outside) {
            self.deny(Denial::Write(entry.path.clone()), Answer::Continue);
        }
        if accesses.contains(&Access::Outside) || !accesses.contains(&Access::Granted) {
            return Ok(Answer::Continue);
        }
        self.must_wait(asked)?;
        act(&entries, &caller)?;
        Ok(Answer::Returns(0))
    }

    /// Opens a file to be written where it was approved by name, and hands it over.
    fn open(&mut self, asked: Notification, path: PathArgument, flags: OFlags, mode: u32) -> io::Result<Answer> {
        let caller = self.caller(asked)?;
        let Some(place) = look(&caller, path) else { return Ok(Answer::Continue) };
        let is_new = flags.contains(OFlags::CREATE | OFlags::EXCL);
        let access = self.access_to(&place);
        // A program that changes a file often makes a new one beside it first and puts it in its place.
        let is_beside = access == Access::Outside && is_new && self.is_beside_granted(&place.path);
        if access != Access::Granted && !is_beside {
            if access == Access::Outside && !place.path.starts_with("/dev") && !place.path.starts_with("/proc") {
                self.deny(Denial::Write(place.path), Answer::Continue);
            }
            return Ok(Answer::Continue);
        }
        self.must_wait(asked)?;
        let mode = plain(mode) & !caller.umask();
        // A link at the end would lead to what nobody has allowed.
        let file =
            openat(&place.folder, &place.name, flags | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC, mode)?;
        if is_beside {
            self.made.insert(identity(&file)?);
        }
        kernel::add_file(self.listener(), asked, file.as_fd(), None, flags.contains(OFlags::CLOEXEC))?;
        Ok(Answer::NoReply)
    }

    /// What was looked up by a thread's number was that thread's, if its call still waits.
    pub(super) fn must_wait(&self, asked: Notification) -> io::Result<()> {
        if kernel::still_waits(self.listener(), asked) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    pub(super) fn access(&self, path: &Path) -> Access {
        if self.kept_back.iter().any(|kept| path.starts_with(kept) || kept.starts_with(path)) {
            Access::Outside
        } else if path.starts_with(&self.scratch) {
            Access::Writable
        } else if self.granted.iter().any(|granted| path.starts_with(granted)) {
            Access::Granted
        } else {
            Access::Outside
        }
    }

    pub(super) fn access_to(&self, place: &DirEntry) -> Access {
        let access = self.access(&place.path);
        if access == Access::Outside && self.is_made(place) { Access::Granted } else { access }
    }

    fn is_made(&self, place: &DirEntry) -> bool {
        let found = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| self.made.contains(&(found.st_dev, found.st_ino)))
    }

    fn is_beside_granted(&self, path: &Path) -> bool {
        self.granted.iter().any(|granted| granted.parent().is_some() && granted.parent() == path.parent())
    }

    /// Remembers what was denied. A reading run is killed for it; any other gets this answer.
    pub(super) fn deny(&self, denial: Denial, otherwise: Answer) -> Answer {
        let mut seen = self.notes.seen();
        if seen.denied.len() < DENIALS_MAX && !seen.denied.contains(&denial) {
            seen.denied.push(denial);
        }
        if !self.stops_at_denial() {
            return otherwise;
        }
        seen.is_stopped = true;
        // It may have gone already; whoever is left is killed with the rest.
        let _ = pidfd_send_signal(&self.first, Signal::KILL);
        Answer::NoReply
    }
}

/// The file a call about modes, owners or times names.
pub(super) fn subject(caller: &Caller, of: Subject) -> io::Result<OwnedFd> {
    match of {
        Subject::File(number) => caller.file(number),
        Subject::Path { path, follows } => caller.target(path.folder, &caller.path(path.address)?, follows),
    }
}

/// The entry a path names, where there is one to be looked at; what can't be looked up the kernel will refuse by itself.
fn look(caller: &Caller, path: PathArgument) -> Option<DirEntry> {
    caller.place(path.folder, &caller.path(path.address).ok()?).ok().flatten()
}

/// Whether nothing in its folder can be changed by anybody.
fn is_read_only(place: &DirEntry) -> bool {
    fstatvfs(&place.folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn identity(file: &OwnedFd) -> io::Result<(u64, u64)> {
    let found = fstat(file)?;
    Ok((found.st_dev, found.st_ino))
}

fn plain(mode: u32) -> Mode {
    Mode::from_raw_mode(ACTING_BITS.iter().fold(mode, |mode, bit| mode & !bit))
}

pub(super) fn number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EPERM)
}

/// Times as they lie in memory: two pairs of numbers, or seconds alone; none at all means now.
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
