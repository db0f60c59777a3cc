//! `mdfind`: finds the user's files by words, in an index or by walking the folder.

mod index;
mod tool;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::glob::{self, Kind, Needle, Walk};
use crate::input;
use crate::limit::Limit;
use crate::paths::{self, PATH_MAX_BYTES};
use crate::process::Ended;
use crate::protect::Protected;
use crate::record::Record;

use index::Index;
pub(crate) use tool::Mdfind;

/// Longest query of `mdfind`, in characters.
const QUERY_MAX_CHARS: usize = 500;

/// Maximum number of matches without a limit in the input.
const LIMIT_DEFAULT: usize = 50;

/// The input of `mdfind` as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    query: String,
    root: Option<String>,
    kind: Option<Kind>,
    limit: Option<usize>,
}

/// A valid input of `mdfind`.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    words: Vec<String>,
    pub(crate) root: PathBuf,
    kind: Kind,
    limit: usize,
}

impl Query {
    /// Parses the input of `mdfind`.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, Box<Record>> {
        let wire: Wire = input::parse(value)?;
        input::check_length("query", &wire.query, QUERY_MAX_CHARS)?;
        if wire.query.trim_start().starts_with('-') || wire.query.chars().any(char::is_control) {
            return Err(input::unfit("the query starts with '-' or holds a control character; give words of the name"));
        }
        let words: Vec<String> = wire.query.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(input::unfit("the query has no words"));
        }
        let root = input::path(environment, "root", wire.root.as_deref().unwrap_or("~"))?;
        Ok(Self { words, root, kind: wire.kind.unwrap_or_default(), limit: wire.limit.unwrap_or(LIMIT_DEFAULT) })
    }
}

/// Searches the folder for names that contain every word, in any letter case and without an index; `silent`: why
/// indexes gave no answer, for the record.
pub(crate) fn walk(query: &Query, protected: &Protected, silent: &[String], limit: &Limit) -> Record {
    if let Some(refused) = glob::unusable_root(&query.root, protected) {
        return refused;
    }
    let needles: Vec<Needle> = query.words.iter().map(|word| Needle::new(word, true)).collect();
    let mut found: Vec<PathBuf> = Vec::new();
    let mut matches: u64 = 0;
    let walk = Walk { root: &query.root, max_depth: None, hidden: false, ignore_files: false };
    let walked = walk.run(
        limit,
        |_: &Path, _: &OsStr| true,
        |entry, _| {
            let name = entry.file_name().to_string_lossy();
            let is_kind = entry.file_type().is_some_and(|kind| query.kind.is(kind));
            if is_kind && needles.iter().all(|needle| needle.is_in(&name)) {
                matches += 1;
                found.push(entry.path().to_path_buf());
                keep_first(&mut found, query.limit);
            }
        },
    );
    found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    found.truncate(query.limit);
    let missing_part = walked.missing_part();
    let state = missing_part.as_ref().map_or("complete".to_owned(), |part| format!("incomplete: {part}"));
    let summary = format!(
        "[walked {} and {} folders below it, {state}; hidden names left out; {} of {matches} matches shown{}]",
        paths::line(&query.root),
        walked.folders,
        found.len(),
        notes_of_indexes(silent),
    );
    let text = with_summary(&found, &summary);
    match missing_part {
        Some(_) if walked.stopped => Record::cut(text),
        Some(_) if matches == 0 => Record::hindered(text),
        Some(_) | None => Record::read(text),
    }
}

/// Cuts a list of found paths that is much longer than the limit to its first ones.
fn keep_first(found: &mut Vec<PathBuf>, limit: usize) {
    if found.len() > limit.saturating_mul(2).saturating_add(1000) {
        found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        found.truncate(limit);
    }
}

/// The record of an index's matches below the folder; `None` if there are none, since files may be missing in the
/// index, `Err` if its answer is not complete.
pub(crate) fn from_index(
    query: &Query,
    protected: &Protected,
    index: &Index,
    ended: &Ended,
    silent: &[String],
) -> Result<Option<Record>, String> {
    let listed: Vec<PathBuf> = index
        .paths(ended)?
        .into_iter()
        .filter(|path| path.starts_with(&query.root) && protected.refusal(path).is_none())
        .filter(|path| path.symlink_metadata().is_ok_and(|found| query.kind.is(found.file_type())))
        .collect();
    if listed.is_empty() {
        return Ok(None);
    }
    let shown = listed.get(..query.limit.min(listed.len())).unwrap_or_default();
    let summary = format!(
        "[from {} below {}; {}; {} of {} matches shown{}]",
        index.name(),
        paths::line(&query.root),
        index.completeness_note(std::time::SystemTime::now()),
        shown.len(),
        listed.len(),
        notes_of_indexes(silent),
    );
    Ok(Some(Record::read(with_summary(shown, &summary))))
}

/// The reasons why other indexes gave no answer, as part of the record's summary.
fn notes_of_indexes(silent: &[String]) -> String {
    silent.iter().map(|why| format!("; {why}")).collect()
}

/// The found paths, one a line, with a summary as the last line.
fn with_summary(found: &[PathBuf], summary: &str) -> String {
    found.iter().map(|path| paths::line(path)).chain([summary.to_owned()]).collect::<Vec<_>>().join("\n")
}

/// The JSON schema of `mdfind`'s input.
pub(crate) fn schema() -> Value {
    input::schema(
        &["query"],
        json!({
            "query": {"type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS,
                "description": "words that occur in the name, in any order"},
            "root": {"type": "string", "maxLength": PATH_MAX_BYTES, "description": "folder; default ~"},
            "kind": {"enum": ["file", "folder", "any"]},
            "limit": {"type": "integer", "minimum": 0}
        }),
    )
}
