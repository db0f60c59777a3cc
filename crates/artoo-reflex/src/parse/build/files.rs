//! Queries about files and folders.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a condition or operator that is treated apart is named; every other is not"
)]

use super::super::draft::{Ask, Draft};
use super::order::order;
use super::{Misfit, Scene};
use crate::algebra::{Depth, Function, GroupKey, Key, Kind, NameTest, Order, Pred, Query, SortKey, Ty};
use crate::concept::{Hidden, Reference, Verb};
use crate::place::{Looks, Place, file_name};

pub(super) fn build(scene: &mut Scene<'_>, draft: &mut Draft) -> Result<Query, Misfit> {
    let verb = draft.verb;
    // "the size of each folder" is that of the folders, not of the files by folder.
    if draft.group == Some(GroupKey::Folder) && draft.ask == Some(Ask::Size) && !draft.has_noun() {
        return Err(Misfit::Leftover(Box::new(draft.clone())));
    }
    let of = selection(scene, draft)?;
    draft.verb = None;
    if of.ty() == Ok(Ty::Processes) {
        return super::machine::ask(draft, of);
    }
    if draft.duplicates.take().is_some() {
        let of = Query::Duplicates { of: Box::new(of) };
        return match draft.ask.take() {
            Some(Ask::Count | Ask::CountThem) => Ok(aggregate(of, Function::Count)),
            Some(Ask::Number(Function::Any)) => Ok(aggregate(of, Function::Any)),
            ask => {
                draft.ask = ask;
                Ok(of)
            }
        };
    }
    if draft.group.is_some() {
        return grouped(draft, of);
    }
    let query = ask(draft, verb, of)?;
    // "sort the files" says nothing of how.
    if verb == Some(Verb::Sort) && !is_sorted(&query) {
        return Err(Misfit::Incomplete { missing: "what decides the order" });
    }
    Ok(query)
}

/// The files that are spoken of, ordered and limited.
pub(super) fn selection(scene: &mut Scene<'_>, draft: &mut Draft) -> Result<Query, Misfit> {
    let of = if let Some(reference) = draft.reference.take() {
        referred(scene, draft, reference)?
    } else if let Some(paths) = paths(draft) {
        paths
    } else {
        tree(scene, draft)?
    };
    if draft.group.is_some() {
        return Ok(of);
    }
    order(scene, draft, of)
}

/// "those", "the PDFs among them", "the largest one".
fn referred(scene: &mut Scene<'_>, draft: &mut Draft, reference: Reference) -> Result<Query, Misfit> {
    let before = scene.antecedent.and_then(super::Antecedent::selection).ok_or(Misfit::NothingBefore)?;
    let kind_agrees = draft.noun.is_none_or(|kind| kind == before.kind() || before.kind() == Kind::Any);
    if !kind_agrees || reference == Reference::Again {
        return Err(Misfit::Leftover(Box::new(draft.clone())));
    }
    draft.noun = None;
    // "which is the largest", "the newest of them": one.
    if draft.plural.is_none() {
        draft.plural = Some(false);
    }
    let preds = predicates(scene, draft);
    Ok(Query::Filter { of: Box::new(before), keep: Pred::All(preds) }.normalise())
}

/// Things named one by one, without a word for what they hold.
fn paths(draft: &mut Draft) -> Option<Query> {
    let is_named = !draft.object.is_empty()
        && !draft.has_noun()
        && draft.contents.is_none()
        && draft.superlative.is_none()
        && draft.preds.is_empty();
    let asks = draft.act.is_some()
        || draft.field.is_some()
        || draft.object.len() > 1
        || draft.object.iter().all(|place| place.looks == Looks::File);
    let is_counted = matches!(draft.ask, Some(Ask::Count | Ask::CountThem | Ask::Number(Function::Any)));
    if !is_named || !asks || is_counted {
        return None;
    }
    let folder = match draft.scope.as_slice() {
        [] => None,
        [folder] if draft.object.iter().all(|place| place.bare) => Some(folder.path.clone()),
        _ => return None,
    };
    draft.scope.clear();
    draft.plural = None;
    let objects = std::mem::take(&mut draft.object);
    let all = |looks: Looks| objects.iter().all(|place| place.looks == looks);
    let kind = match (all(Looks::File), all(Looks::Folder)) {
        (true, _) => Kind::File,
        (_, true) => Kind::Folder,
        _ => Kind::Any,
    };
    Some(Query::Paths { paths: objects.iter().map(|place| inside(folder.as_deref(), place)).collect(), kind })
}

