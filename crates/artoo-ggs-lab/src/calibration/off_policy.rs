//! Off-policy evaluation: estimates from a log what another profile would have achieved on the logged tasks.
//!
//! A log shows what followed the decisions that were made, not what would have followed others. A task therefore
//! counts only if the candidate makes the same decision as the log in every round. Its weight is the product of 1 /
//! propensity (importance sampling; the value is the self-normalized mean), so that improbable decisions weigh more.
//! If the controller always decides alike, every propensity is 1, and the log only shows in how many tasks the
//! candidate would have changed nothing: [`OffPolicy::effective_tasks`] is the number of tasks behind the value.

use super::Evidence;
use super::bootstrap::{LEVEL, quantile};
use artoo_ggs::{ControllerReply, Decision, LogEntry, Profile, replay};

/// A logged task: the calls of its controller with their replies, and the utility of its result.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedTask<K> {
    /// The log of one task, from its first call to its last.
    pub records: Vec<LogEntry<K>>,
    /// The utility of the task's result, judged by a person or a later check, or else that of the controller's own
    /// ending.
    pub utility: f64,
}

/// The evaluation of a profile on a log: how many tasks agree with it, and the estimated utility per task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OffPolicy {
    /// Number of tasks in the log.
    pub tasks: usize,
    /// Number of tasks in which the profile makes the same decisions as the log.
    pub agreeing: usize,
    /// Weighted mean utility of the agreeing tasks; `None` if there are none.
    pub value: Option<f64>,
    /// (Σ weight)² / Σ weight²: the number of equally weighted tasks that would be as informative (Kish's effective
    /// size).
    pub effective_tasks: f64,
}

/// Evaluates a profile on logged tasks. A utility that is not finite leaves its task out of `agreeing`.
#[must_use]
pub fn evaluate<K: Ord + Clone>(profile: &Profile, tasks: &[LoggedTask<K>]) -> OffPolicy {
    let weighed = tasks.iter().filter(|task| task.utility.is_finite());
    let weighed: Vec<(f64, f64)> = weighed.filter_map(|task| Some((weight(profile, task)?, task.utility))).collect();
    let sum: f64 = weighed.iter().map(|(weight, _)| weight).sum();
    let squares: f64 = weighed.iter().map(|(weight, _)| weight * weight).sum();
    let worth: f64 = weighed.iter().map(|(weight, utility)| weight * utility).sum();
    OffPolicy {
        tasks: tasks.len(),
        agreeing: weighed.len(),
        value: (sum > 0.0).then(|| worth / sum),
        effective_tasks: if squares > 0.0 { sum * sum / squares } else { 0.0 },
    }
}

/// The weight of a task in which the profile makes the same decisions as the logged controller; `None` if one differs
/// or has a propensity of 0.
fn weight<K: Ord + Clone>(profile: &Profile, task: &LoggedTask<K>) -> Option<f64> {
    let events = task.records.iter().map(|record| record.event.clone());
    let mut weight = 1.0;
    for (logged, again) in task.records.iter().zip(replay(profile.clone(), events)) {
        match (decided(&logged.reply), decided(&again.reply)) {
            (None, None) => {}
            (Some(logged), Some(again)) if logged.outcome == again.outcome => {
                let propensity = logged.propensity.value();
                weight *= (propensity > 0.0).then(|| 1.0 / propensity)?;
            }
            (Some(_), Some(_)) | (Some(_), None) | (None, Some(_)) => return None,
        }
    }
    Some(weight)
}

/// Number of equally informative tasks below which a log can't be used to judge a profile.
pub const LOGGED_TASKS_MIN: f64 = 200.0;
/// Smallest mean weight of all tasks at which a log covers a profile's decisions. Far below 1, the profile would often
/// have decided otherwise.
pub const SUPPORT_MIN: f64 = 0.95;

/// How a profile is judged by a log: the estimate, the support, the gain and the verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// The evaluation of the profile on the log.
    pub off_policy: OffPolicy,
    /// Mean weight over all tasks: 1 if the log covers the profile's decisions.
    pub support: f64,
    /// The profile's value less the mean utility in the log, with bounds from a bootstrap over tasks.
    pub gain: Evidence,
    /// How sure that is.
    pub verdict: Sureness,
}

/// The verdict on a profile judged by a log: too few tasks, not covered, no gain shown, or better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sureness {
    /// Not enough: fewer than [`LOGGED_TASKS_MIN`] informative tasks.
    TooFewTasks,
    /// Not enough: the log does not show what the profile's other decisions lead to ([`SUPPORT_MIN`]).
    NotCovered,
    /// Enough, and the lower bound of the gain is not above 0.
    NotShown,
    /// Enough, and the gain is above 0 with 95 % confidence.
    Better,
}

/// Judges a profile on logged tasks, with this many resamples of the bootstrap for the confidence bounds.
#[must_use]
pub fn judge<K: Ord + Clone>(profile: &Profile, tasks: &[LoggedTask<K>], resamples: u32, seed: u64) -> Judgement {
    let tasks: Vec<_> = tasks.iter().filter(|task| task.utility.is_finite()).cloned().collect();
    let off_policy = evaluate(profile, &tasks);
    let weighed: Vec<(f64, f64)> =
        tasks.iter().map(|task| (weight(profile, task).unwrap_or(0.0), task.utility)).collect();
    let support = weighed.iter().map(|(weight, _)| weight).sum::<f64>() / weighed.len().max(1) as f64;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut again = || gain((0..weighed.len()).filter_map(|_| weighed.get(rng.usize(0..weighed.len()))));
    let mut gains: Vec<f64> = (0..resamples).map(|_| again()).collect();
    gains.sort_by(f64::total_cmp);
    let (lower, upper) = (quantile(&gains, LEVEL), quantile(&gains, 1.0 - LEVEL));
    let verdict = match () {
        () if off_policy.effective_tasks < LOGGED_TASKS_MIN => Sureness::TooFewTasks,
        () if support < SUPPORT_MIN => Sureness::NotCovered,
        () if lower > 0.0 => Sureness::Better,
        () => Sureness::NotShown,
    };
    Judgement { off_policy, support, gain: Evidence { gain: gain(weighed.iter()), lower, upper }, verdict }
}

/// The weighted mean utility of tasks (weight, utility) minus the unweighted mean; 0 if no task has weight.
fn gain<'a>(weighed: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    let (mut weights, mut worth, mut sum, mut count) = (0.0, 0.0, 0.0, 0.0);
    for (weight, utility) in weighed {
        weights += weight;
        worth += weight * utility;
        sum += utility;
        count += 1.0;
    }
    if weights > 0.0 { worth / weights - sum / count } else { 0.0 }
}

/// The decision in a reply, if it contains one.
pub(super) fn decided(reply: &ControllerReply) -> Option<&Decision> {
    if let ControllerReply::Decided(decision) = reply { Some(decision) } else { None }
}
