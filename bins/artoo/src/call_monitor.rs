//! Observes model calls: waits between tries, fallbacks, and a file of raw exchanges.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_llm::observe::{Caller, Exchange, Observer, Step};
use artoo_llm::usage::tokens_of;
use artoo_proto::{Role, TaskId};
use serde::Serialize;

use crate::{Failure, Variables};

/// Maximum number of stored fallbacks, and of stored remarks about them; the oldest are dropped.
const REMARKS_MAX: usize = 64;

/// Interval between progress lines about the same wait before a retry.
const SHOWN_EVERY: Duration = Duration::from_secs(5);

/// Identifies a model call by its task and role; calls of the same role for subtasks of a task count as one.
type Call = (TaskId, Role);

/// One use of a fallback model: for a role, the model `to` was asked after `from` had failed, and why that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fallback {
    pub(crate) role: Role,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) why: String,
}

/// Observes model calls: stores waits and fallbacks for the display, and writes raw exchanges to a file if requested.
pub(crate) struct CallMonitor {
    // Locked briefly, never across an await.
    seen: Mutex<MonitorState>,
    // Locked while one line is written.
    file: Option<Mutex<File>>,
}

/// What was observed of model calls: waits before retries, fallbacks to other models, and bytes of replies so far.
#[derive(Default)]
struct MonitorState {
    remarks: VecDeque<String>,
    fell_back: VecDeque<(TaskId, Fallback)>,
    waits: BTreeMap<Call, Wait>,
    /// Length of the replies that are being received, in bytes.
    received: BTreeMap<Call, usize>,
}

/// A wait before a retry.
struct Wait {
    until: Instant,
    tries: u32,
    tries_max: u32,
    why: String,
    shown_at: Option<Instant>,
}

impl CallMonitor {
    /// Creates the monitor; `ARTOO_EXCHANGES` names a file to which raw requests and replies are appended, readable by
    /// its owner only.
    pub(crate) fn start(variables: &Variables) -> Result<Self, Failure> {
        let open = |path: PathBuf| {
            let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
            opened.map(Mutex::new).map_err(|source| Failure::NotWritten { path, source })
        };
        let file = variables.text("ARTOO_EXCHANGES")?.map(PathBuf::from).map(open).transpose()?;
        Ok(Self { seen: Mutex::default(), file })
    }

    /// Returns and removes the remarks about fallbacks that were stored since they were last removed.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).remarks.drain(..).collect()
    }

    /// The model fallbacks that happened in a task, oldest first.
    pub(crate) fn fallbacks(&self, task_id: &TaskId) -> Vec<Fallback> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let of_task = seen.fell_back.iter().filter(|(of, _)| of == task_id);
        of_task.map(|(_, fell_back)| fell_back.clone()).collect()
    }

    /// Estimated number of tokens received so far of the model replies that are still being streamed.
    pub(crate) fn receiving(&self) -> u64 {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        tokens_of(seen.received.values().sum())
    }

    /// Progress lines about waits before a retry; a line about the same wait is repeated after five seconds.
    pub(crate) fn waits(&self, now: Instant) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        seen.waits.retain(|_, wait| wait.until > now);
        for ((_, role), wait) in &mut seen.waits {
            let is_due = wait.shown_at.is_none_or(|shown| now.saturating_duration_since(shown) >= SHOWN_EVERY);
            if is_due {
                wait.shown_at = Some(now);
                let left = wait.until.saturating_duration_since(now).as_secs_f64().ceil();
                let (next, tries_max, why) = (wait.tries + 1, wait.tries_max, &wait.why);
                lines.push(format!("{role}: {why}; try {next} of {tries_max} in {left} s"));
            }
        }
        lines
    }
}

impl Observer for CallMonitor {
    fn step(&self, caller: &Caller, step: &Step) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let call = (caller.task_id.clone(), caller.role);
        match step {
            Step::Writing { chars, reasoning_chars } => {
                seen.received.insert(call, chars.saturating_add(*reasoning_chars));
            }
            Step::Waiting { wait, tries, tries_max, why } => {
                let wait = Wait {
                    until: Instant::now() + *wait,
                    tries: *tries,
                    tries_max: *tries_max,
                    why: why.clone(),
                    shown_at: None,
                };
                seen.waits.insert(call, wait);
            }
            Step::FellBack { from, to, why } => {
                if seen.remarks.len() >= REMARKS_MAX {
                    seen.remarks.pop_front();
                }
                seen.remarks.push_back(format!("{}: {to} answers in place of {from} ({why})", caller.role));
                if seen.fell_back.len() >= REMARKS_MAX {
                    seen.fell_back.pop_front();
                }
                let (from, to, why) = (from.clone(), to.clone(), why.clone());
                seen.fell_back.push_back((call.0, Fallback { role: caller.role, from, to, why }));
            }
            Step::Done => {
                seen.waits.remove(&call);
                seen.received.remove(&call);
            }
        }
    }

    fn wants_exchanges(&self) -> bool {
        self.file.is_some()
    }

    fn exchange(&self, exchange: &Exchange) {
        let Some(file) = &self.file else { return };
        let Ok(mut line) = serde_json::to_vec(exchange) else { return };
        line.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(&line) {
            tracing::warn!(%error, "an exchange was not kept");
        }
    }
}

/// Tests of the progress lines about waits for a model.
#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use artoo_llm::observe::{Caller, Observer, Step};
    use artoo_proto::{Role, TaskId};

    use super::CallMonitor;
    use crate::variables::Variables;

    /// The progress line that counts down a wait before a retry is shown at intervals and ends when the next try
    /// begins.
    #[doc = "holds: client C18; design D18"]
    #[test]
    fn retry_countdown_ends_when_call_starts() {
        let monitor = CallMonitor::start(&Variables::default()).unwrap();
        let task_id = TaskId::try_from("t-00000000-0000-4000-8000-000000000001".to_owned()).unwrap();
        let caller = Caller { role: Role::Planner, task_id, subtask_id: None };
        let wait = Duration::from_secs(12);
        monitor.step(&caller, &Step::Waiting { wait, tries: 1, tries_max: 4, why: "status 429: busy".to_owned() });
        let began = Instant::now();
        let at = |seconds: u64| monitor.waits(began + Duration::from_secs(seconds));
        assert_eq!(at(0), ["R2: status 429: busy; try 2 of 4 in 12 s"]);
        assert!(at(3).is_empty(), "not told again so soon");
        assert_eq!(at(6), ["R2: status 429: busy; try 2 of 4 in 6 s"]);
        assert!(at(13).is_empty() && at(14).is_empty(), "it is over");
        monitor.step(&caller, &Step::Waiting { wait, tries: 2, tries_max: 4, why: String::new() });
        monitor.step(&caller, &Step::Done);
        assert!(monitor.waits(began).is_empty(), "the answer came");
        let fell_back = Step::FellBack { from: "a".to_owned(), to: "b".to_owned(), why: "away".to_owned() };
        monitor.step(&caller, &fell_back);
        assert_eq!(monitor.remarks(), ["R2: b answers in place of a (away)"]);
        assert!(monitor.remarks().is_empty());
    }
}
