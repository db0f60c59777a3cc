//! The async runtime: performs the System's effects and returns their completions. It decides nothing.
//!
//! One tokio task drives the synchronous [`crate::System`]. Model calls, tool calls, checks and timers run
//! concurrently, and their completions come back as inputs. To embed artoo, start with [`System::builder`].

mod builder;
mod decisions;
mod distiller;
mod driver;
mod environment;
mod error;
mod files;
mod handle;
mod ledgers;
mod memory_admin;
mod operator;
mod perform;
mod reflex;
mod resume;
mod single;
mod skills;
mod store;
mod stores;
mod wording;

pub use builder::{Builder, CloseReport, OUTPUT_CHARS, System};
pub use environment::{EnvironmentError, detect_environment, utc_offset_s};
pub use error::{NotResumable, RuntimeError};
pub use handle::{Progress, TaskHandle, TaskOutcome, TaskRequest};
pub use memory_admin::{MemoryError, export_memory_index, open_memory, profile};
pub use operator::{Consent, Operator, Unattended};
pub use reflex::{Reflex, is_answered_in_full, is_readable};
pub use single::{SingleCall, call_once};
pub use skills::{SkillState, StoredSkill, fitting_skill, stored_skills};
pub use stores::{run_traces, tools_in};

pub use artoo_ggs::Profile;
/// The memory and its answers, for a person who reads or changes it.
pub use artoo_mkct::{
    Action, Durability, Engine, Memory as StoredMemory, RecallQuery, Tag,
    advice::{Advice, Cap, Hypothesis, Lesson, Selector, TaskSummary},
    memory::MemoryForgetError,
    record::{Detail, Level, Megram, MegramId, tools_of, unescape},
    rules::SopRecord,
};

/// Name of the folder for undo inside the data folder.
pub const UNDO: &str = "undo";

/// Name of the folder for the records of tasks inside the data folder.
pub const TASKS: &str = "tasks";

#[cfg(test)]
mod tests;
