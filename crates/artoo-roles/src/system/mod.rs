//! The System: the bus and the instances of every role. The effects of a step depend only on its inputs.
//!
//! `step(now, input) -> effects` never waits, never reads a clock and never touches the outside. The async runtime and
//! the seeded scheduler of the tests drive this same object from the same constructor.

mod delivery;
mod digest;
#[cfg(any(test, feature = "testing"))]
mod inspect;
mod instance;
mod tasks;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use artoo_bus::{Bus, Delivery, Refusal, TapEvent};
use artoo_proto::{
    Address, EffectFinished, EffectId, EffectStarted, Environment, Message, MessageId, MessageKind, Now, Role,
    RoleFailed, TaskId, Timestamp, ToolSpec, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::executor::Toolbox;
use crate::machine::{Completion, EffectOrigin, IdSources, Incoming, RoleEffect, Work};
use crate::memory::Memory;
use instance::Instance;
use tasks::Tasks;

/// Configuration of a System. With the configuration and the inputs, a run can be replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemConfig {
    /// Facts about the machine: folders, operating system, time zone.
    pub environment: Environment,
    /// The tools that plans may use.
    pub tools: Arc<[ToolSpec]>,
    /// Decision parameters of the Solver (R7).
    pub profile: artoo_ggs::Profile,
    /// Seed from which all ids are derived.
    pub seed: Uuid,
}

/// An input of the System: a message of the user, the completion of an effect, or changes of the stored memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "inputs are taken one at a time")]
pub enum Input {
    /// The operator sent a message.
    Operator {
        /// The operator's message.
        message: Message,
    },
    /// An effect (work outside the System) ended.
    Completed {
        /// Id of the effect that ended.
        effect_id: EffectId,
        /// How the effect ended, with its result.
        completion: Completion,
    },
    /// The stored memory was changed by others than R5 (the memory): by the Dreamer, or by another process.
    MemoryChanged {
        /// Frames (entries of memory's journal, as JSON) of the changes.
        frames: Vec<Value>,
    },
}

/// An effect: something that the System asks its driver to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a step has few effects, and they are taken one at a time")]
pub enum Effect {
    /// Perform work outside the System, and return its completion as an input.
    Perform {
        /// Id of the effect, which its completion must carry.
        effect_id: EffectId,
        /// Task that the work is for; `None` for writes of memory.
        task_id: Option<TaskId>,
        /// The work to perform.
        work: Work,
    },
    /// Deliver a message to the operator, or the operator's query to the auditor.
    Deliver {
        /// The receiver: operator or auditor.
        to: Role,
        /// The message to deliver.
        message: Message,
    },
    /// Stop all outside work of a task; its completions are no longer awaited.
    CancelTask {
        /// The task whose work to stop.
        task_id: TaskId,
    },
    /// Append the log of a task's decisions, which R7 (the Solver) made.
    Decided {
        /// The task that ended.
        task_id: TaskId,
        /// The log entries, in order.
        records: Vec<Value>,
    },
    /// Pass an event to the taps (event streams for observers), in order.
    Observe {
        /// When the event happened.
        at: Timestamp,
        /// The event to pass on.
        event: TapEvent,
    },
}

/// A role instance, with the state that survives a panic of the instance.
#[derive(Debug)]
struct Slot {
    /// The instance; `None` after a panic, except for memory, which is replaced by one that is unavailable.
    instance: Option<Instance>,
    /// Ids of the messages it received, so that none is processed twice.
    seen: SeenMessages,
    /// Number of panics of this instance.
    panics: u32,
}

impl Slot {
    /// A slot for a new instance, which has neither received a message nor panicked.
    fn new(instance: Instance) -> Self {
        Self { instance: Some(instance), seen: SeenMessages::new(), panics: 0 }
    }
}

/// Message ids by task, so that an instance shared by all tasks can forget the ids of ended tasks.
type SeenMessages = BTreeMap<Option<TaskId>, HashSet<MessageId>>;

/// The role instances of all open tasks, and the bus that connects them.
#[derive(Debug)]
pub struct System {
    config: SystemConfig,
    toolbox: Arc<Toolbox>,
    bus: Bus,
    ids: IdSources,
    instances: BTreeMap<Address, Slot>,
    /// Effects that were started and have not completed.
    awaited: BTreeMap<EffectId, EffectOrigin>,
    tasks: Tasks,
    /// Ids of the user's feedback messages: the instance that gets one may be made for it alone.
    feedback: HashSet<MessageId>,
    /// Effects that were not handed to the driver yet.
    out: Vec<Effect>,
    /// The role whose next step panics, for tests.
    #[cfg(any(test, feature = "testing"))]
    pub panic_next: Option<Role>,
}

