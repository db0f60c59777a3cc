//! Tests of the public interface: the table, the measurements, the decisions, and properties.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, its helpers too"
)]

mod anytime;
mod blocks;
mod build;
mod control;
mod explained;
mod measurements;
mod no_hidden_success;
mod properties;
#[cfg(feature = "serde")]
mod refused;
#[cfg(feature = "serde")]
#[path = "../../examples/replay.rs"]
#[expect(dead_code, unreachable_pub, reason = "an example, tested through the function its main calls")]
mod replay_example;
#[cfg(feature = "serde")]
mod replayed;
#[path = "../../examples/retry_loop.rs"]
#[expect(dead_code, unreachable_pub, reason = "an example, tested through the function its main calls")]
mod retry_loop_example;
#[cfg(feature = "serde")]
mod saved;
mod table;
