//! Which changes may be committed without asking, and why the others need an approval.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::names::run_by_others;
use super::set::{ChangeSet, Entry, Kind};
use crate::protect::Protected;
use crate::undo::State;
use crate::{paths, texts};

/// Set-user-id and set-group-id bits of a mode, which let a program run as another user or group.
const SET_ID: u32 = 0o6000;

/// Execute bits of a file mode, for owner, group and others.
const EXECUTABLE: u32 = 0o111;

/// The folders by which changes are classified: workspace, command folders and protected places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    /// The real folder in which new files may be made.
    pub(crate) workspace: &'a Path,
    /// Real folders from which commands are run by their name.
    pub(crate) command_folders: &'a [PathBuf],
    pub(crate) protected: &'a Protected,
}

/// The decision about a change set: committable, in need of an approval, or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Class {
    /// Only new ordinary files in the workspace.
    Committable,
    /// These entries need an approval: the index of each in the set, with its reasons.
    Asks(Vec<(usize, Vec<Reason>)>),
    /// Never committed, with an approval or without.
    Refused { path: PathBuf, reason: String },
}

/// The reason why an entry of a change set needs an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    /// The entry changes, moves or deletes an existing path.
    #[error("it changes existing files")]
    Existing,
    #[error("it writes outside the workspace")]
    OutsideWorkspace,
    /// The path is protected: keys, histories, data of browsers.
    #[error("it may hold keys")]
    Protected,
    /// It belongs to a repository's own data, and is not a new object.
    #[error("it is part of a repository's own data")]
    Repository,
    /// Other programs run the file, or read it as settings, because of its name.
    #[error("{0}")]
    RunByOthers(&'static str),
    /// The real file has this many names; the other names keep the old content.
    #[error("one of {0} names of a file; the others keep what they have")]
    SeveralNames(u64),
    /// Mode or times change of a file with this many names, and so for all of them.
    #[error("one of {0} names of a file; the others change with it")]
    AllNames(u64),
    /// The new file is a hard link of a file elsewhere.
    #[error("the new file has a name elsewhere as well")]
    OtherNames,
    /// A pipe, a socket or a device.
    #[error("it is a pipe, a socket or a device")]
    SpecialFile,
    #[error("it runs as its owner or group, whoever starts it")]
    SetId,
    /// A link that leads out of the workspace.
    #[error("the link leads out of the workspace")]
    LeadsOut,
    /// Owner or group differ from those before, or from those of the folder's other files.
    #[error("its owner or group changes")]
    OtherOwner,
    /// Only the times change.
    #[error("it changes dates of files")]
    Times,
}

impl Reason {
    /// Whether this reason is an existing path, a path outside the workspace or a change of times, and not a special
    /// danger.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::Existing | Self::OutsideWorkspace | Self::Times)
    }
}

/// Decides whether a change set may be committed, needs an approval, or is refused, by its entries.
pub(crate) fn classify(set: &ChangeSet, places: &Places<'_>) -> Class {
    let (bare, own_data) = (bare_repositories(set), places.protected.own_data());
    let mut asks = Vec::new();
    for (at, entry) in set.entries.iter().enumerate() {
        if let Some(reason) = refusal(entry, &own_data) {
            return Class::Refused { path: entry.path.clone(), reason };
        }
        let reasons = reasons(entry, places, &bare);
        if !reasons.is_empty() {
            asks.push((at, reasons));
        }
    }
    if asks.is_empty() { Class::Committable } else { Class::Asks(asks) }
}

impl Class {
    /// Whether a wider approval may cover the change set: it is not refused, and every reason in it is plain.
    pub(crate) fn is_ordinary(&self) -> bool {
        match self {
            Self::Committable => true,
            Self::Asks(entries) => entries.iter().all(|(_, reasons)| reasons.iter().all(|reason| reason.is_plain())),
            Self::Refused { .. } => false,
        }
    }
}

