//! The two channels of a tag and the action plane they span.

use serde::{Deserialize, Serialize};

/// Below this attention there is too little history to guide a plan.
pub const ATTENTION_THRESHOLD: f64 = 0.5;

/// Beyond this preference, either way, experience takes a side.
pub const DECISION_THRESHOLD: f64 = 0.2;

const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// What experience says to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Too little history.
    Ignore,
    /// It worked: prefer it.
    Exploit,
    /// It failed: must not be used.
    Avoid,
    /// Known, but undecided: ask first or try it where nothing can break.
    Caution,
}

impl Action {
    /// The cell of the plane that these sums fall into.
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

/// Both channels of one tag at one moment, and the action they imply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Potentials {
    /// Unsigned energy, Σ f·exp(−k·Δt), Δt in days.
    pub attention: f64,
    /// Signed preference, Σ σ·f·exp(−k·Δt).
    pub decision: f64,
    /// What follows.
    pub action: Action,
}

impl Potentials {
    /// The potentials with the action the plane gives them.
    #[must_use]
    pub fn new(attention: f64, decision: f64) -> Self {
        Self { attention, decision, action: Action::of(attention, decision) }
    }
}

/// Days from `from_ms` to `to_ms`; zero when the clock ran backwards, never overflowing.
pub(crate) fn days_between(from_ms: i64, to_ms: i64) -> f64 {
    to_ms.saturating_sub(from_ms).max(0) as f64 / MILLIS_PER_DAY
}

/// What is left of a record after `days`.
pub(crate) fn decay(k: f64, days: f64) -> f64 {
    (-k * days).exp()
}
