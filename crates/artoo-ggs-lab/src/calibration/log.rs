//! Reads logs of real tasks, which a program recorded with `artoo_ggs::Controller::record`.
//!
//! A log is JSON, one value a line: an [`artoo_ggs::LogHeader`], then an [`artoo_ggs::LogEntry`] for each call. A
//! header may come again, for instance before each task. A line `{"judged":{"task":KEY,"utility":NUMBER}}` after a
//! task's last round states what its result was worth, found by a person or a later check. Without that line the
//! controller's own ending counts, which can't know of false deliveries; [`Logs::unjudged`] counts such tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artoo_ggs::{ControllerCall, LogEntry, LogHeader, Outcome, Profile};

use super::off_policy::{LoggedTask, decided};
use crate::micros;
use crate::simulation::{Ending, Utility};

/// The key of a logged task: any JSON value, as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(from = "serde_json::Value")]
pub struct TaskKey(String);

impl From<serde_json::Value> for TaskKey {
    fn from(key: serde_json::Value) -> Self {
        Self(key.to_string())
    }
}

/// The tasks of one or more logs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Logs {
    /// The tasks that have ended.
    pub tasks: Vec<LoggedTask<TaskKey>>,
    /// Number of those tasks whose utility is that of the controller's own ending.
    pub unjudged: usize,
    /// Number of tasks without an end, which are left out.
    pub unfinished: usize,
    /// Number of last lines that were cut off, which are left out.
    pub cut: usize,
    /// The profiles that decided, without duplicates.
    pub profiles: Vec<Profile>,
}

/// The error of a log that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file or folder can't be read.
    #[error("{path:?} can't be read")]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line is no header, entry or judgement, or comes before the first header.
    #[error("{path:?}, line {number}: {reason}")]
    Line {
        /// The path of the log.
        path: PathBuf,
        /// The line's number, from 1.
        number: usize,
        /// What is wrong with the line.
        reason: String,
    },
}

/// One line of a log: a header with the profile, a call of the controller, or a judgement of a task.
enum Line {
    Header(Box<LogHeader>),
    Entry(Box<LogEntry<TaskKey>>),
    Judged(TaskKey, f64),
}

/// A log line with somebody's judgement of a task: its utility.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Judged {
    task: TaskKey,
    utility: f64,
}

impl Line {
    /// Parses a log line; the fields it has decide its kind, so that an error is about the right type.
    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut value: serde_json::Value = serde_json::from_str(text)?;
        if let Some(judged) = value.get_mut("judged") {
            let Judged { task, utility } = serde_json::from_value(judged.take())?;
            return Ok(Self::Judged(task, utility));
        }
        // From the text, so that numbers come back exactly.
        if value.get("event").is_some() {
            serde_json::from_str(text).map(|entry| Self::Entry(Box::new(entry)))
        } else {
            serde_json::from_str(text).map(|header| Self::Header(Box::new(header)))
        }
    }
}

/// A task of a log that is being read: its entries and its judgement so far.
#[derive(Default)]
struct Open {
    records: Vec<LogEntry<TaskKey>>,
    utility: Option<f64>,
}

/// Reads a log, or every file of a folder whose name ends in `.jsonl`, in the order of the names. `utility` values the
/// endings of tasks without a judgement.
///
/// # Errors
/// [`LogError`] if a file can't be read, or a line other than a cut last one is not valid.
pub fn read(path: &Path, utility: &Utility) -> Result<Logs, LogError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| LogError::Io { path, source }
    };
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(io(path))?;
        files =
            entries.into_iter().map(|entry| entry.path()).filter(|p| p.extension() == Some("jsonl".as_ref())).collect();
        files.sort();
    }
    let mut logs = Logs::default();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(io(&file))?;
        read_file(&text, &mut logs, utility).map_err(|(number, reason)| LogError::Line {
            path: file,
            number,
            reason,
        })?;
    }
    Ok(logs)
}