/// Why an entry is never committed; `None` unless it would change or move artoo's own data.
pub(super) fn refusal(entry: &Entry, own_data: &[PathBuf]) -> Option<String> {
    let is_moved = |own: &PathBuf| entry.renamed_from().is_some_and(|from| own.starts_with(from));
    let is_own = own_data.iter().any(|own| entry.path.starts_with(own) || is_moved(own));
    is_own.then(|| texts::OWN_DATA.to_owned())
}

/// The reasons why one entry of a change set needs an approval; empty if it needs none.
fn reasons(entry: &Entry, places: &Places<'_>, bare: &BTreeSet<PathBuf>) -> Vec<Reason> {
    let path = entry.path.as_path();
    let is_folder = matches!(entry.after, State::Folder(_));
    if entry.kind == Kind::Times {
        return times_reasons(entry, places);
    }
    let mut reasons = Vec::new();
    let mut add = |holds: bool, reason: Reason| {
        if holds {
            reasons.push(reason);
        }
    };
    add(entry.kind != Kind::Created, Reason::Existing);
    add(!path.starts_with(places.workspace), Reason::OutsideWorkspace);
    let is_protected = entry.renamed_from().is_some_and(|from| places.protected.lies_below(from));
    add(is_protected || places.protected.holds(path), Reason::Protected);
    let is_bare = bare.iter().any(|folder| path.starts_with(folder));
    add(is_repository_data(entry) || is_bare, Reason::Repository);
    let names = run_by_others(path, is_folder, can_run(entry), places.command_folders);
    add(names.is_some() && entry.kind != Kind::Deleted, Reason::RunByOthers(names.unwrap_or_default()));
    let links = entry.names_before().unwrap_or_default();
    add(links > 0 && entry.kind == Kind::Mode, Reason::AllNames(links));
    add(links > 0 && entry.kind != Kind::Mode, Reason::SeveralNames(links));
    add(entry.has_other_names || entry.link_of.is_some(), Reason::OtherNames);
    let special = |state: &State| matches!(state, State::Pipe(_) | State::Odd { .. });
    add(special(&entry.after) || special(&entry.before), Reason::SpecialFile);
    add(has_new_set_id(entry) || entry.gains_capability, Reason::SetId);
    add(leads_out(entry, places.workspace), Reason::LeadsOut);
    add(!entry.before.same_owner(&entry.after) || is_anothers(entry), Reason::OtherOwner);
    reasons
}

/// The reasons why new times alone need approval; none for an unprotected file in the workspace that has no other name.
fn times_reasons(entry: &Entry, places: &Places<'_>) -> Vec<Reason> {
    let names = entry.names_before().map(Reason::AllNames);
    let protected = places.protected.holds(&entry.path).then_some(Reason::Protected);
    let outside = (!entry.path.starts_with(places.workspace)).then_some(Reason::OutsideWorkspace);
    let mut reasons: Vec<Reason> = [names, protected, outside].into_iter().flatten().collect();
    if !reasons.is_empty() {
        reasons.push(Reason::Times);
    }
    reasons
}

/// Whether a new file is owned by another user than artoo runs as.
fn is_anothers(entry: &Entry) -> bool {
    let own = rustix::process::geteuid().as_raw();
    entry.kind == Kind::Created && entry.after.facts().is_some_and(|facts| facts.owner != own)
}

