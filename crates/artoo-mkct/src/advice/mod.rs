//! Queries of a memory: what to do about an intent, why, and what comes next if nothing more happens.

mod forecast;
mod lessons;
pub(crate) mod recall;
mod roots;
mod tasks;
mod why;

pub use forecast::Forecast;
pub use lessons::{Hypothesis, Lesson, MAX_RECALL_LESSONS, MAX_RECALL_NOTES, Note};
pub use recall::{
    ANY_ENTITY, Advice, Cap, MAX_QUERIED_NAMES, MAX_RECALL_ENTRIES, MAX_RECALL_SOPS, Recall, Scope, Similarity,
};
pub use tasks::{Selector, TaskSummary};
pub use why::Contribution;
