//! The progress of long work in one line: a bar, the share that is done, the rate and the time left.

use std::time::Duration;

use artoo_proto::units;

/// Width of a progress bar, in characters.
const CELLS: u128 = 12;

/// Time that work must have taken before its rate and the time left are shown.
const RATE_AFTER: Duration = Duration::from_secs(1);

/// The progress of work that is counted in bytes or entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub(crate) done: u64,
    /// How much there is to do; `None` if that is not known.
    pub(crate) total: Option<u64>,
    /// Bytes or entries processed during `elapsed`. A resumed download started with more, which the rate must not count.
    pub(crate) new: u64,
    pub(crate) elapsed: Duration,
    pub(crate) is_in_bytes: bool,
}

impl Work {
    /// The progress of the work as a line of text: bar, share, rate and time left; without a bar if the total is
    /// unknown.
    pub(crate) fn line(&self) -> String {
        let size = |number: u64| if self.is_in_bytes { units::bytes(number) } else { units::number(number) };
        let mut parts = match self.total {
            Some(total) => vec![share(self.done, total), format!("{} of {}", size(self.done), size(total))],
            None if self.is_in_bytes => vec![size(self.done)],
            None => vec![units::count(self.done, "entry", "entries")],
        };
        let rate = u128::from(self.new) * 1_000 / self.elapsed.as_millis().max(1);
        let rate = u64::try_from(rate).ok().filter(|rate| *rate > 0 && self.elapsed >= RATE_AFTER);
        if let Some(rate) = rate {
            parts.push(format!("{}/s", size(rate)));
            parts.extend(self.total.map(|total| format!("{} left", time(total.saturating_sub(self.done) / rate))));
        }
        parts.join(" · ")
    }
}

/// A progress bar as text, with the percentage that is done: all of it if `total` is 0.
fn share(done: u64, total: u64) -> String {
    let of = |parts: u128| if total == 0 { parts } else { u128::from(done.min(total)) * parts / u128::from(total) };
    let filled = of(CELLS);
    let cells: String = (0..CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect();
    format!("{cells} {} %", of(100))
}

/// A duration given in seconds as text, such as "5 min" or "1 h 20 min".
fn time(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Tests of the progress line.
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Work;

    #[test]
    fn bars_show_share_rate_and_time_left() {
        let check = |done: u64, total: Option<u64>, new: u64, millis: u64, is_in_bytes: bool, expected: &str| {
            let elapsed = Duration::from_millis(millis);
            assert_eq!(Work { done, total, new, elapsed, is_in_bytes }.line(), expected);
        };
        let quarter = "███░░░░░░░░░ 25 % · 500.0 kB of 2.0 MB · 1.0 MB/s · 1 s left";
        check(500_000, Some(2_000_000), 1_500_000, 1_500, true, quarter);
        let hours = "░░░░░░░░░░░░ 0 % · 0 bytes of 20.0 GB · 1.0 MB/s · 5 h 33 min left";
        check(0, Some(20_000_000_000), 9_000_000, 9_000, true, hours);
        check(7, None, 4_000, 2_000, true, "7 bytes · 2.0 kB/s");
        check(72_000, None, 72_000, 2_000, false, "72,000 entries · 36,000/s");
        // No rate before a second has passed, nor without new work.
        check(7, Some(7), 4_000, 999, true, "████████████ 100 % · 7 bytes of 7 bytes");
        check(9, Some(0), 0, 9_000, false, "████████████ 100 % · 9 of 0");
    }
}
