//! Off-policy evaluation: estimates from a log what another profile would have achieved on the logged tasks.
//!
//! A log shows what followed the decisions that were made, not what would have followed others. A task therefore
//! counts only if the candidate makes the same decision as the log in every round. Its weight is the product of 1 /
//! propensity (importance sampling; the value is the self-normalized mean), so that improbable decisions weigh more.
//! If the controller always decides alike, every propensity is 1, and the log only shows in how many tasks the
//! candidate would have changed nothing: [`OffPolicy::effective_tasks`] is the number of tasks behind the value.

use artoo_ggs::Decision;
use artoo_ggs::Profile;
use artoo_ggs::{ControllerReply, LogEntry, replay};

/// A logged task: the calls of its controller with their replies, and the utility of its result.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedTask<K> {
    /// The log of one task, from its first call to its last.
    pub records: Vec<LogEntry<K>>,
    /// The utility of the task's result, judged by a person or a later check.
    pub utility: f64,
}

/// The evaluation of a profile on a log.
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

/// The weight of a task in which the profile makes the same decisions as the log; `None` for any other task.
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

/// The decision in a reply, if it contains one.
fn decided(reply: &ControllerReply) -> Option<&Decision> {
    if let ControllerReply::Decided(decision) = reply { Some(decision) } else { None }
}
