//! Tests of the program as a user runs it, and checks of the repository.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod answers;
mod audit_log;
mod canary;
mod check_command;
mod commands;
mod costs;
mod dead_endpoint;
mod delivery;
mod events;
mod hostile;
mod http;
mod injected;
mod lying;
mod memory;
mod model_faults;
mod model_files;
mod proxy;
mod pty;
mod reflex;
mod reflex_first;
mod repl;
mod repo_checks;
mod report;
mod resume;
mod server;
mod sessions;
mod setup;
mod skills;
mod stores;
mod streams;
mod strict_schemas;
mod terminal_output;
mod tool_calls;
mod try_command;
mod undo;
mod weak;
mod world;
