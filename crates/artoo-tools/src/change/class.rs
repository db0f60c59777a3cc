//! Which changes may be committed without asking, and why the others need an approval.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::names::run_by;
use super::set::{ChangeSet, Entry, Kind};
use crate::paths;
use crate::protect::Protected;
use crate::undo::State;

/// Bits of a mode that let a program run as another user or group.
const SET_ID: u32 = 0o6000;

/// Bits of a mode that let a file be run.
const EXECUTABLE: u32 = 0o111;

/// Where new files need no approval, and what lies around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    /// The real folder in which new files may be made.
    pub(crate) workspace: &'a Path,
    /// Real folders from which commands are run by their name.
    pub(crate) command_folders: &'a [PathBuf],
    pub(crate) protected: &'a Protected,
}

/// Whether a change set may be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Class {
    /// Only new, ordinary files in the workspace, or nothing.
    Committable,
    /// These entries need an approval; the place of each in the set, with its reasons.
    Asks(Vec<(usize, Vec<Reason>)>),
    /// Never committed, with an approval or without.
    Refused { path: PathBuf, reason: String },
}

/// Why an entry needs an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It changes, moves or deletes what was there.
    Existing,
    OutsideWorkspace,
    /// Keys, histories, browsers' data.
    Protected,
    /// It belongs to a repository's own data, and is not a new object.
    Repository,
    /// Other programs run or obey it by its name.
    RunByOthers(&'static str),
    /// The real file has so many names: the others keep what they have.
    SeveralNames(u64),
    /// A new file that is also known by a name elsewhere.
    OtherNames,
    /// A pipe, a socket or a device.
    SpecialFile,
    SetId,
    /// A link that leads out of the workspace.
    LeadsOut,
    /// It belongs to another user or group than before, or than the folder's other files would.
    OtherOwner,
    /// Its times alone are set, where that is asked about.
    Times,
}

impl Reason {
    /// Whether it is a reason that any file can have.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::Existing | Self::OutsideWorkspace | Self::Times)
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Existing => write!(to, "it was there before"),
            Self::OutsideWorkspace => write!(to, "it is outside the workspace"),
            Self::Protected => write!(to, "it may hold keys"),
            Self::Repository => write!(to, "it is part of a repository's own data"),
            Self::RunByOthers(who) => write!(to, "{who}"),
            Self::SeveralNames(names) => write!(to, "one of {names} names of a file; the others keep what they have"),
            Self::OtherNames => write!(to, "the new file has a name elsewhere as well"),
            Self::SpecialFile => write!(to, "it is a pipe, a socket or a device"),
            Self::SetId => write!(to, "it runs as its owner or group, whoever starts it"),
            Self::LeadsOut => write!(to, "the link leads out of the workspace"),
            Self::OtherOwner => write!(to, "its owner or group changes"),
            Self::Times => write!(to, "its times are set"),
        }
    }
}

/// Judges a change set by its entries alone.
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
    /// Whether an approval for more than this one change set may cover it: all its entries are plain files and folders
    /// that no other program runs.
    pub(crate) fn is_ordinary(&self) -> bool {
        let is_plain = |reason: &Reason| reason.is_plain();
        match self {
            Self::Committable => true,
            Self::Asks(entries) => entries.iter().all(|(_, reasons)| reasons.iter().all(is_plain)),
            Self::Refused { .. } => false,
        }
    }
}

/// Why an entry is never committed: artoo's own data is nothing a command changes.
pub(super) fn refusal(entry: &Entry, own_data: &[PathBuf]) -> Option<String> {
    let is_moved = |own: &PathBuf| entry.renamed_from().is_some_and(|from| own.starts_with(from));
    let is_own = own_data.iter().any(|own| entry.path.starts_with(own) || is_moved(own));
    is_own.then(|| "it is artoo's own data, or holds it".to_owned())
}

