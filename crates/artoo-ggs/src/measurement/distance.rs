//! D and P: how far a round is from its goal, and whose fault that is.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{CriterionMeasure, FailureClass, FailureMix, Mode, Round, RoundError, SubtaskMeasure, SubtaskStatus};
use super::{ToolTarget, Verdict};
use crate::profile::{RequiredCriteria, Rules, TaskCriteria};
use crate::unit::Unit;

/// Where a criterion was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Place {
    /// On the subtask at this position in [`Round::subtasks`], from 0 (shown from 1).
    Subtask(usize),
    /// On the combined result.
    Task,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subtask(index) => write!(f, "subtask {}", index.saturating_add(1)),
            Self::Task => f.write_str("task"),
        }
    }
}

/// A criterion that was not met, or not shown to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unmet {
    /// What was claimed. For a subtask that failed without a failed criterion, a sentence saying so.
    pub claim: String,
    /// Where it was declared.
    pub place: Place,
    /// Whether it was required.
    pub required: bool,
    /// `Fail` or `Missing`.
    pub verdict: Verdict,
    /// Whose fault, as counted in P; `None` where it isn't.
    pub class: Option<FailureClass>,
}

/// What a round measures.
///
/// `D = Σ weight / Σ criteria`, a failed verifiable criterion weighing 1 and a plausible one k/N, taken over all subtasks
/// and over the task criteria apart; the greater counts. `P = logical / (logical + environmental)` over failed criteria
/// with a class; 0/0 is 0 in both.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Measured {
    /// Intent-result distance.
    pub d: Unit,
    /// Process implausibility.
    pub p: Unit,
    /// D over the subtasks' criteria.
    pub subtask_distance: Unit,
    /// D over the task's criteria, whether or not the rules count it.
    pub task_distance: Unit,
    /// Failures blamed on the approach.
    pub logical_failures: u32,
    /// Failures blamed on the environment.
    pub environmental_failures: u32,
    /// Unmet criteria, task criteria included.
    pub unmet: u32,
    /// Whether a required one is among them and the rules say that it binds.
    pub required_unmet: bool,
}

impl Measured {
    /// Which class has more failures.
    #[must_use]
    pub fn failure_mix(&self) -> FailureMix {
        match self.logical_failures.cmp(&self.environmental_failures) {
            std::cmp::Ordering::Greater => FailureMix::Logical,
            std::cmp::Ordering::Less => FailureMix::Environmental,
            std::cmp::Ordering::Equal => FailureMix::Mixed,
        }
    }
}

/// Measures a round; linear in its size.
///
/// # Errors
/// [`RoundError`], as [`Round::validate`].
pub fn measure(round: &Round, rules: &Rules) -> Result<Measured, RoundError> {
    round.validate()?;
    Ok(measure_failing(round, failing(round), rules))
}