/// A path, or a bare name in a folder.
pub(super) fn inside(folder: Option<&str>, place: &Place) -> String {
    match folder {
        Some(folder) => {
            format!("{}/{}", folder.trim_end_matches('/'), file_name(&place.path).unwrap_or_default())
        }
        None => place.path.clone(),
    }
}

fn tree(scene: &mut Scene<'_>, draft: &mut Draft) -> Result<Query, Misfit> {
    let places = places(draft)?;
    // "show the current folder" asks which one it is.
    let here = scene.context.resolve(".");
    let is_here = matches!((places.as_slice(), &here), ([place], Some(here)) if place.path == here.path);
    let (kind, whole) = kind(draft, !places.is_empty(), is_here)?;
    let is_content = draft.contents.take().is_some() || kind.is_none();
    let kind = measured_kind(scene, draft, kind.unwrap_or(Kind::Any));
    let is_look = is_look_around(draft, &places, is_here);
    let mut preds = predicates(scene, draft);
    if kind == Kind::Folder {
        preds = preds.into_iter().map(of_folder).collect();
    }
    let names_hidden = preds.iter().any(is_about_hidden_names);
    let depth = draft.depth.take().unwrap_or_else(|| {
        let depth = if is_content || is_look { Depth::Direct } else { Depth::Whole };
        let said = if depth == Depth::Direct { "subfolders not entered" } else { "subfolders included" };
        scene.notes.push(said.to_owned());
        depth
    });
    let hidden = match draft.hidden.take() {
        Some(Hidden::Include) => true,
        Some(Hidden::Exclude) => false,
        Some(Hidden::Only) => {
            preds.push(Pred::Name(NameTest::Starts(".".to_owned())));
            true
        }
        None => {
            // A search goes everywhere; a look into one folder shows what a folder shows, and counts it.
            let hidden = depth == Depth::Whole || names_hidden || whole || !(is_content || is_look);
            scene.notes.push(if hidden { "hidden files included" } else { "hidden files left out" }.to_owned());
            hidden
        }
    };
    // A later step without a place may go on where the one before was, or not.
    if places.is_empty() && scene.antecedent.is_some_and(|before| before.steps.is_empty()) {
        return Err(Misfit::Incomplete { missing: "in which folder" });
    }
    // After a turn, "only the PNGs" may be said of what was spoken of.
    if places.is_empty() && scene.antecedent.is_some() && draft.verb.is_none() && draft.ask.is_none() {
        return Err(Misfit::Incomplete { missing: "in which folder, or “of those”" });
    }
    if places.is_empty() && draft.act.is_some() {
        return Err(Misfit::Incomplete { missing: "in which folder (“here” is the current one)" });
    }
    if depth == Depth::Whole && places.iter().any(|place| place.path == "/") {
        scene.notes.push("/proc and /sys, where the kernel shows itself, are left out".to_owned());
    }
    let roots = if places.is_empty() {
        let environment = scene.context.environment;
        let cwd = scene.context.resolve(".").map_or_else(|| environment.cwd.clone(), |here| here.path);
        scene.notes.push(format!("no folder was named: the current one, {cwd}, is meant"));
        vec![cwd]
    } else {
        places.into_iter().map(|place| place.path).collect()
    };
    // "in ~/a but not in ~/b": what is not below cannot be left out; other files of that name may be meant.
    let is_below = |folder: &String| roots.iter().any(|root| std::path::Path::new(folder).starts_with(root));
    if preds
        .iter()
        .any(|pred| inside_of(pred).is_some_and(|folder| !is_below(folder)) || is_elsewhere(scene, &roots, pred))
    {
        return Err(Misfit::Lacking);
    }
    if depth == Depth::Whole && hidden {
        preds.extend(super::left_out::left_out(scene, &roots));
    }
    let tree = Query::Tree { roots, depth, hidden, kind };
    Ok(Query::Filter { of: Box::new(tree), keep: Pred::All(preds) }.normalise())
}

