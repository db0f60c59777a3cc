//! The monitor: a process that restricts its own signals, starts the program and kills its remaining descendants.

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
use super::{Command, Event, Orders, Streams};
use crate::fence::{Listening, SharedObserved, drop_capabilities, hold_signals, kernel};
use crate::process::{Verdict, limits};
use crate::view::{Entry, NoView, Step, child};

/// The lowest number for copies of descriptors, so that 0 to 2 are free for standard input, output and error.
const ABOVE_STANDARD: RawFd = 16;

/// How long descendants may outlive the program before they are killed: long enough to write what a pipe still has.
const LEFT_GRACE: Duration = Duration::from_millis(300);

/// First pause between two checks for remaining descendants; each pause is twice the one before, up to the next
/// constant.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LATER: Duration = Duration::from_millis(32);

/// How long to wait for the end of processes after SIGKILL: one that does not end by then is blocked in the kernel.
const GONE_GRACE: Duration = Duration::from_secs(1);

/// Starts the monitor process, which shares this process's memory and runs one sandboxed program, waits for it, and
/// sends the program's start and end as events.
pub(super) fn run(
    orders: Orders,
    control: &PipeReader,
    streams: Streams,
    observed: &SharedObserved,
    events: &mpsc::Sender<Event>,
) {
    let fail = |problem: NoView| drop(events.send(Event::Started(Err(io::Error::other(problem)))));
    let (view, fence) = (orders.order.view.clone(), orders.order.fence.clone());
    let entry = view.as_deref().map(|view| Entry::new(view, &fence.left_out, &fence.readable));
    let entry = match entry.transpose() {
        Ok(entry) => entry,
        Err(problem) => return fail(problem),
    };
    let namespaces = entry.as_ref().map_or(0, Entry::namespaces);
    let mut verdict = None;
    let monitor = || {
        let started = begin(orders, entry.as_ref(), control, streams, observed, events);
        let (outcome, started) = started.map_or_else(|error| (Err(error), None), |started| (Ok(()), Some(started)));
        let _ = events.send(Event::Started(outcome));
        verdict = started.map(Started::wait);
        0
    };
    match child::start(libc::CLONE_FILES | namespaces, monitor) {
        Ok(pid) => {
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
        Err(error) if namespaces == 0 => return drop(events.send(Event::Started(Err(error)))),
        Err(error) => return fail(Step::Namespaces.failed()(error)),
    }
    // Sent only now, since the monitor was the last process in the view.
    drop(entry);
    drop(view);
    if let Some(verdict) = verdict {
        let _ = events.send(Event::Ended(verdict));
    }
}

/// Enters the view, restricts the calling process, and starts the program.
fn begin<'a>(
    mut orders: Orders,
    entry: Option<&Entry<'_>>,
    control: &PipeReader,
    streams: Streams,
    observed: &'a SharedObserved,
    events: &mpsc::Sender<Event>,
) -> io::Result<Started<'a>> {
    // Landlock would deny mounts.
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
    let is_listening = listener.is_some();
    if let Some(listener) = listener {
        let _ =
            events.send(Event::Listening(Listening { listener, pid, pidfd: pidfd_open(pid, PidfdFlags::empty())? }));
    }
    // Readers of the pipes must see their end when the program closes them.
    drop((orders, streams, nothing, open));
    keep_control(control)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let descendants = Descendants::new(pid, signals_are_held);
    Ok(Started { pid, pidfd, descendants, observed: is_listening.then_some(observed) })
}

/// Sandboxes the calling child and executes the program; returns only if that fails. `open`: folders that may be
/// changed in a view.
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
    // The memory limit may be below what artoo uses: nothing is allocated from here on.
    limits::apply(getpid(), &orders.order.limits)?;
    *listener = orders.filters.apply()?;
    // The listener stays in the shared file table.
    kernel::unshare_files()?;
    take_files(streams, nothing)?;
    Err(orders.program.execute())
}

/// Moves standard input, output and error to 0, 1 and 2 of the program's own file table and closes all other
/// descriptors.
fn take_files(streams: &Streams, nothing: &File) -> io::Result<()> {
    let moved = |number: RawFd| rustix::io::fcntl_dupfd_cloexec(kernel::borrow_by_number(number), ABOVE_STANDARD);
    let stdin = streams.stdin.as_ref().map_or(nothing.as_raw_fd(), |stdin| stdin.as_raw_fd());
    let [stdin, stdout, stderr] = [stdin, streams.stdout.as_raw_fd(), streams.stderr.as_raw_fd()].map(moved);
    let (stdin, stdout, stderr) = (stdin?, stdout?, stderr?);
    rustix::stdio::dup2_stdin(&stdin)?;
    rustix::stdio::dup2_stdout(&stdout)?;
    rustix::stdio::dup2_stderr(&stderr)?;
    // Closed by `close_from`.
    let _ = [stdin, stdout, stderr].map(OwnedFd::into_raw_fd);
    kernel::close_from(3)
}

