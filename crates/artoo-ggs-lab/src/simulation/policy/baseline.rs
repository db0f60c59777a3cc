//! The policies without a controller: try again, reflect, watch for stalls, start over.

use super::{Driver, PolicyInput, Step};
use crate::simulation::execution::SubtaskResult;
use crate::simulation::planner::{Change, Instruction};
use artoo_ggs::FailureClass;

/// The policies without a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaselineKind {
    Naive,
    Reflexion,
    Stall,
    Restart,
}

/// The driver of a policy without a controller.
pub(super) struct Baseline {
    kind: BaselineKind,
    least_distance: i64,
}

impl Baseline {
    pub(super) fn new(kind: BaselineKind) -> Self {
        Self { kind, least_distance: i64::MAX }
    }

    fn changes(&self, seen: &PolicyInput<'_>) -> Vec<Change> {
        let results = seen.execution.results.iter();
        let distance = seen.measured.d.micros();
        match self.kind {
            BaselineKind::Naive | BaselineKind::Restart => results.map(|_| Change::Unguided).collect(),
            BaselineKind::Stall if distance < self.least_distance => results.map(|_| Change::Refine).collect(),
            BaselineKind::Stall => results.map(|_| Change::Both).collect(),
            BaselineKind::Reflexion => results.map(reflect).collect(),
        }
    }
}

impl Driver for Baseline {
    fn step(&mut self, seen: &PolicyInput<'_>) -> Step {
        if seen.execution.is_accepted() {
            return Step::Accept;
        }
        let changes = self.changes(seen);
        self.least_distance = self.least_distance.min(seen.measured.d.micros());
        Step::Replan(Instruction {
            changes,
            remembers: matches!(self.kind, BaselineKind::Reflexion | BaselineKind::Stall),
            from_scratch: self.kind == BaselineKind::Restart,
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
