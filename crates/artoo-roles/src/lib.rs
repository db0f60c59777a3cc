//! The roles of artoo as machines, the System that drives them, and the async runtime that performs their effects.
//!
//! *Is*: seven roles and the dispatcher, each a [`machine::Machine`] with an effect enum of its own; one synchronous
//! [`System`] whose every step is a function of its inputs.
//! *Is not*: a model, a tool or a store. Without the feature `runtime` this crate has neither tokio nor reqwest.
//!
//! *Invariant*: only this crate speaks both the messages and the languages of `artoo-ggs` and `artoo-mkct`.

pub mod agent_validator;
// Two attributes, because clippy treats `all(test, ...)` as code outside tests.
#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
pub mod ask;
mod blocked;
pub mod dispatcher;
pub mod estimate;
pub mod executor;
pub mod grounding;
pub mod limits;
pub mod machine;
pub mod memory;
pub mod meta_validator;
pub mod perceiver;
pub mod planner;
pub mod prompt;
pub mod record;
#[cfg(feature = "runtime")]
pub mod runtime;
pub mod skill;
pub mod solver;
pub mod system;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use system::{Effect, Input, System, SystemConfig};
