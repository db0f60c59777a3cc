//! Lowers queries to a call of the typed tools `glob` or `read_file`, where they compute exactly the query.

use artoo_proto::ToolRequest;
use serde_json::{Map, Value, json};

use super::Unsupported;
use crate::algebra::{Depth, Function, Key, Kind, Layers, NameTest, Order, Part, Pred, Query};
use crate::place::{file_name, parent};

/// The call of a typed tool for a query in normal form.
pub(super) fn call(query: &Query) -> Result<ToolRequest, Unsupported> {
    let (report, of) = match query {
        Query::Aggregate { of, function: Function::Count } => ("count", of.as_ref()),
        Query::Aggregate { of, function: Function::TotalBytes } => ("total_bytes", of.as_ref()),
        Query::Details { of } => ("details", of.as_ref()),
        plain => ("list", plain),
    };
    match of.source() {
        Query::TextFile { .. } => read_file(of, report),
        _ => glob(of, report),
    }
}

/// The call of `read_file` for the lines of one file; `report` is `list` or `count`.
fn read_file(query: &Query, report: &str) -> Result<ToolRequest, Unsupported> {
    let mut input = Map::new();
    match report {
        "list" => {}
        "count" => drop(input.insert("count".to_owned(), json!("lines"))),
        _ => return Err(Unsupported::Arrangement("the size of lines")),
    }
    let text = match query {
        Query::Part { .. } if report == "count" => {
            return Err(Unsupported::Arrangement("the count of a numbered stretch of lines"));
        }
        Query::Part { of, part } => {
            let lines = match part {
                Part::First(count) => json!({ "first": count }),
                Part::Last(count) => json!({ "last": count }),
                Part::Range { from, to } => json!({ "from": from, "to": to }),
                Part::From(from) => json!({ "from": from, "to": u64::MAX }),
            };
            input.insert("lines".to_owned(), lines);
            of.as_ref()
        }
        Query::Filter { of, keep: Pred::Contains { text, ignore_case } } => {
            input.insert("matching".to_owned(), json!(text));
            input.insert("ignore_case".to_owned(), json!(ascii_case(text, *ignore_case)?));
            of.as_ref()
        }
        other => other,
    };
    let Query::TextFile { path } = text else {
        return Err(Unsupported::Arrangement("this selection of lines"));
    };
    input.insert("path".to_owned(), json!(path));
    Ok(ToolRequest { tool: "read_file".to_owned(), input: Value::Object(input) })
}

/// Returns `ignore_case`, or an error if the text is not ASCII and its case is ignored.
fn ascii_case(text: &str, ignore_case: bool) -> Result<bool, Unsupported> {
    if ignore_case && !text.is_ascii() {
        return Err(Unsupported::Predicate("letters beyond a to z, ignoring case,"));
    }
    Ok(ignore_case)
}

/// The call of `glob` for files; `report` says whether they are listed, counted, summed or shown with details.
fn glob(query: &Query, report: &str) -> Result<ToolRequest, Unsupported> {
    let mut input = Map::new();
    let Layers { stretch, keys, keep, source: tree, .. } = query.layers();
    match stretch {
        None => {}
        Some(_) if report == "count" || report == "total_bytes" => {
            return Err(Unsupported::Arrangement("a number over the first of an order"));
        }
        Some((0, count)) => drop(input.insert("limit".to_owned(), json!(count))),
        Some(_) => return Err(Unsupported::Arrangement("this combination")),
    }
    match keys {
        [] => {}
        [key] => {
            if !matches!(key.by, Key::Size | Key::Modified | Key::Name | Key::Path) {
                return Err(Unsupported::Arrangement("this order"));
            }
            input.insert("sort".to_owned(), json!({ "by": key.by, "descending": key.order == Order::Descending }));
        }
        _ => return Err(Unsupported::Arrangement("an order by several keys")),
    }
    let kind = source(tree, &mut input)?;
    let root = input.get("root").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind == Kind::Link {
        return Err(Unsupported::Arrangement("a list of links"));
    }
    // The tool skips an excluded folder with everything below it; here only the folder itself must be excluded.
    if kind != Kind::File
        && input.get("recursive") == Some(&json!(true))
        && keep.iter().any(|p| matches!(p, Pred::Not(_)))
    {
        return Err(Unsupported::Predicate("folders with an exception"));
    }
    input.insert("kind".to_owned(), json!(kind));
    input.insert("ignore_files".to_owned(), json!(false));
    input.insert("report".to_owned(), json!(report));
    conditions(keep, &root, &mut input)?;
    Ok(ToolRequest { tool: "glob".to_owned(), input: Value::Object(input) })
}

