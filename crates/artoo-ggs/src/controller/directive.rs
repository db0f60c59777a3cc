//! Directives: new blocks, released tools and unused classes of tools; and the credit for `break_symmetry`.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::history::AssignedChange;
use super::state::TaskState;
use crate::blocked::{AllToolsBlocked, BlockedTarget, Blocklist};
use crate::blocked::{distinct, targets_to_block, tools_of_failing, tools_to_block, used_tools};
use crate::macro_state::{PreviousAction, ReplanAction};
use crate::measurement::{Claims, Round, SubtaskStatus, ToolTarget, subtask_failed_pairs};
use crate::outcome::{Credit, NewBlock, Replan, SubtaskDirective};
use crate::profile::{BlockRule, Profile};
use crate::switches::Switch;
use crate::table::Urgency;
use crate::unit::Unit;

impl TaskState {
    /// Creates a directive with this action and blocks its tools and targets; `None` if no tool would be left. `told`
    /// is the decision about the subtasks, if the profile makes one; `memories` are the indices of the subtasks'
    /// memories.
    pub(super) fn replan(
        &mut self,
        action: ReplanAction,
        urgency: Urgency,
        round: &Round,
        profile: &Profile,
        (told, memories): (&[AssignedChange], &[usize]),
    ) -> Option<Replan> {
        let again = told.iter().filter(|told| told.same_again);
        let again = again.flat_map(|told| told.subtask.map_or(0..round.subtasks.len(), |at| at..at.saturating_add(1)));
        self.history.count_retries(round, memories, again);
        let replan = if told.iter().any(|told| told.subtask.is_some()) {
            self.replan_by_subtask(action, urgency, round, profile, (told, memories))
        } else {
            self.replan_whole(action, urgency, round, profile, told.iter().all(|told| !told.keeps))
        };
        let same_again = !told.is_empty() && told.iter().all(|told| told.same_again);
        let replan = replan.map(|replan| Replan { same_again, ..replan });
        if profile.has(Switch::ReleaseTargets) {
            self.history.issued.clone_from(&replan);
        }
        replan
    }

    /// Creates one directive for the whole plan; it blocks nothing new unless it `blocks`. `None` if no tool would be
    /// left.
    fn replan_whole(
        &mut self,
        action: ReplanAction,
        urgency: Urgency,
        round: &Round,
        profile: &Profile,
        blocks: bool,
    ) -> Option<Replan> {
        let accumulate = profile.rules().blocks == BlockRule::Accumulate;
        let nothing_failed_before = Claims::default();
        let failed_before = self.last.as_ref().map_or(&nothing_failed_before, |last| &last.failed_claims);
        let (mut new_tools, mut new_targets) = (Vec::new(), Vec::new());
        if !accumulate {
            self.blocked.clear_tools();
        }
        if blocks && action.is_logical() {
            let scope = if accumulate { urgency } else { Urgency::High };
            new_tools = self.blocked.block_tools(&tools_to_block(round, scope, failed_before));
            // Failed pairs whose tool stays allowed are blocked too, so that the next method does not repeat them.
            let open_pairs = if accumulate { round.failed_pairs() } else { Vec::new() };
            let open_pairs = open_pairs.into_iter().filter(|pair| !self.blocked.is_tool_blocked(&pair.tool));
            let open_pairs = open_pairs.map(|pair| BlockedTarget::pair(pair.tool, pair.target)).collect();
            new_targets = self.block_targets(profile, open_pairs);
        } else if blocks {
            let scope = if accumulate { urgency } else { Urgency::Low };
            new_targets = self.block_targets(profile, targets_to_block(&round.subtasks, scope));
        }
        let released = match self.blocked.release_if_all_blocked(&round.available_tools) {
            _ if !accumulate => None,
            Ok(released) => released,
            Err(AllToolsBlocked) => return None,
        };
        new_tools.retain(|tool| released.as_ref() != Some(tool));
        let show_targets = accumulate || !action.is_logical();
        let tried = tools_of_failing(round);
        let breaks = action == ReplanAction::BreakSymmetry;
        Some(Replan {
            blocked_tools: self.blocked.tools().to_vec(),
            blocked_targets: if show_targets { self.blocked.targets().cloned().collect() } else { Vec::new() },
            released_tools: released.into_iter().collect(),
            new_blocked: new_blocked(new_tools, new_targets),
            novel_classes: if breaks { novel_classes(round, &tried, &self.blocked) } else { Vec::new() },
            ..Replan::new(action, urgency)
        })
    }

