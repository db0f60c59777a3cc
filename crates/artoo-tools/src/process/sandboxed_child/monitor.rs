//! The monitor: a process that holds itself to signals of its own, starts the program and ends what came of it.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, setsid, test_kill_process_group, waitpid,
};

use super::descendants::Descendants;
use super::{Orders, Stage, Streams, Word};
use crate::fence::{Asking, SharedObserved, drop_capabilities, hold_signals, kernel};
use crate::process::{Verdict, limits};
use crate::view::{Entry, NoView, Step, child};

/// Files are moved out of the way of 0 to 2 to here or above.
const ABOVE_STANDARD: RawFd = 16;

/// How long what a program left running may go on: long enough for a pipe's other end to write what it has read.
const LEFT_GRACE: Duration = Duration::from_millis(300);

/// Between the first looks at who is still there; each pause is twice the one before, up to the second number.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LATER: Duration = Duration::from_millis(32);

/// A killed process that does not go sits in the kernel; it is not waited for longer than this.
const GONE_GRACE: Duration = Duration::from_secs(1);

/// The whole life of one program, in a process that shares this one's memory and, until the program has started, its
/// files.
pub(super) fn run(
    orders: Orders,
    control: &PipeReader,
    streams: Streams,
    seen: &SharedObserved,
    tell: &mpsc::Sender<Stage>,
) {
    let fail = |problem: NoView| drop(tell.send(Stage::Started(Err(io::Error::other(problem)))));
    let (view, fence) = (orders.order.view.clone(), orders.order.fence.clone());
    let entry = view.as_deref().map(|view| Entry::new(view, &fence.left_out, &fence.readable));
    let entry = match entry.transpose() {
        Ok(entry) => entry,
        Err(problem) => return fail(problem),
    };
    let namespaces = entry.as_ref().map_or(0, Entry::namespaces);
    let mut verdict = None;
    let monitor = || {
        let started = begin(orders, entry.as_ref(), control, streams, seen, tell);
        let (outcome, started) = started.map_or_else(|error| (Err(error), None), |started| (Ok(()), Some(started)));
        let _ = tell.send(Stage::Started(outcome));
        verdict = started.map(Started::see_through);
        0
    };
    match child::start(libc::CLONE_FILES | namespaces, monitor) {
        Ok(pid) => {
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
        Err(error) if namespaces == 0 => return drop(tell.send(Stage::Started(Err(error)))),
        Err(error) => return fail(Step::Namespaces.failed()(error)),
    }
    // Told only now: the monitor was the last process in the view.
    drop(entry);
    drop(view);
    if let Some(verdict) = verdict {
        let _ = tell.send(Stage::Ended(verdict));
    }
}

/// Enters the view, holds the calling process and starts the program.
fn begin<'a>(
    mut orders: Orders,
    entry: Option<&Entry<'_>>,
    control: &PipeReader,
    streams: Streams,
    seen: &'a SharedObserved,
    tell: &mpsc::Sender<Stage>,
) -> io::Result<Started<'a>> {
    // Before Landlock, which allows no mounts.
    let open = entry.map_or(Ok(Vec::new()), |entry| entry.enter(Some(&orders.scratch))).map_err(io::Error::other)?;
    drop_capabilities()?;
    let signals_are_held = hold_signals()? && orders.signals_are_held;
    let nothing = File::open("/dev/null")?;
    let (mut listener, mut failed) = (None, None);
    let body = || {
        failed = execute(&mut orders, &open, &streams, &nothing, &mut listener).err();
        child::FAILED
    };
    let pid = child::start(libc::CLONE_FILES, body)?;
    if let Some(error) = failed {
        let _ = waitpid(Some(pid), WaitOptions::empty());
        return Err(error);
    }
    let is_asked = listener.is_some();
    if let Some(listener) = listener {
        let _ = tell.send(Stage::Asks(Asking { listener, pid, pidfd: pidfd_open(pid, PidfdFlags::empty())? }));
    }
    // Their readers must see the end when the program closes them.
    drop((orders, streams, nothing, open));
    keep_control(control)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let descendants = Descendants::new(pid, signals_are_held);
    Ok(Started { pid, pidfd, descendants, told: is_asked.then_some(seen) })
}

/// Makes the calling child what the program is to run in, and executes it. `open` are the folders that may be changed in
/// a view. Returns only if that fails: until then, everything that must be freed belongs to the caller.
fn execute(
    orders: &mut Orders,
    open: &[OwnedFd],
    streams: &Streams,
    nothing: &File,
    listener: &mut Option<OwnedFd>,
) -> io::Result<()> {
    setsid()?;
    rustix::process::chdir(&orders.order.cwd)?;
    let is_fenced = match orders.layers.take() {
        Some(layers) => layers.with_open(open)?.restrict_self().map_err(io::Error::other)?,
        None => false,
    };
    if orders.filters.must_ask() && !is_fenced {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "a reading run needs Landlock (Linux 5.13 or later)"));
    }
    // Memory may be limited to less than is used here: nothing is allocated from now on.
    limits::apply(getpid(), &orders.order.limits)?;
    *listener = orders.filters.apply()?;
    // The listener stays in the table that was shared until here.
    kernel::unshare_files()?;
    take_files(streams, nothing)?;
    Err(orders.program.execute())
}