/// The folder of a condition that things lie below it, or don't.
fn inside_of(pred: &Pred) -> Option<&String> {
    match pred {
        Pred::Inside(folder) => Some(folder),
        Pred::Not(inner) => inside_of(inner),
        _ => None,
    }
}

/// "in ~/a but not in b": whether b is a folder of the person's, and none below ~/a, so that its files are meant.
fn is_elsewhere(scene: &Scene<'_>, roots: &[String], pred: &Pred) -> bool {
    let Pred::Not(inner) = pred else { return false };
    let Pred::Below(NameTest::Is(name)) = inner.as_ref() else { return false };
    let exists = |folder: &str| scene.context.is_folder(&format!("{}/{name}", folder.trim_end_matches('/')));
    let environment = scene.context.environment;
    let besides =
        [&environment.cwd, &environment.home].into_iter().any(|folder| !roots.contains(folder) && exists(folder));
    besides && !roots.iter().any(|root| exists(root))
}

/// "everything by size": folders have no length of their own.
fn measured_kind(scene: &mut Scene<'_>, draft: &Draft, kind: Kind) -> Kind {
    let by_size = draft.sort.first().map(|(key, _)| *key).or(draft.superlative.map(|(key, _)| key)) == Some(Key::Size);
    if kind != Kind::Any || !by_size || draft.act.is_some() {
        return kind;
    }
    scene.notes.push("folders are left out: they have no length of their own".to_owned());
    Kind::File
}

/// "list the files here", "how many files are here", with nothing else said about them: what `ls` shows.
fn is_look_around(draft: &Draft, places: &[Place], is_here: bool) -> bool {
    let counts = matches!(draft.ask, Some(Ask::Count | Ask::CountThem | Ask::Number(Function::Any)));
    // "which files are here" asks for the same as "list the files here"; a search goes everywhere.
    let lists = draft.ask.is_none() && matches!(draft.verb, None | Some(Verb::List | Verb::Show));
    let looks = (lists || counts) && draft.act.is_none();
    let says_nothing = draft.types.is_empty() && draft.preds.is_empty();
    let is_all = draft.superlative.is_none() && draft.group.is_none() && draft.duplicates.is_none();
    looks && says_nothing && is_all && draft.field.is_none() && (places.is_empty() || is_here)
}

/// "empty" of a folder: nothing in it.
fn of_folder(pred: Pred) -> Pred {
    match pred {
        Pred::MaxBytes(0) => Pred::EmptyFolder,
        Pred::MinBytes(1) => Pred::Not(Box::new(Pred::EmptyFolder)),
        other => other,
    }
}

/// The folders: "in x", or a folder named without "in".
fn places(draft: &mut Draft) -> Result<Vec<Place>, Misfit> {
    let scope = std::mem::take(&mut draft.scope);
    let object = std::mem::take(&mut draft.object);
    match (scope.as_slice(), object.as_slice()) {
        (_, []) => Ok(scope),
        ([], [object]) if object.looks == Looks::File => {
            Err(Misfit::Question { question: "what lies in it", of: "a file" })
        }
        // "the folder ~/x" is a path, not the folders in it.
        ([], [_]) if draft.plural == Some(false) && draft.superlative.is_none() && draft.nth.is_none() => {
            draft.object = object;
            Err(Misfit::Leftover(Box::new(draft.clone())))
        }
        ([], [object]) => {
            // "list ~/x": without a word for what is wanted, it must be plain that a folder is meant.
            let says_what = draft.has_noun() || draft.ask.is_some() || draft.superlative.is_some();
            match (says_what, draft.verb, object.looks) {
                (true, _, _) | (_, Some(Verb::List), _) | (_, Some(Verb::Show), Looks::Folder) => {
                    Ok(vec![object.clone()])
                }
                _ => Err(Misfit::FolderOrFile { path: object.path.clone() }),
            }
        }
        _ => {
            (draft.scope, draft.object) = (scope, object);
            Err(Misfit::Leftover(Box::new(draft.clone())))
        }
    }
}

