//! A process group that can't outlive its owner: dropping it ends every process in it.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The group of one started program.
#[derive(Debug)]
pub(crate) struct Group {
    id: Option<Pid>,
}

impl Group {
    /// The group led by this process; it must have been started as a group of its own.
    pub(crate) fn of(leader: Option<u32>) -> Self {
        let raw = leader.and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 1);
        Self { id: raw.and_then(Pid::from_raw) }
    }

    /// Asks every process of the group to end; a stopped one is woken so that it can.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Whether a process of the group is still there. Once none is, the group is never signalled again, since its
    /// number may be given to others.
    pub(crate) fn is_alive(&mut self) -> bool {
        let alive = self.id.is_some_and(|id| test_kill_process_group(id).is_ok());
        if !alive {
            self.id = None;
        }
        alive
    }

    /// Ends every process of the group.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // The only failure left is that nobody is there any more.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
