//! The simulated planner: makes plans from a policy's instructions, in the same way for every policy.

use super::draws::Purpose;
use super::execution::{Assignment, Execution, Past, SubtaskResult};
use super::observe::{target_name, tool_class, tool_name};
use super::policy::{Change, Instruction, OwnBlocks};
use super::world::{SubtaskTruth, TOOLS, World, target_count};

/// Probability that the planner follows an instruction to change a subtask; blocks are always obeyed.
const HEEDS: f64 = 0.8;
/// Probability that the planner repeats its last plan if a policy gives it no instruction.
const REPEATS_UNGUIDED: f64 = 0.6;

/// The first plan: the tool and target that the planner prefers for each subtask.
pub(super) fn first_plan(world: &World) -> Vec<Assignment> {
    let first = |order: &[usize]| order.first().copied().unwrap_or(0);
    let favourite = |truth: &SubtaskTruth| Assignment {
        tool: first(&truth.tool_order),
        target: first(&truth.target_order),
        polish: 0,
    };
    world.subtasks.iter().map(favourite).collect()
}

/// For each subtask, the result that the next execution keeps: matched ones, unless the combined result failed or the
/// instruction discards all; `None` to execute it again.
pub(super) fn carried(execution: &Execution, instruction: &Instruction) -> Vec<Option<SubtaskResult>> {
    let keep = execution.whole.is_none() && !instruction.from_scratch;
    execution.results.iter().map(|result| (keep && result.is_matched()).then(|| result.clone())).collect()
}

/// The next plan, by the policy's instruction; `None` if some subtask has every tool on every target blocked.
pub(super) fn next_plan(
    world: &World,
    past: &Past,
    execution: &Execution,
    carried: &[Option<SubtaskResult>],
    instruction: &Instruction,
) -> Option<Vec<Assignment>> {
    let subtasks = world.subtasks.iter().zip(&execution.results).enumerate();
    subtasks
        .map(|(index, (truth, result))| {
            if carried.get(index).is_some_and(Option::is_some) {
                return Some(result.assignment);
            }
            SubtaskPlanning { world, past, instruction, truth, index, current: result.assignment }.assign()
        })
        .collect()
}

/// Plans one subtask of the next plan.
struct SubtaskPlanning<'a> {
    world: &'a World,
    past: &'a Past,
    instruction: &'a Instruction,
    truth: &'a SubtaskTruth,
    index: usize,
    current: Assignment,
}

