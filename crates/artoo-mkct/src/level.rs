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
