//! The four layers of the pyramid.

use serde::{Deserialize, Serialize};

/// A layer of the pyramid, from raw events up to what never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// Megram: one raw event; decays by its matrix row.
    M,
    /// Knowledge: a rule that lost its trust; decays like M.
    K,
    /// Common sense: a distilled rule, timeless until trust bankruptcy.
    C,
    /// Thinking: laws and persona; no operation demotes or deletes them.
    T,
}

impl Level {
    /// Whether records of this layer decay and count in potentials.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::M | Self::K)
    }
}

/// Which way a rule points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// It keeps working: do it this way.
    BestPractice,
    /// It keeps failing: do not.
    Constraint,
}

impl RuleKind {
    pub(crate) const ALL: [Self; 2] = [Self::BestPractice, Self::Constraint];

    /// +1 for a best practice, −1 for a constraint.
    #[must_use]
    pub const fn sign(self) -> i8 {
        match self {
            Self::BestPractice => 1,
            Self::Constraint => -1,
        }
    }

    /// The kind a rule's valence says.
    #[must_use]
    pub(crate) fn of_sigma(sigma: f64) -> Self {
        if sigma < 0.0 { Self::Constraint } else { Self::BestPractice }
    }
}
