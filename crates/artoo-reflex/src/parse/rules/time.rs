//! Grammar rules for ages, dates and time ranges, which become conditions on modification times.

use artoo_proto::Timestamp;

use super::super::draft::Draft;
use super::super::item::{Context, Item, Partial, Rule};
use crate::algebra::Pred;
use crate::calendar::Stretch;
use crate::concept::{Bound, Concept, Measure, Relation, TimeUnit};

/// The grammar rules for ages, dates and time ranges, in the order tried.
pub(super) const RULES: &[Rule] = &[date, age, relation, changed];

/// Whether the predicate is a lower or upper bound on the modification time.
fn is_time(pred: &Pred) -> bool {
    matches!(pred, Pred::ModifiedFrom(_) | Pred::ModifiedBefore(_))
}

/// The condition "modified at this time or later" as a parsed phrase.
fn from(moment: Timestamp) -> Draft {
    Draft::pred(Pred::ModifiedFrom(moment))
}

/// The condition "modified before this time" as a parsed phrase.
fn before(moment: Timestamp) -> Draft {
    Draft::pred(Pred::ModifiedBefore(moment))
}

/// The condition "modified within this time range" as a parsed phrase.
fn inside(stretch: Stretch) -> Draft {
    Draft { preds: vec![Pred::ModifiedFrom(stretch.start), Pred::ModifiedBefore(stretch.end)], ..Draft::default() }
}

