//! Finds the program's descendants: the processes that a thread inside the sandbox may signal. Nothing is allocated: artoo
//! may have ended while one of its threads held a lock of the memory that the monitor shares.

use std::ffi::CStr;
use std::io::Write;
use std::mem::MaybeUninit;

use rustix::fs::{Mode, OFlags, RawDir, open};
use rustix::io::read;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, kill_process_group, test_kill_process};

/// Size in bytes of the buffer for one read of the entries of `/proc`.
const NAMES_BYTES: usize = 4096;

/// Buffer size in bytes for the path `/proc/PID/stat` of a process.
const PATH_BYTES: usize = 32;
const STAT_BYTES: usize = 512;

/// Maximum number of ancestors followed from a process, since processes that end meanwhile may form a cycle.
const STEPS_MAX: usize = 32_768;

/// Finds and signals a program with its descendants: the processes that its sandbox lets the monitor signal, or without
/// one, those of its session and process tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descendants {
    leader: Pid,
    by_fence: bool,
}

impl Descendants {
    /// The descendants of a program that the calling thread started. `is_fenced`: the thread is sandboxed; then they
    /// are all processes that it may signal, unless it may signal its own parent.
    pub(super) fn new(leader: Pid, is_fenced: bool) -> Self {
        let parent_is_out_of_reach = getppid().is_none_or(|parent| test_kill_process(parent).is_err());
        Self { leader, by_fence: is_fenced && parent_is_out_of_reach }
    }

    /// Whether neither the program nor a descendant is alive; true also if `/proc` can't be read.
    pub(super) fn is_empty(&self) -> bool {
        !self.any(|_| true)
    }

    /// Signals the program and all descendants, in a sandbox by one call, so that none can start another or react
    /// before it is signalled itself.
    pub(super) fn signal(&self, signal: Signal) {
        if self.by_fence {
            // This is `kill(-1)`: every process that the caller may signal except itself, which are those of its
            // Landlock domain.
            let _ = kill_process_group(Pid::INIT, signal);
            return;
        }
        self.any(|pid| {
            let _ = kill_process(pid, signal);
            false
        });
    }

    /// Whether the predicate holds for the living program or one of its living descendants.
    fn any(&self, mut holds: impl FnMut(Pid) -> bool) -> bool {
        let own = getpid();
        any_process(|pid| pid != own && self.has(pid) && holds(pid))
    }

    /// Whether a process is alive and is the program or one of its descendants.
    fn has(&self, pid: Pid) -> bool {
        if self.by_fence {
            return test_kill_process(pid).is_ok() && process(pid).is_some_and(|process| !process.is_dead);
        }
        process(pid).is_some_and(|process| !process.is_dead && self.descends(pid, &process))
    }

    /// Whether a process is the program's first process, in its session, or below it in the process tree.
    fn descends(&self, pid: Pid, process: &Process) -> bool {
        if pid == self.leader || process.session == Some(self.leader) {
            return true;
        }
        let mut parent = process.parent;
        // The number of steps is limited: parents that change while they are read may form a cycle.
        for _ in 0..STEPS_MAX {
            match parent {
                Some(pid) if pid == self.leader => return true,
                Some(pid) => parent = self::process(pid).and_then(|process| process.parent),
                None => return false,
            }
        }
        false
    }
}

/// Whether a process is dead, its parent and its session, from `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    is_dead: bool,
    parent: Option<Pid>,
    session: Option<Pid>,
}

/// Whether the predicate holds for any process in `/proc`; `false` if it can't be read.
fn any_process(mut holds: impl FnMut(Pid) -> bool) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = open(c"/proc", flags, Mode::empty()) else { return false };
    let mut buffer = [MaybeUninit::uninit(); NAMES_BYTES];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let number = entry.file_name().to_str().ok().and_then(|name| name.parse().ok());
        if number.and_then(Pid::from_raw).is_some_and(&mut holds) {
            return true;
        }
    }
    false
}

/// State, parent and session of a process, dead or alive, from `/proc`; `None` if it can't be read.
fn process(pid: Pid) -> Option<Process> {
    let mut path = [0; PATH_BYTES];
    write!(path.as_mut_slice(), "/proc/{}/stat", pid.as_raw_nonzero()).ok()?;
    let path = CStr::from_bytes_until_nul(&path).ok()?;
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut stat = [0; STAT_BYTES];
    let length = read(&file, &mut stat).ok()?;
    facts(stat.get(..length)?)
}

/// Parses the text of `/proc/PID/stat`: state, parent and session of a process; `None` if it has no state.
fn facts(stat: &[u8]) -> Option<Process> {
    // The process name before the state may contain a parenthesis too.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut facts = str::from_utf8(stat.get(end + 1..)?).ok()?.split_ascii_whitespace();
    let state = facts.next()?;
    // A process that ends during the read has -1 for its group and session.
    let mut number = || facts.next()?.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw);
    let parent = number();
    let _group = number();
    Some(Process { is_dead: matches!(state, "Z" | "X"), parent, session: number() })
}

/// Tests of finding processes and their parents.
#[cfg(test)]
mod tests {
    use rustix::process::{Pid, getpid, getppid};

    use super::{Process, any_process, facts, process};

    /// A running process is found in `/proc` with its parent, and a missing one is not found.
    #[doc = "holds: design T3"]
    #[test]
    fn processes_are_found_with_their_parents() {
        assert!(any_process(|pid| pid == getpid()) && any_process(|pid| pid == Pid::INIT));
        assert!(!any_process(|_| false));
        let own = process(getpid()).unwrap();
        assert_eq!((own.is_dead, own.parent), (false, getppid()));
        assert_eq!(process(Pid::from_raw(i32::MAX).unwrap()), None);
    }

    /// A process that is a zombie or being removed while it is read counts as ended.
    #[doc = "holds: design T3"]
    #[test]
    fn process_ending_during_read_is_dead() {
        let check = |stat: &str, is_dead: bool, parent: i32, session: i32| {
            let pid = |number: i32| Some(number).filter(|number| *number > 0).and_then(Pid::from_raw);
            let expected = Process { is_dead, parent: pid(parent), session: pid(session) };
            assert_eq!(facts(stat.as_bytes()), Some(expected), "{stat}");
        };
        check("7 (sh) S 3 5 4 0 -1 4194304", false, 3, 4);
        check("7 (a) Z 1 1 1 (b) R 3 5 4 0 -1", false, 3, 4);
        check("7 (sh) Z 3 5 4 0 -1", true, 3, 4);
        check("7 (sh) X 0 -1 -1 0 -1", true, 0, 0);
        assert_eq!(facts(b"7 (sh"), None);
    }
}
