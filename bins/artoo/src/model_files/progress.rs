//! How a download goes on, on one line of a terminal: bytes, speed, time left; nothing elsewhere.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_llm::files::{Progress, Step};

use super::sized;
use crate::display::Line;
use crate::display::writer::Screen;

/// The line is written anew after this time at the earliest.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

/// The speed is that of about the last so many seconds.
const SPEED_OVER: Duration = Duration::from_secs(10);

/// What is shown of a download.
pub(super) struct Shown {
    screen: Screen,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<Instant>,
    speed: Option<Speed>,
}

/// Bytes since a moment.
#[derive(Debug, Clone, Copy)]
struct Speed {
    since: Instant,
    from: u64,
    /// Bytes a second before that moment.
    before: Option<f64>,
}

impl Shown {
    pub(super) fn new(screen: &Screen) -> Self {
        Self { screen: screen.clone(), state: Mutex::default() }
    }
}

impl Progress for Shown {
    fn at(&self, step: Step) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = state.last.is_none_or(|last| now.duration_since(last) >= SHOWN_EVERY);
        match step {
            Step::Receiving { done, total } => {
                let is_last = total == Some(done);
                let speed = state.speed.get_or_insert(Speed { since: now, from: done, before: None });
                let rate = speed.rate(done, now);
                if is_due || is_last {
                    state.last = Some(now);
                    self.screen.status(&received(done, total, rate));
                }
            }
            Step::Working { what, done, total } => {
                if is_due || done == total {
                    state.last = Some(now);
                    self.screen.status(&format!("{what}: {}", share(done, total)));
                }
            }
            Step::Waiting { wait, why } => {
                *state = State::default();
                self.screen.status("");
                self.screen.tell(&[Line::plain(format!("{why}; trying again in {} s", wait.as_secs().max(1)))]);
            }
            Step::StartedAnew { why } => {
                *state = State::default();
                self.screen.status("");
                self.screen.tell(&[Line::plain(format!("beginning anew: {why}"))]);
            }
        }
    }
}

impl Speed {
    /// Bytes a second; the moment it counts from moves along.
    fn rate(&mut self, done: u64, now: Instant) -> Option<f64> {
        let passed = now.duration_since(self.since);
        let bytes = done.saturating_sub(self.from);
        let seconds = passed.as_secs_f64();
        let rate = if seconds < 1.0 { self.before } else { Some(approximate(bytes) / seconds) };
        if passed >= SPEED_OVER {
            *self = Self { since: now, from: done, before: rate };
        }
        rate
    }
}

/// As a number to divide with; what is lost beyond 2⁵³ does not matter for a speed.
fn approximate(bytes: u64) -> f64 {
    bytes as f64
}

fn received(done: u64, total: Option<u64>, rate: Option<f64>) -> String {
    let mut text = match total {
        Some(total) => share(done, total),
        None => sized(done),
    };
    if let Some(rate) = rate.filter(|rate| *rate >= 1.0) {
        text.push_str(&format!(", {}/s", sized(rate as u64)));
        let left = total.map(|total| approximate(total.saturating_sub(done)) / rate);
        text.extend(
            left.filter(|left| *left < 1e6).map(|left| format!(", {} left", time(Duration::from_secs_f64(left)))),
        );
    }
    text
}

fn share(done: u64, total: u64) -> String {
    let percent = if total == 0 { 100 } else { u128::from(done) * 100 / u128::from(total) };
    format!("{} of {} ({percent} %)", sized(done), sized(total))
}

fn time(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{SPEED_OVER, Speed, received};

    #[test]
    fn bytes_speed_and_time_left_stand_in_one_line() {
        let check = |done: u64, total: Option<u64>, rate: Option<f64>, expected: &str| {
            assert_eq!(received(done, total, rate), expected);
        };
        check(500_000, Some(2_000_000), Some(1_000_000.0), "500.00 kB of 2.00 MB (25 %), 1.00 MB/s, 1 s left");
        check(0, Some(2_500_000_000), Some(1_000_000.0), "0 bytes of 2.50 GB (0 %), 1.00 MB/s, 41 min left");
        check(0, Some(20_000_000_000), Some(1_000_000.0), "0 bytes of 20.00 GB (0 %), 1.00 MB/s, 5 h 33 min left");
        check(7, None, Some(2_000.0), "7 bytes, 2.00 kB/s");
        check(7, Some(7), None, "7 bytes of 7 bytes (100 %)");
        check(7, Some(0), Some(0.0), "7 bytes of 0 bytes (100 %)");
    }

    #[test]
    fn the_speed_is_that_of_the_last_seconds() {
        let start = Instant::now();
        let mut speed = Speed { since: start, from: 100, before: None };
        assert_eq!(speed.rate(200, start), None);
        assert_eq!(speed.rate(2_100, start + Duration::from_secs(2)), Some(1_000.0));
        assert_eq!(speed.rate(10_100, start + SPEED_OVER), Some(1_000.0));
        let later = start + SPEED_OVER + Duration::from_secs(1);
        assert_eq!(speed.rate(10_200, later), Some(100.0), "what came before counts no more");
    }
}
