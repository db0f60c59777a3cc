//! The Megrams (records of experience) that R7, the Solver, writes after a decision, and the endings it writes none
//! for.

use artoo_ggs::{Decision, FailureMix, Outcome, ReplanAction};
use artoo_mkct::record::{intent_tag, path_tag, tool_tag, via_tag};
use artoo_proto::{AbandonReason, Basis, Ending, FailureClass, MacroState, MegramDraft, TaskSpec, escape};

use super::ending::Account;

/// Entity tag of the record about how a request ended: the local machine, the only environment so far.
const ENVIRONMENT: &str = "env:local";
/// Maximum number of characters of a task's intent that a memory record quotes.
const INTENT_CHARS: usize = 300;

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
    pairs
        .map(|pair| MegramDraft {
            space: tool_tag(&pair.tool),
            entity: path_tag(&pair.target),
            content: format!("did not serve {:?}", intent(spec)),
            state,
            failure_class: class(decision.failure_mix),
            task_id: spec.task_id.clone(),
        })
        .collect()
}

/// The memory records that credit tools with breaking a deadlock: those of a round after `break_symmetry` that lowered
/// D (the distance from the goal).
fn credit(spec: &TaskSpec, decision: &Decision) -> Vec<MegramDraft> {
    decision
        .credit
        .iter()
        .map(|credit| MegramDraft {
            space: tool_tag(&credit.tool),
            entity: path_tag(&credit.target),
            content: format!("broke a deadlock in {:?}", intent(spec)),
            state: MacroState::BreakSymmetry,
            failure_class: None,
            task_id: spec.task_id.clone(),
        })
        .collect()
}

/// The memory records of an ended task: one for its intent and, if a plan was dispatched, one for the tools of that
/// plan; for a done task also the credit of tools. Empty unless facts cover the request, or a task that ran a tool was
/// abandoned for a reason that teaches something.
pub(super) fn of_ending(spec: &TaskSpec, decision: &Decision, ending: &Ending, account: &Account) -> Vec<MegramDraft> {
    let (state, failure_class, word) = match ending {
        Ending::Accept { basis: Basis::Checked } if account.ran_tool => (MacroState::Accept, None, "was done"),
        Ending::Abandon { reason, .. } if account.ran_tool && teaches(reason) => {
            (MacroState::Abandon, class(decision.failure_mix), "was abandoned")
        }
        // What facts don't show to be done is no experience that it works.
        Ending::Accept { .. } | Ending::Success { .. } | Ending::Abandon { .. } => return Vec::new(),
    };
    let record = |entity: String| MegramDraft {
        space: intent_tag(&spec.intent),
        entity,
        content: format!("{:?} {word}", intent(spec)),
        state,
        failure_class,
        task_id: spec.task_id.clone(),
    };
    let approach = (!account.approach.is_empty()).then(|| record(via_tag(&account.approach)));
    let credit = if state == MacroState::Accept { credit(spec, decision) } else { Vec::new() };
    credit.into_iter().chain(std::iter::once(record(ENVIRONMENT.to_owned()))).chain(approach).collect()
}

/// Whether an abandoned task says something about the request or the approach. Outages, cancellations, denials and
/// requests that were not understood do not (decision M18).
fn teaches(reason: &AbandonReason) -> bool {
    match reason {
        AbandonReason::BudgetExhausted
        | AbandonReason::MaxReplans
        | AbandonReason::Diverging
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

/// The task's intent on one line, shortened for a memory record.
fn intent(spec: &TaskSpec) -> String {
    escape::shorten(&escape::one_line(&spec.intent), INTENT_CHARS)
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
