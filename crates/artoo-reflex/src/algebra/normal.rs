//! Normal form: two readings mean the same exactly when their normal forms are equal.

#![expect(clippy::wildcard_enum_match_arm, reason = "it takes off the operators it names and hands on the rest")]

use super::{Pred, Query};

impl Query {
    /// The normal form: nested filters joined, predicates flattened, sorted and merged, empty filters dropped.
    #[must_use]
    pub fn normalise(self) -> Self {
        match self {
            Self::Tree { .. } | Self::TextFile { .. } => self,
            Self::Filter { of, keep } => match of.normalise() {
                Self::Filter { of, keep: earlier } => Self::filtered(*of, Pred::All(vec![earlier, keep])),
                of @ (Self::Tree { .. }
                | Self::TextFile { .. }
                | Self::Sort { .. }
                | Self::Limit { .. }
                | Self::Part { .. }
                | Self::Details { .. }
                | Self::Aggregate { .. }) => Self::filtered(of, keep),
            },
            Self::Sort { of, by, order } => Self::Sort { of: Box::new(of.normalise()), by, order },
            Self::Limit { of, count } => Self::Limit { of: Box::new(of.normalise()), count },
            Self::Part { of, part } => Self::Part { of: Box::new(of.normalise()), part },
            Self::Details { of } => Self::Details { of: Box::new(of.normalise()) },
            Self::Aggregate { of, function } => Self::Aggregate { of: Box::new(of.normalise()), function },
        }
    }

    fn filtered(of: Self, keep: Pred) -> Self {
        match keep.normalise() {
            Pred::All(parts) if parts.is_empty() => of,
            keep => Self::Filter { of: Box::new(of), keep },
        }
    }
}

impl Pred {
    /// The normal form of a predicate.
    #[must_use]
    pub fn normalise(self) -> Self {
        match self {
            Self::All(parts) => Self::conjunction(parts),
            Self::Any(parts) => Self::disjunction(parts),
            Self::Not(inner) => match inner.normalise() {
                Self::Not(twice) => *twice,
                Self::Any(parts) => {
                    Self::conjunction(parts.into_iter().map(|part| Self::Not(Box::new(part))).collect())
                }
                Self::All(parts) => {
                    Self::disjunction(parts.into_iter().map(|part| Self::Not(Box::new(part))).collect())
                }
                once => Self::Not(Box::new(once)),
            },
            Self::Extension(extension) => Self::Extension(extension.to_ascii_lowercase()),
            simple @ (Self::Name(_)
            | Self::MinBytes(_)
            | Self::MaxBytes(_)
            | Self::ModifiedFrom(_)
            | Self::ModifiedBefore(_)
            | Self::Contains { .. }) => simple,
        }
    }

    fn conjunction(parts: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        let (mut min, mut max, mut from, mut before) = (None, None, None, None);
        for part in parts {
            match part.normalise() {
                // A normalised conjunction holds no conjunction, and at most one bound of each sort.
                Self::All(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        flat.retain(|part| match part {
            // Every length is at least 0.
            Self::MinBytes(0) => false,
            Self::MinBytes(bound) => keep_bound(&mut min, *bound, Ord::max),
            Self::MaxBytes(bound) => keep_bound(&mut max, *bound, Ord::min),
            Self::ModifiedFrom(bound) => keep_bound(&mut from, *bound, Ord::max),
            Self::ModifiedBefore(bound) => keep_bound(&mut before, *bound, Ord::min),
            Self::All(_) | Self::Any(_) | Self::Not(_) | Self::Extension(_) | Self::Name(_) | Self::Contains { .. } => {
                true
            }
        });
        flat.extend(min.map(Self::MinBytes));
        flat.extend(max.map(Self::MaxBytes));
        flat.extend(from.map(Self::ModifiedFrom));
        flat.extend(before.map(Self::ModifiedBefore));
        Self::single_or(flat, Self::All)
    }

    fn disjunction(parts: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part.normalise() {
                Self::Any(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        Self::single_or(flat, Self::Any)
    }

    fn single_or(mut parts: Vec<Self>, many: fn(Vec<Self>) -> Self) -> Self {
        parts.sort();
        parts.dedup();
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return only;
        }
        many(parts)
    }
}

/// Folds a bound into the tightest one so far and drops the predicate it came from.
fn keep_bound<T>(tightest: &mut Option<T>, bound: T, tighter: fn(T, T) -> T) -> bool {
    *tightest = Some(match tightest.take() {
        Some(earlier) => tighter(earlier, bound),
        None => bound,
    });
    false
}
