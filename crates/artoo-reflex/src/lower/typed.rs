//! Turns queries into a call of the tool `glob` or `read_file`, where that computes exactly the query.

use artoo_proto::ToolRequest;
use serde_json::{Map, Value, json};

use super::Unsupported;
use crate::algebra::{Depth, Function, Key, Kind, Layers, NameTest, Order, Part, Pred, Query};
use crate::ensure::ensure;
use crate::place::{file_name, parent};

/// The call of `glob` or `read_file` for a query in normal form; an error if neither computes it exactly.
pub(crate) fn call(query: &Query) -> Result<ToolRequest, Unsupported> {
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
    ensure(matches!(report, "list" | "count"), || Unsupported::Arrangement("the size of lines"))?;
    let is_part = matches!(query, Query::Part { .. });
    let is_counted = report == "count";
    ensure(!(is_part && is_counted), || Unsupported::Arrangement("the count of a numbered stretch of lines"))?;
    let (text, fields) = match query {
        Query::Part { of, part } => {
            let lines = match part {
                Part::First(count) => json!({ "first": count }),
                Part::Last(count) => json!({ "last": count }),
                Part::Range { from, to } => json!({ "from": from, "to": to }),
                Part::From(from) => json!({ "from": from, "to": u64::MAX }),
            };
            (of.as_ref(), vec![("lines", lines)])
        }
        Query::Filter { of, keep: Pred::Contains { text, ignore_case } } => {
            let ignore_case = ascii_case(text, *ignore_case)?;
            (of.as_ref(), vec![("matching", json!(text)), ("ignore_case", json!(ignore_case))])
        }
        other => (other, Vec::new()),
    };
    let Query::TextFile { path } = text else { return Err(Unsupported::Arrangement("this selection of lines")) };
    let count = is_counted.then(|| ("count", json!("lines")));
    let fields = fields.into_iter().chain(count).chain([("path", json!(path))]);
    let input = fields.map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(ToolRequest { tool: "read_file".to_owned(), input: Value::Object(input) })
}

/// Returns `ignore_case`, or an error if the text is not ASCII and its case is ignored.
fn ascii_case(text: &str, ignore_case: bool) -> Result<bool, Unsupported> {
    ensure(!ignore_case || text.is_ascii(), || Unsupported::Predicate("letters beyond a to z, ignoring case,"))?;
    Ok(ignore_case)
}

/// The call of `glob` for files; `report` says whether they are listed, counted, summed or shown with details.
fn glob(query: &Query, report: &str) -> Result<ToolRequest, Unsupported> {
    let Layers { limit, keys, keep, source: tree, .. } = query.layers();
    let mut input = Map::new();
    match limit {
        None => {}
        Some(_) if report == "count" || report == "total_bytes" => {
            return Err(Unsupported::Arrangement("a number over the first of an order"));
        }
        Some((0, count)) => drop(input.insert("limit".to_owned(), json!(count))),
        Some(_) => return Err(Unsupported::Arrangement("this combination")),
    }
    match keys {
        [] => {}
        [key] if matches!(key.by, Key::Size | Key::Modified | Key::Name | Key::Path) => {
            let sort = json!({ "by": key.by, "descending": key.order == Order::Descending });
            input.insert("sort".to_owned(), sort);
        }
        [_] => return Err(Unsupported::Arrangement("this order")),
        _ => return Err(Unsupported::Arrangement("an order by several keys")),
    }
    let (root, is_recursive, is_hidden, names, kind) = match tree {
        Query::Tree { roots, depth, hidden, kind } => {
            let [root] = roots.as_slice() else { return Err(Unsupported::Arrangement("several folders at once")) };
            // The tool would walk the file systems that the kernel generates on each read.
            let is_whole = *depth == Depth::Whole;
            let is_all = root == "/" && is_whole;
            ensure(!is_all, || Unsupported::Arrangement("a change of things in all of the machine"))?;
            (root.as_str(), is_whole, *hidden, None, *kind)
        }
        Query::Paths { paths, kind } => {
            let (folder, names) = one_folder(paths)?;
            (folder, false, true, Some(names), *kind)
        }
        _ => return Err(Unsupported::Arrangement("this combination")),
    };
    ensure(kind != Kind::Link, || Unsupported::Arrangement("a list of links"))?;
    // The tool skips an excluded folder with everything below it; here only the folder itself must be excluded.
    let excludes = keep.iter().any(|pred| matches!(pred, Pred::Not(_)));
    ensure(kind == Kind::File || !is_recursive || !excludes, || Unsupported::Predicate("folders with an exception"))?;
    conditions(keep, root, names, &mut input)?;
    // Patterns for kinds of file spell out both cases, so names stay case-sensitive.
    let fixed = json!({
        "root": root, "recursive": is_recursive, "hidden": is_hidden, "kind": kind, "report": report,
        "ignore_files": false, "ignore_case": false,
    });
    input.extend(fixed.as_object().cloned().unwrap_or_default());
    Ok(ToolRequest { tool: "glob".to_owned(), input: Value::Object(input) })
}

