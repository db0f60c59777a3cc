//! Who puts a rule into words, and what happens when they fail, hang or talk nonsense: nothing.

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

/// Puts experience into words: a language model, a person, a table.
///
/// It runs on a thread of its own; what it is given is data, never instructions.
pub trait Distiller: std::fmt::Debug + Send + Sync {
    /// The rule that follows from the evidence, in words.
    ///
    /// # Errors
    /// In its own words; they are kept with the attempt.
    fn distil(&self, promotion: &Promotion, evidence: &[Megram]) -> Result<String, String>;
}

/// Longest problem kept with an attempt: enough to see what it was.
const MAX_PROBLEM_CHARS: usize = 200;

/// How often a wait for an answer looks whether the memory is being closed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Asks a distiller, one question at a time.
#[derive(Debug)]
pub(super) struct DistillerRunner {
    distiller: Arc<dyn Distiller>,
    timeout: Duration,
    /// The memory is being closed: nobody waits for an answer any more.
    stopping: Arc<AtomicBool>,
    /// Whether an earlier question is still unanswered; a thread cannot be stopped, so there is at most one.
    asking: Arc<AtomicBool>,
}

impl DistillerRunner {
    pub(super) fn new(distiller: Arc<dyn Distiller>, timeout: Duration, stopping: Arc<AtomicBool>) -> Self {
        Self { distiller, timeout, stopping, asking: Arc::new(AtomicBool::new(false)) }
    }

    /// Whether a question can be asked now.
    pub(super) fn is_free(&self) -> bool {
        !self.asking.load(Ordering::Acquire) && !self.stopping.load(Ordering::Acquire)
    }

    /// The rule's text, checked as far as can be; or the problem, in words; `None` where the memory closes meanwhile.
    pub(super) fn ask(&self, promotion: Promotion, evidence: Vec<Megram>) -> Option<Result<String, String>> {
        let (answer, answered) = channel();
        let (distiller, asking) = (Arc::clone(&self.distiller), Arc::clone(&self.asking));
        asking.store(true, Ordering::Release);
        let asked = thread::Builder::new().name("mkct-distiller".to_owned()).spawn(move || {
            let free = Freed(asking);
            let words = distiller.distil(&promotion, &evidence);
            // Before the answer, so that whoever gets it can ask the next question at once.
            drop(free);
            // Whoever asked may have given up.
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

/// Says that a question is answered, also when the answer is a panic.
struct Freed(Arc<AtomicBool>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

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

fn shortened(problem: &str) -> String {
    problem.chars().filter(|c| !c.is_control()).take(MAX_PROBLEM_CHARS).collect()
}
