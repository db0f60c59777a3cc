//! The tools and targets a directive blocks, by its urgency.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::{BlockedTarget, normalized};
use crate::measurement::{Claims, CriterionScope, Round, SubtaskMeasure, SubtaskStatus, failing, subtask_failed_pairs};
use crate::table::Urgency;

/// Tools of the failing subtasks of a round, in order of first use. If every subtask matched but the combined result
/// was rejected, the tools of all subtasks that ran.
pub(crate) fn tools_of_failing(round: &Round) -> Vec<&str> {
    let failed: Vec<_> = round.subtasks.iter().filter(|s| s.status == SubtaskStatus::Failed).collect();
    if failed.is_empty() {
        distinct(round.subtasks.iter().filter(|s| s.status != SubtaskStatus::NotRun).flat_map(used_tools))
    } else {
        distinct(failed.into_iter().flat_map(used_tools))
    }
}

/// Tools that a logical directive (one that blames the approach) blocks.
///
/// At low urgency: the tools of failed subtasks with a criterion that failed in the previous round too, if there are
/// any; otherwise all tools of the failing subtasks.
pub(crate) fn tools_to_block<'a>(round: &'a Round, urgency: Urgency, failed_before: &Claims) -> Vec<&'a str> {
    let repeated = match urgency {
        Urgency::Low => tools_behind_repeated(round, failed_before),
        Urgency::Normal | Urgency::High => Vec::new(),
    };
    if repeated.is_empty() { tools_of_failing(round) } else { repeated }
}

/// Tools of the failed subtasks with a criterion that failed in the previous round too.
fn tools_behind_repeated<'a>(round: &'a Round, failed_before: &Claims) -> Vec<&'a str> {
    let failed_before: BTreeSet<&str> = failed_before.iter().collect();
    let scopes: BTreeSet<CriterionScope> =
        failing(round).filter(|f| failed_before.contains(f.claim.as_ref())).map(|f| f.scope).collect();
    let behind = round.subtasks.iter().enumerate().filter(|(index, subtask)| {
        subtask.status == SubtaskStatus::Failed && scopes.contains(&CriterionScope::Subtask(*index))
    });
    distinct(behind.flat_map(|(_, subtask)| used_tools(subtask)))
}

/// Tools a subtask called; if it called none, those it was allowed to use.
pub(crate) fn used_tools(subtask: &SubtaskMeasure) -> impl Iterator<Item = &str> {
    let allowed: &[String] = if subtask.calls.is_empty() { &subtask.tools } else { &[] };
    subtask.calls.iter().map(|call| call.tool.as_str()).chain(allowed.iter().map(String::as_str))
}

/// The names without duplicates, in order of first occurrence.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Targets that an environmental directive (one that blames the environment) blocks.
///
/// At low urgency the exact pair of tool and target, at normal urgency the target for every tool, at high urgency also
/// its parent folder. In a subtask that matched anyway, a failed call blocks the exact pair only.
pub(crate) fn targets_to_block<'a>(
    subtasks: impl IntoIterator<Item = &'a SubtaskMeasure>,
    urgency: Urgency,
) -> Vec<BlockedTarget> {
    let mut blocked = Vec::new();
    for subtask in subtasks {
        let urgency = if subtask.status == SubtaskStatus::Matched { Urgency::Low } else { urgency };
        for pair in subtask_failed_pairs(subtask) {
            let parent = if urgency == Urgency::High { parent_folder(&pair.target) } else { None };
            blocked.extend(parent.map(BlockedTarget::folder));
            blocked.push(match urgency {
                Urgency::Low => BlockedTarget::pair(&pair.tool, &pair.target),
                Urgency::Normal | Urgency::High => BlockedTarget::any_tool(&pair.target),
            });
        }
    }
    blocked
}

/// Substrings of command lines. A target with one is not treated as a path, because its "parent folder" would block
/// other commands.
const COMMAND_SYNTAX: [&str; 10] = [" /", " -", " ~", "|", ";", "&", "$", "`", "<", ">"];

/// The parent folder of a path; `None` if the target is not a path, or the parent is `/` or `~`, whose block would
/// cover everything.
fn parent_folder(target: &str) -> Option<String> {
    let is_path = target.starts_with('/') || target.starts_with("~/");
    if !is_path || target.contains('\n') || COMMAND_SYNTAX.iter().any(|part| target.contains(part)) {
        return None;
    }
    let path = normalized(target);
    let (parent, _) = path.rsplit_once('/')?;
    (!parent.is_empty() && parent != "~").then(|| parent.to_owned())
}
