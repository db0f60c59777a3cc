//! Checks lists of files and of their properties.

use std::collections::{HashMap, HashSet};

use artoo_proto::{Timestamp, escape};

use super::{SHOWN, Verification};
use crate::algebra::{Field, Layers, Pred, Query};
use crate::eval::files::{compare, totals};
use crate::eval::{Answer, Entry, EntryKind, EvalError, FileSystem, Row, evaluate, pred};

/// The entries by the spelling of their path in a tool's output: escaped as typed tools do, or raw if unambiguous.
struct Spellings<'a>(HashMap<String, Option<&'a Entry>>);

impl<'a> Spellings<'a> {
    /// The table of the spellings of these entries' paths.
    fn of(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut known: HashMap<String, Option<&'a Entry>> = HashMap::new();
        let mut add = |spelling: String, entry: &'a Entry| {
            // A spelling that two different files share means neither.
            let slot = known.entry(spelling).or_insert(Some(entry));
            if slot.is_some_and(|other| other.path != entry.path) {
                *slot = None;
            }
        };
        for entry in entries {
            add(entry.shown(), entry);
            if let Ok(raw) = std::str::from_utf8(entry.path_bytes())
                && escape::one_line(raw) == raw
            {
                add(raw.to_owned(), entry);
            }
        }
        Self(known)
    }

    /// The entry that a path in the output means, or a failed check if there is none or more than one.
    fn get(&self, spelling: &str) -> Result<&'a Entry, Verification> {
        let shown = || escape::shorten(&escape::one_line(spelling), 200);
        match self.0.get(spelling) {
            Some(Some(entry)) => Ok(entry),
            Some(None) => Err(Verification::fail(format!("{} could be either of two files", shown()))),
            None => Err(Verification::fail(format!("{} is listed and does not belong", shown()))),
        }
    }
}

/// Checks that the output is the list of files that the query selects.
pub(super) fn listed(query: &Query, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let details_of = if let Query::Details { of } = query { Some(of.as_ref()) } else { None };
    let layers = details_of.unwrap_or(query).layers();
    let Answer::Files(members) = evaluate(layers.members, fs)? else { return Err(EvalError::Meaningless) };
    let spellings = Spellings::of(members.iter());
    let mut shown: Vec<&Entry> = Vec::new();
    for line in output.lines().filter(|line| !line.is_empty()) {
        let read = if details_of.is_some() { details(line) } else { Some((None, line)) };
        let Some((facts, path)) = read else {
            return Ok(Verification::fail("a line of the output is not size, time and path"));
        };
        let entry = match spellings.get(path) {
            Ok(entry) => entry,
            Err(failure) => return Ok(failure),
        };
        // Only regular files have a meaningful length; tools differ for other entries.
        let same_size = |bytes| entry.kind != EntryKind::File || entry.bytes == bytes;
        if facts.is_some_and(|(bytes, modified)| !same_size(bytes) || !same_second(entry.modified, modified)) {
            return Ok(Verification::fail(format!("size or time of {} is not what was read again", entry.shown())));
        }
        if let Some(problem) = broken_condition(layers.members, entry, fs)? {
            return Ok(Verification::fail(format!("{}: {problem}", entry.shown())));
        }
        shown.push(entry);
    }
    complete(&layers, &members, &shown, fs)
}

/// Checks that the output has no duplicates, lacks no selected file, and is sorted as the query says.
fn complete(
    layers: &Layers<'_>,
    members: &[Entry],
    shown: &[&Entry],
    fs: &dyn FileSystem,
) -> Result<Verification, EvalError> {
    let distinct: HashSet<&[u8]> = shown.iter().map(|entry| entry.path_bytes()).collect();
    if distinct.len() < shown.len() {
        return Ok(Verification::fail("an element is listed twice"));
    }
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (skip, count) = layers.stretch.map_or((0, usize::MAX), |(skip, count)| (size(skip), size(count)));
    let wanted = members.len().saturating_sub(skip).min(count);
    let missing: Vec<&Entry> = members.iter().filter(|entry| !distinct.contains(entry.path_bytes())).collect();
    if shown.len() != wanted {
        let names: Vec<String> = missing.iter().take(SHOWN).map(|entry| entry.shown()).collect();
        return Ok(Verification::fail(format!(
            "found again: {wanted}; the output lists {}; not listed: {}",
            shown.len(),
            names.join(", ")
        )));
    }
    if !layers.keys.is_empty() {
        let totals = totals(members, layers.keys, fs)?;
        let goes_before = |a: &Entry, b: &Entry| compare(layers.keys, a, b, &totals).is_lt();
        if shown.windows(2).any(|pair| matches!(pair, [a, b] if goes_before(b, a))) {
            return Ok(Verification::fail("the output is not in the order asked for"));
        }
        if let (Some(first), Some(last)) = (shown.first(), shown.last()) {
            let better = missing.iter().filter(|entry| goes_before(entry, last)).count();
            let earlier = missing.iter().filter(|entry| goes_before(entry, first)).count();
            let worse = missing.iter().filter(|entry| goes_before(first, entry)).count();
            if better > skip || earlier > skip || missing.len() - worse < skip {
                return Ok(Verification::fail("others come before those that are listed and are left out"));
            }
        }
    } else if layers.stretch.is_some() {
        // Without a sort order, the first elements are the first by path.
        let expected = members.iter().skip(skip).take(count);
        if !expected.eq(shown.iter().copied()) {
            return Ok(Verification::fail("these are not the first in the order of paths"));
        }
    }
    Ok(Verification::pass(match layers.stretch {
        Some((0, _)) => format!("found again: the same first {wanted} of {}", members.len()),
        Some((skip, _)) => format!("found again: the same {wanted} after the first {skip} of {}", members.len()),
        None => format!("found again: the same {wanted}"),
    }))
}

