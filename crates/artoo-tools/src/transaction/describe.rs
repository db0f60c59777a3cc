//! Describes change sets in the question about them.

use artoo_proto::units;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::change::{ChangeSet, Entry, Kind, Reason};
use crate::undo::State;
use crate::{paths, texts};

/// Maximum number of entries in the details of a question; the rest is counted.
const LISTED_MAX: usize = 500;

/// Maximum number of entries whose diff is in the details of a question.
const COMPARED_MAX: usize = 20;

/// Maximum number of lines of one diff in the details of a question.
const DIFF_LINES_MAX: usize = 60;

/// One line for all changes in a question: their number by kind, their size, and the first names.
pub(super) fn summary(set: &ChangeSet, home: &Path) -> String {
    let verbs = [
        ("deletes", "deleted"),
        ("replaces", "replaced"),
        ("changes", "changed"),
        ("renames", "renamed"),
        ("sets permissions of", "mode"),
        ("sets dates of", "times"),
        ("makes", "created"),
    ];
    let renamed = renamed(set);
    let parts: Vec<String> =
        verbs.iter().filter_map(|(verb, kind)| Some(format!("{verb} {}", counted(set, &renamed, kind)?))).collect();
    let outer: Vec<&Path> = in_order_of_weight(set).into_iter().map(|entry| entry.path.as_path()).collect();
    let bytes: u64 = set.entries.iter().map(Entry::bytes).sum();
    let size = if bytes > 0 { format!(" ({})", units::bytes(bytes)) } else { String::new() };
    if parts.is_empty() {
        return texts::UNNAMED_TIMES.to_owned();
    }
    format!("{}{size}: {}", parts.join(", "), texts::named(&outer, home))
}

/// The old and new paths of renamed files. A command that renames a file deletes one and creates another; they are a
/// rename if no other file with their content was deleted or created.
fn renamed(set: &ChangeSet) -> BTreeSet<&Path> {
    let paths_of = |kind: &Kind, state: fn(&Entry) -> &State| {
        let mut paths: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for entry in set.entries.iter().filter(|entry| entry.kind == *kind) {
            let content = state(entry).file().and_then(|file| file.digest.as_deref());
            content.into_iter().for_each(|content| paths.entry(content).or_default().push(&entry.path));
        }
        paths
    };
    let (gone, new) = (paths_of(&Kind::Deleted, |entry| &entry.before), paths_of(&Kind::Created, |entry| &entry.after));
    let pairs = new.into_iter().filter_map(|(content, to)| Some((gone.get(content)?.clone(), to)));
    let alone = pairs.filter(|(from, to)| from.len() == 1 && to.len() == 1);
    alone.flat_map(|(from, to)| from.into_iter().chain(to)).collect()
}

/// The number of files and folders with this kind of change, as text; `None` if there are none.
fn counted(set: &ChangeSet, renamed: &BTreeSet<&Path>, kind: &str) -> Option<String> {
    // Of a renamed file its new path counts.
    let kind_of = |entry: &Entry| match (renamed.contains(entry.path.as_path()), entry.kind == Kind::Created) {
        (false, _) => entry.kind.name(),
        (true, true) => "renamed",
        (true, false) => "",
    };
    let of_kind = || set.entries.iter().filter(|entry| kind_of(entry) == kind);
    let is_folder = |entry: &&Entry| {
        let state = if entry.after == State::Absent { &entry.before } else { &entry.after };
        matches!(state, State::Folder(_))
    };
    let folders = of_kind().filter(is_folder).count() as u64;
    let files = of_kind().count() as u64 - folders;
    Some(texts::counted(&[(files, "file", "files"), (folders, "folder", "folders")])).filter(|text| !text.is_empty())
}

