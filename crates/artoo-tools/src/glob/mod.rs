//! `glob`: finds files and folders by name, size, time and content, and counts them.

mod content;
mod input;
mod pattern;
mod tool;
mod walk;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artoo_proto::Timestamp;
use ignore::DirEntry;

pub(crate) use content::Needle;
pub(crate) use input::{Kind, Search, schema};
pub(crate) use tool::Glob;
pub(crate) use walk::{Walk, Walked};

use crate::glob::input::{Filter, Report, SortKey};
use crate::limit::Limit;
use crate::open;
use crate::protect::Protected;
use crate::record::Record;
use crate::{paths, suggest};

/// Maximum number of matches that a list may have; beyond it the search needs a limit.
const KEPT_MAX: usize = 200_000;

/// A match of a search: path, size and time.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    name: OsString,
    bytes: u64,
    /// Nanoseconds since 1970.
    modified_ns: i128,
}

/// The matches so far, with their number and size.
#[derive(Debug, Default)]
struct Collected {
    found: Vec<Found>,
    count: u64,
    bytes: u64,
    overflowed: bool,
}

/// Runs a search of `glob` and returns its record.
pub(crate) fn run(search: Search, protected: &Protected, limit: &Limit) -> Record {
    if let Some(refused) = unusable_root(&search.root, protected) {
        return refused;
    }
    let search = Arc::new(search);
    let filter = &search.filter;
    let needle = filter.contains.as_deref().map(|text| Needle::new(text, filter.contains_ignore_case));
    let mut collected = Collected::default();
    let walk = Walk {
        root: &search.root,
        max_depth: search.max_depth(),
        hidden: search.hidden,
        ignore_files: filter.ignore_files,
    };
    let excluding = Arc::clone(&search);
    let walked = walk.run(
        limit,
        move |below, name| !excluding.exclude.matches(below, name),
        |entry, walked| match judge(&search, needle.as_ref(), entry, protected, limit, walked) {
            Ok(Some(found)) => collected.add(filter, found),
            Ok(None) => {}
            Err(problem) => walked.count_unreadable(&problem),
        },
    );
    collected.sort_and_limit(filter);
    report(filter, collected, &walked)
}

/// The record of a search whose root is protected, missing or no folder; `None` if it can be searched.
pub(crate) fn unusable_root(root: &Path, protected: &Protected) -> Option<Record> {
    if let Some(reason) = protected.refusal(root) {
        return Some(Record::denied(&reason));
    }
    match fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some(Record::hindered(format!("{} is not a folder", paths::line(root)))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let missing = Record::hindered(format!("there is no {}", paths::line(root)));
            Some(missing.alternatives(suggest::alternatives(root)))
        }
        Err(error) => Some(Record::hindered(format!("{}: {error}", paths::line(root)))),
    }
}

/// The match, if a visited entry matches the search; `None` if not, or if its content may hold secrets, which is noted
/// in `walked`. `Err` is the path that could not be read, with the reason.
fn judge(
    search: &Search,
    needle: Option<&Needle>,
    entry: &DirEntry,
    protected: &Protected,
    limit: &Limit,
    walked: &mut Walked,
) -> Result<Option<Found>, String> {
    let Some(kind) = entry.file_type() else { return Ok(None) };
    let below = entry.path().strip_prefix(&search.root).unwrap_or(entry.path());
    if !search.filter.kind.is(kind) || !(search.wanted.is_empty() || search.wanted.matches(below, entry.file_name())) {
        return Ok(None);
    }
    // Read again by the path, since the metadata of the entry may be cached from the start of the walk.
    let metadata = match fs::symlink_metadata(entry.path()) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", paths::line(entry.path()))),
    };
    let found = Found {
        path: entry.path().to_path_buf(),
        name: entry.file_name().to_owned(),
        bytes: if kind.is_file() { metadata.len() } else { 0 },
        modified_ns: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
    };
    if !matches_filter(&search.filter, &found, kind.is_file()) {
        return Ok(None);
    }
    match needle {
        None => Ok(Some(found)),
        Some(_) if !kind.is_file() => Ok(None),
        Some(_) if protected.refusal(&found.path).is_none() && protected.secret(&found.path).is_some() => {
            walked.left_out.push(found.path);
            Ok(None)
        }
        Some(needle) => Ok(holds(needle, &found.path, protected, limit)?.then_some(found)),
    }
}

