//! Detects column separators and headings of tables by reading the file.

use std::io::Read as _;
use std::path::Path;

use super::{BuildContext, BuildError};
use crate::algebra::{Part, Pred, Query, Separator};

/// Maximum number of bytes read to detect the form of a file.
const SAMPLE_MAX_BYTES: u64 = 1 << 20;

/// The column separators that are tried, each with its English name.
const SEPARATORS: [(&str, &str); 4] = [(",", "commas"), (";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")];

/// The first complete lines of a file, without empty ones; `None` if the file can't be read.
fn sample(cx: &BuildContext<'_>, path: &str) -> Option<Vec<String>> {
    let mut bytes = Vec::new();
    cx.context.fs.open(Path::new(path)).ok()?.take(SAMPLE_MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let is_cut = bytes.len() as u64 == SAMPLE_MAX_BYTES;
    let whole = if is_cut { text.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { &text };
    Some(whole.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}

/// Whether an existing file is not text.
pub(super) fn is_binary(cx: &BuildContext<'_>, path: &str) -> bool {
    sample(cx, path).is_some_and(|lines| {
        let characters = || lines.iter().flat_map(|line| line.chars());
        let strange = characters().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
        characters().any(|c| c == '\0') || strange * 10 > characters().count()
    })
}

/// The column separator and its English name: one that is equally often on every line, else the usual one of the file's
/// extension, else white space; an error if the lines of a table differ.
pub(super) fn separator(cx: &BuildContext<'_>, source: &Query) -> Result<(Separator, &'static str), BuildError> {
    let path = if let Query::TextFile { path } = source { path.as_str() } else { "" };
    let usual = match path.to_ascii_lowercase().rsplit('.').next() {
        Some("csv") => Some((",", "commas")),
        Some("tsv") => Some(("\t", "tabs")),
        _ => None,
    };
    let lines = sample(cx, path).unwrap_or_default();
    let count = |line: &String, sign: &str| line.matches(sign).count();
    let is_on_each = |sign: &str| {
        lines.iter().all(|line| {
            count(line, sign) > 0 && Some(count(line, sign)) == lines.first().map(|first| count(first, sign))
        })
    };
    let fitting: Vec<_> = SEPARATORS.iter().filter(|(sign, _)| !lines.is_empty() && is_on_each(sign)).collect();
    let has_blanks = lines.iter().any(|line| line.trim().contains(' '));
    let is_plain = !lines.iter().any(|line| SEPARATORS.iter().any(|(sign, _)| line.contains(sign)));
    match (fitting.as_slice(), usual) {
        ([(sign, said)], Some(_)) => Ok((Separator::Text((*sign).to_owned()), said)),
        ([(sign, said)], None) if !has_blanks => Ok((Separator::Text((*sign).to_owned()), said)),
        (_, None) => Ok((Separator::Whitespace, "white space")),
        (_, Some((sign, said))) if is_plain => Ok((Separator::Text(sign.to_owned()), said)),
        _ => Err(BuildError::Incomplete(
            "what separates the columns (“separated by ';'”): the lines of this table differ",
        )),
    }
}

/// Checks that some line of a file has a column of this number.
pub(super) fn has_column(
    cx: &BuildContext<'_>,
    source: &Query,
    number: u64,
    separator: &Separator,
) -> Result<(), BuildError> {
    let Query::TextFile { path } = source else { return Ok(()) };
    let fields = |line: &String| match separator {
        Separator::Whitespace => line.split_whitespace().count(),
        Separator::Text(sign) => line.split(sign.as_str()).count(),
    };
    let count = sample(cx, path).and_then(|lines| lines.iter().map(fields).max()).unwrap_or(usize::MAX);
    let is_there = u64::try_from(count).is_ok_and(|count| number <= count);
    if is_there { Ok(()) } else { Err(BuildError::Fewer { name: path.clone(), count, what: "columns" }) }
}

/// The query for the rows of a table: its lines without the heading, and a condition in `keep` against empty lines;
/// other files are unchanged.
pub(super) fn rows(cx: &mut BuildContext<'_>, source: Query, keep: &mut Vec<Pred>) -> Result<Query, BuildError> {
    let Query::TextFile { path } = &source else { return Ok(source) };
    let lower = path.to_ascii_lowercase();
    if !lower.ends_with(".csv") && !lower.ends_with(".tsv") {
        return Ok(source);
    }
    let lines = sample(cx, path).unwrap_or_default();
    if lines.iter().any(|line| line.matches('"').count() % 2 == 1) {
        return Err(BuildError::Question {
            question: "the number of rows",
            of: "a table with line breaks in its fields",
        });
    }
    keep.push(Pred::Not(Box::new(Pred::Blank)));
    let is_number = |field: &str| field.trim_matches([' ', '"']).parse::<f64>().is_ok();
    if lines.first().is_some_and(|line| line.split([',', ';', '\t']).any(is_number)) {
        cx.notes.push("the first line holds a number, so it is a row and no heading".to_owned());
        return Ok(source);
    }
    cx.notes.push("the first line is a heading and not counted; nor are empty lines".to_owned());
    Ok(Query::Part { of: Box::new(source), part: Part::From(2) })
}
