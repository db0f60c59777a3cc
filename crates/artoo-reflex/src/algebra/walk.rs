//! Access to the operands and the source of a query, whatever its operator.

use super::{Depth, Kind, Pred, Query, SortKey};

/// The layers of a query for a list, from the outermost in: limit, sort order, conditions, source.
pub(crate) struct Layers<'a> {
    /// The limit: the number of elements skipped, and the maximum number after them; `None` without a limit.
    pub(crate) limit: Option<(u64, u64)>,
    /// The sort keys; empty if the query is not sorted.
    pub(crate) keys: &'a [SortKey],
    /// The query for the elements before sorting and limiting.
    pub(crate) members: &'a Query,
    /// The conditions, all of which an element must satisfy.
    pub(crate) keep: &'a [Pred],
    /// The source of the elements below all other layers.
    pub(crate) source: &'a Query,
}

/// Expands to the operands of a query's outermost operator: none, one, or both texts of a comparison.
macro_rules! operands {
    ($query:expr) => {
        match $query {
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
            _ => [None, None],
        }
    };
}

impl Query {
    /// Makes every folder listing in the query go to this depth.
    pub(crate) fn set_depth(&mut self, to: Depth) {
        if let Self::Tree { depth, .. } = self {
            *depth = to;
        }
        self.operands_mut().for_each(|of| of.set_depth(to));
    }

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

    /// Splits the query into its layers.
    pub(crate) fn layers(&self) -> Layers<'_> {
        let (limit, unlimited) = match self {
            Self::Limit { of, skip, count } => (Some((*skip, *count)), of.as_ref()),
            other => (None, other),
        };
        let (keys, members) = match unlimited {
            Self::Sort { of, keys } => (keys.as_slice(), of.as_ref()),
            other => (&[][..], other),
        };
        let (keep, source) = match members {
            Self::Filter { of, keep: Pred::All(parts) } => (parts.as_slice(), of.as_ref()),
            Self::Filter { of, keep } => (std::slice::from_ref(keep), of.as_ref()),
            other => (&[][..], other),
        };
        Layers { limit, keys, members, keep, source }
    }

    /// The kind of entries that the query's source yields; [`Kind::File`] for a source that is no tree or list of
    /// paths.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if let Self::Tree { kind, .. } | Self::Paths { kind, .. } = self.source() { *kind } else { Kind::File }
    }
}
