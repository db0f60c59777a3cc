//! Answers what a fenced program asks about: modes, owners and times everywhere, and entries that were allowed by name.
//!
//! Landlock decides by whole folders and knows no modes. What it can't tell apart is made here for the program, on files
//! held open from the look to the act, so that nothing can be swapped in between. Whatever is not made here goes on to
//! the kernel, where Landlock still holds it.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, Uid, chmodat, chownat, fstat, linkat, mkdirat,
    openat, renameat_with, statat, symlinkat, unlinkat, utimensat,
};

use super::Fence;
use super::call::{self, Call, PathArgument, Subject, TimeFormat};
use super::kernel::{self, Answer, Asked};
use super::moved::{self, Renamed};
use super::place::{self, Caller, Place};
use super::syscalls::ACTING_BITS;

/// Paths named in a remark; the rest is counted.
const NAMED_MAX: usize = 5;

/// Paths remembered for it; a program that tries more is told of these.
const REMEMBERED_MAX: usize = 1000;

/// Renamed folders remembered; of a program that renames more, the rest is seen as deleted and new.
const RENAMED_MAX: usize = 10_000;

/// What a program was kept from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Entries it tried to change and could not.
    pub(crate) paths: BTreeSet<PathBuf>,
    /// It tried to reach the network.
    pub(crate) network: bool,
}

/// What was seen of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kept: Kept,
    /// It was let onto the network and made a socket there.
    pub(crate) reached_out: bool,
    /// One of its processes has, or may have, left the group and session in which the first one began.
    pub(crate) left_group: bool,
    /// Folders it renamed in a view, from where to where.
    pub(crate) renamed: Vec<(PathBuf, PathBuf)>,
}

/// What is seen, shared between the one who writes and those who read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Seen>>);

impl Notes {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers for one program.
pub(crate) struct Broker {
    listener: OwnedFd,
    writable: Vec<PathBuf>,
    granted: Vec<PathBuf>,
    kept_back: Vec<PathBuf>,
    network: bool,
    /// Bytes that are copied for the program at most.
    file_bytes: u64,
    /// The program runs in a view.
    in_view: bool,
    /// Files the program has made beside those it may change, by device and number: its own temporary files.
    made: BTreeSet<(u64, u64)>,
    notes: Notes,
}

/// What a path is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// In a folder in which Landlock lets it do everything.
    Writable,
    /// Allowed by name, or its own.
    Granted,
    Outside,
}

impl Broker {
    /// `scratch` is the program's own temporary folder.
    pub(crate) fn new(listener: OwnedFd, fence: &Fence, scratch: &Path, file_bytes: u64, notes: Notes) -> Self {
        let writable = fence.writable.iter().map(PathBuf::as_path).chain([scratch]).map(Path::to_path_buf).collect();
        Self {
            listener,
            writable,
            granted: fence.granted.clone(),
            kept_back: fence.kept_back.clone(),
            network: fence.network,
            file_bytes,
            in_view: false,
            made: BTreeSet::new(),
            notes,
        }
    }

