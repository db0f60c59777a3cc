//! Builds the source of a query about files: the folders searched, how deep, and which entries.

use super::super::draft::{Ask, Draft, only};
use super::conditions::predicates;
use super::left_out::{kept_by_git, left_out};
use super::{Antecedent, BuildContext, BuildError};
use crate::algebra::{Depth, Function, Key, Kind, NamePart, NameTest, Pred, Query, Relation};
use crate::concept::{Hidden, Verb};
use crate::place::{PathKind, Place};

/// The query for the entries below the folders that a parsed phrase names, with its conditions.
pub(super) fn tree(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let places = places(draft)?;
    // "show the current folder" asks for its path.
    let here = cx.context.resolve(".");
    let is_here = matches!((places.as_slice(), &here), ([place], Some(here)) if place.path == here.path);
    let (kind, whole) = kind(draft, !places.is_empty(), is_here)?;
    let is_content = draft.contents.take().is_some() || kind.is_none();
    let kind = measured_kind(cx, draft, kind.unwrap_or(Kind::Any));
    let is_look = is_look_around(draft, &places, is_here);
    let mut preds = predicates(cx, draft);
    if kind == Kind::Folder {
        preds = preds.into_iter().map(of_folder).collect();
    }
    let names_hidden = preds.iter().any(is_about_hidden_names);
    let depth = draft.depth.take().unwrap_or_else(|| {
        let depth = if is_content || is_look { Depth::Direct } else { Depth::Whole };
        let said = if depth == Depth::Direct { "subfolders not entered" } else { "subfolders included" };
        cx.notes.push(said.to_owned());
        depth
    });
    let says_hidden = draft.hidden.is_some();
    let hidden = match draft.hidden.take() {
        Some(Hidden::Include) => true,
        Some(Hidden::Exclude) => false,
        Some(Hidden::Only) => {
            preds.push(Pred::Name(NameTest::Starts(".".to_owned())));
            true
        }
        None => {
            // A search includes hidden files; a listing or count of one folder leaves them out.
            let is_look = (is_content && draft.act.is_none()) || is_look;
            let is_read = draft.duplicates.is_some() && !names_hidden && holds_home(cx, &places);
            let hidden = !is_read && (depth == Depth::Whole || names_hidden || whole || !is_look);
            cx.notes.push(if hidden { "hidden files included" } else { "hidden files left out" }.to_owned());
            hidden
        }
    };
    // Without a folder, a later step may or may not mean the folder of the previous step.
    if places.is_empty() && cx.antecedent.is_some_and(Antecedent::is_in_same_request) {
        return Err(BuildError::Incomplete("in which folder"));
    }
    // After an earlier request, "only the PNGs" may refer to its result.
    if places.is_empty() && cx.antecedent.is_some() && draft.verb.is_none() && draft.ask.is_none() {
        return Err(BuildError::Incomplete("in which folder, or “of those”"));
    }
    if places.is_empty() && draft.act.is_some() {
        return Err(BuildError::Incomplete("in which folder (“here” is the current one)"));
    }
    if depth == Depth::Whole && places.iter().any(|place| place.path == "/") {
        cx.notes.push("/proc and /sys, where the kernel shows itself, are left out".to_owned());
    }
    let roots = if places.is_empty() {
        let environment = cx.context.environment;
        let cwd = cx.context.resolve(".").map_or_else(|| environment.cwd.clone(), |here| here.path);
        cx.notes.push(format!("no folder was named: the current one, {cwd}, is meant"));
        vec![cwd]
    } else {
        places.into_iter().map(|place| place.path).collect()
    };
    // "in ~/a but not in ~/b": if ~/b is not below ~/a, files of the same name may be meant.
    let is_below = |folder: &String| roots.iter().any(|root| std::path::Path::new(folder).starts_with(root));
    if preds
        .iter()
        .any(|pred| inside_of(pred).is_some_and(|folder| !is_below(folder)) || is_elsewhere(cx, &roots, pred))
    {
        return lacking(cx, draft, &roots, kind, &preds);
    }
    let source = |kind| Query::Tree { roots: roots.clone(), depth, hidden, kind };
    let kind = kind_with(cx, kind, &source, &preds);
    if depth == Depth::Whole && hidden {
        preds.extend(left_out(cx, &roots, kind));
        if !says_hidden && !names_hidden && !preds.iter().any(|pred| matches!(pred, Pred::Name(NameTest::Is(_)))) {
            preds.extend(kept_by_git(cx, &roots, kind));
        }
    }
    Ok(Query::Filter { of: Box::new(source(kind)), keep: Pred::All(preds) }.normalise())
}

