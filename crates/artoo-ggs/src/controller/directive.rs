//! Directives: new blocks, released tools and unused classes of tools; and the credit for `break_symmetry`.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::state::TaskState;
use crate::blocked::{AllToolsBlocked, BlockedTarget, targets_to_block, tools_of_failing, tools_to_block};
use crate::macro_state::{PreviousAction, ReplanAction};
use crate::measurement::{Claims, Round, ToolTarget};
use crate::outcome::{Credit, NewBlock, Replan};
use crate::profile::{BlockRule, Profile};
use crate::table::Urgency;
use crate::unit::Unit;

impl TaskState {
    /// Creates a directive with this action and blocks its tools and targets; `None` if no tool would be left.
    pub(super) fn replan(
        &mut self,
        action: ReplanAction,
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
            // Failed pairs whose tool stays allowed are blocked too, so that the next method does not repeat them.
            let open_pairs = if accumulate { round.failed_pairs() } else { Vec::new() };
            let open_pairs = open_pairs.into_iter().filter(|pair| !self.blocked.is_tool_blocked(&pair.tool));
            let open_pairs = open_pairs.map(|pair| BlockedTarget::pair(pair.tool, pair.target)).collect();
            new_targets = self.blocked.block_targets(open_pairs);
        } else {
            let scope = if accumulate { urgency } else { Urgency::Low };
            new_targets = self.blocked.block_targets(targets_to_block(round, scope));
        }
        let released = match self.blocked.release_if_all_blocked(&round.available_tools) {
            _ if !accumulate => None,
            Ok(released) => released,
            Err(AllToolsBlocked) => return None,
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
                .map(NewBlock::Tool)
                .chain(new_targets.into_iter().map(NewBlock::Target))
                .collect(),
            novel_classes: if action == ReplanAction::BreakSymmetry { self.novel_classes(round) } else { Vec::new() },
        })
    }

    /// Classes of tools with at least one allowed tool, without the classes the failing subtasks used; sorted.
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
