//! Checks printed lists of files and of their properties.

use std::collections::{HashMap, HashSet};

use artoo_proto::{Timestamp, escape};

use super::{Checked, SHOWN, ensure, fail};
use crate::algebra::{Field, Layers, Query};
use crate::eval::files::{compare, totals};
use crate::eval::{Answer, Entry, EntryKind, EvalError, FileSystem, Row, evaluate, pred};

/// A table from the ways a path can be printed by a tool (escaped, or raw if unambiguous) to its entry.
struct Spellings<'a>(HashMap<String, Option<&'a Entry>>);

impl<'a> Spellings<'a> {
    /// The table of the ways in which the paths of these entries can be printed.
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

    /// The entry that a printed path means; a failed check if there is none or more than one.
    fn get(&self, spelling: &str) -> Checked<&'a Entry> {
        let shown = || escape::shorten(&escape::one_line(spelling), 200);
        match self.0.get(spelling) {
            Some(Some(entry)) => Ok(entry),
            Some(None) => fail(format!("{} could be either of two files", shown())),
            None => fail(format!("{} is listed and does not belong", shown())),
        }
    }
}

/// Checks that the output is the list of files that the query selects.
pub(super) fn listed(query: &Query, output: &str, fs: &dyn FileSystem) -> Checked {
    let details_of = if let Query::Details { of } = query { Some(of.as_ref()) } else { None };
    let layers = details_of.unwrap_or(query).layers();
    let Answer::Files(members) = evaluate(layers.members, fs)? else { return Err(EvalError::Meaningless.into()) };
    let spellings = Spellings::of(members.iter());
    let mut shown: Vec<&Entry> = Vec::new();
    for line in output.lines().filter(|line| !line.is_empty()) {
        let read = if details_of.is_some() { details(line) } else { Some((None, line)) };
        let Some((facts, path)) = read else { return fail("a line of the output is not size, time and path") };
        let entry = spellings.get(path)?;
        // Only regular files have a meaningful length; tools differ for other entries.
        let same_size = |bytes| entry.kind != EntryKind::File || entry.bytes == bytes;
        let is_same = |(bytes, modified)| same_size(bytes) && same_second(entry.modified, modified);
        ensure(facts.is_none_or(is_same), || format!("size or time of {} is not what was read again", entry.shown()))?;
        test_again(layers.members, entry, fs)?;
        shown.push(entry);
    }
    complete(&layers, &members, &shown, fs)
}

/// Checks that a printed list has no duplicates, lacks no selected file, and is sorted as the query says.
fn complete(layers: &Layers<'_>, members: &[Entry], shown: &[&Entry], fs: &dyn FileSystem) -> Checked {
    let distinct: HashSet<&[u8]> = shown.iter().map(|entry| entry.path_bytes()).collect();
    ensure(distinct.len() == shown.len(), || "an element is listed twice".to_owned())?;
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (skip, count) = layers.limit.map_or((0, usize::MAX), |(skip, count)| (size(skip), size(count)));
    let wanted = members.len().saturating_sub(skip).min(count);
    let missing: Vec<&Entry> = members.iter().filter(|entry| !distinct.contains(entry.path_bytes())).collect();
    ensure(shown.len() == wanted, || {
        let names: Vec<String> = missing.iter().take(SHOWN).map(|entry| entry.shown()).collect();
        let names = names.join(", ");
        format!("found again: {wanted}; the output lists {}; not listed: {names}", shown.len())
    })?;
    if !layers.keys.is_empty() {
        let totals = totals(members, layers.keys, fs)?;
        let goes_before = |a: &Entry, b: &Entry| compare(layers.keys, a, b, &totals).is_lt();
        let is_sorted = shown.is_sorted_by(|a, b| !goes_before(b, a));
        ensure(is_sorted, || "the output is not in the order asked for".to_owned())?;
        if let (Some(first), Some(last)) = (shown.first(), shown.last()) {
            let better = missing.iter().filter(|entry| goes_before(entry, last)).count();
            let earlier = missing.iter().filter(|entry| goes_before(entry, first)).count();
            let worse = missing.iter().filter(|entry| goes_before(first, entry)).count();
            let is_first = better <= skip && earlier <= skip && missing.len() - worse >= skip;
            ensure(is_first, || "others come before those that are listed and are left out".to_owned())?;
        }
    } else if layers.limit.is_some() {
        // Without a sort order, the first elements are the first by path.
        let is_first = members.iter().skip(skip).take(count).eq(shown.iter().copied());
        ensure(is_first, || "these are not the first in the order of paths".to_owned())?;
    }
    Ok(match layers.limit {
        Some((0, _)) => format!("found again: the same first {wanted} of {}", members.len()),
        Some((skip, _)) => format!("found again: the same {wanted} after the first {skip} of {}", members.len()),
        None => format!("found again: the same {wanted}"),
    })
}

