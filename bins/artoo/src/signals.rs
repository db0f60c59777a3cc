//! Ctrl-C, and what asks a process to end.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::modes;

/// Signals that came since it was made; none that came before.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// From here on these signals are heard; by default each would end the process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let heard = || -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
            })
        };
        heard().map_err(|error| Failure::system(&error))
    }

    /// Waits for any of them.
    pub(crate) async fn stop(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            () = Self::end(&mut self.terminate, &mut self.hang_up) => {}
        }
    }

    /// Waits for one that no key sends.
    pub(crate) async fn leave(&mut self) {
        Self::end(&mut self.terminate, &mut self.hang_up).await;
    }

    async fn end(terminate: &mut Signal, hang_up: &mut Signal) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}

/// A person who asks twice is not kept waiting for the end of anything.
pub(crate) fn leave_at_once(screen: &Screen) -> ! {
    modes::restore(screen);
    std::process::exit(i32::from(Exit::Cancelled.code()))
}
