//! Builds a step from a draft (a parsed phrase). Each feature of it is used once; an unused one makes the request
//! unreadable.

mod act;
mod conditions;
pub(super) mod files;
mod left_out;
mod machine;
mod order;
mod table;
mod text;
mod tree;

use std::path::Path;

use super::antecedent::Antecedent;
use super::draft::{Ask, Draft, LinesWanted, Sought, only};
use super::item::Context;
use super::located::meant;
use crate::algebra::{Act, Depth, Function, Kind, NameChange, NameTest, Pred, Query, Relation, Step, Ty};
use crate::concept::{Reference, Verb};
use crate::kinds;
use crate::place::{PathKind, Place, file_name, parent};
pub(super) use crate::texts::BuildError;

/// A step with the assumptions that were made to build it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Built {
    /// The step that was built.
    pub(super) step: Step,
    /// The assumptions made for the step, each in one sentence.
    pub(super) assumptions: Vec<String>,
    /// The first path that the request names; `None` if it names none.
    pub(super) scope: Option<String>,
    /// Whether the step refers to the result of an earlier step or request.
    pub(super) refers_back: bool,
    /// Whether the step only finds files for a later step, as in "find x and copy it".
    pub(super) names_only: bool,
}

impl Built {
    /// The first note on a number, folder, order or direction that the request doesn't name and that was chosen for it;
    /// `None` if there is none.
    pub(super) fn chosen(&self) -> Option<&str> {
        self.assumptions.iter().map(String::as_str).find(|note| note.starts_with("no ") && note.contains("named"))
    }
}

/// What building a step needs besides the draft; collects notes for the user.
pub(super) struct BuildContext<'a> {
    /// The environment, the clock and the file system.
    pub(super) context: &'a Context<'a>,
    /// The earlier step that "those" refers to, if there is one.
    pub(super) antecedent: Option<&'a Antecedent>,
    /// Assumptions made so far, each in one sentence.
    pub(super) notes: Vec<String>,
}

/// Builds the step that a parsed phrase asks for; an error if a part of the phrase would stay unused.
pub(super) fn build(
    context: &Context<'_>,
    antecedent: Option<&Antecedent>,
    mut draft: Draft,
) -> Result<Built, BuildError> {
    let in_same_request = antecedent.is_some_and(Antecedent::is_in_same_request);
    let of_all = antecedent.filter(|_| !in_same_request && draft.superlative.is_some() && is_ellipsis(&draft));
    let of_all = of_all.map(|before| before.of_all().ok_or(BuildError::Incomplete("“of those” or in which folder")));
    let of_all = of_all.transpose()?;
    let antecedent = of_all.as_ref().or(antecedent);
    // "delete it" after a file was shown.
    let is_of_file = draft.act.is_some() && draft.reference == Some(Reference::It) && draft.lines.is_none();
    let changed = antecedent.filter(|_| is_of_file).and_then(Antecedent::changed);
    let antecedent = changed.as_ref().or(antecedent);
    if antecedent.is_some() && (is_ellipsis(&draft) || (in_same_request && is_one_of_them(&draft))) {
        draft.reference = Some(Reference::Those);
    }
    if antecedent.is_none() && context.is_lost && is_ellipsis(&draft) {
        return Err(BuildError::NothingBefore);
    }
    let notes: Vec<String> = std::mem::take(&mut draft.notes).into_iter().collect();
    let scope = draft.scope.first().or(draft.object.first()).map(|place| place.path.clone());
    let refers_back = draft.reference.is_some_and(|reference| reference != Reference::Again)
        || draft.target == Some(super::draft::TargetWord::There);
    let names_only = draft.verb == Some(Verb::Find) && draft.ask.is_none();
    let mut cx = BuildContext { context, antecedent, notes };
    let step =
        if draft.act.is_some() { act::build(&mut cx, &mut draft)? } else { Step::Ask(asked(&mut cx, &mut draft)?) };
    if !draft.is_only(|_| {}) {
        return Err(BuildError::Leftover);
    }
    let step = checked(step)?;
    let mut assumptions = cx.notes;
    assumptions.sort();
    assumptions.dedup();
    Ok(Built { step, assumptions, scope, refers_back, names_only })
}

/// Whether a parsed phrase such as "the largest file" selects among the elements of the earlier result.
fn is_one_of_them(draft: &Draft) -> bool {
    let mut rest = draft.clone();
    rest.noun = None;
    draft.superlative.is_some() && draft.noun == Some(Kind::File) && is_ellipsis(&rest)
}

