//! Walking a query: its operand and its source, whatever the operator.

use super::{Kind, Query};

impl Query {
    /// What the outermost operator works on (of two texts the first); `None` of a source.
    #[must_use]
    pub fn operand(&self) -> Option<&Self> {
        match self {
            Self::Tree { .. }
            | Self::Paths { .. }
            | Self::TextFile { .. }
            | Self::ArchiveEntries { .. }
            | Self::Processes
            | Self::System { .. } => None,
            Self::TextOf { of }
            | Self::Filter { of, .. }
            | Self::Sort { of, .. }
            | Self::Limit { of, .. }
            | Self::Part { of, .. }
            | Self::Unique { of }
            | Self::Repeated { of }
            | Self::Words { of }
            | Self::Column { of, .. }
            | Self::Replace { of, .. }
            | Self::Matches { of, .. }
            | Self::Rewritten { of, .. }
            | Self::Names { of, .. }
            | Self::Numbered { of }
            | Self::Compare { of, .. }
            | Self::Details { of }
            | Self::Field { of, .. }
            | Self::Duplicates { of }
            | Self::Group { of, .. }
            | Self::Aggregate { of, .. } => Some(of),
        }
    }

    /// The same, to be changed.
    pub(crate) fn operands_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Tree { .. }
            | Self::Paths { .. }
            | Self::TextFile { .. }
            | Self::ArchiveEntries { .. }
            | Self::Processes
            | Self::System { .. } => Vec::new(),
            Self::Compare { of, with, .. } => vec![of, with],
            Self::TextOf { of }
            | Self::Filter { of, .. }
            | Self::Sort { of, .. }
            | Self::Limit { of, .. }
            | Self::Part { of, .. }
            | Self::Unique { of }
            | Self::Repeated { of }
            | Self::Words { of }
            | Self::Column { of, .. }
            | Self::Replace { of, .. }
            | Self::Matches { of, .. }
            | Self::Rewritten { of, .. }
            | Self::Names { of, .. }
            | Self::Numbered { of }
            | Self::Details { of }
            | Self::Field { of, .. }
            | Self::Duplicates { of }
            | Self::Group { of, .. }
            | Self::Aggregate { of, .. } => vec![of],
        }
    }

    /// The source at the bottom (of two texts the first one's).
    #[must_use]
    pub fn source(&self) -> &Self {
        self.operand().map_or(self, Self::source)
    }

    /// What counts as an element; files for a text.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if let Self::Tree { kind, .. } | Self::Paths { kind, .. } = self.source() { *kind } else { Kind::File }
    }
}