/// Measures a valid round of which what fails is known.
pub(crate) fn measure_failing<'a, F: Borrow<Failing<'a>>>(
    round: &Round,
    failing: impl IntoIterator<Item = F>,
    rules: &Rules,
) -> Measured {
    let mut subtasks = Sum { weight: 0.0, count: round.subtasks.iter().map(|s| s.criteria.len()).sum() };
    let mut task = Sum { weight: 0.0, count: round.task_criteria.len() };
    let (mut logical_failures, mut environmental_failures, mut unmet) = (0_u32, 0_u32, 0_u32);
    let mut required_unmet = false;
    for failing in failing {
        let failing = failing.borrow();
        let in_task = failing.place == Place::Task;
        let sum = if in_task { &mut task } else { &mut subtasks };
        sum.weight += failing.weight;
        sum.count += usize::from(failing.is_extra);
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
    Measured {
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

struct Sum {
    weight: f64,
    count: usize,
}

impl Sum {
    fn distance(&self) -> Unit {
        Unit::ratio(self.weight, self.count as f64)
    }
}

/// One unmet criterion as it enters the sums.
pub(crate) struct Failing<'a> {
    pub(crate) place: Place,
    pub(crate) claim: Cow<'a, str>,
    pub(crate) required: bool,
    pub(crate) verdict: Verdict,
    pub(crate) class: Option<FailureClass>,
    pub(crate) weight: f64,
    /// Not declared by anyone: it stands for a subtask that failed while none of its criteria did.
    pub(crate) is_extra: bool,
}

impl Failing<'_> {
    pub(crate) fn to_unmet(&self) -> Unmet {
        Unmet {
            claim: self.claim.clone().into_owned(),
            place: self.place,
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
        place: Place::Subtask(index),
        claim: Cow::Borrowed(&criterion.claim),
        required: criterion.required,
        verdict,
        class,
        weight,
        is_extra: false,
    })
}

/// A subtask that failed or never ran is never at distance 0, whatever its criteria say.
fn failing_without_criterion(index: usize, subtask: &SubtaskMeasure) -> Option<Failing<'static>> {
    let place = Place::Subtask(index);
    let all_passed = subtask.criteria.iter().all(|c| c.verdict == Verdict::Pass);
    let (claim, class) = match subtask.status {
        SubtaskStatus::Failed if all_passed => (
            format!("{place} failed without a failed criterion"),
            subtask.infrastructure.then_some(FailureClass::Environmental),
        ),
        SubtaskStatus::NotRun if subtask.criteria.is_empty() => (format!("{place} did not run"), None),
        SubtaskStatus::Matched | SubtaskStatus::Failed | SubtaskStatus::NotRun => return None,
    };
    Some(Failing {
        place,
        claim: Cow::Owned(claim),
        required: false,
        verdict: Verdict::Missing,
        class,
        weight: 1.0,
        is_extra: true,
    })
}

fn failing_in_task(criterion: &CriterionMeasure) -> Option<Failing<'_>> {
    let (class, weight) = match criterion.verdict {
        Verdict::Pass => return None,
        // The subtasks matched and the whole does not: the approach is at fault unless somebody says otherwise.
        Verdict::Fail => (Some(criterion.class.unwrap_or(FailureClass::Logical)), weight(criterion)),
        Verdict::Missing => (criterion.class, 1.0),
    };
    Some(Failing {
        place: Place::Task,
        claim: Cow::Borrowed(&criterion.claim),
        required: criterion.required,
        verdict: criterion.verdict,
        class,
        weight,
        is_extra: false,
    })
}

fn weight(criterion: &CriterionMeasure) -> f64 {
    match criterion.mode {
        Mode::Plausible if criterion.attempts > 0 => {
            f64::from(criterion.failed_attempts.clamp(1, criterion.attempts)) / f64::from(criterion.attempts)
        }
        Mode::Plausible | Mode::Verifiable => 1.0,
    }
}

/// Distinct (tool, target) pairs of a round that came to nothing, in order of first failure.
///
/// A pair that worked later in the same subtask (a retry) is not among them.
#[must_use]
pub fn failed_pairs(round: &Round) -> Vec<ToolTarget> {
    let mut seen = BTreeSet::new();
    let subtasks = round.subtasks.iter();
    subtasks.flat_map(subtask_failed_pairs).filter(|call| seen.insert((&call.tool, &call.target))).cloned().collect()
}

/// The failed pairs of one subtask; a pair may occur more than once.
pub(crate) fn subtask_failed_pairs(subtask: &SubtaskMeasure) -> impl Iterator<Item = &ToolTarget> {
    // Where every call came to nothing, and where none did, there is no retry to look for.
    let mixed = subtask.calls.iter().any(|call| call.failed) && subtask.calls.iter().any(|call| !call.failed);
    let calls: &[ToolTarget] = if mixed { &subtask.calls } else { &[] };
    let last: BTreeMap<_, _> = calls.iter().map(|call| ((&call.tool, &call.target), call.failed)).collect();
    let is_forgiven = move |call: &ToolTarget| last.get(&(&call.tool, &call.target)) == Some(&false);
    subtask.calls.iter().filter(move |call| call.failed && !is_forgiven(call))
}
