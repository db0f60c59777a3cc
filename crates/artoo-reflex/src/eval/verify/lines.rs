//! Checks printed lines, groups and yes/no answers.

use std::collections::HashMap;
use std::path::Path;

use artoo_proto::escape;

use super::{Checked, ensure, fail, judged, shown};
use crate::algebra::{Query, Relation};
use crate::eval::{FileSystem, Line, text};

/// Checks that the output is a whole file, byte by byte; `None` if it differs or can't be read, to compare lines
/// instead.
pub(super) fn same_file(path: &str, output: &str, fs: &dyn FileSystem) -> Option<String> {
    let read = text::content(Path::new(path), fs).ok()?;
    let bare = |bytes: &[u8]| bytes.len() - usize::from(bytes.ends_with(b"\n"));
    let (read, printed) = (read.get(..bare(&read))?, output.as_bytes().get(..bare(output.as_bytes()))?);
    let count = read.split(|byte| *byte == b'\n').count();
    (!read.is_empty() && read == printed).then(|| format!("read again: the same {count} lines"))
}

/// Whether the output is exactly these lines; the lines are not copied for it.
fn is_exactly(expected: &[Line], printed: &str) -> bool {
    let mut rest = printed.as_bytes();
    let is_next = |(index, line): (usize, &Line)| {
        let behind = if index == 0 { Some(rest) } else { rest.strip_prefix(b"\n") };
        behind.and_then(|behind| behind.strip_prefix(line.shown().as_slice())).map(|left| rest = left).is_some()
    };
    expected.iter().enumerate().all(is_next) && rest.is_empty()
}

/// Checks that the output is these lines in this order.
pub(super) fn same(query: &Query, expected: &[Line], output: &str) -> Checked {
    // A path that contains a line break or similar would make the output ambiguous.
    let hostile = expected.iter().filter_map(|line| line.file.as_ref()).find(|file| {
        let bytes = file.as_os_str().as_encoded_bytes();
        std::str::from_utf8(bytes).map_or(true, |path| escape::one_line(path) != path)
    });
    if let Some(file) = hostile {
        let path = escape::path_line(file.as_os_str().as_encoded_bytes());
        return fail(format!("{path} can't be told apart in plain text"));
    }
    let (printed, count) = (output.strip_suffix('\n').unwrap_or(output), expected.len());
    if is_exactly(expected, printed) {
        return Ok(format!("read again: the same {count} lines"));
    }
    let bytes: Vec<Vec<u8>> = expected.iter().map(Line::shown).collect();
    let is_text = bytes.iter().all(|line| std::str::from_utf8(line).is_ok());
    // Bytes that are not UTF-8 appear in the output as replacement characters; the last newline may be missing.
    let expected: Vec<String> = bytes.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let text = expected.join("\n");
    if printed == text || printed == escape::visible(&text) {
        return Ok(format!("read again: the same {count} lines"));
    }
    // For content that is not text, the output has a last line that says so.
    let remark = printed.strip_prefix(&text).map(|rest| rest.strip_prefix('\n').unwrap_or(rest));
    let is_remark = |rest: &str| {
        let rest = rest.strip_prefix('\n').unwrap_or(rest);
        rest.starts_with("[not text: ") && !rest.contains('\n')
    };
    if !is_text && remark.is_some_and(is_remark) {
        return Ok(format!("read again: the same {count} lines, not all of it text"));
    }
    // A text that ends in empty lines may have lost more than one newline in the output.
    if !expected.is_empty() && printed.trim_end_matches('\n') == text.trim_end_matches('\n') {
        return Ok(format!("read again: the same {count} lines, up to empty ones at the end"));
    }
    // Archive programs differ in whether a folder's name ends in a slash.
    let bare = |text: &str| text.lines().map(|line| line.trim_end_matches('/').to_owned()).collect::<Vec<_>>();
    if matches!(query.source(), Query::ArchiveEntries { .. }) && bare(printed) == bare(&text) {
        return Ok(format!("read again: the same {count} entries"));
    }
    let different = printed.lines().zip(&expected).position(|(a, b)| a != b);
    let at = different.unwrap_or_else(|| count.min(printed.lines().count())) + 1;
    fail(format!("read again: {count} lines; the output differs from line {at} on"))
}

/// Checks the output's groups, printed as `number name` or `name<tab>number`, in the query's order.
pub(super) fn groups(expected: &[(Vec<u8>, u64)], output: &str) -> Checked {
    let mut names: HashMap<String, u64> = HashMap::new();
    for (name, number) in expected {
        let is_plain = std::str::from_utf8(name).is_ok_and(|name| escape::one_line(name) == name);
        let name = String::from_utf8_lossy(name).into_owned();
        if !is_plain || names.insert(name, *number).is_some() {
            return fail("a group's name can't be told apart in plain text");
        }
    }
    let mut printed: Vec<(Vec<u8>, u64)> = Vec::new();
    for line in output.lines() {
        let Some((name, number)) = group_line(line, &names) else {
            return fail(format!("{:?} is no group with its number", shown(line)));
        };
        ensure(names.get(name) == Some(&number), || format!("computed again: {:?} is not {number}", shown(name)))?;
        printed.push((name.as_bytes().to_vec(), number));
    }
    let count = expected.len();
    ensure(printed.len() == count, || format!("computed again: {count} groups; the output has {}", printed.len()))?;
    // Groups that are equal by the sort keys stay in the order of names, so only one order is right.
    ensure(printed == expected, || "the output is not in the order asked for".to_owned())?;
    Ok(format!("computed again: the same {count} groups"))
}

/// Parses an output line, `name<tab>number` with a known name or `number name`, into name and number; `None` for
/// another form.
fn group_line<'a>(line: &'a str, known: &HashMap<String, u64>) -> Option<(&'a str, u64)> {
    if let Some((name, number)) = line.rsplit_once('\t')
        && known.contains_key(name)
    {
        return Some((name, number.parse().ok()?));
    }
    let (number, name) = line.trim_start_matches(' ').split_once(' ')?;
    Some((name, number.parse().ok()?))
}

/// Checks that the output is the expected yes or no, or the sentence of `diff` about equal or different files.
pub(super) fn truth(query: &Query, expected: bool, output: &str) -> Checked {
    let printed = output.trim();
    if matches!(query, Query::Compare { relation: Relation::Told, .. }) {
        let holds =
            printed.starts_with("Files ") && printed.ends_with(if expected { " are identical" } else { " differ" });
        let truth = if expected { "they are the same" } else { "they are not the same" };
        return judged(holds, format!("compared again, byte by byte: {truth}"), "", output);
    }
    let answer = if expected { "yes" } else { "no" };
    judged(printed == answer, format!("computed again: {answer}"), "", output)
}
