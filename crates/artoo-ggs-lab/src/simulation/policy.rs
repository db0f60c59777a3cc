//! The policies: who decides what follows an execution that fell short.

mod baseline;
mod controlled;
mod v07;

use super::execution::Execution;
use super::planner::Instruction;
use artoo_ggs::Profile;
use artoo_ggs::{Hyperparameters, ParameterTable};
use artoo_ggs::{Measurement, Round};
use baseline::{Baseline, Habit};
use controlled::Controlled;
use v07::V07;

/// Executions any policy may use: version 0.8's limit on replans holds for all.
pub const EXECUTIONS_MAX: usize = 1 + ParameterTable::DEFAULT.max_replans as usize;

/// A named policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    name: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Baseline(Habit),
    V07,
    Profile(Profile),
    Oracle,
}

impl Policy {
    /// Tries again without saying what to change.
    #[must_use]
    pub fn naive() -> Self {
        Self::of("naive", Kind::Baseline(Habit::Naive))
    }

    /// Writes down what failed in each subtask and what the planner should do about it: mostly met, refine; blamed on
    /// the environment, another target; on the approach, another tool. Everything tried stays written down. Nothing is
    /// forbidden. (After Shinn et al., "Reflexion", 2023.)
    #[must_use]
    pub fn reflexion() -> Self {
        Self::of("reflexion", Kind::Baseline(Habit::Reflexion))
    }

    /// Refines as long as the distance falls, and plans all that fails anew when it doesn't, with what was tried written
    /// down. (After the stall counter of Magentic-One, scaled to four executions.)
    #[must_use]
    pub fn stall() -> Self {
        Self::of("stall", Kind::Baseline(Habit::Stall))
    }

    /// Throws everything away and plans anew: best of four.
    #[must_use]
    pub fn restart() -> Self {
        Self::of("restart", Kind::Baseline(Habit::Restart))
    }

    /// Version 0.7's table: an improving loss is trusted, only a distance of 0 is good enough, two minutes are all.
    #[must_use]
    pub fn v07() -> Self {
        Self::of("v07", Kind::V07)
    }

    /// This crate's controller under [`Profile::strict_spec`].
    #[must_use]
    pub fn literal() -> Self {
        Self::profile("literal", Profile::strict_spec())
    }

    /// This crate's controller under [`Profile::default`].
    #[must_use]
    pub fn v08() -> Self {
        Self::profile("v08", Profile::default())
    }

    /// Version 0.8 with δ = 0: never content with part, to show what being content costs and saves.
    #[must_use]
    pub fn strict() -> Self {
        let v08 = Profile::default();
        let mut table = ParameterTable::DEFAULT;
        table.delta = 0.0;
        let strict = Hyperparameters::try_from(table).and_then(|table| Profile::new("strict", table, *v08.rules()));
        Self::profile("strict", strict.unwrap_or(v08))
    }

    /// This crate's controller under a profile of one's own.
    #[must_use]
    pub fn profile(name: &str, profile: Profile) -> Self {
        Self::of(name, Kind::Profile(profile))
    }

    /// Sees the truth: takes sound tools and open targets, refines, fears no verifier, and stops where it pays most.
    /// What no policy can beat.
    #[must_use]
    pub fn oracle() -> Self {
        Self::of("oracle", Kind::Oracle)
    }

    /// Every policy, in the order of tables.
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

    /// What it is called in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it sees what others can't.
    #[must_use]
    pub fn is_oracle(&self) -> bool {
        self.kind == Kind::Oracle
    }

    fn of(name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), kind }
    }

    /// Somebody to decide for one task; none for the oracle, which needs no decisions.
    pub(super) fn driver(&self) -> Option<Box<dyn Driver + '_>> {
        match &self.kind {
            Kind::Baseline(habit) => Some(Box::new(Baseline::new(*habit))),
            Kind::V07 => Some(Box::new(V07::new())),
            Kind::Profile(profile) => Some(Box::new(Controlled::new(profile))),
            Kind::Oracle => None,
        }
    }
}

/// What a policy looks at.
pub(super) struct Seen<'a> {
    pub(super) execution: &'a Execution,
    pub(super) round: &'a Round,
    /// By version 0.8's rules.
    pub(super) measured: &'a Measurement,
    /// Executions so far, this one included.
    pub(super) executions: usize,
}

/// What a policy decides.
#[derive(Debug)]
pub(super) enum Step {
    /// Hand over this execution's result as complete.
    Accept,
    /// Hand over this execution's result, naming what is unmet.
    Deliver,
    /// End the task without one.
    GiveUp(Option<Kill>),
    /// Plan again.
    Replan(Instruction),
}

/// An end by a kill switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kill {
    /// Whether the measured distance rose in each of the rounds that the switch counted.
    pub(super) distance_rose: bool,
}

/// Decides for one task.
pub(super) trait Driver {
    /// After an execution.
    fn step(&mut self, seen: &Seen<'_>) -> Step;
}

/// Whether the last `count` steps of a series all rose.
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
