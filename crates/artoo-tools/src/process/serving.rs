//! A program that stays and is spoken to: the same environment and end as one that is run, with its input open. No fence
//! is around it: a person set it up as a server, and what it works on may lie anywhere.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::process::plain::Plain;
use crate::process::{Invocation, REAP_GRACE};
use crate::tool::Machine;

/// A started server. Dropping it ends its whole group.
#[derive(Debug)]
pub(crate) struct Serving(Plain);

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
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let serving = Serving(Plain::of(child));
    match (input, output) {
        (Some(input), Some(output)) => Ok((serving, input, output)),
        _ => Err(io::Error::other("the program's streams are missing")),
    }
}

impl Serving {
    /// Ends it with its group: asked first, killed after a moment.
    pub(crate) async fn end(mut self, grace: Duration) {
        self.0.ask_to_end();
        if timeout(grace, self.0.ended()).await.is_err() {
            self.0.kill();
            // A process that does not go now sits in the kernel.
            let _ = timeout(REAP_GRACE, self.0.ended()).await;
        }
    }
}
