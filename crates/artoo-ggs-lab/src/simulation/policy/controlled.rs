//! The `artoo-ggs` controller as a policy: passes rounds in and directives out.

use super::{Driver, Kill, PolicyInput, Step, rose_throughout};
use crate::simulation::planner::{Change, Instruction};
use artoo_ggs::Controller;
use artoo_ggs::Profile;
use artoo_ggs::ReplanAction;
use artoo_ggs::{Outcome, Replan, StopReason};

/// Makes the decisions of a policy by asking an `artoo-ggs` controller.
pub(super) struct Controlled {
    controller: Controller<()>,
    /// D (distance from the goal) of every round so far, in micro-units.
    distances: Vec<i64>,
}

impl Controlled {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut controller = Controller::new(profile.clone());
        // A new controller has no tasks, so this one can't have begun.
        let begun = controller.begin((), 0);
        debug_assert!(begun.is_ok(), "{begun:?}");
        Self { controller, distances: Vec::new() }
    }
}

impl Driver for Controlled {
    fn step(&mut self, seen: &PolicyInput<'_>) -> Step {
        let now_ms = seen.execution.elapsed_ms;
        let decided = self.controller.observe(&(), seen.round, now_ms);
        debug_assert!(decided.is_ok(), "the simulator made a round that can't be: {decided:?}");
        let Ok(decision) = decided else { return Step::GiveUp(None) };
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
                Step::Replan(instruction(replan, seen.execution.results.len()))
            }
        }
    }
}

/// Converts a controller's directive to an instruction for the planner.
fn instruction(replan: Replan, subtasks: usize) -> Instruction {
    let change = match replan.action {
        ReplanAction::Refine => Change::Refine,
        ReplanAction::ChangePath => Change::Target,
        ReplanAction::ChangeApproach => Change::Tool,
        ReplanAction::BreakSymmetry => Change::Class,
    };
    Instruction {
        changes: vec![change; subtasks],
        // The planner only learns what a directive contains.
        remembers: false,
        from_scratch: false,
        blocked_tools: replan.blocked_tools,
        blocked_targets: replan.blocked_targets,
        novel_classes: replan.novel_classes,
    }
}
