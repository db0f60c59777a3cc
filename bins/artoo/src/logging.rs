//! The diagnostic log on standard error that `ARTOO_LOG` turns on, and the handling of panics.

use std::io;
use std::panic;

use tracing::level_filters::LevelFilter;

use crate::{Failure, Screen, Variables};

/// Name of the environment variable that sets the level of the diagnostic log, `ARTOO_LOG`.
const VARIABLE: &str = "ARTOO_LOG";

/// Starts the log if `ARTOO_LOG` sets a level, and keeps panic messages off the screen.
pub(crate) fn start(variables: &Variables, screen: &Screen) -> Result<(), Failure> {
    let level = match variables.text(VARIABLE)?.as_deref() {
        None | Some("off") => LevelFilter::OFF,
        Some("error") => LevelFilter::ERROR,
        Some("warn") => LevelFilter::WARN,
        Some("info") => LevelFilter::INFO,
        Some("debug") => LevelFilter::DEBUG,
        Some("trace") => LevelFilter::TRACE,
        Some(_) => return Err(variables.invalid(VARIABLE, "give trace, debug, info, warn or error")),
    };
    if level != LevelFilter::OFF {
        let screen = screen.clone();
        let line = move || LogLine { screen: screen.clone(), bytes: Vec::new() };
        let log = tracing_subscriber::fmt().with_ansi(false).with_max_level(level).with_writer(line);
        // This fails only for a second start in one process; the first log then stays in use.
        drop(log.try_init());
    }
    hide_panics(screen.clone(), level == LevelFilter::OFF);
    Ok(())
}

/// Installs a panic hook that writes panics to the diagnostic log; if the log is off, the screen shows one line for
/// each panic.
fn hide_panics(screen: Screen, is_silent: bool) {
    panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref().copied());
        let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        tracing::error!(place, text, "panic");
        if is_silent {
            screen.warn("artoo: something failed inside; ARTOO_LOG=error shows what");
        }
    }));
}

/// A line of the diagnostic log; it collects bytes and writes them to the screen when dropped.
struct LogLine {
    screen: Screen,
    bytes: Vec<u8>,
}

impl io::Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.bytes);
        if !text.trim().is_empty() {
            self.screen.log(text.trim_end());
        }
    }
}