/// Whether the home folder is in one of these places, or in the current folder if there are none.
///
/// The sandbox keeps some of its hidden files from programs, so that a query that reads all files can't be answered.
pub(super) fn holds_home(cx: &BuildContext<'_>, places: &[Place]) -> bool {
    let environment = cx.context.environment;
    let home = std::path::Path::new(&environment.home);
    let is_above = |folder: &str| home.starts_with(folder);
    if places.is_empty() { is_above(&environment.cwd) } else { places.iter().any(|place| is_above(&place.path)) }
}

/// The folder of a condition "below this folder", negated or not; `None` for other conditions.
fn inside_of(pred: &Pred) -> Option<&String> {
    match pred {
        Pred::Inside(folder) => Some(folder),
        Pred::Not(inner) => inside_of(inner),
        _ => None,
    }
}

/// Whether "not in b" names an existing folder outside the roots, so that its files are probably meant.
fn is_elsewhere(cx: &BuildContext<'_>, roots: &[String], pred: &Pred) -> bool {
    let Pred::Not(inner) = pred else { return false };
    let Pred::Below(NameTest::Is(name)) = inner.as_ref() else { return false };
    let exists = |folder: &str| cx.context.is_folder(&format!("{}/{name}", folder.trim_end_matches('/')));
    let environment = cx.context.environment;
    let besides =
        [&environment.cwd, &environment.home].into_iter().any(|folder| !roots.contains(folder) && exists(folder));
    besides && !roots.iter().any(|root| exists(root))
}

/// The kind of entries that can satisfy the conditions: only files, if folders never do.
fn kind_with(cx: &mut BuildContext<'_>, kind: Kind, source: &impl Fn(Kind) -> Query, preds: &[Pred]) -> Kind {
    let keeps = |kind| {
        let keep = Pred::All(preds.to_vec());
        Query::Filter { of: Box::new(source(kind)), keep }.ty().is_ok()
    };
    if kind != Kind::Any || keeps(Kind::Any) || !keeps(Kind::File) {
        return kind;
    }
    cx.notes.push("folders are left out: only files have this".to_owned());
    Kind::File
}

/// The query for the names in one folder that another one lacks: "files in ~/a but not in ~/b".
fn lacking(
    cx: &mut BuildContext<'_>,
    draft: &Draft,
    roots: &[String],
    kind: Kind,
    preds: &[Pred],
) -> Result<Query, BuildError> {
    let ([root], [Pred::Not(inner)], None) = (roots, preds, draft.act) else { return Err(BuildError::Lacking) };
    let named = |name: &str| {
        let environment = cx.context.environment;
        let beside = crate::place::parent(root);
        let above = [beside, &environment.cwd, &environment.home].map(|above| format!("{above}/{name}"));
        above.into_iter().find(|path| cx.context.is_folder(path))
    };
    let other = match inner.as_ref() {
        Pred::Inside(folder) => Some(folder.clone()),
        Pred::Below(NameTest::Is(name)) => named(name),
        _ => None,
    };
    let other = other.filter(|other| cx.context.is_folder(other)).ok_or(BuildError::Lacking)?;
    Ok(compared(cx, [root.clone(), other], kind, Relation::OnlyFirst))
}

/// The query that compares the names in two folders.
pub(super) fn compared(cx: &mut BuildContext<'_>, folders: [String; 2], kind: Kind, relation: Relation) -> Query {
    cx.notes.retain(|note| !note.starts_with("subfolders") && !note.starts_with("hidden"));
    cx.notes.push("compared by name; subfolders not entered".to_owned());
    let [of, with] = folders.map(|folder| {
        let tree = Query::Tree { roots: vec![folder], depth: Depth::Direct, hidden: true, kind };
        Box::new(Query::Names { of: Box::new(tree), part: NamePart::Name })
    });
    Query::Compare { of, with, relation }
}

/// The kind of entries to search: only files if they are sorted by size, as folders have no size of their own.
fn measured_kind(cx: &mut BuildContext<'_>, draft: &Draft, kind: Kind) -> Kind {
    let by_size = draft.sort.first().map(|(key, _)| *key).or(draft.superlative.map(|(key, _)| key)) == Some(Key::Size);
    if kind != Kind::Any || !by_size || draft.act.is_some() {
        return kind;
    }
    cx.notes.push("folders are left out: they have no length of their own".to_owned());
    Kind::File
}

