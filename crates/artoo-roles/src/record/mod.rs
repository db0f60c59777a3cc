//! Task records: all inputs of a task's System, so that the task can be resumed, replayed and shown.
//!
//! One file a task. The record is written before the System acts on an input, and synced before a tool may change
//! something. What a System does is a function of its configuration and its inputs, so the record of both is enough.

mod format;
mod read;
mod replay;
mod write;

#[cfg(test)]
mod tests;

pub use format::{Begun, Did, FORMAT_VERSION, Frame, prompts_digest};
pub use read::{Record, RecordError, find, list};
pub use replay::{Difference, Replay, replay};
pub use write::{RECORD_MAX_BYTES, RECORDS_MAX, Records, collect};
