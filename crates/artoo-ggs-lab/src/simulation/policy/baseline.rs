//! The baseline policies, which decide without the `artoo-ggs` controller.

use super::{Change, Driver, Instruction, OwnBlocks, Seen, Step};
use artoo_ggs::{BlockedTarget, FailureClass, Hyperparameters, Round, SubtaskMeasure, Verdict};

/// How a baseline policy chooses what to change after an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaselineKind {
    Naive,
    Stall,
    Restart,
    /// For each subtask, what a reader of its verdicts would suggest.
    Notes {
        /// Whether code enforces what the notes say.
        blocks: bool,
        /// Whether mostly met results are refined; otherwise there are two answers only.
        refines: bool,
        /// Whether D ≤ δ with everything required met is delivered.
        stops: bool,
    },
}

/// Makes the decisions of a policy without a controller.
pub(super) struct Baseline {
    kind: BaselineKind,
    least_distance: i64,
    targets: Vec<BlockedTarget>,
    own: Vec<OwnBlocks>,
}

impl Baseline {
    /// Creates the driver of this kind of baseline for one task.
    pub(super) fn new(kind: BaselineKind) -> Self {
        Self { kind, least_distance: i64::MAX, targets: Vec::new(), own: Vec::new() }
    }

    /// The change for each subtask that this kind of policy asks for.
    fn changes(&self, seen: &Seen<'_>) -> Vec<Change> {
        let subtasks = seen.round.subtasks.iter();
        let distance = seen.measured.d.micros();
        match self.kind {
            BaselineKind::Naive | BaselineKind::Restart => subtasks.map(|_| Change::Unguided).collect(),
            BaselineKind::Stall if distance < self.least_distance => subtasks.map(|_| Change::Refine).collect(),
            BaselineKind::Stall => subtasks.map(|_| Change::Both).collect(),
            BaselineKind::Notes { refines, .. } => subtasks.map(|subtask| reflect(subtask, refines)).collect(),
        }
    }

    /// Adds blocks for the given changes: a blamed target for every tool, a blamed tool for its own subtask.
    fn block(&mut self, round: &Round, changes: &[Change]) {
        self.own.resize(round.subtasks.len(), OwnBlocks::default());
        for ((subtask, change), own) in round.subtasks.iter().zip(changes).zip(&mut self.own) {
            for call in subtask.calls.iter().filter(|_| subtask.criteria.iter().any(|c| c.verdict != Verdict::Pass)) {
                match change {
                    Change::Target => self.targets.push(BlockedTarget::any_tool(&call.target)),
                    Change::Tool => own.blocked_tools.push(call.tool.clone()),
                    Change::Unguided | Change::Again | Change::Refine | Change::Class | Change::Both => {}
                }
            }
        }
    }
}

impl Driver for Baseline {
    fn step(&mut self, seen: &Seen<'_>) -> Step {
        if seen.measured.unmet == 0 {
            return Step::Accept;
        }
        let near = seen.measured.d.micros() <= crate::micros(Hyperparameters::DEFAULT.delta);
        let (blocks, stops) = match self.kind {
            BaselineKind::Notes { blocks, stops, .. } => (blocks, stops),
            BaselineKind::Naive | BaselineKind::Stall | BaselineKind::Restart => (false, false),
        };
        if stops && near && !seen.measured.required_unmet {
            return Step::Deliver;
        }
        let changes = self.changes(seen);
        self.least_distance = self.least_distance.min(seen.measured.d.micros());
        if blocks {
            self.block(seen.round, &changes);
        }
        Step::Replan(Instruction {
            changes,
            remembers: matches!(self.kind, BaselineKind::Notes { .. } | BaselineKind::Stall),
            from_scratch: self.kind == BaselineKind::Restart,
            blocked_targets: self.targets.clone(),
            own: self.own.clone(),
            ..Instruction::default()
        })
    }
}

/// The change suggested by a subtask's verdicts. With `refines`: refine if at most half of the criteria failed or
/// nothing was judged. Else another target or tool, by the class of most failures.
fn reflect(subtask: &SubtaskMeasure, refines: bool) -> Change {
    let failed = || subtask.criteria.iter().filter(|criterion| criterion.verdict != Verdict::Pass);
    let environmental = failed().filter(|criterion| criterion.class == Some(FailureClass::Environmental)).count();
    let failures = failed().count();
    if refines && (subtask.infrastructure || 2 * failures <= subtask.criteria.len()) {
        Change::Refine
    } else if 2 * environmental > failures {
        Change::Target
    } else {
        Change::Tool
    }
}
