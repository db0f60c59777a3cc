//! Applies the sort order and limit that a phrase asks for: superlatives, sort keys, "the first 5", "the second".

use super::super::draft::{Ask, Draft};
use super::{BuildContext, BuildError};
use crate::algebra::{Key, Kind, Order, Query, SortKey, Ty};

/// Number of files that "the largest files" means without a number.
const FILES_WITHOUT_A_NUMBER: u64 = 10;

/// The query sorted and limited as a parsed phrase says.
pub(super) fn order(cx: &mut BuildContext<'_>, draft: &mut Draft, of: Query) -> Result<Query, BuildError> {
    let plural = draft.plural.take();
    let is_folder = of.kind() == Kind::Folder;
    let of_kind = |key: Key| if key == Key::Size && is_folder { Key::TotalSize } else { key };
    let nth = draft.nth.take();
    if let Some((by, direction)) = draft.superlative.take() {
        // "the 10 largest files by size" gives the same sort key twice.
        if (draft.sort == [(by, None)] || draft.sort == [(by, Some(direction))]) && draft.order.is_none() {
            draft.sort.clear();
        }
        let sorted = sorted(of, vec![SortKey { by: of_kind(by), order: direction }]);
        if let Some(nth) = nth {
            return Ok(limited(sorted, nth.saturating_sub(1), 1));
        }
        let count = match (draft.limit.take(), plural) {
            (Some(count), _) => count,
            (None, Some(false)) => 1,
            (None, Some(true) | None) if matches!(draft.ask, Some(Ask::Count | Ask::CountThem)) => {
                return Err(BuildError::Question { question: "a count", of: "the first of an order" });
            }
            (None, Some(true) | None) if draft.act.is_some() => return Err(BuildError::Incomplete("how many")),
            (None, Some(true) | None) => {
                cx.notes.push(format!("no number was named: the first {FILES_WITHOUT_A_NUMBER} are shown"));
                FILES_WITHOUT_A_NUMBER
            }
        };
        return Ok(limited(sorted, 0, count));
    }
    let keys = keys(cx, draft)?;
    let has_keys = !keys.is_empty();
    // "a.txt in alphabetical order" asks for its lines.
    if has_keys && matches!(&of, Query::Paths { paths, .. } if paths.len() == 1) {
        return Err(BuildError::Leftover);
    }
    let keys = keys.into_iter().map(|key| SortKey { by: of_kind(key.by), order: key.order }).collect();
    let ordered = if has_keys { sorted(of, keys) } else { of };
    let is_ordered = has_keys || matches!(ordered, Query::Sort { .. } | Query::Limit { .. } | Query::Paths { .. });
    let (skip, count) = match (nth, draft.limit.take()) {
        (Some(nth), None) => (nth.saturating_sub(1), 1),
        (None, Some(count)) => (0, count),
        (None, None) => return Ok(ordered),
        (Some(_), Some(_)) => return Err(BuildError::Leftover),
    };
    if draft.act.is_some() && !is_ordered {
        return Err(BuildError::Incomplete("the first in which order"));
    }
    if is_ordered || ordered.ty() != Ok(Ty::Files) {
        return Ok(limited(ordered, skip, count));
    }
    if draft.act.is_some() || matches!(draft.ask, Some(Ask::Count | Ask::CountThem | Ask::Number(_))) {
        return Err(BuildError::Incomplete("which of them"));
    }
    cx.notes.push("no order was named: in the order of paths".to_owned());
    Ok(limited(sorted(ordered, vec![SortKey { by: Key::Path, order: Order::Ascending }]), skip, count))
}

/// The sort keys that a parsed phrase names, each with its direction.
pub(super) fn keys(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Vec<SortKey>, BuildError> {
    draft.fix_order();
    let mut keys = Vec::new();
    for (by, direction) in std::mem::take(&mut draft.sort) {
        let order = direction.unwrap_or_else(|| {
            let (order, word) = match by {
                Key::Size | Key::TotalSize | Key::Value | Key::Memory | Key::Cpu => {
                    (Order::Descending, "largest first")
                }
                Key::Modified => (Order::Descending, "newest first"),
                Key::Name | Key::Path | Key::Extension | Key::Text => (Order::Ascending, "from A to Z"),
                Key::Numeric => (Order::Ascending, "smallest first"),
                Key::Length => (Order::Ascending, "shortest first"),
            };
            cx.notes.push(format!("no direction was named: {word}"));
            order
        });
        keys.push(SortKey { by, order });
    }
    if draft.order.is_some() {
        return Err(BuildError::Leftover);
    }
    Ok(keys)
}

/// The query with its elements sorted by these keys.
fn sorted(of: Query, keys: Vec<SortKey>) -> Query {
    Query::Sort { of: Box::new(of), keys }
}

/// The query limited to `count` elements after the first `skip`.
fn limited(of: Query, skip: u64, count: u64) -> Query {
    match of {
        // "the second one" of the 3 largest files.
        Query::Limit { of, skip: before, count: most } => {
            Query::Limit { of, skip: before.saturating_add(skip), count: count.min(most.saturating_sub(skip)) }
        }
        of => Query::Limit { of: Box::new(of), skip, count },
    }
}
