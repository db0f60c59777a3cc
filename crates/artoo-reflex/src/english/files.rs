//! Renders selections of files, folders and processes in English.

use super::pred::predicate;
use super::{listed, order, word};
use crate::algebra::{Depth, Key, Kind, Order, Query, SortKey};

/// Whether the files are sorted by size or time, so that a listing shows both.
pub(crate) fn is_measured(query: &Query) -> bool {
    match query {
        Query::Limit { of, .. } => is_measured(of),
        Query::Sort { keys, .. } => keys.first().is_some_and(|key| matches!(key.by, Key::Size | Key::Modified)),
        _ => false,
    }
}

/// The noun phrase of a selection, such as "files in the folder /x, ending in .pdf".
pub(super) fn phrase(query: &Query) -> String {
    match query {
        Query::Tree { kind, .. } => format!("{} {}", noun(*kind, true), where_in(query)),
        Query::Paths { paths, kind: Kind::Any } => listed(paths),
        Query::Paths { paths, kind } => format!("{} {}", noun(*kind, paths.len() != 1), listed(paths)),
        Query::Processes => "processes".to_owned(),
        Query::Filter { of, keep } => format!("{}, {}", phrase(of), predicate(keep)),
        Query::Sort { of, keys } => format!("{}{}", phrase(of), order(keys)),
        Query::Limit { of, skip: 0, count } => limit(of, *count),
        Query::Limit { of, skip, count: 1 } => format!("{} of the {}", ordinal(skip.saturating_add(1)), phrase(of)),
        Query::Limit { of, skip, count } => format!("{count} after the first {skip} {}", phrase(of)),
        other => other.operand().map_or_else(String::new, phrase),
    }
}

/// The noun phrase for the first elements of a sorted list, such as "5 largest files …".
fn limit(of: &Query, count: u64) -> String {
    if let Query::Sort { of, keys } = of
        && let [SortKey { by, order }] = keys.as_slice()
        && let Some(word) = superlative(*by, *order)
    {
        return match count {
            1 if tree_kind(of).is_some_and(|kind| kind != Kind::Any) => {
                format!("{word} {} {}", noun(of.kind(), false), where_in(of))
            }
            1 if tree_kind(of).is_none() => format!("{word} one of the {}", phrase(of)),
            count if tree_kind(of).is_none() => format!("{count} {word} ones of the {}", phrase(of)),
            count => format!("{count} {word} {}", phrase(of)),
        };
    }
    format!("first {count} {}", phrase(of))
}

/// The superlative for a sort key and direction, such as "largest".
fn superlative(by: Key, order: Order) -> Option<&'static str> {
    match (by, order) {
        (Key::Size | Key::TotalSize, Order::Descending) => Some("largest"),
        (Key::Size | Key::TotalSize, Order::Ascending) => Some("smallest"),
        (Key::Modified, Order::Descending) => Some("newest"),
        (Key::Modified, Order::Ascending) => Some("oldest"),
        _ => None,
    }
}

/// The kind of entries of a possibly filtered tree; `None` for any other query.
fn tree_kind(query: &Query) -> Option<Kind> {
    match query {
        Query::Tree { kind, .. } => Some(*kind),
        Query::Filter { of, .. } => tree_kind(of),
        _ => None,
    }
}

/// The folders and conditions of a selection in English, such as "in the folder /x, ending in .pdf".
fn where_in(query: &Query) -> String {
    match query {
        Query::Tree { roots, depth, hidden, .. } => {
            let folders = if roots.len() == 1 { "folder" } else { "folders" };
            let (preposition, tail) = match depth {
                Depth::Direct => ("directly in the", ""),
                Depth::Whole => ("in the", ", subfolders included"),
            };
            let hidden = if *hidden { "hidden files included" } else { "hidden files left out" };
            format!("{preposition} {folders} {}{tail}, {hidden}", listed(roots))
        }
        Query::Filter { of, keep } => format!("{}, {}", where_in(of), predicate(keep)),
        other => phrase(other),
    }
}

/// The noun for a kind of entry.
fn noun(kind: Kind, plural: bool) -> String {
    let one = match kind {
        Kind::File => "file",
        Kind::Folder => "folder",
        Kind::Link => "symbolic link",
        Kind::Any => return "files and folders".to_owned(),
    };
    format!("{one}{}", if plural { "s" } else { "" })
}

/// The English word for a sort key.
pub(super) fn key(by: Key) -> String {
    match by {
        Key::TotalSize => word(Key::Size),
        Key::Modified => "date".to_owned(),
        Key::Numeric => "number".to_owned(),
        Key::Value => "count".to_owned(),
        Key::Cpu => "processor time".to_owned(),
        named => word(named),
    }
}

/// A number as an English ordinal: "1st", "2nd", "3rd", "4th", "11th".
fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (1, last) if last != 11 => "st",
        (2, last) if last != 12 => "nd",
        (3, last) if last != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
