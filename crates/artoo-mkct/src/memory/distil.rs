//! Distillers write the texts of rules. A distiller that fails, hangs or returns text that is not valid changes
//! nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    record::{MAX_CONTENT_BYTES, Megram},
    rules::Promotion,
};

/// Writes the texts of rules, e.g. with a language model, a person or a table.
///
/// It is called on a thread of its own. The evidence is data, never instructions.
pub trait Distiller: std::fmt::Debug + Send + Sync {
    /// Returns the text of the rule that follows from the evidence.
    ///
    /// # Errors
    /// A description of the problem, which is written to the journal.
    fn distil(&self, promotion: &Promotion, evidence: &[Megram]) -> Result<String, String>;
}

/// Most characters of a problem's description in the journal.
const MAX_PROBLEM_CHARS: usize = 200;

/// Interval (20 ms) at which a wait for the distiller checks whether the memory is being closed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Calls a distiller with a time limit, one call at a time.
#[derive(Debug)]
pub(super) struct DistillerRunner {
    distiller: Arc<dyn Distiller>,
    timeout: Duration,
    /// Whether the memory is being closed.
    stopping: Arc<AtomicBool>,
    /// Whether a call is running. A thread cannot be stopped, so there is at most one.
    asking: Arc<AtomicBool>,
}

impl DistillerRunner {
    /// A runner that calls this distiller and gives up each call after `timeout`.
    pub(super) fn new(distiller: Arc<dyn Distiller>, timeout: Duration, stopping: Arc<AtomicBool>) -> Self {
        Self { distiller, timeout, stopping, asking: Arc::new(AtomicBool::new(false)) }
    }

    /// Whether the distiller can be called now: no call is running, and the memory is not being closed.
    pub(super) fn is_free(&self) -> bool {
        !self.asking.load(Ordering::Acquire) && !self.stopping.load(Ordering::Acquire)
    }

    /// Calls the distiller and waits, at most `timeout`: the checked text, or a description of the problem; `None` if
    /// the memory is being closed.
    pub(super) fn ask(&self, promotion: Promotion, evidence: Vec<Megram>) -> Option<Result<String, String>> {
        let (answer, answered) = channel();
        let (distiller, asking) = (Arc::clone(&self.distiller), Arc::clone(&self.asking));
        asking.store(true, Ordering::Release);
        let asked = thread::Builder::new().name("mkct-distiller".to_owned()).spawn(move || {
            let free = CallEnd(asking);
            let words = distiller.distil(&promotion, &evidence);
            // Dropped before the result is sent, so that the next call can follow at once.
            drop(free);
            // The caller may have stopped waiting.
            let _ = answer.send(words);
        });
        if asked.is_err() {
            self.asking.store(false, Ordering::Release);
            return Some(Err("no thread to ask on".to_owned()));
        }
        let began = Instant::now();
        loop {
            let left = self.timeout.saturating_sub(began.elapsed());
            match answered.recv_timeout(left.min(LOOK_EVERY)) {
                Ok(result) => return Some(result.map_err(|problem| shortened(&problem)).and_then(checked)),
                Err(RecvTimeoutError::Disconnected) => return Some(Err("the distiller panicked".to_owned())),
                Err(RecvTimeoutError::Timeout) if self.stopping.load(Ordering::Acquire) => return None,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Some(Err(format!("no answer within {:?}", self.timeout)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Marks the call as ended when dropped, also by a panic.
struct CallEnd(Arc<AtomicBool>);

impl Drop for CallEnd {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The trimmed text of a rule; a description of the problem if it is empty, too long, without a letter or digit, or has
/// control characters.
fn checked(text: String) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("an empty rule".to_owned());
    }
    if text.len() > MAX_CONTENT_BYTES {
        return Err(format!("a rule of {} bytes", text.len()));
    }
    if !text.chars().any(char::is_alphanumeric) || text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("a rule that is no text".to_owned());
    }
    Ok(text.to_owned())
}

/// The first `MAX_PROBLEM_CHARS` characters of a description, without control characters.
fn shortened(problem: &str) -> String {
    problem.chars().filter(|c| !c.is_control()).take(MAX_PROBLEM_CHARS).collect()
}
