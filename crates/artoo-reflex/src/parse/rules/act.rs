//! Grammar rules for destinations and changes of names.

use super::super::draft::{Draft, TargetWord, only};
use super::super::item::{Context, Item, Rule, Text, TextKind};
use super::name::{literal_extension, name_text};
use super::place::home_folder;
use crate::algebra::{NameChange, Pred};
use crate::concept::Concept;
use crate::place::{PathKind, Place};

/// The grammar rules for destinations and changes of names, in the order tried.
pub(super) const RULES: &[Rule] = &[in_this_folder, target, change];

/// Grammar rule for "in the current directory" after an act with a destination: names without a folder are there
/// anyway, and files that are selected without a folder are looked for there.
fn in_this_folder(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let (Item::Draft(act), Item::Draft(place)) = (left, right) else { return None };
    let here = context.resolve(".")?;
    let is_here = place.only_scope() && matches!(place.scope.as_slice(), [scope] if scope.path == here.path);
    if !is_here || act.act.is_none() || act.target.is_none() {
        return None;
    }
    let names_none = act.object.is_empty() && act.scope.is_empty();
    let scope = if names_none { vec![here] } else { act.scope.clone() };
    Some(Item::draft(Draft { scope, ..(**act).clone() }))
}

/// Grammar rule for two neighbouring items, as in "to ~/x", "into the folder x", "as y.txt".
fn target(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let place = match right {
        Item::Path(place) => Some(place.clone()),
        Item::Mark(Concept::PlaceAfterPreposition(name)) => home_folder(context, name),
        Item::Text(Text { text, kind }) => {
            let usable = matches!(
                kind,
                TextKind::Quoted | TextKind::FileName | TextKind::Bare | TextKind::BarePlural | TextKind::KindWord
            );
            if usable { context.resolve(text) } else { None }
        }
        _ => None,
    };
    let to = |target| Some(Item::draft(Draft { target: Some(target), ..Draft::default() }));
    match (left, right) {
        (Item::Mark(Concept::Into), Item::Draft(draft)) if draft.only_types() && draft.plural.is_none() => {
            let [Pred::Extension(extension)] = draft.types.as_slice() else { return None };
            let change = Some(NameChange::Extension(extension.clone()));
            Some(Item::draft(Draft { change, ..Draft::default() }))
        }
        (Item::Mark(Concept::Into), Item::Draft(draft)) if draft.change.is_some() && only!(draft, change) => {
            Some(right.clone())
        }
        (Item::Mark(Concept::Into), _) => match place? {
            place if place.kind == PathKind::Folder => to(TargetWord::Folder(place)),
            place => to(TargetWord::Open(place)),
        },
        (Item::Mark(Concept::IntoFolder), _) => {
            to(TargetWord::Folder(Place { kind: PathKind::Folder, ..place.or_else(|| named_folder(context, right))? }))
        }
        (Item::Mark(Concept::AsFile), _) => to(TargetWord::File(Place { kind: PathKind::File, ..place? })),
        _ => None,
    }
}

/// The folder that a word names although it has another meaning or starts with a dot; `None` for any other item.
fn named_folder(context: &Context<'_>, item: &Item) -> Option<Place> {
    let Item::Text(Text { text, kind: TextKind::Known | TextKind::Extension }) = item else { return None };
    context.resolve(text)
}

/// Grammar rule for two neighbouring items, as in "with the prefix 'x'", "with the new extension md".
fn change(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let changed = |change| Some(Item::draft(Draft { change: Some(change), ..Draft::default() }));
    if left.is_mark(&Concept::NewExtension) {
        let extension = match right {
            Item::Draft(draft) if draft.only_types() => match draft.types.as_slice() {
                [extension] => extension.clone(),
                _ => return None,
            },
            item => literal_extension(item)?,
        };
        let Pred::Extension(extension) = extension else { return None };
        return changed(NameChange::Extension(extension));
    }
    let text = || name_text(right).map(|text| text.text.clone());
    match left {
        Item::Mark(Concept::NewPrefix) => changed(NameChange::Prefix(text()?)),
        Item::Mark(Concept::NewSuffix) => changed(NameChange::Suffix(text()?)),
        Item::Mark(Concept::NewTemplate) => {
            let Item::Text(Text { text, kind: TextKind::Quoted }) = right else { return None };
            let fits = text.contains('{') && text.contains('}') && !text.contains('/');
            if fits { changed(NameChange::Template(text.clone())) } else { None }
        }
        _ => None,
    }
}
