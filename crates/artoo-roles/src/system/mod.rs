//! The System: the bus, the instances of every role, and nothing else. One step is a function of its inputs.
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
use uuid::Uuid;

use crate::executor::Toolbox;
use crate::machine::{Completion, EffectOrigin, Ids, Incoming, RoleEffect, Work};
use crate::memory::Memory;
use instance::Instance;
use tasks::Tasks;

/// What a System is made from; with it and the inputs a run can be replayed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SystemConfig {
    /// The machine.
    pub environment: Environment,
    /// The tools it has.
    pub tools: Arc<[ToolSpec]>,
    /// How R7 decides.
    pub profile: artoo_ggs::Profile,
    /// Where ids come from.
    pub seed: Uuid,
}

/// Everything that can happen to a System.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "inputs are taken one at a time")]
pub enum Input {
    /// The operator says something.
    Operator {
        /// What.
        message: Message,
    },
    /// An effect ended.
    Completed {
        /// Which.
        effect_id: EffectId,
        /// How.
        completion: Completion,
    },
}

/// Everything a System can want.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a step has few effects, and they are taken one at a time")]
pub enum Effect {
    /// Have something done; its completion is to come back as an input.
    Perform {
        /// Under which id.
        effect_id: EffectId,
        /// For which task.
        task_id: Option<TaskId>,
        /// What.
        work: Work,
    },
    /// Tell the operator, or pass the operator's question to the auditor.
    Deliver {
        /// Operator or auditor.
        to: Role,
        /// What.
        message: Message,
    },
    /// Stop all outside work of a task; its completions are no longer awaited.
    CancelTask {
        /// Which.
        task_id: TaskId,
    },
    /// For the taps, in order.
    Observe {
        /// When.
        at: Timestamp,
        /// What.
        event: TapEvent,
    },
}

/// An instance with what must outlive its panic.
#[derive(Debug)]
struct Slot {
    /// None after a panic.
    instance: Option<Instance>,
    /// Messages it was given.
    seen: Seen,
    panics: u32,
}

impl Slot {
    fn new(instance: Instance) -> Self {
        Self { instance: Some(instance), seen: Seen::new(), panics: 0 }
    }
}

/// Ids of messages by their task, so that a process's own instance can forget those of tasks long over.
type Seen = BTreeMap<Option<TaskId>, HashSet<MessageId>>;

/// The roles of every open task, on one bus.
#[derive(Debug)]
pub struct System {
    config: SystemConfig,
    toolbox: Arc<Toolbox>,
    bus: Bus,
    ids: Ids,
    instances: BTreeMap<Address, Slot>,
    awaited: BTreeMap<EffectId, EffectOrigin>,
    tasks: Tasks,
    out: Vec<Effect>,
    /// The role whose next step panics.
    #[cfg(any(test, feature = "testing"))]
    pub panic_next: Option<Role>,
}

impl System {
    /// A System with no task yet, and this memory.
    #[must_use]
    pub fn new(config: SystemConfig, memory: Memory) -> Self {
        let mut instances = BTreeMap::new();
        let memory = Slot::new(Instance::Memory(Box::new(memory)));
        instances.insert(Address::of(Role::Memory, None, None), memory);
        Self {
            ids: Ids::new(config.seed),
            toolbox: Toolbox::new(&config.tools).into(),
            config,
            bus: Bus::new(),
            instances,
            awaited: BTreeMap::new(),
            tasks: Tasks::default(),
            out: Vec::new(),
            #[cfg(any(test, feature = "testing"))]
            panic_next: None,
        }
    }

    /// Takes one input and runs until every message it caused is delivered.
    pub fn step(&mut self, now: Now, input: Input) -> Vec<Effect> {
        self.accept(now, input);
        while let Some(delivery) = self.take_delivery(0) {
            self.deliver(now, &delivery);
        }
        self.take_effects()
    }

    /// Takes one input without delivering what it causes; with [`System::take_delivery`] and [`System::deliver`] a
    /// scheduler decides the order.
    pub fn accept(&mut self, now: Now, input: Input) {
        match input {
            Input::Operator { message } => self.operator(now, message),
            Input::Completed { effect_id, completion } => self.completed(now, effect_id, completion),
        }
    }

