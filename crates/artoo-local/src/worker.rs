//! The thread that owns a model: loads the model for the first task, runs one task at a time, and survives panics.

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

/// A task for the model's thread: load the model, split a prompt into tokens, or write a reply.
pub(crate) enum Task {
    /// Load the model unless it is loaded already, and send its facts.
    Load(Sender<Result<Facts, LocalError>>),
    /// Send the tokens of a prompt without a schema.
    Tokens(Prompt, oneshot::Sender<Result<Vec<i32>, Outcome>>),
    /// Write a reply.
    Write(Box<Job>),
}

/// A reply to write: prompt, schema and length, with the channels for its progress and its outcome.
pub(crate) struct Job {
    /// The messages of the request.
    pub(crate) prompt: Prompt,
    /// The schema that the reply must fit; `None` for any text.
    pub(crate) schema: Option<Value>,
    /// Most tokens that the reply may have.
    pub(crate) max_tokens: u32,
    /// Receives the outcome; closed when the caller cancels the call.
    pub(crate) reply: oneshot::Sender<Outcome>,
    /// The numbers of tokens used so far, shared with the caller.
    pub(crate) progress: Arc<Progress>,
    /// Called with the length of the reply in bytes whenever the reply has grown.
    pub(crate) grown: Box<dyn Fn(usize) + Send>,
    /// Permit of the running call, released when the thread is done with it.
    pub(crate) turn: OwnedSemaphorePermit,
}

/// Numbers of tokens that a call has used so far; they can be read even after the call was cancelled.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Number of tokens of the prompt; 0 until its evaluation begins.
    pub(crate) prompt: AtomicU64,
    /// Number of tokens of the prompt that needed no evaluation.
    pub(crate) reused: AtomicU64,
    /// Number of tokens of the reply.
    pub(crate) written: AtomicU64,
}

/// The outcome of a call on the model's thread: a reply, or why there is none.
pub(crate) enum Outcome {
    /// The model wrote a reply, or a part of one; `rendered` is the prompt as text.
    Written { rendered: String, output: Output },
    /// Prompt and reply need more tokens than the context has. Nothing was evaluated.
    DoesNotFit { needed: u64, room: u64 },
    /// The model can't be loaded or used at all.
    Unusable { problem: LocalError },
    /// The model works, but this call can't be served.
    Refused { problem: String },
    /// llama.cpp failed while it served the call.
    Failed { problem: String },
}

/// Runs the model's thread: loads the model at the first task and runs tasks until the sender is dropped.
pub(crate) fn run(config: &LocalConfig, tasks: &Receiver<Task>, ending: &Arc<AtomicBool>) {
    while let Ok(first) = tasks.recv() {
        // After a panic, the caller of the task sees a closed channel; the model is loaded again for the next task.
        let served = catch_unwind(AssertUnwindSafe(|| match Runtime::load(config, ending) {
            Ok(runtime) => serve(&runtime, config, first, tasks, ending),
            Err(problem) => answer_unusable(first, problem),
        }));
        if served.is_err() {
            tracing::error!("the model's thread has panicked; the model is loaded anew");
        }
    }
}

/// Answers a task with the error that the model can't be used.
fn answer_unusable(task: Task, problem: LocalError) {
    // A caller that has cancelled gets nothing.
    match task {
        Task::Load(reply) => drop(reply.send(Err(problem))),
        Task::Tokens(_, reply) => drop(reply.send(Err(Outcome::Unusable { problem }))),
        Task::Write(job) => drop(job.reply.send(Outcome::Unusable { problem })),
    }
}

/// Runs tasks with a loaded model, beginning with `first`.
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

/// Writes the reply of a job and sends the outcome; does nothing if the caller has cancelled.
fn write(runtime: &Runtime, engine: &mut Engine<'_>, job: Job, ending: &AtomicBool) {
    if job.reply.is_closed() {
        return;
    }
    let outcome = attempt(runtime, engine, &job, ending);
    drop(job.reply.send(outcome));
    drop(job.turn);
}

/// Renders the prompt of a job, checks that it fits the context, and writes the reply.
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

/// The caller of a job as the engine sees it: receives progress, and may have cancelled.
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

/// Why a reply is incomplete, as text; `None` for a complete one.
pub(crate) fn incomplete_reason(end: &End) -> Option<&'static str> {
    match end {
        End::Complete => None,
        End::Limit => Some("the token limit was reached"),
        End::Abandoned => Some("it was given up"),
    }
}
