//! Checks for each kind of act that the disk shows exactly what was asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use artoo_proto::{FOLDER, Timestamp, escape};

use super::before::Before;
use super::{Changes, NotPerformed, digest_of, not_performed, shown};
use crate::algebra::{Act, Depth, NameChange, Pred, Query, Target};
use crate::eval::{
    Answer, EntryKind, FileSystem, FileSystemError, archive, digest, evaluate, files, rename, text, verify,
};

/// Checks that an act was performed as asked; returns the evidence in English.
pub(super) fn check(act: &Act, changes: &Changes, fs: &dyn FileSystem) -> Result<String, NotPerformed> {
    match act {
        Act::CreateFolder { paths } => {
            let expected = paths.iter().map(|path| fs.real(Path::new(path))).map(|path| (path, FOLDER.to_owned()));
            made(changes, expected.collect(), fs)
        }
        Act::CreateFile { path, text } => {
            let expected = (fs.real(Path::new(path)), digest::of_bytes(text.as_bytes()));
            made(changes, [expected].into(), fs)
        }
        Act::Replace { path, find, with, to } => {
            let content = text::content(Path::new(path), fs)?;
            let replaced = text::replace(&content, find.as_bytes(), with.as_bytes());
            made(changes, [(fs.real(Path::new(to)), digest::of_bytes(&replaced))].into(), fs)
        }
        Act::Copy { of, to } => {
            let mut expected = BTreeMap::new();
            for source in changes.outermost() {
                let target = target(source, to, changes, fs)?;
                for (path, digest) in inventory(source, fs)? {
                    expected.insert(moved(&path, source, &target), digest);
                }
            }
            let what = made(changes, expected, fs)?;
            selected(of, changes, &before_creation(changes, fs), fs)?;
            Ok(format!("{what}; what was copied is still there, and it is what was asked for"))
        }
        Act::Move { of, to } => {
            let targets = changes.outermost().into_iter().map(|source| Ok((source, target(source, to, changes, fs)?)));
            let targets: Vec<(&PathBuf, PathBuf)> = targets.collect::<Result<_, NotPerformed>>()?;
            relocated(of, changes, &targets, fs)
        }
        Act::Rename { of, change } => relocated(of, changes, &new_names(changes, change, fs)?, fs),
        Act::Archive { of, to } => {
            let to = fs.real(Path::new(to));
            let packed = packed(changes, &to, fs)?;
            selected(of, changes, &before_creation(changes, fs), fs)?;
            Ok(format!("opened again: {} holds the {packed} things asked for, each with equal digest", shown(&to)))
        }
        Act::Extract { of, to } => {
            let unpacked = unpacked(changes, &fs.real(Path::new(to)), fs)?;
            selected(of, changes, &before_creation(changes, fs), fs)?;
            Ok(format!("read again: {unpacked} files came out of the archive with equal digest"))
        }
        Act::Delete { of } => deleted(of, changes, fs),
        _ => not_performed("no recipe carries this out"),
    }
}

/// Checks that nothing was removed and that exactly the expected paths were created; returns the evidence.
fn made(changes: &Changes, expected: BTreeMap<PathBuf, String>, fs: &dyn FileSystem) -> Result<String, NotPerformed> {
    changes.nothing_gone()?;
    changes.made_exactly(&expected, fs)?;
    let count = expected.len();
    Ok(format!("read again: {count} made as asked for, nothing else"))
}

/// The destination path of a copied or moved file: inside the destination if that was a folder before.
fn target(source: &Path, to: &Target, changes: &Changes, fs: &dyn FileSystem) -> Result<PathBuf, NotPerformed> {
    let Some(name) = source.file_name() else { return not_performed("the root can't be carried anywhere") };
    // An entry in a folder has its real path even if the folder's own path is a link.
    let inside = |folder: &str| fs.real(&Path::new(folder).join(name));
    Ok(match to {
        Target::Into(folder) => inside(folder),
        Target::As(path) => {
            let itself = fs.real(Path::new(path));
            let was_folder = !changes.made.contains_key(&itself)
                && fs.metadata(&itself).is_ok_and(|entry| entry.kind == EntryKind::Folder);
            if was_folder { inside(path) } else { itself }
        }
    })
}