    /// Deliveries waiting.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.bus.pending()
    }

    /// Takes a waiting delivery; 0 is the oldest.
    pub fn take_delivery(&mut self, index: usize) -> Option<Delivery> {
        self.bus.take(index)
    }

    /// The bus, for a scheduler that queues or drops deliveries itself.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Tasks that have begun and not ended.
    pub fn open_tasks(&self) -> impl Iterator<Item = &TaskId> {
        self.tasks.open()
    }

    /// The memory, to look into; `None` after it panicked.
    #[must_use]
    pub fn memory(&self) -> Option<&Memory> {
        let slot = self.instances.get(&Address::of(Role::Memory, None, None))?;
        let Some(Instance::Memory(memory)) = &slot.instance else { return None };
        Some(memory)
    }

    /// Instances, the memory included; one that panicked counts until its task ends.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances.len()
    }

    /// Takes what the System wants done, observations in their place.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        self.flush_observations();
        std::mem::take(&mut self.out)
    }

    fn operator(&mut self, now: Now, message: Message) {
        let from = Address::of(Role::Operator, None, None);
        if let Message::UserRequest(request) = &message {
            if !self.tasks.begin(&request.task_id) {
                return self.ignore(now, from, "a task id that was used before");
            }
        } else if message.task_id().is_some_and(|task| !self.tasks.is_working(task)) {
            return self.ignore(now, from, &format!("{} for a task that is not open", message.kind()));
        }
        self.publish(now, &from, None, message);
    }

    fn completed(&mut self, now: Now, effect_id: EffectId, completion: Completion) {
        let Some(origin) = self.awaited.remove(&effect_id) else {
            let detail = format!("{} of {effect_id}, which nobody awaits", completion.describe());
            return self.ignore(now, Address::of(Role::Runtime, None, None), &detail);
        };
        let finished = EffectFinished {
            effect_id,
            by: origin.address.role,
            task_id: origin.address.task_id.clone(),
            ok: digest::is_ok(&completion),
            digest: digest::of_completion(&completion),
            usage: digest::usage(&completion),
        };
        self.bus.observe(now.wall, TapEvent::EffectFinished(finished));
        self.run(now, origin.address, origin.cause, Incoming::Completed(effect_id, completion));
    }

    fn enact(&mut self, now: Now, address: &Address, cause: MessageId, effects: Vec<RoleEffect>) {
        for effect in effects {
            match effect {
                RoleEffect::Publish(message) => self.publish(now, address, Some(cause), message),
                RoleEffect::Perform(effect_id, work) => self.perform(now, address, cause, effect_id, work),
            }
        }
    }

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

    fn publish(&mut self, now: Now, from: &Address, cause: Option<MessageId>, message: Message) {
        let id = MessageId(self.ids.next_uuid());
        let task = message.task_id().cloned();
        let is_result = message.kind() == MessageKind::FinalResult;
        match (self.bus.publish(now.wall, id, from, cause, message), task) {
            (Ok(()), Some(task_id)) if is_result => self.tasks.conclude(&task_id),
            (Err(Refusal::TooManyMessages { max }), Some(task_id)) => {
                let detail = format!("the task put more than {max} messages on the bus");
                self.role_failed(now, task_id, from.role, detail);
            }
            // Any other refusal is on the tap; the task ends by its limit if it needed that message.
            (Ok(()) | Err(_), _) => {}
        }
    }

    fn role_failed(&mut self, now: Now, task_id: TaskId, role: Role, detail: String) {
        let runtime = Address::of(Role::Runtime, None, None);
        let failed = RoleFailed { task_id, role, detail, effect_id: None };
        let id = MessageId(self.ids.next_uuid());
        // The bus lets this message through even for a task that has said too much.
        drop(self.bus.publish(now.wall, id, &runtime, None, failed.into()));
    }

    fn ignore(&mut self, now: Now, address: Address, detail: &str) {
        self.bus.observe(now.wall, TapEvent::Ignored { address, detail: detail.to_owned() });
    }

    fn flush_observations(&mut self) {
        let events = self.bus.take_events();
        self.out.extend(events.into_iter().map(|(at, event)| Effect::Observe { at, event }));
    }
}

/// Adds what an effect cost to its role's sum, for whoever watches the taps.
pub fn add_usage(total: &mut BTreeMap<Role, Usage>, event: &TapEvent) {
    if let TapEvent::EffectFinished(finished) = event
        && finished.usage != Usage::default()
    {
        *total.entry(finished.by).or_default() += finished.usage;
    }
}
