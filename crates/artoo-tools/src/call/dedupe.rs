//! Step 3, dedupe: a call that failed in this task is not made again while nothing has changed.
//!
//! It is made again after a call of the task changed something, after its files changed, or, if the environment may have
//! caused the failure (network, full disk), after some time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, EffectClass, ToolRequest};
use serde_json::Value;

use super::{Context, EarlyOutcome};
use crate::record::Record;
use crate::tool::Request;

/// Time after which a call that failed because of the environment may be made again.
const ENVIRONMENT_RETRY: Duration = Duration::from_secs(30);

/// Maximum number of failed calls stored of one task; a task makes far fewer.
const FAILED_MAX: usize = 512;

/// Longest stored output of a failed call, in characters.
const OUTPUT_MAX_CHARS: usize = 2_000;

/// The key of a call and the fingerprint of its files before it, under which a failure is stored.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    key: CallKey,
    fingerprint: String,
}

/// The key and fingerprint of a call; `Err` with a stored record if the same call failed before in the task and nothing
/// has changed since.
pub(super) fn dedupe(context: &Context, request: &Request) -> Result<Attempt, EarlyOutcome> {
    let attempt =
        Attempt { key: CallKey::of(&context.order.request), fingerprint: fingerprint(&request.effects.paths) };
    let find = |failed: &mut FailedCalls| failed.find(&attempt.key, &attempt.fingerprint, Instant::now());
    match context.registry.tasks().failed(&context.order.task_id, find) {
        Some(record) => Err(EarlyOutcome::record(record.class(request.effects.class))),
        None => Ok(attempt),
    }
}

/// Stores a call that has ended, if it failed, so that it is not made again; removes an earlier failure of it if not.
pub(super) fn ended(context: &Context, attempt: Attempt, record: &Record) {
    let Attempt { key, fingerprint } = attempt;
    context
        .registry
        .tasks()
        .failed(&context.order.task_id, |failed| failed.ended(key, fingerprint, record, Instant::now()));
}

/// Identifies equal calls of a task: the tool and its input, extra blanks in a command ignored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey(String);

impl CallKey {
    /// The key by which equal requests are recognised: tool and input; in `command`, runs of blanks outside quotes are
    /// one.
    pub(crate) fn of(request: &ToolRequest) -> Self {
        let mut input = request.input.clone();
        if let Some(Value::String(command)) = input.get_mut("command") {
            *command = single_spaced(command);
        }
        Self(format!("{} {input}", request.tool))
    }
}

/// The command with each run of blanks outside quotes as one space, and none at the ends. A line break stays inside: it
/// ends a command.
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

/// The metadata of the files at these paths as text, to notice whether a file has changed since a failed call.
fn fingerprint(paths: &[PathBuf]) -> String {
    let of = |path: &PathBuf| match fs::metadata(path) {
        Err(error) => format!("{:?}", error.kind()),
        Ok(found) => {
            let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
            format!("{} {} {} {} {times:?}", found.dev(), found.ino(), found.mode(), found.len())
        }
    };
    paths.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// A failed call of the task, with its record and when it failed.
#[derive(Debug)]
struct FailedCall {
    fingerprint: String,
    /// Number of changing calls of the task before it.
    changes: u64,
    at: Instant,
    record: Record,
}

/// The failed calls of one task, by the key of the call, so that they are not repeated.
#[derive(Debug, Default)]
pub(crate) struct FailedCalls {
    calls: BTreeMap<CallKey, FailedCall>,
    changes: u64,
}

impl FailedCalls {
    /// The stored record of the same call's failure, if nothing has changed since; `None` if it did not fail or may
    /// succeed now.
    pub(crate) fn find(&self, key: &CallKey, fingerprint: &str, now: Instant) -> Option<Record> {
        let failed = self.calls.get(key)?;
        let may_succeed = failed.record.environmental && now.duration_since(failed.at) >= ENVIRONMENT_RETRY;
        if failed.fingerprint != fingerprint || failed.changes != self.changes || may_succeed {
            return None;
        }
        Some(failed.record.clone())
    }

    /// Stores a call that failed, timed out or was cut, and removes any other; a call with changes invalidates older
    /// ones.
    pub(crate) fn ended(&mut self, key: CallKey, fingerprint: String, record: &Record, now: Instant) {
        let is_failure = match record.status {
            CallStatus::Ok | CallStatus::Denied | CallStatus::Uncertain => false,
            CallStatus::Failed | CallStatus::TimedOut | CallStatus::Cut => true,
        };
        let may_have_changed = record.class != EffectClass::ReadOnly;
        if may_have_changed && (!is_failure || !record.changed.is_empty()) {
            self.changes += 1;
        }
        if !is_failure {
            self.calls.remove(&key);
        } else if self.calls.len() < FAILED_MAX {
            let output: String = record.text.chars().take(OUTPUT_MAX_CHARS).collect();
            let reason = "the same call failed before in this task and nothing has changed since";
            let record = Record {
                environmental: record.environmental,
                alternatives: record.alternatives.clone(),
                ..Record::unusable(format!("[not run again] {reason}; it said:\n{output}"))
            };
            self.calls.insert(key, FailedCall { fingerprint, changes: self.changes, at: now, record });
        }
    }
}
