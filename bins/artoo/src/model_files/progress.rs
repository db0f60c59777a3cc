//! The progress line of a download: bytes, speed and time left, on a terminal only.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_llm::files::{Progress, Step};

use crate::display::bar::Work;
use crate::{Line, Screen};

/// Minimum time between two updates of the progress line.
const UPDATE_EVERY: Duration = Duration::from_millis(200);

/// Shows the progress of a download.
pub(super) struct ProgressLine {
    screen: Screen,
    state: Mutex<State>,
}

/// When a download's progress line was last updated, and when the download began at how many bytes.
#[derive(Default)]
struct State {
    updated: Option<Instant>,
    /// When this connection began to receive data, and how many bytes of the file had been received by then.
    began: Option<(Instant, u64)>,
}

impl ProgressLine {
    /// Creates the progress line of a download on this screen.
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
                let (new, elapsed) = (done.saturating_sub(before), now.duration_since(began));
                (Work { done, total, new, elapsed, is_in_bytes: true }.line(), total == Some(done))
            }
            Step::Verifying { done, total } => {
                let (total, new, elapsed) = (Some(total), 0, Duration::ZERO);
                let work = Work { done, total, new, elapsed, is_in_bytes: true };
                (format!("checking: {}", work.line()), total == Some(done))
            }
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
