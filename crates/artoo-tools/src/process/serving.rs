//! A program that serves several calls through its standard input, sandboxed and limited like any other.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::capture::Captured;
use super::running::Running;
use super::{Order, REAP_GRACE, Verdict};

/// A started program that serves several calls. Dropping it kills all of its processes.
#[derive(Debug)]
pub(crate) struct Serving {
    running: Running,
    verdict: Option<Verdict>,
}

/// Starts a program for several calls, whose input and output stay open; standard error is discarded.
///
/// # Errors
/// When it can't be started.
pub(crate) async fn serve(order: Order) -> io::Result<(Serving, ChildStdin, ChildStdout)> {
    let (input, ours) = io::pipe()?;
    let (running, stdout, stderr) = Running::start(Order { input: Some(Arc::new(input)), ..order }).await?;
    tokio::spawn(async move { Captured::new(0).drain(stderr).await });
    let stdin = ChildStdin::from_std(OwnedFd::from(ours).into())?;
    Ok((Serving { running, verdict: None }, stdin, stdout))
}

impl Serving {
    /// Waits `grace` for the end of a server whose input is closed, then sends SIGTERM and waits again, then SIGKILL.
    /// `None` if it is still not seen to end.
    pub(crate) async fn end(&mut self, grace: Duration) -> Option<Verdict> {
        if self.verdict.is_none() {
            let mut ended = timeout(grace, self.running.ended()).await;
            if ended.is_err() {
                self.running.ask_to_end();
                ended = timeout(grace, self.running.ended()).await;
            }
            if ended.is_err() {
                self.running.kill();
                ended = timeout(REAP_GRACE, self.running.ended()).await;
            }
            self.verdict = ended.ok().flatten();
        }
        self.verdict.clone()
    }
}