/// Whether a parsed phrase names no files or lines, so that it asks about the earlier result: "how many are there".
fn is_ellipsis(draft: &Draft) -> bool {
    let asks = draft.ask.is_some()
        || draft.superlative.is_some()
        || !draft.sort.is_empty()
        || draft.group.is_some()
        || draft.names.is_some();
    // "how many lines does each have".
    let draft = if draft.each.is_some() { &Draft { lines: None, each: None, ..draft.clone() } } else { draft };
    asks && only!(draft, verb, ask, superlative, sort, order, limit, nth, plural, total, group, details, names, once)
}

/// The step in normal form, if it type-checks.
fn checked(step: Step) -> Result<Step, BuildError> {
    match step {
        Step::Ask(query) => {
            let query = query.normalise();
            query.ty()?;
            Ok(Step::Ask(query))
        }
        Step::Do(act) => {
            let act: Act = act.normalise();
            if let Some(selection) = act.selection() {
                selection.ty()?;
            }
            Ok(Step::Do(act))
        }
    }
}

/// Builds the query of a question; "tell me if a.txt mentions x" asks for yes or no.
fn asked(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    held(cx, draft)?;
    let query = question(cx, draft)?;
    let is_test = matches!(&query, Query::Filter { of, .. } if matches!(of.as_ref(), Query::TextFile { .. }));
    let says_if = cx.context.asks_whether && cx.context.says_if && is_test;
    Ok(if says_if { Query::Aggregate { of: Box::new(query), function: Function::Any } } else { query })
}

/// Builds the query of a question about facts, processes, tables, lines or files.
fn question(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    // A question writes nothing, so "and print the result" has no effect.
    draft.printed = None;
    if draft.paths.take().is_some() {
        return listed(cx, draft);
    }
    if draft.fact.is_some() || draft.disk.is_some() {
        return machine::fact(cx, draft);
    }
    if draft.processes.is_some() {
        return machine::processes(cx, draft);
    }
    if let Some(how) = draft.found.take() {
        sought(cx, draft, how)?;
    }
    if draft.of_one.take().is_some()
        && let [place] = draft.object.as_slice()
        && let Some(query) = whether(cx, place.clone(), draft)?
    {
        return Ok(query);
    }
    // "append x to a.txt and show it": its text, not its name.
    let is_shown = draft.verb == Some(Verb::Show) && draft.reference == Some(Reference::It);
    if is_shown && only!(draft, verb, reference) && cx.antecedent.is_some_and(Antecedent::is_text_file) {
        draft.verb = Some(Verb::Read);
    }
    if let (Some(relation @ (Relation::Common | Relation::OnlyFirst)), [one, two]) =
        (draft.relation, draft.object.as_slice())
        && [one, two].iter().all(|place| place.kind == PathKind::Folder)
        && only!(draft, relation, object, noun, plural, verb)
    {
        let folders = [one.path.clone(), two.path.clone()];
        let kind = draft.noun.unwrap_or(Kind::Any);
        *draft = Draft::default();
        return Ok(tree::compared(cx, folders, kind, relation));
    }
    if draft.relation.is_some() || is_about_text(cx, draft) {
        return text::build(cx, draft);
    }
    let names_file = matches!(draft.object.as_slice(), [place] if place.kind == PathKind::File);
    let names_files = draft.object.len() > 1 && draft.object.iter().all(|place| place.kind == PathKind::File);
    let names_files = names_files && draft.ask.is_none() && draft.details.is_none() && !draft.has_noun();
    let bare_object = names_file && !draft.has_noun() && draft.contents.is_none();
    if draft.ask == Some(Ask::WhenChanged) {
        return last_change(cx, draft);
    }
    if bare_object && (draft.ask == Some(Ask::Size) || draft.details.is_some()) {
        return one_file(draft);
    }
    // "of each .txt file" means no single file.
    if draft.each.is_some() && draft.field.is_some() && names_file && !draft.has_noun() {
        return Err(BuildError::Leftover);
    }
    if let Some(field) = draft.field {
        // "the owner of each file": the words "each file" leave no noun in the draft.
        if draft.each.is_some() && !draft.has_noun() && draft.object.is_empty() && draft.reference.is_none() {
            draft.noun = Some(Kind::File);
        }
        let of = files::selection(cx, draft)?;
        draft.field = None;
        draft.each = None;
        draft.verb = None;
        return Ok(Query::Field { of: Box::new(of), field });
    }
    let asks_for_any = draft.ask == Some(Ask::Number(Function::Any));
    // "find a.txt and b.txt" searches; only names of files here need no search.
    let is_elsewhere = |place: &Place| place.bare && cx.context.on_disk(&place.path).is_none();
    if names_files && draft.verb == Some(Verb::Find) && draft.scope.is_empty() && draft.object.iter().any(is_elsewhere)
    {
        return Err(BuildError::Leftover);
    }
    match draft.verb.or(asks_for_any.then_some(Verb::Find)) {
        Some(Verb::Find) if bare_object || is_folder_looked_for(draft) => find(cx, draft),
        Some(Verb::Show | Verb::Sort) if bare_object || names_files => text::build(cx, draft),
        _ => files::build(cx, draft),
    }
}