/// The details of a question: entries with a special reason first, then a line for each change, then diffs.
pub(super) fn details(set: &ChangeSet, asks: &[(usize, Vec<Reason>)]) -> Vec<String> {
    let notable = notable(set, asks);
    let mut entries: Vec<&Entry> = notable.iter().map(|(entry, _)| *entry).collect();
    let listed: BTreeSet<&Path> = entries.iter().map(|entry| entry.path.as_path()).collect();
    entries.extend(in_order_of_weight(set).into_iter().filter(|entry| !listed.contains(entry.path.as_path())));
    let mut lines: Vec<String> = entries.iter().take(LISTED_MAX).map(|entry| line(set, entry)).collect();
    for (line, (_, reasons)) in lines.iter_mut().zip(&notable) {
        line.push_str(&format!(": {}", join_reasons(reasons.iter())));
    }
    if entries.len() > LISTED_MAX {
        lines.push(format!("and {} more", entries.len() - LISTED_MAX));
    }
    for entry in entries.iter().filter(|entry| entry.kind != Kind::Deleted).take(COMPARED_MAX) {
        if let Some(diff) = entry.diff(DIFF_LINES_MAX).filter(|diff| !diff.is_empty()) {
            lines.push(format!("--- {}", paths::line(&entry.path)));
            lines.extend(diff.lines().map(artoo_proto::escape::one_line));
        }
    }
    lines
}

/// The reasons why these entries of a change set need an approval, each once, as text.
pub(super) fn reasons(entries: &[(usize, Vec<Reason>)]) -> String {
    join_reasons(entries.iter().flat_map(|(_, reasons)| reasons))
}

/// The reasons as one text, each once.
fn join_reasons<'a>(reasons: impl Iterator<Item = &'a Reason>) -> String {
    reasons.map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("; ")
}

/// Entries that need an approval for a special reason; those inside a listed folder with the same reasons are left out.
fn notable<'a>(set: &'a ChangeSet, asks: &'a [(usize, Vec<Reason>)]) -> Vec<(&'a Entry, Vec<Reason>)> {
    let mut told: Vec<(&Entry, Vec<Reason>)> = Vec::new();
    // The entries that contain each other, the innermost last: in sorted order a folder comes right before its entries.
    let mut above: Vec<usize> = Vec::new();
    for (entry, reasons) in asks.iter().filter_map(|(at, reasons)| Some((set.entries.get(*at)?, reasons))) {
        let reasons: Vec<Reason> = reasons.iter().copied().filter(|reason| !reason.is_plain()).collect();
        let folder = |above: &[usize]| above.last().and_then(|at| told.get(*at));
        while folder(&above).is_some_and(|(folder, _)| !entry.path.starts_with(&folder.path)) {
            above.pop();
        }
        let is_told = folder(&above).is_some_and(|(_, known)| reasons.iter().all(|reason| known.contains(reason)));
        if !(reasons.is_empty() || entry.is_inside && is_told) {
            above.push(told.len());
            told.push((entry, reasons));
        }
    }
    told
}

/// The entries sorted for display: deleted and replaced ones first, new ones last; a folder stands for all in it.
fn in_order_of_weight(set: &ChangeSet) -> Vec<&Entry> {
    let weight = |entry: &&Entry| match entry.kind {
        Kind::Deleted => 0,
        Kind::Replaced => 1,
        Kind::Changed => 2,
        Kind::Renamed { .. } => 3,
        Kind::Mode => 4,
        Kind::Times => 5,
        Kind::Created => 6,
    };
    let mut entries: Vec<&Entry> = set.entries.iter().filter(|entry| !entry.is_inside).collect();
    entries.sort_by_key(weight);
    entries
}

/// An entry of a change set as a line of a question.
fn line(set: &ChangeSet, entry: &Entry) -> String {
    let path = paths::line(&entry.path);
    let (was, is) = (entry.before.name(), entry.after.name());
    let size =
        if entry.bytes() > 0 { format!(", {}", texts::exactly(entry.bytes(), "byte", "bytes")) } else { String::new() };
    match &entry.kind {
        Kind::Created => format!("new {is} {path}{size}"),
        Kind::Changed => format!("changed {is} {path}{size}"),
        Kind::Mode if entry.is_left_out() => {
            format!("permissions, owner or attributes of {is} {path}, which undo does not bring back")
        }
        Kind::Mode => format!("permissions of {is} {path}"),
        Kind::Times => format!("dates of {is} {path}: {}", set.time(entry)),
        Kind::Deleted => format!("deleted {was} {path}"),
        Kind::Replaced => format!("{was} replaced by {is} {path}{size}"),
        Kind::Renamed { from } => format!("renamed {} to {path}", paths::line(from)),
    }
}
