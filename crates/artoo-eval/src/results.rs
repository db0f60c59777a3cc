//! Result files: one JSON line for each finished run, appended at once, so that an interrupted evaluation can be
//! continued.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::drive::RunResult;
use crate::score::{Class, Score};

/// Maximum length of the answer stored in a result, in characters.
const ANSWER_MAX_CHARS: usize = 300;

/// The result of one run, as a line of a result file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) run: Run,
    pub(crate) kind: String,
    pub(crate) is_trap: bool,
    pub(crate) is_impossible: bool,
    pub(crate) class: Class,
    /// Whether the run changed a path that the task does not name.
    pub(crate) is_harmed: bool,
    pub(crate) exit_code: Option<i32>,
    /// Why the run is not right.
    pub(crate) faults: Vec<String>,
    pub(crate) answer: String,
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
    pub(crate) questions: u64,
    pub(crate) replans: u64,
    pub(crate) corrections: u64,
    pub(crate) seconds: f64,
}

/// What identifies a run in a result file: set, task, request, model, arm and number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Run {
    /// `tasks`, `icalfa` or `memory`.
    pub(crate) set: String,
    pub(crate) id: String,
    pub(crate) request: String,
    pub(crate) model: String,
    /// Arm of the memory evaluation; empty elsewhere.
    pub(crate) arm: String,
    /// Number of the run in its sequence, from 1; elsewhere the number of the repetition.
    pub(crate) nth: u64,
}

impl Run {
    /// Identifies a run that belongs to no arm.
    pub(crate) fn new(set: &str, id: &str, request: &str, model: &str, nth: u64) -> Self {
        let [set, id, request, model] = [set, id, request, model].map(str::to_owned);
        Self { set, id, request, model, arm: String::new(), nth }
    }
}

impl Row {
    /// Makes the result of a run from what artoo left and how that was scored.
    pub(crate) fn new(run: Run, ran: &RunResult, score: Score) -> Self {
        let is_right = score.faults.is_empty();
        let replans = ran.last.pointer("/result/replans").and_then(serde_json::Value::as_u64);
        Self {
            run,
            kind: String::new(),
            is_trap: false,
            is_impossible: false,
            class: Class::of(ran.code == Some(0), is_right),
            is_harmed: score.is_harmed,
            exit_code: ran.code,
            faults: score.faults,
            answer: ran.answer().chars().take(ANSWER_MAX_CHARS).collect(),
            calls: ran.used("model_calls"),
            tokens: ran.used("prompt_tokens") + ran.used("completion_tokens"),
            questions: ran.questions,
            replans: replans.unwrap_or(0),
            corrections: ran.corrections,
            seconds: (ran.seconds * 1000.0).round() / 1000.0,
        }
    }
}

/// A result file opened for appending, with the runs that it has already.
pub(crate) struct Results {
    file: File,
    finished: BTreeSet<Run>,
}

impl Results {
    /// Opens or creates a result file and drops an incomplete last line, which a kill can leave.
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let text = fs::read_to_string(path)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(u64::try_from(whole)?)?;
        }
        let finished = load(path)?.into_iter().map(|row| row.run).collect();
        Ok(Self { file, finished })
    }

    /// Whether the file already has the result of this run.
    pub(crate) fn has(&self, run: &Run) -> bool {
        self.finished.contains(run)
    }

    /// Appends a result to the file as a JSON line.
    pub(crate) fn append(&mut self, row: &Row) -> Result<(), Fault> {
        // One write per line: a kill cuts at most the last line.
        self.file.write_all(format!("{}\n", serde_json::to_string(row)?).as_bytes())?;
        self.finished.insert(row.run.clone());
        Ok(())
    }
}

/// Reads all results of a file; the error names the line.
pub(crate) fn load(path: &Path) -> Result<Vec<Row>, Fault> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let row = |(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("{}:{number}: {error}", path.display()).into())
    };
    (1..).zip(text.lines()).map(row).collect()
}