/// Whether a parsed phrase asks about lines of text rather than files.
fn is_about_text(cx: &BuildContext<'_>, draft: &Draft) -> bool {
    let words = matches!(draft.ask, Some(Ask::Number(function)) if text::is_of_lines(function))
        || draft.lines.is_some()
        || draft.needle.is_some()
        || draft.column.is_some()
        || draft.replace.is_some()
        || draft.numbered.is_some()
        || draft.names.is_some()
        || draft.matches.is_some()
        || draft.rewrite.is_some()
        || (matches!(draft.change, Some(NameChange::UpperCase | NameChange::LowerCase)) && !draft.has_noun())
        || draft.verb == Some(Verb::Read);
    let of_lines = draft.reference.is_some() && cx.antecedent.is_some_and(Antecedent::is_text);
    words || (of_lines && !draft.has_noun())
}

/// The query for a list with the path of each element: "… and print their paths".
fn listed(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    // "are there any pdfs, and where".
    if draft.ask.take_if(|ask| *ask == Ask::Number(Function::Any)).is_some() {
        draft.verb = Some(Verb::Find);
    }
    // "the path of a.txt" is no text of it.
    if let [place] = draft.object.as_slice()
        && place.kind == PathKind::File
        && only!(draft, verb, object)
    {
        let listed = only(place);
        *draft = Draft::default();
        return Ok(listed);
    }
    let listed = question(cx, draft)?;
    let is_listed = matches!(listed.ty(), Ok(Ty::Files | Ty::Rows));
    if is_listed { Ok(listed) } else { Err(BuildError::Leftover) }
}

/// Turns the text of "files with 'x'" into a condition on the files' content; an error if the name of a file there
/// contains the text, since the name may be meant.
fn held(cx: &BuildContext<'_>, draft: &mut Draft) -> Result<(), BuildError> {
    let is_of_files = draft.has_noun() && draft.lines.is_none() && draft.names.is_none();
    let Some(pred) = draft.needle.take_if(|_| is_of_files) else { return Ok(()) };
    if let Pred::Contains { text, .. } = &pred
        && files::is_in_a_name(cx, &draft.scope, text)
    {
        return Err(BuildError::NameOrText { text: text.clone() });
    }
    draft.preds.push(pred);
    Ok(())
}

/// Prepares a parsed phrase that looks for a text: of a file the matching lines are meant, of a folder the files that
/// hold it.
fn sought(cx: &mut BuildContext<'_>, draft: &mut Draft, how: Sought) -> Result<(), BuildError> {
    let Some(Pred::Contains { text, .. }) = draft.preds.last() else { return Err(BuildError::NothingAsked) };
    // "is it in a.txt" asks of a file where it is named; a folder is searched.
    let (folders, files) = std::mem::take(&mut draft.object).into_iter().partition(|p| p.kind == PathKind::Folder);
    draft.object = files;
    draft.scope.extend::<Vec<Place>>(folders);
    let may_be_name = match how {
        Sought::Text => false,
        Sought::Quoted => {
            draft.scope.iter().all(|place| cx.context.on_disk(&format!("{}/{text}", place.path)).is_some())
        }
        Sought::Bare => draft.scope.is_empty() || files::is_in_a_name(cx, &draft.scope, text),
    };
    if draft.object.is_empty() && may_be_name {
        return Err(BuildError::NameOrText { text: text.clone() });
    }
    if draft.object.iter().chain(&draft.scope).any(|place| place.kind == PathKind::File) {
        draft.lines = Some(LinesWanted::All);
    } else {
        (draft.noun, draft.plural) = (Some(Kind::File), Some(true));
        cx.notes.push("looked for in what the files hold, not in their names".to_owned());
    }
    Ok(())
}

