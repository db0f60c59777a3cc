//! Whole tasks through the System, with scripted models and tools.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod delivery;
mod regressions;
mod system;
