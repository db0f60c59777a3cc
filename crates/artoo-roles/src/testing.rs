//! Test support: scripted worlds around the System, and a bench for single roles. Behind the feature `testing`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

pub mod bench;
pub mod world;
