//! Builds queries about files and folders from parsed phrases.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::super::antecedent::Antecedent;
use super::super::draft::{Ask, Draft, LAST, Once};
use super::conditions::predicates;
use super::order::order;
use super::tree::{holds_home, tree};
use super::{BuildContext, BuildError};
use crate::algebra::{Depth, Function, GroupKey, Key, Kind, NamePart, NameTest, Order, Pred, Query, SortKey, Step, Ty};
use crate::concept::{Hidden, Reference, Verb};
use crate::eval::{Answer, evaluate};
use crate::place::{PathKind, Place, file_name, parent};

/// Builds the query that a parsed phrase about files or folders asks for.
pub(super) fn build(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let verb = draft.verb;
    // "the size of each folder" asks for the folders' total sizes, not for file sizes grouped by folder.
    if draft.group == Some(GroupKey::Folder) && draft.ask == Some(Ask::Size) && !draft.has_noun() {
        (draft.group, draft.noun, draft.plural) = (None, Some(Kind::Folder), Some(true));
    }
    let is_of_folders = draft.noun == Some(Kind::Folder) && draft.ask == Some(Ask::Size) && draft.preds.is_empty();
    if is_of_folders && cx.context.says_every && draft.superlative.is_none() {
        draft.each = Some(());
        draft.depth.get_or_insert_with(|| {
            cx.notes.push("only the folders directly there".to_owned());
            Depth::Direct
        });
        // What artoo writes beside its answer would change the size of its own folder.
        let places: Vec<Place> = draft.scope.iter().chain(&draft.object).cloned().collect();
        if draft.hidden.is_none() && holds_home(cx, &places) {
            cx.notes.push("hidden files left out".to_owned());
            draft.hidden = Some(Hidden::Exclude);
        }
    }
    let of = if draft.ask == Some(Ask::Size) { measured(cx, draft)? } else { selection(cx, draft)? };
    draft.verb = None;
    if of.ty() == Ok(Ty::Processes) {
        return counted(draft, of);
    }
    if draft.duplicates.take().is_some() {
        // "duplicates in a.txt" are lines.
        let names_one = matches!(&of, Query::Filter { keep: Pred::Name(NameTest::Is(_)), .. });
        if names_one || matches!(&of, Query::Paths { paths, .. } if paths.len() == 1) {
            return Err(BuildError::Leftover);
        }
        let of = Query::Duplicates { of: Box::new(of) };
        return counted(draft, of);
    }
    if draft.group.is_some() {
        return grouped(draft, of);
    }
    let query = ask(draft, verb, of)?;
    // "sort the files" does not say by which key.
    if verb == Some(Verb::Sort) && !is_sorted(&query) {
        return Err(BuildError::Incomplete("what decides the order"));
    }
    Ok(query)
}

/// Whether a parsed phrase means a single file or folder, as "the pdf in docs" does.
pub(super) fn means_one(cx: &BuildContext<'_>, draft: &Draft) -> bool {
    !cx.context.says_each
        && !cx.context.says_every
        && draft.plural == Some(false)
        && draft.superlative.is_none()
        && draft.nth.is_none()
        && draft.reference.map_or(draft.has_noun(), |reference| reference == Reference::One)
}

/// The query for the files of which a number or the text is asked; an error if the phrase means one file and there are
/// several.
pub(super) fn measured(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let means_one = means_one(cx, draft);
    let of = selection(cx, draft)?;
    let is_several = means_one && found(cx, &of).is_some_and(|found| found.len() > 1);
    if is_several { Err(BuildError::Incomplete("which one")) } else { Ok(of) }
}

/// The query for the files that a parsed phrase selects, sorted and limited.
pub(super) fn selection(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let of = if let Some(reference) = draft.reference.take() {
        referred(cx, draft, reference)?
    } else if let Some(paths) = paths(draft) {
        // "which files are urgent" names no file.
        let is_word = |path: &String| !file_name(path).is_some_and(|name| name.contains('.'));
        let is_missing = |path: &String| is_word(path) && cx.context.on_disk(path).is_none();
        if let Query::Paths { paths, kind: Kind::File } = &paths
            && (draft.act.is_none() && cx.antecedent.is_none() && paths.iter().all(is_missing))
        {
            return Err(BuildError::Leftover);
        }
        if draft.superlative.is_some() { beside(paths) } else { paths }
    } else {
        tree(cx, draft)?
    };
    if draft.group.is_some() {
        return Ok(of);
    }
    order(cx, draft, of)
}

