//! Measurements of one execution of a plan: criteria, subtasks, calls and the tools that are available next.

mod claims;
mod distance;

use alloc::string::String;
use alloc::vec::Vec;

pub(crate) use claims::Claims;
pub use distance::{CriterionScope, Measurement, UnmetCriterion};
pub(crate) use distance::{Failing, failing, measure_failing, subtask_failed_pairs};

/// How much a failed criterion weighs in D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum CriterionMode {
    /// Checked by code; a failure weighs 1.
    Verifiable,
    /// Judged; a failure weighs k/N, the share of attempts that failed.
    Plausible,
}

/// Whether a failure is blamed on the approach or on the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum FailureClass {
    /// The approach was wrong, so another method is needed.
    Logical,
    /// The environment failed: network, permission, missing file, timeout.
    Environmental,
}

/// Which [`FailureClass`] caused more failures in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum FailureMix {
    /// More logical failures than environmental ones.
    Logical,
    /// More environmental failures than logical ones.
    Environmental,
    /// Equally many of both, or no failure with a class.
    Mixed,
}

/// The verdict of a check or judge on a criterion: met, unmet or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Verdict {
    /// The criterion is met.
    Pass,
    /// The criterion is not met.
    Fail,
    /// No verdict was given; counts as not met.
    Missing,
}

/// One criterion with its verdict, weight, and the cause of a failure.
///
/// ```
/// use artoo_ggs::{CriterionMeasure, FailureClass};
/// let failed_twice = CriterionMeasure::unmet("the total is stated").plausible(2, 3).required();
/// let blamed = CriterionMeasure::unmet("the file exists").blamed_on(FailureClass::Environmental);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct CriterionMeasure {
    /// The claim that was judged; identifies the criterion from one round to the next.
    pub claim: String,
    /// How much the criterion weighs in D when it fails.
    pub mode: CriterionMode,
    /// Whether the goal is missed if this criterion is.
    pub required: bool,
    /// Whether the criterion is met, not met, or without a verdict.
    pub verdict: Verdict,
    /// The cause of the failure, if known. An unknown cause counts as environmental in a subtask that failed by
    /// infrastructure, as logical for a task criterion with [`Verdict::Fail`], and otherwise does not enter P.
    pub class: Option<FailureClass>,
    /// k: attempts that failed this criterion. A final [`Verdict::Fail`] counts as one even if 0 is given.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::failed_attempts"))]
    pub failed_attempts: u32,
    /// N: attempts made; with 0 a failure weighs 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::attempts"))]
    pub attempts: u32,
}

impl CriterionMeasure {
    /// A criterion that was met: verifiable and optional unless changed.
    #[must_use]
    pub fn met(claim: impl Into<String>) -> Self {
        Self::judged(claim, Verdict::Pass)
    }

    /// A criterion that was not met: verifiable, optional and of unknown cause unless changed.
    #[must_use]
    pub fn unmet(claim: impl Into<String>) -> Self {
        Self::judged(claim, Verdict::Fail)
    }

    /// A criterion without a verdict; counts as not met.
    #[must_use]
    pub fn undecided(claim: impl Into<String>) -> Self {
        Self::judged(claim, Verdict::Missing)
    }

    /// A verifiable, optional criterion with this verdict.
    fn judged(claim: impl Into<String>, verdict: Verdict) -> Self {
        let (claim, mode) = (claim.into(), CriterionMode::Verifiable);
        Self { claim, mode, required: false, verdict, class: None, failed_attempts: 0, attempts: 0 }
    }

    /// Makes the criterion required: without it, no result is close enough.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Makes the criterion plausible: it failed in `failed_attempts` (k) of `attempts` (N).
    #[must_use]
    pub fn plausible(self, failed_attempts: u32, attempts: u32) -> Self {
        Self { mode: CriterionMode::Plausible, failed_attempts, attempts, ..self }
    }

    /// Sets the cause of the failure; `None` if it is unknown.
    #[must_use]
    pub fn blamed_on(self, class: impl Into<Option<FailureClass>>) -> Self {
        Self { class: class.into(), ..self }
    }
}

/// Whether a subtask matched, failed, or did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum SubtaskStatus {
    /// The subtask's result was accepted.
    Matched,
    /// The subtask's result was rejected, or it has no result.
    Failed,
    /// The subtask never started; its criteria count in D (distance) but not in P (blame on the approach).
    NotRun,
}

/// One tool call: the tool and the target it acted on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ToolTarget {
    /// The tool's name.
    pub tool: String,
    /// The path, pattern, query or command the tool was called with.
    pub target: String,
    /// Whether the call failed, or its answer lacked what was asked for.
    pub failed: bool,
}

impl ToolTarget {
    /// A call that worked.
    #[must_use]
    pub fn worked(tool: impl Into<String>, target: impl Into<String>) -> Self {
        Self { tool: tool.into(), target: target.into(), failed: false }
    }

    /// A call that failed, or whose answer lacked what was asked for.
    #[must_use]
    pub fn failed(tool: impl Into<String>, target: impl Into<String>) -> Self {
        Self { tool: tool.into(), target: target.into(), failed: true }
    }
}

