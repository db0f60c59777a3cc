//! D and P of a round: the distance from the goal, and the share of failures blamed on the approach.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use super::{CriterionMeasure, CriterionMode, FailureClass, FailureMix, Round, RoundError};
use super::{SubtaskMeasure, SubtaskStatus};
use super::{ToolTarget, Verdict};
use crate::profile::{RequiredCriteria, Rules, TaskCriteria};
use crate::unit::Unit;

/// The subtask or task that declares a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum CriterionScope {
    /// The subtask at this index in [`Round::subtasks`]; displayed counting from 1.
    Subtask(usize),
    /// The task as a whole: a criterion on the combined result.
    Task,
}

impl fmt::Display for CriterionScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subtask(index) => write!(f, "subtask {}", index.saturating_add(1)),
            Self::Task => f.write_str("task"),
        }
    }
}

/// A criterion that was not met, or has no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct UnmetCriterion {
    /// The criterion's claim; for a subtask that failed without a failed criterion, a sentence that says so.
    pub claim: String,
    /// The subtask or task that declares the criterion.
    #[cfg_attr(feature = "serde", serde(rename = "place"))]
    pub scope: CriterionScope,
    /// Whether the unmet criterion was required.
    pub required: bool,
    /// Whether the criterion failed ([`Verdict::Fail`]) or has no verdict ([`Verdict::Missing`]).
    pub verdict: Verdict,
    /// The cause as counted in P; `None` if the criterion does not enter P.
    pub class: Option<FailureClass>,
}

/// D, P and the counts behind them, as measured from a [`Round`].
///
/// `D = Σ weight of unmet criteria / Σ criteria`, where a failed verifiable criterion weighs 1 and a plausible one k/N.
/// D is computed over all subtasks and over the task criteria separately; the greater counts.
/// `P = logical / (logical + environmental)` over failed criteria with a class. 0/0 is 0 in both.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Measurement {
    /// D: distance between intent and result.
    pub d: Unit,
    /// P: share of failures blamed on the approach.
    pub p: Unit,
    /// D (distance) over the criteria of the subtasks alone.
    pub subtask_distance: Unit,
    /// D (distance) over the task criteria alone, whether or not the rules count it.
    pub task_distance: Unit,
    /// Number of failures blamed on the approach.
    pub logical_failures: u32,
    /// Number of failures blamed on the environment.
    pub environmental_failures: u32,
    /// Number of unmet criteria, task criteria included.
    pub unmet: u32,
    /// Whether a required criterion is unmet and the rules enforce required criteria.
    pub required_unmet: bool,
}

impl Measurement {
    /// Which class of failure, logical or environmental, occurred more often.
    #[must_use]
    pub fn failure_mix(&self) -> FailureMix {
        match self.logical_failures.cmp(&self.environmental_failures) {
            core::cmp::Ordering::Greater => FailureMix::Logical,
            core::cmp::Ordering::Less => FailureMix::Environmental,
            core::cmp::Ordering::Equal => FailureMix::Mixed,
        }
    }
}

impl Round {
    /// Measures D and P, in time linear in the size of the round.
    ///
    /// # Errors
    /// [`RoundError`], as [`Round::validate`].
    pub fn measure(&self, rules: &Rules) -> Result<Measurement, RoundError> {
        self.validate()?;
        Ok(measure_failing(self, failing(self), rules))
    }

    /// Distinct (tool, target) pairs of failed calls, in order of first failure. A pair that worked later in the same
    /// subtask (a retry) is left out.
    #[must_use]
    pub fn failed_pairs(&self) -> Vec<ToolTarget> {
        let mut seen = BTreeSet::new();
        let calls = self.subtasks.iter().flat_map(subtask_failed_pairs);
        calls.filter(|call| seen.insert((&call.tool, &call.target))).cloned().collect()
    }
}