/// Whether a changed path is `.git` or below it; new files that only add git objects are excepted.
fn is_repository_data(entry: &Entry) -> bool {
    let names: Vec<&[u8]> = entry.path.components().map(|name| name.as_os_str().as_bytes()).collect();
    let Some(at) = names.iter().position(|name| name.eq_ignore_ascii_case(b".git")) else { return false };
    let is_new = entry.kind == Kind::Created;
    let is_hex = |name: &[u8], length: usize| name.len() == length && name.iter().all(u8::is_ascii_hexdigit);
    let is_object = match (names.get(at + 1..).unwrap_or_default(), &entry.after) {
        ([b"objects", folder], State::Folder(_)) => is_hex(folder, 2),
        ([b"objects", folder, name], State::File(_)) if *folder == b"pack" => {
            name.starts_with(b"pack-")
                && [".pack", ".idx", ".rev", ".bitmap"].iter().any(|end| name.ends_with(end.as_bytes()))
        }
        ([b"objects", folder, name], State::File(_)) => is_hex(folder, 2) && (is_hex(name, 38) || is_hex(name, 62)),
        _ => false,
    };
    !(is_new && is_object)
}

/// Folders of the change set that git would treat as a bare repository, whose settings can name programs to run.
fn bare_repositories(set: &ChangeSet) -> BTreeSet<PathBuf> {
    let heads = set.entries.iter().filter(|entry| {
        let name = entry.path.file_name().unwrap_or_default();
        ["head", "config", "objects", "refs"].iter().any(|part| name.eq_ignore_ascii_case(part))
    });
    let folders: BTreeSet<&Path> = heads.filter_map(|entry| entry.path.parent()).collect();
    let made: BTreeSet<PathBuf> = set
        .entries
        .iter()
        .filter(|entry| entry.after != State::Absent && entry.path.parent().is_some_and(|it| folders.contains(it)))
        .map(|entry| entry.path.clone())
        .collect();
    let stands = |path: PathBuf| made.contains(&path) || path.symlink_metadata().is_ok();
    let is_bare = |folder: &&Path| ["HEAD", "objects", "refs"].iter().all(|name| stands(folder.join(name)));
    folders.into_iter().filter(is_bare).map(Path::to_path_buf).collect()
}

/// Whether the entry's new state is an executable file or a symlink.
fn can_run(entry: &Entry) -> bool {
    match &entry.after {
        State::File(file) => file.facts.mode & EXECUTABLE != 0,
        State::Link { .. } => true,
        State::Absent | State::Folder(_) | State::Pipe(_) | State::Odd { .. } => false,
    }
}

/// Whether the entry sets a set-user-id or set-group-id bit, or changes a file that has one; a new folder's inherited
/// bit does not count.
fn has_new_set_id(entry: &Entry) -> bool {
    let mode = |state: &State| state.facts().map_or(0, |facts| facts.mode & SET_ID);
    let (was, is) = (mode(&entry.before), mode(&entry.after));
    if is == 0 {
        return false;
    }
    match (&entry.kind, &entry.after) {
        // A new folder inherits the bit from its parent folder.
        (Kind::Created, State::Folder(_)) => {
            let above = entry.path.parent().and_then(|folder| folder.symlink_metadata().ok());
            let inherited = above.map_or(0, |found| std::os::unix::fs::MetadataExt::mode(&found) & 0o2000);
            is & !inherited != 0 && !(entry.is_inside && is == 0o2000)
        }
        (_, State::File(_)) => is & !was != 0 || entry.kind != Kind::Mode,
        _ => is & !was != 0,
    }
}

/// Whether the entry is a symlink that may lead out of the workspace.
fn leads_out(entry: &Entry, workspace: &Path) -> bool {
    let State::Link { target } = &entry.after else { return false };
    let target = artoo_proto::escape::path_from_line(target).unwrap_or_default();
    let target = Path::new(std::ffi::OsStr::from_bytes(&target));
    // A name before `..` may be a symlink; then `..` is the parent of its target.
    let mut parts = target.components().skip_while(|part| !matches!(part, Component::Normal(_)));
    if parts.any(|part| part == Component::ParentDir) {
        return true;
    }
    let written = entry.path.parent().unwrap_or(Path::new("/")).join(target);
    let by_letters = paths::normalise(&written);
    // New links are resolved by their text, existing ones on disk.
    !(by_letters.starts_with(workspace) && paths::real(&by_letters).starts_with(workspace))
}