/// What is spoken of; `None` = a folder's own content. And whether it is everything a folder holds.
fn kind(draft: &mut Draft, has_place: bool, is_here: bool) -> Result<(Option<Kind>, bool), Misfit> {
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
        None => Err(Misfit::NothingAsked),
    }
}

pub(super) fn predicates(scene: &mut Scene<'_>, draft: &mut Draft) -> Vec<Pred> {
    let mut preds = std::mem::take(&mut draft.preds);
    draft.loose = false;
    let types = std::mem::take(&mut draft.types);
    if !types.is_empty() {
        preds.push(Pred::Any(types));
    }
    if draft.whole_word.take_if(|()| preds.iter().any(has_content)).is_some() {
        preds = preds.into_iter().map(as_word).collect();
    }
    let has_names = preds.iter().any(|pred| pred.has(&|property| matches!(property, Pred::Name(_))));
    if preds.iter().any(has_content) {
        if let Some(ignore) = draft.ignore_case.take() {
            preds = preds.into_iter().map(|pred| with_case(pred, ignore)).collect();
        } else {
            scene.notes.push("upper and lower case differ in the text looked for".to_owned());
        }
    }
    if has_names
        && let Some(true) = draft.ignore_case
        && draft.names.is_none()
    {
        draft.ignore_case = None;
        preds = preds.into_iter().map(in_any_case).collect();
    }
    if preds.iter().any(|pred| matches!(pred, Pred::Name(_))) {
        scene.notes.push("upper and lower case differ in names".to_owned());
    }
    preds
}

/// Whether a condition is (also) about content.
pub(super) fn has_content(pred: &Pred) -> bool {
    pred.has(&|property| matches!(property, Pred::Contains { .. } | Pred::Word { .. }))
}

/// The same with letter case counting or not.
pub(super) fn with_case(pred: Pred, ignore_case: bool) -> Pred {
    pred.map(&|property| match property {
        Pred::Contains { text, .. } => Pred::Contains { text, ignore_case },
        Pred::Word { text, .. } => Pred::Word { text, ignore_case },
        other => other,
    })
}

/// The same with the text standing alone as a word.
pub(super) fn as_word(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Contains { text, ignore_case } => Pred::Word { text, ignore_case },
        other => other,
    })
}

/// The same with the letter case of names ignored.
fn in_any_case(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Name(test) => Pred::NameIgnoringCase(test),
        other => other,
    })
}

/// Whether a name asked for starts with a dot, so that hidden files must be meant.
fn is_about_hidden_names(pred: &Pred) -> bool {
    match pred {
        Pred::Name(NameTest::Is(text) | NameTest::Starts(text) | NameTest::Glob(text)) => text.starts_with('.'),
        Pred::Any(parts) | Pred::All(parts) => parts.iter().any(is_about_hidden_names),
        _ => false,
    }
}

/// "per extension": counted or summed.
fn grouped(draft: &mut Draft, of: Query) -> Result<Query, Misfit> {
    let Some(by) = draft.group.take() else { return Err(Misfit::NothingAsked) };
    let ranked = draft.superlative.take().is_some_and(|(key, _)| key == Key::Value);
    let function = match draft.ask.take() {
        Some(Ask::Count | Ask::CountThem) => Function::Count,
        Some(Ask::Size) => Function::TotalBytes,
        Some(Ask::Number(function)) => function,
        None if ranked => Function::Count,
        ask => {
            draft.ask = ask;
            draft.group = Some(by);
            return Err(Misfit::Leftover(Box::new(draft.clone())));
        }
    };
    draft.each = None;
    draft.total = None;
    let plural = draft.plural.take();
    let groups = Query::Group { of: Box::new(of), by, function };
    Ok(ranked_groups(draft, groups, ranked, plural))
}