/// The path below `target` that corresponds to a path below `source`.
fn moved(path: &Path, source: &Path, target: &Path) -> PathBuf {
    match path.strip_prefix(source) {
        Ok(below) if !below.as_os_str().is_empty() => target.join(below),
        _ => target.to_owned(),
    }
}

/// All paths at and below a path, each with its hash.
fn inventory(path: &Path, fs: &dyn FileSystem) -> Result<BTreeMap<PathBuf, String>, NotPerformed> {
    let mut all = BTreeMap::from([(path.to_owned(), digest_of(path, fs)?)]);
    if all.values().any(|digest| digest == FOLDER) {
        let mut below = Vec::new();
        files::walk(path, Depth::Whole, true, fs, &mut below)?;
        for entry in below {
            let digest = digest_of(&entry.path, fs)?;
            all.insert(entry.path, digest);
        }
    }
    Ok(all)
}

/// Checks that each source was removed and everything in it exists at its target with equal hashes.
fn relocated(
    of: &Query,
    changes: &Changes,
    targets: &[(&PathBuf, PathBuf)],
    fs: &dyn FileSystem,
) -> Result<String, NotPerformed> {
    let mut expected = BTreeMap::new();
    let mut now_at = BTreeMap::new();
    for (path, digest) in &changes.gone {
        let Some((source, target)) = targets.iter().find(|(source, _)| path.starts_with(source)) else {
            return not_performed(format!("{} is gone, which was not asked for", shown(path)));
        };
        let to = moved(path, source, target);
        expected.insert(to.clone(), digest.clone());
        now_at.insert(path.clone(), to);
    }
    if let Some((source, _)) = targets.iter().find(|(source, _)| !changes.gone.contains_key(*source)) {
        return not_performed(format!("{} was not moved", shown(source)));
    }
    changes.made_exactly(&expected, fs)?;
    for path in changes.gone.keys().filter(|path| !changes.made.contains_key(*path)) {
        is_gone(path, fs)?;
    }
    let before = before_change(changes, &now_at, fs);
    selected(of, changes, &before, fs)?;
    Ok(format!(
        "read again: {} stand at their new places with equal digest, none at the old, and they are what was asked for",
        targets.len()
    ))
}

/// Checks that nothing exists at a path any more.
fn is_gone(path: &Path, fs: &dyn FileSystem) -> Result<(), NotPerformed> {
    match fs.metadata(path) {
        Err(FileSystemError::NotFound) => Ok(()),
        _ => not_performed(format!("{} is still there", shown(path))),
    }
}

/// A view of the disk as it was before files were moved or deleted.
fn before_change<'a>(changes: &'a Changes, now_at: &BTreeMap<PathBuf, PathBuf>, fs: &'a dyn FileSystem) -> Before<'a> {
    let kind = |digest: &str| if digest == FOLDER { EntryKind::Folder } else { EntryKind::File };
    let gone = changes.gone.iter().map(|(path, digest)| (path.clone(), kind(digest), now_at.get(path).cloned()));
    Before::new(fs, changes.made.keys(), gone)
}

/// A view of the disk as it was before files were created.
fn before_creation<'a>(changes: &'a Changes, fs: &'a dyn FileSystem) -> Before<'a> {
    Before::new(fs, changes.made.keys(), std::iter::empty())
}

/// The listed paths whose file names change, each with its new path.
fn new_names<'a>(
    changes: &'a Changes,
    change: &NameChange,
    fs: &dyn FileSystem,
) -> Result<Vec<(&'a PathBuf, PathBuf)>, NotPerformed> {
    if changes.outermost().len() < changes.listed.len() {
        return not_performed("a folder and what is in it were renamed at once, which can't be told apart afterwards");
    }
    let mut targets = Vec::new();
    for (position, source) in (1..).zip(&changes.listed) {
        let Some(name) = source.file_name().and_then(|name| name.to_str()) else {
            return not_performed(format!("{} has a name that is no text", shown(source)));
        };
        let new_name = |modified: Timestamp| {
            let new = rename::new_name(change, name, modified, position)?;
            let is_plain = !new.is_empty() && !new.contains('/') && new != "." && new != "..";
            is_plain.then(|| source.with_file_name(new))
        };
        // A name may contain the date of the last change, which moved with the file, so the current file decides.
        let siblings = changes.made.keys().filter(|made| made.parent() == source.parent());
        let by_day = siblings
            .filter_map(|made| Some((made, fs.metadata(made).ok()?.modified)))
            .find(|(made, modified)| new_name(*modified).as_ref() == Some(*made));
        let target = match by_day {
            Some((made, _)) => Some(made.clone()),
            None => new_name(Timestamp::default()),
        };
        match target {
            Some(target) if target == *source => {}
            Some(target) => targets.push((source, target)),
            None => return not_performed(format!("no new name for {}", shown(source))),
        }
    }
    Ok(targets)
}