/// Adds the folder to search to the input of `glob`; returns the kind of entries.
fn source(tree: &Query, input: &mut Map<String, Value>) -> Result<Kind, Unsupported> {
    match tree {
        Query::Tree { roots, depth, hidden, kind } => {
            let [root] = roots.as_slice() else {
                return Err(Unsupported::Arrangement("several folders at once"));
            };
            // The tool would walk the file systems that the kernel generates on each read.
            if root == "/" && *depth == Depth::Whole {
                return Err(Unsupported::Arrangement("a change of things in all of the machine"));
            }
            input.insert("root".to_owned(), json!(root));
            input.insert("recursive".to_owned(), json!(*depth == Depth::Whole));
            input.insert("hidden".to_owned(), json!(hidden));
            Ok(*kind)
        }
        Query::Paths { paths, kind } => {
            let (folder, names) = one_folder(paths)?;
            input.insert("root".to_owned(), json!(folder));
            input.insert("recursive".to_owned(), json!(false));
            input.insert("hidden".to_owned(), json!(true));
            input.insert("patterns".to_owned(), json!(names));
            Ok(*kind)
        }
        _ => Err(Unsupported::Arrangement("this combination")),
    }
}

/// The folder that contains all of the paths, and the names of the paths as patterns of `glob`.
pub(super) fn one_folder(paths: &[String]) -> Result<(&str, Vec<String>), Unsupported> {
    let unsupported = Unsupported::Arrangement("things in several folders at once");
    let mut folder = None;
    let mut names = Vec::new();
    for path in paths {
        let name = file_name(path).ok_or(unsupported.clone())?;
        if *folder.get_or_insert_with(|| parent(path)) != parent(path) {
            return Err(unsupported);
        }
        names.push(literal(name));
    }
    folder.map(|folder| (folder, names)).ok_or(unsupported)
}

/// Adds the predicates to the input of `glob`.
fn conditions(keep: &[Pred], root: &str, input: &mut Map<String, Value>) -> Result<(), Unsupported> {
    let mut names: Vec<&Pred> = Vec::new();
    let mut exclude: Vec<String> = Vec::new();
    for pred in keep {
        let (key, value) = match pred {
            Pred::MinBytes(bytes) => ("min_bytes", json!(bytes)),
            Pred::MaxBytes(bytes) => ("max_bytes", json!(bytes)),
            Pred::ModifiedFrom(moment) => ("modified_after", json!(moment)),
            Pred::ModifiedBefore(moment) => ("modified_before", json!(moment)),
            Pred::Contains { text, ignore_case } => {
                input.insert("contains_ignore_case".to_owned(), json!(ascii_case(text, *ignore_case)?));
                ("contains", json!(text))
            }
            Pred::Name(_) | Pred::Extension(_) | Pred::Any(_) => {
                names.push(pred);
                continue;
            }
            Pred::Not(inner) => {
                exclude.push(match inner.as_ref() {
                    // A pattern with a slash is matched against the path below the root.
                    Pred::Inside(folder) => match folder.strip_prefix(root.trim_end_matches('/')) {
                        Some(below) if below.starts_with('/') => literal(below),
                        _ => return Err(Unsupported::Predicate("a folder that lies elsewhere")),
                    },
                    other => pattern(other)?,
                });
                continue;
            }
            _ => return Err(Unsupported::Predicate("this condition")),
        };
        if input.insert(key.to_owned(), value).is_some() {
            return Err(Unsupported::Predicate("two texts at once"));
        }
    }
    let patterns = match names.as_slice() {
        [] => Vec::new(),
        _ if input.contains_key("patterns") => {
            return Err(Unsupported::Predicate("a condition on the names of things named one by one"));
        }
        [Pred::Any(parts)] => parts.iter().map(pattern).collect::<Result<_, _>>()?,
        [one] => vec![pattern(one)?],
        [one, two] => both(one, two)?,
        _ => return Err(Unsupported::Predicate("more than two conditions on a name")),
    };
    if !patterns.is_empty() || !input.contains_key("patterns") {
        input.insert("patterns".to_owned(), json!(patterns));
    }
    input.insert("exclude".to_owned(), json!(exclude));
    // Patterns for kinds of file spell out both cases, so names stay case-sensitive.
    input.insert("ignore_case".to_owned(), json!(false));
    Ok(())
}

