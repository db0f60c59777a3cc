//! Delivery of messages to role instances or to the outside, and what happens after a role panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use artoo_bus::{Delivery, TapEvent};
use artoo_proto::{Address, Envelope, MessageId, MessageKind, Now, Role, TaskId};

use super::instance::Instance;
use super::{Effect, Slot, System, digest, outlives_its_task};
use crate::limits::SOLVER_PANICS_MAX;
use crate::machine::{Context, Incoming};
use crate::memory::Memory;
use crate::solver;

impl System {
    /// Delivers a message to its role instances, or to the operator or auditor outside the System.
    pub fn deliver(&mut self, now: Now, delivery: &Delivery) {
        let address = delivery.to.clone();
        let envelope = &delivery.envelope;
        if matches!(address.role, Role::Operator | Role::Auditor) {
            return self.hand_out(now, address, envelope);
        }
        for address in self.receivers(address, envelope) {
            self.run(now, address, envelope.id, Incoming::Message(envelope.clone()));
        }
    }

    /// The instances that get a message: for an abort, every existing instance of the role in the task; otherwise the
    /// address.
    fn receivers(&self, address: Address, envelope: &Envelope) -> Vec<Address> {
        if envelope.message.kind() != MessageKind::Abort {
            return vec![address];
        }
        let same = |known: &&Address| known.role == address.role && known.task_id == address.task_id;
        self.instances.keys().filter(same).cloned().collect()
    }

    /// Hands a message to the operator or auditor. A message is handed out once; after a task has its result, only the
    /// result.
    fn hand_out(&mut self, now: Now, address: Address, envelope: &Envelope) {
        let message = envelope.message.clone();
        let is_result = message.kind() == MessageKind::FinalResult;
        let task_id = message.task_id().cloned();
        let is_news = match &task_id {
            Some(task) if is_result => self.tasks.is_open(task),
            Some(task) => self.tasks.tell(task, envelope.id),
            None => true,
        };
        if !is_news {
            let detail = format!("{} a second time or after the result", message.kind());
            return self.ignore(now, address, &detail);
        }
        self.flush_observations();
        self.out.push(Effect::Deliver { to: address.role, message });
        if let Some(task_id) = task_id.filter(|_| is_result) {
            self.end(task_id);
        }
    }

    /// Removes everything of an ended task: instances, awaited effects and queued deliveries, except Megrams (records
    /// for memory).
    fn end(&mut self, task_id: TaskId) {
        let Some(forgotten) = self.tasks.end(&task_id) else { return };
        self.ids.end(&task_id);
        for task in forgotten {
            self.instances.values_mut().for_each(|slot| drop(slot.seen.remove(&Some(task.clone()))));
        }
        self.instances.retain(|address, _| address.task_id.as_ref() != Some(&task_id));
        self.awaited.retain(|_, origin| origin.address.task_id.as_ref() != Some(&task_id));
        self.bus.forget(&task_id);
        // The bus forgets by address; deliveries to an address without a task are found by their correlation id.
        let is_stale = |delivery: &Delivery| {
            let envelope = &delivery.envelope;
            envelope.correlation_id.as_ref() == Some(&task_id) && !outlives_its_task(envelope.message.kind())
        };
        let stale: Vec<usize> = self.bus.waiting().enumerate().filter(|(_, d)| is_stale(d)).map(|(at, _)| at).collect();
        for at in stale.into_iter().rev() {
            drop(self.bus.take(at));
        }
        self.out.push(Effect::CancelTask { task_id });
    }

