//! A model from a file, as the rest of the program uses it through [`Local`].

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use artoo_llm::ledger::{Cache, Ledger, Price};
use artoo_llm::observe::{Caller, Exchange, Observer, Step};
use artoo_llm::{Model, Shared, usage};
use artoo_proto::{ModelFailure, ModelReply, ModelRequest, Prompt, ReplyBody, Usage};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, timeout};

use crate::runtime::Facts;
use crate::worker::{self, Job, Outcome, Progress, Task};
use crate::{LocalConfig, LocalError, file, processor, prompt, reply};

/// How long dropping a `Local` waits for its thread, which looks for the end at every token and every step of a prompt.
const DROP_TIMEOUT: Duration = Duration::from_secs(5);

/// The HTTP status reported for a request that can't be served, since an endpoint would return it.
const REJECTED: u16 = 400;

/// Price of a call: zero, since a local model costs no money.
const PRICE: Price = Price { prompt: 0.0, cached: 0.0, written: 0.0, completion: 0.0 };

/// A model from a file, run on a thread of this process. Calls are served one at a time.
pub struct Local {
    config: LocalConfig,
    /// Sends tasks to the model's thread; `None` after the start of `drop`, which ends the thread.
    tasks: Option<Sender<Task>>,
    /// One permit, held by the running call.
    turns: Arc<Semaphore>,
    ledger: Arc<Ledger>,
    observer: Option<Arc<dyn Observer>>,
    /// Set by `drop`: the thread stops what it does.
    ending: Arc<AtomicBool>,
    // Locked only in `drop`; the mutex makes the receiver shareable between threads.
    ended: Mutex<Receiver<()>>,
}

/// A text that the model wrote, with its reasoning, tokens and usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text of the reply, without reasoning; if the reply was cut, everything that was written.
    pub text: String,
    /// The reasoning that the model wrote before the text; empty if the model marks none, or the reply was cut.
    pub reasoning: String,
    /// The tokens of the whole reply, reasoning included.
    pub tokens: Vec<i32>,
    /// Whether the reply was cut off, at the token limit or by the end of the program.
    pub is_cut: bool,
    /// The calls and tokens that the reply used.
    pub usage: Usage,
    /// Number of tokens of the prompt that earlier calls had evaluated already.
    pub cached_tokens: u64,
}

impl Local {
    /// Checks the processor and the file's header, and starts the model's thread; the first call, or [`Local::load`],
    /// loads the model.
    ///
    /// # Errors
    /// [`LocalError`] if the processor lacks a feature, the file is not a GGUF file, or no thread can be started.
    pub fn new(config: LocalConfig, shared: &Shared) -> Result<Self, LocalError> {
        processor::check()?;
        file::check(&config.path)?;
        let (tasks, to_do) = channel();
        let (ends, ended) = channel();
        let ending = Arc::new(AtomicBool::new(false));
        let (of_thread, is_ending) = (config.clone(), Arc::clone(&ending));
        let run = move || {
            worker::run(&of_thread, &to_do, &is_ending);
            // If `drop` has stopped waiting, nothing receives this.
            ends.send(()).ok();
        };
        let started = thread::Builder::new().name("artoo-local".to_owned()).spawn(run);
        started.map_err(|source| LocalError::NoThread { source })?;
        Ok(Self {
            config,
            tasks: Some(tasks),
            turns: Arc::new(Semaphore::new(1)),
            ledger: Arc::clone(&shared.ledger),
            observer: shared.observer.clone(),
            ending,
            ended: Mutex::new(ended),
        })
    }

    /// The settings that this model was created with.
    #[must_use]
    pub fn config(&self) -> &LocalConfig {
        &self.config
    }

    /// Loads the model now unless it is loaded already, and waits until it is.
    ///
    /// # Errors
    /// [`LocalError`] if the model can't be loaded, or its thread has stopped.
    pub fn load(&self) -> Result<Facts, LocalError> {
        let (reply, loaded) = channel();
        self.send(Task::Load(reply)).and_then(|()| loaded.recv().ok()).ok_or(LocalError::Stopped)?
    }

