//! Grammar rules for sort orders, limits, ranges of lines, and lists joined by "and" and "or".

use super::super::draft::{Ask, Draft, LAST, LinesWanted, only};
use super::super::item::{Context, Item, Partial, Rule, Text, TextKind};
use crate::algebra::{Key, Kind, NameTest, Order, Part, Pred};
use crate::concept::{Bound, Concept, Edge, Measure, Reference, TextUnit};
use crate::place::{PathKind, Place, file_name};

/// The grammar rules for sort orders, limits and lists joined by "and", in the order tried.
pub(super) const RULES: &[Rule] = &[numbered, lines, line_numbers, order, joined];

/// Grammar rule for two neighbouring items, as in "first 5", "5 largest", "5 PDFs", "newest 3", "last 5 modified".
fn numbered(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let limited = |draft: &Draft, limit: u64| {
        let fits = draft.limit.is_none() && draft.ask.is_none() && draft.verb.is_none() && draft.lines.is_none();
        let counts =
            draft.has_noun() || draft.superlative.is_some() || draft.reference.is_some() || draft.processes.is_some();
        (fits && limit > 0 && counts).then(|| Item::draft(Draft { limit: Some(limit), ..draft.clone() }))
    };
    match (left, right) {
        (Item::Mark(Concept::Edge(edge)), number @ Item::Number(..)) => {
            let count = number.whole().filter(|count| *count > 0)?;
            Some(Item::Partial(Partial::Numbered(*edge, count)))
        }
        (Item::Partial(Partial::Numbered(Edge::First, count)), Item::Mark(Concept::Groups)) => {
            Some(Item::draft(Draft { limit: Some(*count), ..Draft::default() }))
        }
        // "the second largest", "the 2nd".
        (Item::Ordinal(nth), Item::Draft(draft)) if *nth > 0 && draft.nth.is_none() && draft.limit.is_none() => {
            let fits = draft.verb.is_none() && draft.ask.is_none() && draft.lines.is_none();
            (fits && (draft.superlative.is_some() || draft.has_noun() || draft.reference.is_some()))
                .then(|| Item::draft(Draft { nth: Some(*nth), ..(**draft).clone() }))
        }
        // "the last one".
        (Item::Mark(Concept::Edge(edge)), Item::Draft(draft))
            if draft.reference == Some(Reference::One)
                && draft.plural == Some(false)
                && only!(draft, reference, plural) =>
        {
            let nth = if *edge == Edge::First { 1 } else { LAST };
            Some(Item::draft(Draft { nth: Some(nth), ..(**draft).clone() }))
        }
        // "which one is the largest", "the largest one": no number.
        (Item::Number(value, true), Item::Draft(draft)) if value.whole() == Some(1) && !draft.has_noun() => None,
        (number @ Item::Number(..), Item::Draft(draft)) => limited(draft, number.whole()?),
        (Item::Partial(Partial::Numbered(Edge::First, count)), Item::Draft(draft)) => limited(draft, *count),
        (Item::Draft(_), Item::Number(value, true)) if value.whole() == Some(1) => None,
        (Item::Draft(draft), number @ Item::Number(..)) if draft.superlative.is_some() && !draft.has_noun() => {
            limited(draft, number.whole()?)
        }
        (Item::Mark(Concept::SuperlativeBefore { by, order }), Item::Draft(draft)) if draft.has_noun() => {
            draft.merge(&Draft { superlative: Some((*by, *order)), ..Draft::default() }).map(Item::draft)
        }
        // "changed last".
        (Item::Mark(Concept::Modified), Item::Mark(Concept::Edge(Edge::Last))) => {
            let superlative = Some((Key::Modified, Order::Descending));
            Some(Item::draft(Draft { superlative, ..Draft::default() }))
        }
        (Item::Partial(Partial::Numbered(Edge::Last, count)), Item::Mark(Concept::Modified)) => {
            Some(Item::draft(Draft {
                superlative: Some((Key::Modified, Order::Descending)),
                limit: Some(*count),
                ..Draft::default()
            }))
        }
        _ => None,
    }
}

