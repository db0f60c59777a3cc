//! The thread that owns a model: loads it at the first need, takes one call at a time, and survives what goes wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use artoo_proto::Prompt;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::engine::{End, Engine, Order, Output, Reader};
use crate::prompt::{self, Tokens};
use crate::runtime::{Facts, Runtime};
use crate::{LocalConfig, LocalError};

/// Something for the thread to do.
pub(crate) enum Task {
    /// Load the model, if that has not been done.
    Load(Sender<Result<Facts, LocalError>>),
    /// The tokens of a plain prompt.
    Tokens(Prompt, oneshot::Sender<Result<Vec<i32>, Outcome>>),
    /// Write a reply.
    Write(Box<Job>),
}

/// One reply to be written.
pub(crate) struct Job {
    pub(crate) prompt: Prompt,
    pub(crate) schema: Option<Value>,
    pub(crate) max_tokens: u32,
    /// Whoever waits; gone when the call is given up.
    pub(crate) reply: oneshot::Sender<Outcome>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) grown: Box<dyn Fn(usize) + Send>,
    /// The turn, given back when the thread is done with this call.
    pub(crate) turn: OwnedSemaphorePermit,
}

/// What a call has cost so far; also read when it is given up.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) prompt: AtomicU64,
    pub(crate) reused: AtomicU64,
    pub(crate) written: AtomicU64,
}

/// What came of a call.
pub(crate) enum Outcome {
    /// A reply, or a part of one.
    Written { rendered: String, output: Output },
    /// Prompt and reply need more than the context has. Nothing was evaluated.
    DoesNotFit { needed: u64, room: u64 },
    /// The model can't be used at all.
    Unusable { problem: LocalError },
    /// This call can't be served.
    Refused { problem: String },
    /// llama.cpp failed.
    Failed { problem: String },
}

/// Runs until nobody has anything to do any more.
pub(crate) fn run(config: &LocalConfig, tasks: &Receiver<Task>, ending: &Arc<AtomicBool>) {
    while let Ok(first) = tasks.recv() {
        // Whoever waited for the call that panicked sees its sender gone; the model is loaded anew for the next.
        let served = catch_unwind(AssertUnwindSafe(|| match Runtime::load(config, ending) {
            Ok(runtime) => serve(&runtime, config, first, tasks, ending),
            Err(problem) => answer_unusable(first, problem),
        }));
        if served.is_err() {
            tracing::error!("the model's thread has panicked; the model is loaded anew");
        }
    }
}

fn answer_unusable(task: Task, problem: LocalError) {
    // A receiver that is gone waits for nothing.
    match task {
        Task::Load(reply) => drop(reply.send(Err(problem))),
        Task::Tokens(_, reply) => drop(reply.send(Err(Outcome::Unusable { problem }))),
        Task::Write(job) => drop(job.reply.send(Outcome::Unusable { problem })),
    }
}

fn serve(runtime: &Runtime, config: &LocalConfig, first: Task, tasks: &Receiver<Task>, ending: &Arc<AtomicBool>) {
    let Some(mut engine) = Engine::new(runtime, config.prefix_bytes) else {
        let tokens = runtime.facts.context_tokens;
        return answer_unusable(first, LocalError::NoContext { path: config.path.clone(), tokens });
    };
    let mut next = Some(first);
    while let Some(task) = next {
        match task {
            Task::Load(reply) => drop(reply.send(Ok(runtime.facts.clone()))),
            Task::Tokens(prompt, reply) => {
                let tokens = prompt::tokens(runtime, &prompt, false);
                let refused = |problem| Outcome::Refused { problem };
                drop(reply.send(tokens.map(|prompt| prompt.tokens).map_err(refused)));
            }
            Task::Write(job) => write(runtime, &mut engine, *job, ending),
        }
        next = tasks.recv().ok();
    }
}

fn write(runtime: &Runtime, engine: &mut Engine<'_>, job: Job, ending: &AtomicBool) {
    if job.reply.is_closed() {
        return;
    }
    let outcome = attempt(runtime, engine, &job, ending);
    drop(job.reply.send(outcome));
    drop(job.turn);
}

fn attempt(runtime: &Runtime, engine: &mut Engine<'_>, job: &Job, ending: &AtomicBool) -> Outcome {
    let prompt = prompt::with_schema(&job.prompt, job.schema.as_ref());
    let Tokens { rendered, tokens, stable } = match prompt::tokens(runtime, &prompt, job.schema.is_some()) {
        Ok(tokens) => tokens,
        Err(problem) => return Outcome::Refused { problem },
    };
    let (used, room) = (tokens.len() as u64, u64::from(runtime.facts.context_tokens));
    let needed = used.saturating_add(u64::from(job.max_tokens));
    if needed > room {
        return Outcome::DoesNotFit { needed, room };
    }
    if tokens.is_empty() {
        return Outcome::Refused { problem: "the prompt is empty".to_owned() };
    }
    let constraint = match job.schema.as_ref().map(|schema| runtime.constraints.of(schema)).transpose() {
        Ok(constraint) => constraint,
        Err(problem) => return Outcome::Refused { problem: format!("this schema can't be kept to: {problem}") },
    };
    job.progress.prompt.store(used, Ordering::Relaxed);
    let max_tokens = usize::try_from(job.max_tokens).unwrap_or(usize::MAX);
    let order = Order { prompt: &tokens, stable, constraint, max_tokens };
    match engine.write(order, &mut Waiting { job, ending }) {
        Ok(output) => Outcome::Written { rendered, output },
        Err(problem) => Outcome::Failed { problem },
    }
}

/// The one who waits for a job.
struct Waiting<'j> {
    job: &'j Job,
    ending: &'j AtomicBool,
}

impl Reader for Waiting<'_> {
    fn is_gone(&self) -> bool {
        self.job.reply.is_closed() || self.ending.load(Ordering::Relaxed)
    }

    fn reused(&mut self, tokens: usize) {
        self.job.progress.reused.store(tokens as u64, Ordering::Relaxed);
    }

    fn grown(&mut self, tokens: usize, bytes: usize) {
        self.job.progress.written.store(tokens as u64, Ordering::Relaxed);
        (self.job.grown)(bytes);
    }
}

/// Whether a reply was cut, and how that is said.
pub(crate) fn cut(end: &End) -> Option<&'static str> {
    match end {
        End::Complete => None,
        End::Limit => Some("the token limit was reached"),
        End::Abandoned => Some("it was given up"),
    }
}
