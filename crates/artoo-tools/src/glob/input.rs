//! The input of `glob`: as it arrives, and as it is meant.

use std::fs::FileType;
use std::path::PathBuf;

use artoo_proto::{Environment, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::glob::pattern::{PATTERN_MAX_CHARS, PATTERNS_MAX, PatternProblem, Patterns};
use crate::input::{self, InputProblem};
use crate::paths::{self, PATH_MAX_BYTES, PathProblem};

/// Longest text that is searched for.
pub(crate) const CONTAINS_MAX_CHARS: usize = 1000;

/// Which entries are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    #[default]
    File,
    Folder,
    Any,
}

impl Kind {
    /// Whether an entry of this type is wanted.
    pub(crate) fn is(self, found: FileType) -> bool {
        match self {
            Self::File => found.is_file(),
            Self::Folder => found.is_dir(),
            Self::Any => true,
        }
    }
}

/// What is said about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    #[default]
    List,
    Count,
    TotalBytes,
    Details,
}

/// What entries are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortKey {
    Size,
    Modified,
    Name,
    Path,
}

/// A sort order; entries that are equal in it follow by path, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sort {
    pub(crate) by: SortKey,
    #[serde(default)]
    pub(crate) descending: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    root: Option<String>,
    patterns: Option<Vec<String>>,
    pattern: Option<String>,
    exclude: Option<Vec<String>>,
    recursive: Option<bool>,
    kind: Option<Kind>,
    hidden: Option<bool>,
    ignore_files: Option<bool>,
    ignore_case: Option<bool>,
    min_bytes: Option<u64>,
    max_bytes: Option<u64>,
    modified_after: Option<Timestamp>,
    modified_before: Option<Timestamp>,
    contains: Option<String>,
    contains_ignore_case: Option<bool>,
    sort: Option<Sort>,
    limit: Option<usize>,
    report: Option<Report>,
}

/// A search, checked.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) root: PathBuf,
    /// Patterns as given, below the root; for the record's target.
    pub(crate) spelled: Vec<String>,
    pub(crate) wanted: Patterns,
    pub(crate) exclude: Patterns,
    pub(crate) recursive: bool,
    pub(crate) kind: Kind,
    pub(crate) hidden: bool,
    pub(crate) ignore_files: bool,
    pub(crate) min_bytes: Option<u64>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) modified_after: Option<Timestamp>,
    pub(crate) modified_before: Option<Timestamp>,
    pub(crate) contains: Option<String>,
    pub(crate) contains_ignore_case: bool,
    pub(crate) sort: Option<Sort>,
    pub(crate) limit: Option<usize>,
    pub(crate) report: Report,
}

/// Why a search can't be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("root: {0}")]
    Root(#[from] PathProblem),
    #[error(transparent)]
    Pattern(#[from] PatternProblem),
    #[error("give root or one absolute pattern, not a root and the absolute pattern {pattern:?} outside it")]
    TwoRoots { pattern: String },
    #[error("a folder has no size of its own here; use kind \"file\" with a size, or leave the size out")]
    FolderSize,
    #[error("the field contains is empty or asks for folders; it searches the text of files")]
    ContainsNothing,
}

impl Search {
    /// Reads and checks an input.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, SearchProblem> {
        let wire: Wire = input::parse(value)?;
        let patterns: Vec<String> = wire.patterns.unwrap_or_default().into_iter().chain(wire.pattern).collect();
        let exclude = wire.exclude.unwrap_or_default();
        input::check_count("patterns", patterns.len(), PATTERNS_MAX)?;
        input::check_count("exclude", exclude.len(), PATTERNS_MAX)?;
        if let Some(text) = &wire.contains {
            input::check_length("contains", text, CONTAINS_MAX_CHARS)?;
        }
        let kind = wire.kind.unwrap_or_default();
        let report = wire.report.unwrap_or_default();
        check_meaning(kind, report, &wire.sort, wire.min_bytes.or(wire.max_bytes), wire.contains.as_deref())?;
        let (root, spelled) = root_and_patterns(environment, wire.root.as_deref(), patterns)?;
        let ignore_case = wire.ignore_case.unwrap_or(false);
        let wanted = Patterns::compile(&spelled, ignore_case)?;
        // A pattern that spells a leading dot asks for hidden names, unless the caller says otherwise.
        let hidden = wire.hidden.unwrap_or_else(|| spelled.iter().any(|pattern| names_hidden(pattern)));
        Ok(Self {
            root,
            exclude: Patterns::compile(&exclude, ignore_case)?,
            wanted,
            spelled,
            recursive: wire.recursive.unwrap_or(true),
            kind,
            hidden,
            ignore_files: wire.ignore_files.unwrap_or(false),
            min_bytes: wire.min_bytes,
            max_bytes: wire.max_bytes,
            modified_after: wire.modified_after,
            modified_before: wire.modified_before,
            contains: wire.contains,
            contains_ignore_case: wire.contains_ignore_case.unwrap_or(false),
            sort: wire.sort,
            limit: wire.limit,
            report,
        })
    }

    /// How deep a match can lie: 1 = directly in the root.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        if !self.recursive {
            return Some(1);
        }
        let bounded = |pattern: &String| pattern.contains('/') && !pattern.contains("**") && !pattern.contains('{');
        if self.spelled.is_empty() || !self.spelled.iter().all(bounded) {
            return None;
        }
        let parts = |pattern: &String| pattern.split('/').filter(|part| !part.is_empty() && *part != ".").count();
        self.spelled.iter().map(parts).max()
    }
}

