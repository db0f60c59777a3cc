//! The async runtime: performs the System's effects and returns their completions. It decides nothing.
//!
//! One tokio task drives the synchronous [`crate::System`]. Model calls, tool calls, checks and timers run
//! concurrently, and their completions come back as inputs. To embed artoo, start with [`System::builder`].

mod builder;
mod distiller;
mod driver;
mod environment;
mod files;
mod handle;
mod ledgers;
mod operator;
mod perform;
mod reflex;
mod single;
mod store;

pub use builder::{Builder, CloseReport, OUTPUT_CHARS, RuntimeError, System, UNDO, run_traces, tools_in};
pub use environment::{EnvironmentError, detect_environment, utc_offset_s};
pub use handle::{Progress, TaskHandle, TaskOutcome, TaskRequest};
pub use operator::{Consent, Operator, Unattended};
pub use reflex::{Reflex, is_readable};
pub use single::{SingleCall, call_once};
pub use store::{MemoryIndexError, export_memory_index};

pub use crate::memory::{MemoryView, RememberedIntent};

#[cfg(test)]
mod tests;
