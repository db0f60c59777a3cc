//! Operands and source of a query, whatever its operator.

use super::{Kind, Query};

/// The operands of a query, borrowed as the query is: none, one, or the two texts of a comparison.
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
    /// The (first) operand of the outermost operator; `None` for a source.
    #[must_use]
    pub fn operand(&self) -> Option<&Self> {
        let [first, _] = operands!(self);
        first.map(AsRef::as_ref)
    }

    /// All operands of the outermost operator, to be changed.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        operands!(self).into_iter().flatten().map(AsMut::as_mut)
    }

    /// The source at the bottom of the query; of two texts the first one's.
    #[must_use]
    pub fn source(&self) -> &Self {
        self.operand().map_or(self, Self::source)
    }

    /// The kind of elements of the query's source; [`Kind::File`] for a text.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if let Self::Tree { kind, .. } | Self::Paths { kind, .. } = self.source() { *kind } else { Kind::File }
    }
}
