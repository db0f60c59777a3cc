//! A started program, sandboxed or not.

use std::io;

use tokio::process::{ChildStderr, ChildStdout};

use super::plain::Plain;
#[cfg(target_os = "linux")]
use super::sandboxed_child::SandboxedChild;
use super::{Order, Verdict};
#[cfg(target_os = "linux")]
use crate::fence;
use crate::fence::seatbelt;

/// A started program, in a sandbox or not. Dropping it kills the program and its descendants; without a Linux sandbox,
/// only those in its process group.
#[derive(Debug)]
pub(crate) enum Running {
    /// Sandboxed on Linux.
    #[cfg(target_os = "linux")]
    SandboxedChild(SandboxedChild),
    /// Without a Linux sandbox.
    Plain(Box<Plain>),
}

impl Running {
    /// Starts the program of an order, sandboxed if the order and the system allow it; an error for a reading run that
    /// can't be sandboxed on Linux.
    pub(crate) async fn start(order: Order) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        #[cfg(target_os = "linux")]
        if order.is_held && fence::can_be_made() {
            let (sandboxed_child, stdout, stderr) = SandboxedChild::start(order).await?;
            return Ok((Self::SandboxedChild(sandboxed_child), stdout, stderr));
        }
        if order.is_held && order.fence.stops_at_denial {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a reading run needs Landlock and seccomp (Linux)"));
        }
        let seatbelt = seatbelt::program().filter(|_| order.is_held);
        let (plain, stdout, stderr) = Plain::start(order, seatbelt.as_deref())?;
        Ok((Self::Plain(Box::new(plain)), stdout, stderr))
    }

    /// Sends SIGTERM, then SIGCONT, to the program and its descendants; without a Linux sandbox, to its process group.
    pub(crate) fn ask_to_end(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::SandboxedChild(sandboxed_child) => sandboxed_child.ask_to_end(),
            Self::Plain(plain) => plain.ask_to_end(),
        }
    }

    /// Sends SIGKILL to the program and its descendants; without a Linux sandbox, to its process group.
    pub(crate) fn kill(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::SandboxedChild(sandboxed_child) => sandboxed_child.kill(),
            Self::Plain(plain) => plain.kill(),
        }
    }

    /// Waits for the program's end and returns how it ended, once remaining descendants were killed; `None` if it can't
    /// be known. May be cancelled and called again.
    pub(crate) async fn ended(&mut self) -> Option<Verdict> {
        match self {
            #[cfg(target_os = "linux")]
            Self::SandboxedChild(sandboxed_child) => sandboxed_child.ended().await,
            Self::Plain(plain) => plain.ended().await,
        }
    }
}
