//! What a decision teaches: the Megrams R7 writes, and the endings that teach nothing.

use artoo_ggs::{Decision, FailureMix, Outcome, ReplanAction};
use artoo_mkct::record::{intent_tag, path_tag, tool_tag, via_tag};
use artoo_proto::{AbandonReason, Ending, FailureClass, MacroState, MegramDraft, TaskSpec, escape};

use super::ending::Account;

/// The macro-event's second tag (the spec's only environment so far).
const ENVIRONMENT: &str = "env:local";
/// Characters of an intent kept in a record.
const INTENT_CHARS: usize = 300;

/// An action state: one record a failed (tool, target) of this round. `break_symmetry` writes none: its sign would
/// praise the tool it has just blocked (decision M2). A refused call is no experience with the target (decision M18).
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

/// The credit `break_symmetry` waited for: the tools of a round that came after it and lowered D.
pub(super) fn credit(spec: &TaskSpec, decision: &Decision) -> Vec<MegramDraft> {
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

/// A terminal state: one record for the intent, one for the approach taken.
pub(super) fn of_ending(spec: &TaskSpec, decision: &Decision, ending: &Ending, account: &Account) -> Vec<MegramDraft> {
    if !teaches(ending, account) {
        return Vec::new();
    }
    let (state, failure_class, word) = match ending {
        Ending::Accept { .. } => (MacroState::Accept, None, "met every criterion".to_owned()),
        Ending::Success { unmet } => {
            let unmet: Vec<&str> = unmet.iter().map(|report| report.claim.as_str()).collect();
            (MacroState::Success, None, format!("delivered with unmet: {}", unmet.join("; ")))
        }
        Ending::Abandon { .. } => (MacroState::Abandon, class(decision.failure_mix), "was abandoned".to_owned()),
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
    std::iter::once(record(ENVIRONMENT.to_owned())).chain(approach).collect()
}

/// Outages, cancels, refusals and misunderstandings say nothing about the intent or the approach (decision M18).
fn teaches(ending: &Ending, account: &Account) -> bool {
    let Ending::Abandon { reason, .. } = ending else { return account.ran_tool };
    account.ran_tool
        && match reason {
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

fn intent(spec: &TaskSpec) -> String {
    escape::shorten(&escape::one_line(&spec.intent), INTENT_CHARS)
}

/// A mixed failure names neither side: memory must not misattribute (Law 3).
fn class(mix: FailureMix) -> Option<FailureClass> {
    match mix {
        FailureMix::Logical => Some(FailureClass::Logical),
        FailureMix::Environmental => Some(FailureClass::Environmental),
        FailureMix::Mixed => None,
    }
}
