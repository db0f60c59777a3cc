//! The bounded queue of deliveries.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use artoo_proto::{Address, Envelope, TaskId};

/// Maximum number of queued deliveries for one address.
///
/// The busiest address is the meta-validator: at most 64 subtasks × 4 rounds, each with one outcome and one missing
/// notice. A role that floods its receiver loses only deliveries to that address, and they are counted.
pub const MAILBOX_CAPACITY: usize = 512;

/// A message in the queue for one receiving address.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The receiving instance.
    pub to: Address,
    /// The message with its envelope.
    pub envelope: Arc<Envelope>,
}

/// All queued deliveries in publish order, with a count for each address.
#[derive(Debug, Default)]
pub(crate) struct Mailboxes {
    queue: VecDeque<Delivery>,
    /// Number of queued deliveries by address.
    waiting: BTreeMap<Address, usize>,
}

impl Mailboxes {
    /// Queues a delivery, or returns it if its address has as many queued as [`MAILBOX_CAPACITY`] allows.
    pub(crate) fn push(&mut self, delivery: Delivery) -> Result<(), Delivery> {
        let waiting = self.waiting.entry(delivery.to.clone()).or_default();
        if *waiting >= MAILBOX_CAPACITY {
            return Err(delivery);
        }
        *waiting += 1;
        self.queue.push_back(delivery);
        Ok(())
    }

    /// Removes the delivery at `index` and returns it; 0 is the oldest. `None` if there is none.
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

    /// The queued deliveries, oldest first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Delivery> {
        self.queue.iter()
    }

    /// Removes the queued deliveries to a task's instances after the task has ended.
    pub(crate) fn forget(&mut self, task: &TaskId) {
        self.queue.retain(|delivery| delivery.to.task_id.as_ref() != Some(task));
        self.waiting.retain(|address, _| address.task_id.as_ref() != Some(task));
    }
}
