//! Test support, behind the feature `testing`: a simulated world around the System, and a bench that steps one role.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

pub mod bench;
pub mod world;

pub use bench::complete_coverage;
