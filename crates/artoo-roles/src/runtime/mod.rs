//! The async runtime: performs the System's effects and hands their completions back. Decides nothing.
//!
//! One task drives the synchronous [`crate::System`]; every model call, tool call, check and timer runs beside it and
//! comes back as an input. Embedders use [`System::builder`] and nothing below it.

mod builder;
mod distiller;
mod driver;
mod environment;
mod files;
mod handle;
mod operator;
mod perform;
mod reflex;
mod store;

pub use builder::{Builder, CloseReport, OUTPUT_CHARS, RuntimeError, System, UNDO};
pub use environment::{EnvironmentError, detect_environment};
pub use handle::{Progress, TaskHandle, TaskOutcome};
pub use operator::{Operator, Unattended};
pub use reflex::Reflex;
pub use store::{MemoryIndexError, export_memory_index};

pub use crate::memory::{MemoryView, RememberedIntent};

#[cfg(test)]
mod tests;
