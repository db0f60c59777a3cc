//! Queries about the files under a folder.

use super::super::draft::{Ask, Draft};
use super::super::item::Context;
use super::Misfit;
use crate::algebra::{Depth, Function, Key, Kind, NameTest, Order, Pred, Query};
use crate::concept::{Hidden, Verb};
use crate::place::{Looks, Place};

/// Files shown where a request says "the largest files" without a number.
const FILES_WITHOUT_A_NUMBER: u64 = 10;

pub(super) fn build(context: &Context<'_>, draft: &mut Draft, notes: &mut Vec<String>) -> Result<Query, Misfit> {
    let place = place(draft)?;
    let verb = draft.verb.take();
    let (kind, whole) = kind(draft, verb, place.as_ref())?;
    let is_content = draft.contents.take().is_some() || kind.is_none();
    let kind = kind.unwrap_or(Kind::Any);
    let mut preds = predicates(draft, notes);
    let names_hidden = preds.iter().any(is_about_hidden_names);
    let depth = draft.depth.take();
    let hidden = match draft.hidden.take() {
        Some(Hidden::Include) => true,
        Some(Hidden::Exclude) => false,
        Some(Hidden::Only) => {
            preds.push(Pred::Name(NameTest::Starts(".".to_owned())));
            true
        }
        None => {
            let hidden = names_hidden || whole;
            notes.push(if hidden { "hidden files included" } else { "hidden files left out" }.to_owned());
            hidden
        }
    };
    let depth = depth.unwrap_or_else(|| {
        notes.push(if is_content { "subfolders not entered" } else { "subfolders included" }.to_owned());
        if is_content { Depth::Direct } else { Depth::Whole }
    });
    let root = match place {
        Some(place) => place.path,
        None => {
            let cwd = context.resolve(".").map_or_else(|| context.environment.cwd.clone(), |here| here.path);
            notes.push(format!("no folder was named: the current one, {cwd}, is meant"));
            cwd
        }
    };
    let tree = Query::Tree { root, depth, hidden, kind };
    let selection = Query::Filter { of: Box::new(tree), keep: Pred::All(preds) };
    let ordered = order(draft, selection, notes)?;
    ask(draft, verb, kind, ordered)
}

/// The folder: "in x", or a folder named without "in".
fn place(draft: &mut Draft) -> Result<Option<Place>, Misfit> {
    match (draft.scope.take(), draft.object.take()) {
        (Some(scope), None) => Ok(Some(scope)),
        (None, Some(object)) if object.looks == Looks::File => {
            Err(Misfit::Question { question: "what lies in it", of: "a file" })
        }
        (None, Some(object)) => {
            // "list ~/x": without a word for what is wanted, it must be plain that a folder is meant.
            let says_what = draft.has_noun() || draft.ask.is_some() || draft.superlative.is_some();
            match (says_what, draft.verb, object.looks) {
                (true, _, _) | (_, Some(Verb::List), _) | (_, Some(Verb::Show), Looks::Folder) => Ok(Some(object)),
                _ => Err(Misfit::FolderOrFile { path: object.path }),
            }
        }
        (None, None) => Ok(None),
        (scope, object) => {
            (draft.scope, draft.object) = (scope, object);
            Err(Misfit::Leftover(Box::new(draft.clone())))
        }
    }
}

/// What is spoken of; `None` = a folder's own content. And whether it is everything a folder holds.
fn kind(draft: &mut Draft, verb: Option<Verb>, place: Option<&Place>) -> Result<(Option<Kind>, bool), Misfit> {
    let nothing_said = draft.types.is_empty() && draft.preds.is_empty() && draft.superlative.is_none();
    let sums = draft.ask == Some(Ask::Size);
    match draft.noun.take() {
        Some(Kind::Any) if sums => Ok((Some(Kind::File), nothing_said)),
        Some(kind) => Ok((Some(kind), false)),
        None if draft.contents.is_some() && nothing_said => Ok((None, false)),
        None if !draft.types.is_empty() || draft.superlative.is_some() => Ok((Some(Kind::File), false)),
        None if sums && place.is_some() => Ok((Some(Kind::File), nothing_said)),
        None if matches!(verb, Some(Verb::List | Verb::Show))
            && nothing_said
            && place.is_some()
            && draft.ask.is_none() =>
        {
            Ok((None, false))
        }
        None => Err(Misfit::NothingAsked),
    }
}

fn predicates(draft: &mut Draft, notes: &mut Vec<String>) -> Vec<Pred> {
    let mut preds = std::mem::take(&mut draft.preds);
    let types = std::mem::take(&mut draft.types);
    if !types.is_empty() {
        preds.push(Pred::Any(types));
    }
    let mut about_content = false;
    for pred in &mut preds {
        if let Pred::Contains { ignore_case, .. } = pred {
            about_content = true;
            *ignore_case = draft.ignore_case.unwrap_or(false);
        }
    }
    if about_content && draft.ignore_case.take().is_none() {
        notes.push("upper and lower case differ in the text looked for".to_owned());
    }
    if preds.iter().any(|pred| matches!(pred, Pred::Name(_))) {
        notes.push("upper and lower case differ in names".to_owned());
    }
    preds
}

