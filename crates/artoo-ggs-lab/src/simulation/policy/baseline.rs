//! The baseline policies, which use no controller: plan again, reflect, refine until a stall, or restart.

use super::{Driver, PolicyInput, Step};
use crate::simulation::execution::SubtaskResult;
use crate::simulation::planner::{Change, Instruction};
use artoo_ggs::FailureClass;

/// Kinds of policy without a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaselineKind {
    Naive,
    Reflexion,
    Stall,
    Restart,
}

/// Makes the decisions of a policy without a controller.
pub(super) struct Baseline {
    kind: BaselineKind,
    least_distance: i64,
}

impl Baseline {
    pub(super) fn new(kind: BaselineKind) -> Self {
        Self { kind, least_distance: i64::MAX }
    }

    /// The change for each subtask that this kind of policy asks for.
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

/// The change that a reader of a subtask's verdicts would suggest: refine if at most half of the criteria failed or
/// nothing was judged, else another target or tool, by the class of most failures.
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