/// Whether a request only lists or counts what is in the current folder, like `ls`.
fn is_look_around(draft: &Draft, places: &[Place], is_here: bool) -> bool {
    let counts = matches!(draft.ask, Some(Ask::Count | Ask::CountThem | Ask::Number(Function::Any)));
    // "which files are here" means the same as "list the files here"; a search also looks into subfolders.
    let lists = draft.ask.is_none() && matches!(draft.verb, None | Some(Verb::List | Verb::Show));
    let is_look = (lists || counts) && draft.act.is_none();
    let says_nothing = draft.types.is_empty() && draft.preds.is_empty();
    let is_all = draft.superlative.is_none() && draft.group.is_none() && draft.duplicates.is_none();
    is_look && says_nothing && is_all && draft.field.is_none() && (places.is_empty() || is_here)
}

/// A condition on empty files turned into one on empty folders.
pub(super) fn of_folder(pred: Pred) -> Pred {
    match pred {
        Pred::MaxBytes(0) => Pred::EmptyFolder,
        Pred::MinBytes(1) => Pred::Not(Box::new(Pred::EmptyFolder)),
        other => other,
    }
}

/// Removes the folders to search from a parsed phrase and returns them.
fn places(draft: &mut Draft) -> Result<Vec<Place>, BuildError> {
    let scope = std::mem::take(&mut draft.scope);
    let object = std::mem::take(&mut draft.object);
    match (scope.as_slice(), object.as_slice()) {
        (_, []) => Ok(scope),
        ([], [object]) if object.kind == PathKind::File => {
            Err(BuildError::Question { question: "what lies in it", of: "a file" })
        }
        // "the folder ~/x" means that path, not the folders in it.
        ([], [_]) if draft.plural == Some(false) && draft.superlative.is_none() && draft.nth.is_none() => {
            Err(BuildError::Leftover)
        }
        ([], [object]) => {
            // "list ~/x": without a noun, it must be certain that ~/x is a folder.
            let says_what = draft.has_noun() || draft.ask.is_some() || draft.superlative.is_some();
            match (says_what, draft.verb, object.kind) {
                (true, _, _) | (_, Some(Verb::List), _) | (_, Some(Verb::Show), PathKind::Folder) => {
                    Ok(vec![object.clone()])
                }
                _ => Err(BuildError::FolderOrFile { path: object.path.clone() }),
            }
        }
        _ => Err(BuildError::Leftover),
    }
}

/// The kind of entries that a phrase asks for (`None` for what a folder holds), and whether everything in a folder is
/// meant.
fn kind(draft: &mut Draft, has_place: bool, is_here: bool) -> Result<(Option<Kind>, bool), BuildError> {
    let nothing_said = draft.types.is_empty() && draft.preds.is_empty() && draft.superlative.is_none();
    let sums = matches!(
        draft.ask,
        Some(Ask::Size | Ask::Number(Function::AverageBytes | Function::LargestBytes | Function::SmallestBytes))
    );
    match draft.noun.take() {
        Some(Kind::Any) if sums => Ok((Some(Kind::File), nothing_said)),
        Some(kind) => Ok((Some(kind), false)),
        None if draft.contents.is_some() && nothing_said => Ok((None, false)),
        None if !draft.types.is_empty() || draft.superlative.is_some() || draft.duplicates.is_some() => {
            Ok((Some(Kind::File), false))
        }
        None if sums && has_place => Ok((Some(Kind::File), nothing_said)),
        None if (draft.verb == Some(Verb::List) || (draft.verb == Some(Verb::Show) && !is_here))
            && nothing_said
            && has_place
            && draft.ask.is_none() =>
        {
            Ok((None, false))
        }
        // "ls".
        None if draft.verb == Some(Verb::List) && only!(draft, verb) => Ok((None, false)),
        None if draft.act.is_some() => Err(BuildError::Incomplete("which files")),
        // "what changed today".
        None if draft.verb.is_some() && draft.preds.iter().any(is_of_time) => Ok((Some(Kind::File), false)),
        None => Err(BuildError::NothingAsked),
    }
}

/// Whether a condition is on the time of the last change.
fn is_of_time(pred: &Pred) -> bool {
    matches!(pred, Pred::ModifiedFrom(_) | Pred::ModifiedBefore(_))
}

/// Whether a condition is on names that start with a dot.
fn is_about_hidden_names(pred: &Pred) -> bool {
    match pred {
        Pred::Name(NameTest::Is(text) | NameTest::Starts(text) | NameTest::Glob(text)) => text.starts_with('.'),
        Pred::Any(parts) | Pred::All(parts) => parts.iter().any(is_about_hidden_names),
        _ => false,
    }
}
