//! The one owner of transport retries: a pure decision from what happened, how often, and how long it has taken.

use std::time::Duration;

/// How often and how long to try. All times count from the first try of one ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all while the endpoint answers but is busy or broken. Four: what is not back after three waits is down.
    pub busy_tries: u32,
    /// Tries in all while no connection comes about. Two: a refused port rarely opens within a second.
    pub connect_tries: u32,
    /// No try begins later than this after the first one: a person is waiting.
    pub total: Duration,
    /// Mean scale of the first wait; doubles with every try.
    pub base_delay: Duration,
    /// Longest wait chosen here.
    pub max_delay: Duration,
    /// Longest wait taken on the endpoint's word; asked for more, artoo gives up at once and says so.
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
    /// Tries in all after such an outcome.
    #[must_use]
    pub fn allowed(&self, outcome: Outcome) -> u32 {
        match outcome {
            Outcome::Final => 0,
            Outcome::NoConnection => self.connect_tries,
            Outcome::Busy { .. } => self.busy_tries,
        }
    }
}

/// What came of one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No connection, or one that closed before a status line.
    NoConnection,
    /// 408, 429 or a 5xx that may pass.
    Busy {
        /// The wait the endpoint asks for.
        retry_after: Option<Duration>,
    },
    /// Anything that another try won't change: a 4xx, a spent quota, a timeout that already cost its time.
    Final,
}

/// Try again, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// After this wait.
    Retry {
        /// How long to wait.
        after: Duration,
    },
    /// No more.
    GiveUp {
        /// Why.
        why: Why,
    },
}

/// Why no further try is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It would end the same way.
    Pointless,
    /// As many as allowed were made.
    TriesSpent,
    /// The next would begin after the total.
    TimeSpent,
    /// The endpoint asks for a longer wait than allowed.
    WaitTooLong {
        /// What it asks for.
        asked: Duration,
    },
}

/// Decides what follows try number `tries` (1 for the first), `elapsed` after the first one began.
///
/// `random` gives numbers in \[0, 1): waits without a hint are uniform between zero and the doubling scale ("full
/// jitter"), so that parallel callers don't return together. A wait the endpoint asked for is never shortened.
#[must_use]
pub fn next(
    policy: &RetryPolicy,
    tries: u32,
    outcome: Outcome,
    elapsed: Duration,
    random: &mut dyn FnMut() -> f64,
) -> Decision {
    let hint = match outcome {
        Outcome::Final => return Decision::GiveUp { why: Why::Pointless },
        Outcome::NoConnection => None,
        Outcome::Busy { retry_after } => retry_after,
    };
    if let Some(asked) = hint.filter(|asked| *asked > policy.max_retry_after) {
        return Decision::GiveUp { why: Why::WaitTooLong { asked } };
    }
    if tries >= policy.allowed(outcome) {
        return Decision::GiveUp { why: Why::TriesSpent };
    }
    let share = random().clamp(0.0, 1.0);
    let after = match hint {
        Some(asked) => asked.saturating_add(policy.base_delay.mul_f64(share)),
        None => {
            let doubled = policy.base_delay.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
            doubled.min(policy.max_delay).mul_f64(share)
        }
    };
    if elapsed.saturating_add(after) > policy.total {
        return Decision::GiveUp { why: Why::TimeSpent };
    }
    Decision::Retry { after }
}

/// A number in \[0, 1) from the seed the standard library draws for its hash maps; spread matters here, secrecy doesn't.
pub(crate) fn random_share() -> f64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let bits = RandomState::new().build_hasher().finish() >> 32;
    f64::from(u32::try_from(bits).unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests;