/// Measures a valid round whose unmet criteria are given.
pub(crate) fn measure_failing<'a, F: Borrow<Failing<'a>>>(
    round: &Round,
    failing: impl IntoIterator<Item = F>,
    rules: &Rules,
) -> Measurement {
    let mut subtasks = Sum { weight: 0.0, count: round.subtasks.iter().map(|s| s.criteria.len()).sum() };
    let mut task = Sum { weight: 0.0, count: round.task_criteria.len() };
    let (mut logical_failures, mut environmental_failures, mut unmet) = (0_u32, 0_u32, 0_u32);
    let mut required_unmet = false;
    for failing in failing {
        let failing = failing.borrow();
        let in_task = failing.scope == CriterionScope::Task;
        let sum = if in_task { &mut task } else { &mut subtasks };
        sum.weight += failing.weight;
        sum.count += usize::from(failing.is_implied);
        unmet = unmet.saturating_add(1);
        required_unmet |= failing.required;
        if in_task && rules.task_criteria == TaskCriteria::SubtasksOnly {
            continue;
        }
        match failing.class {
            Some(FailureClass::Logical) => logical_failures = logical_failures.saturating_add(1),
            Some(FailureClass::Environmental) => environmental_failures = environmental_failures.saturating_add(1),
            None => {}
        }
    }
    let (subtask_distance, task_distance) = (subtasks.distance(), task.distance());
    let d = match rules.task_criteria {
        TaskCriteria::Counted if task_distance > subtask_distance => task_distance,
        TaskCriteria::Counted | TaskCriteria::SubtasksOnly => subtask_distance,
    };
    let classified = f64::from(logical_failures) + f64::from(environmental_failures);
    Measurement {
        d,
        p: Unit::ratio(f64::from(logical_failures), classified),
        subtask_distance,
        task_distance,
        logical_failures,
        environmental_failures,
        unmet,
        required_unmet: required_unmet && rules.required_criteria == RequiredCriteria::Enforced,
    }
}

/// Running sum of the weights of unmet criteria, and the count of all criteria.
struct Sum {
    weight: f64,
    count: usize,
}

impl Sum {
    /// The distance: the sum of weights divided by the count; 0 if there are no criteria.
    fn distance(&self) -> Unit {
        Unit::ratio(self.weight, self.count as f64)
    }
}

/// An unmet criterion with its weight in D.
pub(crate) struct Failing<'a> {
    pub(crate) scope: CriterionScope,
    pub(crate) claim: Cow<'a, str>,
    pub(crate) required: bool,
    pub(crate) verdict: Verdict,
    pub(crate) class: Option<FailureClass>,
    pub(crate) weight: f64,
    /// Whether the criterion is undeclared: it represents a subtask that failed although none of its criteria did.
    pub(crate) is_implied: bool,
}

impl Failing<'_> {
    /// Converts the criterion to the form in which outcomes list unmet criteria.
    pub(crate) fn to_unmet(&self) -> UnmetCriterion {
        UnmetCriterion {
            claim: self.claim.clone().into_owned(),
            scope: self.scope,
            required: self.required,
            verdict: self.verdict,
            class: self.class,
        }
    }
}

/// Every unmet criterion of a round, subtasks first, in declaration order.
pub(crate) fn failing(round: &Round) -> impl Iterator<Item = Failing<'_>> {
    let subtasks = round.subtasks.iter().enumerate().flat_map(|(index, subtask)| {
        let declared = subtask.criteria.iter().filter_map(move |c| failing_in_subtask(index, subtask, c));
        declared.chain(failing_without_criterion(index, subtask))
    });
    subtasks.chain(round.task_criteria.iter().filter_map(failing_in_task))
}

