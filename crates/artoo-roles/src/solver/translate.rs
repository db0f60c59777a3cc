//! Converts decisions of `artoo-ggs` to messages. The functions never fail and decide nothing.

use artoo_ggs::{
    Decision, FailureMix, Hyperparameters, PreviousAction, Replan, ReplanAction, StopReason, Unit, Urgency,
};
use artoo_proto::{
    AbandonReason, Covered, DispatchManifest, Loss, ManifestEntry, PlanDirective, PrevDirective, ReplanDirective,
    ReplanRequest, TriedSubtask, escape,
};

/// Maximum number of existing paths similar to a missing one that a replan directive suggests.
const ALTERNATIVES_MAX: usize = 8;
/// Maximum number of calls of one subtask that a replan directive lists; the last ones are listed.
const TRIED_CALLS_MAX: usize = 3;
/// Maximum length of a call that a replan directive lists, in characters.
const TRIED_CALL_CHARS: usize = 200;
/// Maximum length of a replan directive's text about refuted parts of the request, in characters.
const REFUTED_CHARS: usize = 1_000;

/// Converts a replan decision to the directive for the planner: what must change in the next plan.
pub(super) fn directive(
    request: &ReplanRequest,
    tried: &[TriedSubtask],
    decision: &Decision,
    replan: &Replan,
) -> PlanDirective {
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
        tried: directed(request, tried, replan),
        same_again: replan.same_again,
    }
}

/// What each subtask of the round did, and for each failing one the directive that the controller gives it.
fn directed(request: &ReplanRequest, tried: &[TriedSubtask], replan: &Replan) -> Vec<TriedSubtask> {
    let mut tried = tried.to_vec();
    for own in &replan.subtasks {
        // The controller counts the subtasks in the order of the measured round: reported ones, then missing ones.
        let reported = request.outcomes.get(own.subtask).map(|outcome| outcome.subtask_id);
        let missing = || request.missing.get(own.subtask.checked_sub(request.outcomes.len())?);
        let id = reported.or_else(|| missing().map(|missing| missing.subtask_id));
        if let Some(subtask) = tried.iter_mut().find(|subtask| Some(subtask.subtask_id) == id) {
            subtask.directive = Some(action(own.action));
            subtask.blocked_tools.clone_from(&own.blocked_tools);
        }
    }
    tried
}

/// What the subtasks of a round did, and why some failed, in sequence order.
pub(super) fn tried(request: &ReplanRequest, manifest: Option<&DispatchManifest>) -> Vec<TriedSubtask> {
    let of_entry = |entry: &ManifestEntry| {
        let outcome = request.outcomes.iter().find(|outcome| outcome.subtask_id == entry.subtask_id);
        let missing = request.missing.iter().find(|missing| missing.subtask_id == entry.subtask_id);
        let failure = outcome.and_then(|outcome| outcome.failure_reason.clone());
        let calls = outcome.map(|outcome| outcome.tool_calls.as_slice()).unwrap_or_default();
        let last = calls.len().saturating_sub(TRIED_CALLS_MAX);
        TriedSubtask {
            subtask_id: entry.subtask_id,
            intent: entry.intent.clone(),
            calls: calls.iter().skip(last).map(|call| escape::shorten(&call.to_string(), TRIED_CALL_CHARS)).collect(),
            failure: failure.or_else(|| missing.map(|missing| missing.reason.to_string())),
            directive: None,
            blocked_tools: Vec::new(),
        }
    };
    manifest.map(|manifest| manifest.subtasks.iter().map(of_entry).collect()).unwrap_or_default()
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

/// Converts a loss to the message's type.
fn on_the_wire(loss: &artoo_ggs::Loss) -> Loss {
    Loss { d: loss.d.value(), p: loss.p.value(), omega: loss.omega.value(), l: loss.l }
}

/// Converts the action of the directive before the current one to the message's type.
pub(super) fn previous(previous: PreviousAction) -> PrevDirective {
    match previous {
        PreviousAction::Init => PrevDirective::Init,
        PreviousAction::Action(directed) => action(directed).into(),
    }
}

/// Converts the reason why `artoo-ggs` stopped to the reason that the user gets.
pub(super) fn stop(reason: StopReason) -> AbandonReason {
    match reason {
        StopReason::BudgetExhausted => AbandonReason::BudgetExhausted,
        StopReason::MaxReplans => AbandonReason::MaxReplans,
        StopReason::Diverging => AbandonReason::Diverging,
        StopReason::Cycling => AbandonReason::Cycling,
        StopReason::ToolsExhausted => AbandonReason::ToolsExhausted,
        StopReason::External => AbandonReason::Cancelled,
        other => AbandonReason::RoleFailed { detail: format!("stopped for an unknown reason: {}", other.name()) },
    }
}

/// Converts a replan action to the message's type.
fn action(action: ReplanAction) -> ReplanDirective {
    match action {
        ReplanAction::Refine => ReplanDirective::Refine,
        ReplanAction::ChangePath => ReplanDirective::ChangePath,
        ReplanAction::ChangeApproach => ReplanDirective::ChangeApproach,
        ReplanAction::BreakSymmetry => ReplanDirective::BreakSymmetry,
    }
}

/// Converts a failure mix to the message's type.
fn mix(mix: FailureMix) -> artoo_proto::FailureMix {
    match mix {
        FailureMix::Logical => artoo_proto::FailureMix::Logical,
        FailureMix::Environmental => artoo_proto::FailureMix::Environmental,
        FailureMix::Mixed => artoo_proto::FailureMix::Mixed,
    }
}

/// Converts an urgency to the message's type.
fn urgency(urgency: Urgency) -> artoo_proto::Urgency {
    match urgency {
        Urgency::Low => artoo_proto::Urgency::Low,
        Urgency::Normal => artoo_proto::Urgency::Normal,
        Urgency::High => artoo_proto::Urgency::High,
    }
}
