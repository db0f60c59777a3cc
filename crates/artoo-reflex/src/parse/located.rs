//! Files that a question names without their folder: the only entry of the name below the current folder is meant.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::item::Context;
use crate::algebra::{Depth, NameTest, Pred, Query, Step};
use crate::eval::{Entry, EntryKind};
use crate::place::{file_name, parent};
use crate::suggest;

/// Maximum number of entries among which a name is looked for.
const MAX_ENTRIES: usize = 5_000;

/// Names of folders that hold copies, so that a file of the same name outside of them is the one meant by a question.
pub(super) const COPIES: [&str; 9] = ["backup", "backups", "bak", "old", "archive", "copies", "tmp", "temp", "trash"];

/// Replaces paths in a query where nothing exists by the only files of those names below the current folder; returns
/// each old and new path, and what makes the new one the only one.
pub(super) fn settled(context: &Context<'_>, query: &mut Query) -> Vec<(String, String, &'static str)> {
    let mut replaced = Vec::new();
    // Each pass settles one name, so the second file of a comparison is found as well.
    while let Some(path) = suggest::missing(std::slice::from_ref(&Step::Ask(query.clone())), context.fs)
        && let Some((found, only)) = meant(context, &path)
        && set_path(query, &path, &found)
    {
        replaced.push((path, found, only));
    }
    replaced
}

/// The file below the current folder that a question means by a path where nothing is, and what makes it the only one.
pub(super) fn meant(context: &Context<'_>, path: &str) -> Option<(String, &'static str)> {
    let only = elsewhere(context, path).map(|found| (found, "the only one of this name"));
    only.or_else(|| Some((beside_copies(context, path)?, "the only one of this name that is not among copies")))
}

/// The only entry below the current folder with the name of a path directly in that folder, or with that name before
/// its extension; `None` if there are several, or a similar name stands beside the path. For a path in a folder that doesn't
/// exist, the only entry whose path ends in the same folders and name.
pub(super) fn elsewhere(context: &Context<'_>, path: &str) -> Option<String> {
    let below = Path::new(path).strip_prefix(&context.environment.cwd).ok()?;
    if below.components().count() > 1 {
        let is_missing = below.parent().is_some_and(|folder| context.fs.metadata(folder).is_err());
        if let Some(folder) = Path::new(path).parent().filter(|_| !is_missing) {
            return only_ending(context, folder, path);
        }
        return only_below(context, &|entry| is_missing && entry.path.ends_with(below));
    }
    let name = file_name(path).filter(|_| parent(path) == context.environment.cwd)?.to_lowercase();
    let near = suggest::near(Path::new(path), context.fs);
    let known = |entry: &Entry| String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
    let stem = |entry: &Entry| known(entry).rsplit_once('.').is_some_and(|(stem, _)| stem == name);
    match only_below(context, &|entry| known(entry) == name) {
        Some(found) => (near == [Path::new(&found)]).then_some(found),
        None if near.is_empty() && name.len() > 2 && !name.contains('.') => only_below(context, &stem),
        None => None,
    }
}

/// The path of the only file in a folder whose name without its ending is the last part of `path`: "the README of
/// code/site".
fn only_ending(context: &Context<'_>, folder: &Path, path: &str) -> Option<String> {
    let name = file_name(path).filter(|name| !name.contains('.'))?;
    let entries = context.fs.list(folder).ok()?.into_iter();
    let mut found =
        entries.filter(|entry| entry.kind == EntryKind::File && entry.path.file_stem() == Some(name.as_ref()));
    let only = found.next().filter(|_| found.next().is_none())?;
    only.path.to_str().map(str::to_owned)
}

/// The only file of the name of a path that is not in the current folder, those in folders of copies left out.
fn beside_copies(context: &Context<'_>, path: &str) -> Option<String> {
    let name = file_name(path).filter(|_| parent(path) == context.environment.cwd)?.to_lowercase();
    let is_it = |known: &Path| known.file_name().is_some_and(|known| known.to_string_lossy().to_lowercase() == name);
    let is_copy = |entry: &Entry| {
        let folder = entry.path.parent().and_then(|folder| folder.strip_prefix(&context.environment.cwd).ok());
        let mut above = folder.into_iter().flat_map(Path::components);
        above.any(|above| COPIES.contains(&above.as_os_str().to_string_lossy().to_lowercase().as_str()))
    };
    // A similar name beside the path may be the one meant.
    if !suggest::near(Path::new(path), context.fs).iter().all(|near| is_it(near)) {
        return None;
    }
    only_below(context, &|entry| is_it(&entry.path) && !is_copy(entry))
}

/// The only file or folder below the current folder that passes a test; hidden folders are not entered.
fn only_below(context: &Context<'_>, is_it: &dyn Fn(&Entry) -> bool) -> Option<String> {
    let mut found = entries(context)?.into_iter().filter(is_it);
    let only = found.next().filter(|_| found.next().is_none())?;
    only.path.to_str().map(str::to_owned)
}

/// The entries below the current folder, hidden folders not entered; `None` if they are too many to be compared with
/// the words of a request.
pub(super) fn entries(context: &Context<'_>) -> Option<Vec<Entry>> {
    let mut open = VecDeque::from([PathBuf::from(&context.environment.cwd)]);
    let mut found = Vec::new();
    while let Some(folder) = open.pop_front() {
        for entry in context.fs.list(&folder).unwrap_or_default() {
            if entry.kind == EntryKind::Folder && !entry.name_bytes().starts_with(b".") {
                open.push_back(entry.path.clone());
            }
            found.push(entry);
        }
        if found.len() > MAX_ENTRIES {
            return None;
        }
    }
    Some(found)
}

/// Replaces a path in a query; `false` if the query doesn't name it.
fn set_path(query: &mut Query, from: &str, to: &str) -> bool {
    match query {
        Query::TextFile { path } | Query::ArchiveEntries { path } if path == from => {
            to.clone_into(path);
            true
        }
        Query::Paths { paths, .. } | Query::Tree { roots: paths, .. } if paths.iter().any(|path| path == from) => {
            paths.iter_mut().filter(|path| *path == from).for_each(|path| to.clone_into(path));
            paths.sort();
            true
        }
        Query::Filter { of, keep: Pred::Name(NameTest::Is(name)) } if file_name(from) == Some(name) => {
            let Query::Tree { roots, depth: Depth::Direct, .. } = of.as_mut() else { return false };
            *roots = vec![parent(to).to_owned()];
            file_name(to).unwrap_or_default().clone_into(name);
            true
        }
        other => other.operands_mut().any(|of| set_path(of, from, to)),
    }
}

/// How a path is typed: from the current folder if it lies below, else from the home folder, else in full.
pub(super) fn typed(context: &Context<'_>, path: &str) -> String {
    let below = |folder: &str| path.strip_prefix(folder)?.strip_prefix('/');
    let from_home = || below(&context.environment.home).map(|rest| format!("~/{rest}"));
    below(&context.environment.cwd).map(str::to_owned).or_else(from_home).unwrap_or_else(|| path.to_owned())
}
