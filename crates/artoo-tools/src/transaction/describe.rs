//! Change sets in words, for the question about them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::change::{ChangeSet, Entry, Kind, Reason};
use crate::paths;
use crate::undo::State;

/// Paths named in the line that sums a change set up.
const NAMED_MAX: usize = 3;

/// Entries listed on request; the rest is counted.
const LISTED_MAX: usize = 500;

/// Entries whose text is compared on request.
const COMPARED_MAX: usize = 20;

/// Lines of one comparison.
const DIFF_LINES_MAX: usize = 60;

/// One line for all changes: how many of each kind, how large, and the first names.
pub(super) fn summary(set: &ChangeSet) -> String {
    let verbs = [
        ("deletes", "deleted"),
        ("replaces", "replaced"),
        ("changes", "changed"),
        ("renames", "renamed"),
        ("sets the mode of", "mode"),
        ("sets the times of", "times"),
        ("makes", "created"),
    ];
    let parts: Vec<String> =
        verbs.iter().filter_map(|(verb, kind)| Some(format!("{verb} {}", counted(set, kind)?))).collect();
    let outer: Vec<&Entry> = in_order_of_weight(set);
    let named: Vec<String> = outer.iter().take(NAMED_MAX).map(|entry| paths::line(&entry.path)).collect();
    let more = outer.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let bytes: u64 = set.entries.iter().map(Entry::bytes).sum();
    let size = if bytes > 0 { format!(" ({})", size(bytes)) } else { String::new() };
    if parts.is_empty() {
        return "sets times of files".to_owned();
    }
    format!("{}{size}: {}{more}", parts.join(", "), named.join(", "))
}

/// The files and folders of one kind of change, counted; `None` if there are none.
fn counted(set: &ChangeSet, kind: &str) -> Option<String> {
    let of_kind = || set.entries.iter().filter(|entry| entry.kind.name() == kind);
    let is_folder = |entry: &&Entry| {
        let state = if entry.after == State::Absent { &entry.before } else { &entry.after };
        matches!(state, State::Folder(_))
    };
    let folders = of_kind().filter(is_folder).count();
    let files = of_kind().count() - folders;
    let noun = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {one}s")),
    };
    let parts: Vec<String> = [noun(files, "file"), noun(folders, "folder")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// Every change in a line, what is asked about for a reason of its own first, then how texts differ.
pub(super) fn details(set: &ChangeSet, asks: &[(usize, Vec<Reason>)]) -> Vec<String> {
    let notable = notable(set, asks);
    let mut entries: Vec<&Entry> = notable.iter().map(|(entry, _)| *entry).collect();
    let listed: BTreeSet<&Path> = entries.iter().map(|entry| entry.path.as_path()).collect();
    entries.extend(in_order_of_weight(set).into_iter().filter(|entry| !listed.contains(entry.path.as_path())));
    let mut lines: Vec<String> = entries.iter().take(LISTED_MAX).map(|entry| line(set, entry)).collect();
    for (line, (_, reasons)) in lines.iter_mut().zip(&notable) {
        line.push_str(&format!(": {}", said(reasons.iter())));
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

/// Why these entries need an approval, each reason once.
pub(super) fn reasons(entries: &[(usize, Vec<Reason>)]) -> String {
    said(entries.iter().flat_map(|(_, reasons)| reasons))
}

fn said<'a>(reasons: impl Iterator<Item = &'a Reason>) -> String {
    reasons.map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("; ")
}

/// Entries that are asked about for more than that they are changed, or lie outside the workspace: each where the folder
/// above it that is told has not the same reasons.
fn notable<'a>(set: &'a ChangeSet, asks: &'a [(usize, Vec<Reason>)]) -> Vec<(&'a Entry, Vec<Reason>)> {
    let mut told: Vec<(&Entry, Vec<Reason>)> = Vec::new();
    // Those of them that lie within each other, the innermost last: a folder comes right before what lies below it.
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

/// What is deleted or replaced first, what is new last; a folder stands for what lies in it.
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

fn line(set: &ChangeSet, entry: &Entry) -> String {
    let path = paths::line(&entry.path);
    let (was, is) = (entry.before.name(), entry.after.name());
    let size = if entry.bytes() > 0 { format!(", {}", size(entry.bytes())) } else { String::new() };
    match &entry.kind {
        Kind::Created => format!("new {is} {path}{size}"),
        Kind::Changed => format!("changed {is} {path}{size}"),
        Kind::Mode if entry.is_left_out() => {
            format!("mode, owner or attributes of {is} {path}, which undo does not bring back")
        }
        Kind::Mode => format!("mode of {is} {path}"),
        Kind::Times => format!("times of {is} {path}: {}", set.time(entry)),
        Kind::Deleted => format!("deleted {was} {path}"),
        Kind::Replaced => format!("{was} replaced by {is} {path}{size}"),
        Kind::Renamed { from } => format!("renamed {} to {path}", paths::line(from)),
    }
}

/// A length in bytes in the unit that suits it.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = units.iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}
