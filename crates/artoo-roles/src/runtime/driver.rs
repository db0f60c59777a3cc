//! The async task that drives the synchronous System.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Instant, SystemTime};

use artoo_bus::{TapEvent, TapSender};
use artoo_llm::Model as _;
use artoo_mkct::record::Megram;
use artoo_proto::{
    CancelRequest, EffectId, EffectKind, EffectStarted, MemoryFeedback, MemoryFeedbackKind, Message, MessageId,
    MessageKind, Now, ReplyBody, Role, TaskId, Timestamp, Usage, UserRequest, escape,
};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::decisions::DecisionLog;
use super::handle::TaskOutcome;
use super::perform::{EffectRunner, crashed};
use super::reflex::Reflex;
use super::resume::Resumption;
use super::store::{CLOSED, Store};
use super::wording::{self, RuleWords};
use crate::limits::{RULE_CHARS, RULES_WORDED_MAX};
use crate::machine::{Completion, Work};
use crate::memory::Memory;
use crate::record::{Did, Frame, Records};
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
    /// Pass the user's feedback on a task; `reply` gets the number of records that memory made of it once they are synced
    /// to the disk, or the error of the write.
    Feedback { message: MemoryFeedback, reply: oneshot::Sender<Result<usize, String>> },
    /// A model answered how to word this rule.
    Worded(EffectId, Box<Megram>, Completion),
    /// Cancel open tasks and stop the driver.
    Close { closed: oneshot::Sender<()> },
}

/// A submitted task whose caller waits for the outcome.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) reply: oneshot::Sender<TaskOutcome>,
    /// Model calls and tokens so far, by role.
    pub(super) usage: BTreeMap<Role, Usage>,
    /// The user's request, verbatim.
    pub(super) user_request: String,
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
    /// The log of R7's decisions; `None` without a data folder.
    pub(super) decisions: Option<DecisionLog>,
    /// The records of the open tasks; `None` without a data folder.
    pub(super) records: Option<Arc<Records>>,
    /// What an interrupted task waits for, until the driver runs.
    pub(super) resumption: Option<Resumption>,
    pub(super) started: Instant,
    /// Clock reading in milliseconds at `started`: more than 0 where a task is resumed.
    pub(super) uptime_ms: u64,
    /// The task that each running effect belongs to.
    pub(super) effects: BTreeMap<EffectId, TaskId>,
    /// Running effects by task; removing a task's set stops them.
    pub(super) work: BTreeMap<Option<TaskId>, JoinSet<()>>,
    /// Submitted tasks without a result.
    pub(super) waiting: BTreeMap<TaskId, Waiting>,
    /// What the model is asked between tasks.
    pub(super) rules: RuleWords,
}