    /// The same for a program that runs in a view.
    pub(crate) fn in_view(self) -> Self {
        Self { in_view: true, ..self }
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
            if events.contains(PollFlags::IN) {
                // Gone again in the meantime.
                let Ok(asked) = kernel::receive(self.listener.as_fd()) else { continue };
                self.answer(asked);
            } else if !events.is_empty() || (ready == 0 && is_over()) {
                return;
            }
        }
    }

    fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn answer(&mut self, asked: Asked) {
        let answer = match call::read(asked) {
            Some(Call::Open { path, flags, mode }) => match self.open(asked, path, flags, mode) {
                Ok(None) => return,
                Ok(Some(answer)) => answer,
                Err(error) => Answer::Fails(number(&error)),
            },
            Some(call) => self.other(asked, call).unwrap_or_else(|error| Answer::Fails(number(&error))),
            None => Answer::Fails(libc::ENOSYS),
        };
        kernel::answer(self.listener(), asked, answer);
    }

    fn other(&mut self, asked: Asked, call: Call) -> io::Result<Answer> {
        match call {
            // The first process has a session of its own, made before the program's first instruction.
            Call::NewSession | Call::NewGroup => {
                self.notes.seen().left_group = true;
                Ok(Answer::GoOn)
            }
            Call::Socket { .. } if self.network => {
                self.notes.seen().reached_out = true;
                Ok(Answer::GoOn)
            }
            Call::Socket { family } => {
                if family == libc::AF_INET || family == libc::AF_INET6 {
                    self.notes.seen().kept.network = true;
                }
                Ok(Answer::Fails(libc::EACCES))
            }
            Call::Mode { of, mode } => self.fact(asked, of, |file| {
                if ACTING_BITS.iter().any(|bit| mode & bit != 0) {
                    return Err(io::Error::from_raw_os_error(libc::EPERM));
                }
                Ok(chmodat(CWD, through(file), Mode::from_raw_mode(mode), AtFlags::empty())?)
            }),
            Call::Owner { of, user, group } => self.fact(asked, of, |file| {
                let (user, group) = ((user != u32::MAX).then_some(user), (group != u32::MAX).then_some(group));
                let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
                Ok(chownat(file, "", user, group, AtFlags::EMPTY_PATH)?)
            }),
            Call::Times { of, address, format } => {
                let times = times(&Caller::new(asked.thread)?, address, format)?;
                self.fact(asked, of, |file| Ok(utimensat(CWD, through(file), &times, AtFlags::empty())?))
            }
            Call::Remove { path, is_folder } => self.entry(asked, path, |place, _| {
                let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                Ok(unlinkat(&place.folder, &place.name, flags)?)
            }),
            Call::MakeFolder { path, mode } => self.entry(asked, path, |place, caller| {
                Ok(mkdirat(&place.folder, &place.name, plain(mode) & !caller.umask())?)
            }),
            Call::Symlink { target, path } => self
                .entry(asked, path, |place, caller| Ok(symlinkat(caller.path(target)?, &place.folder, &place.name)?)),
            Call::Rename { from, to, flags } if self.in_view => {
                let caller = Caller::in_view(asked.thread)?;
                let (Some(from), Some(to)) = (look(&caller, from), look(&caller, to)) else { return Ok(Answer::GoOn) };
                self.must_wait(asked)?;
                let most = moved::Most { bytes: self.file_bytes };
                let renamed = moved::rename(&from, &to, RenameFlags::from_bits_retain(flags), most)?;
                if renamed == Renamed::Not {
                    return Ok(Answer::GoOn);
                }
                let mut seen = self.notes.seen();
                if seen.renamed.len() < RENAMED_MAX {
                    seen.renamed.push((from.path, to.path));
                }
                Ok(Answer::Done)
            }
            Call::Rename { from, to, flags } => self.both(asked, from, to, |from, to| {
                let flags = RenameFlags::from_bits_retain(flags);
                renameat_with(&from.folder, &from.name, &to.folder, &to.name, flags)
            }),
            Call::Link { from, to } => self.both(asked, from, to, |from, to| {
                linkat(&from.folder, &from.name, &to.folder, &to.name, AtFlags::empty())
            }),
            Call::Other { path } => self.entry(asked, path, |_, _| Err(io::Error::from_raw_os_error(libc::EACCES))),
            Call::Open { .. } => Ok(Answer::GoOn),
        }
    }

    /// Changes a mode, an owner or times of what may be changed. The kernel would not look, so it never goes on to it.
    fn fact(&self, asked: Asked, of: Subject, change: impl FnOnce(&OwnedFd) -> io::Result<()>) -> io::Result<Answer> {
        let caller = Caller::new(asked.thread)?;
        let file = match of {
            Subject::File(number) => caller.file(number)?,
            Subject::Path { path, follows } => caller.target(path.folder, &caller.path(path.address)?, follows)?,
        };
        let path = place::real(&file)?;
        if self.standing(&path) == Standing::Outside && !self.made.contains(&identity(&file)?) {
            self.note(&path);
            return Ok(Answer::Fails(libc::EPERM));
        }
        self.must_wait(asked)?;
        change(&file)?;
        Ok(Answer::Done)
    }

    /// Acts on one entry where it was allowed by name.
    fn entry(
        &self,
        asked: Asked,
        path: PathArgument,
        act: impl FnOnce(&Place, &Caller) -> io::Result<()>,
    ) -> io::Result<Answer> {
        let caller = Caller::new(asked.thread)?;
        let Some(place) = look(&caller, path) else { return Ok(Answer::GoOn) };
        match self.standing_of(&place) {
            Standing::Writable => Ok(Answer::GoOn),
            Standing::Granted => {
                self.must_wait(asked)?;
                act(&place, &caller)?;
                Ok(Answer::Done)
            }
            Standing::Outside => {
                self.note(&place.path);
                Ok(Answer::GoOn)
            }
        }
    }

    /// Acts on two entries where both may be changed and one of them was allowed by name.
    fn both(
        &self,
        asked: Asked,
        from: PathArgument,
        to: PathArgument,
        act: impl FnOnce(&Place, &Place) -> rustix::io::Result<()>,
    ) -> io::Result<Answer> {
        let caller = Caller::new(asked.thread)?;
        let (Some(from), Some(to)) = (look(&caller, from), look(&caller, to)) else { return Ok(Answer::GoOn) };
        let standings = [self.standing_of(&from), self.standing_of(&to)];
        for (place, standing) in [&from, &to].into_iter().zip(standings) {
            if standing == Standing::Outside {
                self.note(&place.path);
            }
        }
        if standings.contains(&Standing::Outside) || standings == [Standing::Writable; 2] {
            return Ok(Answer::GoOn);
        }
        self.must_wait(asked)?;
        act(&from, &to)?;
        Ok(Answer::Done)
    }

    /// Opens a file to be written where it was allowed by name, and hands it over; `None` when that is the answer.
    fn open(&mut self, asked: Asked, path: PathArgument, flags: OFlags, mode: u32) -> io::Result<Option<Answer>> {
        let caller = Caller::new(asked.thread)?;
        let Some(place) = look(&caller, path) else { return Ok(Some(Answer::GoOn)) };
        let is_new = flags.contains(OFlags::CREATE | OFlags::EXCL);
        let standing = self.standing_of(&place);
        // A program that changes a file often makes a new one beside it first and puts it in its place.
        let is_beside = standing == Standing::Outside && is_new && self.is_beside_granted(&place.path);
        if standing != Standing::Granted && !is_beside {
            if standing == Standing::Outside && !place.path.starts_with("/dev") && !place.path.starts_with("/proc") {
                self.note(&place.path);
            }
            return Ok(Some(Answer::GoOn));
        }
        self.must_wait(asked)?;
        let mode = plain(mode) & !caller.umask();
        // A link at the end would lead to what nobody has allowed.
        let file =
            openat(&place.folder, &place.name, flags | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC, mode)?;
        if is_beside {
            self.made.insert(identity(&file)?);
        }
        kernel::answer_with_file(self.listener(), asked, file.as_fd(), flags.contains(OFlags::CLOEXEC))?;
        Ok(None)
    }

    /// What was looked up by a thread's number was that thread's, if its call still waits.
    fn must_wait(&self, asked: Asked) -> io::Result<()> {
        if kernel::still_waits(self.listener(), asked) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn standing(&self, path: &Path) -> Standing {
        if self.kept_back.iter().any(|kept| path.starts_with(kept) || kept.starts_with(path)) {
            Standing::Outside
        } else if self.writable.iter().any(|folder| path.starts_with(folder)) {
            Standing::Writable
        } else if self.granted.iter().any(|granted| path.starts_with(granted)) {
            Standing::Granted
        } else {
            Standing::Outside
        }
    }

    fn standing_of(&self, place: &Place) -> Standing {
        let standing = self.standing(&place.path);
        if standing == Standing::Outside && self.is_made(place) { Standing::Granted } else { standing }
    }

    fn is_made(&self, place: &Place) -> bool {
        let found = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| self.made.contains(&(found.st_dev, found.st_ino)))
    }

    fn is_beside_granted(&self, path: &Path) -> bool {
        self.granted.iter().any(|granted| granted.parent().is_some() && granted.parent() == path.parent())
    }

    fn note(&self, path: &Path) {
        let mut seen = self.notes.seen();
        if seen.kept.paths.len() < REMEMBERED_MAX {
            seen.kept.paths.insert(path.to_path_buf());
        }
    }
}

