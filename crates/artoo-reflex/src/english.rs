//! A query in English, rendered from the query alone, in words this crate reads back to the same query.

#![expect(clippy::wildcard_enum_match_arm, reason = "it takes off the operators it names and hands on the rest")]

use crate::algebra::{Depth, Function, Key, Kind, NameTest, Order, Part, Pred, Query};

/// The reading of a query in normal form.
#[must_use]
pub fn english(query: &Query) -> String {
    match query {
        Query::Aggregate { of, function: Function::Count } => format!("count the {}", phrase(of)),
        Query::Aggregate { of, function: Function::TotalBytes } => format!("total size of the {}", phrase(of)),
        Query::Details { of } if is_measured(of) => format!("list the {}", phrase(of)),
        Query::Details { of } => format!("list the {}, with sizes", phrase(of)),
        Query::Tree { .. } | Query::Filter { .. } | Query::Sort { .. } | Query::Limit { .. } if !is_text(query) => {
            format!("list the {}", phrase(query))
        }
        lines => format!("show the {}", phrase(lines)),
    }
}

fn is_text(query: &Query) -> bool {
    match query {
        Query::Tree { .. } => false,
        Query::TextFile { .. } => true,
        Query::Filter { of, .. }
        | Query::Sort { of, .. }
        | Query::Limit { of, .. }
        | Query::Part { of, .. }
        | Query::Details { of }
        | Query::Aggregate { of, .. } => is_text(of),
    }
}

/// Ordered by size or time, so that both are shown anyway.
fn is_measured(query: &Query) -> bool {
    match query {
        Query::Limit { of, .. } => is_measured(of),
        Query::Sort { by, .. } => matches!(by, Key::Size | Key::Modified),
        Query::Tree { .. }
        | Query::TextFile { .. }
        | Query::Filter { .. }
        | Query::Part { .. }
        | Query::Details { .. }
        | Query::Aggregate { .. } => false,
    }
}

fn phrase(query: &Query) -> String {
    match query {
        Query::Tree { kind, .. } => format!("{} {}", noun(*kind, true), where_in(query)),
        Query::TextFile { path } => format!("lines of the file {}", quoted_path(path)),
        Query::Filter { of, keep } => format!("{}, {}", phrase(of), predicate(keep)),
        Query::Sort { of, by, order } => {
            let by = match by {
                Key::Size => "size",
                Key::Modified => "date",
                Key::Name => "name",
                Key::Path => "path",
            };
            let order = match order {
                Order::Ascending => "ascending",
                Order::Descending => "descending",
            };
            format!("{}, sorted by {by} in {order} order", phrase(of))
        }
        Query::Limit { of, count } => limit(of, *count),
        Query::Part { of, part } => part_of(of, *part),
        Query::Details { of } | Query::Aggregate { of, .. } => phrase(of),
    }
}

/// Where a selection is taken from, without its noun.
fn where_in(query: &Query) -> String {
    match query {
        Query::Tree { root, depth, hidden, .. } => {
            let place = quoted_path(root);
            let (preposition, tail) = match depth {
                Depth::Direct => ("directly in the folder", ""),
                Depth::Whole => ("in the folder", ", subfolders included"),
            };
            let hidden = if *hidden { "hidden files included" } else { "hidden files left out" };
            format!("{preposition} {place}{tail}, {hidden}")
        }
        Query::Filter { of, keep } => format!("{}, {}", where_in(of), predicate(keep)),
        other => phrase(other),
    }
}

fn noun(kind: Kind, plural: bool) -> &'static str {
    match (kind, plural) {
        (Kind::File, true) => "files",
        (Kind::File, false) => "file",
        (Kind::Folder, true) => "folders",
        (Kind::Folder, false) => "folder",
        (Kind::Any, _) => "files and folders",
    }
}

