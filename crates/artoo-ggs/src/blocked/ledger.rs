//! The ledger: everything a task has blocked, what it released, and whether anything is left.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{BlockedTarget, normal};
use crate::measurement::Tool;

/// Tools and targets blocked in one task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
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
        let mut any_folder = self.targets.iter().any(|target| target.subtree);
        let mut new = Vec::new();
        for mut target in targets {
            if let Cow::Owned(normal) = normal(&target.target) {
                target.target = normal;
            }
            if !self.covers(&target, any_folder) {
                any_folder |= target.subtree;
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
    fn covers(&self, wanted: &BlockedTarget, any_folder: bool) -> bool {
        let path = wanted.target.as_str();
        let has =
            |tool: Option<&str>, target: &str, subtree| self.targets.contains(&(tool, target, subtree) as &dyn Key);
        let covered_by = |tool: Option<&str>| {
            let folder = |path: &str| has(tool, path, true);
            let mut above = path.match_indices('/').skip(1).filter_map(|(end, _)| path.get(..end));
            (!wanted.subtree && has(tool, path, false)) || (any_folder && (folder(path) || above.any(folder)))
        };
        covered_by(None) || (wanted.tool.is_some() && covered_by(wanted.tool.as_deref()))
    }
}

/// A blocked target to look up without owning its strings; ordered as [`BlockedTarget`] is.
trait Key {
    fn key(&self) -> (Option<&str>, &str, bool);
}

impl Key for BlockedTarget {
    fn key(&self) -> (Option<&str>, &str, bool) {
        (self.tool.as_deref(), &self.target, self.subtree)
    }
}

impl Key for (Option<&str>, &str, bool) {
    fn key(&self) -> (Option<&str>, &str, bool) {
        *self
    }
}

impl<'a> Borrow<dyn Key + 'a> for BlockedTarget {
    fn borrow(&self) -> &(dyn Key + 'a) {
        self
    }
}

impl PartialEq for dyn Key + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for dyn Key + '_ {}

impl PartialOrd for dyn Key + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn Key + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
