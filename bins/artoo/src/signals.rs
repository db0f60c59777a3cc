//! Handling of Ctrl-C and of signals that end the process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::terminal::modes;
use crate::{Exit, Failure, Screen};

/// Receives the signals SIGINT (Ctrl-C), SIGTERM and SIGHUP that are sent after its creation.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Starts handling the signals, which would otherwise end the process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let heard = || -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
            })
        };
        heard().map_err(|source| Failure::System { source })
    }

    /// Waits for SIGINT (Ctrl-C), SIGTERM or SIGHUP.
    pub(crate) async fn stop(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// Waits for SIGTERM or SIGHUP, the signals other than Ctrl-C.
    pub(crate) async fn leave(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// Ends the process at once with the exit code for a cancelled run, after restoring the terminal.
pub(crate) fn exit_now(screen: &Screen) -> ! {
    modes::restore(screen);
    std::process::exit(i32::from(Exit::Cancelled.code()))
}
