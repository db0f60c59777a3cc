//! Grammar rules for "or", "either … or", brackets and "except".

use super::super::draft::{Draft, LinesWanted, of_line, only};
use super::super::item::{Context, Item, Partial, Rule, Text, TextKind};
use super::list::line_range;
use super::name::{content_text, name_text, test};
use crate::algebra::{NameTest, Part, Pred};
use crate::concept::{Concept, NameRelation};
use crate::place::{PathKind, file_name};

/// The grammar rules for "or", "either", "except" and brackets, in the order tried.
pub(super) const RULES: &[Rule] = &[either, grouped_choice, by_place, without];

/// Whether the predicate tests the content of files or lines.
fn is_content(pred: &Pred) -> bool {
    matches!(pred, Pred::Contains { .. })
}

/// Whether a parsed phrase is a single condition without a noun, such as "larger than 1 MB".
fn is_condition(draft: &Draft) -> bool {
    (draft.only_preds() && is_one_condition(&draft.preds)) || draft.only_types_with_conditions()
}

/// Grammar rule for two neighbouring items, as in "larger than 1 MB or older than 3 days", "PDFs over 1 MB or images
/// over 5 MB", "named a or b".
fn either(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        // "except PDFs or images" excludes both.
        (Item::Draft(draft), Item::Mark(Concept::Or)) if draft.excepts => None,
        (Item::Draft(draft), Item::Mark(Concept::Or)) if is_condition(draft) || draft.only_types() => {
            Some(Item::Partial(Partial::EitherOf(draft.clone())))
        }
        (Item::Draft(draft), Item::Mark(Concept::And | Concept::Or)) if draft.only_types_with_conditions() => {
            Some(Item::Partial(Partial::EitherOf(draft.clone())))
        }
        (Item::Draft(draft), Item::Comma | Item::Mark(Concept::And))
            if matches!(draft.preds.as_slice(), [Pred::Name(NameTest::Is(_))]) && draft.only_preds() =>
        {
            Some(Item::Partial(Partial::AlsoNamed(draft.clone())))
        }
        // "named a and b" means either; "named a and named b" would mean both.
        (Item::Partial(Partial::AlsoNamed(_)), Item::Mark(Concept::And)) => Some(left.clone()),
        (Item::Partial(Partial::AlsoNamed(first)), Item::Mark(Concept::Or)) => {
            Some(Item::Partial(Partial::EitherOf(first.clone())))
        }
        (Item::Partial(Partial::AlsoNamed(first)), item @ Item::Text(_)) => {
            let second = again(first.preds.last()?, item)?;
            Some(union(first, &Draft::pred(second), false))
        }
        // "containing 'x' and 'y'".
        (Item::Draft(draft), Item::Mark(Concept::And))
            if matches!(draft.preds.as_slice(), [Pred::Contains { .. }]) && draft.only_preds() =>
        {
            Some(Item::Partial(Partial::BothOf(draft.clone())))
        }
        (
            Item::Partial(Partial::BothOf(first)),
            item @ Item::Text(Text { kind: TextKind::Quoted | TextKind::Phrase, .. }),
        ) => {
            let second = again(first.preds.last()?, item)?;
            let preds = [first.preds.clone(), vec![second]].concat();
            Some(Item::draft(Draft { preds, ..(**first).clone() }))
        }
        // "containing 'x' but not 'y'".
        (Item::Draft(draft), Item::Mark(Concept::Except))
            if draft.only_preds_of(is_content) || (draft.found.is_some() && draft.preds.len() == 1) =>
        {
            Some(Item::Partial(Partial::ButNot(draft.clone())))
        }
        (
            Item::Partial(Partial::ButNot(first)),
            item @ Item::Text(Text { kind: TextKind::Quoted | TextKind::Phrase | TextKind::Bare, .. }),
        ) => {
            let second = again(first.preds.last()?, item)?;
            let preds = [first.preds.clone(), vec![Pred::Not(Box::new(second))]].concat();
            Some(Item::draft(Draft { preds, ..(**first).clone() }))
        }
        (Item::Partial(Partial::EitherOf(_)), Item::Mark(Concept::Or)) => Some(left.clone()),
        (Item::Partial(Partial::EitherOf(first)), item @ Item::Text(_)) => {
            let last = first.preds.last().filter(|_| first.types.is_empty())?;
            let second = again(last, item)?;
            Some(union(first, &Draft::pred(second), false))
        }
        (Item::Partial(Partial::EitherOf(first)), Item::Draft(second)) => {
            // Kinds of file without conditions are joined as kinds, not here.
            // "PDFs over 1 MB or images over 5 MB"; "or older, ending in .pdf" belongs to the condition before.
            let both =
                first.only_types_with_conditions() && (second.only_types_with_conditions() || second.only_types());
            let types_first = first.only_types() && second.only_types_with_conditions();
            let plain = !first.only_types_with_conditions()
                && ((second.only_preds() && is_one_condition(&second.preds))
                    || (second.only_types() && !first.only_types()));
            (both || types_first || plain).then(|| union(first, second, true))
        }
        _ => None,
    }
}