/// Whether a name asked for starts with a dot, so that hidden files must be meant.
fn is_about_hidden_names(pred: &Pred) -> bool {
    match pred {
        Pred::Name(NameTest::Is(text) | NameTest::Starts(text) | NameTest::Glob(text)) => text.starts_with('.'),
        Pred::Any(parts) | Pred::All(parts) => parts.iter().any(is_about_hidden_names),
        Pred::Name(NameTest::Ends(_) | NameTest::Has(_))
        | Pred::Not(_)
        | Pred::Extension(_)
        | Pred::MinBytes(_)
        | Pred::MaxBytes(_)
        | Pred::ModifiedFrom(_)
        | Pred::ModifiedBefore(_)
        | Pred::Contains { .. } => false,
    }
}

/// Sorts and limits: by a superlative, by "sorted by …", or (for "5 files") by path.
fn order(draft: &mut Draft, of: Query, notes: &mut Vec<String>) -> Result<Query, Misfit> {
    let plural = draft.plural.take();
    let limited = |of: Query, count: u64| Query::Limit { of: Box::new(of), count };
    let sorted = |of: Query, by, order| Query::Sort { of: Box::new(of), by, order };
    if let Some((by, direction)) = draft.superlative.take() {
        // "the 10 largest files by size" says the same twice.
        if draft.sort == Some((by, None)) && draft.order.is_none() {
            draft.sort = None;
        }
        let count = match (draft.limit.take(), plural) {
            (Some(count), _) => count,
            (None, Some(false)) => 1,
            (None, Some(true) | None) => {
                notes.push(format!("no number was named: the first {FILES_WITHOUT_A_NUMBER} are shown"));
                FILES_WITHOUT_A_NUMBER
            }
        };
        return Ok(limited(sorted(of, by, direction), count));
    }
    let ordered = match (draft.sort.take(), draft.order.take()) {
        (Some((_, Some(_))), Some(twice)) => {
            draft.order = Some(twice);
            return Err(Misfit::Leftover(Box::new(draft.clone())));
        }
        (Some((by, Some(direction))), None) | (Some((by, None)), Some(direction)) => sorted(of, by, direction),
        (Some((by, None)), None) => {
            let (direction, word) = match by {
                Key::Size => (Order::Descending, "largest first"),
                Key::Modified => (Order::Descending, "newest first"),
                Key::Name | Key::Path => (Order::Ascending, "from A to Z"),
            };
            notes.push(format!("no direction was named: {word}"));
            sorted(of, by, direction)
        }
        (None, Some(direction)) => {
            draft.order = Some(direction);
            of
        }
        (None, None) => of,
    };
    match draft.limit.take() {
        None => Ok(ordered),
        Some(count) if matches!(ordered, Query::Sort { .. }) => Ok(limited(ordered, count)),
        Some(count) => {
            notes.push("no order was named: in the order of paths".to_owned());
            Ok(limited(sorted(ordered, Key::Path, Order::Ascending), count))
        }
    }
}

/// Lists, counts or sums; what is ordered by size or time is shown with both.
fn ask(draft: &mut Draft, verb: Option<Verb>, kind: Kind, of: Query) -> Result<Query, Misfit> {
    let wants_details = draft.details.take().is_some();
    let in_bytes = draft.in_bytes.take();
    let is_first = matches!(&of, Query::Limit { .. });
    let ordered = if let Query::Limit { of, .. } = &of { of.as_ref() } else { &of };
    let measured = matches!(ordered, Query::Sort { by: Key::Size | Key::Modified, .. });
    let is_ordered = matches!(ordered, Query::Sort { .. });
    let aggregate = |of: Query, function| Query::Aggregate { of: Box::new(of), function };
    match draft.ask.take() {
        Some(Ask::Count) if !is_ordered && !wants_details && in_bytes.is_none() => Ok(aggregate(of, Function::Count)),
        Some(Ask::CountThem) if !is_ordered && !wants_details && verb.is_none_or(|verb| verb == Verb::Find) => {
            draft.in_bytes = in_bytes;
            Ok(aggregate(of, Function::Count))
        }
        Some(Ask::Size) if !is_ordered => Ok(aggregate(of, Function::TotalBytes)),
        // "how big is the largest file": the file with its size.
        Some(Ask::Size) if is_first && measured && matches!(of, Query::Limit { count: 1, .. }) => {
            Ok(Query::Details { of: Box::new(of) })
        }
        Some(asked) => {
            draft.ask = Some(asked);
            Err(Misfit::Leftover(Box::new(draft.clone())))
        }
        None if (measured || wants_details) && kind == Kind::File => Ok(Query::Details { of: Box::new(of) }),
        None if wants_details => Err(Misfit::Question { question: "a size", of: "a folder" }),
        None => {
            draft.in_bytes = in_bytes;
            Ok(of)
        }
    }
}
