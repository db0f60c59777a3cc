//! Renders queries about lines of text in English.

use super::pred::{case, predicate};
use super::{fact, files, order, quoted, quoted_path};
use crate::algebra::{NamePart, Part, Query, Relation, Rewrite, Separator};

/// The noun phrase for lines, such as "lines of the file a.txt, sorted by text".
pub(super) fn phrase(query: &Query) -> String {
    match query {
        Query::TextFile { path } => format!("lines of the file {}", quoted_path(path)),
        Query::ArchiveEntries { path } => format!("entries of the archive {}", quoted_path(path)),
        Query::System { fact } => fact::phrase(fact),
        Query::Known { known } => known.row().map(|row| (row.english)(known)).unwrap_or_default(),
        Query::TextOf { of } => format!("lines of the {}", files::phrase(of)),
        Query::Filter { of, keep } => format!("{}, {}", phrase(of), predicate(keep)),
        Query::Sort { of, keys } => format!("{}{}", phrase(of), order(keys)),
        Query::Part { of, part } => part_of(of, *part),
        Query::Unique { of } => format!("{}, each once", phrase(of)),
        Query::Repeated { of } => format!("{}, only repeated ones", phrase(of)),
        Query::Words { of } => of_unit("words", of),
        Query::Column { of, number, separator } => {
            let separator = if let Separator::Text(text) = separator { quoted(text) } else { "white space".to_owned() };
            format!("{}, column {number} separated by {separator}", phrase(of))
        }
        Query::Replace { of, find, with } => {
            format!("{}, replacing {} with {}", phrase(of), quoted(find), quoted(with))
        }
        Query::Matches { of, text, ignore_case, whole_word } => {
            let word = if *whole_word { "the whole word " } else { "" };
            format!("{}, occurrences of {word}{}{}", phrase(of), quoted(text), case(*ignore_case))
        }
        Query::Rewritten { of, how } => format!("{}, {}", phrase(of), rewrite(how)),
        Query::Names { of, part } => format!("{} of the {}", name_part(*part), files::phrase(of)),
        Query::Numbered { of } => format!("{}, with line numbers", phrase(of)),
        Query::Compare { of, with, relation } => {
            let also = if *relation == Relation::Common { "also" } else { "missing" };
            format!("{}, {also} in {}", phrase(of), compared(with))
        }
        other => other.operand().map_or_else(String::new, phrase),
    }
}

/// The English phrase for a transformation of text.
fn rewrite(how: &Rewrite) -> String {
    match how {
        Rewrite::UpperCase => "in upper case".to_owned(),
        Rewrite::LowerCase => "in lower case".to_owned(),
        Rewrite::Mirrored => "each line reversed".to_owned(),
        Rewrite::Reversed => "last line first".to_owned(),
        Rewrite::Wrapped(width) => format!("wrapped at {width} characters"),
        Rewrite::Joined(between) if between.is_empty() => "without line breaks".to_owned(),
        Rewrite::Joined(between) => format!("joined by {}", quoted(between)),
        Rewrite::LastField => "last field".to_owned(),
    }
}

/// The English words for a part of a path.
fn name_part(part: NamePart) -> &'static str {
    match part {
        NamePart::Name => "bare names",
        NamePart::Folder => "containing folders",
        NamePart::Extension => "extensions",
    }
}

/// A text that is compared with another, in English: the path of a whole file, else the phrase for its lines.
pub(super) fn compared(query: &Query) -> String {
    if let Query::TextFile { path } = query { quoted_path(path) } else { phrase(query) }
}

/// The noun phrase for lines in another unit, such as "words of the file a.txt".
pub(super) fn of_unit(unit: &str, query: &Query) -> String {
    let lines = phrase(query);
    match lines.strip_prefix("lines") {
        Some(rest) => format!("{unit}{rest}"),
        None => format!("{unit} in the {lines}"),
    }
}

/// The noun phrase for a range of lines, such as "first 5 lines of the file a.txt".
fn part_of(of: &Query, part: Part) -> String {
    let lines = phrase(of);
    let rest = lines.strip_prefix("lines").map_or_else(|| format!(" of the {lines}"), str::to_owned);
    match part {
        Part::First(1) => format!("first line{rest}"),
        Part::Last(1) => format!("last line{rest}"),
        Part::Range { from, to } if from == to => format!("line {from}{rest}"),
        Part::First(count) => format!("first {count} {lines}"),
        Part::Last(count) => format!("last {count} {lines}"),
        Part::Range { from, to } => format!("lines {from} to {to}{rest}"),
        Part::From(from) => format!("lines from line {from} on{rest}"),
    }
}
