//! The Megrams (records of experience) that R7, the Solver, writes after a decision, and the endings it writes none
//! for.

use std::collections::BTreeSet;

use artoo_ggs::{Decision, FailureMix, Outcome, ReplanAction};
use artoo_mkct::record::{intent_tag, path_tag, tool_tag, via_tag};
use artoo_proto::{AbandonReason, Basis, Ending, FailureClass, Lesson, MacroState, MegramDraft, TaskSpec, escape};

use super::ending::Account;
use crate::blocked;

/// Entity tag of the record about how a request ended: the local machine, the only environment so far.
const ENVIRONMENT: &str = "env:local";
/// Maximum number of characters of a task's intent that a memory record quotes.
const INTENT_CHARS: usize = 300;
/// Maximum number of paths of one command that memory learns about.
const PLACES_PER_CALL: usize = 3;
/// Maximum number of lessons that one task adds to memory, the newest ones.
const LESSONS_PER_TASK: usize = 3;

/// The memory records of a replan: one for each (tool, target) that failed in this round.
///
/// `break_symmetry` writes none, because its record would rate the tool that it has just blocked as good (decision M2).
/// A denied call writes none either: it says nothing about the target (decision M18).
pub(super) fn of_action(spec: &TaskSpec, decision: &Decision, account: &Account) -> Vec<MegramDraft> {
    let Outcome::Replan(replan) = &decision.outcome else { return Vec::new() };
    let state = match replan.action {
        ReplanAction::Refine => MacroState::Refine,
        ReplanAction::ChangePath => MacroState::ChangePath,
        ReplanAction::ChangeApproach => MacroState::ChangeApproach,
        ReplanAction::BreakSymmetry => return Vec::new(),
    };
    let refused = |tool: &str, target: &str| {
        account.denied_targets.contains(&artoo_ggs::BlockedTarget::pair(tool, target).to_string())
    };
    let pairs = decision.failed_pairs.iter().filter(|pair| !refused(&pair.tool, &pair.target));
    // Several patterns or commands may fail in one place, which is one experience.
    let places: BTreeSet<(&str, String)> =
        pairs.flat_map(|pair| places(&pair.target).into_iter().map(|place| (pair.tool.as_str(), place))).collect();
    let record = |(tool, place): &(&str, String)| MegramDraft {
        entity: path_tag(place),
        ..draft(spec, tool_tag(tool), state, class(decision.failure_mix), "did not serve")
    };
    places.iter().map(record).collect()
}

/// The memory records that credit tools with breaking a deadlock: those of a round after `break_symmetry` that lowered
/// D (the distance from the goal).
fn credit(spec: &TaskSpec, decision: &Decision) -> Vec<MegramDraft> {
    let record = |tool: &str, place: &str| MegramDraft {
        entity: path_tag(place),
        ..draft(spec, tool_tag(tool), MacroState::BreakSymmetry, None, "broke a deadlock in")
    };
    let of_credit = |credit: &artoo_ggs::Credit| {
        places(&credit.target).iter().map(|place| record(&credit.tool, place)).collect::<Vec<_>>()
    };
    decision.credit.iter().flat_map(of_credit).collect()
}

/// The memory records of an ended task: one for its intent, one for the tools that ran in its last round, and for a
/// done task the credit of tools and the lessons. Empty if no tool ran, and unless facts cover the request or the task
/// was abandoned for a reason that teaches something.
pub(super) fn of_ending(spec: &TaskSpec, decision: &Decision, ending: &Ending, account: &Account) -> Vec<MegramDraft> {
    let (state, failure_class, word) = match ending {
        Ending::Accept { basis: Basis::Checked } if account.ran_tool => (MacroState::Accept, None, "done:"),
        Ending::Abandon { reason, .. } if account.ran_tool && teaches(reason) => {
            (MacroState::Abandon, class(decision.failure_mix), "abandoned:")
        }
        // What facts don't show to be done is no experience that it works.
        Ending::Accept { .. } | Ending::Success { .. } | Ending::Abandon { .. } => return Vec::new(),
    };
    let record =
        |entity: String| MegramDraft { entity, ..draft(spec, intent_tag(&spec.intent), state, failure_class, word) };
    let mut records = vec![record(ENVIRONMENT.to_owned())];
    records.extend((!account.approach.is_empty()).then(|| record(via_tag(&account.approach))));
    if state == MacroState::Accept {
        records.extend(credit(spec, decision));
        let newest = account.lessons.len().saturating_sub(LESSONS_PER_TASK);
        let lesson = |lesson: &Lesson| MegramDraft { lesson: Some(lesson.clone()), ..record(ENVIRONMENT.to_owned()) };
        records.extend(account.lessons.iter().skip(newest).map(lesson));
    }
    records
}

/// The memory record for or against a skill, or an episode to learn a skill from, under the space tag `space`.
pub(super) fn of_skill(spec: &TaskSpec, space: &str, state: MacroState, word: &str) -> MegramDraft {
    MegramDraft { entity: ENVIRONMENT.to_owned(), ..draft(spec, space.to_owned(), state, None, word) }
}

/// A memory record of this task, whose entity is still to be set.
fn draft(
    spec: &TaskSpec,
    space: String,
    state: MacroState,
    failure_class: Option<FailureClass>,
    word: &str,
) -> MegramDraft {
    let intent = escape::shorten(&escape::one_line(&spec.intent), INTENT_CHARS);
    MegramDraft {
        space,
        entity: String::new(),
        content: format!("{word} {intent:?}"),
        state,
        failure_class,
        task_id: spec.task_id.clone(),
        intent,
        lesson: None,
    }
}

/// The paths that memory records for a call's target: those named in a command, or the folder before the first wildcard
/// of a pattern. Any other target stays as it is.
fn places(target: &str) -> Vec<String> {
    if !target.starts_with('/') && target.contains(char::is_whitespace) {
        let paths: Vec<String> = blocked::paths_in(target).take(PLACES_PER_CALL).collect();
        return if paths.is_empty() { vec![target.to_owned()] } else { paths };
    }
    let fixed = target.find(['*', '?', '[']).and_then(|wild| target.get(..wild)).and_then(|fixed| fixed.rfind('/'));
    let folder = fixed.and_then(|slash| target.get(..slash.max(1)));
    vec![folder.unwrap_or(target).to_owned()]
}

/// Whether the reason why a task was abandoned says something about the request or the approach. Outages,
/// cancellations, denials and requests that were not understood do not (decision M18).
fn teaches(reason: &AbandonReason) -> bool {
    match reason {
        AbandonReason::BudgetExhausted
        | AbandonReason::MaxReplans
        | AbandonReason::Diverging
        | AbandonReason::Cycling
        | AbandonReason::ToolsExhausted
        | AbandonReason::NoPlan { .. }
        | AbandonReason::NoOtherWay { .. }
        | AbandonReason::Deadline => true,
        AbandonReason::NotUnderstood { .. }
        | AbandonReason::ConsentNeeded
        | AbandonReason::Provider { .. }
        | AbandonReason::Cancelled
        | AbandonReason::RoleFailed { .. } => false,
    }
}

/// The failure class to store with a memory record; `None` for a mixed failure, so that memory blames neither side (Law
/// 3).
fn class(mix: FailureMix) -> Option<FailureClass> {
    match mix {
        FailureMix::Logical => Some(FailureClass::Logical),
        FailureMix::Environmental => Some(FailureClass::Environmental),
        FailureMix::Mixed => None,
    }
}