/// Puts standard input, output and error at 0, 1 and 2 of the program's own table and closes everything else there,
/// whoever opened it.
fn take_files(streams: &Streams, nothing: &File) -> io::Result<()> {
    let moved = |number: RawFd| rustix::io::fcntl_dupfd_cloexec(kernel::borrowed(number), ABOVE_STANDARD);
    let stdin = streams.stdin.as_ref().map_or(nothing.as_raw_fd(), |stdin| stdin.as_raw_fd());
    let [stdin, stdout, stderr] = [stdin, streams.stdout.as_raw_fd(), streams.stderr.as_raw_fd()].map(moved);
    let (stdin, stdout, stderr) = (stdin?, stdout?, stderr?);
    rustix::stdio::dup2_stdin(&stdin)?;
    rustix::stdio::dup2_stdout(&stdout)?;
    rustix::stdio::dup2_stderr(&stderr)?;
    // Closed with the rest.
    let _ = [stdin, stdout, stderr].map(OwnedFd::into_raw_fd);
    kernel::close_from(3)
}

/// Gives the monitor a table of files of its own, with nothing in it but the control pipe at 0: the other end of the
/// pipe is closed when this process is.
fn keep_control(control: &PipeReader) -> io::Result<()> {
    kernel::unshare_files()?;
    // The standard library's own handles of 0 to 2 belong to the table that is shared no more.
    rustix::stdio::dup2_stdin(control)?;
    kernel::close_from(1)
}

/// The started program.
struct Started<'a> {
    pid: Pid,
    pidfd: OwnedFd,
    descendants: Descendants,
    /// What its processes have asked; `None` where they could not be asked about.
    told: Option<&'a SharedObserved>,
}

impl Started<'_> {
    /// Waits for its end, passes on what the other side says, and leaves nobody behind.
    fn see_through(self) -> Verdict {
        while !self.has_ended() {}
        let status = waitpid(Some(self.pid), WaitOptions::empty()).ok().flatten().map(|(_, status)| status);
        let left_behind = !self.was_alone() && !self.end_the_rest(LEFT_GRACE);
        Verdict {
            exit_code: status.and_then(rustix::process::WaitStatus::exit_status),
            signal: status.and_then(rustix::process::WaitStatus::terminating_signal),
            left_behind,
            ..Verdict::default()
        }
    }

    /// Waits for the program or a word from outside, and does as it says.
    fn has_ended(&self) -> bool {
        let control = control();
        let mut files = [PollFd::new(&self.pidfd, PollFlags::IN), PollFd::new(&control, PollFlags::IN)];
        if poll(&mut files, None).is_err() {
            return false;
        }
        let [ended, word] = files.map(|file| !file.revents().is_empty());
        if word {
            match read_word() {
                Some(Word::End) => self.ask_to_end(),
                Some(Word::Kill) => self.kill_all(),
                None => {
                    self.kill_all();
                    // Nobody will say anything any more; the program is gone or sits in the kernel.
                    return true;
                }
            }
        }
        ended
    }

    /// Whether nobody can be left: none has asked to leave the group of the first process, which has been fetched, and
    /// the kernel finds nobody in it. Who is about to start another is in it.
    fn was_alone(&self) -> bool {
        let none_left_it = self.told.is_some_and(|told| !told.seen().left_group);
        none_left_it && test_kill_process_group(self.pid) == Err(Errno::SRCH)
    }

    /// Whether the whole run is to be killed for what it was denied or has written.
    fn is_stopped(&self) -> bool {
        self.told.is_some_and(|told| told.seen().is_being_killed())
    }

    /// Waits for those who are left and kills them in the end; whether they went by themselves.
    fn end_the_rest(&self, grace: Duration) -> bool {
        let by_themselves = self.are_gone_within(grace);
        // Also where nobody was seen: a list that is read while processes start each other may miss the newest.
        self.kill_all();
        by_themselves
    }

    fn are_gone_within(&self, grace: Duration) -> bool {
        let until = Instant::now() + grace;
        let mut pause = LOOK_FIRST;
        let mut was_empty = false;
        loop {
            // One that started another and went may have hidden it from the first look.
            let is_empty = self.descendants.inside().is_empty();
            if is_empty && was_empty {
                return true;
            }
            was_empty = is_empty;
            if Instant::now() >= until || is_word_waiting() || self.is_stopped() {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_LATER);
        }
    }

    fn ask_to_end(&self) {
        self.descendants.signal(Signal::TERM);
        // A stopped process is woken so that it can.
        self.descendants.signal(Signal::CONT);
    }

    /// Kills every process until none is left.
    fn kill_all(&self) {
        let until = Instant::now() + GONE_GRACE;
        let mut pause = LOOK_FIRST;
        loop {
            self.descendants.signal(Signal::KILL);
            if self.descendants.inside().is_empty() || Instant::now() >= until {
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_LATER);
        }
    }
}

fn control() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

fn is_word_waiting() -> bool {
    let control = control();
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&control, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// The next word; `None` at the end of the pipe.
fn read_word() -> Option<Word> {
    let mut byte = [0_u8];
    match rustix::io::read(control(), &mut byte) {
        Ok(1) if byte == [Word::End as u8] => Some(Word::End),
        Ok(1) => Some(Word::Kill),
        _ => None,
    }
}
