//! A simulator that compares policies on artificial tasks whose truth is known.
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
//! One to three subtasks with one to four criteria each, half of them verified by code; in half of all tasks one is
//! required. Each subtask is done with one of six tools (three classes of two) on one of four targets (two folders of
//! two). Some tools are *sound* for a subtask (can do it), some targets *open* (accessible); only [`Policy::oracle`]
//! knows which. Sound work on an open target meets a criterion up to a certain difficulty, and more after refinement;
//! unsound work meets some criteria by luck; work on a closed target meets none. A verifier reports what is met, and
//! errs; it reports the cause of a failure, and errs there too. The combined result is right if all subtasks are right
//! and fit together. [`Family`] holds the probabilities and their reasons.
//!
//! # A policy
//! After each execution a [`Policy`] accepts, delivers in part, gives up, or says what to change. One planner, the
//! same for all policies, makes the next plan of that: it follows instructions four times in five, always obeys
//! blocks, and keeps the results of subtasks that matched. All policies get the same maximum of four executions, the
//! same verdicts and the same ending: a policy that gives up delivers the best execution in part if its D ≤ 0.3 and
//! nothing required is unmet. Only the decisions between executions differ. `v08`, `literal`, `strict` and
//! `anytime` are the [`artoo_ggs::Controller`] itself; [`Policy::custom`] takes a policy of your own.
//!
//! # Random numbers
//! Random numbers are addressed by their purpose, not taken from a stream: policies that do the same in the same round
//! get the same outcome (common random numbers), so that the difference of two policies has a far smaller standard
//! error than either. Sums are integers, so the result does not depend on the number of threads.
//!
//! # Definitions
//! - **Full success** ([`Ending::Full`]): delivered as complete; every criterion of every subtask is really met, and
//!   the subtasks fit together.
//! - **Honest partial** ([`Ending::Partial`]): delivered with a list of unmet criteria; every criterion that is not on
//!   the list is really met. Its value is the share of criteria met, or nothing if a required criterion is unmet.
//! - **False delivery** ([`Ending::FalseDelivery`]): delivered, complete or in part, with at least one criterion
//!   reported as met that is not; or delivered as complete although the combined result is wrong.
//! - **Wasted**: an execution, other than the first, after which no fewer criteria are really unmet than after the
//!   best one before.
//! - **Kill**: an end by a kill switch; *without worsening* if the distance that the policy measured did not rise in
//!   each of the rounds that its switch counted.
//! - **Utility**: see [`Utility`]: 1 for a full success, up to 0.5 for an honest partial, −1 for a false delivery,
//!   −0.05 for an execution, −0.02 for a minute.

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
pub use policy::{Change, Driver, EXECUTIONS_MAX, Instruction, Kill, OwnBlocks, Policy, Seen, Step};
pub(crate) use study::task_utilities;
pub use study::{Cell, Row, Study};
pub use utility::{Ending, Utility};