/// The pattern of `glob` for a predicate on a name.
fn pattern(pred: &Pred) -> Result<String, Unsupported> {
    match pred {
        Pred::Extension(extension) => Ok(format!("*.{}", any_case(extension))),
        Pred::Name(test) => Ok(match test {
            NameTest::Is(text) => literal(text),
            NameTest::Starts(text) => format!("{}*", literal(text)),
            NameTest::Ends(text) => format!("*{}", literal(text)),
            NameTest::Has(text) => format!("*{}*", literal(text)),
            NameTest::Glob(pattern) => wildcards(pattern)?,
        }),
        _ => Err(Unsupported::Predicate("this either-or")),
    }
}

/// A `glob` pattern that matches exactly this text.
fn literal(text: &str) -> String {
    let escape = |c: char| if c == '\\' { "\\\\".to_owned() } else { globset::escape(c.encode_utf8(&mut [0; 4])) };
    text.chars().map(escape).collect()
}

/// A pattern typed by the user, or an error if it means something else in `glob`.
fn wildcards(pattern: &str) -> Result<String, Unsupported> {
    if pattern.contains(['{', '}', '\\', '/']) || globset::Glob::new(pattern).is_err() {
        return Err(Unsupported::Predicate("this pattern"));
    }
    Ok(pattern.to_owned())
}

/// A `glob` pattern that matches an extension in any case: `[pP][dD][fF]`.
fn any_case(extension: &str) -> String {
    let class = |c: char| match c.is_ascii_alphabetic() {
        true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        false => literal(c.encode_utf8(&mut [0; 4])),
    };
    extension.chars().map(class).collect()
}

/// A test of a name and a choice of extensions combined into patterns: `report*` and `*.pdf` give `report*.pdf`.
///
/// Exact only if the text of the test can't reach into the extension.
fn both(one: &Pred, two: &Pred) -> Result<Vec<String>, Unsupported> {
    let unsupported = Unsupported::Predicate("these two conditions on a name together");
    let ((Pred::Name(test), kinds) | (kinds, Pred::Name(test))) = (one, two) else { return Err(unsupported) };
    let kinds = match kinds {
        Pred::Any(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let (head, text) = match test {
        NameTest::Starts(text) => (literal(text), text),
        NameTest::Has(text) => (format!("*{}", literal(text)), text),
        NameTest::Is(_) | NameTest::Ends(_) | NameTest::Glob(_) => return Err(unsupported),
    };
    let text = text.to_ascii_lowercase();
    let mut patterns = Vec::new();
    for kind in kinds {
        match kind {
            Pred::Extension(extension) if !text.contains('.') && !extension.contains(&text) => {
                patterns.push(format!("{head}*.{}", any_case(extension)));
            }
            _ => return Err(unsupported),
        }
    }
    Ok(patterns)
}
