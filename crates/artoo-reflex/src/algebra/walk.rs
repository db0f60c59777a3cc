//! Access to the operands and the source of a query, whatever its operator.

use super::{Kind, Query};

/// Expands to the operands of a query's outermost operator: none, one, or both texts of a comparison.
macro_rules! operands {
    ($query:expr) => {
        match $query {
            Query::Tree { .. }
            | Query::Paths { .. }
            | Query::TextFile { .. }
            | Query::ArchiveEntries { .. }
            | Query::Processes
            | Query::System { .. } => [None, None],
            Query::Compare { of, with, .. } => [Some(of), Some(with)],
            Query::TextOf { of }
            | Query::Filter { of, .. }
            | Query::Sort { of, .. }
            | Query::Limit { of, .. }
            | Query::Part { of, .. }
            | Query::Unique { of }
            | Query::Repeated { of }
            | Query::Words { of }
            | Query::Column { of, .. }
            | Query::Replace { of, .. }
            | Query::Matches { of, .. }
            | Query::Rewritten { of, .. }
            | Query::Names { of, .. }
            | Query::Numbered { of }
            | Query::Details { of }
            | Query::Field { of, .. }
            | Query::Duplicates { of }
            | Query::Group { of, .. }
            | Query::Aggregate { of, .. } => [Some(of), None],
        }
    };
}

impl Query {
    /// The operand of the outermost operator, the first text of a comparison; `None` for a source.
    #[must_use]
    pub fn operand(&self) -> Option<&Self> {
        let [first, _] = operands!(self);
        first.map(AsRef::as_ref)
    }

    /// Mutable references to all operands of the outermost operator.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        operands!(self).into_iter().flatten().map(AsMut::as_mut)
    }

    /// The innermost query, which reads files, text or facts; of a comparison the first text's.
    #[must_use]
    pub fn source(&self) -> &Self {
        self.operand().map_or(self, Self::source)
    }

    /// The kind of entries that the query's source yields; [`Kind::File`] for a source that is no tree or list of
    /// paths.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if let Self::Tree { kind, .. } | Self::Paths { kind, .. } = self.source() { *kind } else { Kind::File }
    }
}