    /// Creates one directive for each subtask in `told`. Tools are blocked for the subtask alone, targets for all.
    /// `None` if a subtask would have no tool left.
    fn replan_by_subtask(
        &mut self,
        action: ReplanAction,
        urgency: Urgency,
        round: &Round,
        profile: &Profile,
        (told, memories): (&[AssignedChange], &[usize]),
    ) -> Option<Replan> {
        let matched = round.subtasks.iter().filter(|subtask| subtask.status == SubtaskStatus::Matched);
        let mut targets = targets_to_block(matched, Urgency::Low);
        let (mut new_tools, mut released_tools, mut subtasks) = (Vec::new(), Vec::new(), Vec::new());
        for told in told {
            let subtask = told.subtask.and_then(|at| round.subtasks.get(at).zip(memories.get(at)));
            let (subtask, memory) = subtask.and_then(|(s, at)| Some((s, self.history.subtasks.get_mut(*at)?)))?;
            let tried = distinct(used_tools(subtask));
            if !told.keeps && told.action.is_logical() {
                new_tools.extend(memory.tools.block_tools(&tried));
                targets.extend(subtask_failed_pairs(subtask).map(|pair| BlockedTarget::pair(&pair.tool, &pair.target)));
            } else if !told.keeps {
                targets.extend(targets_to_block([subtask], urgency));
            }
            released_tools.extend(memory.tools.release_if_all_blocked(&round.available_tools).ok()?);
            let breaks = told.action == ReplanAction::BreakSymmetry;
            subtasks.push(SubtaskDirective {
                subtask: told.subtask?,
                action: told.action,
                same_again: told.same_again,
                blocked_tools: memory.tools.tools().to_vec(),
                novel_classes: if breaks { novel_classes(round, &tried, &memory.tools) } else { Vec::new() },
            });
        }
        let new_targets = self.block_targets(profile, targets);
        new_tools.retain(|tool| !released_tools.contains(tool));
        let breaking = || subtasks.iter().filter(|subtask| subtask.action == ReplanAction::BreakSymmetry);
        Some(Replan {
            blocked_tools: in_all(subtasks.iter().map(|subtask| &subtask.blocked_tools)),
            blocked_targets: self.blocked.targets().cloned().collect(),
            released_tools,
            new_blocked: new_blocked(new_tools, new_targets),
            novel_classes: in_all(breaking().map(|subtask| &subtask.novel_classes)),
            subtasks,
            ..Replan::new(action, urgency)
        })
    }

    /// Blocks targets; returns those that no earlier block covers.
    fn block_targets(&mut self, profile: &Profile, targets: Vec<BlockedTarget>) -> Vec<BlockedTarget> {
        if !profile.has(Switch::ReleaseTargets) {
            return self.blocked.block_targets(targets);
        }
        let new = self.blocked.block_targets(self.history.without_last(targets));
        self.history.note_blocked(&new);
        new
    }

    /// Allowed tools that worked in this round, if the previous directive was `break_symmetry` and D (distance from
    /// the goal) fell; otherwise empty.
    pub(super) fn credit(&self, round: &Round, d: Unit) -> Vec<Credit> {
        let after_break = self.previous == PreviousAction::Action(ReplanAction::BreakSymmetry);
        let fell = self.last.as_ref().is_some_and(|last| d.micros() < last.loss.d.micros());
        if !after_break || !fell {
            return Vec::new();
        }
        let calls = round.subtasks.iter().flat_map(|subtask| &subtask.calls);
        let worked = calls.filter(|call| !call.failed && !self.blocked.is_tool_blocked(&call.tool));
        let last_worked: BTreeMap<&String, &String> =
            worked.map(|call: &ToolTarget| (&call.tool, &call.target)).collect();
        let credit = |(tool, target): (&String, &String)| Credit { tool: tool.clone(), target: target.clone() };
        last_worked.into_iter().map(credit).collect()
    }
}

/// New blocks: tools, then targets, without duplicates.
fn new_blocked(tools: Vec<String>, targets: Vec<BlockedTarget>) -> Vec<NewBlock> {
    let tools: Vec<NewBlock> =
        distinct(tools.iter().map(String::as_str)).into_iter().map(|t| NewBlock::Tool(t.to_owned())).collect();
    tools.into_iter().chain(targets.into_iter().map(NewBlock::Target)).collect()
}

/// The names that are in every list, in the order of the first.
fn in_all<'a>(mut lists: impl Iterator<Item = &'a Vec<String>>) -> Vec<String> {
    let first = lists.next().cloned().unwrap_or_default();
    lists.fold(first, |mut common, list| {
        common.retain(|name| list.contains(name));
        common
    })
}

/// Classes of tools with at least one tool that is not `blocked`, without the classes of the tools `tried`; sorted.
fn novel_classes(round: &Round, tried: &[&str], blocked: &Blocklist) -> Vec<String> {
    let available = || round.available_tools.iter();
    let tried: BTreeSet<&str> =
        available().filter(|tool| tried.contains(&tool.name.as_str())).map(|tool| tool.class.as_str()).collect();
    let usable = available().filter(|tool| !blocked.is_tool_blocked(&tool.name));
    let novel: BTreeSet<&str> = usable.map(|tool| tool.class.as_str()).filter(|class| !tried.contains(class)).collect();
    novel.into_iter().map(str::to_owned).collect()
}
