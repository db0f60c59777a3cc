//! A program that stays and is spoken to: the same group, environment and end as one that is run, with its input open.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::process::group::Group;
use crate::process::{Invocation, REAP_GRACE};
use crate::tool::Machine;

/// A started server. Dropping it ends its whole group.
#[derive(Debug)]
pub(crate) struct Serving {
    child: Child,
    group: Group,
}

/// Starts a program whose input and output stay open; what it says on standard error is not kept.
///
/// # Errors
/// When it can't be started.
pub(crate) fn serve(machine: &Machine, invocation: &Invocation) -> io::Result<(Serving, ChildStdin, ChildStdout)> {
    let mut child = Command::new(&invocation.program)
        .arg0(&invocation.name)
        .args(&invocation.arguments)
        .env_clear()
        .envs(machine.child_environment.iter().chain(&invocation.environment).map(|(name, value)| (name, value)))
        .current_dir(&machine.config.environment.home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let group = Group::of(child.id());
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    Ok((Serving { child, group }, input, output))
}

impl Serving {
    /// Ends it: asked first, killed after a moment.
    pub(crate) async fn end(mut self, grace: std::time::Duration) {
        self.group.ask_to_end();
        if tokio::time::timeout(grace, self.child.wait()).await.is_err() {
            self.group.kill();
            // A process that does not go now sits in the kernel.
            let _ = tokio::time::timeout(REAP_GRACE, self.child.wait()).await;
        }
    }
}
