//! The thread that fences itself in, starts the program and ends what came of it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, RawFd};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, test_kill_process_group, waitpid};

use super::census::Census;
use super::spawn::spawn;
use super::{Ends, Orders, Stage, Word};
use crate::fence::{Notes, drop_capabilities, kernel};
use crate::process::{Verdict, limits};

/// Files are moved out of the way of 0 to 2 to here or above.
const ABOVE_STANDARD: RawFd = 16;

/// How long what a program left running may go on: long enough for a pipe's other end to write what it has read.
const LEFT_GRACE: Duration = Duration::from_millis(300);

/// Between the first looks at who is still there; each pause is twice the one before, up to the second number.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LATER: Duration = Duration::from_millis(32);

/// A killed process that does not go sits in the kernel; it is not waited for longer than this.
const GONE_GRACE: Duration = Duration::from_secs(1);

/// The pipes' ends by number: the files themselves belong to the outer thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    control: RawFd,
    stdout: RawFd,
    stderr: RawFd,
}

impl Numbers {
    pub(super) fn of(ends: &Ends) -> Self {
        Self { control: ends.control.as_raw_fd(), stdout: ends.stdout.as_raw_fd(), stderr: ends.stderr.as_raw_fd() }
    }
}

/// The whole life of one program.
pub(super) fn run(orders: Orders, numbers: Numbers, seen: &Notes, tell: &mpsc::Sender<Stage>) {
    let program = match begin(orders, numbers, seen, tell) {
        Ok(program) => program,
        Err(error) => {
            let _ = tell.send(Stage::Started(Err(error)));
            return;
        }
    };
    let _ = tell.send(Stage::Started(Ok(())));
    let _ = tell.send(Stage::Ended(program.see_through()));
}

/// Fences the thread in and starts the program.
fn begin<'a>(orders: Orders, numbers: Numbers, seen: &'a Notes, tell: &mpsc::Sender<Stage>) -> io::Result<Program<'a>> {
    drop_capabilities()?;
    let is_fenced = orders.layers.restrict_self().map_err(io::Error::other)?;
    if orders.filters.must_ask() && !is_fenced {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "a reading run needs Landlock (Linux 5.13 or later)"));
    }
    let listener = orders.filters.apply()?;
    let is_asked = listener.is_some();
    if let Some(listener) = listener {
        let _ = tell.send(Stage::Listener(listener));
    }
    kernel::unshare_files()?;
    take_files(numbers)?;
    let _ = tell.send(Stage::HasFiles);
    std::env::set_current_dir(&orders.cwd)?;
    let nothing = File::open("/dev/null")?;
    let pid = spawn(&nothing, &orders.program, &orders.arguments, &orders.environment)?;
    if !is_asked {
        // With somebody to ask this was done before the program's first instruction. One that has ended already has no
        // limits to be set.
        let _ = limits::apply(pid, &orders.limits);
    }
    // Their readers must see the end when the program closes them, not when this thread does.
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let census = Census::new(pid, orders.signals_are_held && is_fenced);
    let told = is_asked.then_some(seen);
    Ok(Program { pid, pidfd: pidfd_open(pid, PidfdFlags::empty())?, census, told })
}

/// Puts the three pipes at 0, 1 and 2 of the thread's own table and closes everything else there, whoever opened it.
fn take_files(numbers: Numbers) -> io::Result<()> {
    let moved = |number: RawFd| -> io::Result<OwnedFd> {
        let file = kernel::borrowed(number);
        Ok(rustix::io::fcntl_dupfd_cloexec(file, ABOVE_STANDARD)?)
    };
    let (control, stdout, stderr) = (moved(numbers.control)?, moved(numbers.stdout)?, moved(numbers.stderr)?);
    rustix::stdio::dup2_stdin(&control)?;
    rustix::stdio::dup2_stdout(&stdout)?;
    rustix::stdio::dup2_stderr(&stderr)?;
    // Closed with the rest.
    let _ = [control.into_raw_fd(), stdout.into_raw_fd(), stderr.into_raw_fd()];
    kernel::close_from(3)
}

/// The started program.
struct Program<'a> {
    pid: Pid,
    pidfd: OwnedFd,
    census: Census,
    /// What its processes have asked; `None` where they could not be asked about.
    told: Option<&'a Notes>,
}

impl Program<'_> {
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

    /// Whether the whole run is to be killed for what it was denied.
    fn is_stopped(&self) -> bool {
        self.told.is_some_and(|told| told.seen().is_stopped)
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
            let is_empty = self.census.inside().is_empty();
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
        self.census.signal(Signal::TERM);
        // A stopped process is woken so that it can.
        self.census.signal(Signal::CONT);
    }

    /// Kills every process until none is left.
    fn kill_all(&self) {
        let until = Instant::now() + GONE_GRACE;
        let mut pause = LOOK_FIRST;
        loop {
            self.census.signal(Signal::KILL);
            if self.census.inside().is_empty() || Instant::now() >= until {
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
