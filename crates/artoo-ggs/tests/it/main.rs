//! The controller tested through its public face: the table, the measurements, each decision's rule, and properties.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, its helpers too"
)]

mod blocks;
mod build;
mod control;
mod measurements;
mod properties;
#[cfg(feature = "serde")]
mod saved;
mod table;