impl SubtaskPlanning<'_> {
    /// The next tool and target of the subtask; `None` if everything is blocked.
    fn assign(&self) -> Option<Assignment> {
        let address = [self.past.executions, self.index];
        let told = self.instruction.changes.get(self.index).copied().unwrap_or(Change::Unguided);
        if told == Change::Unguided {
            let repeats = self.world.draws.chance(REPEATS_UNGUIDED, Purpose::Planner, &address);
            return if repeats && !self.instruction.from_scratch { self.keep(0) } else { self.sample() };
        }
        let heeds = self.world.draws.chance(HEEDS, Purpose::Planner, &address);
        match told {
            _ if !heeds => self.keep(0),
            Change::Again => self.keep(0),
            Change::Unguided | Change::Refine => self.keep(1),
            Change::Target => self.choose(|tool, target| tool == self.current.tool && target != self.current.target),
            Change::Tool => self.choose(|tool, _| tool != self.current.tool),
            Change::Class => self.choose(|tool, _| self.is_novel(tool)),
            Change::Both => self.choose(|tool, target| tool != self.current.tool && target != self.current.target),
        }
    }

    /// The blocks that concern this subtask alone; `None` if there are none.
    fn own(&self) -> Option<&OwnBlocks> {
        self.instruction.own.get(self.index)
    }

    /// Whether a tool is of a class that the instruction asks for; if it asks for none, of another class than the
    /// current tool.
    fn is_novel(&self, tool: usize) -> bool {
        let own = self.own().map_or(&[][..], |own| &own.novel_classes);
        let classes = if own.is_empty() { &self.instruction.novel_classes } else { own };
        let class = tool_class(tool);
        if classes.is_empty() {
            class != tool_class(self.current.tool)
        } else {
            classes.iter().any(|novel| novel == class)
        }
    }

    /// The current tool and target with `polish` more refinements; if they are blocked, the nearest allowed ones.
    fn keep(&self, polish: u32) -> Option<Assignment> {
        let Assignment { tool, target, .. } = self.current;
        if self.is_allowed(tool, target) {
            Some(Assignment { polish: self.current.polish + polish, ..self.current })
        } else {
            self.nearest(polish)
        }
    }

    /// The most preferred tool and target that are `wanted` and allowed, untried ones first if the planner remembers;
    /// else the nearest allowed ones.
    fn choose(&self, wanted: impl Fn(usize, usize) -> bool) -> Option<Assignment> {
        // The current target comes first, so that it changes only if it has to.
        let mut found = None;
        for tool in self.truth.tool_order.iter().copied() {
            for target in self.targets_current_first() {
                if !wanted(tool, target) || !self.is_allowed(tool, target) {
                    continue;
                }
                if !(self.instruction.remembers && self.past.has_tried(self.index, tool, target)) {
                    return Some(self.move_to(tool, target, 0));
                }
                found = found.or(Some((tool, target)));
            }
        }
        found.map(|(tool, target)| self.move_to(tool, target, 0)).or_else(|| self.keep(0))
    }

    /// The allowed tool and target with the smallest change: first another target, then another tool.
    fn nearest(&self, polish: u32) -> Option<Assignment> {
        let same_tool = self.targets_current_first().map(|target| (self.current.tool, target));
        let others = self.truth.tool_order.iter().flat_map(|tool| self.targets_current_first().map(|t| (*tool, t)));
        let (tool, target) = same_tool.chain(others).find(|(tool, target)| self.is_allowed(*tool, *target))?;
        Some(self.move_to(tool, target, polish))
    }

    /// A random allowed tool and target; each preference is twice as likely as the next.
    fn sample(&self) -> Option<Assignment> {
        let pick = |order: &[usize], which: usize| {
            let u = self.world.draws.uniform(Purpose::Planner, &[self.past.executions, self.index, which]);
            let rank = (-(1.0 - u).log2()) as usize;
            order.get(rank.min(order.len().saturating_sub(1))).copied().unwrap_or(0)
        };
        let (tool, target) = (pick(&self.truth.tool_order, 1), pick(&self.truth.target_order, 2));
        if self.is_allowed(tool, target) { Some(self.move_to(tool, target, 0)) } else { self.nearest(0) }
    }

    /// The plan of the subtask with another tool or target; refinements are kept only while the tool stays the same.
    fn move_to(&self, tool: usize, target: usize, polish: u32) -> Assignment {
        let polish = if tool == self.current.tool { self.current.polish + polish } else { 0 };
        Assignment { tool, target, polish }
    }

    /// All targets, the current one first and the others by preference.
    fn targets_current_first(&self) -> impl Iterator<Item = usize> {
        let current = self.current.target;
        let order = self.truth.target_order.iter().copied();
        std::iter::once(current).chain(order.filter(move |target| *target != current))
    }

    /// Whether no block of the instruction forbids this tool on this target.
    fn is_allowed(&self, tool: usize, target: usize) -> bool {
        debug_assert!(tool < TOOLS.len() && target < target_count(), "a plan names what exists");
        let (name, place) = (tool_name(tool), target_name(self.index, target));
        let own = self.own().map_or(&[][..], |own| &own.blocked_tools);
        !self.instruction.blocked_tools.iter().chain(own).any(|blocked| blocked == name)
            && !self.instruction.blocked_targets.iter().any(|blocked| blocked.matches(name, place))
    }
}
