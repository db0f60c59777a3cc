//! Renders queries and acts in English that this crate parses back to the same meaning.

mod act;
mod fact;
mod files;
mod lines;
mod pred;

pub use act::english_act;
pub(crate) use files::is_measured;

use crate::algebra::{Field, Function, Query, Relation, SortKey, Step, Ty};

/// The English sentence of a query in normal form.
#[must_use]
pub fn english(query: &Query) -> String {
    match query {
        Query::System { fact: crate::algebra::Fact::Date } => "show today's date".to_owned(),
        Query::System { fact } => format!("show the {}", fact::phrase(fact)),
        Query::Aggregate { of, function } => number(of, *function),
        Query::Group { of, by, function } => format!("{}, per {}", number(of, *function), word(by)),
        Query::Sort { of, keys } if is_groups(of) => format!("{}{}", english(of), order(keys)),
        Query::Limit { of, skip: 0, count } if is_groups(of) => format!("{}, first {count} groups", english(of)),
        Query::Compare { of, with, relation: Relation::Told } => {
            format!("compare {} and {}", lines::compared(of), lines::compared(with))
        }
        Query::Compare { of, with, relation: Relation::Identical } => {
            format!("whether {} is identical to {}", lines::compared(of), lines::compared(with))
        }
        Query::Compare { of, with, relation: Relation::Difference } => {
            format!("show the differences between {} and {}", lines::compared(of), lines::compared(with))
        }
        Query::Details { of } if files::is_measured(of) => format!("list the {}", files::phrase(of)),
        Query::Details { of } => format!("list the {}, with sizes", files::phrase(of)),
        Query::Field { of, field: Field::Modified } => format!("list the {}, with dates", files::phrase(of)),
        Query::Field { of, field: field @ (Field::Lines | Field::Words) } => {
            format!("show the {} of each of the {}", property(*field), files::phrase(of))
        }
        Query::Field { of, field } => format!("show the {} of the {}", property(*field), files::phrase(of)),
        Query::Duplicates { of } => format!("list the duplicates of the {}", files::phrase(of)),
        _ => {
            let verb = if is_lines(query) { "show" } else { "list" };
            format!("{verb} the {}", things(query))
        }
    }
}

/// The English sentences of all steps of a request, joined into one text.
#[must_use]
pub fn english_steps(steps: &[Step]) -> String {
    let one = |step: &Step| match step {
        Step::Ask(query) => english(query),
        Step::Do(act) => english_act(act),
    };
    steps.iter().map(one).collect::<Vec<_>>().join("; then ")
}

/// Whether the query yields lines.
fn is_lines(query: &Query) -> bool {
    query.ty() == Ok(Ty::Lines)
}

/// Whether the query yields groups, sorted or not.
fn is_groups(query: &Query) -> bool {
    match query {
        Query::Group { .. } => true,
        Query::Sort { of, .. } => is_groups(of),
        _ => false,
    }
}

/// The noun phrase for a query's result, such as "files in the folder /x".
fn things(query: &Query) -> String {
    match query {
        Query::Duplicates { of } => format!("duplicates of the {}", files::phrase(of)),
        query if is_lines(query) => lines::phrase(query),
        query => files::phrase(query),
    }
}

/// The noun phrase for a number computed from a query's elements, such as "total size of the files in /x".
fn number(of: &Query, function: Function) -> String {
    let of_files = |what: &str| format!("{what} of the {}", files::phrase(of));
    let of_numbers = |what: &str| format!("{what} of the {}", lines::of_unit("numbers", of));
    match function {
        Function::Count => format!("count the {}", things(of)),
        Function::Any => format!("whether there are any {}", things(of)),
        Function::TotalBytes => of_files("total size"),
        Function::AverageBytes => of_files("average size"),
        Function::LargestBytes => of_files("largest size"),
        Function::SmallestBytes => of_files("smallest size"),
        Function::Words => format!("count the {}", lines::of_unit("words", of)),
        Function::Characters => format!("count the {}", lines::of_unit("characters", of)),
        Function::Sum => of_numbers("sum"),
        Function::Average => of_numbers("average"),
        Function::Minimum => of_numbers("smallest"),
        Function::Maximum => of_numbers("largest"),
    }
}

/// The English word for an enum variant without fields: the name it is serialised by.
fn word(variant: impl serde::Serialize) -> String {
    serde_json::to_value(variant).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The English words for a property of files.
fn property(field: Field) -> &'static str {
    match field {
        Field::Sha256 => "SHA-256",
        Field::Sha1 => "SHA-1",
        Field::Md5 => "MD5",
        Field::FileType => "file type",
        Field::Permissions => "permissions",
        Field::Owner => "owner",
        Field::Modified => "date",
        Field::Lines => "number of lines",
        Field::Words => "number of words",
        Field::TotalSize => "total size",
    }
}

/// A sort order in English: ", sorted by size in descending order, then by name in ascending order".
fn order(keys: &[SortKey]) -> String {
    let one = |(at, key): (usize, &SortKey)| {
        let lead = if at == 0 { "sorted" } else { "then" };
        format!(", {lead} by {} in {} order", files::key(key.by), word(key.order))
    };
    keys.iter().enumerate().map(one).collect()
}

/// The text in the first pair of quotation marks that does not occur in the text itself; in `«»` if all occur.
pub(crate) fn quoted(text: &str) -> String {
    let pairs = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')];
    let free = pairs.into_iter().find(|(open, close)| !text.contains([*open, *close]));
    let (open, close) = free.unwrap_or(('«', '»'));
    format!("{open}{text}{close}")
}

/// A path, in quotation marks if it could be misread.
pub(crate) fn quoted_path(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.'));
    if plain && !path.ends_with('.') { path.to_owned() } else { quoted(path) }
}

/// Paths joined as "a, b and c".
fn listed(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| quoted_path(path)).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
