//! Tests of the library with real files, real processes, and a simulated disk that loses what was not synced.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod corrupt;
mod crash;
mod disk;
mod dreamer;
mod engine;
mod feedback;
mod kill;
mod model;
mod sim_disk;
mod store;
mod store_versions;
mod support;
mod two_processes;