/// The query for a yes-or-no question about one file or folder that is named: "is a.txt empty". `None` if the question
/// is about the lines of the file or about what is in the folder, for which the phrase is then prepared.
fn whether(cx: &mut BuildContext<'_>, place: Place, draft: &mut Draft) -> Result<Option<Query>, BuildError> {
    let has_content =
        draft.preds.iter().any(|pred| pred.has(&|one| matches!(one, Pred::Contains { .. } | Pred::Word { .. })));
    match place.kind {
        // "is docs a folder" asks for nothing in it.
        _ if draft.has_noun() => Err(BuildError::Leftover),
        PathKind::Folder if has_content => {
            let text = draft.preds.iter().find_map(|pred| match pred {
                Pred::Contains { text, .. } => Some(text.clone()),
                _ => None,
            });
            if let Some(text) = text.filter(|text| files::is_in_a_name(cx, std::slice::from_ref(&place), text)) {
                return Err(BuildError::NameOrText { text });
            }
            (draft.scope, draft.object) = (vec![place], Vec::new());
            (draft.noun, draft.plural) = (Some(Kind::File), Some(true));
            Ok(None)
        }
        PathKind::File if has_content => {
            draft.lines = Some(LinesWanted::All);
            Ok(None)
        }
        PathKind::Unknown => Err(BuildError::FolderOrFile { path: place.path }),
        _ if draft.preds.is_empty() && !only!(draft, ask, object) => Ok(None),
        kind => {
            let kind = match kind {
                PathKind::Folder => Kind::Folder,
                // "does a.txt exist".
                _ if draft.preds.is_empty() => Kind::Any,
                _ => Kind::File,
            };
            let paths = files::paths_in(&std::mem::take(&mut draft.scope), &[place]).ok_or(BuildError::Leftover)?;
            draft.object.clear();
            draft.ask = None;
            let preds = conditions::predicates(cx, draft);
            let preds = if kind == Kind::Folder { preds.into_iter().map(tree::of_folder).collect() } else { preds };
            let of = Query::Filter { of: Box::new(Query::Paths { paths, kind }), keep: Pred::All(preds) };
            Ok(Some(Query::Aggregate { of: Box::new(of), function: Function::Any }))
        }
    }
}

/// The query for the size and the date of the single file that a parsed phrase names.
fn one_file(draft: &mut Draft) -> Result<Query, BuildError> {
    draft.ask = None;
    draft.total = None;
    draft.verb = None;
    draft.details = None;
    draft.in_bytes = None;
    let place = draft.object.pop().filter(|_| draft.object.is_empty()).ok_or(BuildError::NoFile)?;
    Ok(Query::Details { of: Box::new(only(&place)) })
}

/// The query for the time when the one file or folder of a phrase, or of the result before, was last changed.
fn last_change(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    if let Some(reference) = draft.reference.take() {
        (draft.ask, draft.verb, draft.details) = (None, None, None);
        let of = cx.antecedent.and_then(|before| before.selection(reference)).filter(files::is_one);
        return of.map(kinds::last_change).ok_or(BuildError::NothingBefore);
    }
    let place = draft.object.pop().filter(|_| draft.object.is_empty()).ok_or(BuildError::NoFile)?;
    (draft.ask, draft.verb, draft.details) = (None, None, None);
    Ok(kinds::last_change(Query::Paths { paths: vec![only_there(cx, place.path)], kind: Kind::Any }))
}

/// The path, or if nothing is there, that of the only file of its name below the current folder.
fn only_there(cx: &mut BuildContext<'_>, path: String) -> String {
    let is_there = cx.context.fs.metadata(Path::new(&path)).is_ok();
    let Some((found, only)) = meant(cx.context, &path).filter(|_| !is_there) else { return path };
    let name = file_name(&path).unwrap_or_default();
    cx.notes.push(format!("“{name}” is taken as {found}, {only}"));
    found
}

/// The query for the one file at a path; without elements if there is no file.
fn only(place: &Place) -> Query {
    let name = file_name(&place.path).unwrap_or_default();
    let tree = Query::Tree {
        roots: vec![parent(&place.path).to_owned()],
        depth: Depth::Direct,
        hidden: name.starts_with('.'),
        kind: Kind::File,
    };
    Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Is(name.to_owned())) }
}

/// The query for a request like "find notes.txt": search by name, or look at the path if it has folders.
fn find(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let place = draft.object.pop().ok_or(BuildError::NoFile)?;
    if !place.bare {
        draft.verb = None;
        return Ok(only(&place));
    }
    let name = file_name(&place.path).unwrap_or_default().to_owned();
    draft.preds.push(Pred::Name(NameTest::Is(name)));
    draft.noun = Some(if place.kind == PathKind::Folder { Kind::Folder } else { Kind::File });
    // "check that a.txt exists" names that file, not those of its name in subfolders.
    let says_where = draft.depth.is_some() || !draft.scope.is_empty() || draft.ask.is_some();
    if cx.context.asks_whether && !says_where {
        draft.depth = Some(Depth::Direct);
        draft.scope.push(Place { path: parent(&place.path).to_owned(), kind: PathKind::Folder, bare: false });
    }
    files::build(cx, draft)
}

/// Whether a parsed phrase looks for a folder by name, as "find the folder x in ~/y" does.
fn is_folder_looked_for(draft: &Draft) -> bool {
    let bare = matches!(draft.object.as_slice(), [place] if place.bare && place.kind == PathKind::Folder);
    let is_meant = match draft.ask {
        None => !draft.scope.is_empty(),
        ask => ask == Some(Ask::Number(Function::Any)),
    };
    bare && is_meant && !draft.has_noun()
}