/// The folder that contains all of the paths, and the names of the paths as patterns of `glob`.
fn one_folder(paths: &[String]) -> Result<(&str, Vec<String>), Unsupported> {
    let folder = paths.first().map(|path| parent(path));
    let name = |path: &String| file_name(path).filter(|_| Some(parent(path)) == folder).map(literal);
    let names = paths.iter().map(name).collect::<Option<_>>();
    folder.zip(names).ok_or(Unsupported::Arrangement("things in several folders at once"))
}

/// Adds the predicates to the input of `glob`; `listed` are the patterns of files listed by path.
fn conditions(
    keep: &[Pred],
    root: &str,
    listed: Option<Vec<String>>,
    input: &mut Map<String, Value>,
) -> Result<(), Unsupported> {
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
        ensure(input.insert(key.to_owned(), value).is_none(), || Unsupported::Predicate("two texts at once"))?;
    }
    let patterns = match (names.as_slice(), listed) {
        ([], listed) => listed.unwrap_or_default(),
        (_, Some(_)) => {
            return Err(Unsupported::Predicate("a condition on the names of things named one by one"));
        }
        ([Pred::Any(parts)], None) => parts.iter().map(pattern).collect::<Result<_, _>>()?,
        ([one], None) => vec![pattern(one)?],
        ([one, two], None) => both(one, two)?,
        _ => return Err(Unsupported::Predicate("more than two conditions on a name")),
    };
    input.insert("patterns".to_owned(), json!(patterns));
    input.insert("exclude".to_owned(), json!(exclude));
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
            NameTest::Pattern(_) => return Err(Unsupported::Predicate("a name by regular expression")),
        }),
        _ => Err(Unsupported::Predicate("this either-or")),
    }
}

/// A `glob` pattern that matches exactly this text.
fn literal(text: &str) -> String {
    let escape = |c: char| if c == '\\' { "\\\\".to_owned() } else { globset::escape(c.encode_utf8(&mut [0; 4])) };
    text.chars().map(escape).collect()
}

/// The user's pattern, or an error if it means something else in `glob`.
fn wildcards(pattern: &str) -> Result<String, Unsupported> {
    ensure(!pattern.contains(['{', '}', '\\', '/']) && globset::Glob::new(pattern).is_ok(), || {
        Unsupported::Predicate("this pattern")
    })?;
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
        NameTest::Is(_) | NameTest::Ends(_) | NameTest::Glob(_) | NameTest::Pattern(_) => return Err(unsupported),
    };
    let text = text.to_ascii_lowercase();
    let pattern = |kind: &Pred| match kind {
        Pred::Extension(extension) if !text.contains('.') && !extension.contains(&text) => {
            Some(format!("{head}*.{}", any_case(extension)))
        }
        _ => None,
    };
    kinds.iter().map(pattern).collect::<Option<_>>().ok_or(unsupported)
}
