//! Converts the messages of R4b (the meta-validator) to the rounds that `artoo-ggs` measures. The conversion never
//! fails.

use artoo_ggs::{
    AvailableTool, CriterionMeasure, CriterionMode, FailureClass, Round, SubtaskMeasure, ToolTarget, Verdict,
};
use artoo_proto::{
    CallStatus, Criterion, CriterionVerdict, DispatchManifest, MissingOutcome, MissingReason, OutcomeStatus,
    OutcomeSummary, ReplanRequest, SubTaskOutcome, ToolCall, VerdictSource, verdict,
};

use crate::agent_validator::is_excused;

/// The measured round for a replan request, that is, one with unmet criteria.
pub(super) fn round(request: &ReplanRequest, manifest: Option<&DispatchManifest>, tools: &[AvailableTool]) -> Round {
    let ran = request.outcomes.iter().map(|outcome| subtask(outcome, manifest));
    let missing = request.missing.iter().map(|missing| not_reported(missing, manifest));
    Round::new(ran.chain(missing).collect())
        .with_task_criteria(request.task_verdicts.iter().map(task_criterion).collect())
        .with_available_tools(tools.to_vec())
}

/// The measured round for an outcome summary: every criterion is met, or facts cover the request. A covered round omits
/// the criteria of subtasks; any other round omits the plan's excused checks.
pub(super) fn accepted(
    summary: &OutcomeSummary,
    manifest: Option<&DispatchManifest>,
    tools: &[AvailableTool],
) -> Round {
    let is_complete = summary.coverage.is_complete();
    let covered = |outcome: &SubTaskOutcome| SubTaskOutcome {
        status: OutcomeStatus::Matched,
        criteria_verdicts: Vec::new(),
        infrastructure: false,
        ..outcome.clone()
    };
    let measure = |outcome| if is_complete { subtask(&covered(outcome), manifest) } else { subtask(outcome, manifest) };
    let calls: Vec<ToolCall> = summary.outcomes.iter().flat_map(|outcome| outcome.tool_calls.iter().cloned()).collect();
    let decides = |v: &&CriterionVerdict| !is_excused(v, &calls);
    Round::new(summary.outcomes.iter().map(measure).collect())
        .with_task_criteria(summary.task_verdicts.iter().filter(decides).map(task_criterion).collect())
        .with_available_tools(tools.to_vec())
}

/// Converts the outcome of a subtask to the measure that `artoo-ggs` reads.
fn subtask(outcome: &SubTaskOutcome, manifest: Option<&DispatchManifest>) -> SubtaskMeasure {
    // If the subtask failed although every call succeeded, the calls did not deliver what was needed and count as
    // failed.
    let all_ok = outcome.tool_calls.iter().all(|call| call.status == CallStatus::Ok);
    let in_vain = outcome.status == OutcomeStatus::Failed && !outcome.infrastructure && all_ok;
    let attempts = u32::try_from(outcome.gap_trajectory.len()).unwrap_or(u32::MAX);
    let is_left_out =
        |v: &CriterionVerdict| outcome.status == OutcomeStatus::Matched && is_excused(v, &outcome.tool_calls);
    let criteria = outcome.criteria_verdicts.iter().filter(|v| !is_left_out(v)).map(|v| {
        let mut criterion = task_criterion(v);
        let failed = verdict::failed_attempts(&outcome.gap_trajectory, &v.criterion.claim());
        (criterion.failed_attempts, criterion.attempts) = (failed.min(attempts), attempts);
        criterion
    });
    let criteria = criteria.collect();
    let mut subtask = match outcome.status {
        OutcomeStatus::Matched => SubtaskMeasure::matched(criteria),
        OutcomeStatus::Failed => SubtaskMeasure::failed(criteria),
    };
    subtask.infrastructure = outcome.infrastructure;
    let calls = outcome.tool_calls.iter().map(|call| {
        let constructor =
            if in_vain || call.status != CallStatus::Ok { ToolTarget::failed } else { ToolTarget::worked };
        constructor(&call.tool, &call.target)
    });
    subtask.with_calls(calls).with_tools(planned_tools(outcome.subtask_id, manifest))
}

/// Converts a subtask without an outcome to a measure: not run, or failed by the infrastructure.
fn not_reported(missing: &MissingOutcome, manifest: Option<&DispatchManifest>) -> SubtaskMeasure {
    let criteria = missing.criteria.iter().map(undecided).collect();
    let subtask = match missing.reason {
        MissingReason::EarlierGroupFailed => SubtaskMeasure::not_run(criteria),
        MissingReason::NoReport | MissingReason::Deadline => SubtaskMeasure::failed_by_infrastructure(criteria),
    };
    subtask.with_tools(planned_tools(missing.subtask_id, manifest))
}

/// The tools that the manifest names for a subtask; empty without a manifest, or if it doesn't contain the subtask.
fn planned_tools(id: artoo_proto::SubTaskId, manifest: Option<&DispatchManifest>) -> Vec<String> {
    let entry = manifest.and_then(|manifest| manifest.subtasks.iter().find(|entry| entry.subtask_id == id));
    entry.map(|entry| entry.tools.clone()).unwrap_or_default()
}

/// Converts a criterion with its verdict to the measure that `artoo-ggs` reads. It counts as judged once, so a failed
/// plausible criterion has full weight.
fn task_criterion(v: &CriterionVerdict) -> CriterionMeasure {
    let verdict = match (v.verdict, v.source) {
        (artoo_proto::Verdict::Pass, _) => Verdict::Pass,
        (artoo_proto::Verdict::Fail, VerdictSource::Missing) => Verdict::Missing,
        (artoo_proto::Verdict::Fail, VerdictSource::Check | VerdictSource::Rule | VerdictSource::Model) => {
            Verdict::Fail
        }
    };
    let mut criterion = undecided(&v.criterion).blamed_on(v.failure_class.map(class));
    (criterion.verdict, criterion.failed_attempts, criterion.attempts) =
        (verdict, u32::from(verdict != Verdict::Pass), 1);
    criterion
}

/// Converts a criterion without a verdict to the measure that `artoo-ggs` reads.
fn undecided(criterion: &Criterion) -> CriterionMeasure {
    let mut measure = CriterionMeasure::undecided(criterion.claim());
    measure.mode = match criterion.mode() {
        artoo_proto::Mode::Verifiable => CriterionMode::Verifiable,
        artoo_proto::Mode::Plausible => CriterionMode::Plausible,
    };
    measure.required = criterion.required();
    measure
}

/// Converts a failure class to the type of `artoo-ggs`.
fn class(class: artoo_proto::FailureClass) -> FailureClass {
    match class {
        artoo_proto::FailureClass::Logical => FailureClass::Logical,
        artoo_proto::FailureClass::Environmental => FailureClass::Environmental,
    }
}