impl System {
    /// A System without tasks that uses `memory`.
    #[must_use]
    pub fn new(config: SystemConfig, memory: Memory) -> Self {
        let mut instances = BTreeMap::new();
        let memory = Slot::new(Instance::Memory(Box::new(memory)));
        instances.insert(Address::of(Role::Memory, None, None), memory);
        Self {
            ids: IdSources::new(config.seed),
            toolbox: Toolbox::new(&config.tools).into(),
            config,
            bus: Bus::new(),
            instances,
            awaited: BTreeMap::new(),
            tasks: Tasks::default(),
            feedback: HashSet::new(),
            out: Vec::new(),
            #[cfg(any(test, feature = "testing"))]
            panic_next: None,
        }
    }

    /// Processes one input and delivers every message it causes; returns the effects to perform.
    pub fn step(&mut self, now: Now, input: Input) -> Vec<Effect> {
        self.accept(now, input);
        while let Some(delivery) = self.take_delivery(0) {
            self.deliver(now, &delivery);
        }
        self.take_effects()
    }

    /// Processes one input and leaves the messages it causes in the queue. A scheduler then chooses their order with
    /// [`System::take_delivery`] and [`System::deliver`].
    pub fn accept(&mut self, now: Now, input: Input) {
        match input {
            Input::Operator { message } => self.operator(now, message),
            Input::Completed { effect_id, completion } => self.completed(now, effect_id, completion),
            Input::MemoryChanged { frames } => {
                if let Some(Instance::Memory(memory)) = self.memory_slot().and_then(|slot| slot.instance.as_mut()) {
                    memory.changed(frames);
                }
            }
        }
    }

