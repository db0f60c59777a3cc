//! Queries of a memory: what to do about an intent, why, and what comes next if nothing more happens.

mod forecast;
pub(crate) mod recall;
mod roots;
mod why;

pub use forecast::Forecast;
pub use recall::{ANY_ENTITY, Advice, Cap, MAX_QUERIED_NAMES, MAX_RECALL_ENTRIES, MAX_RECALL_SOPS, Recall, Scope};
pub use why::Contribution;