/// The query for a part of the names of the files that a phrase selects.
pub(super) fn named(cx: &mut BuildContext<'_>, draft: &mut Draft, part: NamePart) -> Result<Query, BuildError> {
    let once = draft.once.take();
    // A folder has no two entries of one name.
    draft.depth = draft.depth.or(once.filter(|once| *once == Once::Repeated).map(|_| Depth::Whole));
    let of = Box::new(selection(cx, draft)?);
    draft.once = once;
    Ok(Query::Names { of, part })
}

/// The query for phrases that refer back: "those", "the PDFs among them", "the largest one".
fn referred(cx: &mut BuildContext<'_>, draft: &mut Draft, reference: Reference) -> Result<Query, BuildError> {
    let antecedent = cx.antecedent.ok_or(BuildError::NothingBefore)?;
    let before = antecedent.selection(reference).ok_or(BuildError::NothingBefore)?;
    let kind_agrees = draft.noun.is_none_or(|kind| kind == before.kind() || before.kind() == Kind::Any);
    if !kind_agrees || reference == Reference::Again {
        return Err(BuildError::Leftover);
    }
    // "find a pdf and delete it": which of several is not said. A file that an act makes is not on disk yet.
    let means_one = reference == Reference::It && draft.superlative.is_none() && draft.nth.is_none();
    let is_found = matches!(antecedent.last, Step::Ask(_)) && before.ty() == Ok(Ty::Files) && !is_one(&before);
    let count = if means_one && is_found { found(cx, &before).map(|found| found.len()) } else { Some(1) };
    match count {
        Some(several @ 2..) => return Err(BuildError::SeveralBefore(several)),
        Some(0) | None if draft.act.is_some() => return Err(BuildError::Incomplete("which one")),
        _ => {}
    }
    if draft.nth.is_some() && !antecedent.is_in_same_request() {
        counted_off(cx, draft, antecedent, &before)?;
    }
    draft.noun = None;
    // "which is the largest" and "the newest of them" mean a single element.
    draft.plural.get_or_insert(false);
    let mut preds = predicates(cx, draft);
    // "which of those are in Music".
    if let ([place], None) = (draft.scope.as_slice(), &draft.act)
        && !antecedent.is_in_same_request()
        && place.kind != PathKind::File
        && before.ty() == Ok(Ty::Files)
    {
        preds.push(Pred::Inside(place.path.clone()));
        draft.scope.clear();
    }
    // "only the PNGs" of everything on the Desktop are files.
    let is_of_kinds = preds.iter().any(|pred| pred.has(&|part| matches!(part, Pred::Extension(_))));
    let before = match before {
        Query::Tree { roots, depth, hidden, kind: Kind::Any } if is_of_kinds => {
            Query::Tree { roots, depth, hidden, kind: Kind::File }
        }
        before => before,
    };
    Ok(Query::Filter { of: Box::new(before), keep: Pred::All(preds) }.normalise())
}

/// Checks that the earlier answer is a list long enough for "the third one"; turns "the last one" into a position.
fn counted_off(
    cx: &BuildContext<'_>,
    draft: &mut Draft,
    antecedent: &Antecedent,
    before: &Query,
) -> Result<(), BuildError> {
    if !antecedent.is_list() {
        return Err(BuildError::Question { question: "one of several", of: "an answer that is no list" });
    }
    let Some(count) = found(cx, before).map(|found| found.len()) else { return Ok(()) };
    let most = u64::try_from(count).unwrap_or(LAST);
    draft.nth = draft.nth.map(|nth| if nth == LAST { most } else { nth });
    if draft.nth > Some(most) || most == 0 { Err(BuildError::FewerBefore(count)) } else { Ok(()) }
}

/// The paths of the files and folders that a query yields now; `None` if they can't be read.
pub(super) fn found(cx: &BuildContext<'_>, of: &Query) -> Option<BTreeSet<PathBuf>> {
    match evaluate(of, cx.context.fs).ok()? {
        Answer::Files(files) => Some(files.into_iter().map(|file| file.path).collect()),
        _ => None,
    }
}

