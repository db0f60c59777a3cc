//! The ledger: everything a task has blocked, what it released, and whether anything is left.

use std::collections::BTreeSet;

use super::{BlockedTarget, normal};
use crate::measurement::Tool;

/// Tools and targets blocked in one task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BlockedLedger {
    /// Oldest first.
    tools: Vec<String>,
    /// Released once; never a second time.
    released: BTreeSet<String>,
    /// Paths in normal form.
    targets: BTreeSet<BlockedTarget>,
}

/// Every available tool is blocked, and each was released once already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl BlockedLedger {
    /// Blocks tools; returns those that were not blocked before.
    pub(crate) fn block_tools(&mut self, tools: &[&str]) -> Vec<String> {
        let mut new = Vec::new();
        for tool in tools {
            if !self.is_tool_blocked(tool) {
                self.tools.push((*tool).to_owned());
                new.push((*tool).to_owned());
            }
        }
        new
    }

    /// Blocks targets; returns those that no earlier block covers.
    pub(crate) fn block_targets(&mut self, targets: Vec<BlockedTarget>) -> Vec<BlockedTarget> {
        let mut new = Vec::new();
        for target in targets {
            if !self.covers(&target) {
                let target = BlockedTarget { target: normal(&target.target).into_owned(), ..target };
                self.targets.insert(target.clone());
                new.push(target);
            }
        }
        new
    }

    pub(crate) fn is_tool_blocked(&self, tool: &str) -> bool {
        self.tools.iter().any(|blocked| blocked == tool)
    }

    /// If every available tool is blocked, releases the oldest one that never was released.
    pub(crate) fn release_if_exhausted(&mut self, available: &[Tool]) -> Result<Option<String>, Exhausted> {
        if available.is_empty() || available.iter().any(|tool| !self.is_tool_blocked(&tool.name)) {
            return Ok(None);
        }
        let oldest = self
            .tools
            .iter()
            .position(|tool| !self.released.contains(tool) && available.iter().any(|a| a.name == *tool))
            .ok_or(Exhausted)?;
        let tool = self.tools.remove(oldest);
        self.released.insert(tool.clone());
        Ok(Some(tool))
    }

    pub(crate) fn tools(&self) -> &[String] {
        &self.tools
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = &BlockedTarget> {
        self.targets.iter()
    }

    /// Forgets the tools: for profiles in which a directive speaks for its own round only.
    pub(crate) fn clear_tools(&mut self) {
        self.tools.clear();
    }

    /// Whether a block at least as wide is there: looked up, not searched, so a task's cost stays linear.
    fn covers(&self, wanted: &BlockedTarget) -> bool {
        let path = normal(&wanted.target);
        let has = |tool: &Option<String>, target: &str, subtree: bool| {
            self.targets.contains(&BlockedTarget { tool: tool.clone(), target: target.to_owned(), subtree })
        };
        let here = |tool: &Option<String>| has(tool, &path, true) || (!wanted.subtree && has(tool, &path, false));
        let above = |tool: &Option<String>| {
            path.match_indices('/').skip(1).any(|(end, _)| path.get(..end).is_some_and(|p| has(tool, p, true)))
        };
        let covered_by = |tool: &Option<String>| here(tool) || above(tool);
        covered_by(&None) || (wanted.tool.is_some() && covered_by(&wanted.tool))
    }
}