/// Whether a found entry has a size and a time of change within the limits of the filter.
fn matches_filter(filter: &Filter, found: &Found, is_file: bool) -> bool {
    let size_asked = filter.min_bytes.is_some() || filter.max_bytes.is_some();
    let modified = modified(found);
    (is_file || !size_asked)
        && filter.min_bytes.is_none_or(|min| found.bytes >= min)
        && filter.max_bytes.is_none_or(|max| found.bytes <= max)
        && filter.modified_after.is_none_or(|after| modified >= after)
        && filter.modified_before.is_none_or(|before| modified < before)
}

/// The modification time of a match as a timestamp, to the millisecond.
fn modified(found: &Found) -> Timestamp {
    Timestamp::from_millis(i64::try_from(found.modified_ns.div_euclid(1_000_000)).unwrap_or(i64::MAX))
}

/// Whether a file contains the searched text; an error if the file is protected, can't be read or takes too long.
fn holds(needle: &Needle, path: &Path, protected: &Protected, limit: &Limit) -> Result<bool, String> {
    if let Some(reason) = protected.refusal(path) {
        return Err(reason);
    }
    let describe = |problem: &dyn std::fmt::Display| format!("{}: {problem}", paths::line(path));
    let mut file = open::regular(path).map_err(|problem| describe(&problem))?;
    let found = needle.is_in_file(&mut file, limit).map_err(|error| describe(&error))?;
    found.ok_or_else(|| describe(&"the time was up while it was read"))
}

impl Collected {
    /// Adds a match to the list, or only counts it if no list is asked for.
    fn add(&mut self, filter: &Filter, found: Found) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(found.bytes);
        let only_sums = matches!(filter.report, Report::Count | Report::TotalBytes) && filter.limit.is_none();
        if only_sums {
            return;
        }
        self.found.push(found);
        if self.found.len() < KEPT_MAX {
            return;
        }
        if filter.limit.is_some_and(|limit| limit <= KEPT_MAX / 2) {
            // Only the first matches are needed, so a long list is cut to them.
            self.sort_and_limit(filter);
        } else {
            self.overflowed = true;
            self.found.pop();
        }
    }

    /// Sorts the matches as the filter says and drops those beyond its limit.
    fn sort_and_limit(&mut self, filter: &Filter) {
        self.found.sort_by(|a, b| {
            let by_path = a.path.as_os_str().cmp(b.path.as_os_str());
            let Some(sort) = filter.sort else { return by_path };
            let order = match sort.by {
                SortKey::Size => a.bytes.cmp(&b.bytes),
                SortKey::Modified => a.modified_ns.cmp(&b.modified_ns),
                SortKey::Name => a.name.cmp(&b.name),
                SortKey::Path => by_path,
            };
            let order = if sort.descending { order.reverse() } else { order };
            order.then(by_path)
        });
        if let Some(limit) = filter.limit {
            self.found.truncate(limit);
        }
    }
}

/// The record of a search. An incomplete list is marked as incomplete; it is a failure if a path could not be read, and
/// an incomplete number always is.
fn report(filter: &Filter, collected: Collected, walked: &Walked) -> Record {
    let overflow = || format!("more than {KEPT_MAX} entries match; give a limit or ask for a count");
    let gap = walked.missing_part().or_else(|| collected.overflowed.then(overflow));
    let (count, total) = match filter.limit {
        None => (collected.count, collected.bytes),
        Some(_) => (
            u64::try_from(collected.found.len()).unwrap_or(u64::MAX),
            collected.found.iter().map(|found| found.bytes).fold(0, u64::saturating_add),
        ),
    };
    let (text, is_number) = match filter.report {
        Report::Count => (count.to_string(), true),
        Report::TotalBytes => (total.to_string(), true),
        Report::List => (lines(&collected.found, |found| paths::line(&found.path)), false),
        Report::Details => (
            lines(&collected.found, |found| {
                format!("{}\t{}\t{}", found.bytes, modified(found), paths::line(&found.path))
            }),
            false,
        ),
    };
    match gap {
        None => Record::read(text),
        Some(gap) if is_number && walked.stopped => {
            Record::timed_out(format!("incomplete: {gap}; at least {text} up to there"))
        }
        Some(gap) if is_number => Record::hindered(format!("incomplete: {gap}; at least {text} without that")),
        Some(gap) if walked.stopped || collected.overflowed || walked.all_read() => {
            Record::cut(format!("incomplete: {gap}\n{text}"))
        }
        Some(gap) => Record::hindered(format!("incomplete: {gap}\n{text}")),
    }
}

/// The list of matches as text, one line for each.
fn lines(found: &[Found], line: impl Fn(&Found) -> String) -> String {
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}
