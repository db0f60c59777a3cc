//! The four levels of records, and the two kinds of rules.

use serde::{Deserialize, Serialize};

/// A level of records, from events up to laws that never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// Megram: one event; it decays.
    M,
    /// Knowledge: a demoted rule; it decays.
    K,
    /// Common sense: a rule made of events; it does not decay, but is demoted when events contradict it.
    C,
    /// Thinking: laws and persona; never demoted, and deleted only if a person adopted the text from rules.
    T,
}

impl Level {
    /// Whether records of this level decay and count in attention and decision.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::M | Self::K)
    }
}

/// The kind of a rule: whether it recommends or forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// The rule recommends an approach that keeps working.
    BestPractice,
    /// The rule forbids an approach that keeps failing.
    Constraint,
}

impl RuleKind {
    /// Both kinds of rules: best practice and constraint.
    pub(crate) const ALL: [Self; 2] = [Self::BestPractice, Self::Constraint];

    /// +1 for a best practice, −1 for a constraint.
    #[must_use]
    pub const fn sign(self) -> i8 {
        match self {
            Self::BestPractice => 1,
            Self::Constraint => -1,
        }
    }

    /// The kind of a rule with this valence: negative for a constraint.
    #[must_use]
    pub(crate) fn of_sigma(sigma: f64) -> Self {
        if sigma < 0.0 { Self::Constraint } else { Self::BestPractice }
    }
}