/// Reads a listed entry again and tests it; the reason why it doesn't satisfy the query, or `None` if it does.
fn broken_condition(members: &Query, entry: &Entry, fs: &dyn FileSystem) -> Result<Option<&'static str>, EvalError> {
    let Ok(current) = fs.metadata(&entry.path) else { return Ok(Some("is no longer there")) };
    let always = Pred::All(Vec::new());
    let keep = if let Query::Filter { keep, .. } = members { keep } else { &always };
    let holds = pred::FileTest::new(keep, members, fs)?.holds(keep, &current);
    Ok((!holds).then_some("does not satisfy the conditions when read again"))
}

/// Parses an output line `bytes<TAB>time<TAB>path`.
fn details(line: &str) -> Option<(Option<(u64, Timestamp)>, &str)> {
    let (bytes, rest) = line.split_once('\t')?;
    let (modified, path) = rest.split_once('\t')?;
    Some((Some((bytes.parse().ok()?, moment(modified)?)), path))
}

/// Parses a time as the typed tools print it, or as `stat` prints it in UTC.
fn moment(said: &str) -> Option<Timestamp> {
    match said.strip_suffix(" +0000") {
        Some(said) => {
            let whole = said.split('.').next().unwrap_or(said).replacen(' ', "T", 1);
            Timestamp::parse(&format!("{whole}Z")).ok()
        }
        None => Timestamp::parse(said).ok(),
    }
}

/// Whether two times are equal to the second.
fn same_second(a: Timestamp, b: Timestamp) -> bool {
    a.as_millis().div_euclid(1000) == b.as_millis().div_euclid(1000)
}

/// Checks that the output lists one property of each file correctly.
pub(super) fn rows(query: &Query, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let Answer::Rows(expected) = evaluate(query, fs)? else { return Err(EvalError::Meaningless) };
    let field = if let Query::Field { field, .. } = query { *field } else { Field::Sha256 };
    let spellings = Spellings::of(expected.iter().map(|row| &row.of));
    let by_path: HashMap<&[u8], &Row> = expected.iter().map(|row| (row.of.path_bytes(), row)).collect();
    let mut shown: Vec<&Row> = Vec::new();
    for line in output.lines() {
        let Some((value, path)) = row(field, line) else {
            return Ok(Verification::fail(format!("{:?} is no property with its file", super::shown(line))));
        };
        let row = match spellings.get(path).map(|entry| by_path.get(entry.path_bytes())) {
            Ok(Some(row)) => row,
            Ok(None) => return Err(EvalError::Meaningless),
            Err(failure) => return Ok(failure),
        };
        if !same_value(field, &row.value, value) {
            let (path, value) = (row.of.shown(), super::shown(value));
            return Ok(Verification::fail(format!("read again, {path} has {}, not {value:?}", row.value)));
        }
        shown.push(row);
    }
    let distinct: HashSet<&[u8]> = shown.iter().map(|row| row.of.path_bytes()).collect();
    if distinct.len() < shown.len() || shown.len() < expected.len() {
        return Ok(Verification::fail(format!("read again: {} files; the output has {}", expected.len(), shown.len())));
    }
    if !shown.iter().copied().eq(expected.iter()) {
        return Ok(Verification::fail("the output is not in the order asked for"));
    }
    Ok(Verification::pass(format!("read again: the same {} values", expected.len())))
}

/// Splits an output line into the property's value and the path.
fn row(field: Field, line: &str) -> Option<(&str, &str)> {
    match field {
        Field::Sha256 | Field::Sha1 | Field::Md5 => line.split_once("  "),
        Field::Lines => line.rsplit_once(':').map(|(path, value)| (value, path)),
        Field::Words => line.trim_start_matches(' ').split_once(' '),
        Field::FileType | Field::Permissions | Field::Owner | Field::Modified | Field::TotalSize => {
            line.split_once('\t')
        }
    }
}

/// Whether a printed property equals the expected one.
fn same_value(field: Field, expected: &str, said: &str) -> bool {
    if field != Field::Modified {
        return expected == said;
    }
    match (moment(expected), moment(said)) {
        (Some(expected), Some(said)) => same_second(expected, said),
        _ => false,
    }
}
