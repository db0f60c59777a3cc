//! Folders that a search of the home folder skips unless the request names them.

use std::path::{Path, PathBuf};

use super::BuildContext;
use crate::algebra::{Kind, NameTest, Pred};
use crate::eval::EntryKind;
use crate::place::file_name;

/// Maximum number of folders that are searched for `.git` folders.
const FOLDERS_MAX: usize = 400;

/// Maximum number of levels below a root at which `.git` folders are searched for.
const LEVELS_MAX: usize = 4;

/// Predicates that exclude the content of `.git` folders below the roots.
pub(super) fn kept_by_git(cx: &mut BuildContext<'_>, roots: &[String], kind: Kind) -> Vec<Pred> {
    let mut open: std::collections::VecDeque<(PathBuf, usize)> = roots.iter().map(|root| (root.into(), 0)).collect();
    let (mut looked, mut found) = (0, Vec::new());
    while let Some((folder, level)) = open.pop_front().filter(|_| looked < FOLDERS_MAX) {
        looked += 1;
        for entry in cx.context.fs.list(&folder).unwrap_or_default() {
            if entry.kind != EntryKind::Folder {
                continue;
            }
            if entry.name_bytes() == b".git" {
                found.extend(entry.path.to_str().map(|path| Pred::Not(Box::new(Pred::Inside(path.to_owned())))));
            } else if level < LEVELS_MAX && !entry.name_bytes().starts_with(b".") {
                open.push_back((entry.path, level + 1));
            }
        }
    }
    if found.is_empty() {
        return found;
    }
    cx.notes.push("what git keeps in its .git folders is left out".to_owned());
    if kind != Kind::File {
        found.push(Pred::Not(Box::new(Pred::Name(NameTest::Is(".git".to_owned())))));
    }
    found
}

/// Predicates that exclude the trash, caches and artoo's own data, if these folders exist below the roots.
pub(super) fn left_out(cx: &mut BuildContext<'_>, roots: &[String], kind: Kind) -> Vec<Pred> {
    let context = cx.context;
    let variable = |name: &str| context.fs.variable(name).and_then(|value| String::from_utf8(value).ok());
    let set_or = |name: &str, usual: &str| variable(name).unwrap_or_else(|| usual.to_owned());
    let mut places = vec![
        format!("{}/Trash", set_or("XDG_DATA_HOME", "~/.local/share")),
        "~/.Trash".to_owned(),
        set_or("XDG_CACHE_HOME", "~/.cache"),
        set_or("ARTOO_DATA_DIR", "~/.artoo"),
    ];
    // Other disks have a trash folder for each user.
    if let Ok(home) = context.fs.metadata(Path::new(&context.environment.home)) {
        places.extend(roots.iter().map(|root| format!("{root}/.Trash-{}", home.owner)));
    }
    let is_below = |place: &str| roots.iter().any(|root| root != place && Path::new(place).starts_with(root));
    let mut left_out: Vec<String> = places.iter().filter_map(|place| context.resolve(place)).map(|p| p.path).collect();
    left_out.retain(|place| is_below(place) && context.is_folder(place));
    if !left_out.is_empty() {
        cx.notes.push(format!("the trash, caches and artoo's own data are left out: {}", left_out.join(", ")));
    }
    // The size of artoo's own folder changes while it is asked for.
    let own = context.resolve(&set_or("ARTOO_DATA_DIR", "~/.artoo")).map(|place| place.path);
    let named = own.filter(|own| kind != Kind::File && left_out.contains(own));
    let named = named.and_then(|own| Some(Pred::Name(NameTest::Is(file_name(&own)?.to_owned()))));
    left_out.into_iter().map(Pred::Inside).chain(named).map(|pred| Pred::Not(Box::new(pred))).collect()
}
