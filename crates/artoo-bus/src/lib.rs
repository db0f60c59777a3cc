//! The one observable bus: every word between roles passes here, in order, and can be tapped.
//!
//! *Is*: sequence numbers, the route check, the cause check, bounded mailboxes with counted drops, deliveries, taps.
//! *Is not*: a transport, a scheduler or a thread. It holds no clock and performs no I/O; only [`Tap`] crosses threads.
//!
//! *Invariant*: the bus knows messages by kind and address; it never looks at what they mean.
//!
//! ```
//! use artoo_bus::Bus;
//! let bus = Bus::new();
//! assert_eq!(bus.pending(), 0);
//! ```

mod bus;
mod mailbox;
mod tap;

pub use bus::{Bus, Refusal};
pub use mailbox::{Delivery, MAILBOX_CAPACITY};
pub use tap::{Observed, TAP_CAPACITY, Tap, TapClosed, TapEvent, TapSender, tap};

#[cfg(test)]
mod tests;
