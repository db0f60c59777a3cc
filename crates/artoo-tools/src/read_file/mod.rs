//! `read_file`: a text file, some of its lines, the lines with a text in them, or how many there are.

mod lines;
mod tool;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::glob::Needle;
use crate::input::{self, InputProblem};
use crate::limit::Limit;
use crate::open::{self, OpenProblem};
use crate::paths::{self, PATH_MAX_BYTES, PathProblem};
use crate::protect::Protected;
use crate::record::Record;
use crate::{nearby, text};

pub(crate) use lines::count;
use lines::{matching, some_lines};
pub(crate) use tool::ReadFile;

/// Bytes of text kept in memory at each end; far more than a record shows.
const KEPT_BYTES: u64 = 1024 * 1024;

/// Longest text that lines are searched for.
const MATCHING_MAX_CHARS: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Lines {
    Range { from: u64, to: u64 },
    First { first: u64 },
    Last { last: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Counted {
    Lines,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    path: String,
    lines: Option<Lines>,
    count: Option<Counted>,
    matching: Option<String>,
    ignore_case: Option<bool>,
}

#[derive(Debug)]
enum Wanted {
    Whole,
    Lines(Lines),
    Count,
    Matching { needle: Needle, count: bool },
}

/// What is to be read, checked.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) path: PathBuf,
    wanted: Wanted,
    /// Why a person is asked before its content is shown.
    secret: Option<String>,
}

/// Why nothing can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadingProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("path: {0}")]
    Path(#[from] PathProblem),
    #[error("give lines, or count, or matching; only count and matching go together")]
    TooMuch,
    #[error("lines are numbered from 1, and the first comes before the last")]
    Lines,
    #[error("the field matching is empty")]
    MatchesAll,
    #[error("ignore_case belongs to matching")]
    CaseOfWhat,
}

impl Reading {
    /// Reads and checks an input.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, ReadingProblem> {
        let wire: Wire = input::parse(value)?;
        let path = paths::absolute(environment, &wire.path)?;
        if wire.ignore_case.is_some() && wire.matching.is_none() {
            return Err(ReadingProblem::CaseOfWhat);
        }
        let wanted = match (wire.lines, wire.count, wire.matching) {
            (None, None, None) => Wanted::Whole,
            (Some(Lines::Range { from, to }), None, None) if from == 0 || to < from => {
                return Err(ReadingProblem::Lines);
            }
            (Some(lines), None, None) => Wanted::Lines(lines),
            (None, Some(Counted::Lines), None) => Wanted::Count,
            (None, count, Some(text)) => {
                input::check_length("matching", &text, MATCHING_MAX_CHARS)?;
                if text.is_empty() {
                    return Err(ReadingProblem::MatchesAll);
                }
                let needle = Needle::new(&text, wire.ignore_case.unwrap_or(false));
                Wanted::Matching { needle, count: count.is_some() }
            }
            (Some(_), _, _) => return Err(ReadingProblem::TooMuch),
        };
        Ok(Self { path, wanted, secret: None })
    }

    /// Looks whether a person is to be asked first. How many lines there are tells nothing.
    fn looked_at(mut self, protected: &Protected) -> Self {
        let is_shown = !matches!(self.wanted, Wanted::Count) && protected.refusal(&self.path).is_none();
        self.secret = is_shown.then(|| protected.secret(&self.path)).flatten();
        self
    }
}

/// Reads it.
pub(crate) fn run(reading: &Reading, protected: &Protected, limit: &Limit) -> Record {
    let path = &reading.path;
    if let Some(reason) = protected.refusal(path) {
        return Record::denied(&reason);
    }
    let file = match open::regular(path) {
        Ok(file) => file,
        Err(problem) => return unopened(path, &problem),
    };
    let result = match &reading.wanted {
        Wanted::Whole => whole(file),
        Wanted::Count => count(file, limit).map(|lines| match lines {
            Some(lines) => Record::read(lines.to_string()),
            None => Record::timed_out("the time was up before the last line was counted"),
        }),
        Wanted::Lines(lines) => some_lines(file, *lines, limit),
        Wanted::Matching { needle, count } => matching(file, needle, *count, limit),
    };
    result.unwrap_or_else(|error| Record::hindered(format!("{}: {error}", paths::line(path))))
}

fn unopened(path: &Path, problem: &OpenProblem) -> Record {
    let reason = format!("{}: {problem}", paths::line(path));
    match problem {
        OpenProblem::NotRegular { .. } => Record::unusable(reason),
        OpenProblem::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            Record::hindered(reason).alternatives(nearby::alternatives(path))
        }
        OpenProblem::Io(_) => Record::hindered(reason),
    }
}

/// Head and tail of the file, and all of it where both together are the file.
fn whole(mut file: File) -> io::Result<Record> {
    let mut head = Vec::new();
    (&mut file).take(2 * KEPT_BYTES).read_to_end(&mut head)?;
    let size = file.metadata()?.len();
    let read = u64::try_from(head.len()).unwrap_or(u64::MAX);
    if read < 2 * KEPT_BYTES || size <= read {
        return Ok(Record { output_bytes: Some(read), ..Record::read(text::from_bytes(&head)) });
    }
    file.seek(SeekFrom::Start(size.saturating_sub(KEPT_BYTES).max(read)))?;
    let mut tail = Vec::new();
    file.take(KEPT_BYTES).read_to_end(&mut tail)?;
    let kept = read.saturating_add(u64::try_from(tail.len()).unwrap_or(u64::MAX));
    let joined = text::with_gap(&head, size.saturating_sub(kept), &tail);
    Ok(Record { output_bytes: Some(size), truncated: true, ..Record::read(joined) })
}

/// The schema a model sees.
pub(crate) fn schema() -> Value {
    let number = json!({"type": "integer", "minimum": 1});
    let one = |name: &str| {
        json!({"type": "object", "additionalProperties": false, "required": [name],
            "properties": {name: {"type": "integer", "minimum": 0}}})
    };
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["path"],
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES},
            "lines": {"oneOf": [
                {"type": "object", "additionalProperties": false, "required": ["from", "to"],
                    "properties": {"from": number, "to": number}},
                one("first"), one("last")]},
            "count": {"enum": ["lines"], "description": "how many lines; with matching: how many of those"},
            "matching": {"type": "string", "minLength": 1, "maxLength": MATCHING_MAX_CHARS,
                "description": "only lines that hold this text, letter by letter"},
            "ignore_case": {"type": "boolean"}
        }
    })
}
