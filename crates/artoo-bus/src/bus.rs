//! Publishing: who may say it, what led to it, in which order, to whom.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use artoo_proto::{Address, Envelope, Message, MessageId, MessageKind, Role, TaskId, Timestamp, route};
use serde::{Deserialize, Serialize};

use crate::mailbox::{Delivery, Mailboxes};
use crate::tap::TapEvent;

/// Messages one task may put on the bus. Four rounds of 32 subtasks with three attempts each need about 2,000;
/// what ends a task is let through all the same.
pub(crate) const TASK_MESSAGES_MAX: usize = 10_000;

/// Messages beyond that bound for the kinds that end a task: a task that said too much must still end with its result.
///
/// The word that it must end may use half of them, the word to its instances three quarters, so that however often it
/// is said, there is room for the result.
pub(crate) const TASK_END_RESERVE: usize = 16;

/// Why a message was not let onto the bus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum Refusal {
    /// The table has no such row.
    #[error("{kind} has no route")]
    NoRoute {
        /// The kind.
        kind: MessageKind,
    },
    /// Another role's message.
    #[error("{kind} belongs to {owner}, not to {from}")]
    WrongSender {
        /// The kind.
        kind: MessageKind,
        /// Who tried.
        from: Role,
        /// Whose it is.
        owner: Role,
    },
    /// An instance spoke for another task or subtask than its own.
    #[error("an instance of one task or subtask spoke for another")]
    ForeignTask,
    /// A message with this id already passed in this task.
    #[error("a message with this id already passed")]
    RepeatedId,
    /// A role spoke without a cause, or named one that never passed the bus.
    #[error("its cause never passed the bus")]
    UnknownCause,
    /// The task has said too much.
    #[error("the task has put {max} messages on the bus")]
    TooManyMessages {
        /// The bound.
        max: usize,
    },
}

/// The bus: an ordered queue of deliveries and a record of everything that was let on or refused.
///
/// The record is held until [`Bus::take_events`]; whoever drives the bus takes it after every step.
#[derive(Debug, Default)]
pub struct Bus {
    next_seq: u64,
    passed: BTreeMap<TaskId, HashSet<MessageId>>,
    mailboxes: Mailboxes,
    dropped: u64,
    events: Vec<(Timestamp, TapEvent)>,
}

impl Bus {
    /// An empty bus.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Publishes a message: receivers come from the route table, never from the sender.
    ///
    /// `from` must be the address at which its role handles this task and subtask, as [`Address::of`] gives it.
    /// Nothing can follow from a message of no task (the human's word to the auditor), so such ids are not kept.
    ///
    /// # Errors
    /// [`Refusal`], which is also seen on the tap.
    pub fn publish(
        &mut self,
        at: Timestamp,
        id: MessageId,
        from: &Address,
        cause: Option<MessageId>,
        message: Message,
    ) -> Result<(), Refusal> {
        let kind = message.kind();
        let task = message.task_id().cloned();
        let subtask = message.subtask_id();
        let to = match self.check(id, from, &message, cause) {
            Ok(to) => to,
            Err(refusal) => {
                let refused = TapEvent::Refused { from: from.clone(), kind, task_id: task, refusal: refusal.clone() };
                self.events.push((at, refused));
                return Err(refusal);
            }
        };
        if let Some(task) = &task {
            self.passed.entry(task.clone()).or_default().insert(id);
        }
        let envelope = Envelope {
            seq: self.next_seq,
            id,
            sent_at: at,
            from: from.clone(),
            to: to.to_vec(),
            correlation_id: task.clone(),
            causation_id: cause,
            message,
        };
        self.next_seq += 1;
        let envelope = Arc::new(envelope);
        self.events.push((at, TapEvent::Message { envelope: Arc::clone(&envelope) }));
        for role in to {
            let to = Address::of(*role, task.as_ref(), subtask);
            self.queue(at, Delivery { to, envelope: Arc::clone(&envelope) });
        }
        Ok(())
    }

    fn check(
        &self,
        id: MessageId,
        from: &Address,
        message: &Message,
        cause: Option<MessageId>,
    ) -> Result<&'static [Role], Refusal> {
        let kind = message.kind();
        let row = route::route(kind).ok_or(Refusal::NoRoute { kind })?;
        if row.from != from.role {
            return Err(Refusal::WrongSender { kind, from: from.role, owner: row.from });
        }
        if *from != Address::of(from.role, message.task_id(), message.subtask_id()) {
            return Err(Refusal::ForeignTask);
        }
        let passed = message.task_id().and_then(|task| self.passed.get(task));
        let max = bound(kind);
        if passed.is_some_and(|passed| passed.len() >= max) {
            return Err(Refusal::TooManyMessages { max });
        }
        if passed.is_some_and(|passed| passed.contains(&id)) {
            return Err(Refusal::RepeatedId);
        }
        let outside = matches!(from.role, Role::Operator | Role::Runtime);
        match cause {
            Some(cause) if passed.is_some_and(|passed| passed.contains(&cause)) => Ok(row.to),
            None if outside => Ok(row.to),
            Some(_) | None => Err(Refusal::UnknownCause),
        }
    }

    /// Queues a delivery; a full mailbox loses it, counted and seen on the tap.
    pub fn queue(&mut self, at: Timestamp, delivery: Delivery) {
        if let Err(lost) = self.mailboxes.push(delivery) {
            self.drop_delivery(at, &lost, "mailbox full");
        }
    }

    /// Records a delivery as lost.
    pub fn drop_delivery(&mut self, at: Timestamp, delivery: &Delivery, reason: &str) {
        self.dropped += 1;
        let event =
            TapEvent::Dropped { seq: delivery.envelope.seq, to: delivery.to.clone(), reason: reason.to_owned() };
        self.events.push((at, event));
    }

    /// Takes the delivery at `index` in publish order; 0 is the oldest.
    pub fn take(&mut self, index: usize) -> Option<Delivery> {
        self.mailboxes.take(index)
    }

    /// Deliveries waiting.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.mailboxes.len()
    }

    /// The waiting deliveries in publish order.
    pub fn waiting(&self) -> impl Iterator<Item = &Delivery> {
        self.mailboxes.iter()
    }

    /// Deliveries lost so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds an event that is not a message (an effect, a panic, something ignored) to the record.
    pub fn observe(&mut self, at: Timestamp, event: TapEvent) {
        self.events.push((at, event));
    }

    /// Takes everything recorded since the last call, in order.
    pub fn take_events(&mut self) -> Vec<(Timestamp, TapEvent)> {
        std::mem::take(&mut self.events)
    }

    /// Forgets an ended task: its waiting deliveries and the causes it may name.
    pub fn forget(&mut self, task: &TaskId) {
        self.mailboxes.forget(task);
        self.passed.remove(task);
    }

    /// Message ids kept as possible causes, and mailboxes.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> (usize, usize) {
        (self.passed.values().map(HashSet::len).sum(), self.mailboxes.addresses())
    }
}

/// How many messages of its task may have passed for one of this kind still to be let on.
fn bound(kind: MessageKind) -> usize {
    use MessageKind as M;
    // The other kinds share one bound; only these four are named, so that a new kind has no reserve by accident.
    let reserve = if kind == M::FinalResult {
        TASK_END_RESERVE
    } else if kind == M::Abort {
        TASK_END_RESERVE / 4 * 3
    } else if matches!(kind, M::CancelRequest | M::RoleFailed) {
        TASK_END_RESERVE / 2
    } else {
        0
    };
    TASK_MESSAGES_MAX + reserve
}
