//! Grammar rules for columns, words, replacements, comparisons and groups.

use super::super::draft::{Ask, Draft, LinesWanted, only};
use super::super::item::{Context, Item, Partial, Rule, Text, TextKind};
use super::name::{content_text, test};
use super::quantity::bounds;
use crate::algebra::{GroupKey, Kind, NameTest, Pred, Relation, Rewrite, Separator};
use crate::concept::{Concept, Edge, Measure, NameRelation, TextUnit};

/// The grammar rules for columns, replacements, comparisons and groups, in the order tried.
pub(super) const RULES: &[Rule] = &[columns, conditions, replacing, versus, groups, many_files, rewritten];

/// Grammar rule for two neighbouring items, as in "column 2", "the second column", "separated by ';'".
fn columns(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let column = |number: u64| (number > 0).then(|| Item::draft(Draft { column: Some(number), ..Draft::default() }));
    let word = |number: u64| {
        let (column, separator) = (Some(number).filter(|number| *number > 0)?, Some(Separator::Whitespace));
        Some(Item::draft(Draft { column: Some(column), separator, ..Draft::default() }))
    };
    let separator = |text: &str| {
        let separator = if text.trim().is_empty() && !text.contains('\t') {
            Separator::Whitespace
        } else {
            Separator::Text(text.to_owned())
        };
        Item::draft(Draft { separator: Some(separator), ..Draft::default() })
    };
    match (left, right) {
        (Item::Mark(Concept::Column), number @ Item::Number(..)) => column(number.whole()?),
        (Item::Ordinal(number), Item::Mark(Concept::Column)) => column(*number),
        (Item::Mark(Concept::Edge(Edge::First)), Item::Mark(Concept::Column)) => column(1),
        (Item::Mark(Concept::SeparatedBy), Item::Mark(Concept::Separator(text))) => Some(separator(text)),
        // "the first word of each line".
        (Item::Ordinal(number), Item::Mark(Concept::TextUnit(TextUnit::Word))) => word(*number),
        (Item::Mark(Concept::Edge(Edge::First)), Item::Mark(Concept::TextUnit(TextUnit::Word))) => word(1),
        (Item::Draft(draft), Item::Mark(Concept::OfEachLine)) if only!(draft, column, separator) => {
            draft.column.map(|_| left.clone())
        }
        // "the numbers in column 2".
        (Item::Mark(Concept::Inside | Concept::Within), Item::Draft(draft)) if only!(draft, column) => {
            draft.column.map(|_| right.clone())
        }
        // "using ':' as the delimiter".
        (Item::Mark(Concept::Using), Item::Text(Text { text, kind: TextKind::Quoted }))
        | (Item::Mark(Concept::Using | Concept::With), Item::Mark(Concept::Separator(text))) => {
            Some(Item::Partial(Partial::WithText { text: text.clone(), is_content: false }))
        }
        (Item::Partial(Partial::WithText { text, .. }), Item::Mark(Concept::AsSeparator)) => Some(separator(text)),
        (Item::Mark(Concept::SeparatedBy), Item::Text(Text { text, kind: TextKind::Quoted })) => Some(separator(text)),
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "where the line starts with 'x'", "longer than 80 characters".
fn conditions(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::LineTest(relation)), item) => {
            let quoted = Text { text: replaceable(item)?.to_owned(), kind: TextKind::Quoted };
            // "the line is x" compares literally, even if x contains wildcards.
            let relation = if *relation == NameRelation::Is { NameRelation::Literally } else { *relation };
            let pred = match test(relation, &quoted)? {
                NameTest::Has(text) => Pred::Contains { text, ignore_case: false },
                other => Pred::Line(other),
            };
            Some(Item::draft(Draft::pred(pred)))
        }
        (number @ Item::Number(..), Item::Mark(Concept::Characters)) => Some(Item::Characters(number.whole()?)),
        (Item::Mark(Concept::Compare { bound, of: Measure::Either | Measure::Size }), Item::Characters(count)) => {
            let preds = bounds(*bound, *count, Pred::MinLength, Pred::MaxLength)?;
            Some(Item::draft(Draft { preds, ..Draft::default() }))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "replace x with y".
fn replacing(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let is_replace = match left {
        Item::Mark(Concept::Replacing) => true,
        Item::Draft(draft) => only!(draft, act) && draft.act == Some(crate::concept::ActWord::Replace),
        _ => false,
    };
    match (left, right) {
        (_, item) if is_replace => {
            Some(Item::Partial(Partial::Replacing(replaceable(item)?.to_owned(), left.is_act())))
        }
        (Item::Partial(Partial::Replacing(find, acts)), Item::Mark(Concept::With | Concept::ReplaceWith)) => {
            Some(Item::Partial(Partial::ReplacingWith(find.clone(), *acts)))
        }
        (Item::Partial(Partial::WithText { text, .. }), Item::Mark(Concept::ReplaceWith)) => {
            Some(Item::Partial(Partial::ReplacingWith(text.clone(), false)))
        }
        (Item::Partial(Partial::ReplacingWith(find, acts)), item) => {
            let with = replaceable(item)?.to_owned();
            let act = acts.then_some(crate::concept::ActWord::Replace);
            Some(Item::draft(Draft { replace: Some((find.clone(), with)), act, ..Draft::default() }))
        }
        _ => None,
    }
}

/// The item's text, if it can be replaced: text that can be content, or the sign that a separator's name means.
fn replaceable(item: &Item) -> Option<&str> {
    if let Item::Mark(Concept::Separator(text)) = item {
        return Some(text);
    }
    content_text(item)
}

/// Grammar rule for two neighbouring items, as in "also in b.txt", "identical to b.txt", "common to a.txt and b.txt",
/// "is a.txt identical to b.txt".
fn versus(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let files = |item: &Item, count: usize| {
        let draft = item.as_draft(context)?;
        let plain = only!(draft, object, lines, scope) && matches!(draft.lines, None | Some(LinesWanted::All));
        (plain && draft.object.len() == count).then_some((draft.object, draft.scope))
    };
    let related =
        |relation, (object, scope)| Item::draft(Draft { relation: Some(relation), object, scope, ..Draft::default() });
    match (left, right) {
        (Item::Mark(Concept::Versus(relation)), item) if files(item, 1).is_some() => {
            Some(related(*relation, files(item, 1)?))
        }
        (Item::Mark(Concept::Both(relation)), item) => Some(related(*relation, files(item, 2)?)),
        (item, Item::Mark(Concept::Versus(Relation::Identical))) => Some(related(Relation::Identical, files(item, 2)?)),
        (item, Item::Mark(Concept::Both(relation))) => Some(related(*relation, files(item, 2)?)),
        (Item::Mark(Concept::Copula), Item::Draft(draft)) if draft.relation == Some(Relation::Identical) => {
            Some(right.clone())
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "per extension", "by folder", "for each line", "grouped by day".
fn groups(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let grouped = |by| Some(Item::draft(Draft { group: Some(by), ..Draft::default() }));
    match (left, right) {
        // "changed per day".
        (Item::Mark(Concept::Modified), Item::Draft(draft)) if only!(draft, group) => {
            let by_time = matches!(draft.group, Some(GroupKey::Day | GroupKey::Month | GroupKey::Year));
            return by_time.then(|| right.clone());
        }
        (Item::Draft(draft), Item::Mark(Concept::Occurs)) if draft.group.is_some() => return Some(left.clone()),
        (Item::Draft(draft), Item::Mark(Concept::GroupKey(by)))
            if draft.only_rank_of_lines() && *by != GroupKey::Text =>
        {
            return draft.merge(&Draft { group: Some(*by), ..Draft::default() }).map(Item::draft);
        }
        _ => {}
    }
    if !matches!(left, Item::Mark(Concept::Per | Concept::SortBy)) {
        return None;
    }
    let per = left.is_mark(&Concept::Per);
    match right {
        // "sorted by text" is a sort order, not a grouping.
        Item::Mark(Concept::GroupKey(GroupKey::Text)) if !per => None,
        Item::Mark(Concept::GroupKey(by)) => grouped(*by),
        Item::Mark(Concept::Noun { kind: Kind::Folder, .. }) => grouped(GroupKey::Folder),
        // "words per line" are no words per text.
        Item::Mark(Concept::Lines { plural: false }) if per => {
            let (group, lines) = (Some(GroupKey::Text), Some(LinesWanted::All));
            Some(Item::draft(Draft { group, lines, ..Draft::default() }))
        }
        Item::Mark(Concept::TimeUnit(unit)) => match unit {
            crate::concept::TimeUnit::Day => grouped(GroupKey::Day),
            crate::concept::TimeUnit::Month => grouped(GroupKey::Month),
            crate::concept::TimeUnit::Year => grouped(GroupKey::Year),
            _ => None,
        },
        Item::Mark(Concept::Noun { kind: Kind::File, plural: false }) if per => {
            Some(Item::draft(Draft { each: Some(()), ..Draft::default() }))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "occurrences of 'x'", "wrapped at 40 characters", "joined by ','".
fn rewritten(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let written = |how| Some(Item::draft(Draft { rewrite: Some(how), ..Draft::default() }));
    match (left, right) {
        (Item::Mark(Concept::Occurrences { counted, whole }), item) => {
            let matches = Some((content_text(item)?.to_owned(), *whole));
            let ask = counted.then_some(Ask::Count);
            Some(Item::draft(Draft { matches, ask, ..Draft::default() }))
        }
        (Item::Draft(draft), Item::Mark(Concept::Occurs)) if draft.matches.is_some() => Some(left.clone()),
        (Item::Mark(Concept::WrappedAt), Item::Characters(width)) => written(Rewrite::Wrapped(*width)),
        (Item::Mark(Concept::WrappedAt), number @ Item::Number(..)) => written(Rewrite::Wrapped(number.whole()?)),
        (Item::Mark(Concept::JoinedBy), Item::Mark(Concept::Separator(text)))
        | (Item::Mark(Concept::JoinedBy), Item::Text(Text { text, kind: TextKind::Quoted })) => {
            written(Rewrite::Joined(text.clone()))
        }
        (Item::Mark(Concept::ContainsWord), item) => {
            let text = content_text(item)?.to_owned();
            Some(Item::draft(Draft::pred(Pred::Word { text, ignore_case: false })))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "lines in python files", "words of the PDFs": text of many files.
fn many_files(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::Within | Concept::Inside), Item::Draft(draft)) => {
            let speaks_of_files = draft.has_noun() || draft.reference.is_some();
            (speaks_of_files && draft.lines.is_none() && draft.verb.is_none() && draft.act.is_none())
                .then(|| Item::Partial(Partial::InFiles(draft.clone())))
        }
        // "find 'word' in all python files": the lines that hold it.
        (
            Item::Text(Text { text, kind: TextKind::Quoted | TextKind::Phrase }),
            Item::Partial(Partial::InFiles(files)),
        ) => {
            let found = Draft {
                lines: Some(LinesWanted::All),
                preds: vec![Pred::Contains { text: text.clone(), ignore_case: false }],
                ..Draft::default()
            };
            found.merge(files).map(Item::draft)
        }
        (Item::Draft(draft), Item::Partial(Partial::InFiles(files))) if draft.found.is_some() => {
            let lines = Draft { found: None, lines: Some(LinesWanted::All), ..(**draft).clone() };
            lines.merge(files).map(Item::draft)
        }
        (Item::Draft(draft), Item::Partial(Partial::InFiles(files))) => {
            let asks = draft.lines.is_some()
                || draft.needle.is_some()
                || draft.field.is_some()
                || draft.ask.is_some()
                || draft.matches.is_some();
            (asks && !draft.has_noun()).then(|| draft.merge(files).map(Item::draft)).flatten()
        }
        _ => None,
    }
}