    /// The tokens of a prompt, rendered by the model's chat template.
    ///
    /// # Errors
    /// A [`ModelFailure`] if the model can't be used.
    pub async fn prompt_tokens(&self, prompt: &Prompt) -> Result<Vec<i32>, ModelFailure> {
        let (reply, tokens) = oneshot::channel();
        self.send(Task::Tokens(prompt.clone(), reply)).ok_or_else(stopped)?;
        tokens.await.map_err(|_| stopped())?.map_err(|problem| failure(problem, Usage::default()))
    }

    /// Writes a text, always taking the likeliest token: one that fits `schema`, or any text without one. A text that
    /// reaches `max_tokens` is marked as cut, and need not fit the schema.
    ///
    /// # Errors
    /// A [`ModelFailure`] if the model can't be used or the call fails; no budget is checked.
    pub async fn write(
        &self,
        prompt: &Prompt,
        schema: Option<&Value>,
        max_tokens: u32,
    ) -> Result<Written, ModelFailure> {
        let progress = Arc::default();
        let schema = schema.and_then(prompt::held_to).cloned();
        let turn = self.turn().await?;
        let (_, output) = self.written(turn, prompt, schema, max_tokens, &progress, Box::new(|_| ())).await?;
        let usage = progress.usage();
        let (text, is_cut) = match reply::text(&output, usage) {
            Ok(text) => (text, false),
            Err(ModelFailure::Cut { .. }) => {
                let answer = String::from_utf8_lossy(&output.bytes).into_owned();
                (reply::Text { answer, reasoning: String::new() }, true)
            }
            Err(other) => return Err(other),
        };
        let (text, reasoning, tokens) = (text.answer, text.reasoning, output.tokens);
        Ok(Written { text, reasoning, tokens, is_cut, usage, cached_tokens: progress.cached() })
    }

    /// Sends a task to the model's thread; `None` if the thread has ended.
    fn send(&self, task: Task) -> Option<()> {
        self.tasks.as_ref()?.send(task).ok()
    }

    /// Waits until no other call runs. A call that waits here has not begun, so its time limit does not run yet.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, ModelFailure> {
        Arc::clone(&self.turns).acquire_owned().await.map_err(|_| stopped())
    }

    /// Sends a job to the model's thread and waits for the rendered prompt and the output. Dropping the future cancels
    /// the job.
    async fn written(
        &self,
        turn: OwnedSemaphorePermit,
        prompt: &Prompt,
        schema: Option<Value>,
        max_tokens: u32,
        progress: &Arc<Progress>,
        grown: Box<dyn Fn(usize) + Send>,
    ) -> Result<(String, crate::engine::Output), ModelFailure> {
        let started = Instant::now();
        let (reply, outcome) = oneshot::channel();
        let (prompt, progress_of_job) = (prompt.clone(), Arc::clone(progress));
        let job = Job { prompt, schema, max_tokens, reply, progress: progress_of_job, grown, turn };
        self.send(Task::Write(Box::new(job))).ok_or_else(stopped)?;
        match timeout(self.config.total_deadline, outcome).await {
            Err(_) => Err(ModelFailure::TimedOut { after_ms: millis(started), usage: progress.usage() }),
            Ok(Err(_)) => Err(stopped()),
            Ok(Ok(Outcome::Written { rendered, output })) => Ok((rendered, output)),
            Ok(Ok(other)) => Err(failure(other, progress.usage())),
        }
    }

    /// Serves a request whose turn it is: writes the reply, reports the exchange to the observer, and parses the reply.
    async fn ask_in(
        &self,
        turn: OwnedSemaphorePermit,
        request: &ModelRequest,
        progress: &Arc<Progress>,
    ) -> Result<ModelReply, ModelFailure> {
        let schema = prompt::held_to(&request.schema);
        let (observer, caller) = (self.observer.clone(), caller(request));
        let grown = Box::new(move |chars| {
            if let Some(observer) = &observer {
                observer.step(&caller, &Step::Writing { chars, reasoning_chars: 0 });
            }
        });
        let (max_tokens, schema_of_job) = (request.max_tokens, schema.cloned());
        let written = self.written(turn, &request.prompt, schema_of_job, max_tokens, progress, grown).await;
        let (rendered, output) = written?;
        let usage = progress.usage();
        let value = reply::value(&output, schema, usage);
        self.show(request, &rendered, &output, value.as_ref().err());
        Ok(ModelReply { body: ReplyBody::Json { value: value? }, usage, model: self.name() })
    }

    /// Passes the exchange (prompt and reply) to the observer, if there is one that wants exchanges.
    fn show(&self, request: &ModelRequest, sent: &str, output: &crate::engine::Output, failed: Option<&ModelFailure>) {
        let Some(observer) = self.observer.as_ref().filter(|observer| observer.wants_exchanges()) else { return };
        observer.exchange(&Exchange {
            caller: caller(request),
            url: format!("file:{}", self.config.path.display()),
            request: json!({"prompt": sent, "max_tokens": request.max_tokens}).to_string(),
            status: None,
            response: String::from_utf8_lossy(&output.bytes).into_owned(),
            trouble: failed.map(ToString::to_string),
        });
    }
}

