//! Folders and files the request names.

use super::super::draft::{Ask, Draft};
use super::super::item::{Context, Item, Partial, Text, TextKind};
use crate::algebra::{Depth, Kind};
use crate::concept::{Concept, DepthWord, Verb};
use crate::place::{Looks, Place};

const FOLDER: Concept = Concept::Noun { kind: Kind::Folder, plural: false };
const FILE: Concept = Concept::Noun { kind: Kind::File, plural: false };

pub(super) fn combine(context: &Context<'_>, left: &Item, right: &Item, found: &mut Vec<Item>) {
    found.extend(named(context, left, right));
    found.extend(within(context, left, right));
    found.extend(about(context, left, right));
    found.extend(only(left, right));
    found.extend(search(context, left, right));
}

/// "folder src", "the src folder", "the file notes.txt", "a folder called src".
fn named(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let path = |item: &Item, looks: Looks| -> Option<Item> {
        let place = if let Item::Path(place) = item { place.clone() } else { context.resolve(name(item)?)? };
        Some(Item::Path(Place { looks, ..place }))
    };
    match (left, right) {
        (Item::Mark(kind), Item::Mark(Concept::Name(crate::concept::NameRelation::Is))) if *kind == FOLDER => {
            Some(Item::Partial(Partial::Named(Looks::Folder)))
        }
        (Item::Mark(kind), Item::Mark(Concept::Name(crate::concept::NameRelation::Is))) if *kind == FILE => {
            Some(Item::Partial(Partial::Named(Looks::File)))
        }
        (Item::Partial(Partial::Named(looks)), item) => path(item, *looks),
        (Item::Mark(kind), Item::Text(Text { text, kind: TextKind::KindWord }))
        | (Item::Text(Text { text, kind: TextKind::KindWord }), Item::Mark(kind))
            if *kind == FOLDER =>
        {
            Some(Item::Path(Place { looks: Looks::Folder, ..context.resolve(text)? }))
        }
        (Item::Mark(kind), item) | (item, Item::Mark(kind)) if *kind == FOLDER => path(item, Looks::Folder),
        (Item::Mark(kind), item) if *kind == FILE => path(item, Looks::File),
        (item, Item::Mark(kind)) if *kind == FILE && !is_bare(item) => path(item, Looks::File),
        (Item::Draft(draft), Item::Text(Text { text, kind: TextKind::FileName }))
            if draft.only_types() && draft.plural == Some(false) =>
        {
            // "the text file notes.txt": the kind must agree with the name, then the name says it all.
            let agrees = draft.types.iter().any(|kind| {
                matches!(kind, crate::algebra::Pred::Extension(extension)
                    if text.to_ascii_lowercase().ends_with(&format!(".{extension}")))
            });
            if agrees { path(right, Looks::File) } else { None }
        }
        _ => None,
    }
}

/// Text that may name a path.
fn name(item: &Item) -> Option<&str> {
    let Item::Text(text) = item else { return None };
    let usable = matches!(
        text.kind,
        TextKind::Quoted | TextKind::FileName | TextKind::Bare | TextKind::BarePlural | TextKind::Extension
    );
    usable.then_some(text.text.as_str())
}

fn is_bare(item: &Item) -> bool {
    matches!(item, Item::Text(Text { kind: TextKind::Bare | TextKind::BarePlural, .. }))
}

/// "in ~/x", "under src", "directly in /tmp", "in my documents", "in the last five …" is not here.
fn within(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let depth = match left {
        Item::Mark(Concept::Within | Concept::Inside) => None,
        Item::Mark(Concept::Depth(DepthWord::Direct)) => Some(Depth::Direct),
        _ => return None,
    };
    let (place, note) = match right {
        Item::Path(place) => (place.clone(), None),
        Item::Mark(Concept::PlaceAfterPreposition(name)) => (home_folder(context, name)?, None),
        Item::Draft(draft) if depth.is_some() && draft.scope.is_some() && draft.only_modifiers() => {
            return draft.merge(&Draft { depth, ..Draft::default() }).map(Item::draft);
        }
        // "in src" names a folder; "photos of Paris" does not.
        item if left.is_mark(&Concept::Within) && is_bare(item) => return None,
        item => {
            let typed = name(item)?;
            let place = context.resolve(typed)?;
            let note = format!("“{typed}” is taken as the path {}", place.path);
            (place, Some(note))
        }
    };
    let mut draft = Draft { depth, ..Draft::default() };
    draft.notes.extend(note);
    match place.looks {
        Looks::File => draft.object = Some(place),
        Looks::Folder | Looks::Open => draft.scope = Some(place),
    }
    Some(Item::draft(draft))
}