    /// Why an instance may not process an input; `None` if it may.
    fn objection(&self, address: &Address, incoming: &Incoming) -> Option<&'static str> {
        let kind = match incoming {
            Incoming::Message(envelope) => Some(envelope.message.kind()),
            Incoming::Completed(..) => None,
        };
        let task = match incoming {
            // Only what memory is to learn is delivered after its task has ended.
            Incoming::Message(envelope) if outlives_its_task(envelope.message.kind()) => None,
            Incoming::Message(envelope) => envelope.message.task_id(),
            Incoming::Completed(..) => address.task_id.as_ref(),
        };
        if task.is_some_and(|task| !self.tasks.is_open(task)) {
            return Some("after the task ended");
        }
        let is_abort = kind == Some(MessageKind::Abort);
        if task.is_some_and(|task| !self.tasks.is_working(task)) && !is_abort {
            return Some("after the task's result");
        }
        let has_panicked = self.instances.get(address).is_some_and(|slot| slot.instance.is_none());
        // A new Solver (R7) is made only to end the task: it doesn't know what was decided before.
        let says_so = matches!(kind, Some(MessageKind::RoleFailed | MessageKind::CancelRequest));
        let is_solver = address.role == Role::Solver;
        (has_panicked && !(is_solver && says_so)).then_some("for an instance that panicked")
    }

    /// Runs one step of an instance and performs its effects. A panic removes the instance and ends its task through
    /// the Solver (R7).
    pub(super) fn run(&mut self, now: Now, address: Address, cause: MessageId, incoming: Incoming) {
        if let Incoming::Message(envelope) = &incoming
            && envelope.message.kind() == MessageKind::MemoryFeedback
            && !self.feedback.insert(envelope.id)
        {
            return self.ignore(now, address, &format!("{} a second time", incoming.describe()));
        }
        if let Some(objection) = self.objection(&address, &incoming) {
            return self.ignore(now, address, &format!("{} {objection}", incoming.describe()));
        }
        if !self.instances.contains_key(&address) {
            // Only a message creates an instance; a completion for a removed one is late.
            let is_message = matches!(incoming, Incoming::Message(_));
            let made = is_message.then(|| Instance::for_address(&address, &self.config, &self.toolbox));
            let Some(instance) = made.flatten() else {
                return self.ignore(now, address, &format!("{} for nobody", incoming.describe()));
            };
            self.instances.insert(address.clone(), Slot::new(instance));
        }
        let Some(slot) = self.instances.get_mut(&address) else { return };
        if let Incoming::Message(envelope) = &incoming
            && !slot.seen.entry(envelope.correlation_id.clone()).or_default().insert(envelope.id)
        {
            return self.ignore(now, address, &format!("{} a second time", incoming.describe()));
        }
        if slot.instance.is_none() {
            slot.instance = Instance::for_address(&address, &self.config, &self.toolbox);
        }
        let Some(instance) = &mut slot.instance else { return };
        let described = incoming.describe();
        let mut cx = Context::new(now, self.ids.of(address.task_id.as_ref()));
        #[cfg(any(test, feature = "testing"))]
        let planted = crate::testing::world::planted_panic(&mut self.panic_next, address.role);
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            #[cfg(any(test, feature = "testing"))]
            assert!(!planted, "planted panic");
            instance.step(&mut cx, incoming)
        }));
        let records = std::mem::take(&mut cx.records);
        if let Some(task_id) = address.task_id.clone().filter(|_| !records.is_empty()) {
            self.out.push(Effect::Decided { task_id, records });
        }
        if cx.ignored {
            self.ignore(now, address.clone(), &format!("at {described}: not awaited in this phase"));
        }
        // An instance that was made for feedback on an ended task is of no more use.
        if address.task_id.as_ref().is_some_and(|task| !self.tasks.is_open(task)) {
            self.instances.remove(&address);
        }
        match stepped {
            Ok(Ok(effects)) => self.enact(now, &address, cause, effects),
            Ok(Err(misrouted)) => self.ignore(now, address, &misrouted.to_string()),
            Err(panic) => self.panicked(now, address, cause, digest::panic_text(panic.as_ref())),
        }
    }

    /// Handles a role's panic: records it, removes the instance (the memory is replaced by an unavailable one), and
    /// ends its task with a failure.
    fn panicked(&mut self, now: Now, address: Address, cause: MessageId, detail: String) {
        self.awaited.retain(|_, origin| origin.address != address);
        self.bus.observe(now.wall, TapEvent::Panicked { address: address.clone(), detail: detail.clone() });
        let Some(slot) = self.instances.get_mut(&address) else { return };
        slot.panics = slot.panics.saturating_add(1);
        let panics = slot.panics;
        // All tasks share the memory, so after a panic it is unavailable to every task and says so when asked.
        let is_memory = address.role == Role::Memory;
        slot.instance = is_memory.then(|| Instance::Memory(Box::new(Memory::unavailable())));
        let Some(task_id) = address.task_id.clone().filter(|task| self.tasks.is_working(task)) else { return };
        if address.role == Role::Solver && panics > SOLVER_PANICS_MAX {
            // The Solver (R7) can't even report its failure. The task still ends with one result, sent in the Solver's
            // name.
            self.publish(now, &address, Some(cause), solver::last_word(task_id, detail).into());
        } else {
            self.role_failed(now, task_id, address.role, detail);
        }
    }
}
