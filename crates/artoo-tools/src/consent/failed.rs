//! Calls of a task that failed, so that the same is not done again while nothing has changed.
//!
//! A failed call may be made again when something may have removed its cause: a call of the task has changed something
//! since, what it names looks different on the disk, or, where the machine was at fault and the cause can't be seen (a
//! network, a full disk, a slow one), some time has passed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, EffectClass, ToolRequest};
use serde_json::Value;

use crate::record::Record;

/// After this long a cause that can't be seen may be gone.
const WEATHER: Duration = Duration::from_secs(30);

/// Failed calls remembered of one task; a task makes far fewer.
const FAILED_MAX: usize = 512;

/// What makes two calls the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey(String);

impl CallKey {
    /// The tool with its input, blanks around and between the words of a command left aside where they mean nothing.
    pub(crate) fn of(request: &ToolRequest) -> Self {
        let mut input = request.input.clone();
        if let Some(Value::String(command)) = input.get_mut("command") {
            *command = single_spaced(command);
        }
        Self(format!("{} {input}", request.tool))
    }
}

/// Runs of blanks outside quotes as one space; a line break stays, since it ends a command.
fn single_spaced(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut quote: Option<char> = None;
    let mut chars = command.trim().chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ' | '\t') if out.ends_with(' ') => continue,
            (None, '\t') => {
                out.push(' ');
                continue;
            }
            (None | Some('"'), '\\') => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// What the places a call names look like, as far as the system keeps it.
pub(crate) fn looks(paths: &[PathBuf]) -> String {
    let look = |path: &PathBuf| match fs::metadata(path) {
        Err(error) => format!("{:?}", error.kind()),
        Ok(found) => {
            let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
            format!("{} {} {} {} {times:?}", found.dev(), found.ino(), found.mode(), found.len())
        }
    };
    paths.iter().map(look).collect::<Vec<_>>().join("\n")
}

/// A call that failed.
#[derive(Debug)]
struct Failed {
    looks: String,
    /// Acts of the task before it.
    acts: u64,
    at: Instant,
    environmental: bool,
    text: String,
    alternatives: Vec<String>,
}

/// The failed calls of one task.
#[derive(Debug, Default)]
pub(crate) struct FailedCalls {
    calls: BTreeMap<CallKey, Failed>,
    acts: u64,
}

impl FailedCalls {
    /// The record that stands for the call where it is not to be made again.
    pub(crate) fn refusal(&self, key: &CallKey, looks: &str, now: Instant) -> Option<Record> {
        let failed = self.calls.get(key)?;
        let weather_may_have_changed = failed.environmental && now.duration_since(failed.at) >= WEATHER;
        if failed.looks != looks || failed.acts != self.acts || weather_may_have_changed {
            return None;
        }
        let text = format!(
            "[not run again] the same call failed before in this task and nothing has changed since; it said:\n{}",
            failed.text
        );
        Some(Record {
            environmental: failed.environmental,
            alternatives: failed.alternatives.clone(),
            ..Record::unusable(text)
        })
    }

    /// Notes how a call ended; `looks` is how its places looked before it.
    pub(crate) fn ended(&mut self, key: CallKey, looks: String, record: &Record, now: Instant) {
        let may_have_changed = record.class != EffectClass::ReadOnly;
        let is_failure = match record.status {
            CallStatus::Ok | CallStatus::Denied | CallStatus::Uncertain => false,
            CallStatus::Failed | CallStatus::TimedOut | CallStatus::Cut => true,
        };
        if may_have_changed && (!is_failure || !record.changed.is_empty()) {
            self.acts += 1;
        }
        if !is_failure {
            self.calls.remove(&key);
        } else if self.calls.len() < FAILED_MAX {
            let text = record.text.chars().take(2_000).collect();
            let (acts, alternatives) = (self.acts, record.alternatives.clone());
            let environmental = record.environmental;
            self.calls.insert(key, Failed { looks, acts, at: now, environmental, text, alternatives });
        }
    }
}