/// The condition "first or second" as an item; `loose` if neither brackets nor "either" enclose them.
fn union(first: &Draft, second: &Draft, loose: bool) -> Item {
    let pred = Pred::Any(vec![first.condition(), second.condition()]).normalise();
    Item::draft(Draft {
        preds: vec![pred],
        loose,
        noun: first
            .noun
            .or(second.noun)
            .or((first.has_noun() && second.has_noun()).then_some(crate::algebra::Kind::File)),
        plural: first.plural.or(second.plural).map(|_| true),
        notes: first.notes.union(&second.notes).cloned().collect(),
        ..Draft::default()
    })
}

/// The condition `first` applied to another text, as to b in "named a or b"; `None` if they don't fit.
fn again(first: &Pred, item: &Item) -> Option<Pred> {
    let first = if let Pred::Any(parts) = first { parts.first()? } else { first };
    match first {
        Pred::Name(name) => {
            let relation = match name {
                NameTest::Is(_) => NameRelation::Is,
                NameTest::Starts(_) => NameRelation::Starts,
                NameTest::Ends(_) => NameRelation::Ends,
                NameTest::Has(_) => NameRelation::Has,
                NameTest::Glob(_) => NameRelation::Glob,
                NameTest::Pattern(_) => NameRelation::Pattern,
            };
            // A word of the lexicon is a name only in quotation marks: "named a.txt or empty".
            let text = name_text(item).filter(|text| !matches!(text.kind, TextKind::Known | TextKind::KindWord))?;
            test(relation, text).map(Pred::Name)
        }
        Pred::Contains { ignore_case, .. } => {
            Some(Pred::Contains { text: content_text(item)?.to_owned(), ignore_case: *ignore_case })
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "either a or b", "(a and b)".
fn grouped_choice(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let tight = |item: &Item| match item {
        Item::Draft(draft) if draft.only_types_with_conditions() && draft.noun.is_none() => {
            Item::draft(Draft { notes: draft.notes.clone(), ..Draft::pred(draft.condition()) })
        }
        Item::Draft(draft) if draft.only_preds() => {
            Item::draft(Draft { notes: draft.notes.clone(), ..Draft::pred(Pred::All(draft.preds.clone())) })
        }
        Item::Draft(draft) => Item::draft(Draft { loose: false, excepts: false, ..(**draft).clone() }),
        other => other.clone(),
    };
    match (left, right) {
        (Item::Mark(Concept::Either), Item::Draft(draft)) => {
            let is_choice = draft.loose || draft.only_types() || matches!(draft.preds.as_slice(), [Pred::Any(_)]);
            is_choice.then(|| Item::draft(Draft { loose: false, ..(**draft).clone() }))
        }
        (Item::Mark(Concept::Name(_) | Concept::Contains | Concept::Except), Item::Mark(Concept::Either)) => {
            Some(left.clone())
        }
        (Item::Open, item) if !matches!(item, Item::Mark(_) | Item::Partial(_)) => {
            Some(Item::Partial(Partial::Opened(Box::new(item.clone()))))
        }
        (Item::Partial(Partial::Opened(item)), Item::Close) => Some(tight(item)),
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "lying below ~/x/y", "outside of old", "inside a folder named x".
fn by_place(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    if left.is_mark(&Concept::LyingBelow) {
        let place = match right {
            Item::Path(place) => place.clone(),
            Item::Text(Text { text, kind: TextKind::Quoted }) => context.resolve(text)?,
            _ => return None,
        };
        return Some(Item::draft(Draft::pred(Pred::Inside(place.path))));
    }
    // "except those in ~/x/photos".
    if let (Item::Mark(Concept::NotBelow), Item::Path(place)) = (left, right)
        && !place.bare
        && place.kind != PathKind::File
    {
        let inside = Pred::Inside(place.path.clone());
        return Some(Item::draft(Draft::pred(Pred::Not(Box::new(inside)))));
    }
    if left.is_mark(&Concept::NotBelow) {
        return below(context, right).map(not_below);
    }
    if left.is_mark(&Concept::BelowFolder) {
        let Item::Draft(draft) = right else { return None };
        let [Pred::Name(test)] = draft.preds.as_slice() else { return None };
        return draft.only_preds().then(|| Item::draft(Draft::pred(Pred::Below(test.clone()))));
    }
    None
}

/// Grammar rule for two neighbouring items, as in "except PDFs", "that are not images", "not larger than 1 MB", "not in
/// node_modules".
fn without(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    if !left.is_mark(&Concept::Except) {
        return None;
    }
    let not = |draft: &Draft| {
        let pred = Pred::Not(Box::new(draft.condition())).normalise();
        Draft { preds: vec![pred], notes: draft.notes.clone(), ..Draft::default() }
    };
    match right {
        Item::Partial(Partial::NeitherNor(both)) => {
            both.as_draft(context).filter(Draft::only_types).map(|draft| Item::draft(not(&draft)))
        }
        Item::TypeWord(types, notes) => {
            let kinds = Draft { types: types.clone(), notes: notes.iter().cloned().collect(), ..Draft::default() };
            without(context, left, &Item::draft(kinds))
        }
        // "without the first line".
        Item::Draft(draft) if only!(draft, lines) => match draft.lines {
            Some(LinesWanted::Part(Part::First(count))) => {
                Some(Item::draft(line_range(Part::From(count.checked_add(1)?))))
            }
            _ => None,
        },
        // "ignoring empty lines".
        Item::Draft(draft) if draft.only_lines_with_conditions() => {
            let preds = draft.preds.iter().cloned().map(of_line).collect::<Vec<_>>();
            is_one_condition(&preds).then(|| Item::draft(not(&Draft { preds, lines: None, ..(**draft).clone() })))
        }
        Item::Draft(draft) if draft.only_types() => Some(Item::draft(Draft { excepts: true, ..not(draft) })),
        Item::Draft(draft) if draft.only_preds() && is_one_condition(&draft.preds) => {
            (!draft.loose).then(|| Item::draft(not(draft)))
        }
        Item::Draft(draft) if draft.only_types_with_conditions() && !draft.loose => {
            let is_plain = !draft.preds.iter().any(|pred| matches!(pred, Pred::Not(_)));
            is_plain.then(|| Item::draft(not(draft)))
        }
        Item::Draft(draft) if draft.only_scope() => {
            let [place] = draft.scope.as_slice() else { return None };
            match place.bare {
                true => file_name(&place.path).map(|name| not_below(name.to_owned())),
                false => by_place(context, &Item::Mark(Concept::NotBelow), &Item::Path(place.clone())),
            }
        }
        // "ignoring empty files", "ignoring blank lines".
        Item::Draft(draft) if draft.plural != Some(false) && draft.only_preds_of_a_noun() => {
            Some(Item::draft(not(draft)))
        }
        Item::Text(Text { kind: kind @ (TextKind::Quoted | TextKind::FileName), text })
            if *kind == TextKind::FileName || context.resolve(text)?.kind == PathKind::File =>
        {
            Some(Item::draft(not(&Draft::pred(Pred::Name(NameTest::Is(text.clone()))))))
        }
        _ => None,
    }
}

/// Whether the predicates are a single condition; a range with two bounds counts as one.
fn is_one_condition(preds: &[Pred]) -> bool {
    matches!(
        preds,
        [_] | [Pred::ModifiedFrom(_), Pred::ModifiedBefore(_)]
            | [Pred::AccessedFrom(_), Pred::AccessedBefore(_)]
            | [Pred::MinBytes(_), Pred::MaxBytes(_)]
    )
}

/// The name of the folder that an item means in "inside a folder named x"; `None` if it means none.
fn below(context: &Context<'_>, item: &Item) -> Option<String> {
    match item {
        Item::Path(place) if place.bare => file_name(&place.path).map(str::to_owned),
        Item::Text(Text {
            text,
            kind:
                TextKind::Quoted
                | TextKind::Bare
                | TextKind::BarePlural
                | TextKind::Extension
                | TextKind::KindWord
                | TextKind::Known,
        }) if !text.contains('/') => file_name(&context.resolve(text)?.path).map(str::to_owned),
        _ => None,
    }
}

/// The item for the condition "not in a folder of this name".
fn not_below(name: String) -> Item {
    let pred = Pred::Not(Box::new(Pred::Below(NameTest::Is(name))));
    Item::draft(Draft::pred(pred))
}
