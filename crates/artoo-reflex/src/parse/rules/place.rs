//! Grammar rules for the folders and files a request names.

use super::super::draft::{Ask, Draft, only};
use super::super::item::{Context, Item, Partial, Rule, Text, TextKind};
use crate::algebra::{Depth, Function, Kind};
use crate::concept::{ActWord, Concept, Reference, Verb};
use crate::place::{PathKind, Place, is_archive};

/// The meaning of the noun "folder", in the singular.
const FOLDER: Concept = Concept::Noun { kind: Kind::Folder, plural: false };
/// The meaning of the noun "file", in the singular.
const FILE: Concept = Concept::Noun { kind: Kind::File, plural: false };

/// The grammar rules for folders and files that a request names, in the order tried.
pub(super) const RULES: &[Rule] = &[named, within, about, only, search, several, compared];

/// The file or folder that an item names, if it names a single one.
fn only_object(context: &Context<'_>, item: &Item) -> Option<Place> {
    let draft = item.as_draft(context)?;
    let [place] = draft.object.as_slice() else { return None };
    Some(place.clone())
}

/// The files and folders that an item names.
fn places(context: &Context<'_>, item: &Item) -> Option<Vec<Place>> {
    match item {
        Item::Path(place) => Some(vec![place.clone()]),
        Item::Paths(places) => Some(places.clone()),
        Item::Text(Text { text, kind: TextKind::Quoted }) if text.contains('/') => {
            context.resolve(text).map(|place| vec![place])
        }
        Item::Text(_) => item.as_draft(context).filter(Draft::only_object).map(|draft| draft.object),
        _ => None,
    }
}

/// The existing folder that an item in a list of folders names: a known folder such as "Documents", or one whose name
/// has another meaning too, such as "logs".
fn beside(context: &Context<'_>, item: &Item) -> Option<Place> {
    let place = match item {
        Item::Mark(Concept::PlaceAfterPreposition(name)) => home_folder(context, name),
        Item::Text(Text { text, kind: TextKind::KindWord | TextKind::Known | TextKind::Function }) => {
            context.resolve(text)
        }
        _ => None,
    };
    let place = place.filter(|place| context.is_folder(&place.path))?;
    Some(Place { kind: PathKind::Folder, ..place })
}