#[async_trait]
impl Model for Local {
    fn name(&self) -> String {
        self.config.model_name()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let turn = self.turn().await?;
        let estimated = usage::prompt_tokens(request);
        let reservation = self
            .ledger
            .reserve(request, estimated, &self.config.model_name(), Some(PRICE))
            .map_err(|over| ModelFailure::OverBudget { detail: over.to_string() })?;
        let started = Instant::now();
        let progress = Arc::default();
        let result = self.ask_in(turn, request, &progress).await;
        reservation.settle(progress.usage(), Cache { read: progress.cached(), written: 0 });
        self.ledger.took(request, &self.config.model_name(), millis(started));
        if let Some(observer) = &self.observer {
            observer.step(&caller(request), &Step::Done);
        }
        result
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        self.tasks = None;
        // llama.cpp must not compute while the process destroys llama.cpp's static data.
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(DROP_TIMEOUT).is_err() {
            tracing::debug!("the model's thread is left to itself");
        }
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Progress {
    /// The tokens that the call has used so far; zero calls if nothing was evaluated.
    fn usage(&self) -> Usage {
        let prompt_tokens = self.prompt.load(Ordering::Relaxed);
        Usage {
            model_calls: u32::from(prompt_tokens > 0),
            prompt_tokens,
            completion_tokens: self.written.load(Ordering::Relaxed),
        }
    }

    /// Number of tokens of the prompt that earlier calls had evaluated already.
    fn cached(&self) -> u64 {
        self.reused.load(Ordering::Relaxed)
    }
}

/// The role, task and subtask that made a request.
fn caller(request: &ModelRequest) -> Caller {
    Caller { role: request.role, task_id: request.task_id.clone(), subtask_id: request.subtask_id }
}

/// Converts the outcome of a call without a complete reply to the failure that the role receives.
fn failure(outcome: Outcome, usage: Usage) -> ModelFailure {
    match outcome {
        Outcome::DoesNotFit { needed, room } => ModelFailure::DoesNotFit { needed, room },
        Outcome::Unusable { problem } => ModelFailure::Unreachable { detail: problem.to_string() },
        Outcome::Failed { problem } => ModelFailure::Cut { detail: format!("llama.cpp failed: {problem}"), usage },
        Outcome::Refused { problem: detail } => ModelFailure::Rejected { status: REJECTED, detail },
        Outcome::Written { .. } => stopped(),
    }
}

/// The failure of a call whose model thread has ended.
fn stopped() -> ModelFailure {
    ModelFailure::Unreachable { detail: LocalError::Stopped.to_string() }
}

/// Milliseconds that have passed since `started`.
fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