/// The entry a path names, where there is one to be looked at; what can't be looked up the kernel will refuse by itself.
fn look(caller: &Caller, path: PathArgument) -> Option<Place> {
    caller.place(path.folder, &caller.path(path.address).ok()?).ok().flatten()
}

fn identity(file: &OwnedFd) -> io::Result<(u64, u64)> {
    let found = fstat(file)?;
    Ok((found.st_dev, found.st_ino))
}

/// A name by which an open file is reached itself, whatever has become of its path.
fn through(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

fn plain(mode: u32) -> Mode {
    Mode::from_raw_mode(ACTING_BITS.iter().fold(mode, |mode, bit| mode & !bit))
}

fn number(error: &io::Error) -> i32 {
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

impl Kept {
    /// What is to be said to one who wonders why a command failed; `None` when it was kept from nothing.
    pub(crate) fn in_words(&self) -> Option<String> {
        let mut named: Vec<String> = self.paths.iter().take(NAMED_MAX).map(|path| crate::paths::line(path)).collect();
        if self.paths.len() > NAMED_MAX {
            named.push(format!("{} more", self.paths.len() - NAMED_MAX));
        }
        let mut words = Vec::new();
        if !named.is_empty() {
            words.push(format!("it was not allowed to change {}", named.join(", ")));
        }
        if self.network {
            words.push("it was not allowed to reach the network".to_owned());
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}
