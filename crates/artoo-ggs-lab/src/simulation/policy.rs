//! The policies: they decide what to do after an execution.

mod baseline;
mod controlled;
mod v07;

use super::execution::Execution;
use super::planner::Instruction;
use artoo_ggs::Profile;
use artoo_ggs::{Hyperparameters, ParameterTable};
use artoo_ggs::{Measurement, Round};
use baseline::{Baseline, BaselineKind};
use controlled::Controlled;
use v07::V07;

/// Maximum number of executions per task: the `max_replans` of specification v0.8 holds for every policy.
pub const EXECUTIONS_MAX: usize = 1 + ParameterTable::DEFAULT.max_replans as usize;

/// A named policy: it decides after each execution whether to deliver, give up or plan again.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    name: String,
    kind: PolicyKind,
}

/// How a policy decides: by a baseline, the table of v0.7, a controller's profile, or the truth.
#[derive(Debug, Clone, PartialEq)]
enum PolicyKind {
    Baseline(BaselineKind),
    V07,
    Profile(Profile),
    Oracle,
}

impl Policy {
    /// A baseline policy that plans again without saying what to change.
    #[must_use]
    pub fn naive() -> Self {
        Self::of("naive", PolicyKind::Baseline(BaselineKind::Naive))
    }

    /// A baseline policy that tells the planner for each subtask what to change: refine if most criteria are met, use
    /// another target if the environment is to blame, or another tool if the approach is. The planner remembers
    /// everything tried; nothing is blocked. (After Shinn et al., "Reflexion", 2023.)
    #[must_use]
    pub fn reflexion() -> Self {
        Self::of("reflexion", PolicyKind::Baseline(BaselineKind::Reflexion))
    }

    /// A baseline policy that refines as long as D falls, and otherwise changes tool and target of all failing
    /// subtasks; the planner remembers what was tried. (After the stall counter of Magentic-One, scaled to four
    /// executions.)
    #[must_use]
    pub fn stall() -> Self {
        Self::of("stall", PolicyKind::Baseline(BaselineKind::Stall))
    }

    /// A baseline policy that discards all results and plans anew, for up to four executions.
    #[must_use]
    pub fn restart() -> Self {
        Self::of("restart", PolicyKind::Baseline(BaselineKind::Restart))
    }

    /// A policy that follows the decision table of specification v0.7: it trusts a falling loss, accepts only D = 0,
    /// and has a budget of two minutes.
    #[must_use]
    pub fn v07() -> Self {
        Self::of("v07", PolicyKind::V07)
    }

    /// A policy that follows the `artoo-ggs` controller under [`Profile::strict_spec`].
    #[must_use]
    pub fn literal() -> Self {
        Self::profile("literal", Profile::strict_spec())
    }

    /// A policy that follows the `artoo-ggs` controller under [`Profile::default`].
    #[must_use]
    pub fn v08() -> Self {
        Self::profile("v08", Profile::default())
    }

    /// A policy that follows the `artoo-ggs` controller with δ = 0, so that it delivers in part only when it gives up.
    #[must_use]
    pub fn strict() -> Self {
        let v08 = Profile::default();
        let mut table = ParameterTable::DEFAULT;
        table.delta = 0.0;
        let strict = Hyperparameters::try_from(table).and_then(|table| Profile::new("strict", table, *v08.rules()));
        Self::profile("strict", strict.unwrap_or(v08))
    }

    /// A policy that follows the `artoo-ggs` controller under the given profile.
    #[must_use]
    pub fn profile(name: &str, profile: Profile) -> Self {
        Self::of(name, PolicyKind::Profile(profile))
    }

    /// An upper bound for policies: it knows the truth, uses sound tools on open targets, and stops at the best
    /// utility.
    #[must_use]
    pub fn oracle() -> Self {
        Self::of("oracle", PolicyKind::Oracle)
    }

    /// All policies, in the order of the tables.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::naive(),
            Self::reflexion(),
            Self::stall(),
            Self::restart(),
            Self::v07(),
            Self::literal(),
            Self::v08(),
            Self::strict(),
            Self::oracle(),
        ]
    }

    /// The policy's name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the policy is the oracle, which knows the truth.
    #[must_use]
    pub fn is_oracle(&self) -> bool {
        self.kind == PolicyKind::Oracle
    }

    fn of(name: &str, kind: PolicyKind) -> Self {
        Self { name: name.to_owned(), kind }
    }

    /// Creates the driver of the policy for one task; `None` for the oracle, which needs no decisions.
    pub(super) fn driver(&self) -> Option<Box<dyn Driver + '_>> {
        match &self.kind {
            PolicyKind::Baseline(kind) => Some(Box::new(Baseline::new(*kind))),
            PolicyKind::V07 => Some(Box::new(V07::new())),
            PolicyKind::Profile(profile) => Some(Box::new(Controlled::new(profile))),
            PolicyKind::Oracle => None,
        }
    }
}

/// The input of a policy: one execution as it was measured.
pub(super) struct PolicyInput<'a> {
    pub(super) execution: &'a Execution,
    pub(super) round: &'a Round,
    /// D and P of the execution by the rules of specification v0.8.
    pub(super) measured: &'a Measurement,
    /// Number of executions so far, this one included.
    pub(super) executions: usize,
}

/// What a policy decides after an execution.
#[derive(Debug)]
pub(super) enum Step {
    /// Deliver the result as complete.
    Accept,
    /// Deliver the result with a list of what is unmet.
    Deliver,
    /// End the task; `Some` if a kill switch ended it. The best earlier execution may still be delivered in part.
    GiveUp(Option<Kill>),
    /// Plan again by this instruction.
    Replan(Instruction),
}

/// The end of a task by a kill switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kill {
    /// Whether D rose in every round that the switch counted.
    pub(super) distance_rose: bool,
}

/// Makes the decisions of a policy for one task.
pub(super) trait Driver {
    /// Decides what to do after an execution.
    fn step(&mut self, seen: &PolicyInput<'_>) -> Step;
}

/// Whether each of the last `count` steps of a series rose; false if there are fewer steps.
fn rose_throughout(series: &[i64], count: usize) -> bool {
    let steps: Vec<bool> = series.windows(2).map(|pair| matches!(pair, [a, b] if b > a)).collect();
    steps.len() >= count && steps.iter().rev().take(count).all(|rose| *rose)
}

#[cfg(test)]
mod tests {
    use super::rose_throughout;

    #[test]
    fn a_series_rises_only_if_every_late_step_does() {
        for (series, rises) in [
            (&[1, 2, 3][..], true),
            (&[9, 2, 3, 4], true),
            (&[1, 2, 2], false),
            (&[1, 3, 2], false),
            (&[1, 2], false),
            (&[], false),
        ] {
            assert_eq!(rose_throughout(series, 2), rises, "{series:?}");
        }
    }
}
