//! `mdfind`: a person's own files by words, from Spotlight where it is installed, else from a walk over the names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::glob::{self, Kind, Needle, Walk};
use crate::input::{self, InputProblem};
use crate::limit::Limit;
use crate::paths::{self, PATH_MAX_BYTES, PathProblem};
use crate::process::Ended;
use crate::protect::Protected;
use crate::record::Record;

/// Longest query; words a person remembers of a name are few.
const QUERY_MAX_CHARS: usize = 500;

/// Matches listed when no limit is given: about what fits the output a model sees.
const LIMIT_DEFAULT: usize = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    query: String,
    root: Option<String>,
    kind: Option<Kind>,
    limit: Option<usize>,
}

/// A search by words, checked.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    words: Vec<String>,
    pub(crate) root: PathBuf,
    kind: Kind,
    limit: usize,
}

/// Why a search can't be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("root: {0}")]
    Root(#[from] PathProblem),
    #[error("the query has no words")]
    NoWords,
    #[error("the query starts with '-' or holds a control character; give words of the name")]
    NotWords,
}

impl Query {
    /// Reads and checks an input.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, QueryProblem> {
        let wire: Wire = input::parse(value)?;
        input::check_length("query", &wire.query, QUERY_MAX_CHARS)?;
        if wire.query.trim_start().starts_with('-') || wire.query.chars().any(char::is_control) {
            return Err(QueryProblem::NotWords);
        }
        let words: Vec<String> = wire.query.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(QueryProblem::NoWords);
        }
        let root = paths::absolute(environment, wire.root.as_deref().unwrap_or("~"))?;
        Ok(Self { words, root, kind: wire.kind.unwrap_or_default(), limit: wire.limit.unwrap_or(LIMIT_DEFAULT) })
    }

    /// Words and folder as one line.
    pub(crate) fn target(&self) -> String {
        format!("{} in {}", escape::one_line(&self.words.join(" ")), paths::line(&self.root))
    }

    /// Arguments for Spotlight; answers come NUL-separated, since a name may hold a line break.
    pub(crate) fn arguments(&self) -> Vec<std::ffi::OsString> {
        let words = self.words.join(" ");
        vec!["-0".into(), "-onlyin".into(), self.root.clone().into_os_string(), words.into()]
    }
}

/// Walks the folder and compares names: every word must occur in the name, letter case ignored.
pub(crate) fn walk(query: &Query, protected: &Protected, limit: &Limit) -> Record {
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
            let is_kind = entry.file_type().is_some_and(|kind| is_wanted(query.kind, kind));
            if is_kind && needles.iter().all(|needle| needle.is_in(&name)) {
                matches += 1;
                found.push(entry.path().to_path_buf());
                keep_first(&mut found, query.limit);
            }
        },
    );
    found.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    found.truncate(query.limit);
    let gap = walked.gap();
    let state = gap.as_ref().map_or("complete".to_owned(), |gap| format!("incomplete: {gap}"));
    let summary = format!(
        "[walked {} and {} folders below it, {state}; hidden names left out; {} of {matches} matches shown]",
        paths::line(&query.root),
        walked.folders,
        found.len(),
    );
    let text = with_summary(&found, &summary);
    match gap {
        Some(_) if walked.stopped => Record::cut(text),
        Some(_) if matches == 0 => Record::hindered(text),
        Some(_) | None => Record::read(text),
    }
}

/// Memory stays bounded: a list twice as long as needed is cut back to its first paths.
fn keep_first(found: &mut Vec<PathBuf>, limit: usize) {
    if found.len() > limit.saturating_mul(2).saturating_add(1000) {
        found.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
        found.truncate(limit);
    }
}

fn is_wanted(kind: Kind, found: std::fs::FileType) -> bool {
    match kind {
        Kind::File => found.is_file(),
        Kind::Folder => found.is_dir(),
        Kind::Any => true,
    }
}

/// Characters told of what a program said that gave no answer.
const SHOWN_CHARS: usize = 2_000;

/// The answer of Spotlight, in its own order.
pub(crate) fn from_index(query: &Query, protected: &Protected, ended: &Ended) -> Record {
    if let Some(problem) = ended.problem(SHOWN_CHARS) {
        return problem;
    }
    if ended.exit_code != Some(0) || !ended.stdout.is_whole() {
        return Record::hindered(format!("the index gave no complete answer: {}", ended.text(SHOWN_CHARS).0));
    }
    let listed: Vec<PathBuf> = ended
        .stdout
        .head()
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
        .filter(|path| path.starts_with(&query.root) && protected.refusal(path).is_none())
        .filter(|path| path.symlink_metadata().is_ok_and(|found| is_wanted(query.kind, found.file_type())))
        .collect();
    let shown = listed.get(..query.limit.min(listed.len())).unwrap_or_default();
    let summary = format!(
        "[from the Spotlight index below {}; what is not indexed is not found; {} of {} matches shown]",
        paths::line(&query.root),
        shown.len(),
        listed.len(),
    );
    Record::read(with_summary(shown, &summary))
}

fn with_summary(found: &[PathBuf], summary: &str) -> String {
    found.iter().map(|path| paths::line(path)).chain([summary.to_owned()]).collect::<Vec<_>>().join("\n")
}

/// The schema a model sees.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["query"],
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS,
                "description": "words that occur in the name, in any order"},
            "root": {"type": "string", "maxLength": PATH_MAX_BYTES, "description": "folder; default ~"},
            "kind": {"enum": ["file", "folder", "any"]},
            "limit": {"type": "integer", "minimum": 0}
        }
    })
}
