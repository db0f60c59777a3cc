//! Scope: which tools and targets a directive blocks, by its urgency.

use std::collections::BTreeSet;

use super::{BlockedTarget, normal};
use crate::decision::Urgency;
use crate::measurement::{Claims, Place, Round, SubtaskMeasure, SubtaskStatus, failing, subtask_failed_pairs};

/// Tools of the round's failing subtasks, in order of first use.
///
/// Where every subtask matched and the whole was rejected, the plan as a whole is what failed: the tools of all that ran.
pub(crate) fn tools_of_failing(round: &Round) -> Vec<&str> {
    let failed: Vec<_> = round.subtasks.iter().filter(|s| s.status == SubtaskStatus::Failed).collect();
    if failed.is_empty() {
        distinct(round.subtasks.iter().filter(|s| s.status != SubtaskStatus::NotRun).flat_map(used_tools))
    } else {
        distinct(failed.into_iter().flat_map(used_tools))
    }
}

/// Tools that a logical directive blocks.
///
/// Low urgency: those behind criteria that failed in the previous round too; where there are none, and otherwise, all
/// of the failing subtasks.
pub(crate) fn tools_to_block<'a>(round: &'a Round, urgency: Urgency, failed_before: &Claims) -> Vec<&'a str> {
    let repeated = match urgency {
        Urgency::Low => tools_behind_repeated(round, failed_before),
        Urgency::Normal | Urgency::High => Vec::new(),
    };
    if repeated.is_empty() { tools_of_failing(round) } else { repeated }
}

fn tools_behind_repeated<'a>(round: &'a Round, failed_before: &Claims) -> Vec<&'a str> {
    let failed_before: BTreeSet<&str> = failed_before.iter().collect();
    let places: BTreeSet<Place> =
        failing(round).filter(|f| failed_before.contains(f.claim.as_ref())).map(|f| f.place).collect();
    let behind =
        round.subtasks.iter().enumerate().filter(|(index, subtask)| {
            subtask.status == SubtaskStatus::Failed && places.contains(&Place::Subtask(*index))
        });
    distinct(behind.flat_map(|(_, subtask)| used_tools(subtask)))
}

/// Tools a subtask called; where it called none, those it was allowed.
fn used_tools(subtask: &SubtaskMeasure) -> impl Iterator<Item = &str> {
    let allowed: &[String] = if subtask.calls.is_empty() { &subtask.tools } else { &[] };
    subtask.calls.iter().map(|call| call.tool.as_str()).chain(allowed.iter().map(String::as_str))
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Targets that an environmental directive blocks.
///
/// Low: the exact pair. Normal: the target for every tool. High: also its parent folder. A failed call in a subtask that
/// matched after all is no wall: it stays an exact pair.
pub(crate) fn targets_to_block(round: &Round, urgency: Urgency) -> Vec<BlockedTarget> {
    let mut blocked = Vec::new();
    for subtask in &round.subtasks {
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

/// Marks of a command line; what has one is never taken for a path, since its "parent" would block other commands.
const COMMAND_MARKS: [&str; 10] = [" /", " -", " ~", "|", ";", "&", "$", "`", "<", ">"];

/// The folder a path lies in. None for what is not a path, and for `/` and `~`: blocking those would block everything.
fn parent_folder(target: &str) -> Option<String> {
    let is_path = target.starts_with('/') || target.starts_with("~/");
    if !is_path || target.contains('\n') || COMMAND_MARKS.iter().any(|mark| target.contains(mark)) {
        return None;
    }
    let path = normal(target);
    let (parent, _) = path.rsplit_once('/')?;
    (!parent.is_empty() && parent != "~").then(|| parent.to_owned())
}
