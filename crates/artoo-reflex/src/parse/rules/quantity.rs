//! Grammar rules for numbers, sizes and comparisons of sizes.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::draft::Draft;
use super::super::item::{Context, Item, Partial, Rule};
use crate::algebra::Pred;
use crate::concept::{Bound, Concept, Measure};
use crate::eval::EntryKind;
use crate::lex::Decimal;

/// The grammar rules for numbers, sizes and comparisons, in the order tried.
pub(super) const RULES: &[Rule] = &[number, size, size_of_file, between];

/// Grammar rule for two neighbouring items, as in "two hundred", "twenty five", "10 MB", "3 days".
fn number(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Number(a, _), Item::Number(b, true)) => {
            let (a, b) = (a.whole()?, b.whole()?);
            let sum = match (a, b) {
                (20..=90, 1..=9) if a % 10 == 0 => a + b,
                (1..=99, 100) | (1..=999, 1000) => a.checked_mul(b)?,
                _ => return None,
            };
            Some(Item::Number(Decimal { mantissa: sum, scale: 0 }, true))
        }
        (Item::Number(amount, _), Item::Mark(Concept::Bytes(unit))) => {
            Some(Item::Bytes { value: amount.times(*unit)?, unit: *unit })
        }
        (Item::Number(amount, _), Item::Mark(Concept::TimeUnit(unit))) => {
            Some(Item::Age { amount: amount.whole()?, unit: *unit })
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "larger than b.txt", in which the size of a file is meant.
fn size_of_file(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let (Item::Mark(Concept::Compare { bound, of: Measure::Size }), Some(draft)) = (left, right.as_draft(context))
    else {
        return None;
    };
    // "files that are in a.zip" says nothing of a size.
    let ([place], false) = (draft.object.as_slice(), *bound == Bound::Exactly) else { return None };
    let file = context.fs.metadata(Path::new(&place.path)).ok().filter(|file| file.kind == EntryKind::File)?;
    let preds = bounds(*bound, file.bytes, Pred::MinBytes, Pred::MaxBytes)?;
    let note = format!("{} has {} bytes", place.path, file.bytes);
    draft.only_object().then(|| Item::draft(Draft { preds, ..Draft::default() }.noted(note)))
}

/// Grammar rule for two neighbouring items, as in "larger than 10 MB", "10 MB or more", "with a size over 10 MB", "over
/// 10 MB in size".
fn size(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let bytes = |bound: &Bound, value| bounds(*bound, value, Pred::MinBytes, Pred::MaxBytes);
    match (left, right) {
        (Item::Mark(Concept::Compare { bound, of: Measure::Size | Measure::Either }), Item::Bytes { value, unit })
        | (Item::Bytes { value, unit }, Item::Mark(Concept::OrBound { bound, of: Measure::Size | Measure::Either })) => {
            Some(Item::draft(Draft { preds: bytes(bound, *value)?, notes: unit_note(*unit), ..Draft::default() }))
        }
        // The size 0 needs no unit: "with size 0".
        (
            Item::Mark(Concept::Compare { bound: bound @ (Bound::Exactly | Bound::Above), of: Measure::Size }),
            number,
        ) if number.whole() == Some(0) => Some(Item::draft(Draft { preds: bytes(bound, 0)?, ..Draft::default() })),
        // "with more than 5 kB".
        (Item::Mark(Concept::SizeField | Concept::With), Item::Draft(draft))
        | (Item::Draft(draft), Item::Mark(Concept::SizeSuffix))
            if draft.only_preds_of(|pred| matches!(pred, Pred::MinBytes(_) | Pred::MaxBytes(_))) =>
        {
            Some(Item::Draft(draft.clone()))
        }
        _ => None,
    }
}

/// The note that a decimal size unit such as MB differs from the binary one (MiB); empty for other units.
fn unit_note(unit: u64) -> BTreeSet<String> {
    let note = match unit {
        1000 => "1 KB is 1,000 bytes (1 KiB is 1,024)",
        1_000_000 => "1 MB is 1,000,000 bytes (1 MiB is 1,048,576)",
        1_000_000_000 => "1 GB is 1,000,000,000 bytes (1 GiB is 1,073,741,824)",
        1_000_000_000_000 => "1 TB is 1,000,000,000,000 bytes (1 TiB is 1,099,511,627,776)",
        _ => return BTreeSet::new(),
    };
    BTreeSet::from([note.to_owned()])
}

/// The lower and upper bounds that a comparison such as "more than 5" puts on a value; `None` if nothing can satisfy
/// it.
pub(super) fn bounds(bound: Bound, value: u64, min: fn(u64) -> Pred, max: fn(u64) -> Pred) -> Option<Vec<Pred>> {
    Some(match bound {
        Bound::Above => vec![min(value.checked_add(1)?)],
        Bound::AtLeast => vec![min(value)],
        Bound::Exactly => vec![min(value), max(value)],
        Bound::AtMost => vec![max(value)],
        Bound::Below => vec![max(value.checked_sub(1)?)],
    })
}

/// Grammar rule for two neighbouring items, as in "between 1 MB and 5 MB", "from 1 to 5 MB": both ends included.
fn between(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (
            Item::Mark(Concept::Between),
            Item::Bytes { .. } | Item::Number(..) | Item::Stretch(_) | Item::MonthDay { .. },
        ) => Some(Item::Partial(Partial::Between(Box::new(right.clone())))),
        (Item::Partial(Partial::Between(first)), Item::Mark(Concept::And | Concept::To)) => {
            Some(Item::Partial(Partial::BetweenAnd(first.clone())))
        }
        (Item::Partial(Partial::BetweenAnd(first)), Item::Bytes { value, unit }) => {
            let low = match first.as_ref() {
                Item::Bytes { value, .. } => *value,
                other => {
                    let Item::Number(amount, _) = other else { return None };
                    amount.times(*unit)?
                }
            };
            let preds = vec![Pred::MinBytes(low), Pred::MaxBytes(*value)];
            (low <= *value).then(|| Item::draft(Draft { preds, notes: unit_note(*unit), ..Draft::default() }))
        }
        _ => None,
    }
}
