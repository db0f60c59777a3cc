//! Finds the program's descendants: the processes that a thread inside the sandbox may signal.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, kill_process_group, test_kill_process};

/// Finds and signals all descendants of the program. Landlock lets a thread signal only processes in its own domain;
/// signal 0 asks without sending anything. A process can't leave its domain by a new session or a new parent. On older
/// kernels descendants are found by their session and parents: one that has left both is missed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descendants {
    leader: Pid,
    by_fence: bool,
}

impl Descendants {
    /// The descendants of a program that the calling thread started. `is_fenced` says that the thread is sandboxed and
    /// that its signals are known to be restricted; artoo's parent is tried once more.
    pub(super) fn new(leader: Pid, is_fenced: bool) -> Self {
        let parent_is_out_of_reach = getppid().is_none_or(|parent| test_kill_process(parent).is_err());
        Self { leader, by_fence: is_fenced && parent_is_out_of_reach }
    }

    /// All living descendants.
    pub(super) fn inside(&self) -> Vec<Pid> {
        let own = getpid();
        if self.by_fence {
            let reached = numbers().filter(|pid| *pid != own && test_kill_process(*pid).is_ok());
            return reached.filter(|pid| process(*pid).is_some_and(|process| !process.is_dead)).collect();
        }
        let all: HashMap<Pid, Process> =
            numbers().filter_map(|pid| process(pid).map(|process| (pid, process))).collect();
        let is_inside =
            |pid: Pid, process: &Process| pid != own && !process.is_dead && self.descends(pid, process, &all);
        all.iter().filter(|(pid, process)| is_inside(**pid, process)).map(|(pid, _)| *pid).collect()
    }

    /// Signals all descendants, in a sandbox by one call, so that none can start another or react before it is
    /// signalled itself.
    pub(super) fn signal(&self, signal: Signal) {
        if self.by_fence {
            // This is `kill(-1)`: every process that the caller may signal except itself, which are those of its
            // Landlock domain.
            let _ = kill_process_group(Pid::INIT, signal);
            return;
        }
        for pid in self.inside() {
            let _ = kill_process(pid, signal);
        }
    }

    fn descends(&self, pid: Pid, process: &Process, all: &HashMap<Pid, Process>) -> bool {
        if pid == self.leader || process.session == Some(self.leader) {
            return true;
        }
        let mut parent = process.parent;
        // The number of steps is limited: a process table that changes while it is read may contain a cycle.
        for _ in 0..all.len() {
            match parent {
                Some(pid) if pid == self.leader => return true,
                Some(pid) => parent = all.get(&pid).and_then(|process| process.parent),
                None => return false,
            }
        }
        false
    }
}

/// Fields of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    is_dead: bool,
    parent: Option<Pid>,
    session: Option<Pid>,
}

/// Numbers of all processes.
fn numbers() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

fn process(pid: Pid) -> Option<Process> {
    facts(&fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
}

fn facts(stat: &[u8]) -> Option<Process> {
    // The process name before the state may contain a parenthesis too.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let facts = String::from_utf8_lossy(stat.get(end + 1..)?).into_owned();
    let mut facts = facts.split_whitespace();
    let state = facts.next()?;
    // A process that ends during the read has -1 for its group and session.
    let mut number = || facts.next()?.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw);
    let parent = number();
    let _group = number();
    Some(Process { is_dead: matches!(state, "Z" | "X"), parent, session: number() })
}

#[cfg(test)]
mod tests {
    use rustix::process::Pid;

    use super::{Process, facts};

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