/// A folder with a fixed name below the home folder; `.` and `~` as they are.
pub(in crate::parse) fn home_folder(context: &Context<'_>, name: &str) -> Option<Place> {
    let typed = match name {
        "." | "~" => name.to_owned(),
        below => format!("~/{below}"),
    };
    context.resolve(&typed).map(|place| Place { looks: Looks::Folder, bare: false, ..place })
}

/// "what is in ~/x", "does ~/x contain", "when was x changed".
fn about(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::ListFolder), Item::Mark(Concept::PlaceAfterPreposition(name))) => {
            Some(contents(home_folder(context, name)?))
        }
        (Item::Mark(Concept::ListFolder), Item::Path(place)) if place.looks != Looks::File => {
            Some(contents(place.clone()))
        }
        (Item::Path(place), Item::Mark(Concept::Holds)) if place.looks != Looks::File => {
            Some(Item::draft(Draft { scope: Some(place.clone()), ..Draft::default() }))
        }
        (Item::Draft(draft), Item::Mark(Concept::Holds)) if draft.contents.is_some() => Some(left.clone()),
        (Item::Path(place), Item::Mark(Concept::Holds)) => {
            Some(Item::draft(Draft { object: Some(place.clone()), ..Draft::default() }))
        }
        (Item::Mark(Concept::WhenWas), item) => {
            let place = item.as_draft(context)?.object?;
            Some(Item::Partial(Partial::WhenWas(place)))
        }
        (Item::Partial(Partial::WhenWas(place)), Item::Mark(Concept::Modified)) => {
            Some(Item::draft(Draft { object: Some(place.clone()), ask: Some(Ask::WhenChanged), ..Draft::default() }))
        }
        _ => None,
    }
}

/// "only PDFs", "PDFs only", "only in ~/x", "in ~/x only".
fn only(left: &Item, right: &Item) -> Option<Item> {
    let (draft, is_before) = match (left, right) {
        (Item::Mark(Concept::Only), Item::Draft(draft)) => (draft, true),
        (Item::Draft(draft), Item::Mark(Concept::Only)) => (draft, false),
        _ => return None,
    };
    if draft.scope.is_some() && draft.only_modifiers() {
        return draft.merge(&Draft { depth: Some(Depth::Direct), ..Draft::default() }).map(Item::draft);
    }
    let restricts = if is_before { draft.has_noun() } else { draft.only_types() || draft.only_noun() };
    restricts.then(|| Item::Draft(draft.clone()))
}

/// "search ~/x for", "search notes.txt for 'x'".
fn search(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Draft(draft), item) if draft.only_verb() == Some(Verb::Find) => {
            let place = match item {
                Item::Mark(Concept::PlaceAfterPreposition(name)) => home_folder(context, name)?,
                item if !matches!(item, Item::Draft(_)) => item.as_draft(context)?.object?,
                _ => return None,
            };
            Some(Item::Partial(Partial::SearchIn(place)))
        }
        (Item::Partial(Partial::SearchIn(place)), Item::Mark(Concept::For)) if place.looks == Looks::File => {
            Some(Item::Partial(Partial::SearchFor(place.clone())))
        }
        (Item::Partial(Partial::SearchIn(place)), Item::Mark(Concept::For)) => {
            Some(Item::draft(Draft { verb: Some(Verb::Find), scope: Some(place.clone()), ..Draft::default() }))
        }
        _ => None,
    }
}

fn contents(place: Place) -> Item {
    Item::draft(Draft { contents: Some(()), scope: Some(place), ..Draft::default() })
}
