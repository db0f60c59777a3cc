//! Taps: bounded, read-only streams of the bus's events for an observer on another thread.
//!
//! A tap never blocks the bus. If the observer is too slow, events are lost, and their number is reported in the
//! stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use artoo_proto::{Address, EffectFinished, EffectStarted, Envelope, MessageKind, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// Maximum number of unread events on the auditor's tap: about 64 MB of ordinary messages, minutes of a busy task.
pub const TAP_CAPACITY: usize = 65_536;

/// An event that observers of the bus see: a message, a refusal, a drop, an effect, a panic, an ignored input, or a
/// gap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TapEvent {
    /// A message was published.
    Message {
        /// The message as it is delivered: shared, not copied.
        envelope: Arc<Envelope>,
    },
    /// The bus refused a message: a boundary violation.
    Refused {
        /// The instance that tried to publish the refused message.
        from: Address,
        /// The kind of the refused message.
        kind: MessageKind,
        /// The task of the refused message, if any.
        task_id: Option<TaskId>,
        /// Why the message was refused.
        refusal: Refusal,
    },
    /// A delivery was dropped.
    Dropped {
        /// Sequence number of the dropped message.
        seq: u64,
        /// The instance that does not get the message.
        to: Address,
        /// Why the delivery was dropped.
        reason: String,
    },
    /// A role asked for work outside the System.
    EffectStarted(EffectStarted),
    /// Work outside the System ended.
    EffectFinished(EffectFinished),
    /// A role panicked; its instance was removed.
    Panicked {
        /// The instance that panicked.
        address: Address,
        /// The text of the panic.
        detail: String,
    },
    /// A role ignored an input: it was late, duplicate or unknown.
    Ignored {
        /// The instance that ignored the input.
        address: Address,
        /// What was ignored, as text.
        detail: String,
    },
    /// Events are missing here, because the tap was full.
    Gap {
        /// Number of missing events.
        missing: u64,
    },
}

/// An event with its position on the tap and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Position on the tap, without gaps except where a [`TapEvent::Gap`] is.
    pub n: u64,
    /// When the event happened.
    pub at: Timestamp,
    /// The observed event.
    #[serde(flatten)]
    pub event: TapEvent,
}

/// The sending end of a tap, held by the bus. It never blocks.
#[derive(Debug)]
pub struct TapSender {
    sender: Sender<Observed>,
    // Number of unread events. It is counted here because a bounded channel would allocate a megabyte at once.
    waiting: Arc<AtomicUsize>,
    capacity: usize,
    /// Room for one last event: the events lost and not reported when the sender is dropped.
    final_gap: SyncSender<Observed>,
    /// Position of the next event.
    next: u64,
    /// Number of events lost and not reported yet.
    missing: u64,
    /// When the last event was lost.
    lost_at: Timestamp,
}

/// The receiving end of a tap, from which an observer reads the bus's events.
#[derive(Debug)]
pub struct Tap {
    receiver: Receiver<Observed>,
    waiting: Arc<AtomicUsize>,
    final_gap: Receiver<Observed>,
}

/// Makes a tap that holds at most `capacity` unread events.
#[must_use]
pub fn tap(capacity: usize) -> (TapSender, Tap) {
    let (sender, receiver) = channel();
    let (final_gap, final_receiver) = sync_channel(1);
    let waiting = Arc::new(AtomicUsize::new(0));
    let tap = Tap { receiver, waiting: Arc::clone(&waiting), final_gap: final_receiver };
    (TapSender { sender, waiting, capacity, final_gap, next: 0, missing: 0, lost_at: Timestamp::default() }, tap)
}

impl TapSender {
    /// Sends an event. If the tap is full or its observer gone, the event is lost, and a [`TapEvent::Gap`] reports it
    /// as soon as there is room.
    pub fn offer(&mut self, at: Timestamp, event: TapEvent) {
        if self.missing > 0 {
            let gap = TapEvent::Gap { missing: self.missing };
            if self.try_send(at, gap).is_err() {
                self.count_lost(at);
                return;
            }
            self.missing = 0;
        }
        if self.try_send(at, event).is_err() {
            self.count_lost(at);
        }
    }

    /// Counts one event that did not fit into the tap, with its time.
    fn count_lost(&mut self, at: Timestamp) {
        self.missing += 1;
        self.lost_at = at;
    }

    /// Number of events lost that no gap event has reported yet.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Sends an event; an error if the tap is full or the observer is gone.
    fn try_send(&mut self, at: Timestamp, event: TapEvent) -> Result<(), ()> {
        // Only this side adds to the count, so it is never less than the number of unread events.
        if self.waiting.load(Ordering::Acquire) >= self.capacity {
            return Err(());
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // If the observer is gone, the event counts as lost and the bus continues.
        self.sender.send(Observed { n: self.next, at, event }).map_err(drop)?;
        self.next += 1;
        Ok(())
    }
}

impl Drop for TapSender {
    /// Reports events lost at the end. The tap may still be full, so this report has room of its own.
    fn drop(&mut self) {
        if self.missing > 0 {
            let event = TapEvent::Gap { missing: self.missing };
            // This fails only if the observer is gone.
            let _ = self.final_gap.try_send(Observed { n: self.next, at: self.lost_at, event });
        }
    }
}

impl Tap {
    /// Waits for the next event; `None` when the sender was dropped and everything was read.
    #[must_use]
    pub fn recv(&self) -> Option<Observed> {
        self.receiver.recv().inspect(|_| self.count_received()).or_else(|_| self.final_gap.recv()).ok()
    }

    /// Waits at most `timeout` for the next event; `Ok(None)` if there was none.
    ///
    /// # Errors
    /// [`TapClosed`] when the sender was dropped and everything was read.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Option<Observed>, TapClosed> {
        match self.receiver.recv_timeout(timeout) {
            Ok(observed) => {
                self.count_received();
                Ok(Some(observed))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.final_gap.try_recv().map(Some).map_err(|_| TapClosed),
        }
    }

    /// Makes room for one event after one was read.
    fn count_received(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The error of [`Tap::recv_timeout`] when the sender was dropped and every event was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the tap is closed: its sender was dropped and every event was read")]
pub struct TapClosed;
