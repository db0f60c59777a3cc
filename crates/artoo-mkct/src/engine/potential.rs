//! Attention and decision of a tag, and the action they imply.

use serde::{Deserialize, Serialize};

/// Attention below which too little is known to give advice.
pub const ATTENTION_THRESHOLD: f64 = 0.5;

/// Decision above which advice is to exploit, and below whose negative it is to avoid.
pub const DECISION_THRESHOLD: f64 = 0.2;

/// Milliseconds of a day.
const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// The action that experience with a tag suggests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Too little is known.
    Ignore,
    /// It worked: prefer it.
    Exploit,
    /// It failed: do not use it.
    Avoid,
    /// Known, but undecided: ask first, or try it where nothing can break.
    Caution,
}

impl Action {
    /// The action for these sums.
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
    /// How much is known: Σ f·exp(−k·Δt), Δt in days.
    pub attention: f64,
    /// Which way it points: Σ σ·f·exp(−k·Δt), Δt in days.
    pub decision: f64,
    /// The action that these sums imply; caps of the advice may lower it.
    pub action: Action,
}

impl Potentials {
    /// Potentials with the action that these sums imply.
    #[must_use]
    pub fn new(attention: f64, decision: f64) -> Self {
        Self { attention, decision, action: Action::of(attention, decision) }
    }
}

/// Days from `from_ms` to `to_ms`; zero if `to_ms` is earlier. Never overflows.
pub(crate) fn days_between(from_ms: i64, to_ms: i64) -> f64 {
    to_ms.saturating_sub(from_ms).max(0) as f64 / MILLIS_PER_DAY
}

/// The share of its weight that a record has left after `days`.
pub(crate) fn decay(k: f64, days: f64) -> f64 {
    (-k * days).exp()
}
