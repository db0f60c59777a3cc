//! Tests of the program as its user meets it, and of the house it stands in.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod dead;
mod events;
mod house;
mod http;
mod lying;
mod reflex;
mod server;
mod streams;
mod world;