/// Whether the name of something in one of the folders has a text, a plural "s" left out, in any case; also if the
/// folders can't be read.
pub(super) fn is_in_a_name(cx: &BuildContext<'_>, folders: &[Place], text: &str) -> bool {
    let stem = text.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(text);
    let roots = folders.iter().map(|place| place.path.clone()).collect();
    let tree = Query::Tree { roots, depth: Depth::Whole, hidden: false, kind: Kind::Any };
    let keep = Pred::NameIgnoringCase(NameTest::Has(stem.to_owned()));
    found(cx, &Query::Filter { of: Box::new(tree), keep }).is_none_or(|found| !found.is_empty())
}

/// Whether a selection has at most one element for certain.
pub(super) fn is_one(of: &Query) -> bool {
    match of {
        Query::Paths { paths, .. } => paths.len() == 1,
        Query::Limit { count, .. } => *count == 1,
        Query::Filter { of, keep: Pred::Name(NameTest::Is(_)) } => {
            matches!(of.as_ref(), Query::Tree { depth: Depth::Direct, roots, .. } if roots.len() == 1)
        }
        _ => false,
    }
}

/// The query for the files and folders that a parsed phrase lists by path; `None` if it lists none.
fn paths(draft: &mut Draft) -> Option<Query> {
    let is_named = !draft.object.is_empty()
        && !draft.has_noun()
        && draft.contents.is_none()
        && (draft.superlative.is_none() || draft.object.len() > 1)
        && draft.preds.is_empty();
    let asks = draft.act.is_some()
        || draft.field.is_some()
        || draft.object.len() > 1
        || draft.object.iter().all(|place| place.kind == PathKind::File);
    let is_counted = matches!(draft.ask, Some(Ask::Count | Ask::CountThem | Ask::Number(Function::Any)));
    if !is_named || !asks || is_counted {
        return None;
    }
    let paths = paths_in(&draft.scope, &draft.object)?;
    draft.scope.clear();
    if draft.superlative.is_none() {
        draft.plural = None;
    }
    let objects = std::mem::take(&mut draft.object);
    let all = |kind: PathKind| objects.iter().all(|place| place.kind == kind);
    let kind = match (all(PathKind::File), all(PathKind::Folder)) {
        (true, _) => Kind::File,
        (_, true) => Kind::Folder,
        _ => Kind::Any,
    };
    Some(Query::Paths { paths, kind })
}

/// The query for folders given by path, rewritten to select them by name in their parent folder, where sizes can be
/// computed.
fn beside(paths: Query) -> Query {
    match &paths {
        Query::Paths { paths: several, kind: Kind::Folder } => {
            let mut folders: Vec<String> = several.iter().map(|path| parent(path).to_owned()).collect();
            folders.dedup();
            let named = |path: &String| Some(Pred::Name(NameTest::Is(file_name(path)?.to_owned())));
            if folders.len() > 1 {
                return paths;
            }
            let tree = Query::Tree { roots: folders, depth: Depth::Direct, hidden: true, kind: Kind::Folder };
            let keep = Pred::Any(several.iter().filter_map(named).collect());
            Query::Filter { of: Box::new(tree), keep }
        }
        _ => paths,
    }
}

/// The paths of these files, bare names being within the named folder; `None` if it is unclear which folder is meant.
pub(in crate::parse) fn paths_in(scope: &[Place], objects: &[Place]) -> Option<Vec<String>> {
    let folder = match scope {
        [] => None,
        [folder] if objects.iter().all(|place| place.bare) => Some(folder.path.as_str()),
        _ => return None,
    };
    Some(objects.iter().map(|place| inside(folder, place)).collect())
}

/// The path of a place; a bare name is resolved within the folder, if one is given.
pub(super) fn inside(folder: Option<&str>, place: &Place) -> String {
    match folder {
        Some(folder) => {
            format!("{}/{}", folder.trim_end_matches('/'), file_name(&place.path).unwrap_or_default())
        }
        None => place.path.clone(),
    }
}

/// The query that counts or lists elements without a size, as the phrase asks.
pub(super) fn counted(draft: &mut Draft, of: Query) -> Result<Query, BuildError> {
    let sorted = matches!(&of, Query::Sort { keys, .. } if keys.iter().any(|key| key.by != Key::Name));
    match draft.ask.take() {
        Some(Ask::Count | Ask::CountThem) if !sorted => Ok(aggregate(of, Function::Count)),
        Some(Ask::Number(Function::Any)) if !sorted => Ok(aggregate(of, Function::Any)),
        Some(_) => Err(BuildError::Leftover),
        None => Ok(of),
    }
}