/// Adds the tasks of one log file, whose text is given; the error is a line number and a text.
fn read_file(text: &str, logs: &mut Logs, utility: &Utility) -> Result<(), (usize, String)> {
    let mut open: BTreeMap<TaskKey, Open> = BTreeMap::new();
    // The places of the tasks that ended without a judgement.
    let mut closed: BTreeMap<TaskKey, usize> = BTreeMap::new();
    let mut has_header = false;
    let last = text.lines().count();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        match Line::parse(line) {
            Ok(Line::Header(header)) => {
                close(std::mem::take(&mut open), logs, &mut closed, utility);
                has_header = true;
                let profile = header.into_profile();
                if !logs.profiles.contains(&profile) {
                    logs.profiles.push(profile);
                }
            }
            Ok(Line::Entry(_) | Line::Judged(..)) if !has_header => return Err((number, "no header before it".into())),
            Ok(Line::Entry(entry)) => match key(&entry.event.call) {
                Some(key) => open.entry(key.clone()).or_default().records.push(*entry),
                None => open.values_mut().for_each(|task| task.records.push((*entry).clone())),
            },
            Ok(Line::Judged(key, utility)) if utility.is_finite() => {
                // A program may judge a task of an earlier header, or one of which it logged no decision.
                if let Some(task) = open.get_mut(&key) {
                    task.utility = Some(utility);
                } else if let Some(task) = closed.remove(&key).and_then(|at| logs.tasks.get_mut(at)) {
                    task.utility = utility;
                    logs.unjudged = logs.unjudged.saturating_sub(1);
                }
            }
            Ok(Line::Judged(..)) => return Err((number, "the utility is not a finite number".into())),
            Err(_) if number == last && !text.ends_with('\n') => logs.cut += 1,
            Err(error) => return Err((number, error.to_string())),
        }
    }
    close(open, logs, &mut closed, utility);
    Ok(())
}

/// The key of the task that a controller call is about; `None` for a call about no task.
fn key(call: &ControllerCall<TaskKey>) -> Option<&TaskKey> {
    match call {
        ControllerCall::Begin(task)
        | ControllerCall::Pause(task)
        | ControllerCall::Resume(task)
        | ControllerCall::Release(task)
        | ControllerCall::End(task)
        | ControllerCall::Observe { task, .. }
        | ControllerCall::Stop { task, .. } => Some(task),
        ControllerCall::EvictEnded { .. } | ControllerCall::Rebase | _ => None,
    }
}

/// At a header or the end of a log file, adds the tasks read before it to the result, or counts them as unfinished.
fn close(open: BTreeMap<TaskKey, Open>, logs: &mut Logs, closed: &mut BTreeMap<TaskKey, usize>, utility: &Utility) {
    for (key, Open { records, utility: judged }) in open {
        let Some(ended) = own_utility(&records, utility) else {
            logs.unfinished += 1;
            continue;
        };
        if judged.is_none() {
            logs.unjudged += 1;
            closed.insert(key, logs.tasks.len());
        }
        logs.tasks.push(LoggedTask { records, utility: judged.unwrap_or(ended) });
    }
}

/// The utility of the ending on which the controller decided in a task; `None` if it decided on none.
fn own_utility(records: &[LogEntry<TaskKey>], utility: &Utility) -> Option<f64> {
    let mut decisions = records.iter().filter_map(|record| decided(&record.reply).map(|decision| (record, decision)));
    let (last, decision) = decisions.next_back().filter(|(_, decision)| decision.is_terminal())?;
    let ending = match decision.outcome {
        Outcome::Accept => Ending::Full,
        Outcome::Success(_) => Ending::Partial { worth_micros: micros(1.0 - decision.loss.d.value()) },
        Outcome::Abandon(_) | Outcome::Replan(_) => Ending::Nothing,
    };
    let began_ms = records.first().map_or(0, |first| first.event.at_ms);
    let micros = utility.micros(ending, decision.round as usize + 1, last.event.at_ms.saturating_sub(began_ms));
    Some(micros as f64 / 1e6)
}
