//! Questions about a text by line numbers: without some lines, with a line replaced or inserted, or several texts one
//! after another.

use std::path::Path;

use super::{Known, Row};
use crate::algebra::Query;
use crate::eval::{EvalError, FileSystem, text};
use crate::lower::{Argv, Pipeline, Unsupported};
use crate::parse::Form;

/// The kind of question about a text with lines left out, replaced or inserted, or about texts joined.
pub(super) const ROW: Row = Row { name: "lines", forms: include_str!("lines.txt"), read, english, lower, eval };

/// The query for a form about numbered lines; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    // What a new file is made from may be in another folder.
    let place = |slot: &str| if wording == "joined" { form.path_there(slot) } else { form.path(slot) };
    let path = place("file")?;
    let lines = form.content(&path)?.lines().count();
    let is_joined = matches!(wording, "joined" | "appended");
    let number = |slot: &str| form.number(slot).or_else(|| form.text("last").map(|_| lines as u64));
    let (from, to) = if is_joined { (None, None) } else { (number("from"), number("to").or_else(|| number("from"))) };
    let is_there = |from: u64, to: u64| from > 0 && from <= to && to <= lines as u64;
    if !is_joined && !from.zip(to).is_some_and(|(from, to)| is_there(from, to)) {
        return None;
    }
    // The first and the last lines have forms of their own.
    if wording == "without" && form.has_word(&["first", "last", "final"]) {
        return None;
    }
    let text = form.text("text").map(str::to_owned);
    let needs_text = matches!(wording, "replaced" | "after" | "before");
    if needs_text != text.is_some() || text.as_ref().is_some_and(|text| text.contains('\n')) {
        return None;
    }
    let (path, other) = match wording {
        "appended" => (form.path("to")?, Some(path)),
        "joined" => (path, Some(place("second")?)),
        _ => (path, None),
    };
    if other.as_ref().is_some_and(|other| *other == path || form.content(other).is_none()) {
        return None;
    }
    let shape = if is_joined { "joined" } else { wording };
    Some(Known::of(
        "lines",
        [
            ("path", Some(path)),
            ("shape", Some(shape.to_owned())),
            ("other", other),
            ("from", from.map(|from| from.to_string())),
            ("to", to.map(|to| to.to_string())),
            ("text", text),
        ],
    ))
}

/// The changed or joined text as a noun phrase in English.
fn english(known: &Known) -> String {
    let path = crate::english::quoted_path(known.value("path"));
    let (from, to) = (known.value("from"), known.value("to"));
    let stretch = if from == to { format!("line {from}") } else { format!("lines {from} to {to}") };
    let text = crate::english::quoted(known.value("text"));
    match known.value("shape") {
        "without" => format!("lines of the file {path} without {stretch}"),
        "replaced" => format!("lines of the file {path} with {text} in place of {stretch}"),
        "joined" => {
            let other = crate::english::quoted_path(known.value("other"));
            format!("lines of the file {path}, then those of the file {other}")
        }
        place => format!("lines of the file {path} with {text} {place} {stretch}"),
    }
}

/// The command that prints the changed or joined text.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let (from, to, path) = (known.value("from"), known.value("to"), known.value("path"));
    let awk = |script: &str| {
        let environment = format!("V={}", known.value("text"));
        Pipeline::of(Argv::new("env LC_ALL=C").value(environment).and("awk").value(script).value(path))
    };
    Ok(match known.value("shape") {
        "without" => awk(&format!("NR<{from}||NR>{to}")),
        "replaced" => awk(&format!("NR=={from}{{print ENVIRON[\"V\"]}} NR<{from}||NR>{to}")),
        "before" => awk(&format!("NR=={from}{{print ENVIRON[\"V\"]}} 1")),
        "after" => awk(&format!("1;NR=={from}{{print ENVIRON[\"V\"]}}")),
        _ => Pipeline::of(Argv::bytewise("awk").value("1").value(path).value(known.value("other"))),
    })
}

/// The lines of the changed or joined text, computed without programs.
fn eval(known: &Known, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let lines = |name: &str| -> Result<Vec<String>, EvalError> {
        let bytes = text::content(Path::new(known.value(name)), fs)?;
        Ok(String::from_utf8(bytes).map_err(|_| EvalError::Meaningless)?.lines().map(str::to_owned).collect())
    };
    let mut all = lines("path")?;
    let at = |name: &str| known.value(name).parse::<usize>().map_err(|_| EvalError::Meaningless);
    let text = || std::iter::once(known.value("text").to_owned());
    let is_there = |from: usize, to: usize| from > 0 && from <= to && to <= all.len();
    match known.value("shape") {
        "joined" => all.extend(lines("other")?),
        shape => {
            let (from, to) = (at("from")?, at("to")?);
            if !is_there(from, to) {
                return Err(EvalError::Meaningless);
            }
            match shape {
                "without" => drop(all.drain(from - 1..to)),
                "replaced" => drop(all.splice(from - 1..to, text())),
                "before" => all.insert(from - 1, known.value("text").to_owned()),
                _ => all.insert(to, known.value("text").to_owned()),
            }
        }
    }
    Ok(all)
}
