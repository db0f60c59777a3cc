//! Converts decisions of `artoo-ggs` to messages. The functions never fail and decide nothing.

use artoo_ggs::{
    Decision, FailureMix, Hyperparameters, PreviousAction, Replan, ReplanAction, StopReason, Unit, Urgency,
};
use artoo_proto::{AbandonReason, Covered, Loss, PlanDirective, PrevDirective, ReplanDirective, ReplanRequest, escape};

/// Maximum number of similar existing paths that a replan directive suggests.
const ALTERNATIVES_MAX: usize = 8;
/// Maximum length of what a directive says about refuted parts of the request, in characters.
const REFUTED_CHARS: usize = 1_000;

/// The message that tells the planner what must change in the next plan.
pub(super) fn directive(request: &ReplanRequest, decision: &Decision, replan: &Replan) -> PlanDirective {
    let calls = request.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
    let mut alternatives: Vec<String> = calls.flat_map(|call| call.alternatives.iter().cloned()).collect();
    alternatives.sort();
    alternatives.dedup();
    alternatives.truncate(ALTERNATIVES_MAX);
    PlanDirective {
        task_id: request.task_id.clone(),
        round: decision.replans,
        loss: loss(decision),
        prev_directive: previous(decision.previous),
        directive: action(replan.action),
        blocked_tools: replan.blocked_tools.clone(),
        blocked_targets: replan.blocked_targets.iter().map(ToString::to_string).collect(),
        released_tools: replan.released_tools.clone(),
        failed_criterion: refuted(request)
            .or_else(|| decision.primary_failed.clone())
            .unwrap_or_else(|| request.gap_summary.clone()),
        failure_class: mix(decision.failure_mix),
        budget_pressure: decision.loss.omega.value(),
        grad_l: decision.gradient.total,
        urgency: urgency(replan.urgency),
        suggested_alternatives: alternatives,
        rationale: decision.to_string(),
    }
}

/// The parts of the request that facts refute, with what was found; `None` if there are none.
fn refuted(request: &ReplanRequest) -> Option<String> {
    let of_row = |row: &Covered| format!("{}: {}", row.act.as_ref().unwrap_or(&row.words), row.why);
    let parts: Vec<String> = request.coverage.refuted().map(of_row).collect();
    (!parts.is_empty()).then(|| escape::shorten(&parts.join("; "), REFUTED_CHARS))
}

/// The loss of the round that a decision was made on.
pub(super) fn loss(decision: &Decision) -> Loss {
    on_the_wire(&decision.loss)
}

/// The loss of a task without a measured round: D (the distance from the goal) is 1.
pub(super) fn nothing_achieved() -> Loss {
    on_the_wire(&artoo_ggs::Loss::new(Unit::ONE, Unit::ZERO, Unit::ZERO, &Hyperparameters::DEFAULT))
}

/// A loss of `artoo-ggs` in the form that messages use.
fn on_the_wire(loss: &artoo_ggs::Loss) -> Loss {
    Loss { d: loss.d.value(), p: loss.p.value(), omega: loss.omega.value(), l: loss.l }
}

/// The replan action before this one, in the form that messages use.
pub(super) fn previous(previous: PreviousAction) -> PrevDirective {
    match previous {
        PreviousAction::Init => PrevDirective::Init,
        PreviousAction::Action(directed) => action(directed).into(),
    }
}

/// Why `artoo-ggs` stopped, as the reason that the user gets.
pub(super) fn stop(reason: StopReason) -> AbandonReason {
    match reason {
        StopReason::BudgetExhausted => AbandonReason::BudgetExhausted,
        StopReason::MaxReplans => AbandonReason::MaxReplans,
        StopReason::Diverging => AbandonReason::Diverging,
        StopReason::ToolsExhausted => AbandonReason::ToolsExhausted,
        StopReason::External => AbandonReason::Cancelled,
        other => AbandonReason::RoleFailed { detail: format!("stopped for an unknown reason: {}", other.name()) },
    }
}

fn action(action: ReplanAction) -> ReplanDirective {
    match action {
        ReplanAction::Refine => ReplanDirective::Refine,
        ReplanAction::ChangePath => ReplanDirective::ChangePath,
        ReplanAction::ChangeApproach => ReplanDirective::ChangeApproach,
        ReplanAction::BreakSymmetry => ReplanDirective::BreakSymmetry,
    }
}

fn mix(mix: FailureMix) -> artoo_proto::FailureMix {
    match mix {
        FailureMix::Logical => artoo_proto::FailureMix::Logical,
        FailureMix::Environmental => artoo_proto::FailureMix::Environmental,
        FailureMix::Mixed => artoo_proto::FailureMix::Mixed,
    }
}

fn urgency(urgency: Urgency) -> artoo_proto::Urgency {
    match urgency {
        Urgency::Low => artoo_proto::Urgency::Low,
        Urgency::Normal => artoo_proto::Urgency::Normal,
        Urgency::High => artoo_proto::Urgency::High,
    }
}
