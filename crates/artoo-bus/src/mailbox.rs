//! Bounded queues between a publish and its deliveries.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use artoo_proto::{Address, Envelope, TaskId};

/// Deliveries one address may have waiting.
///
/// The busiest address is R4b: at most 32 subtasks × 4 rounds, each with one outcome and one missing notice, so an
/// honest task never gets here; a role that floods loses its own messages, counted, and nobody else's.
pub const MAILBOX_CAPACITY: usize = 512;

/// One message on its way to one address.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Where it goes.
    pub to: Address,
    /// What it is.
    pub envelope: Arc<Envelope>,
}

/// All waiting deliveries in publish order, with a count per address.
#[derive(Debug, Default)]
pub(crate) struct Mailboxes {
    queue: VecDeque<Delivery>,
    waiting: BTreeMap<Address, usize>,
}

impl Mailboxes {
    /// Queues a delivery, or gives it back when its address is full.
    pub(crate) fn push(&mut self, delivery: Delivery) -> Result<(), Delivery> {
        let waiting = self.waiting.entry(delivery.to.clone()).or_default();
        if *waiting >= MAILBOX_CAPACITY {
            return Err(delivery);
        }
        *waiting += 1;
        self.queue.push_back(delivery);
        Ok(())
    }

    pub(crate) fn take(&mut self, index: usize) -> Option<Delivery> {
        let delivery = self.queue.remove(index)?;
        if let Some(waiting) = self.waiting.get_mut(&delivery.to) {
            *waiting -= 1;
            if *waiting == 0 {
                self.waiting.remove(&delivery.to);
            }
        }
        Some(delivery)
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Addresses with something waiting.
    #[cfg(test)]
    pub(crate) fn addresses(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Delivery> {
        self.queue.iter()
    }

    /// Removes what waits for instances of a task.
    pub(crate) fn forget(&mut self, task: &TaskId) {
        self.queue.retain(|delivery| delivery.to.task_id.as_ref() != Some(task));
        self.waiting.retain(|address, _| address.task_id.as_ref() != Some(task));
    }
}