/// Grammar rule for two neighbouring items, as in "March 3", "3 March 2024", "March 2024".
fn date(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let day_of = |item: &Item| -> Option<i8> {
        let day = if let Item::Ordinal(day) = item { *day } else { item.whole()? };
        i8::try_from(day).ok().filter(|day| (1..=31).contains(day))
    };
    match (left, right) {
        (Item::MonthDay { month, day: None }, number @ (Item::Number(_, false) | Item::Ordinal(_))) => {
            match day_of(number) {
                Some(day) => Some(Item::MonthDay { month: *month, day: Some(day) }),
                None => {
                    let year = i16::try_from(number.whole()?).ok().filter(|year| *year >= 1970)?;
                    context.clock.month(year, *month).map(Item::Stretch)
                }
            }
        }
        (number @ (Item::Number(_, false) | Item::Ordinal(_)), Item::MonthDay { month, day: None }) => {
            Some(Item::MonthDay { month: *month, day: Some(day_of(number)?) })
        }
        (Item::MonthDay { month, day: Some(day) }, Item::Number(year, false)) => {
            let year = i16::try_from(year.whole()?).ok().filter(|year| *year >= 1970)?;
            let date = jiff::civil::Date::new(year, *month, *day).ok()?;
            context.clock.day(date).map(Item::Stretch)
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "older than 2 weeks", "more than 3 days old", "3 days ago", "in the
/// last 3 days", "not touched for a year".
fn age(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let ago = |(amount, unit): (u64, TimeUnit)| context.clock.before_now(amount, unit);
    match (left, right) {
        (Item::Mark(Concept::Compare { bound, of: Measure::Age }), item)
        | (item, Item::Mark(Concept::OrBound { bound, of: Measure::Age | Measure::Either })) => {
            compared(*bound, ago(item.age()?)?).map(Item::draft)
        }
        (Item::Mark(Concept::Compare { bound, of: Measure::Either }), Item::Moment(moment)) => {
            compared(*bound, *moment).map(Item::draft)
        }
        (Item::Mark(Concept::Compare { bound, of: Measure::Either }), item) => {
            let (amount, unit) = item.age()?;
            Some(Item::Partial(Partial::AgeBound { bound: *bound, amount, unit }))
        }
        (Item::Partial(Partial::AgeBound { bound, amount, unit }), Item::Mark(Concept::Old)) => {
            compared(*bound, ago((*amount, *unit))?).map(Item::draft)
        }
        (item, Item::Mark(Concept::Ago)) => ago(item.age()?).map(Item::Moment),
        (Item::Mark(Concept::LastSpan), item) => {
            let (amount, unit) = item.age()?;
            Some(Item::draft(from(ago((amount, unit))?).noted("“the last …” counts back from this moment")))
        }
        (Item::Mark(Concept::Unmodified), item) => Some(Item::draft(before(ago(item.age()?)?))),
        _ => None,
    }
}

/// The condition on modification times for an age such as "older than 3 days", given the moment 3 days ago; `None` for
/// "exactly".
fn compared(bound: Bound, moment: Timestamp) -> Option<Draft> {
    match bound {
        Bound::Above => Some(before(moment)),
        Bound::AtLeast => Some(before(moment.plus_millis(1))),
        Bound::AtMost | Bound::Below => Some(from(moment)),
        Bound::Exactly => None,
    }
}

/// Grammar rule for two neighbouring items, as in "since Monday", "before 2024-01-01", "between Monday and Wednesday".
fn relation(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let stretch = |item: &Item| item.stretch(context.clock);
    match (left, right) {
        (Item::Mark(Concept::Relation(relation)), Item::Moment(moment)) => match relation {
            Relation::Since | Relation::After => Some(Item::draft(from(*moment))),
            Relation::Before | Relation::Until => Some(Item::draft(before(*moment))),
            Relation::From | Relation::During => None,
        },
        (Item::Mark(Concept::Relation(Relation::During | Relation::From)), Item::Draft(draft)) => {
            draft.only_preds_of(is_time).then(|| right.clone())
        }
        (Item::Mark(Concept::Relation(relation)), item) => {
            let stretch = stretch(item)?;
            Some(match relation {
                Relation::Since => Item::draft(from(stretch.start)),
                Relation::Before => Item::draft(before(stretch.start)),
                Relation::After => Item::draft(from(stretch.end).noted("“after” a day begins when that day is over")),
                Relation::Until => Item::draft(before(stretch.end)),
                Relation::From => Item::draft(inside(stretch)),
                Relation::During => Item::When(stretch),
            })
        }
        (Item::Mark(Concept::UnmodifiedSince), Item::Moment(moment)) => Some(Item::draft(before(*moment))),
        (Item::Mark(Concept::UnmodifiedSince), item) => Some(Item::draft(before(stretch(item)?.start))),
        (Item::Partial(Partial::BetweenAnd(first)), last) => {
            let (first, last) = (stretch(first)?, stretch(last)?);
            (first.start < last.end).then(|| Item::draft(inside(Stretch { start: first.start, end: last.end })))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "modified on Monday", "newer than a.txt".
fn changed(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::Modified), Item::Draft(draft)) => draft.only_preds_of(is_time).then(|| right.clone()),
        (Item::Mark(Concept::Modified), Item::When(stretch)) => Some(Item::draft(inside(*stretch))),
        (Item::Mark(Concept::Modified), item) => Some(Item::draft(inside(item.stretch(context.clock)?))),
        // "newer than a.txt", "older than a.txt": a file modified at the same moment is neither.
        (Item::Mark(Concept::Compare { bound: Bound::Below, of: Measure::Age }), item) => {
            Some(Item::draft(Draft::pred(Pred::NewerThan(one_file(context, item)?))))
        }
        (Item::Mark(Concept::Accessed), item) => {
            changed(context, &Item::Mark(Concept::Modified), item).and_then(as_accessed)
        }
        (Item::Mark(Concept::Unaccessed), item) => {
            age(context, &Item::Mark(Concept::Unmodified), item).and_then(as_accessed)
        }
        (Item::Mark(Concept::UnaccessedSince), item) => {
            relation(context, &Item::Mark(Concept::UnmodifiedSince), item).and_then(as_accessed)
        }
        _ => None,
    }
}

/// The item with its conditions on modification times turned into ones on the time of the last read.
fn as_accessed(item: Item) -> Option<Item> {
    let Item::Draft(mut draft) = item else { return None };
    for pred in &mut draft.preds {
        *pred = match pred {
            Pred::ModifiedFrom(moment) => Pred::AccessedFrom(*moment),
            Pred::ModifiedBefore(moment) => Pred::AccessedBefore(*moment),
            _ => return None,
        };
    }
    Some(Item::Draft(draft))
}

/// The path of the single file that an item names.
fn one_file(context: &Context<'_>, item: &Item) -> Option<String> {
    let draft = item.as_draft(context).filter(Draft::only_object)?;
    let [place] = draft.object.as_slice() else { return None };
    Some(place.path.clone())
}
