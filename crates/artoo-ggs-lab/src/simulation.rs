//! A simulator: policies compared on made-up tasks whose truth is known.
//!
//! ```
//! use artoo_ggs_lab::simulation::{Family, Policy, Study};
//! let policies = vec![Policy::naive(), Policy::v08()];
//! let families = vec![Family::ORDINARY];
//! let cells = Study { policies, families, reference: 1, ..Study::full(200) }.run();
//! assert!(cells[0].row.executions > cells[1].row.executions);
//! ```
//!
//! # A task
//! One to three subtasks with one to four criteria each, half of them machine-checkable; in half of all tasks one is
//! required. Each subtask is done with one of six tools (three classes of two) on one of four targets (two folders of
//! two). Some tools are *sound* for it, some targets *open*; nobody but the [`Policy::oracle`] knows which. Sound work on an
//! open target meets a criterion up to a certain difficulty, and more when it is refined; unsound work meets some by
//! luck; work on a closed target none. A verifier says what is met, and errs; it says whose fault a failure is, and errs
//! there too. The whole is right if all parts are and fit together. [`Family`] holds the probabilities and their reasons.
//!
//! # A policy
//! After each execution a [`Policy`] accepts, delivers in part, gives up, or says what to change. One planner, the same for
//! all, turns that into the next plan: it heeds words four times in five, what code forbids always, and keeps subtasks
//! that matched. All policies get the same four executions, the same verdicts and the same ending: who gives up hands over
//! the best execution in part where D ≤ 0.3 and nothing required is unmet. Only what is decided between executions
//! differs. `v08`, `literal` and `strict` are the [`artoo_ggs::Controller`] itself.
//!
//! # Luck
//! Random numbers are addressed by what they decide, not taken from a stream: policies that do the same in the same round
//! meet the same outcome (common random numbers), so that the difference of two policies has a far smaller standard error
//! than either. Sums are kept in integers: the result does not depend on the number of threads.
//!
//! # Definitions
//! - **Full success** ([`Ending::Full`]): handed over as complete, and every criterion of every subtask is really met, and
//!   so is the whole.
//! - **Honest partial** ([`Ending::Partial`]): handed over with a list of what is unmet, and everything not on the list is
//!   really met. It is worth the share of criteria met, or nothing where something required is unmet.
//! - **False delivery** ([`Ending::FalseDelivery`]): handed over, complete or in part, with at least one criterion said to
//!   be met that is not; or as complete when the whole is not right.
//! - **Wasted**: an execution after the first after which no fewer criteria were really unmet than after the best one
//!   before.
//! - **Kill**: an end by a kill switch; *without worsening* if the distance the policy measured did not rise in each of the
//!   rounds its switch counted.
//! - **Utility**: see [`Utility`]: 1 for a full success, up to 0.5 for an honest partial, −1 for a false delivery, −0.05 for
//!   an execution, −0.02 for a minute.

mod draws;
mod episode;
mod execution;
mod family;
mod observe;
pub mod picture;
mod planner;
mod policy;
mod study;
mod tally;
#[cfg(test)]
mod tests;
mod utility;
mod world;

pub use family::Family;
pub use policy::{EXECUTIONS_MAX, Policy};
pub(crate) use study::task_utilities;
pub use study::{Cell, Row, Study};
pub use utility::{Ending, Utility};
