//! Decides whether a failed model call is tried again, from the outcome, the number of tries and the elapsed time.

use std::time::Duration;

/// Limits on the retries of a model call: how many, and how long. All times count from its first try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum tries while the endpoint is busy or broken.
    pub busy_tries: u32,
    /// Maximum number of tries while no connection can be made.
    pub connect_tries: u32,
    /// Time after the beginning of the first try; no try begins later.
    pub total: Duration,
    /// Upper bound of the first random wait; doubles with every try.
    pub base_delay: Duration,
    /// Maximum random wait between two tries.
    pub max_delay: Duration,
    /// Maximum wait that an endpoint may ask for; if it asks for more, the call fails at once.
    pub max_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            busy_tries: 4,
            connect_tries: 2,
            total: Duration::from_secs(90),
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// Maximum number of tries for a call with this outcome; 0 if the outcome is final.
    #[must_use]
    pub fn allowed(&self, outcome: Outcome) -> u32 {
        match outcome {
            Outcome::Final => 0,
            Outcome::NoConnection => self.connect_tries,
            Outcome::Busy { .. } => self.busy_tries,
        }
    }
}

/// The outcome of one failed try, for the retry decision: no connection, busy endpoint, or final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No connection, or one that closed before the status line.
    NoConnection,
    /// Status 408, 429, or a transient 5xx.
    Busy {
        /// The wait that the endpoint asks for, if it asks for one.
        retry_after: Option<Duration>,
    },
    /// An error that another try won't change: another 4xx, an exhausted quota, a timeout.
    Final,
}

/// Why no further try of a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The error is final.
    Pointless,
    /// The maximum number of tries was made.
    TriesSpent,
    /// The next try would begin after the total time.
    TimeSpent,
    /// The endpoint asks for a longer wait than allowed.
    WaitTooLong { asked: Duration },
}

/// How long to wait before the next try of a model call, or why none is made. `tries` were made, the first `elapsed`
/// ago; `share` in [0, 1) varies the wait.
///
/// `share` is a random number in \[0, 1): waits without a hint are uniform between zero and the doubling scale ("full
/// jitter"), so that parallel callers don't return together. A wait the endpoint asked for is never shortened.
///
/// # Errors
/// If no further try is to be made.
pub fn next(
    policy: &RetryPolicy,
    tries: u32,
    outcome: Outcome,
    elapsed: Duration,
    share: f64,
) -> Result<Duration, Why> {
    let hint = match outcome {
        Outcome::Final => return Err(Why::Pointless),
        Outcome::NoConnection => None,
        Outcome::Busy { retry_after } => retry_after,
    };
    if let Some(asked) = hint.filter(|asked| *asked > policy.max_retry_after) {
        return Err(Why::WaitTooLong { asked });
    }
    if tries >= policy.allowed(outcome) {
        return Err(Why::TriesSpent);
    }
    let share = share.clamp(0.0, 1.0);
    let after = match hint {
        Some(asked) => asked.saturating_add(policy.base_delay.mul_f64(share)),
        None => {
            let doubled = policy.base_delay.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
            doubled.min(policy.max_delay).mul_f64(share)
        }
    };
    if elapsed.saturating_add(after) > policy.total { Err(Why::TimeSpent) } else { Ok(after) }
}

/// A random number in \[0, 1), not cryptographically secure.
pub(crate) fn random_share() -> f64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let bits = RandomState::new().build_hasher().finish() >> 32;
    f64::from(u32::try_from(bits).unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests;
