//! The one task that drives the synchronous System.

use std::collections::BTreeMap;
use std::fs::File;
use std::future::poll_fn;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Instant, SystemTime};

use artoo_bus::{TapEvent, TapSender};
use artoo_proto::{CancelRequest, EffectId, Message, Now, Role, TaskId, Timestamp, Usage, UserRequest};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinSet;

use super::handle::TaskOutcome;
use super::perform::{EffectRunner, crashed};
use super::store::Store;
use crate::machine::Work;
use crate::memory::MemoryView;
use crate::system::{self, Effect, Input};

/// A request to the driver.
///
/// The channel is unbounded on purpose: each command completes an effect that the System started or comes from the
/// user, and the number of both is limited at their source.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "commands are taken one at a time")]
pub(super) enum Command {
    /// Start a task; `reply` gets its outcome.
    Submit { request: UserRequest, reply: oneshot::Sender<TaskOutcome> },
    /// Pass an input to the System.
    Input(Input),
    /// Read what memory holds about the newest intents, at most `limit` of them.
    ViewMemory { limit: usize, reply: oneshot::Sender<Option<MemoryView>> },
    /// Cancel open tasks and stop the driver.
    Close { closed: oneshot::Sender<()> },
}

/// A submitted task whose caller waits for the outcome.
#[derive(Debug)]
pub(super) struct Waiting {
    reply: oneshot::Sender<TaskOutcome>,
    /// Model calls and tokens so far, by role.
    usage: BTreeMap<Role, Usage>,
    /// The user's request, verbatim.
    user_request: String,
}

/// Drives the System: passes commands to it and performs its effects.
pub(super) struct Driver {
    pub(super) system: crate::System,
    pub(super) runner: Arc<EffectRunner>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
    /// Sender of `commands`, for the completions of effects.
    pub(super) sender: mpsc::UnboundedSender<Command>,
    /// The auditor's event stream; `None` without a data folder.
    pub(super) tap: Option<TapSender>,
    /// Event stream for displays.
    pub(super) events: broadcast::Sender<Arc<TapEvent>>,
    /// The stored memory; `None` without a data folder.
    pub(super) store: Option<Store>,
    /// File to which every input is written for replay.
    pub(super) input_log: Option<File>,
    pub(super) started: Instant,
    /// Running effects by task; removing a task's set stops them.
    pub(super) work: BTreeMap<Option<TaskId>, JoinSet<()>>,
    /// Submitted tasks without a result.
    pub(super) waiting: BTreeMap<TaskId, Waiting>,
}

impl Driver {
    /// Runs until the close command. Returns the store, so that the caller can wait for its last writes.
    pub(super) async fn run(mut self) -> Option<Store> {
        while let Some(command) = self.commands.recv().await {
            match command {
                Command::Submit { request, reply } => {
                    let waiting = Waiting { reply, usage: BTreeMap::new(), user_request: request.raw_input.clone() };
                    self.waiting.insert(request.task_id.clone(), waiting);
                    self.step(Input::Operator { message: request.into() });
                }
                Command::Input(input) => self.step(input),
                Command::ViewMemory { limit, reply } => {
                    let view = self.system.memory().and_then(|memory| memory.view(self.now().wall, limit));
                    // The caller may have stopped waiting.
                    drop(reply.send(view));
                }
                Command::Close { closed } => {
                    self.cancel_all();
                    // The caller may have stopped waiting.
                    let _gone = closed.send(());
                    break;
                }
            }
        }
        self.store
    }

    /// Cancels every open task, so that each gets a result before the runtime ends.
    fn cancel_all(&mut self) {
        let open: Vec<TaskId> = self.system.open_tasks().cloned().collect();
        for task_id in open {
            self.step(Input::Operator { message: CancelRequest { task_id }.into() });
        }
    }

    /// The current time: wall clock, and milliseconds since the driver started.
    fn now(&self) -> Now {
        Now {
            wall: SystemTime::now().into(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Passes an input to the System and performs the effects it returns.
    fn step(&mut self, input: Input) {
        let now = self.now();
        self.log_input(now, &input);
        for effect in self.system.step(now, input) {
            self.enact(effect);
        }
    }

    /// Performs one effect of the System: starts work, delivers a message, stops a task's work, or passes on an event.
    fn enact(&mut self, effect: Effect) {
        match effect {
            Effect::Perform { effect_id, task_id, work } => self.perform(effect_id, task_id, work),
            Effect::Deliver { to: Role::Operator, message: Message::FinalResult(result) } => {
                if let Some(store) = &self.store {
                    store.task_ended();
                }
                self.runner.forget(&result.task_id);
                if let Some(waiting) = self.waiting.remove(&result.task_id) {
                    // The caller may have stopped waiting.
                    drop(waiting.reply.send(TaskOutcome { result, usage: waiting.usage }));
                }
            }
            Effect::Deliver { message, .. } => self.ask_operator(message),
            Effect::CancelTask { task_id } => drop(self.work.remove(&Some(task_id))),
            Effect::Observe { at, event } => self.observe(at, event),
        }
    }

    /// Starts outside work; its completion comes back as an input, also after a panic of the work.
    fn perform(&mut self, effect_id: EffectId, task_id: Option<TaskId>, work: Work) {
        let sender = self.sender.clone();
        let report = move |completion| {
            // If the driver has ended, nothing waits for the completion.
            drop(sender.send(Command::Input(Input::Completed { effect_id, completion })));
        };
        let waiting = task_id.as_ref().and_then(|task| self.waiting.get(task));
        let user_request = waiting.map(|waiting| waiting.user_request.clone()).unwrap_or_default();
        let on_panic = crashed(&work, &user_request);
        let running = Arc::clone(&self.runner).perform(work, user_request, self.store.as_ref());
        let tasks = self.work.entry(task_id).or_default();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move { report(unless_it_panics(running).await.unwrap_or(on_panic)) });
    }

    /// Asks the operator in the background; an answer comes back as an input.
    fn ask_operator(&mut self, message: Message) {
        let (runner, sender) = (Arc::clone(&self.runner), self.sender.clone());
        let tasks = self.work.entry(message.task_id().cloned()).or_default();
        tasks.spawn(async move {
            if let Some(message) = runner.ask_operator(message).await {
                drop(sender.send(Command::Input(Input::Operator { message })));
            }
        });
    }

    /// Adds the usage of a finished effect to its task, and passes the event to displays and the auditor.
    fn observe(&mut self, at: Timestamp, event: TapEvent) {
        if let TapEvent::EffectFinished(finished) = &event
            && let Some(waiting) = finished.task_id.as_ref().and_then(|task| self.waiting.get_mut(task))
        {
            system::add_usage(&mut waiting.usage, &event);
        }
        if self.events.receiver_count() > 0 {
            // This fails only if no display listens, which is not an error.
            drop(self.events.send(Arc::new(event.clone())));
        }
        if let Some(tap) = &mut self.tap {
            tap.offer(at, event);
        }
    }

    /// Writes an input as one JSON line to the input log, if there is one. After a failed write the log ends.
    fn log_input(&mut self, now: Now, input: &Input) {
        if let Some(log) = &mut self.input_log
            && let Ok(mut line) = serde_json::to_vec(&(now, input))
        {
            line.push(b'\n');
            if log.write_all(&line).is_err() {
                tracing::warn!("the input log can't be written; it ends here");
                self.input_log = None;
            }
        }
    }
}

/// Runs a future; `None` if it panics. Its state is then dropped and never used again.
async fn unless_it_panics<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(outcome)) => Poll::Ready(Some(outcome)),
        Err(_) => Poll::Ready(None),
    })
    .await
}
