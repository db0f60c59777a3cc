//! Facts of the machine that need an argument: a variable, a program, a day, an owner, permissions.

use super::super::draft::Draft;
use super::super::item::{Context, Item, Text, TextKind};
use crate::algebra::{Fact, Pred};
use crate::concept::{Concept, Verb};

pub(super) fn combine(context: &Context<'_>, left: &Item, right: &Item, found: &mut Vec<Item>) {
    found.extend(facts(context, left, right));
    found.extend(rights(left, right));
}

fn facts(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let fact = |fact| Some(Item::draft(Draft { fact: Some(fact), ..Draft::default() }));
    match (left, right) {
        (Item::Mark(Concept::Variable), Item::Text(text)) | (Item::Text(text), Item::Mark(Concept::Variable)) => {
            let name = &text.text;
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty();
            // A word of English is one only in capitals.
            let is_meant = text.kind == TextKind::Quoted || name.chars().all(|c| !c.is_ascii_lowercase());
            if is_name && is_meant { fact(Fact::Variable { name: name.clone() }) } else { None }
        }
        (Item::Mark(Concept::Variable), Item::Draft(draft)) | (Item::Draft(draft), Item::Mark(Concept::Variable))
            if draft.is_only(|d| d.fact = None) && matches!(draft.fact, Some(Fact::Variable { .. })) =>
        {
            Some(Item::Draft(draft.clone()))
        }
        (Item::Mark(Concept::Program), Item::Text(text)) | (Item::Text(text), Item::Mark(Concept::Installed)) => {
            program(text).and_then(fact)
        }
        // "the path of the bash executable": where it is, however that is asked.
        (Item::Draft(verb), Item::Draft(draft))
            if verb.only_verb() == Some(Verb::Find)
                && matches!(draft.fact, Some(Fact::Program { .. }))
                && draft.is_only(|d| d.fact = None) =>
        {
            Some(right.clone())
        }
        // "is docker installed"
        (Item::Mark(Concept::Copula), Item::Draft(draft))
            if matches!(draft.fact, Some(Fact::Program { .. })) && draft.is_only(|d| d.fact = None) =>
        {
            Some(right.clone())
        }
        (Item::Draft(draft), Item::Mark(Concept::Installed)) if matches!(draft.fact, Some(Fact::Program { .. })) => {
            Some(left.clone())
        }
        (Item::Mark(Concept::DayOfWeek), item) => {
            let stretch = item.stretch(context.clock)?;
            fact(Fact::DayOfWeek { date: context.clock.one_day(stretch)?.to_string() })
        }
        _ => None,
    }
}

/// A program's name: a word, perhaps with digits and signs.
fn program(text: &Text) -> Option<Fact> {
    let usable = matches!(text.kind, TextKind::Quoted | TextKind::Bare | TextKind::FileName | TextKind::KindWord);
    let plain = text.text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    (usable && plain && !text.text.is_empty()).then(|| Fact::Program { name: text.text.clone() })
}

/// "owned by root", "with permissions 644".
fn rights(left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (
            Item::Mark(Concept::OwnedBy),
            Item::Text(Text { text, kind: TextKind::Quoted | TextKind::Bare | TextKind::Known | TextKind::KindWord }),
        ) => Some(Item::draft(Draft::pred(Pred::Owner(text.clone())))),
        // The one account that every machine has is no vague word here.
        (Item::Mark(Concept::OwnedBy), Item::Text(Text { text, .. })) if text == "root" => {
            Some(Item::draft(Draft::pred(Pred::Owner(text.clone()))))
        }
        (Item::Mark(Concept::Permissions), Item::Text(Text { text, kind: TextKind::Digits })) => {
            let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o7777 && text.len() >= 3)?;
            Some(Item::draft(Draft::pred(Pred::Mode(bits))))
        }
        _ => None,
    }
}
