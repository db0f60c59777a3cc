//! Who came of the program: everyone whom a thread inside the fence may signal.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, kill_process_group, test_kill_process};

/// Tells the program's processes from all others.
///
/// Landlock lets a thread signal its own domain and those within it, and nobody else; a signal of number 0 asks without
/// sending anything. Neither a new session nor a new parent takes a process out of its domain.
///
/// Where the kernel is too old for that, they are told by their session and by their parents: one that has left both is
/// not found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descendants {
    leader: Pid,
    by_fence: bool,
}

impl Descendants {
    /// For the program started by the calling thread. `is_fenced`: the thread has restricted itself, and that this holds
    /// signals has been tried out; artoo's own parent, whom it could signal otherwise, is asked again.
    pub(super) fn new(leader: Pid, is_fenced: bool) -> Self {
        let parent_is_out_of_reach = getppid().is_none_or(|parent| test_kill_process(parent).is_err());
        Self { leader, by_fence: is_fenced && parent_is_out_of_reach }
    }

    /// The living processes.
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

    /// Signals all of them: inside the fence at one stroke, so that none can start another or see one go before it is
    /// told itself. Those that have gone in the meantime are gone.
    pub(super) fn signal(&self, signal: Signal) {
        if self.by_fence {
            // Group 1 is every process that the caller may signal, except its own: inside the fence, only the fence's own.
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
        // As many steps as there are processes: a list read while it changes may hold a ring.
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

/// What the system says of one process.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    is_dead: bool,
    parent: Option<Pid>,
    session: Option<Pid>,
}

/// Every process there is, by number.
fn numbers() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

fn process(pid: Pid) -> Option<Process> {
    facts(&fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
}

fn facts(stat: &[u8]) -> Option<Process> {
    // The name before the state may hold anything, a parenthesis too.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let facts = String::from_utf8_lossy(stat.get(end + 1..)?).into_owned();
    let mut facts = facts.split_whitespace();
    let state = facts.next()?;
    // One that is gone while it is asked about has -1 for its group and its session.
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
    fn a_process_that_goes_while_it_is_asked_about_is_dead_and_of_no_session() {
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
