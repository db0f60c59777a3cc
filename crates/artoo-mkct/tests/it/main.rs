//! The library from outside: real files, real processes, and a disk that forgets what nobody synced.

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
mod kill;
mod model;
mod sim_disk;
mod store;
mod store_versions;
mod support;
mod two_processes;
