//! Change sets in words, for the question about them.

use std::collections::BTreeSet;

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

/// Every change in a line, then how texts differ.
pub(super) fn details(set: &ChangeSet) -> Vec<String> {
    let entries = in_order_of_weight(set);
    let mut lines: Vec<String> = entries.iter().take(LISTED_MAX).map(|entry| line(entry)).collect();
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
    let all: BTreeSet<String> =
        entries.iter().flat_map(|(_, reasons)| reasons.iter().map(ToString::to_string)).collect();
    all.into_iter().collect::<Vec<_>>().join("; ")
}

/// What is deleted or replaced first, what is new last; a folder stands for what lies in it.
fn in_order_of_weight(set: &ChangeSet) -> Vec<&Entry> {
    let weight = |entry: &&Entry| match entry.kind {
        Kind::Deleted => 0,
        Kind::Replaced => 1,
        Kind::Changed => 2,
        Kind::Renamed { .. } => 3,
        Kind::Mode => 4,
        Kind::Created => 5,
    };
    let mut entries: Vec<&Entry> = set.entries.iter().filter(|entry| !entry.is_inside).collect();
    entries.sort_by_key(weight);
    entries
}

fn line(entry: &Entry) -> String {
    let path = paths::line(&entry.path);
    let (was, is) = (entry.before.name(), entry.after.name());
    let size = if entry.bytes() > 0 { format!(", {}", size(entry.bytes())) } else { String::new() };
    match &entry.kind {
        Kind::Created => format!("new {is} {path}{size}"),
        Kind::Changed => format!("changed {is} {path}{size}"),
        Kind::Mode => format!("mode of {is} {path}"),
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
