//! The policies without a controller: try again, reflect, watch for stalls, start over.

use super::{Driver, Seen, Step};
use crate::simulation::execution::SubtaskResult;
use crate::simulation::planner::{Change, Instruction};
use artoo_ggs::FailureClass;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    Naive,
    Reflexion,
    Stall,
    Restart,
}

pub(super) struct Baseline {
    habit: Habit,
    least_distance: i64,
}

impl Baseline {
    pub(super) fn new(habit: Habit) -> Self {
        Self { habit, least_distance: i64::MAX }
    }

    fn changes(&self, seen: &Seen<'_>) -> Vec<Change> {
        let results = seen.execution.results.iter();
        let distance = seen.measured.d.micros();
        match self.habit {
            Habit::Naive | Habit::Restart => results.map(|_| Change::Unguided).collect(),
            Habit::Stall if distance < self.least_distance => results.map(|_| Change::Refine).collect(),
            Habit::Stall => results.map(|_| Change::Both).collect(),
            Habit::Reflexion => results.map(reflect).collect(),
        }
    }
}

impl Driver for Baseline {
    fn step(&mut self, seen: &Seen<'_>) -> Step {
        if seen.execution.is_accepted() {
            return Step::Accept;
        }
        let changes = self.changes(seen);
        self.least_distance = self.least_distance.min(seen.measured.d.micros());
        Step::Replan(Instruction {
            changes,
            remembers: matches!(self.habit, Habit::Reflexion | Habit::Stall),
            from_scratch: self.habit == Habit::Restart,
            ..Instruction::default()
        })
    }
}

/// What somebody who reads the verdicts of one subtask would write: a subtask that matched is only there because the
/// whole was rejected, and one that was never judged wants another try.
fn reflect(result: &SubtaskResult) -> Change {
    let count = result.failed_attempts.len();
    let failed = (0..count).filter(|criterion| !result.passed.has(*criterion));
    let environmental =
        failed.filter(|criterion| result.classes.get(*criterion) == Some(&FailureClass::Environmental)).count();
    let failures = count.saturating_sub(result.passed.len() as usize);
    if result.infrastructure || 2 * failures <= count {
        Change::Refine
    } else if 2 * environmental > failures {
        Change::Target
    } else {
        Change::Tool
    }
}
