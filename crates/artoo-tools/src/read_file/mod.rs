//! `read_file`: reads a text file or some of its lines, or counts them.

mod lines;
mod tool;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::ToolConfig;
use crate::evidence::{EvidenceStore, ITEM_MAX_BYTES};
use crate::glob::Needle;
use crate::input;
use crate::limit::Limit;
use crate::open::{self, OpenProblem};
use crate::paths::{self, PATH_MAX_BYTES};
use crate::process::{Captured, REMARKS_CHARS};
use crate::protect::Protected;
use crate::record::Record;
use crate::suggest;
use crate::tool::Machine;

pub(crate) use lines::count;
use lines::{matching, some_lines};
pub(crate) use tool::ReadFile;

/// Bytes of a file that are held in memory, as many of its beginning as of its end; a record shows less.
const KEPT_BYTES: usize = 1024 * 1024;

/// Longest text to search lines for, in characters.
const MATCHING_MAX_CHARS: usize = 1000;

/// Which lines to read: a range, the first or the last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Lines {
    Range { from: u64, to: u64 },
    First { first: u64 },
    Last { last: u64 },
}

/// What `read_file` counts; there is only `lines`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Counted {
    Lines,
}

/// The input of `read_file` as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    path: String,
    lines: Option<Lines>,
    count: Option<Counted>,
    matching: Option<String>,
    ignore_case: Option<bool>,
}

/// What `read_file` is asked for: the whole file, some lines, their number, or matching lines.
#[derive(Debug)]
enum Wanted {
    Whole,
    Lines(Lines),
    Count,
    Matching { needle: Needle, count: bool },
}

/// A valid input of `read_file`.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) path: PathBuf,
    wanted: Wanted,
}

impl Reading {
    /// Parses the input of `read_file`; the error is the record that says what is wrong with it.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, Box<Record>> {
        let wire: Wire = input::parse(value)?;
        let path = input::path(environment, "path", &wire.path)?;
        if wire.ignore_case.is_some() && wire.matching.is_none() {
            return Err(input::unfit("ignore_case belongs to matching"));
        }
        let wanted = match (wire.lines, wire.count, wire.matching) {
            (None, None, None) => Wanted::Whole,
            (Some(Lines::Range { from, to }), None, None) if from == 0 || to < from => {
                return Err(input::unfit("lines are numbered from 1, and the first comes before the last"));
            }
            (Some(lines), None, None) => Wanted::Lines(lines),
            (None, Some(Counted::Lines), None) => Wanted::Count,
            (None, count, Some(text)) => {
                input::check_length("matching", &text, MATCHING_MAX_CHARS)?;
                if text.is_empty() {
                    return Err(input::unfit("the field matching is empty"));
                }
                let needle = Needle::new(&text, wire.ignore_case.unwrap_or(false));
                Wanted::Matching { needle, count: count.is_some() }
            }
            (Some(_), _, _) => {
                return Err(input::unfit("give lines, or count, or matching; only count and matching go together"));
            }
        };
        Ok(Self { path, wanted })
    }

    /// Why showing this file's content needs approval; `None` if it needs none, if all lines are only counted, or for a
    /// protected path, which is denied anyway.
    fn secret(&self, protected: &Protected) -> Option<String> {
        let is_shown = !matches!(self.wanted, Wanted::Count) && protected.refusal(&self.path).is_none();
        is_shown.then(|| protected.secret(&self.path)).flatten()
    }
}

/// Reads the file and returns the record.
pub(crate) fn run(reading: &Reading, Machine { config, protected, .. }: &Machine, limit: &Limit) -> Record {
    let path = &reading.path;
    if let Some(reason) = protected.refusal(path) {
        return Record::denied(&reason);
    }
    let file = match open::regular(path) {
        Ok(file) => file,
        Err(problem) => return unopened(path, &problem),
    };
    let result = match &reading.wanted {
        Wanted::Whole => record_whole_file(file, config),
        Wanted::Count => count(file, limit).map(|lines| match lines {
            Some(lines) => Record::read(lines.to_string()),
            None => Record::timed_out("the time was up before the last line was counted"),
        }),
        Wanted::Lines(lines) => some_lines(file, *lines, config, limit),
        Wanted::Matching { needle, count } => matching(file, needle, *count, config, limit),
    };
    result.unwrap_or_else(|error| Record::hindered(format!("{}: {error}", paths::line(path))))
}

/// The record of a `read_file` call whose file can't be opened, with the reason.
fn unopened(path: &Path, problem: &OpenProblem) -> Record {
    let reason = format!("{}: {problem}", paths::line(path));
    match problem {
        OpenProblem::NotRegular { .. } => Record::unusable(reason),
        OpenProblem::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            Record::hindered(format!("there is no {}", paths::line(path))).alternatives(suggest::alternatives(path))
        }
        OpenProblem::Io(_) => Record::hindered(reason),
    }
}

/// Records the beginning and the end of a file, and stores it as evidence, without its middle if it is too large for
/// the evidence store.
fn record_whole_file(mut file: File, config: &ToolConfig) -> io::Result<Record> {
    let mut captured = captured(config);
    captured.read((&mut file).take(ITEM_MAX_BYTES))?;
    // The middle of a file too large for the evidence store is skipped.
    let left = file.metadata()?.len().saturating_sub(captured.total());
    let skipped = left.saturating_sub(KEPT_BYTES as u64);
    captured.skip(skipped);
    file.seek(SeekFrom::Current(i64::try_from(skipped).unwrap_or(i64::MAX)))?;
    captured.read(file.take(ITEM_MAX_BYTES))?;
    Ok(recorded(captured, config))
}

/// A capture for a file's text, which also stores it as evidence while it is read, if there is an evidence store.
fn captured(config: &ToolConfig) -> Captured {
    Captured::new(KEPT_BYTES).with_spill(config.evidence.as_ref().map(EvidenceStore::spill))
}

/// The record of a text that `read_file` captured and stored, shortened if it is too long.
fn recorded(mut captured: Captured, config: &ToolConfig) -> Record {
    let kept = captured.keep("output").into_iter().collect();
    let max_chars = config.output_max_chars;
    let (text, truncated) = match captured.text(max_chars) {
        (_, true) => captured.text(max_chars - REMARKS_CHARS.min(max_chars / 4)),
        all => all,
    };
    Record { output_bytes: Some(captured.total()), truncated, kept, ..Record::read(text) }
}

/// The JSON schema of `read_file`'s input.
pub(crate) fn schema() -> Value {
    let number = json!({"type": "integer", "minimum": 1});
    let one = |name: &str| input::schema(&[name], json!({name: {"type": "integer", "minimum": 0}}));
    let range = input::schema(&["from", "to"], json!({"from": number, "to": number}));
    input::schema(
        &["path"],
        json!({
            "path": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES},
            "lines": {"oneOf": [range, one("first"), one("last")]},
            "count": {"enum": ["lines"], "description": "how many lines; with matching: how many of those"},
            "matching": {"type": "string", "minLength": 1, "maxLength": MATCHING_MAX_CHARS,
                "description": "only lines that hold this text, letter by letter"},
            "ignore_case": {"type": "boolean"}
        }),
    )
}
