//! Builds acts (changes of files) from parsed phrases.

use std::path::Path;

use super::super::draft::{Draft, TargetWord, of_line};
use super::files::{found, is_one, means_one, paths_in, selection};
use super::{BuildContext, BuildError};
use crate::algebra::{Act, Depth, Key, Kind, NameChange, Order, Pred, Query, SortKey, Step, Target, Ty};
use crate::concept::ActWord;
use crate::concept::Reference;
use crate::eval::EntryKind;
use crate::place::{ARCHIVE_ENDINGS, PathKind, Place, file_name, is_archive, parent};

/// Builds the act that a parsed phrase asks for.
pub(super) fn build(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Step, BuildError> {
    let word = draft.act.ok_or(BuildError::NothingAsked)?;
    // A renamed file stays in its folder, if it is there.
    let is_there = |path: &String| cx.context.is_past || cx.context.on_disk(path).is_some();
    let stays = || paths_in(&draft.scope, &draft.object).is_none_or(|paths| paths.iter().all(is_there));
    if draft.placed_late && !(word == ActWord::Rename && stays()) {
        return Err(BuildError::Incomplete("the place right after the file"));
    }
    draft.placed_late = false;
    match word {
        ActWord::Create => create(cx, draft),
        ActWord::CreateFolder => {
            for place in &mut draft.object {
                place.kind = PathKind::Folder;
            }
            create(cx, draft)
        }
        ActWord::Copy | ActWord::Move => transfer(cx, draft, word),
        ActWord::Rename | ActWord::ChangeExtension => rename(cx, draft),
        ActWord::Archive => archive(cx, draft),
        ActWord::Extract => extract(cx, draft),
        ActWord::Delete if draft.printed.is_some() => without_lines(cx, draft).map(Step::Ask),
        ActWord::Delete => {
            let of = selected(cx, draft)?;
            Ok(Step::Do(Act::Delete { of }))
        }
        ActWord::Replace if draft.printed.is_some() => {
            (draft.act, draft.printed) = (None, None);
            super::text::build(cx, draft).map(Step::Ask)
        }
        ActWord::Replace => replace(draft),
    }
}

/// The query for the files the act changes.
fn selected(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    drop_empty(cx, draft);
    let means_one = means_one(cx, draft);
    // "delete a.txt and b.txt in docs": one of them may be here.
    let is_here = |place: &Place| cx.context.on_disk(&place.path).is_some();
    if draft.object.len() > 1 && !draft.scope.is_empty() && draft.object.iter().any(is_here) {
        return Err(BuildError::Incomplete("the folder of each of them"));
    }
    let of = selection(cx, draft)?;
    draft.act = None;
    if (means_one && found(cx, &of).is_none_or(|found| found.len() != 1)) || is_tied(cx, &of) {
        return Err(BuildError::Incomplete("which one"));
    }
    // Copying or moving a folder includes everything in it.
    if matches!(&of, Query::Paths { kind: Kind::Folder, .. }) {
        draft.depth.take_if(|depth| *depth == Depth::Whole);
    }
    match of.ty()? {
        Ty::Files => Ok(of),
        _ => Err(BuildError::Question { question: "this change", of: "what are no files" }),
    }
}

/// Removes "empty" and the noun from "the empty folder x" if x is an empty folder; else the phrase stays, and isn't read.
fn drop_empty(cx: &BuildContext<'_>, draft: &mut Draft) {
    let is_empty = |place: &Place| {
        let path = Path::new(&place.path);
        cx.context.fs.metadata(path).is_ok_and(|entry| match (entry.kind, draft.noun) {
            (EntryKind::Folder, Some(Kind::Folder)) => cx.context.fs.list(path).is_ok_and(|below| below.is_empty()),
            (EntryKind::File, Some(Kind::File)) => entry.bytes == 0,
            _ => false,
        })
    };
    let asks_empty = matches!(draft.preds.as_slice(), [Pred::EmptyFolder | Pred::MaxBytes(0)]);
    if asks_empty && !draft.object.is_empty() && draft.object.iter().all(is_empty) {
        draft.preds.clear();
        (draft.noun, draft.plural) = (None, None);
    }
}

/// Whether an element that a limit leaves out ranks as high as one it takes, as with two newest files.
fn is_tied(cx: &BuildContext<'_>, of: &Query) -> bool {
    let Query::Limit { of: sorted, skip, count } = of else { return false };
    let Query::Sort { of, keys } = sorted.as_ref() else { return false };
    let taken = |order: Order| {
        // An order by path is that of a request without one.
        let said = keys.iter().filter(|key| key.by != Key::Path).cloned();
        let keys = said.chain([SortKey { by: Key::Path, order }]).collect();
        let sorted = Query::Sort { of: of.clone(), keys };
        found(cx, &Query::Limit { of: Box::new(sorted), skip: *skip, count: *count })
    };
    taken(Order::Ascending) != taken(Order::Descending)
}

/// Builds the query for "remove the empty lines from a.txt and print the result"; nothing changes on disk.
fn without_lines(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let says_which = draft.lines.is_some() && !draft.preds.is_empty() && !draft.loose;
    if !says_which || draft.once.is_some() {
        return Err(BuildError::Leftover);
    }
    let removed = Pred::All(std::mem::take(&mut draft.preds).into_iter().map(of_line).collect());
    draft.preds = vec![Pred::Not(Box::new(removed))];
    (draft.act, draft.printed) = (None, None);
    super::text::build(cx, draft)
}

/// Builds an act that creates files or folders.
fn create(cx: &BuildContext<'_>, draft: &mut Draft) -> Result<Step, BuildError> {
    draft.act = None;
    let objects = std::mem::take(&mut draft.object);
    let scope = std::mem::take(&mut draft.scope);
    let paths = paths_in(&scope, &objects).ok_or(BuildError::Incomplete("in which folder"))?;
    if paths.iter().any(|path| cx.context.is_taken(path)) {
        return Err(BuildError::Incomplete("a name that is not there yet"));
    }
    let all = |kind: PathKind| !objects.is_empty() && objects.iter().all(|place| place.kind == kind);
    if all(PathKind::Folder) {
        // A new folder is always empty, so "an empty folder" adds no condition.
        draft.preds.retain(|pred| !matches!(pred, Pred::MaxBytes(0) | Pred::EmptyFolder));
        return Ok(Step::Do(Act::CreateFolder { paths }));
    }
    match (objects.as_slice(), paths.as_slice()) {
        ([], _) => {
            Err(BuildError::Incomplete("the name of what is created right after the verb, and a text in quotes"))
        }
        // "create an archive x.zip containing y" means packing y, not a text.
        ([place], _) if place.kind == PathKind::File && is_archive(&place.path) => {
            Err(BuildError::Incomplete("what is packed (“pack … into …”)"))
        }
        ([place], [path]) if place.kind == PathKind::File => {
            draft.preds.retain(|pred| *pred != Pred::MaxBytes(0));
            Ok(Step::Do(Act::CreateFile { path: path.clone(), text: String::new() }))
        }
        ([place], _) => Err(BuildError::FolderOrFile { path: place.path.clone() }),
        _ => Err(BuildError::Incomplete("one file at a time")),
    }
}

/// Builds an act that copies or moves files.
fn transfer(cx: &mut BuildContext<'_>, draft: &mut Draft, word: ActWord) -> Result<Step, BuildError> {
    let target = draft.target.take().ok_or(BuildError::Incomplete("where to"))?;
    let of = selected(cx, draft)?;
    let to = match target {
        TargetWord::Folder(place) => Target::Into(place.path),
        TargetWord::File(place) if is_one(&of) => Target::As(place.path),
        TargetWord::Open(place) if place.kind == PathKind::File && is_one(&of) => Target::As(place.path),
        TargetWord::Open(place) if place.kind == PathKind::Unknown => {
            cx.notes.push(format!("{} is taken as a folder, made if it is not there", place.path));
            Target::Into(place.path)
        }
        TargetWord::Open(_) | TargetWord::File(_) => {
            return Err(BuildError::Question { question: "a file as the place to put them", of: "several files" });
        }
        TargetWord::There => Target::Into(there(cx)?),
    };
    Ok(Step::Do(if word == ActWord::Copy { Act::Copy { of, to } } else { Act::Move { of, to } }))
}

/// The folder that "there" refers to; an error if it is unknown.
fn there(cx: &BuildContext<'_>) -> Result<String, BuildError> {
    cx.antecedent.and_then(super::Antecedent::folder).map(str::to_owned).ok_or(BuildError::NothingBefore)
}

/// Builds an act that renames files.
fn rename(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Step, BuildError> {
    let changes_extension = draft.act == Some(ActWord::ChangeExtension);
    let target = draft.target.take();
    let change = draft.change.take();
    let replace = draft.replace.take();
    let is_it = draft.reference == Some(Reference::It);
    let of = selected(cx, draft)?;
    // "where is a.pdf", then "rename it to b.pdf": the only file that was found.
    let only = found(cx, &of).filter(|found| is_it && found.len() == 1 && of.kind() == Kind::File);
    let only = only.and_then(|found| found.first().and_then(|path| path.to_str()).map(str::to_owned));
    let of = only.map_or(of, |path| Query::Paths { paths: vec![path], kind: Kind::File });
    let change = match (change, replace, target) {
        (Some(change), None, None) => {
            let is_extension = matches!(change, NameChange::Extension(_));
            if changes_extension && !is_extension {
                return Err(BuildError::Incomplete("the new extension"));
            }
            change
        }
        (None, Some((find, with)), None) => NameChange::Replace { find, with },
        (None, None, Some(TargetWord::Open(place) | TargetWord::File(place))) => {
            new_name(&of, place, changes_extension)?
        }
        _ => return Err(BuildError::Incomplete("the new name")),
    };
    Ok(Step::Do(Act::Rename { of, change }))
}

/// The name change that "to notes.md" means: a new name, or a path in the same folder.
fn new_name(of: &Query, place: Place, changes_extension: bool) -> Result<NameChange, BuildError> {
    let name = file_name(&place.path).unwrap_or_default().to_owned();
    if changes_extension {
        let plain = place.bare && name.chars().all(char::is_alphanumeric);
        return if plain {
            Ok(NameChange::Extension(name.to_ascii_lowercase()))
        } else {
            Err(BuildError::Incomplete("the new extension"))
        };
    }
    let same_folder = match of {
        Query::Paths { paths, .. } => paths.iter().all(|path| parent(path) == parent(&place.path)),
        _ => false,
    };
    if is_one(of) && (place.bare || same_folder) {
        Ok(NameChange::To(name))
    } else {
        Err(BuildError::Incomplete("a new name without a folder, for one file"))
    }
}

/// Builds an act that packs files.
fn archive(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Step, BuildError> {
    let missing = BuildError::Incomplete("the archive's name, ending in .zip, .tar, .tgz or .tar.gz");
    let place = match draft.target.take() {
        Some(TargetWord::Open(place) | TargetWord::File(place)) => place,
        None => return Err(BuildError::Incomplete("the archive's name")),
        Some(_) => return Err(missing),
    };
    if !is_archive(&place.path) {
        return Err(missing);
    }
    let of = selected(cx, draft)?;
    Ok(Step::Do(Act::Archive { of, to: place.path }))
}

/// Builds an act that unpacks archives.
fn extract(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Step, BuildError> {
    let target = draft.target.take();
    // "unzip a.zip here" puts the content itself into the current folder.
    let is_here = draft.scope.first().is_some_and(|place| place.path == cx.context.environment.cwd);
    let of = selected(cx, draft)?;
    let to = match target {
        None if is_here => cx.context.environment.cwd.clone(),
        Some(TargetWord::Folder(place)) => place.path,
        Some(TargetWord::Open(place)) if place.kind != PathKind::File => place.path,
        Some(TargetWord::There) => there(cx)?,
        Some(_) => {
            return Err(BuildError::Question { question: "a file as the place to unpack into", of: "an archive" });
        }
        None => beside(cx, &of)?,
    };
    Ok(Step::Do(Act::Extract { of, to }))
}

/// The default folder to unpack an archive into: one with the archive's name beside the archive.
fn beside(cx: &mut BuildContext<'_>, of: &Query) -> Result<String, BuildError> {
    let missing = BuildError::Incomplete("into which folder");
    let Query::Paths { paths, kind: Kind::File } = of else { return Err(missing) };
    let [path] = paths.as_slice() else { return Err(missing) };
    let lower = path.to_ascii_lowercase();
    let ending = ARCHIVE_ENDINGS.iter().find(|ending| lower.ends_with(**ending)).ok_or(missing)?;
    let folder = path.get(..path.len() - ending.len()).unwrap_or(path).to_owned();
    cx.notes.push(format!("{folder}, beside the archive, is meant, as no folder was named"));
    Ok(folder)
}

/// Builds a replacement that writes a new file; replacing in place is not supported.
fn replace(draft: &mut Draft) -> Result<Step, BuildError> {
    let missing = BuildError::Incomplete("the new file the text goes to (“and save it as …”)");
    draft.act = None;
    let (find, with) = draft.replace.take().ok_or(BuildError::Incomplete("what is replaced with what"))?;
    let (scope, objects) = (std::mem::take(&mut draft.scope), std::mem::take(&mut draft.object));
    let paths = paths_in(&scope, &objects).unwrap_or_default();
    let [path] = paths.as_slice() else { return Err(BuildError::NoFile) };
    let to = match draft.target.take() {
        Some(TargetWord::File(to)) => to,
        Some(TargetWord::Open(to)) if to.kind == PathKind::File => to,
        _ => return Err(missing),
    };
    Ok(Step::Do(Act::Replace { path: path.clone(), find, with, to: to.path }))
}