/// Checks that the listed paths are those that the query selected before the act.
fn selected(of: &Query, changes: &Changes, before: &Before<'_>, fs: &dyn FileSystem) -> Result<(), NotPerformed> {
    let query = serde_json::to_value(real(of, fs)).map_err(|_| NotPerformed("the check holds no act".to_owned()))?;
    let found = verify(&query, &lines(&changes.listed), before);
    if found.pass { Ok(()) } else { not_performed(format!("the selection, computed again: {}", found.evidence)) }
}

/// Paths as the lines of a tool's listing.
fn lines(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path) + "\n").collect()
}

/// The query with the links in its root paths resolved, as change records use real paths.
fn real(of: &Query, fs: &dyn FileSystem) -> Query {
    let mut query = of.clone();
    let whole = |path: &String| {
        let inside = fs.real(&Path::new(path).join("-"));
        inside.parent().and_then(Path::to_str).map_or_else(|| path.clone(), str::to_owned)
    };
    let itself = |path: &String| fs.real(Path::new(path)).to_str().map_or_else(|| path.clone(), str::to_owned);
    let mut open = vec![&mut query];
    while let Some(part) = open.pop() {
        match part {
            Query::Tree { roots, .. } => *roots = roots.iter().map(whole).collect(),
            Query::Paths { paths, .. } => *paths = paths.iter().map(itself).collect(),
            other => open.extend(other.operands_mut()),
        }
    }
    query
}

/// Checks that the selected files no longer exist, and that nothing else was removed; returns the evidence.
fn deleted(of: &Query, changes: &Changes, fs: &dyn FileSystem) -> Result<String, NotPerformed> {
    if let Some(path) = changes.made.keys().next() {
        return not_performed(format!("{} was made, which was not asked for", shown(path)));
    }
    let roots = changes.outermost();
    for path in changes.gone.keys() {
        if !roots.iter().any(|root| path.starts_with(root)) {
            return not_performed(format!("{} is gone, which was not asked for", shown(path)));
        }
        is_gone(path, fs)?;
    }
    if let Some(path) = roots.iter().find(|root| !changes.gone.contains_key(**root)) {
        return not_performed(format!("{} was not deleted", shown(path)));
    }
    // Only the names of deleted files are known: test the conditions on names, for everything that existed before.
    let of = real(of, fs);
    let before = before_change(changes, &BTreeMap::new(), fs);
    let Answer::Files(fitting) = evaluate(&by_known_conditions(&of), &before)? else {
        return not_performed("it selects no files");
    };
    let fitting: BTreeSet<&Path> = fitting.iter().map(|entry| entry.path.as_path()).collect();
    if let Some(path) = changes.listed.iter().find(|path| !fitting.contains(path.as_path())) {
        return not_performed(format!("{} does not belong to what was to be deleted", shown(path)));
    }
    let count = roots.len();
    if has_stretch(&of) {
        return Ok(format!("looked again: {count} are gone, as listed; their order can't be computed any more"));
    }
    match evaluate(&of, fs) {
        // If the folder itself was removed, nothing is left in it.
        Err(crate::eval::EvalError::Unreadable { source: FileSystemError::NotFound, .. }) => {}
        Ok(Answer::Files(left)) => {
            if let Some(entry) = left.first() {
                return not_performed(format!("{} was to be deleted too and is still there", entry.shown()));
            }
        }
        Ok(_) => return not_performed("it selects no files"),
        Err(problem) => return Err(problem.into()),
    }
    Ok(format!(
        "looked again: {count} are gone, as listed; nothing of what was asked for is left, nothing else is gone"
    ))
}

