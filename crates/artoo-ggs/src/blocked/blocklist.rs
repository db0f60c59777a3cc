//! The blocked tools and targets of a task, and the tools it released.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Ordering;

use super::BlockedTarget;
use crate::measurement::AvailableTool;

/// The tools and targets blocked in one task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(crate) struct Blocklist {
    /// Names of blocked tools, oldest block first.
    tools: Vec<String>,
    /// Tools that were unblocked because every available tool was blocked; each is unblocked at most once.
    released: BTreeSet<String>,
    /// Blocked targets; paths are normalized.
    targets: BTreeSet<BlockedTarget>,
}

/// The error when every available tool is blocked and none can be released, because each was released once already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AllToolsBlocked;

impl Blocklist {
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
        let mut any_folder = self.targets.iter().any(|target| target.subtree);
        let mut new = Vec::new();
        for target in targets.into_iter().map(BlockedTarget::into_normalized) {
            if !self.covers(&target, any_folder) {
                any_folder |= target.subtree;
                self.targets.insert(target.clone());
                new.push(target);
            }
        }
        new
    }

    /// Removes one target from the blocked targets.
    pub(crate) fn unblock(&mut self, target: &BlockedTarget) {
        self.targets.remove(target);
    }

    /// Whether a tool with this name is blocked.
    pub(crate) fn is_tool_blocked(&self, tool: &str) -> bool {
        self.tools.iter().any(|blocked| blocked == tool)
    }

    /// If every available tool is blocked, releases the oldest one that was never released, and returns its name;
    /// `Ok(None)` if one is not blocked or none is known.
    pub(crate) fn release_if_all_blocked(
        &mut self,
        available: &[AvailableTool],
    ) -> Result<Option<String>, AllToolsBlocked> {
        if available.is_empty() || available.iter().any(|tool| !self.is_tool_blocked(&tool.name)) {
            return Ok(None);
        }
        let oldest = self
            .tools
            .iter()
            .position(|tool| !self.released.contains(tool) && available.iter().any(|a| a.name == *tool))
            .ok_or(AllToolsBlocked)?;
        let tool = self.tools.remove(oldest);
        self.released.insert(tool.clone());
        Ok(Some(tool))
    }

    /// The names of the blocked tools, oldest block first.
    pub(crate) fn tools(&self) -> &[String] {
        &self.tools
    }

    /// The blocked targets, sorted.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &BlockedTarget> {
        self.targets.iter()
    }

    /// Unblocks all tools, for profiles in which a directive lasts for its own round only.
    pub(crate) fn clear_tools(&mut self) {
        self.tools.clear();
    }

    /// Whether an existing block covers `wanted`; `any_folder` must be true if any blocked target is a folder. Uses
    /// lookups instead of a search, so that the cost stays linear.
    fn covers(&self, wanted: &BlockedTarget, any_folder: bool) -> bool {
        let path = wanted.target.as_str();
        let has = |tool: Option<&str>, target: &str, subtree| {
            self.targets.contains(&(tool, target, subtree) as &dyn TargetKey)
        };
        let covered_by = |tool: Option<&str>| {
            let folder = |path: &str| has(tool, path, true);
            let mut above = path.match_indices('/').skip(1).filter_map(|(end, _)| path.get(..end));
            (!wanted.subtree && has(tool, path, false)) || (any_folder && (folder(path) || above.any(folder)))
        };
        covered_by(None) || (wanted.tool.is_some() && covered_by(wanted.tool.as_deref()))
    }
}

/// A borrowed key to look up a [`BlockedTarget`], with the same order.
trait TargetKey {
    /// The tool, target and subtree flag, in the order in which targets are sorted.
    fn key(&self) -> (Option<&str>, &str, bool);
}

impl TargetKey for BlockedTarget {
    fn key(&self) -> (Option<&str>, &str, bool) {
        (self.tool.as_deref(), &self.target, self.subtree)
    }
}

impl TargetKey for (Option<&str>, &str, bool) {
    fn key(&self) -> (Option<&str>, &str, bool) {
        *self
    }
}

impl<'a> Borrow<dyn TargetKey + 'a> for BlockedTarget {
    fn borrow(&self) -> &(dyn TargetKey + 'a) {
        self
    }
}

impl PartialEq for dyn TargetKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for dyn TargetKey + '_ {}

impl PartialOrd for dyn TargetKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn TargetKey + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
