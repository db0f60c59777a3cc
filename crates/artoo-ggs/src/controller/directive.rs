//! What a directive carries: new blocks, releases, other classes of tools, and the credit of the one before.

use std::collections::{BTreeMap, BTreeSet};

use super::state::TaskState;
use crate::blocked::{BlockedTarget, Exhausted, targets_to_block, tools_of_failing, tools_to_block};
use crate::decision::Urgency;
use crate::macro_state::{Action, Previous};
use crate::measurement::{Claims, Round, ToolTarget, failed_pairs};
use crate::outcome::{Blocked, Credit, Replan};
use crate::profile::{BlockRule, Profile};
use crate::unit::Unit;

impl TaskState {
    /// Draws the new blocks; `None` where no tool would be left.
    pub(super) fn replan(
        &mut self,
        action: Action,
        urgency: Urgency,
        round: &Round,
        profile: &Profile,
    ) -> Option<Replan> {
        let accumulate = profile.rules().blocks == BlockRule::Accumulate;
        let nothing_failed_before = Claims::default();
        let failed_before = self.last.as_ref().map_or(&nothing_failed_before, |last| &last.failed_claims);
        let mut new_tools = Vec::new();
        let new_targets;
        if !accumulate {
            self.blocked.clear_tools();
        }
        if action.is_logical() {
            let scope = if accumulate { urgency } else { Urgency::High };
            new_tools = self.blocked.block_tools(&tools_to_block(round, scope, failed_before));
            // A failed pair whose tool stays allowed must not come back with the next method.
            let left_open = if accumulate { failed_pairs(round) } else { Vec::new() };
            let left_open = left_open.into_iter().filter(|pair| !self.blocked.is_tool_blocked(&pair.tool));
            let left_open = left_open.map(|pair| BlockedTarget::pair(pair.tool, pair.target)).collect();
            new_targets = self.blocked.block_targets(left_open);
        } else {
            let scope = if accumulate { urgency } else { Urgency::Low };
            new_targets = self.blocked.block_targets(targets_to_block(round, scope));
        }
        let released = match self.blocked.release_if_exhausted(&round.available_tools) {
            _ if !accumulate => None,
            Ok(released) => released,
            Err(Exhausted) => return None,
        };
        new_tools.retain(|tool| released.as_ref() != Some(tool));
        let show_targets = accumulate || !action.is_logical();
        Some(Replan {
            action,
            urgency,
            blocked_tools: self.blocked.tools().to_vec(),
            blocked_targets: if show_targets { self.blocked.targets().cloned().collect() } else { Vec::new() },
            released_tools: released.into_iter().collect(),
            new_blocked: new_tools
                .into_iter()
                .map(Blocked::Tool)
                .chain(new_targets.into_iter().map(Blocked::Target))
                .collect(),
            novel_classes: if action == Action::BreakSymmetry { self.novel_classes(round) } else { Vec::new() },
        })
    }

    /// Classes with a tool that is still allowed, and none of which the failing subtasks used.
    fn novel_classes(&self, round: &Round) -> Vec<String> {
        let tried = tools_of_failing(round);
        let tried: BTreeSet<&str> = round
            .available_tools
            .iter()
            .filter(|tool| tried.contains(&tool.name.as_str()))
            .map(|tool| tool.class.as_str())
            .collect();
        let usable = round.available_tools.iter().filter(|tool| !self.blocked.is_tool_blocked(&tool.name));
        let novel: BTreeSet<&str> =
            usable.map(|tool| tool.class.as_str()).filter(|class| !tried.contains(class)).collect();
        novel.into_iter().map(str::to_owned).collect()
    }

    /// What the plan after a `break_symmetry` worked with, if D fell. A tool blocked by now earns nothing.
    pub(super) fn credit(&self, round: &Round, d: Unit) -> Vec<Credit> {
        let after_break = self.previous == Previous::Action(Action::BreakSymmetry);
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