/// Groups in another order, or the first of them.
pub(super) fn ranked_groups(draft: &mut Draft, groups: Query, ranked: bool, plural: Option<bool>) -> Query {
    let sorted = match draft.sort.as_slice() {
        [(by @ (Key::Value | Key::Name), direction)] => {
            let natural = if *by == Key::Value { Order::Descending } else { Order::Ascending };
            let order = direction.or(draft.order.take()).unwrap_or(natural);
            let keys = vec![SortKey { by: *by, order }];
            draft.sort.clear();
            Query::Sort { of: Box::new(groups), keys }
        }
        _ => groups,
    };
    match draft.limit.take() {
        Some(count) => Query::Limit { of: Box::new(sorted), skip: 0, count },
        None if ranked && plural == Some(false) => Query::Limit { of: Box::new(sorted), skip: 0, count: 1 },
        None => sorted,
    }
}

fn aggregate(of: Query, function: Function) -> Query {
    Query::Aggregate { of: Box::new(of), function }
}

/// Lists, counts or sums; what is ordered by size or time is shown with both.
fn ask(draft: &mut Draft, verb: Option<Verb>, of: Query) -> Result<Query, Misfit> {
    let kind = of.kind();
    let wants_details = draft.details.take().is_some();
    let in_bytes = draft.in_bytes.take();
    let total = draft.total.take();
    let is_single = draft.each.is_none();
    let is_one = matches!(&of, Query::Limit { count: 1, .. });
    let ordered = if let Query::Limit { of, .. } = &of { of.as_ref() } else { &of };
    let first_key = if let Query::Sort { keys, .. } = ordered { keys.first().map(|key| key.by) } else { None };
    let measured = matches!(first_key, Some(Key::Size | Key::Modified));
    // What is only sorted has no use for its order when it is counted; the first of an order can be counted.
    let is_sorted = matches!(of, Query::Sort { .. });
    let sizes = |of: Query| Query::Field { of: Box::new(of), field: crate::algebra::Field::TotalSize };
    match draft.ask.take() {
        Some(Ask::Count) if !is_sorted && !wants_details && in_bytes.is_none() => Ok(aggregate(of, Function::Count)),
        Some(Ask::CountThem) if !is_sorted && !wants_details && verb.is_none_or(|verb| verb == Verb::Find) => {
            draft.in_bytes = in_bytes;
            Ok(aggregate(of, Function::Count))
        }
        // "the size of the 3 largest files": of each or of all is open.
        Some(Ask::Size) if matches!(&of, Query::Limit { count, .. } if *count > 1) && is_single && total.is_none() => {
            Err(Misfit::Question { question: "one size", of: "several files (say “total size” or “sizes”)" })
        }
        Some(Ask::Size) if kind == Kind::Folder => {
            draft.each = None;
            Ok(sizes(of))
        }
        // "how big is the largest file", "the size of each file": the files with their sizes.
        Some(Ask::Size) if is_one && measured => Ok(details(of)),
        Some(Ask::Size) if draft.each.take().is_some() => Ok(details(of)),
        Some(Ask::Size) if !is_sorted => Ok(aggregate(of, Function::TotalBytes)),
        Some(Ask::Number(function)) if !is_sorted => Ok(aggregate(of, function)),
        Some(Ask::WhenChanged) => Ok(details(of)),
        Some(asked) => {
            draft.ask = Some(asked);
            Err(Misfit::Leftover(Box::new(draft.clone())))
        }
        None if first_key == Some(Key::TotalSize) || (wants_details && kind == Kind::Folder) => Ok(sizes(of)),
        None if (measured || wants_details) && kind == Kind::File => Ok(details(of)),
        None if wants_details => Err(Misfit::Question { question: "a size", of: "a folder" }),
        None => {
            draft.in_bytes = in_bytes;
            Ok(of)
        }
    }
}

fn details(of: Query) -> Query {
    Query::Details { of: Box::new(of) }
}

fn is_sorted(query: &Query) -> bool {
    match query {
        Query::Sort { .. } => true,
        Query::Details { of } | Query::Field { of, .. } | Query::Limit { of, .. } => is_sorted(of),
        _ => false,
    }
}