/// Reads a listed entry again and checks that it satisfies the query's conditions.
fn test_again(members: &Query, entry: &Entry, fs: &dyn FileSystem) -> Checked<()> {
    let Ok(current) = fs.metadata(&entry.path) else { return fail(format!("{}: is no longer there", entry.shown())) };
    let Query::Filter { keep, .. } = members else { return Ok(()) };
    let holds = pred::FileTest::new(keep, members, fs)?.holds(keep, &current);
    ensure(holds, || format!("{}: does not satisfy the conditions when read again", entry.shown()))
}

/// Parses an output line `bytes<TAB>time<TAB>path` into size, time and path.
fn details(line: &str) -> Option<(Option<(u64, Timestamp)>, &str)> {
    let (bytes, rest) = line.split_once('\t')?;
    let (modified, path) = rest.split_once('\t')?;
    Some((Some((bytes.parse().ok()?, moment(modified)?)), path))
}

/// Parses a time as the typed tools print it, or as `stat` prints it in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let Some(utc) = text.strip_suffix(" +0000") else { return Timestamp::parse(text).ok() };
    let whole = utc.split('.').next().unwrap_or(utc).replacen(' ', "T", 1);
    Timestamp::parse(&format!("{whole}Z")).ok()
}

/// Whether two times are equal to the second.
fn same_second(a: Timestamp, b: Timestamp) -> bool {
    a.as_millis().div_euclid(1000) == b.as_millis().div_euclid(1000)
}

/// Checks that a tool's output lists one property of each file of a query correctly.
pub(super) fn rows(query: &Query, output: &str, fs: &dyn FileSystem) -> Checked {
    let Answer::Rows(expected) = evaluate(query, fs)? else { return Err(EvalError::Meaningless.into()) };
    let field = if let Query::Field { field, .. } = query { *field } else { Field::Sha256 };
    let spellings = Spellings::of(expected.iter().map(|row| &row.of));
    let by_path: HashMap<&[u8], &Row> = expected.iter().map(|row| (row.of.path_bytes(), row)).collect();
    let mut shown: Vec<&Row> = Vec::new();
    for line in output.lines() {
        let Some((value, path)) = row(field, line) else {
            return fail(format!("{:?} is no property with its file", super::shown(line)));
        };
        let entry = spellings.get(path)?;
        let row = by_path.get(entry.path_bytes()).ok_or(EvalError::Meaningless)?;
        ensure(same_value(field, &row.value, value), || {
            format!("read again, {} has {}, not {:?}", row.of.shown(), row.value, super::shown(value))
        })?;
        shown.push(row);
    }
    let distinct: HashSet<&[u8]> = shown.iter().map(|row| row.of.path_bytes()).collect();
    ensure(distinct.len() == shown.len() && shown.len() >= expected.len(), || {
        format!("read again: {} files; the output has {}", expected.len(), shown.len())
    })?;
    let is_in_order = shown.iter().copied().eq(expected.iter());
    ensure(is_in_order, || "the output is not in the order asked for".to_owned())?;
    Ok(format!("read again: the same {} values", expected.len()))
}

/// Splits an output line into the property and the path.
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
fn same_value(field: Field, expected: &str, printed: &str) -> bool {
    if field != Field::Modified {
        return expected == printed;
    }
    moment(expected).zip(moment(printed)).is_some_and(|(expected, printed)| same_second(expected, printed))
}
