//! The input of `glob`.

use std::fs::FileType;
use std::path::PathBuf;

use artoo_proto::{Environment, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::glob::pattern::{PATTERN_MAX_CHARS, PATTERNS_MAX, Patterns};
use crate::input;
use crate::paths::PATH_MAX_BYTES;
use crate::record::Record;

/// Longest text to search for in files, in characters.
const CONTAINS_MAX_CHARS: usize = 1000;

/// The kind of entries to find: files, folders or any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    #[default]
    File,
    Folder,
    Any,
}

impl Kind {
    /// Whether a file type is of this kind; a symlink is only of the kind `Any`.
    pub(crate) fn is(self, found: FileType) -> bool {
        match self {
            Self::File => found.is_file(),
            Self::Folder => found.is_dir(),
            Self::Any => true,
        }
    }
}

/// The form of `glob`'s answer: a list, a number, a total size, or a list with sizes and times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    #[default]
    List,
    Count,
    TotalBytes,
    Details,
}

/// What `glob`'s matches are sorted by: size, time, name or path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortKey {
    Size,
    Modified,
    Name,
    Path,
}

/// A sort order of `glob`'s matches; equal entries are sorted by path, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sort {
    pub(crate) by: SortKey,
    #[serde(default)]
    pub(crate) descending: bool,
}

/// The fields of `glob`'s input.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    root: Option<String>,
    #[serde(default)]
    patterns: Vec<String>,
    pattern: Option<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default = "yes")]
    pub(crate) recursive: bool,
    #[serde(default)]
    pub(crate) kind: Kind,
    hidden: Option<bool>,
    #[serde(default)]
    pub(crate) ignore_files: bool,
    #[serde(default)]
    ignore_case: bool,
    pub(crate) min_bytes: Option<u64>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) modified_after: Option<Timestamp>,
    pub(crate) modified_before: Option<Timestamp>,
    pub(crate) contains: Option<String>,
    #[serde(default)]
    pub(crate) contains_ignore_case: bool,
    pub(crate) sort: Option<Sort>,
    pub(crate) limit: Option<usize>,
    #[serde(default)]
    pub(crate) report: Report,
}

/// `true`, as the default of fields that are missing.
fn yes() -> bool {
    true
}

/// A valid input of `glob`.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) root: PathBuf,
    /// The patterns as given, relative to the root.
    pub(crate) spelled: Vec<String>,
    pub(crate) wanted: Patterns,
    pub(crate) exclude: Patterns,
    pub(crate) hidden: bool,
    pub(crate) filter: Filter,
}

impl Search {
    /// Parses the input of `glob`.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, Box<Record>> {
        let mut filter: Filter = input::parse(value)?;
        let mut patterns = std::mem::take(&mut filter.patterns);
        patterns.extend(filter.pattern.take());
        input::check_count("patterns", patterns.len(), PATTERNS_MAX)?;
        input::check_count("exclude", filter.exclude.len(), PATTERNS_MAX)?;
        input::check_length("contains", filter.contains.as_deref().unwrap_or_default(), CONTAINS_MAX_CHARS)?;
        filter.check()?;
        let (root, spelled) = root_and_patterns(environment, filter.root.as_deref(), patterns)?;
        Ok(Self {
            root,
            exclude: Patterns::compile(&filter.exclude, filter.ignore_case)?,
            wanted: Patterns::compile(&spelled, filter.ignore_case)?,
            // A pattern with a leading dot finds hidden names, unless `hidden` is given.
            hidden: filter.hidden.unwrap_or_else(|| spelled.iter().any(|pattern| names_hidden(pattern))),
            spelled,
            filter,
        })
    }

    /// The maximum depth of a match; 1 is directly in the root, `None` any depth.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        if !self.filter.recursive {
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

impl Filter {
    /// Rejects fields that contradict each other.
    fn check(&self) -> Result<(), Box<Record>> {
        let by_size = self.sort.is_some_and(|sort| sort.by == SortKey::Size);
        let has_size = by_size || self.report == Report::TotalBytes || self.min_bytes.or(self.max_bytes).is_some();
        if self.kind == Kind::Folder && has_size {
            let reason = "a folder has no size of its own here; use kind \"file\" with a size, or leave the size out";
            return Err(input::unfit(reason));
        }
        if self.contains.as_ref().is_some_and(|text| text.is_empty() || self.kind == Kind::Folder) {
            return Err(input::unfit("the field contains is empty or asks for folders; it searches the text of files"));
        }
        Ok(())
    }
}

/// The folder to search, and the patterns relative to it. The parts of an absolute pattern before its first wildcard
/// belong to the folder.
fn root_and_patterns(
    environment: &Environment,
    root: Option<&str>,
    patterns: Vec<String>,
) -> Result<(PathBuf, Vec<String>), Box<Record>> {
    if let [pattern] = patterns.as_slice()
        && (pattern.starts_with('/') || pattern.starts_with("~/"))
        && root.is_none()
    {
        let (head, rest) = split_literal(pattern);
        let head = if head.is_empty() { "/" } else { head };
        return Ok((input::path(environment, "root", head)?, vec![rest.to_owned()]));
    }
    if let Some(pattern) = patterns.iter().find(|pattern| pattern.starts_with('/') || pattern.starts_with("~/")) {
        let reason = format!("not a root and the absolute pattern {pattern:?} outside it");
        return Err(input::unfit(format!("give root or one absolute pattern, {reason}")));
    }
    Ok((input::path(environment, "root", root.unwrap_or(&environment.cwd))?, patterns))
}

/// Splits a glob pattern into the folders before its first wildcard, and the rest with its leading slash.
fn split_literal(pattern: &str) -> (&str, &str) {
    let wild = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let slash = pattern.get(..wild).and_then(|literal| literal.rfind('/')).unwrap_or(0);
    // The rest keeps its slash, so that a single name matches in that folder alone.
    (pattern.get(..slash).unwrap_or(""), pattern.get(slash..).unwrap_or(pattern))
}

/// Whether a glob pattern names hidden files, because one of its parts begins with a dot (other than `.` and `..`).
fn names_hidden(pattern: &str) -> bool {
    pattern.split('/').any(|part| part.starts_with('.') && !part.trim_start_matches('.').is_empty())
}

/// The JSON schema of `glob`'s input.
pub(crate) fn schema() -> Value {
    let globs = json!({"type": "array", "maxItems": PATTERNS_MAX,
        "items": {"type": "string", "maxLength": PATTERN_MAX_CHARS}});
    input::schema(
        &[],
        json!({
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
        }),
    )
}
