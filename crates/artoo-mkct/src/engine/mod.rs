//! The memory in RAM, without clock, thread or disk; every change is a frame that can be stored in a journal.

pub(crate) mod aggregate;
mod apply;
mod codec;
pub(crate) mod handle;
mod history;
pub(crate) mod index;
pub(crate) mod lexical;
mod pages;
pub(crate) mod potential;
mod query;
pub(crate) mod row;
mod rows;
mod shards;
mod state;
mod write;

pub use codec::InvalidState;
pub use handle::MAX_DISTINCT_DECAYS;
pub use index::MAX_NAMED_MEGRAMS;
pub use potential::{ATTENTION_THRESHOLD, DECISION_THRESHOLD, Potentials};
pub use query::Stats;

pub(crate) use handle::{Engine, RuleSlot};
pub(crate) use potential::Action;

#[cfg(test)]
mod tests;