/// "5 largest files …", "largest file …", or "first 5 files …, sorted by …".
fn limit(of: &Query, count: u64) -> String {
    let superlative = match of {
        Query::Sort { of, by, order } => match (by, order) {
            (Key::Size, Order::Descending) => Some((of, "largest")),
            (Key::Size, Order::Ascending) => Some((of, "smallest")),
            (Key::Modified, Order::Descending) => Some((of, "newest")),
            (Key::Modified, Order::Ascending) => Some((of, "oldest")),
            (Key::Name | Key::Path, _) => None,
        },
        _ => None,
    };
    match superlative {
        Some((of, word)) if count == 1 && is_tree(of) => format!("{word} {} {}", noun(kind(of), false), where_in(of)),
        Some((of, word)) => format!("{count} {word} {}", phrase(of)),
        None => format!("first {count} {}", phrase(of)),
    }
}

fn is_tree(query: &Query) -> bool {
    match query {
        Query::Tree { kind, .. } => *kind != Kind::Any,
        Query::Filter { of, .. } => is_tree(of),
        _ => false,
    }
}

fn kind(query: &Query) -> Kind {
    match query {
        Query::Tree { kind, .. } => *kind,
        Query::Filter { of, .. } => kind(of),
        _ => Kind::File,
    }
}

fn part_of(of: &Query, part: Part) -> String {
    let lines = phrase(of);
    let rest = lines.strip_prefix("lines").unwrap_or(&lines);
    match part {
        Part::First(1) => format!("first line{rest}"),
        Part::Last(1) => format!("last line{rest}"),
        Part::Range { from, to } if from == to => format!("line {from}{rest}"),
        Part::First(count) => format!("first {count} {lines}"),
        Part::Last(count) => format!("last {count} {lines}"),
        Part::Range { from, to } => format!("lines {from} to {to}{rest}"),
    }
}

fn predicate(pred: &Pred) -> String {
    match pred {
        Pred::All(parts) => {
            // "except .a, ending in .b" could be read as "except .a and .b"; what is excluded comes last.
            let (excluded, kept): (Vec<_>, Vec<_>) = parts.iter().partition(|part| matches!(part, Pred::Not(_)));
            kept.into_iter().chain(excluded).map(predicate).collect::<Vec<_>>().join(", ")
        }
        Pred::Any(parts) if parts.iter().all(|part| matches!(part, Pred::Extension(_))) => {
            let endings: Vec<String> = parts.iter().map(ending).collect();
            format!("ending in {}", endings.join(" or "))
        }
        Pred::Any(parts) => parts.iter().map(predicate).collect::<Vec<_>>().join(" or "),
        Pred::Not(inner) if matches!(**inner, Pred::Extension(_)) => format!("except {}", ending(inner)),
        Pred::Not(inner) => format!("except {}", predicate(inner)),
        Pred::Extension(_) => format!("ending in {}", ending(pred)),
        Pred::Name(NameTest::Is(text)) => format!("named {}", quoted(text)),
        Pred::Name(NameTest::Starts(text)) => format!("starting with {}", quoted(text)),
        Pred::Name(NameTest::Ends(text)) => format!("ending with {}", quoted(text)),
        Pred::Name(NameTest::Has(text)) => format!("with {} in the name", quoted(text)),
        Pred::Name(NameTest::Glob(text)) => format!("matching {}", quoted(text)),
        Pred::MaxBytes(0) => "empty".to_owned(),
        Pred::MinBytes(bytes) => format!("of at least {bytes} bytes"),
        Pred::MaxBytes(bytes) => format!("of at most {bytes} bytes"),
        Pred::ModifiedFrom(moment) => format!("modified at or after {moment}"),
        Pred::ModifiedBefore(moment) => format!("modified before {moment}"),
        Pred::Contains { text, ignore_case: false } => format!("containing {}", quoted(text)),
        Pred::Contains { text, ignore_case: true } => format!("containing {}, ignoring case", quoted(text)),
    }
}

fn ending(pred: &Pred) -> String {
    match pred {
        Pred::Extension(extension) => format!(".{extension}"),
        other => predicate(other),
    }
}

/// The text in the first pair of quotation marks that it does not hold itself.
fn quoted(text: &str) -> String {
    for (open, close) in [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')] {
        if !text.contains(open) && !text.contains(close) {
            return format!("{open}{text}{close}");
        }
    }
    format!("«{text}»")
}

/// A path as it is where nothing in it could be misread, else in quotation marks.
fn quoted_path(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.'));
    if plain && !path.ends_with('.') { path.to_owned() } else { quoted(path) }
}