fn reasons(entry: &Entry, places: &Places<'_>, bare: &BTreeSet<PathBuf>) -> Vec<Reason> {
    let path = entry.path.as_path();
    let is_folder = matches!(entry.after, State::Folder(_));
    let mut reasons = Vec::new();
    if entry.kind == Kind::Times {
        let is_protected = places.protected.holds(path);
        return match entry.names_before() {
            Some(names) => vec![Reason::Times, Reason::SeveralNames(names)],
            None if is_protected => vec![Reason::Times, Reason::Protected],
            None if !path.starts_with(places.workspace) => vec![Reason::Times, Reason::OutsideWorkspace],
            None => reasons,
        };
    }
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
    let names = run_by(path, is_folder).or_else(|| is_command(entry, places).then_some("it is run by its name alone"));
    add(names.is_some() && entry.kind != Kind::Deleted, Reason::RunByOthers(names.unwrap_or_default()));
    let links = entry.names_before();
    add(links.is_some(), Reason::SeveralNames(links.unwrap_or_default()));
    add(entry.has_other_names || entry.link_of.is_some(), Reason::OtherNames);
    let special = |state: &State| matches!(state, State::Pipe(_) | State::Odd { .. });
    add(special(&entry.after) || special(&entry.before), Reason::SpecialFile);
    add(has_new_set_id(entry) || entry.gains_capability, Reason::SetId);
    add(leads_out(entry, places.workspace), Reason::LeadsOut);
    let owner = |state: &State| state.facts().map(|facts| (facts.owner, facts.group));
    let is_given_away = owner(&entry.before).zip(owner(&entry.after)).is_some_and(|(was, is)| was != is);
    add(is_given_away || is_anothers(entry), Reason::OtherOwner);
    reasons
}

/// New things belong to whoever artoo runs as.
fn is_anothers(entry: &Entry) -> bool {
    let own = rustix::process::geteuid().as_raw();
    entry.kind == Kind::Created && entry.after.facts().is_some_and(|facts| facts.owner != own)
}

/// Everything below a folder named `.git`, and that name itself, but for new objects.
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

/// Folders that git takes for a repository without `.git`: their settings name programs too.
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

/// Whether a name alone will run it from now on.
fn is_command(entry: &Entry, places: &Places<'_>) -> bool {
    let can_run = match &entry.after {
        State::File(file) => file.facts.mode & EXECUTABLE != 0,
        State::Link { .. } => true,
        State::Absent | State::Folder(_) | State::Pipe(_) | State::Odd { .. } => false,
    };
    let folder = entry.path.parent();
    can_run && places.command_folders.iter().any(|place| Some(place.as_path()) == folder)
}

fn has_new_set_id(entry: &Entry) -> bool {
    let mode = |state: &State| state.facts().map_or(0, |facts| facts.mode & SET_ID);
    let (was, is) = (mode(&entry.before), mode(&entry.after));
    if is == 0 {
        return false;
    }
    match (&entry.kind, &entry.after) {
        // A folder takes the bit over from the one it is made in.
        (Kind::Created, State::Folder(_)) => {
            let above = entry.path.parent().and_then(|folder| folder.symlink_metadata().ok());
            let inherited = above.map_or(0, |found| std::os::unix::fs::MetadataExt::mode(&found) & 0o2000);
            is & !inherited != 0 && !(entry.is_inside && is == 0o2000)
        }
        (_, State::File(_)) => is & !was != 0 || entry.kind != Kind::Mode,
        _ => is & !was != 0,
    }
}

fn leads_out(entry: &Entry, workspace: &Path) -> bool {
    let State::Link { target } = &entry.after else { return false };
    let target = artoo_proto::escape::path_from_line(target).unwrap_or_default();
    let target = Path::new(std::ffi::OsStr::from_bytes(&target));
    // What stands behind a name may be a link: `..` leads from where that leads to.
    let mut behind = target.components().skip_while(|part| !matches!(part, Component::Normal(_)));
    if behind.any(|part| part == Component::ParentDir) {
        return true;
    }
    let written = entry.path.parent().unwrap_or(Path::new("/")).join(target);
    let by_letters = paths::normalise(&written);
    // Letters tell where it leads once all is made, the disk where links that are there lead on.
    !(by_letters.starts_with(workspace) && paths::real(&by_letters).starts_with(workspace))
}