/// Whether the query limits the number of elements.
fn has_stretch(query: &Query) -> bool {
    matches!(query, Query::Limit { .. }) || query.operand().is_some_and(has_stretch)
}

/// The query with only those conditions that can be tested on deleted files: those on paths and names.
fn by_known_conditions(query: &Query) -> Query {
    match query {
        Query::Limit { of, .. } | Query::Sort { of, .. } => by_known_conditions(of),
        Query::Filter { of, keep } => {
            Query::Filter { of: Box::new(by_known_conditions(of)), keep: name_conditions(&keep.clone().normalise()) }
        }
        other => other.clone(),
    }
}

/// The predicate with every condition that is not on a name replaced by one that always holds.
fn name_conditions(pred: &Pred) -> Pred {
    match pred {
        Pred::All(parts) => Pred::All(parts.iter().map(name_conditions).collect()),
        Pred::Any(parts) => Pred::Any(parts.iter().map(name_conditions).collect()),
        Pred::Not(inner) if matches!(**inner, Pred::Name(_) | Pred::Extension(_) | Pred::Below(_)) => pred.clone(),
        Pred::Name(_) | Pred::Extension(_) | Pred::Below(_) => pred.clone(),
        _ => Pred::All(Vec::new()),
    }
}

/// Checks that the archive contains the listed files, named relative to their common folder; returns their number.
fn packed(changes: &Changes, to: &Path, fs: &dyn FileSystem) -> Result<usize, NotPerformed> {
    let roots = changes.outermost();
    let mut common = roots.first().and_then(|root| root.parent()).unwrap_or(Path::new("/")).to_owned();
    while !roots.iter().all(|root| root.starts_with(&common)) {
        common.pop();
    }
    let mut expected = BTreeSet::new();
    for root in roots {
        for (path, digest) in inventory(root, fs)? {
            let name = path.strip_prefix(&common).unwrap_or(&path).as_os_str().as_encoded_bytes().to_vec();
            expected.insert((name, digest));
        }
    }
    made(changes, [(to.to_owned(), digest_of(to, fs)?)].into(), fs)?;
    let held = archive::members(to, fs)?;
    let count = held.len();
    let digest = |member: &archive::Member| if member.is_folder { FOLDER.to_owned() } else { member.digest.clone() };
    let held: BTreeSet<_> = held.iter().map(|member| (member.name.clone(), digest(member))).collect();
    if let Some((name, _)) = expected.symmetric_difference(&held).next() {
        return not_performed(format!("the archive does not hold {} as it is", escape::path_line(name)));
    }
    if count == expected.len() { Ok(count) } else { not_performed("the archive holds something twice") }
}

/// Checks that everything in the archives exists in the folder; returns the number of files.
fn unpacked(changes: &Changes, into: &Path, fs: &dyn FileSystem) -> Result<usize, NotPerformed> {
    let mut expected = BTreeMap::new();
    for archive in &changes.listed {
        for member in archive::members(archive, fs)? {
            let name = String::from_utf8_lossy(&member.name).into_owned();
            let below = Path::new(&name);
            let is_plain = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if !is_plain || name.as_bytes() != member.name {
                return not_performed(format!(
                    "the archive holds {}, which has no plain place",
                    escape::path_line(&member.name)
                ));
            }
            let target = below
                .components()
                .filter(|part| *part != Component::CurDir)
                .fold(into.to_owned(), |path, part| path.join(part));
            if target == into {
                continue;
            }
            expected.insert(target, if member.is_folder { FOLDER.to_owned() } else { member.digest });
        }
    }
    let files = expected.values().filter(|digest| *digest != FOLDER).count();
    // A folder that the archive contains may have existed before.
    expected.retain(|path, digest| digest != FOLDER || changes.made.contains_key(path));
    let in_folder = changes.made.keys().all(|path| path.starts_with(into) || into.starts_with(path));
    if !in_folder {
        return not_performed("something was made outside the folder");
    }
    if expected.is_empty() {
        return not_performed("the archive holds nothing that could have been unpacked");
    }
    made(changes, expected, fs)?;
    Ok(files)
}
