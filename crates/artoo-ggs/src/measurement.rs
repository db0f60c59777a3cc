//! What one execution of a plan looked like: the measurements a round is decided on.

mod claims;
mod distance;

pub(crate) use claims::Claims;
pub(crate) use distance::{Failing, failing, measure_failing, subtask_failed_pairs};
pub use distance::{Measured, Place, Unmet, failed_pairs, measure};

/// How a failed criterion weighs in D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Mode {
    /// Machine-checkable: 1.
    Verifiable,
    /// A judgement: k/N, the share of attempts in which it failed.
    Plausible,
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum FailureClass {
    /// The approach's.
    Logical,
    /// The environment's: network, permission, missing file, time.
    Environmental,
}

/// Whose fault a whole round is, by count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum FailureMix {
    /// Mostly the approach's.
    Logical,
    /// Mostly the environment's.
    Environmental,
    /// A tie; also where no failure has a class.
    Mixed,
}

/// What was decided about a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Verdict {
    /// Met.
    Pass,
    /// Not met.
    Fail,
    /// Nobody decided: counts as not met.
    Missing,
}

/// One criterion and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct CriterionMeasure {
    /// What was claimed; also how a criterion is recognised from one round to the next.
    pub claim: String,
    /// Its weight in D when it fails.
    pub mode: Mode,
    /// Whether the goal is missed when this one is.
    pub required: bool,
    /// What was decided.
    pub verdict: Verdict,
    /// Whose fault a failure is, where somebody said. Unsaid: environmental in a subtask that failed on
    /// infrastructure, logical for a task criterion with a `Fail`, else left out of P.
    pub class: Option<FailureClass>,
    /// k: attempts in which it failed. A final `Fail` counts as one even if 0 is given.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::failed_attempts"))]
    pub failed_attempts: u32,
    /// N: attempts made; 0 weighs 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::attempts"))]
    pub attempts: u32,
}

/// How a subtask ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum SubtaskStatus {
    /// Accepted.
    Matched,
    /// Not accepted.
    Failed,
    /// Never started: its criteria count in D, never in P.
    NotRun,
}

/// One call: a tool and what it acted on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ToolTarget {
    /// The tool.
    pub tool: String,
    /// A path, pattern, query or command.
    pub target: String,
    /// Whether this input came to nothing: the call failed, or answered without what was asked of it.
    pub failed: bool,
}

/// One subtask of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct SubtaskMeasure {
    /// How it ended.
    pub status: SubtaskStatus,
    /// Whether it failed by infrastructure (provider, time, cancel) rather than by its work.
    pub infrastructure: bool,
    /// Its criteria, in declaration order.
    pub criteria: Vec<CriterionMeasure>,
    /// Every call of every attempt, in order.
    pub calls: Vec<ToolTarget>,
    /// Tools it was allowed.
    pub tools: Vec<String>,
}

/// A tool that the next plan could use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Tool {
    /// Its name, compared exactly.
    pub name: String,
    /// Its family, compared exactly.
    pub class: String,
}

/// Everything measured about one execution of a plan: all subtasks, those that went well included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Round {
    /// The plan's steps.
    pub subtasks: Vec<SubtaskMeasure>,
    /// Criteria on the combined result; empty where nobody judged it.
    pub task_criteria: Vec<CriterionMeasure>,
    /// What the next plan could use; empty = unknown, and then tools never run out.
    pub available_tools: Vec<Tool>,
}

/// A round that can't have happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RoundError {
    /// Neither a subtask nor a task criterion: there is nothing to measure.
    #[error("the round has neither subtasks nor task criteria")]
    Empty,
    /// k > N.
    #[error("{place}: failed_attempts is {failed_attempts} but attempts is {attempts} for {claim:?}")]
    MoreFailuresThanAttempts {
        /// Where.
        place: Place,
        /// The criterion.
        claim: String,
        /// k.
        failed_attempts: u32,
        /// N.
        attempts: u32,
    },
}

impl Round {
    /// Checks what the types can't say.
    ///
    /// # Errors
    /// [`RoundError`] for a round without content, or with more failures than attempts.
    pub fn validate(&self) -> Result<(), RoundError> {
        if self.subtasks.is_empty() && self.task_criteria.is_empty() {
            return Err(RoundError::Empty);
        }
        let subtasks = self.subtasks.iter().enumerate().map(|(index, s)| (Place::Subtask(index), &s.criteria));
        for (place, criteria) in subtasks.chain([(Place::Task, &self.task_criteria)]) {
            if let Some(c) = criteria.iter().find(|c| c.failed_attempts > c.attempts) {
                return Err(RoundError::MoreFailuresThanAttempts {
                    place,
                    claim: c.claim.clone(),
                    failed_attempts: c.failed_attempts,
                    attempts: c.attempts,
                });
            }
        }
        Ok(())
    }
}