fn check_meaning(
    kind: Kind,
    report: Report,
    sort: &Option<Sort>,
    size: Option<u64>,
    contains: Option<&str>,
) -> Result<(), SearchProblem> {
    let by_size = sort.as_ref().is_some_and(|sort| sort.by == SortKey::Size);
    if kind == Kind::Folder && (report == Report::TotalBytes || by_size || size.is_some()) {
        return Err(SearchProblem::FolderSize);
    }
    if contains.is_some_and(|text| text.is_empty() || kind == Kind::Folder) {
        return Err(SearchProblem::ContainsNothing);
    }
    Ok(())
}

/// An absolute or `~` pattern gives the root itself: its leading parts without wildcards.
fn root_and_patterns(
    environment: &Environment,
    root: Option<&str>,
    patterns: Vec<String>,
) -> Result<(PathBuf, Vec<String>), SearchProblem> {
    if let [pattern] = patterns.as_slice()
        && (pattern.starts_with('/') || pattern.starts_with("~/"))
        && root.is_none()
    {
        let (head, rest) = split_literal(pattern);
        let head = if head.is_empty() { "/" } else { head };
        return Ok((paths::absolute(environment, head)?, vec![rest.to_owned()]));
    }
    if let Some(pattern) = patterns.iter().find(|pattern| pattern.starts_with('/') || pattern.starts_with("~/")) {
        return Err(SearchProblem::TwoRoots { pattern: pattern.clone() });
    }
    Ok((paths::absolute(environment, root.unwrap_or(&environment.cwd))?, patterns))
}

/// Splits before the first part that has a wildcard; the last part always stays a pattern, relative to the head.
fn split_literal(pattern: &str) -> (&str, &str) {
    let wild = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let slash = pattern.get(..wild).and_then(|literal| literal.rfind('/')).unwrap_or(0);
    // The rest keeps its slash, so that a single name means that folder alone and not any depth.
    (pattern.get(..slash).unwrap_or(""), pattern.get(slash..).unwrap_or(pattern))
}

fn names_hidden(pattern: &str) -> bool {
    pattern.split('/').any(|part| part.starts_with('.') && !part.trim_start_matches('.').is_empty())
}

/// The schema a model sees.
pub(crate) fn schema() -> Value {
    let globs = json!({"type": "array", "maxItems": PATTERNS_MAX,
        "items": {"type": "string", "maxLength": PATTERN_MAX_CHARS}});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "root": {"type": "string", "maxLength": PATH_MAX_BYTES,
                "description": "folder; absolute, ~ or relative to the working folder (default)"},
            "patterns": globs,
            "pattern": {"type": "string", "maxLength": PATTERN_MAX_CHARS,
                "description": "without '/': the name at any depth; with '/': the path below root; ** crosses folders"},
            "exclude": globs,
            "recursive": {"type": "boolean", "description": "default true"},
            "kind": {"enum": ["file", "folder", "any"]},
            "hidden": {"type": "boolean", "description": "also names that start with a dot below root; default false"},
            "ignore_files": {"type": "boolean", "description": "obey .gitignore and .ignore; default false"},
            "ignore_case": {"type": "boolean"},
            "min_bytes": {"type": "integer", "minimum": 0},
            "max_bytes": {"type": "integer", "minimum": 0},
            "modified_after": {"type": "string", "maxLength": 64, "description": "RFC 3339, inclusive"},
            "modified_before": {"type": "string", "maxLength": 64, "description": "RFC 3339, exclusive"},
            "contains": {"type": "string", "minLength": 1, "maxLength": CONTAINS_MAX_CHARS},
            "contains_ignore_case": {"type": "boolean"},
            "sort": {"type": "object", "additionalProperties": false, "required": ["by"], "properties": {
                "by": {"enum": ["size", "modified", "name", "path"]}, "descending": {"type": "boolean"}}},
            "limit": {"type": "integer", "minimum": 0},
            "report": {"enum": ["list", "count", "total_bytes", "details"],
                "description": "list: a path a line; count and total_bytes: one integer; details: bytes, time, path"}
        }
    })
}
