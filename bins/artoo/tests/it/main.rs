//! Tests of the program as its user meets it, and of the house it stands in.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod answers;
mod canary;
mod costs;
mod dead;
mod events;
mod guard;
mod hostile;
mod house;
mod http;
mod injected;
mod lying;
mod model_faults;
mod model_files;
mod people;
mod pty;
mod reflex;
mod repl;
mod server;
mod setup;
mod stores;
mod streams;
mod strict_schemas;
mod tool_calls;
mod transcript;
mod undo;
mod way_there;
mod weak;
mod world;