/// One subtask of a round, with its criteria and calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct SubtaskMeasure {
    /// How the subtask ended.
    pub status: SubtaskStatus,
    /// Whether infrastructure (provider, timeout, cancel) ended the subtask rather than its own work.
    ///
    /// Criteria of unknown cause then count as environmental. A call marked failed still blocks its target like any
    /// other failed call: leave out calls that never reached their target, or the target stays forbidden.
    pub infrastructure: bool,
    /// The subtask's criteria, in declaration order.
    pub criteria: Vec<CriterionMeasure>,
    /// Every call of every attempt, in order.
    pub calls: Vec<ToolTarget>,
    /// Names of the tools the subtask was allowed to use.
    pub tools: Vec<String>,
}

impl SubtaskMeasure {
    /// A subtask whose result was accepted.
    #[must_use]
    pub fn matched(criteria: Vec<CriterionMeasure>) -> Self {
        Self::ended(SubtaskStatus::Matched, criteria)
    }

    /// A subtask that failed by its own work.
    #[must_use]
    pub fn failed(criteria: Vec<CriterionMeasure>) -> Self {
        Self::ended(SubtaskStatus::Failed, criteria)
    }

    /// A subtask that failed by infrastructure: provider, timeout, cancel.
    #[must_use]
    pub fn failed_by_infrastructure(criteria: Vec<CriterionMeasure>) -> Self {
        Self { infrastructure: true, ..Self::failed(criteria) }
    }

    /// A subtask that never started.
    #[must_use]
    pub fn not_run(criteria: Vec<CriterionMeasure>) -> Self {
        Self::ended(SubtaskStatus::NotRun, criteria)
    }

    /// A subtask with this status, without calls and tools.
    fn ended(status: SubtaskStatus, criteria: Vec<CriterionMeasure>) -> Self {
        Self { status, infrastructure: false, criteria, calls: Vec::new(), tools: Vec::new() }
    }

    /// Sets the calls of all attempts, in order.
    #[must_use]
    pub fn with_calls(self, calls: impl IntoIterator<Item = ToolTarget>) -> Self {
        Self { calls: calls.into_iter().collect(), ..self }
    }

    /// Sets the names of the tools the subtask was allowed to use.
    #[must_use]
    pub fn with_tools<T: Into<String>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        Self { tools: tools.into_iter().map(Into::into).collect(), ..self }
    }
}

/// A tool that the next plan may use, unless it is blocked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct AvailableTool {
    /// The tool's name, compared exactly.
    pub name: String,
    /// The tool's class, such as `web` or `files`, compared exactly.
    pub class: String,
}

impl AvailableTool {
    /// Creates an available tool with its name and class.
    #[must_use]
    pub fn new(name: impl Into<String>, class: impl Into<String>) -> Self {
        Self { name: name.into(), class: class.into() }
    }
}

/// The measurements of one execution of a plan: its subtasks (also accepted ones), task criteria and available tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Round {
    /// The subtasks of the plan.
    pub subtasks: Vec<SubtaskMeasure>,
    /// Criteria on the combined result; empty if it was not judged.
    pub task_criteria: Vec<CriterionMeasure>,
    /// Tools the next plan may use; if empty they are unknown, and a task never runs out of tools.
    pub available_tools: Vec<AvailableTool>,
}

/// Why a [`Round`] can't be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RoundError {
    /// The round has neither subtasks nor task criteria.
    #[error("the round has neither subtasks nor task criteria")]
    Empty,
    /// A criterion has more failed attempts (k) than attempts (N).
    #[error("{scope}: failed_attempts is {failed_attempts} but attempts is {attempts} for {claim:?}")]
    MoreFailuresThanAttempts {
        /// The subtask or task that declares the criterion.
        #[cfg_attr(feature = "serde", serde(rename = "place"))]
        scope: CriterionScope,
        /// The criterion's claim.
        claim: String,
        /// k: number of attempts that failed the criterion.
        failed_attempts: u32,
        /// N: number of attempts made.
        attempts: u32,
    },
}

impl Round {
    /// A round of these subtasks, without task criteria and with unknown tools.
    #[must_use]
    pub fn new(subtasks: Vec<SubtaskMeasure>) -> Self {
        Self { subtasks, ..Self::default() }
    }

    /// Sets the criteria on the combined result of all subtasks.
    #[must_use]
    pub fn with_task_criteria(self, task_criteria: Vec<CriterionMeasure>) -> Self {
        Self { task_criteria, ..self }
    }

    /// Sets the tools the next plan may use.
    #[must_use]
    pub fn with_available_tools(self, available_tools: Vec<AvailableTool>) -> Self {
        Self { available_tools, ..self }
    }

    /// Checks that the round can be measured.
    ///
    /// # Errors
    /// [`RoundError`] for a round without content, or a criterion with more failed attempts than attempts.
    pub fn validate(&self) -> Result<(), RoundError> {
        if self.subtasks.is_empty() && self.task_criteria.is_empty() {
            return Err(RoundError::Empty);
        }
        let subtasks = self.subtasks.iter().enumerate().map(|(index, s)| (CriterionScope::Subtask(index), &s.criteria));
        for (scope, criteria) in subtasks.chain([(CriterionScope::Task, &self.task_criteria)]) {
            if let Some(c) = criteria.iter().find(|c| c.failed_attempts > c.attempts) {
                return Err(RoundError::MoreFailuresThanAttempts {
                    scope,
                    claim: c.claim.clone(),
                    failed_attempts: c.failed_attempts,
                    attempts: c.attempts,
                });
            }
        }
        Ok(())
    }
}
