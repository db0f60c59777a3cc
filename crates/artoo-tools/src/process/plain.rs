//! A program without a Linux sandbox: run in its own process group, and by `sandbox-exec` on macOS.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::scratch::Scratch;
use super::{Order, Verdict};
use crate::fence::seatbelt;

/// A running program without a Linux sandbox; dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Plain {
    child: Child,
    group: Option<Pid>,
    /// Its temporary folder, deleted with it.
    scratch: Option<Scratch>,
}

impl Plain {
    /// Starts a program in its own process group, by `sandbox-exec` if given; returns it with its two output streams.
    pub(crate) fn start(order: Order, seatbelt: Option<&Path>) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let scratch = Scratch::new()?;
        let order = match seatbelt {
            Some(program) => seatbelt::wrapped(program, order, scratch.path()),
            None => order,
        };
        let input = order.input.as_ref().map(|input| input.try_clone().map(Stdio::from)).transpose()?;
        let input = input.unwrap_or_else(Stdio::null);
        let invocation = &order.invocation;
        let mut command = Command::new(&invocation.program);
        command
            .arg0(&invocation.name)
            .args(&invocation.arguments)
            .env_clear()
            .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
            .env("TMPDIR", scratch.path())
            .current_dir(&order.cwd)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut plain = Self::of(child);
        plain.scratch = Some(scratch);
        match (stdout, stderr) {
            (Some(stdout), Some(stderr)) => Ok((plain, stdout, stderr)),
            _ => Err(io::Error::other("the program's streams are missing")),
        }
    }

    /// Takes over a running program that was started as the leader of its own process group.
    pub(crate) fn of(child: Child) -> Self {
        let raw = child.id().and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 1);
        Self { child, group: raw.and_then(Pid::from_raw), scratch: None }
    }

    /// Sends SIGTERM to the process group, and SIGCONT so that stopped processes handle it.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
        // A stopped process must continue to handle it.
        self.signal(Signal::CONT);
    }

    /// Sends SIGKILL to the process group.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Waits for the program's end, kills what is left of its process group, and returns how it ended; `None` if
    /// waiting fails.
    pub(crate) async fn ended(&mut self) -> Option<Verdict> {
        let status = self.child.wait().await.ok()?;
        let left_behind = self.group.is_some_and(|id| test_kill_process_group(id).is_ok());
        if left_behind {
            self.kill();
        } else {
            // The group's number may be reused from now on.
            self.group = None;
        }
        Some(Verdict { exit_code: status.code(), signal: status.signal(), left_behind, ..Verdict::default() })
    }

    /// Sends a signal to the process group.
    fn signal(&self, signal: Signal) {
        if let Some(id) = self.group {
            // The only possible failure is that no process is left.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Tests of programs that run without a Linux sandbox.
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::sync::Arc;

    use artoo_proto::Environment;
    use tokio::io::AsyncReadExt;

    use super::*;
    use crate::config::ToolConfig;
    use crate::fence::{Fence, ReadAllowlist};
    use crate::process::Invocation;
    use crate::protect::Protected;

    /// D14: a script in the place of `sandbox-exec` receives the profile and the program on any system.
    #[doc = "holds: design D14"]
    #[tokio::test]
    async fn sandbox_exec_gets_profile_and_program() {
        let dir = tempfile::TempDir::new().unwrap();
        let stand_in = dir.path().join("sandbox-exec");
        fs::write(
            &stand_in,
            "#!/bin/sh\n[ \"$1\" = -p ] || exit 9\nprintf '%s' \"$2\" | head -n 1\nshift 2\nexec \"$@\"\n",
        )
        .unwrap();
        fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
        let home = dir.path().to_str().unwrap().to_owned();
        let environment =
            Environment { cwd: home.clone(), home: home.clone(), workspace: home, os: "macos".into(), utc_offset_s: 0 };
        let config = ToolConfig::new(environment.clone());
        let protected = Protected::new(&environment, &[]);
        let read_allowlist = Arc::new(ReadAllowlist::new(&protected));
        let invocation = Invocation {
            program: PathBuf::from("/bin/sh"),
            name: "sh".into(),
            arguments: ["-c", "echo ran \"$1\" >&1; sleep 60 &", "sh", "a b"].map(Into::into).to_vec(),
            environment: Vec::new(),
        };
        let order = invocation.order(&config, &read_allowlist, &[], Fence::of_reading(&protected, &[]));
        let (mut plain, mut stdout, _) = Plain::start(order, Some(&stand_in)).unwrap();
        let verdict = plain.ended().await.unwrap();
        let mut text = String::new();
        stdout.read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), verdict.exit_code), ("(version 1)\nran a b\n", Some(0)));
        assert!(verdict.left_behind, "its child was still there and has been ended");
    }
}
