//! Read-only taps: what happened on the bus, in order, with drops counted instead of felt.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use artoo_proto::{Address, EffectFinished, EffectStarted, Envelope, MessageKind, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Refusal;

/// Events a tap may hold before it drops: about 64 MB of ordinary messages, minutes of a busy task.
pub const TAP_CAPACITY: usize = 65_536;

/// Something that happened on the bus or at its edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TapEvent {
    /// A message was published.
    Message {
        /// The message with its surroundings, as it is delivered: shared, never copied.
        envelope: Arc<Envelope>,
    },
    /// A message was not let onto the bus: a boundary violation.
    Refused {
        /// Who tried.
        from: Address,
        /// What kind.
        kind: MessageKind,
        /// For which task.
        task_id: Option<TaskId>,
        /// Why not.
        refusal: Refusal,
    },
    /// A delivery was lost.
    Dropped {
        /// The message's position.
        seq: u64,
        /// Who did not get it.
        to: Address,
        /// Why.
        reason: String,
    },
    /// A machine asked for outside work.
    EffectStarted(EffectStarted),
    /// Outside work came back.
    EffectFinished(EffectFinished),
    /// A role panicked; its instance is gone.
    Panicked {
        /// Which instance.
        address: Address,
        /// What it said.
        detail: String,
    },
    /// Something arrived that nobody awaits: late, duplicate, unknown.
    Ignored {
        /// Whom it was for.
        address: Address,
        /// What it was.
        detail: String,
    },
    /// This many events are missing here: the tap was full.
    Gap {
        /// How many.
        missing: u64,
    },
}

/// An event with its place and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Position on the tap, without gaps save where a [`TapEvent::Gap`] stands.
    pub n: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub event: TapEvent,
}

/// The bus's end of a tap. Never blocks.
#[derive(Debug)]
pub struct TapSender {
    sender: Sender<Observed>,
    // The bound is counted, not reserved: a queue of its own bound touches all its room when it is made, a megabyte.
    waiting: Arc<AtomicUsize>,
    capacity: usize,
    /// A slot of its own for the losses still untold when the bus goes away.
    last_word: SyncSender<Observed>,
    next: u64,
    missing: u64,
    lost_at: Timestamp,
}

/// The observer's end of a tap.
#[derive(Debug)]
pub struct Tap {
    receiver: Receiver<Observed>,
    waiting: Arc<AtomicUsize>,
    last_word: Receiver<Observed>,
}

/// A tap that holds at most `capacity` events.
#[must_use]
pub fn tap(capacity: usize) -> (TapSender, Tap) {
    let (sender, receiver) = channel();
    let (last_word, last_receiver) = sync_channel(1);
    let waiting = Arc::new(AtomicUsize::new(0));
    let tap = Tap { receiver, waiting: Arc::clone(&waiting), last_word: last_receiver };
    (TapSender { sender, waiting, capacity, last_word, next: 0, missing: 0, lost_at: Timestamp::default() }, tap)
}

impl TapSender {
    /// Offers an event; a full tap loses it, and the loss is told as soon as there is room.
    pub fn offer(&mut self, at: Timestamp, event: TapEvent) {
        if self.missing > 0 {
            let gap = TapEvent::Gap { missing: self.missing };
            if self.try_send(at, gap).is_err() {
                self.lose(at);
                return;
            }
            self.missing = 0;
        }
        if self.try_send(at, event).is_err() {
            self.lose(at);
        }
    }

    fn lose(&mut self, at: Timestamp) {
        self.missing += 1;
        self.lost_at = at;
    }

    /// Events lost and not yet told.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    fn try_send(&mut self, at: Timestamp, event: TapEvent) -> Result<(), ()> {
        // Only this side adds: what is counted here is never less than what waits.
        if self.waiting.load(Ordering::Acquire) >= self.capacity {
            return Err(());
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // An observer that went away is no reason to stop the bus.
        self.sender.send(Observed { n: self.next, at, event }).map_err(drop)?;
        self.next += 1;
        Ok(())
    }
}

impl Drop for TapSender {
    /// Losses nobody was told of yet are told last: the tap may still be full, so they have a slot of their own.
    fn drop(&mut self) {
        if self.missing > 0 {
            let event = TapEvent::Gap { missing: self.missing };
            // Only an observer that is gone can fail to take it.
            let _ = self.last_word.try_send(Observed { n: self.next, at: self.lost_at, event });
        }
    }
}

impl Tap {
    /// The next event; `None` when the bus is gone and everything was read.
    #[must_use]
    pub fn recv(&self) -> Option<Observed> {
        self.receiver.recv().inspect(|_| self.took_one()).or_else(|_| self.last_word.recv()).ok()
    }

    /// The next event within `timeout`; `Ok(None)` when none came, `Err` when the bus is gone.
    ///
    /// # Errors
    /// [`TapClosed`] when the sender was dropped and everything was read.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Option<Observed>, TapClosed> {
        match self.receiver.recv_timeout(timeout) {
            Ok(observed) => {
                self.took_one();
                Ok(Some(observed))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.last_word.try_recv().map(Some).map_err(|_| TapClosed),
        }
    }

    fn took_one(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The bus is gone and the tap is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bus is gone")]
pub struct TapClosed;
