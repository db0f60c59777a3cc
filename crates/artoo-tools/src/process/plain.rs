//! A program held by its process group: what there is where the kernel offers no more.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::{Order, Verdict};

/// A running program and its group; dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Plain {
    child: Child,
    group: Option<Pid>,
}

impl Plain {
    /// Starts a program as the first of a group of its own.
    pub(crate) fn start(order: &Order) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let mut command = Command::new(&order.program);
        command
            .arg0(&order.name)
            .args(&order.arguments)
            .env_clear()
            .envs(order.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&order.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let plain = Self::of(child);
        match (stdout, stderr) {
            (Some(stdout), Some(stderr)) => Ok((plain, stdout, stderr)),
            _ => Err(io::Error::other("the program's streams are missing")),
        }
    }

    /// A program that was started as the first of a group of its own.
    pub(crate) fn of(child: Child) -> Self {
        let raw = child.id().and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 1);
        Self { child, group: raw.and_then(Pid::from_raw) }
    }

    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
        // A stopped process is woken so that it can.
        self.signal(Signal::CONT);
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(crate) async fn ended(&mut self) -> Option<Verdict> {
        let status = self.child.wait().await.ok()?;
        let left_behind = self.group.is_some_and(|id| test_kill_process_group(id).is_ok());
        if left_behind {
            self.kill();
        } else {
            // The group's number may be given to others from now on.
            self.group = None;
        }
        Some(Verdict { exit_code: status.code(), signal: status.signal(), left_behind, kept: None })
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.group {
            // The only failure left is that nobody is there any more.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.kill();
    }
}
