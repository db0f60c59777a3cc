//! The normal form of queries and predicates; two readings of a request are the same if their normal forms are equal.

use super::{Key, Order, Pred, Query, SortKey};

impl Query {
    /// The normal form of a query: paths sorted, nested filters merged, predicates normalised, filters that always hold
    /// removed.
    #[must_use]
    pub fn normalise(mut self) -> Self {
        for operand in self.operands_mut() {
            let taken = std::mem::replace(operand, Self::Processes);
            *operand = taken.normalise();
        }
        if let Self::Tree { roots: several, .. } | Self::Paths { paths: several, .. } = &mut self {
            several.sort();
            several.dedup();
        }
        // The order groups have anyway.
        let largest_first = SortKey { by: Key::Value, order: Order::Descending };
        if let Self::Sort { of, keys } = &self
            && matches!(**of, Self::Group { .. })
            && *keys == [largest_first]
        {
            return (**of).clone();
        }
        let Self::Filter { of, keep } = self else { return self };
        if let Self::Filter { of, keep: earlier } = *of {
            return Self::filtered(*of, Pred::All(vec![earlier, keep]));
        }
        Self::filtered(*of, keep)
    }

    /// A filter over a query, or the query itself if the normalised predicate always holds.
    fn filtered(of: Self, keep: Pred) -> Self {
        match keep.normalise() {
            Pred::All(parts) if parts.is_empty() => of,
            keep => Self::Filter { of: Box::new(of), keep },
        }
    }
}

impl Pred {
    /// The normal form of a predicate: flattened, sorted, negations pushed inwards, bounds merged.
    #[must_use]
    pub fn normalise(self) -> Self {
        let negated = |parts: Vec<Self>| parts.into_iter().map(|part| Self::Not(Box::new(part))).collect();
        match self {
            Self::All(parts) => Self::conjunction(parts),
            Self::Any(parts) => Self::disjunction(parts),
            Self::Not(inner) => match inner.normalise() {
                Self::Not(twice) => *twice,
                Self::Any(parts) => Self::conjunction(negated(parts)),
                Self::All(parts) => Self::disjunction(negated(parts)),
                // The other side of a bound.
                Self::MinBytes(bound) if bound > 0 => Self::MaxBytes(bound - 1),
                Self::MaxBytes(bound) if bound < u64::MAX => Self::MinBytes(bound + 1),
                Self::MinLength(bound) if bound > 0 => Self::MaxLength(bound - 1),
                Self::MaxLength(bound) if bound < u64::MAX => Self::MinLength(bound + 1),
                Self::ModifiedFrom(moment) => Self::ModifiedBefore(moment),
                Self::ModifiedBefore(moment) => Self::ModifiedFrom(moment),
                Self::AccessedFrom(moment) => Self::AccessedBefore(moment),
                Self::AccessedBefore(moment) => Self::AccessedFrom(moment),
                once => Self::Not(Box::new(once)),
            },
            Self::Extension(extension) => Self::Extension(extension.to_ascii_lowercase()),
            simple => simple,
        }
    }

    /// The normal form of an `All`: nested ones flattened, of the bounds of one sort only the tightest, except those of
    /// access times.
    fn conjunction(parts: Vec<Self>) -> Self {
        let parts = parts.into_iter().map(Self::normalise).flat_map(|part| match part {
            Self::All(inner) => inner,
            other => vec![other],
        });
        // Every length is at least 0.
        let mut flat: Vec<Self> = parts.filter(|part| *part != Self::MinBytes(0)).collect();
        flat.sort();
        // Bounds of one sort are now neighbours: of lower bounds the larger stays, of upper bounds the smaller.
        flat.dedup_by(|larger, smaller| match (&*larger, &*smaller) {
            (Self::MinBytes(_), Self::MinBytes(_))
            | (Self::ModifiedFrom(_), Self::ModifiedFrom(_))
            | (Self::MinLength(_), Self::MinLength(_)) => {
                std::mem::swap(larger, smaller);
                true
            }
            (Self::MaxBytes(_), Self::MaxBytes(_))
            | (Self::ModifiedBefore(_), Self::ModifiedBefore(_))
            | (Self::MaxLength(_), Self::MaxLength(_)) => true,
            _ => false,
        });
        Self::single_or(flat, Self::All)
    }

    /// The normal form of an `Any`: nested ones flattened.
    fn disjunction(parts: Vec<Self>) -> Self {
        let parts = parts.into_iter().map(Self::normalise).flat_map(|part| match part {
            Self::Any(inner) => inner,
            other => vec![other],
        });
        Self::single_or(parts.collect(), Self::Any)
    }

    /// The only part, or all parts sorted and without duplicates under `many`.
    fn single_or(mut parts: Vec<Self>, many: fn(Vec<Self>) -> Self) -> Self {
        parts.sort();
        parts.dedup();
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => many(parts.into_iter().chain(last).collect()),
        }
    }
}