impl Driver {
    /// Runs until the close command. Returns the store, so that the caller can wait for its last writes.
    pub(super) async fn run(mut self) -> Option<Store> {
        if let Some(resumption) = self.resumption.take() {
            self.resume(resumption);
        }
        while let Some(command) = self.next_command().await {
            match command {
                Command::Worded(effect_id, rule, completion) => self.worded(effect_id, &rule, completion),
                Command::Submit { request, reply } => {
                    self.rules.stop();
                    let waiting = Waiting { reply, usage: BTreeMap::new(), user_request: request.raw_input.clone() };
                    self.waiting.insert(request.task_id.clone(), waiting);
                    if let Some(records) = &self.records {
                        records.begin(&request.task_id, self.now().wall);
                    }
                    self.step(Input::Operator { message: request.into() });
                }
                Command::Input(input) => self.step(input),
                Command::Feedback { message, reply } => {
                    let known = |driver: &Self| driver.system.memory().map_or(0, Memory::records);
                    let refused = |driver: &Self| driver.store.as_ref().map_or(0, Store::refused);
                    let before = (known(&self), refused(&self));
                    if let (MemoryFeedbackKind::Wrong { .. }, Some(log)) = (&message.feedback, &self.decisions) {
                        log.add_wrong(&message.task_id);
                    }
                    self.step(Input::Operator { message: message.into() });
                    let (records, is_refused) = (known(&self).saturating_sub(before.0), refused(&self) > before.1);
                    // An empty write is synced after all earlier ones.
                    let synced = self.store.as_ref().map(|store| store.write(Vec::new()));
                    self.work.entry(None).or_default().spawn(async move {
                        let kept = match synced {
                            Some(_) if is_refused => Err("it was refused".to_owned()),
                            Some(synced) => synced.await.unwrap_or_else(|_| Err(CLOSED.to_owned())),
                            None => Ok(()),
                        };
                        // The caller may have stopped waiting.
                        let _gone = reply.send(kept.map(|()| records));
                    });
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

    /// Waits for the next command; after some idle time, meanwhile asks the model to reword memory rules one by one.
    async fn next_command(&mut self) -> Option<Command> {
        self.rules.none_left = false;
        loop {
            let is_asked = self.rules.call.as_ref().is_some_and(|call| !call.is_finished());
            if is_asked || self.rules.none_left || !self.waiting.is_empty() {
                return self.commands.recv().await;
            }
            match timeout(wording::IDLE, self.commands.recv()).await {
                Ok(command) => return command,
                Err(_) => self.word_rule(),
            }
        }
    }

    /// Asks the model to reword one memory rule that it was not asked about in this run, if there is one.
    fn word_rule(&mut self) {
        let store = self.store.as_ref().filter(|_| self.runner.model.name() != Reflex.name());
        let found = store.filter(|_| self.rules.asked.len() < RULES_WORDED_MAX);
        let Some((rule, evidence)) = found.and_then(|store| store.unworded_rule(&self.rules.asked)) else {
            self.rules.none_left = true;
            return;
        };
        self.rules.asked.insert(rule.id);
        let (effect_id, request) = (EffectId(Uuid::new_v4()), wording::request(&rule, &evidence));
        let started = EffectStarted {
            effect_id,
            cause: MessageId(Uuid::nil()),
            by: Role::Memory,
            task_id: None,
            subtask_id: None,
            effect: EffectKind::Model { schema: request.schema_name.clone() },
            digest: escape::short_line(&rule.content, RULE_CHARS),
        };
        self.observe(self.now().wall, TapEvent::EffectStarted(started));
        let (runner, sender) = (Arc::clone(&self.runner), self.sender.clone());
        let call = async move {
            let completion = Completion::Model(runner.model.ask(&request).await);
            // If the driver has ended, the rule keeps its words.
            drop(sender.send(Command::Worded(effect_id, Box::new(rule), completion)));
        };
        self.rules.call = Some(self.work.entry(None).or_default().spawn(call));
    }

    /// Replaces the text of a memory rule by a model's, if that says the same; otherwise marks the rule, so that it is
    /// not asked about again.
    fn worded(&mut self, effect_id: EffectId, rule: &Megram, completion: Completion) {
        self.observe(self.now().wall, system::finished(effect_id, Role::Memory, None, &completion));
        let (Some(store), Completion::Model(Ok(reply))) = (&self.store, completion) else { return };
        let ReplyBody::Json { value } = reply.body else { return };
        let tools: Vec<String> = self.runner.tools.specs().into_iter().map(|tool| tool.name).collect();
        match wording::words(rule, &value, &tools) {
            Some(words) => store.reword(rule.id, &words, &reply.model),
            None => store.reword(rule.id, &rule.content, wording::TABLE),
        }
    }

    /// Cancels every open task, so that each gets a result before the runtime ends.
    fn cancel_all(&mut self) {
        let open: Vec<TaskId> = self.system.open_tasks().cloned().collect();
        for task_id in open {
            self.step(Input::Operator { message: CancelRequest { task_id }.into() });
        }
    }

    /// The current time: wall clock, and milliseconds since the driver started plus its `uptime_ms`.
    pub(super) fn now(&self) -> Now {
        Now {
            wall: SystemTime::now().into(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis())
                .unwrap_or(u64::MAX)
                .saturating_add(self.uptime_ms),
        }
    }

    /// Writes an input to the task's record, passes it to the System, and performs the effects that the System returns.
    fn step(&mut self, input: Input) {
        let now = self.now();
        let task_id = match &input {
            Input::Operator { message } => message.task_id().cloned(),
            Input::Completed { effect_id, .. } => self.effects.remove(effect_id),
            Input::MemoryChanged { .. } => None,
        };
        let Some((records, task_id)) = self.records.clone().zip(task_id) else {
            return self.system.step(now, input).into_iter().for_each(|effect| self.enact(effect));
        };
        let input = Box::new(input);
        let frame = Frame::Input { now, input };
        records.append(&task_id, &frame);
        let Frame::Input { input, .. } = frame else { return };
        let effects = self.system.step(now, *input);
        records.append(&task_id, &Frame::Did { effects: effects.iter().filter_map(Did::of).collect() });
        effects.into_iter().for_each(|effect| self.enact(effect));
    }

    /// Performs one effect of the System: starts work, delivers a message, stops a task's work, or passes on an event.
    pub(super) fn enact(&mut self, effect: Effect) {
        match effect {
            Effect::Perform { effect_id, task_id, work } => self.perform(effect_id, task_id, work),
            Effect::Deliver { to: Role::Operator, message: Message::FinalResult(result) } => {
                if let Some(store) = &self.store {
                    store.task_ended();
                }
                self.runner.forget(&result.task_id);
                let usage = self.waiting.get(&result.task_id).map(|waiting| waiting.usage.clone()).unwrap_or_default();
                if let Some(records) = &self.records {
                    let ended = Frame::Ended { at: self.now().wall, usage: usage.into_iter().collect() };
                    records.end(&result.task_id, &ended);
                }
                if let Some(waiting) = self.waiting.remove(&result.task_id) {
                    // The caller may have stopped waiting.
                    drop(waiting.reply.send(TaskOutcome { result, usage: waiting.usage }));
                }
            }
            Effect::Deliver { message, .. } => self.ask_operator(message),
            Effect::CancelTask { task_id } => {
                self.effects.retain(|_, of| *of != task_id);
                drop(self.work.remove(&Some(task_id)));
            }
            Effect::Observe { at, event } => self.observe(at, event),
            Effect::Decided { records, .. } => {
                if let Some(log) = &self.decisions {
                    log.add(records);
                }
            }
        }
    }

    /// Starts outside work; its completion comes back as an input, also after a panic of the work.
    pub(super) fn perform(&mut self, effect_id: EffectId, task_id: Option<TaskId>, work: Work) {
        let waiting = task_id.as_ref().and_then(|task| self.waiting.get(task));
        let user_request = waiting.map(|waiting| waiting.user_request.clone()).unwrap_or_default();
        let on_panic = crashed(&work, &user_request);
        let running = Arc::clone(&self.runner).perform(work, user_request, self.store.as_ref());
        self.spawn(effect_id, task_id, running, on_panic);
    }

    /// Starts work whose completion comes back as an input; `on_panic` if the work panics.
    pub(super) fn spawn(
        &mut self,
        effect_id: EffectId,
        task_id: Option<TaskId>,
        running: impl Future<Output = Completion> + Send + 'static,
        on_panic: Completion,
    ) {
        let sender = self.sender.clone();
        if let Some(task_id) = &task_id {
            self.effects.insert(effect_id, task_id.clone());
        }
        let tasks = self.work.entry(task_id).or_default();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let completion = unless_it_panics(running).await.unwrap_or(on_panic);
            // If the driver has ended, nothing waits for the completion.
            drop(sender.send(Command::Input(Input::Completed { effect_id, completion })));
        });
    }

    /// Asks the operator in the background; an answer comes back as an input.
    pub(super) fn ask_operator(&mut self, message: Message) {
        let (runner, sender) = (Arc::clone(&self.runner), self.sender.clone());
        let tasks = self.work.entry(message.task_id().cloned()).or_default();
        tasks.spawn(async move {
            if let Some(message) = runner.ask_operator(message).await {
                drop(sender.send(Command::Input(Input::Operator { message })));
            }
        });
    }

    /// Adds the usage of a finished effect to its task, writes a message that is kept to the task's record, and passes
    /// the event to displays and the auditor.
    fn observe(&mut self, at: Timestamp, event: TapEvent) {
        if let TapEvent::EffectFinished(finished) = &event
            && let Some(waiting) = finished.task_id.as_ref().and_then(|task| self.waiting.get_mut(task))
        {
            system::add_usage(&mut waiting.usage, &event);
        }
        if let (Some(records), TapEvent::Message { envelope }) = (&self.records, &event)
            && let Some(task_id) = envelope.correlation_id.as_ref().filter(|_| is_kept(envelope.message.kind()))
        {
            records.append(task_id, &Frame::Said { at, message: Box::new(envelope.message.clone()) });
        }
        if self.events.receiver_count() > 0 {
            // This fails only if no display listens, which is not an error.
            drop(self.events.send(Arc::new(event.clone())));
        }
        if let Some(tap) = &mut self.tap {
            tap.offer(at, event);
        }
    }
}

/// Whether a message is recorded: a replay needs memory's answers, a report the other messages.
fn is_kept(kind: MessageKind) -> bool {
    matches!(
        kind,
        MessageKind::MemoryRecall
            | MessageKind::Plan
            | MessageKind::PlanDirective
            | MessageKind::CorrectionSignal
            | MessageKind::FinalResult
    )
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