/// The unmet criterion of a subtask, with its weight and class; `None` if the criterion is met.
fn failing_in_subtask<'a>(
    index: usize,
    subtask: &SubtaskMeasure,
    criterion: &'a CriterionMeasure,
) -> Option<Failing<'a>> {
    let unstated = subtask.infrastructure.then_some(FailureClass::Environmental);
    let (verdict, class, weight) = match (subtask.status, criterion.verdict) {
        (SubtaskStatus::NotRun, _) => (Verdict::Missing, None, 1.0),
        (SubtaskStatus::Matched | SubtaskStatus::Failed, Verdict::Pass) => return None,
        (SubtaskStatus::Matched | SubtaskStatus::Failed, Verdict::Missing) => {
            (Verdict::Missing, criterion.class.or(unstated), 1.0)
        }
        (SubtaskStatus::Matched | SubtaskStatus::Failed, Verdict::Fail) => {
            (Verdict::Fail, criterion.class.or(unstated), weight(criterion))
        }
    };
    Some(Failing {
        scope: CriterionScope::Subtask(index),
        claim: Cow::Borrowed(&criterion.claim),
        required: criterion.required,
        verdict,
        class,
        weight,
        is_implied: false,
    })
}

/// The implied criterion of a subtask that failed, or never ran, without an unmet criterion, so that the subtask's
/// distance is never 0; `None` for any other subtask.
fn failing_without_criterion(index: usize, subtask: &SubtaskMeasure) -> Option<Failing<'static>> {
    let scope = CriterionScope::Subtask(index);
    let all_passed = subtask.criteria.iter().all(|c| c.verdict == Verdict::Pass);
    let (claim, class) = match subtask.status {
        SubtaskStatus::Failed if all_passed => (
            format!("{scope} failed without a failed criterion"),
            subtask.infrastructure.then_some(FailureClass::Environmental),
        ),
        SubtaskStatus::NotRun if subtask.criteria.is_empty() => (format!("{scope} did not run"), None),
        SubtaskStatus::Matched | SubtaskStatus::Failed | SubtaskStatus::NotRun => return None,
    };
    Some(Failing {
        scope,
        claim: Cow::Owned(claim),
        required: false,
        verdict: Verdict::Missing,
        class,
        weight: 1.0,
        is_implied: true,
    })
}

/// The unmet criterion of the task, with its weight and class; `None` if the criterion is met.
fn failing_in_task(criterion: &CriterionMeasure) -> Option<Failing<'_>> {
    let (class, weight) = match criterion.verdict {
        Verdict::Pass => return None,
        // The subtasks matched but the combined result failed: by default the approach is to blame.
        Verdict::Fail => (Some(criterion.class.unwrap_or(FailureClass::Logical)), weight(criterion)),
        Verdict::Missing => (criterion.class, 1.0),
    };
    Some(Failing {
        scope: CriterionScope::Task,
        claim: Cow::Borrowed(&criterion.claim),
        required: criterion.required,
        verdict: criterion.verdict,
        class,
        weight,
        is_implied: false,
    })
}

/// Weight of a failed criterion in D: 1, or k/N for a plausible one (k at least 1; with N = 0 the weight is 1).
fn weight(criterion: &CriterionMeasure) -> f64 {
    match criterion.mode {
        CriterionMode::Plausible if criterion.attempts > 0 => {
            f64::from(criterion.failed_attempts.clamp(1, criterion.attempts)) / f64::from(criterion.attempts)
        }
        CriterionMode::Plausible | CriterionMode::Verifiable => 1.0,
    }
}

/// Failed calls of one subtask, without (tool, target) pairs whose last call worked; a pair may occur more than once.
pub(crate) fn subtask_failed_pairs(subtask: &SubtaskMeasure) -> impl Iterator<Item = &ToolTarget> {
    // A retry can only exist if some calls failed and some worked.
    let mixed = subtask.calls.iter().any(|call| call.failed) && subtask.calls.iter().any(|call| !call.failed);
    let calls: &[ToolTarget] = if mixed { &subtask.calls } else { &[] };
    let last: BTreeMap<_, _> = calls.iter().map(|call| ((&call.tool, &call.target), call.failed)).collect();
    let is_retried = move |call: &ToolTarget| last.get(&(&call.tool, &call.target)) == Some(&false);
    subtask.calls.iter().filter(move |call| call.failed && !is_retried(call))
}