    /// Number of queued deliveries.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.bus.pending()
    }

    /// Removes a queued delivery from the queue; index 0 is the oldest. `None` if there is none at `index`.
    pub fn take_delivery(&mut self, index: usize) -> Option<Delivery> {
        self.bus.take(index)
    }

    /// The bus, for a scheduler that queues or drops deliveries itself.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Tasks that have begun and whose final result was not delivered yet.
    pub fn open_tasks(&self) -> impl Iterator<Item = &TaskId> {
        self.tasks.open()
    }

    /// Read access to the memory instance; after the memory panicked, to a replacement without records. Every System
    /// has one, so it is never `None`.
    #[must_use]
    pub fn memory(&self) -> Option<&Memory> {
        let slot = self.instances.get(&Address::of(Role::Memory, None, None))?;
        let Some(Instance::Memory(memory)) = &slot.instance else { return None };
        Some(memory)
    }

    /// Lets the memory answer for itself again after a replay.
    pub(crate) fn end_replay(&mut self) {
        if let Some(Instance::Memory(memory)) = self.memory_slot().and_then(|slot| slot.instance.as_mut()) {
            memory.end_replay();
        }
    }

    /// The slot of the memory instance, which all tasks share.
    fn memory_slot(&mut self) -> Option<&mut Slot> {
        self.instances.get_mut(&Address::of(Role::Memory, None, None))
    }

    /// Number of role instances, including the memory. An instance that panicked counts until its task ends.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances.len()
    }

    /// Takes the effects that were not handed out yet, in order, including events for the taps.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        self.flush_observations();
        std::mem::take(&mut self.out)
    }

    /// Publishes a message of the operator. A reused task id, or a task that is not open, is ignored.
    fn operator(&mut self, now: Now, message: Message) {
        let from = Address::of(Role::Operator, None, None);
        if let Message::UserRequest(request) = &message {
            if !self.tasks.begin(&request.task_id) {
                return self.ignore(now, from, "a task id that was used before");
            }
            self.ids.begin(&request.task_id);
        } else if !outlives_its_task(message.kind())
            && message.task_id().is_some_and(|task| !self.tasks.is_working(task))
        {
            return self.ignore(now, from, &format!("{} for a task that is not open", message.kind()));
        }
        self.publish(now, &from, None, message);
    }

    /// Passes a completion to the role that started the effect; a completion that no role awaits is ignored.
    fn completed(&mut self, now: Now, effect_id: EffectId, completion: Completion) {
        let Some(origin) = self.awaited.remove(&effect_id) else {
            // A task can be declined before code has read its request; the reading is of no use then.
            if matches!(completion, Completion::Read(_)) {
                return;
            }
            let detail = format!("{} of {effect_id}, which nobody awaits", completion.describe());
            return self.ignore(now, Address::of(Role::Runtime, None, None), &detail);
        };
        let finished = finished(effect_id, origin.address.role, origin.address.task_id.clone(), &completion);
        self.bus.observe(now.wall, finished);
        self.run(now, origin.address, origin.cause, Incoming::Completed(effect_id, completion));
    }

    /// Publishes the messages and starts the work that a role asked for.
    fn enact(&mut self, now: Now, address: &Address, cause: MessageId, effects: Vec<RoleEffect>) {
        for effect in effects {
            match effect {
                RoleEffect::Publish(message) => self.publish(now, address, Some(cause), message),
                RoleEffect::Perform(effect_id, work) => self.perform(now, address, cause, effect_id, work),
            }
        }
    }

    /// Starts work that a role asked for, and reports it to the observers.
    fn perform(&mut self, now: Now, address: &Address, cause: MessageId, effect_id: EffectId, work: Work) {
        let origin = EffectOrigin { address: address.clone(), cause, subtask_id: address.subtask_id };
        let started = EffectStarted {
            effect_id,
            cause,
            by: address.role,
            task_id: address.task_id.clone(),
            subtask_id: address.subtask_id,
            effect: work.kind(),
            digest: digest::of_work(&work),
        };
        self.awaited.insert(effect_id, origin);
        self.bus.observe(now.wall, TapEvent::EffectStarted(started));
        self.flush_observations();
        self.out.push(Effect::Perform { effect_id, task_id: address.task_id.clone(), work });
    }

    /// Publishes a message of an instance, or reports why the bus refused it.
    fn publish(&mut self, now: Now, from: &Address, cause: Option<MessageId>, message: Message) {
        let task = message.task_id().cloned();
        let id = MessageId(self.ids.of(task.as_ref()).next_uuid());
        let is_result = message.kind() == MessageKind::FinalResult;
        match (self.bus.publish(now.wall, id, from, cause, message), task) {
            (Ok(()), Some(task_id)) if is_result => self.tasks.conclude(&task_id),
            (Err(Refusal::TooManyMessages { max }), Some(task_id)) => {
                let detail = format!("the task put more than {max} messages on the bus");
                self.role_failed(now, task_id, from.role, detail);
            }
            // Observers see any other refusal; if the task needed that message, its hard limit ends it.
            (Ok(()) | Err(_), _) => {}
        }
    }

    /// Publishes that a role failed, so that the Solver (R7) ends the task.
    fn role_failed(&mut self, now: Now, task_id: TaskId, role: Role, detail: String) {
        let runtime = Address::of(Role::Runtime, None, None);
        let id = MessageId(self.ids.of(Some(&task_id)).next_uuid());
        let failed = RoleFailed { task_id, role, detail, effect_id: None };
        // The bus accepts this message even for a task that has reached its message limit.
        drop(self.bus.publish(now.wall, id, &runtime, None, failed.into()));
    }

    /// Records that an input was ignored, for the observers of the bus.
    fn ignore(&mut self, now: Now, address: Address, detail: &str) {
        self.bus.observe(now.wall, TapEvent::Ignored { address, detail: detail.to_owned() });
    }

    /// Moves the events of the bus to the effects that are handed out.
    fn flush_observations(&mut self) {
        let events = self.bus.take_events();
        self.out.extend(events.into_iter().map(|(at, event)| Effect::Observe { at, event }));
    }
}

/// Makes the tap event that reports the end of a role's outside work, with its usage.
pub(crate) fn finished(effect_id: EffectId, by: Role, task_id: Option<TaskId>, completion: &Completion) -> TapEvent {
    TapEvent::EffectFinished(EffectFinished {
        effect_id,
        by,
        task_id,
        ok: digest::is_ok(completion),
        digest: digest::of_completion(completion),
        usage: digest::usage(completion),
    })
}

/// Whether a message is delivered although its task has ended: records for memory, and the user's feedback.
fn outlives_its_task(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::Megram | MessageKind::MemoryFeedback | MessageKind::MemoryCorrection)
}

/// Adds the model calls and tokens of a finished effect to the total of its role; ignores other events.
pub fn add_usage(total: &mut BTreeMap<Role, Usage>, event: &TapEvent) {
    if let TapEvent::EffectFinished(finished) = event
        && finished.usage != Usage::default()
    {
        *total.entry(finished.by).or_default() += finished.usage;
    }
}
