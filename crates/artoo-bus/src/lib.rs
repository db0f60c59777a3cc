//! The message bus: it checks, numbers and queues every message between roles, and lets observers see them all.
//!
//! *Is*: sequence numbers, route and cause checks, bounded mailboxes that count what they drop, and taps (event streams
//! for observers).
//! *Is not*: a transport, a scheduler or a thread. It holds no clock and performs no I/O; only [`Tap`] crosses threads.
//!
//! *Invariant*: the bus knows messages by kind and address; it never looks at their content.
//!
//! ```
//! use artoo_bus::Bus;
//! let bus = Bus::new();
//! assert_eq!(bus.pending(), 0);
//! ```

mod bus;
mod mailbox;
mod refusal;
mod tap;

pub use bus::{Bus, TASK_END_RESERVE, TASK_MESSAGES_MAX};
pub use mailbox::{Delivery, MAILBOX_CAPACITY};
pub use refusal::Refusal;
pub use tap::{Observed, TAP_CAPACITY, Tap, TapClosed, TapEvent, TapSender, tap};