/// Gives the monitor its own file table with only the control pipe at 0, so that artoo's end of the pipe is closed when
/// artoo ends.
fn keep_control(control: &PipeReader) -> io::Result<()> {
    kernel::unshare_files()?;
    // The standard library's handles of 0 to 2 belong to the other file table.
    rustix::stdio::dup2_stdin(control)?;
    kernel::close_from(1)
}

/// A started program, as the monitor process knows it.
struct Started<'a> {
    pid: Pid,
    pidfd: OwnedFd,
    descendants: Descendants,
    /// Facts recorded by the supervisor; `None` without a listener.
    observed: Option<&'a SharedObserved>,
}

impl Started<'_> {
    /// Waits for the program's end, carries out commands meanwhile, and kills remaining descendants.
    fn wait(self) -> Verdict {
        while !self.has_ended() {}
        let status = waitpid(Some(self.pid), WaitOptions::empty()).ok().flatten().map(|(_, status)| status);
        let left_behind = !self.has_no_descendants() && !self.end_descendants(LEFT_GRACE);
        Verdict {
            exit_code: status.and_then(rustix::process::WaitStatus::exit_status),
            signal: status.and_then(rustix::process::WaitStatus::terminating_signal),
            left_behind,
            ..Verdict::default()
        }
    }

    /// Waits until the program has ended or a command arrives, and carries out the command. `true` if the program has
    /// ended or the control pipe is closed.
    fn has_ended(&self) -> bool {
        let control = control();
        let mut files = [PollFd::new(&self.pidfd, PollFlags::IN), PollFd::new(&control, PollFlags::IN)];
        if poll(&mut files, None).is_err() {
            return false;
        }
        let [ended, command] = files.map(|file| !file.revents().is_empty());
        if command {
            match read_command() {
                Some(Command::End) => self.ask_to_end(),
                Some(Command::Kill) => self.kill_all(),
                None => {
                    self.kill_all();
                    // No command can follow; the program has ended or is blocked in the kernel.
                    return true;
                }
            }
        }
        ended
    }

    /// Whether it is certain that no descendant is left: none has left the first process's group, and the kernel finds
    /// none in it.
    fn has_no_descendants(&self) -> bool {
        let observed = self.observed.and_then(SharedObserved::try_lock);
        let none_left_it = observed.is_some_and(|observed| !observed.left_group);
        none_left_it && test_kill_process_group(self.pid) == Err(Errno::SRCH)
    }

    /// Whether the supervisor is killing the run, for a denial or its disk space.
    fn is_stopped(&self) -> bool {
        self.observed.and_then(SharedObserved::try_lock).is_some_and(|observed| observed.is_being_killed())
    }

    /// Waits up to `grace` for remaining descendants, then kills them; returns whether they ended by themselves.
    fn end_descendants(&self, grace: Duration) -> bool {
        let by_themselves = self.end_within(grace);
        // Also if none was found: the newest process may be missing in a process table that is read while processes
        // start.
        self.kill_all();
        by_themselves
    }

    /// Whether all descendants of the program end within this time; `false` also once a command arrives or the run is
    /// being stopped.
    fn end_within(&self, grace: Duration) -> bool {
        let until = Instant::now() + grace;
        let mut pause = LOOK_FIRST;
        let mut was_empty = false;
        loop {
            // A process that started another one and ended may have hidden it from the first check.
            let is_empty = self.descendants.is_empty();
            if is_empty && was_empty {
                return true;
            }
            was_empty = is_empty;
            if Instant::now() >= until || is_command_waiting() || self.is_stopped() {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_LATER);
        }
    }

    /// Sends SIGTERM, then SIGCONT, to all descendants.
    fn ask_to_end(&self) {
        self.descendants.signal(Signal::TERM);
        // A stopped process must continue to handle it.
        self.descendants.signal(Signal::CONT);
    }

    /// Kills all descendants until none is left, or until [`GONE_GRACE`] is over.
    fn kill_all(&self) {
        let until = Instant::now() + GONE_GRACE;
        let mut pause = LOOK_FIRST;
        loop {
            self.descendants.signal(Signal::KILL);
            if self.descendants.is_empty() || Instant::now() >= until {
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_LATER);
        }
    }
}

/// The pipe from which the monitor reads commands, which is its standard input.
fn control() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

/// Whether a command, or the end of the control pipe, can be read without waiting.
fn is_command_waiting() -> bool {
    let control = control();
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&control, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Reads the next command from the control pipe; `None` at its end or if it can't be read, which means kill.
fn read_command() -> Option<Command> {
    let mut byte = [0_u8];
    match rustix::io::read(control(), &mut byte) {
        Ok(1) if byte == [Command::End as u8] => Some(Command::End),
        Ok(1) => Some(Command::Kill),
        _ => None,
    }
}
