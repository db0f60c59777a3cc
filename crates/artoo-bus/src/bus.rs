//! Publishing: checks a message's sender and cause, numbers it, and queues it for its receivers.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use artoo_proto::{Address, Envelope, Message, MessageId, MessageKind, Role, TaskId, Timestamp, route};

use crate::mailbox::{Delivery, Mailboxes};
use crate::refusal::Refusal;
use crate::tap::TapEvent;

/// Maximum number of messages of one task. Four rounds of 64 subtasks with three attempts each need about 4,000.
#[doc(alias = "limit")]
pub const TASK_MESSAGES_MAX: usize = 10_000;

/// Messages allowed beyond [`TASK_MESSAGES_MAX`] for the kinds that end a task, so that every task ends with its
/// result.
///
/// `CancelRequest` and `RoleFailed` may use half of them and `Abort` three quarters, so that there is always room for
/// the `FinalResult`.
pub const TASK_END_RESERVE: usize = 16;

/// The bus: a queue of deliveries in publish order, and a record of everything published or refused.
///
/// The record grows until [`Bus::take_events`], which the driver of the bus calls after every step.
#[derive(Debug, Default)]
pub struct Bus {
    /// Sequence number of the next message.
    next_seq: u64,
    /// Ids of the published messages of each open task, which may be named as causes.
    published: BTreeMap<TaskId, HashSet<MessageId>>,
    mailboxes: Mailboxes,
    /// Number of deliveries dropped so far.
    dropped: u64,
    /// Events recorded since the last `take_events`.
    events: Vec<(Timestamp, TapEvent)>,
}

impl Bus {
    /// A bus on which nothing was published yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Publishes a message. Its receivers come from the route table, never from the sender.
    ///
    /// `from` must be the address at which its role handles this task and subtask, as [`Address::of`] gives it. The id
    /// of a message without a task (the operator's query to the auditor) is not stored, since nothing can name it as a
    /// cause.
    ///
    /// # Errors
    /// [`Refusal`], which observers see too.
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
            self.published.entry(task.clone()).or_default().insert(id);
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

    /// Checks a message's sender, size of its task, id and cause; returns its receivers.
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
        let published = message.task_id().and_then(|task| self.published.get(task));
        let max = bound(kind);
        if published.is_some_and(|ids| ids.len() >= max) {
            return Err(Refusal::TooManyMessages { max });
        }
        if published.is_some_and(|ids| ids.contains(&id)) {
            return Err(Refusal::RepeatedId);
        }
        let is_outside = matches!(from.role, Role::Operator | Role::Runtime);
        match cause {
            Some(cause) if published.is_some_and(|ids| ids.contains(&cause)) => Ok(row.to),
            None if is_outside => Ok(row.to),
            Some(_) | None => Err(Refusal::UnknownCause),
        }
    }

    /// Queues a delivery. A full mailbox drops it; the drop is counted and observers see it.
    pub fn queue(&mut self, at: Timestamp, delivery: Delivery) {
        if let Err(lost) = self.mailboxes.push(delivery) {
            self.drop_delivery(at, &lost, "mailbox full");
        }
    }

    /// Counts a delivery as dropped, and records it for observers.
    pub fn drop_delivery(&mut self, at: Timestamp, delivery: &Delivery, reason: &str) {
        self.dropped += 1;
        let event =
            TapEvent::Dropped { seq: delivery.envelope.seq, to: delivery.to.clone(), reason: reason.to_owned() };
        self.events.push((at, event));
    }

    /// Removes the delivery at `index` in publish order from the queue and returns it; 0 is the oldest. `None` if there
    /// is none.
    pub fn take(&mut self, index: usize) -> Option<Delivery> {
        self.mailboxes.take(index)
    }

    /// Number of queued deliveries that were not taken yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.mailboxes.iter().len()
    }

    /// The queued deliveries in publish order.
    pub fn waiting(&self) -> impl Iterator<Item = &Delivery> {
        self.mailboxes.iter()
    }

    /// Number of deliveries dropped so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds an event that is not a message (work outside the System, a panic, an ignored input) to the record.
    pub fn observe(&mut self, at: Timestamp, event: TapEvent) {
        self.events.push((at, event));
    }

    /// Takes everything recorded since the last call, in order.
    pub fn take_events(&mut self) -> Vec<(Timestamp, TapEvent)> {
        std::mem::take(&mut self.events)
    }

    /// Removes an ended task: the queued deliveries to its own instances (not to memory, which all tasks share), and
    /// the ids that may be named as causes.
    pub fn forget(&mut self, task: &TaskId) {
        self.mailboxes.forget(task);
        self.published.remove(task);
    }
}

/// Maximum number of messages of one task before the bus refuses this kind; kinds that end a task have a reserve.
fn bound(kind: MessageKind) -> usize {
    use MessageKind as M;
    // Only these four kinds have a reserve, so that a new kind gets none by accident.
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
