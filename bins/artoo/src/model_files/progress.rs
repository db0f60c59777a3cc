//! The progress line of a download: bytes, speed and time left, on a terminal only.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_llm::files::{Progress, Step};

use super::sized;
use crate::display::Line;
use crate::display::writer::Screen;

/// Minimum time between two updates of the progress line.
const UPDATE_EVERY: Duration = Duration::from_millis(200);

/// Minimum time over which a download speed is computed.
const SPEED_AFTER: Duration = Duration::from_secs(1);

/// Shows the progress of a download.
pub(super) struct ProgressLine {
    screen: Screen,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    updated: Option<Instant>,
    /// When this connection began to receive data, and how many bytes of the file had been received by then.
    began: Option<(Instant, u64)>,
}

impl ProgressLine {
    pub(super) fn new(screen: &Screen) -> Self {
        Self { screen: screen.clone(), state: Mutex::default() }
    }
}

impl Progress for ProgressLine {
    fn report(&self, step: Step) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, is_last) = match step {
            Step::Receiving { done, total } => {
                let (began, before) = *state.began.get_or_insert((now, done));
                (receiving(done, total, done - before, now.duration_since(began)), total == Some(done))
            }
            Step::Verifying { done, total } => (format!("checking: {}", share(done, total)), done == total),
            Step::Waiting { wait, why } => {
                *state = State::default();
                self.screen.status("");
                let seconds = wait.as_secs().max(1);
                return self.screen.tell(&[Line::plain(format!("{why}; trying again in {seconds} s"))]);
            }
            Step::Restarted { why } => {
                *state = State::default();
                self.screen.status("");
                return self.screen.tell(&[Line::plain(format!("beginning anew: {why}"))]);
            }
        };
        if is_last || state.updated.is_none_or(|updated| now.duration_since(updated) >= UPDATE_EVERY) {
            state.updated = Some(now);
            self.screen.status(&text);
        }
    }
}

/// Text of a download's progress line: bytes, speed and time left; `new` bytes were received in `elapsed`.
fn receiving(done: u64, total: Option<u64>, new: u64, elapsed: Duration) -> String {
    let mut text = total.map_or_else(|| sized(done), |total| share(done, total));
    let speed = u128::from(new) * 1_000 / elapsed.as_millis().max(1);
    if let Some(speed) = u64::try_from(speed).ok().filter(|speed| *speed > 0 && elapsed >= SPEED_AFTER) {
        text.push_str(&format!(", {}/s", sized(speed)));
        text.extend(total.map(|total| format!(", {} left", time(total.saturating_sub(done) / speed))));
    }
    text
}

fn share(done: u64, total: u64) -> String {
    let percent = if total == 0 { 100 } else { u128::from(done) * 100 / u128::from(total) };
    format!("{} of {} ({percent} %)", sized(done), sized(total))
}

fn time(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::receiving;

    #[test]
    fn progress_line_shows_bytes_speed_and_time() {
        let check = |done: u64, total: Option<u64>, new: u64, millis: u64, expected: &str| {
            assert_eq!(receiving(done, total, new, Duration::from_millis(millis)), expected);
        };
        check(500_000, Some(2_000_000), 1_500_000, 1_500, "500.00 kB of 2.00 MB (25 %), 1.00 MB/s, 1 s left");
        check(0, Some(2_500_000_000), 1_000_000, 1_000, "0 bytes of 2.50 GB (0 %), 1.00 MB/s, 41 min left");
        check(0, Some(20_000_000_000), 9_000_000, 9_000, "0 bytes of 20.00 GB (0 %), 1.00 MB/s, 5 h 33 min left");
        check(7, None, 4_000, 2_000, "7 bytes, 2.00 kB/s");
        // No speed before a second has passed, nor without new bytes.
        check(7, Some(7), 4_000, 999, "7 bytes of 7 bytes (100 %)");
        check(7, Some(7), 0, 9_000, "7 bytes of 7 bytes (100 %)");
        check(7, Some(0), 0, 0, "7 bytes of 0 bytes (100 %)");
    }
}
