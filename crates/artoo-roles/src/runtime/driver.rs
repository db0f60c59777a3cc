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

/// What the driver is told. Unbounded on purpose: each input answers an effect the System asked for, or is a person's
/// act, and both are bounded where they arise.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "commands are taken one at a time")]
pub(super) enum Command {
    Submit { request: UserRequest, reply: oneshot::Sender<TaskOutcome> },
    Input(Input),
    ViewMemory { limit: usize, reply: oneshot::Sender<Option<MemoryView>> },
    Close { closed: oneshot::Sender<()> },
}

#[derive(Debug)]
pub(super) struct Waiting {
    reply: oneshot::Sender<TaskOutcome>,
    usage: BTreeMap<Role, Usage>,
    /// The task in the person's own words.
    user_request: String,
}

/// The driver's own state; the System's is inside it.
pub(super) struct Driver {
    pub(super) system: crate::System,
    pub(super) runner: Arc<EffectRunner>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
    pub(super) sender: mpsc::UnboundedSender<Command>,
    pub(super) tap: Option<TapSender>,
    pub(super) events: broadcast::Sender<Arc<TapEvent>>,
    pub(super) store: Option<Store>,
    pub(super) input_log: Option<File>,
    pub(super) started: Instant,
    /// Outside work by task; dropping a set stops it.
    pub(super) work: BTreeMap<Option<TaskId>, JoinSet<()>>,
    pub(super) waiting: BTreeMap<TaskId, Waiting>,
}

impl Driver {
    /// Runs until told to close; gives back the store so that its last writes can be waited for.
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
                    // Whoever asked may have gone.
                    drop(reply.send(view));
                }
                Command::Close { closed } => {
                    self.cancel_all();
                    // A closer that went away needs no word.
                    let _gone = closed.send(());
                    break;
                }
            }
        }
        self.store
    }

    /// Ends every open task with a result of its own before the runtime goes.
    fn cancel_all(&mut self) {
        let open: Vec<TaskId> = self.system.open_tasks().cloned().collect();
        for task_id in open {
            self.step(Input::Operator { message: CancelRequest { task_id }.into() });
        }
    }

    fn now(&self) -> Now {
        Now {
            wall: SystemTime::now().into(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn step(&mut self, input: Input) {
        let now = self.now();
        self.log_input(now, &input);
        for effect in self.system.step(now, input) {
            self.enact(effect);
        }
    }

    fn enact(&mut self, effect: Effect) {
        match effect {
            Effect::Perform { effect_id, task_id, work } => self.perform(effect_id, task_id, work),
            Effect::Deliver { to: Role::Operator, message: Message::FinalResult(result) } => {
                if let Some(store) = &self.store {
                    store.task_ended();
                }
                self.runner.forget(&result.task_id);
                if let Some(waiting) = self.waiting.remove(&result.task_id) {
                    // A caller that went away does not want the result.
                    drop(waiting.reply.send(TaskOutcome { result, usage: waiting.usage }));
                }
            }
            Effect::Deliver { message, .. } => self.ask_operator(message),
            Effect::CancelTask { task_id } => drop(self.work.remove(&Some(task_id))),
            Effect::Observe { at, event } => self.observe(at, event),
        }
    }

    fn perform(&mut self, effect_id: EffectId, task_id: Option<TaskId>, work: Work) {
        let sender = self.sender.clone();
        let report = move |completion| {
            // A driver that is gone awaits nothing.
            drop(sender.send(Command::Input(Input::Completed { effect_id, completion })));
        };
        let waiting = task_id.as_ref().and_then(|task| self.waiting.get(task));
        let user_request = waiting.map(|waiting| waiting.user_request.clone()).unwrap_or_default();
        let on_panic = crashed(&work);
        let running = Arc::clone(&self.runner).perform(work, user_request, self.store.as_ref());
        let tasks = self.work.entry(task_id).or_default();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move { report(unless_it_panics(running).await.unwrap_or(on_panic)) });
    }

    fn ask_operator(&mut self, message: Message) {
        let (runner, sender) = (Arc::clone(&self.runner), self.sender.clone());
        let tasks = self.work.entry(message.task_id().cloned()).or_default();
        tasks.spawn(async move {
            if let Some(message) = runner.ask_operator(message).await {
                drop(sender.send(Command::Input(Input::Operator { message })));
            }
        });
    }

    fn observe(&mut self, at: Timestamp, event: TapEvent) {
        if let TapEvent::EffectFinished(finished) = &event
            && let Some(waiting) = finished.task_id.as_ref().and_then(|task| self.waiting.get_mut(task))
        {
            system::add_usage(&mut waiting.usage, &event);
        }
        if self.events.receiver_count() > 0 {
            // Nobody listening is no failure: events are for displays.
            drop(self.events.send(Arc::new(event.clone())));
        }
        if let Some(tap) = &mut self.tap {
            tap.offer(at, event);
        }
    }

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

/// What comes of the work; nothing where it panicked. What it held is dropped with it and never looked at again.
async fn unless_it_panics<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(outcome)) => Poll::Ready(Some(outcome)),
        Err(_) => Poll::Ready(None),
    })
    .await
}
