//! Attention and decision of a tag, and the action they imply.

use serde::{Deserialize, Serialize};

/// Attention (how much is known about a tag) below which no advice is given.
pub const ATTENTION_THRESHOLD: f64 = 0.5;

/// Decision (negative: it failed, positive: it worked) above which the advice is to exploit, and below whose negative
/// it is to avoid.
pub const DECISION_THRESHOLD: f64 = 0.2;

/// Number of milliseconds in a day.
const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// What experience with a tag advises: nothing, exploit, avoid, or caution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Too little is known to give advice.
    Ignore,
    /// The approach worked: prefer it.
    Exploit,
    /// The approach failed: do not use it.
    Avoid,
    /// Much is known, but undecided: ask first, or try it where it can do no harm.
    Caution,
}

impl Action {
    /// The action that follows from an attention and a decision by the thresholds.
    #[must_use]
    pub fn of(attention: f64, decision: f64) -> Self {
        if attention < ATTENTION_THRESHOLD {
            Self::Ignore
        } else if decision > DECISION_THRESHOLD {
            Self::Exploit
        } else if decision < -DECISION_THRESHOLD {
            Self::Avoid
        } else {
            Self::Caution
        }
    }
}

/// Attention and decision of a tag at one moment, and the action they imply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Potentials {
    /// How much is known about the tag: Σ f·exp(−k·Δt) over its records, Δt in days.
    pub attention: f64,
    /// Whether it worked (positive) or failed (negative): Σ σ·f·exp(−k·Δt) over the tag's records, Δt in days.
    pub decision: f64,
    /// The action that attention and decision imply; advice may lower it to caution.
    pub action: Action,
}

impl Potentials {
    /// Potentials with the action that attention and decision imply.
    #[must_use]
    pub fn new(attention: f64, decision: f64) -> Self {
        Self { attention, decision, action: Action::of(attention, decision) }
    }
}

/// Days from `from_ms` to `to_ms`; zero if `to_ms` is earlier. Never overflows.
pub(crate) fn days_between(from_ms: i64, to_ms: i64) -> f64 {
    to_ms.saturating_sub(from_ms).max(0) as f64 / MILLIS_PER_DAY
}

/// The fraction of its weight that a record has left after `days`, 0..=1; `k` is its decay rate per day.
pub(crate) fn decay(k: f64, days: f64) -> f64 {
    (-k * days).exp()
}