/// Grammar rule for two neighbouring items, as in "which is bigger, a.txt or b.txt", "which of a.txt and b.txt is
/// newer".
fn compared(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        // "which is bigger, a.txt or b.txt".
        (item, Item::Mark(Concept::Or)) if places(context, item).is_some() => {
            Some(Item::Partial(Partial::OneOf(places(context, item)?)))
        }
        (Item::Partial(Partial::OneOf(first)), item) if first.len() == 1 => {
            Some(Item::Partial(Partial::OneOf([first.clone(), places(context, item)?].concat())))
        }
        (Item::Mark(Concept::Comparative { by, order }), Item::Partial(Partial::OneOf(object)))
        | (Item::Paths(object), Item::Mark(Concept::Comparative { by, order }))
            if object.len() == 2 =>
        {
            let (object, plural) = (object.clone(), Some(false));
            Some(Item::draft(Draft { object, plural, superlative: Some((*by, *order)), ..Draft::default() }))
        }
        (Item::Draft(draft), Item::Mark(Concept::Comparative { .. }))
            if draft.only_noun() && draft.plural == Some(false) =>
        {
            Some(right.clone())
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "a.txt and b.txt", "~/a, ~/b and ~/c", "in ~/a and in ~/b", "the
/// folders a and b".
fn several(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::Noun { kind: kind @ (Kind::Folder | Kind::File), plural: true }), item) => {
            let kind = if *kind == Kind::Folder { PathKind::Folder } else { PathKind::File };
            if let Item::Paths(places) = item {
                // "which files do a and b have" names folders.
                if kind == PathKind::File && places.iter().any(|place| context.is_folder(&place.path)) {
                    return None;
                }
                return Some(Item::Paths(places.iter().map(|place| Place { kind, ..place.clone() }).collect()));
            }
            // The first name of "folders a, b and c"; the other names follow.
            let known = beside(context, item).filter(|_| kind == PathKind::Folder);
            let named = || context.resolve(name(item).filter(|_| !matches!(item, Item::Path(_)))?);
            let place = known.or_else(named)?;
            // "files that are completely empty" names no file "completely".
            let is_word = matches!(item, Item::Text(Text { kind: TextKind::Bare | TextKind::BarePlural, .. }));
            let is_file = kind == PathKind::Folder || !is_word || context.on_disk(&place.path).is_some();
            is_file.then(|| Item::Paths(vec![Place { kind, ..place }]))
        }
        (item, Item::Comma | Item::Mark(Concept::And)) if places(context, item).is_some() => {
            Some(Item::Partial(Partial::JoiningPaths(places(context, item)?)))
        }
        (Item::Partial(Partial::JoiningPaths(_)), Item::Mark(Concept::And)) => Some(left.clone()),
        (Item::Partial(Partial::JoiningPaths(first)), item) => {
            let are_folders = first.iter().all(|place| place.kind == PathKind::Folder);
            let folder = || beside(context, item).filter(|_| are_folders).map(|place| vec![place]);
            let later = match places(context, item).or_else(folder) {
                Some(later) => later,
                None => {
                    let kind = first.first()?.kind;
                    vec![Place { kind, ..context.resolve(name(item).filter(|_| kind != PathKind::Unknown)?)? }]
                }
            };
            Some(Item::Paths([first.clone(), later].concat()))
        }
        (Item::Draft(draft), Item::Comma | Item::Mark(Concept::And | Concept::Or)) if draft.only_scope() => {
            Some(Item::Partial(Partial::JoiningScope(draft.clone())))
        }
        (Item::Partial(Partial::JoiningScope(_)), Item::Mark(Concept::And | Concept::Or)) => Some(left.clone()),
        (Item::Partial(Partial::JoiningScope(first)), item) => {
            let later = match item {
                Item::Draft(draft) if draft.only_scope() => draft.scope.clone(),
                // "in docs and logs": a word for a kind of file, and a folder that is there.
                item => match beside(context, item) {
                    Some(place) => vec![place],
                    None => places(context, item)
                        .filter(|places| places.iter().all(|place| place.kind != PathKind::File))?,
                },
            };
            let mut joined = first.clone();
            joined.scope.extend(later);
            Some(Item::Draft(joined))
        }
        (Item::Mark(Concept::Within | Concept::Inside | Concept::DirectlyIn), Item::Paths(places)) => {
            let depth = left.is_mark(&Concept::DirectlyIn).then_some(Depth::Direct);
            let folders = places.iter().all(|place| place.kind != PathKind::File);
            let files = places.iter().all(|place| place.kind == PathKind::File);
            let (scope, object) = if folders { (places.clone(), Vec::new()) } else { (Vec::new(), places.clone()) };
            (folders || files).then(|| Item::draft(Draft { scope, object, depth, ..Draft::default() }))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "folder src", "the src folder", "the file notes.txt", "a folder
/// called src".
fn named(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let path = |item: &Item, kind: PathKind| -> Option<Item> {
        let place = if let Item::Path(place) = item { place.clone() } else { context.resolve(name(item)?)? };
        let fits = context.on_disk(&place.path).is_none_or(|known| known == kind);
        fits.then_some(Item::Path(Place { kind, ..place }))
    };
    match (left, right) {
        (Item::Mark(kind), Item::Mark(Concept::Name(crate::concept::NameRelation::Is))) if *kind == FOLDER => {
            Some(Item::Partial(Partial::Named(PathKind::Folder)))
        }
        (Item::Mark(kind), Item::Mark(Concept::Name(crate::concept::NameRelation::Is))) if *kind == FILE => {
            Some(Item::Partial(Partial::Named(PathKind::File)))
        }
        (
            Item::Partial(Partial::Named(kind)),
            Item::Text(Text { text, kind: text_kind @ (TextKind::Known | TextKind::KindWord | TextKind::Function) }),
        ) if *text_kind != TextKind::Function || text.starts_with(char::is_uppercase) => {
            Some(Item::Path(Place { kind: *kind, ..context.resolve(text)? }))
        }
        (Item::Partial(Partial::Named(kind)), item) => path(item, *kind),
        (Item::Mark(kind), Item::Text(Text { text, kind: TextKind::KindWord }))
        | (Item::Text(Text { text, kind: TextKind::KindWord }), Item::Mark(kind))
            if *kind == FOLDER =>
        {
            Some(Item::Path(Place { kind: PathKind::Folder, ..context.resolve(text)? }))
        }
        (Item::Mark(kind), item) | (item, Item::Mark(kind)) if *kind == FOLDER => path(item, PathKind::Folder),
        (Item::Mark(kind), item) if *kind == FILE => path(item, PathKind::File),
        // ".txt file" means a kind of file, not a name.
        (item, Item::Mark(kind)) if *kind == FILE && !is_bare(item) && !is_kind(item) => path(item, PathKind::File),
        (
            Item::Draft(draft),
            Item::Text(Text { text, kind: TextKind::FileName }) | Item::Path(Place { path: text, .. }),
        ) if draft.only_types() && draft.plural == Some(false) => {
            // "the text file notes.txt": the kind must agree with the name, then the name says it all.
            let agrees = draft.types.iter().any(|kind| {
                matches!(kind, crate::algebra::Pred::Extension(extension)
                    if text.to_ascii_lowercase().ends_with(&format!(".{extension}")))
            });
            if agrees { path(right, PathKind::File) } else { None }
        }
        _ => None,
    }
}

/// The text of an item, if it can be a path; else `None`.
fn name(item: &Item) -> Option<&str> {
    let Item::Text(text) = item else { return None };
    let usable = matches!(
        text.kind,
        TextKind::Quoted | TextKind::FileName | TextKind::Bare | TextKind::BarePlural | TextKind::Extension
    );
    usable.then_some(text.text.as_str())
}

/// Whether an item before the word "file" is an extension or a quoted pattern (".txt file"), and so not a file's name.
fn is_kind(item: &Item) -> bool {
    match item {
        Item::Text(Text { kind: TextKind::Extension, .. }) => true,
        Item::Text(Text { kind: TextKind::Quoted, text }) => text.starts_with('.') || text.contains(['*', '?', '[']),
        _ => false,
    }
}

/// Whether the item is a word that the lexicon doesn't know.
fn is_bare(item: &Item) -> bool {
    matches!(item, Item::Text(Text { kind: TextKind::Bare | TextKind::BarePlural, .. }))
}

/// Grammar rule for two neighbouring items, as in "in ~/x", "under src", "directly in /tmp", "in my documents".
fn within(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let depth = match left {
        Item::Mark(Concept::Within | Concept::Inside) => None,
        Item::Mark(Concept::DirectlyIn) => Some(Depth::Direct),
        _ => return None,
    };
    let (place, note) = match right {
        Item::Path(place) => (place.clone(), None),
        Item::Mark(Concept::PlaceAfterPreposition(name)) => (home_folder(context, name)?, None),
        Item::Draft(draft) if depth.is_some() && !draft.scope.is_empty() && draft.only_modifiers() => {
            return draft.merge(&Draft { depth, ..Draft::default() }).map(Item::draft);
        }
        // "in src" names a folder; "photos of Paris" doesn't.
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
    match place.kind {
        PathKind::File => draft.object = vec![place],
        PathKind::Folder | PathKind::Unknown => draft.scope = vec![place],
    }
    Some(Item::draft(draft))
}

/// The known folder of this name: the first that exists of the one below the home folder and the one in the current
/// folder, also in lower case; else the one below the home folder. For "workspace" it is the workspace, or `None` if
/// the current folder has a folder of this name too.
pub(in crate::parse) fn home_folder(context: &Context<'_>, name: &str) -> Option<Place> {
    let typed = match name {
        "." | "~" => name.to_owned(),
        below => format!("~/{below}"),
    };
    if name == "workspace" {
        // A folder of this name could be meant as well.
        let here = context.resolve(name).filter(|here| context.is_folder(&here.path));
        let path = context.environment.workspace.clone();
        return here.is_none().then_some(Place { path, kind: PathKind::Folder, bare: false });
    }
    // If ~/Downloads does not exist but ./Downloads or ~/downloads does, that is meant.
    let names = [typed.clone(), name.to_owned(), typed.to_lowercase(), name.to_lowercase()];
    let there = names.iter().filter_map(|name| context.resolve(name)).find(|place| context.is_folder(&place.path));
    Some(Place { kind: PathKind::Folder, bare: false, ..there.or_else(|| context.resolve(&typed))? })
}

/// Grammar rule for two neighbouring items, as in "what is in ~/x", "does ~/x contain", "when was x changed".
fn about(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::ListFolder), Item::Mark(Concept::PlaceAfterPreposition(name))) => {
            Some(contents(home_folder(context, name)?))
        }
        (Item::Mark(Concept::ListFolder), Item::Path(place)) if place.kind != PathKind::File => {
            Some(contents(place.clone()))
        }
        // "what is in a.txt".
        (Item::Mark(Concept::ListFolder), Item::Path(_) | Item::Text(_)) => {
            let object = vec![
                only_object(context, right).filter(|place| place.kind == PathKind::File && !is_archive(&place.path))?,
            ];
            Some(Item::draft(Draft { verb: Some(Verb::Read), object, ..Draft::default() }))
        }
        // "copy the contents of a.txt".
        (Item::Draft(act), Item::Draft(text)) if act.act == Some(ActWord::Copy) && text.verb == Some(Verb::Read) => {
            let is_file = only!(act, act) && only!(text, verb, object) && !text.object.is_empty();
            (is_file && text.object.iter().all(|place| place.kind == PathKind::File))
                .then(|| Item::draft(Draft { verb: None, act: act.act, ..(**text).clone() }))
        }
        (Item::Path(place), Item::Mark(Concept::Holds)) if place.kind != PathKind::File => {
            Some(Item::draft(Draft { scope: vec![place.clone()], ..Draft::default() }))
        }
        // "does a.csv in data have".
        (Item::Draft(draft), Item::Mark(Concept::Holds))
            if draft.contents.is_some() || (only!(draft, object, scope) && !draft.object.is_empty()) =>
        {
            Some(left.clone())
        }
        (Item::Path(place), Item::Mark(Concept::Holds)) => {
            Some(Item::draft(Draft { object: vec![place.clone()], ..Draft::default() }))
        }
        (Item::Mark(Concept::WhatAbout), item) => {
            let draft = Item::as_draft(item, context).or(Some(Draft::default()))?;
            let named =
                if let Item::Path(place) = item { vec![place.clone()] } else { [draft.scope, draft.object].concat() };
            let reference = Some(Reference::Again);
            (named.len() == 1).then(|| Item::draft(Draft { reference, scope: named, ..Draft::default() }))
        }
        // "is a.txt empty", "does ~/x have any pdfs": what is asked of it follows.
        (Item::Mark(Concept::Copula), item) => {
            let draft = item.as_draft(context)?;
            let is_one = only!(draft, object, scope) && draft.object.len().max(draft.scope.len()) == 1;
            let ask = Some(Ask::Number(Function::Any));
            is_one.then(|| Item::draft(Draft { ask, of_one: Some(()), ..draft }))
        }
        (Item::Mark(Concept::WhenWas), item) => {
            let reference = item.as_draft(context).filter(|draft| only!(draft, reference)).and_then(|it| it.reference);
            let object = only_object(context, item).into_iter().collect();
            let of = Draft { object, reference, ..Draft::default() };
            (of != Draft::default()).then(|| Item::Partial(Partial::WhenWas(Box::new(of))))
        }
        (Item::Partial(Partial::WhenWas(of)), Item::Mark(Concept::Modified)) => {
            Some(Item::draft(Draft { ask: Some(Ask::WhenChanged), ..(**of).clone() }))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "only PDFs", "PDFs only", "only in ~/x", "in ~/x only".
fn only(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let (draft, is_before) = match (left, right) {
        (Item::Mark(Concept::Only), Item::Draft(draft)) => (draft, true),
        (Item::Draft(draft), Item::Mark(Concept::Only)) => (draft, false),
        _ => return None,
    };
    if !draft.scope.is_empty() && draft.only_modifiers() {
        return draft.merge(&Draft { depth: Some(Depth::Direct), ..Draft::default() }).map(Item::draft);
    }
    let of_text = draft.lines.is_some() || draft.once.is_some() || draft.column.is_some();
    let restricts = if is_before { draft.has_noun() || of_text } else { draft.only_types() || draft.only_noun() };
    restricts.then(|| Item::Draft(draft.clone()))
}

/// Grammar rule for two neighbouring items, as in "search ~/x for", "search notes.txt for 'x'".
fn search(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Draft(draft), item) if draft.only_verb() == Some(Verb::Find) => {
            let place = match item {
                Item::Mark(Concept::PlaceAfterPreposition(name)) => home_folder(context, name)?,
                item if !matches!(item, Item::Draft(_)) => only_object(context, item)?,
                _ => return None,
            };
            Some(Item::Partial(Partial::SearchIn(place)))
        }
        // "search recursively in ~/x for".
        (Item::Draft(draft), Item::Mark(Concept::For)) if draft.verb == Some(Verb::Find) && !draft.scope.is_empty() => {
            let rest = only!(draft, verb, scope, depth);
            rest.then(|| left.clone())
        }
        (Item::Partial(Partial::SearchIn(place)), Item::Mark(Concept::For)) if place.kind == PathKind::File => {
            Some(Item::Partial(Partial::SearchFor(place.clone())))
        }
        (Item::Partial(Partial::SearchIn(place)), Item::Mark(Concept::For)) => {
            Some(Item::draft(Draft { verb: Some(Verb::Find), scope: vec![place.clone()], ..Draft::default() }))
        }
        _ => None,
    }
}

/// The item for what a folder holds directly, without its subfolders.
fn contents(place: Place) -> Item {
    Item::draft(Draft { contents: Some(()), scope: vec![place], ..Draft::default() })
}
