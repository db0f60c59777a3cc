//! A policy that asks the `artoo-ggs` controller: passes rounds in and translates its directives.

use super::{Change, Driver, Instruction, Kill, OwnBlocks, Seen, Step, rose_throughout};
use artoo_ggs::Controller;
use artoo_ggs::Profile;
use artoo_ggs::ReplanAction;
use artoo_ggs::{Outcome, Replan, StopReason};

/// Makes the decisions of a policy by asking an `artoo-ggs` controller.
pub(super) struct Controlled {
    controller: Controller<()>,
    /// Number of subtasks in the last round.
    subtasks: usize,
    /// D (distance from the goal) of every round so far, in micro-units.
    distances: Vec<i64>,
}

impl Controlled {
    /// Creates the driver with a new controller under this profile.
    pub(super) fn new(profile: &Profile) -> Self {
        let mut controller = Controller::new(profile.clone());
        // A new controller has no tasks, so this one can't have begun.
        let begun = controller.begin((), 0);
        debug_assert!(begun.is_ok(), "{begun:?}");
        Self { controller, subtasks: 0, distances: Vec::new() }
    }
}

impl Driver for Controlled {
    fn step(&mut self, seen: &Seen<'_>) -> Step {
        let now_ms = seen.elapsed_ms;
        let decided = self.controller.observe(&(), seen.round, now_ms);
        debug_assert!(decided.is_ok(), "the simulator made a round that can't be: {decided:?}");
        let Ok(decision) = decided else { return Step::GiveUp(None) };
        self.subtasks = seen.round.subtasks.len();
        self.distances.push(decision.loss.d.micros());
        match decision.outcome {
            Outcome::Accept => Step::Accept,
            Outcome::Success(_) => Step::Deliver,
            Outcome::Abandon(StopReason::Diverging) => {
                let counted = self.controller.profile().parameters().kill_after as usize;
                Step::GiveUp(Some(Kill { distance_rose: rose_throughout(&self.distances, counted) }))
            }
            Outcome::Abandon(_) => Step::GiveUp(None),
            Outcome::Replan(replan) => {
                let most = self.controller.profile().parameters().max_replans as usize;
                debug_assert!(seen.executions <= most, "execution {} is followed by another", seen.executions);
                Step::Replan(instruction(replan, seen.round.subtasks.len()))
            }
        }
    }

    fn no_plan(&mut self, elapsed_ms: u64) -> Option<Instruction> {
        let released = self.controller.release(&(), elapsed_ms).ok().flatten();
        released.map(|replan| instruction(replan, self.subtasks))
    }
}

/// Converts a directive's action to the change that the planner is asked for.
fn change(action: ReplanAction, same_again: bool) -> Change {
    match action {
        _ if same_again => Change::Again,
        ReplanAction::Refine => Change::Refine,
        ReplanAction::ChangePath => Change::Target,
        ReplanAction::ChangeApproach => Change::Tool,
        ReplanAction::BreakSymmetry => Change::Class,
    }
}

/// Converts a controller's directive to an instruction for the planner.
fn instruction(replan: Replan, subtasks: usize) -> Instruction {
    let mut changes = vec![change(replan.action, replan.same_again); subtasks];
    let mut own = vec![OwnBlocks::default(); subtasks];
    for directive in replan.subtasks {
        if let Some((own, told)) = own.get_mut(directive.subtask).zip(changes.get_mut(directive.subtask)) {
            *told = change(directive.action, directive.same_again);
            *own = OwnBlocks { blocked_tools: directive.blocked_tools, novel_classes: directive.novel_classes };
        }
    }
    Instruction {
        changes,
        own,
        // The planner only learns what a directive contains.
        remembers: false,
        from_scratch: false,
        blocked_tools: replan.blocked_tools,
        blocked_targets: replan.blocked_targets,
        novel_classes: replan.novel_classes,
    }
}

/// Tests of translating directives.
#[cfg(test)]
mod tests {
    use super::{Change, Controlled, Driver, Seen, Step};
    use artoo_ggs::{CriterionMeasure, FailureClass, Profile, Round, Rules, SubtaskMeasure, ToolTarget};

    /// A directive for one subtask becomes an instruction for that subtask only.
    #[test]
    fn each_subtask_gets_its_own_instruction() {
        let flaked = SubtaskMeasure::failed_by_infrastructure(vec![CriterionMeasure::undecided("a")]);
        let wrong = CriterionMeasure::unmet("b").blamed_on(FailureClass::Logical);
        let wrong = SubtaskMeasure::failed(vec![wrong]).with_calls([ToolTarget::worked("shell", "x")]);
        let round = Round::new(vec![flaked, wrong]);
        let measured = round.measure(&Rules::DEFAULT).unwrap();
        let profile = Profile::anytime();
        let mut driver = Controlled::new(&profile);
        let step = driver.step(&Seen { round: &round, measured: &measured, executions: 1, elapsed_ms: 1 });
        let Step::Replan(instruction) = step else { panic!("{step:?}") };
        assert_eq!(instruction.changes, [Change::Again, Change::Class]);
        assert!(instruction.own[0].blocked_tools.is_empty() && instruction.blocked_tools.is_empty());
        assert_eq!(instruction.own[1].blocked_tools, ["shell"]);
        assert!(driver.no_plan(2).is_none(), "no target was blocked");
    }
}