/// A parsed phrase that asks for this range of lines and nothing else.
pub(super) fn line_range(part: Part) -> Draft {
    Draft { lines: Some(LinesWanted::Part(part)), ..Draft::default() }
}

/// Grammar rule for two neighbouring items, as in "first 5 lines", "the last line", "lines 5 to 10", "line 7", "the 7th
/// line".
fn lines(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let part = |part| Some(Item::draft(line_range(part)));
    match (left, right) {
        (Item::Partial(Partial::Numbered(edge, count)), Item::Mark(Concept::Lines { .. })) => part(edge.part(*count)),
        (Item::Mark(Concept::Edge(edge)), Item::Mark(Concept::Lines { plural: false })) => part(edge.part(1)),
        // "the first error".
        (Item::Mark(Concept::Edge(edge)), Item::Text(Text { text, kind: TextKind::Bare }))
            if ["error", "warning", "exception", "todo", "fixme"].contains(&text.to_lowercase().as_str()) =>
        {
            let ignore_case = text.chars().all(|c| c.is_ascii_lowercase());
            let needle = Some(Pred::Contains { text: text.clone(), ignore_case });
            Some(Item::draft(Draft { needle, ..line_range(edge.part(1)) }))
        }
        // "the last non-empty line", "the first 3 non-empty lines".
        (Item::Mark(Concept::Edge(edge)), Item::Draft(draft)) if draft.only_preds() && !draft.loose => {
            Some(Item::Partial(Partial::NumberedOf { edge: *edge, count: 1, exact: false, draft: draft.clone() }))
        }
        (Item::Partial(Partial::Numbered(edge, count)), Item::Draft(draft)) if draft.only_preds() && !draft.loose => {
            let (edge, count) = (*edge, *count);
            Some(Item::Partial(Partial::NumberedOf { edge, count, exact: true, draft: draft.clone() }))
        }
        (Item::Partial(Partial::NumberedOf { edge, count, exact, draft }), Item::Mark(Concept::Lines { plural }))
            if *exact || !*plural =>
        {
            draft.merge(&line_range(edge.part(*count))).map(Item::draft)
        }
        (Item::Ordinal(n), Item::Mark(Concept::Lines { plural: false })) if *n > 0 => {
            part(Part::Range { from: *n, to: *n })
        }
        (Item::Mark(Concept::Lines { plural }), number @ Item::Number(..)) => {
            let from = number.whole().filter(|from| *from > 0)?;
            Some(Item::Partial(Partial::LinesFrom { from, plural: *plural }))
        }
        // "lines 5 and 7" are two lines, not a range.
        (Item::Partial(Partial::LinesFrom { from, .. }), Item::Mark(Concept::To)) => {
            Some(Item::Partial(Partial::LinesFromTo(*from)))
        }
        (Item::Partial(Partial::LinesFrom { from, .. }), Item::Mark(Concept::Onward)) => part(Part::From(*from)),
        // "the lines between line 5 and line 9", "the lines from line 5 on".
        (Item::Mark(Concept::Lines { plural: true }), Item::Draft(draft))
            if matches!(draft.lines, Some(LinesWanted::Part(Part::Range { .. } | Part::From(_))))
                && only!(draft, lines) =>
        {
            Some(right.clone())
        }
        // "the longest line", "the 3 longest lines", "the most common line".
        (Item::Draft(draft), Item::Mark(unit)) if draft.only_rank_of_lines() => {
            let (lines, plural) = match unit {
                Concept::Lines { plural } => (LinesWanted::All, *plural),
                Concept::TextUnit(TextUnit::Word) => (LinesWanted::Words, false),
                Concept::TextUnit(TextUnit::Words) => (LinesWanted::Words, true),
                _ => return None,
            };
            Some(Item::draft(Draft { lines: Some(lines), plural: Some(plural), ..(**draft).clone() }))
        }
        // "more than 30 lines".
        (Item::Mark(Concept::Compare { bound, of: Measure::Either | Measure::Size }), number @ Item::Number(..)) => {
            let least = match bound {
                Bound::Above => number.whole()?.checked_add(1)?,
                Bound::AtLeast => number.whole()?,
                _ => return None,
            };
            Some(Item::Partial(Partial::MoreThan(least)))
        }
        (Item::Partial(Partial::MoreThan(least)), Item::Mark(Concept::Lines { .. })) if *least > 0 => {
            Some(Item::draft(Draft { lines: Some(LinesWanted::AtLeast(*least)), ..Draft::default() }))
        }
        // "line 7" may be the start of a range; it is complete if no second number follows.
        (Item::Partial(Partial::LinesFrom { from, plural: false }), Item::Draft(draft)) => {
            draft.merge(&line_range(Part::Range { from: *from, to: *from })).map(Item::draft)
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "lines between 5 and 9", "between line 5 and line 9", "lines 5 to
/// 10".
fn line_numbers(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let part = |part| Some(Item::draft(line_range(part)));
    match (left, right) {
        (Item::Mark(Concept::Between), Item::Partial(Partial::LinesFrom { from, .. })) => {
            Some(Item::Partial(Partial::LinesBetween(*from)))
        }
        (Item::Mark(Concept::Lines { plural: true }), Item::Partial(Partial::BetweenAnd(from))) => {
            Some(Item::Partial(Partial::LinesFromTo(from.whole().filter(|from| *from > 0)?)))
        }
        (Item::Partial(Partial::LinesBetween(from)), Item::Mark(Concept::To | Concept::And)) => {
            Some(Item::Partial(Partial::LinesFromTo(*from)))
        }
        (Item::Partial(Partial::LinesBetween(from)), Item::Mark(Concept::Onward)) => part(Part::From(*from)),
        (Item::Partial(Partial::LinesFromTo(from)), end) => {
            let to = match end {
                Item::Partial(Partial::LinesFrom { from: to, plural: false }) => *to,
                number => number.whole()?,
            };
            if *from <= to { part(Part::Range { from: *from, to }) } else { None }
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "by size", "newest first" after a noun, "how much space … take up".
fn order(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::SortBy), Item::Mark(Concept::Key(key))) => {
            Some(Item::draft(Draft { sort: vec![(*key, None)], ..Draft::default() }))
        }
        // "by size, then by name".
        (Item::Draft(draft), Item::Mark(Concept::Then | Concept::And)) if draft.only_keys() => {
            Some(Item::Partial(Partial::JoiningKeys(draft.clone())))
        }
        (Item::Partial(Partial::JoiningKeys(first)), item) => {
            let later = match item {
                Item::Draft(draft) if draft.only_keys() => draft.as_ref().clone(),
                Item::Mark(Concept::Key(key)) => Draft { sort: vec![(*key, None)], ..Draft::default() },
                _ => return None,
            };
            let mut joined = first.clone();
            joined.fix_order();
            joined.sort.extend(later.sort);
            joined.order = later.order;
            Some(Item::Draft(joined))
        }
        (Item::Draft(draft), Item::Mark(Concept::SizeTail)) if draft.ask == Some(Ask::Size) => Some(left.clone()),
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "PDFs and images", "files and folders", "… and older than 2 days".
fn joined(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let joins = |item: &Item| match item {
        Item::TypeWord(..) => true,
        Item::Draft(draft) => draft.only_types() || draft.only_noun() || draft.only_lines_with_conditions(),
        _ => false,
    };
    match (left, right) {
        // "photos (jpg)": the narrower of the two kinds is meant.
        (Item::Draft(draft), Item::TypeWord(types, notes))
            if draft.only_types() && types.iter().all(|kind| draft.types.contains(kind)) =>
        {
            let notes = notes.iter().cloned().collect();
            Some(Item::draft(Draft { types: types.clone(), notes, ..(**draft).clone() }))
        }
        (item, Item::Comma | Item::Mark(Concept::And | Concept::Or)) if joins(item) => {
            Some(Item::Partial(Partial::Joining(Box::new(item.clone()))))
        }
        (Item::Partial(Partial::Joining(_)), Item::Mark(Concept::And | Concept::Or)) => Some(left.clone()),
        // "a.out and *.o": a name joined with a pattern is a name to search for.
        (Item::Partial(Partial::JoiningPaths(places)), Item::Draft(draft)) if draft.only_types() => {
            let is_pattern = |kind: &Pred| matches!(kind, Pred::Name(NameTest::Glob(_)));
            let names = places.iter().map(name_looked_for).collect::<Option<Vec<_>>>()?;
            draft.types.iter().any(is_pattern).then(|| {
                let noun = draft.noun.or(Some(Kind::File));
                let types = merged(&names, &draft.types);
                Item::draft(Draft { types, noun, plural: Some(true), ..(**draft).clone() })
            })
        }
        // "a text file nor a pdf", after "neither".
        (item, Item::Mark(Concept::Nor)) if joins(item) => Some(Item::Partial(Partial::Nor(Box::new(item.clone())))),
        (Item::Partial(Partial::Nor(first)), second) => {
            let both = union(first, second)?;
            Some(Item::Partial(Partial::NeitherNor(Box::new(both))))
        }
        // "*.o and a.out".
        (Item::Partial(Partial::Joining(first)), Item::Text(Text { text, kind: TextKind::FileName })) => {
            let Item::Draft(draft) = first.as_ref() else { return None };
            let is_pattern = |kind: &Pred| matches!(kind, Pred::Name(NameTest::Glob(_)));
            let name = Pred::Name(NameTest::Is(text.clone()));
            (draft.only_types() && draft.types.iter().any(is_pattern))
                .then(|| Item::draft(Draft { types: merged(&[name], &draft.types), ..(**draft).clone() }))
        }
        (Item::Partial(Partial::Joining(first)), second) => union(first, second),
        (Item::Mark(Concept::And), item) => {
            let draft = item.as_draft(context)?;
            // "and ending in .pdf".
            let ends = draft.only_types() && draft.noun.is_none() && draft.plural.is_none();
            (draft.only_modifiers() || ends).then(|| Item::draft(draft))
        }
        _ => None,
    }
}

/// The condition "has this name" for a file name typed without a folder; `None` for any other path.
fn name_looked_for(place: &Place) -> Option<Pred> {
    let is_name = place.bare && place.kind == PathKind::File;
    file_name(&place.path).filter(|_| is_name).map(|name| Pred::Name(NameTest::Is(name.to_owned())))
}

/// The item for lines that satisfy one of two conditions: "empty lines and lines with spaces only".
fn either_lines(first: &Draft, second: &Draft) -> Option<Item> {
    let preds = vec![Pred::Any(vec![first.condition(), second.condition()]).normalise()];
    let both = first.only_lines_with_conditions() && second.only_lines_with_conditions();
    both.then(|| Item::draft(Draft { preds, ..first.clone() }))
}

/// The item that means both of two kinds of file, nouns ("files", "folders") or conditions on lines, joined by "and",
/// "or" or "nor".
fn union(first: &Item, second: &Item) -> Option<Item> {
    match (first, second) {
        (Item::TypeWord(a, notes), Item::TypeWord(b, more)) => {
            let types = merged(a, b);
            Some(Item::TypeWord(types, [notes.clone(), more.clone()].concat()))
        }
        (Item::Draft(a), Item::Draft(b)) if a.only_types() && b.only_types() => Some(Item::draft(Draft {
            types: merged(&a.types, &b.types),
            noun: a.noun.or(b.noun),
            // "the newest pdf or jpg" is one file.
            plural: Some((a.plural, b.plural) != (Some(false), Some(false))),
            notes: a.notes.union(&b.notes).cloned().collect(),
            ..Draft::default()
        })),
        (Item::Draft(a), Item::Draft(b)) if a.lines.is_some() => either_lines(a, b),
        (Item::Draft(a), Item::Draft(b)) if a.only_noun() && b.only_noun() => match (a.noun, b.noun) {
            (Some(Kind::File), Some(Kind::Folder)) | (Some(Kind::Folder), Some(Kind::File)) => {
                Some(Item::draft(Draft { noun: Some(Kind::Any), plural: Some(true), ..Draft::default() }))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The elements of both lists, sorted and without duplicates.
fn merged<T: Ord + Clone>(a: &[T], b: &[T]) -> Vec<T> {
    let mut all = [a, b].concat();
    all.sort();
    all.dedup();
    all
}
