//! Tests of the bus through its public interface.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers: a failure here is the test's failure")]

mod publish;
mod random;
mod soak;
mod taps;