/// The query that groups files, as in "per extension": counts or sizes of the groups.
fn grouped(draft: &mut Draft, of: Query) -> Result<Query, BuildError> {
    let Some(by) = draft.group.take() else { return Err(BuildError::NothingAsked) };
    let ranked = draft.superlative.take().is_some_and(|(key, _)| key == Key::Value);
    let function = match draft.ask.take() {
        Some(Ask::Count | Ask::CountThem) => Function::Count,
        Some(Ask::Size) => Function::TotalBytes,
        Some(Ask::Number(function)) => function,
        None if ranked => Function::Count,
        _ => return Err(BuildError::Leftover),
    };
    draft.each = None;
    draft.total = None;
    let plural = draft.plural.take();
    let groups = Query::Group { of: Box::new(of), by, function };
    Ok(ranked_groups(draft, groups, ranked, plural))
}

/// The query with its groups sorted and limited as the phrase asks.
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
    match draft.limit.take().or((ranked && plural == Some(false)).then_some(1)) {
        Some(count) => Query::Limit { of: Box::new(sorted), skip: 0, count },
        None => sorted,
    }
}

/// A query for a number computed from all elements.
fn aggregate(of: Query, function: Function) -> Query {
    Query::Aggregate { of: Box::new(of), function }
}

/// The query that lists, counts or sums files, as the phrase asks; files sorted by size or time are listed with both.
fn ask(draft: &mut Draft, verb: Option<Verb>, of: Query) -> Result<Query, BuildError> {
    let kind = of.kind();
    let wants_details = draft.details.take().is_some();
    let in_bytes = draft.in_bytes.take();
    let total = draft.total.take();
    let is_single = draft.each.is_none();
    let is_one = matches!(&of, Query::Limit { count: 1, .. });
    let ordered = if let Query::Limit { of, .. } = &of { of.as_ref() } else { &of };
    let first_key = if let Query::Sort { keys, .. } = ordered { keys.first().map(|key| key.by) } else { None };
    let measured = matches!(first_key, Some(Key::Size | Key::Modified));
    // Sorting has no effect on a plain count, but the first elements of a sort order can be counted.
    let is_sorted = matches!(of, Query::Sort { .. });
    let sizes = |of: Query| Query::Field { of: Box::new(of), field: crate::algebra::Field::TotalSize };
    match draft.ask.take() {
        // "replace x in a.txt and count them" counts no files.
        Some(Ask::Count | Ask::CountThem) if matches!(&of, Query::Paths { paths, .. } if paths.len() == 1) => {
            Err(BuildError::Leftover)
        }
        Some(Ask::Count) if !is_sorted && !wants_details && in_bytes.is_none() => Ok(aggregate(of, Function::Count)),
        Some(Ask::CountThem) if !is_sorted && !wants_details && verb.is_none_or(|verb| verb == Verb::Find) => {
            draft.in_bytes = in_bytes;
            Ok(aggregate(of, Function::Count))
        }
        // "the size of the 3 largest files": it is unclear whether each size or their sum is meant.
        Some(Ask::Size) if is_several(&of) && is_single && total.is_none() => Err(BuildError::Question {
            question: "one size",
            of: "several files (say “total size” or “sizes”)",
        }),
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
        Some(_) => Err(BuildError::Leftover),
        None if first_key == Some(Key::TotalSize) || (wants_details && kind == Kind::Folder) => Ok(sizes(of)),
        None if (measured || wants_details) && kind == Kind::File => Ok(details(of)),
        None if wants_details => Err(BuildError::Question { question: "a size", of: "a folder" }),
        None => {
            draft.in_bytes = in_bytes;
            Ok(of)
        }
    }
}

/// Whether a query takes a number of elements that the request says and that is above one.
fn is_several(of: &Query) -> bool {
    match of {
        Query::Limit { count, .. } => *count > 1,
        Query::Paths { paths, .. } => paths.len() > 1,
        _ => false,
    }
}

/// A query that lists files with their sizes and dates.
fn details(of: Query) -> Query {
    Query::Details { of: Box::new(of) }
}

/// Whether a query sorts its elements by any key.
fn is_sorted(query: &Query) -> bool {
    match query {
        Query::Sort { .. } => true,
        Query::Details { of } | Query::Field { of, .. } | Query::Limit { of, .. } => is_sorted(of),
        _ => false,
    }
}
