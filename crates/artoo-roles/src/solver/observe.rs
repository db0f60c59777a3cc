//! From what R4b sends to what `artoo-ggs` measures. Total: every message gives a round.

use artoo_ggs::{
    CriterionMeasure, FailureClass, Mode, Round, SubtaskMeasure, SubtaskStatus, Tool, ToolTarget, Verdict,
};
use artoo_proto::{
    CallStatus, Criterion, CriterionVerdict, DispatchManifest, MissingOutcome, MissingReason, OutcomeStatus,
    OutcomeSummary, ReplanRequest, SubTaskOutcome, VerdictSource, verdict,
};

/// A round that fell short.
pub(super) fn round(request: &ReplanRequest, manifest: Option<&DispatchManifest>, tools: &[Tool]) -> Round {
    let ran = request.outcomes.iter().map(|outcome| subtask(outcome, manifest));
    let missing = request.missing.iter().map(|missing| not_reported(missing, manifest));
    Round {
        subtasks: ran.chain(missing).collect(),
        task_criteria: request.task_verdicts.iter().map(task_criterion).collect(),
        available_tools: tools.to_vec(),
    }
}

/// A round that met everything.
pub(super) fn accepted(summary: &OutcomeSummary, manifest: Option<&DispatchManifest>, tools: &[Tool]) -> Round {
    Round {
        subtasks: summary.outcomes.iter().map(|outcome| subtask(outcome, manifest)).collect(),
        task_criteria: summary.task_verdicts.iter().map(task_criterion).collect(),
        available_tools: tools.to_vec(),
    }
}

fn subtask(outcome: &SubTaskOutcome, manifest: Option<&DispatchManifest>) -> SubtaskMeasure {
    // Where every call went well and the step still failed by its work, the calls answered without what was asked.
    let all_ok = outcome.tool_calls.iter().all(|call| call.status == CallStatus::Ok);
    let in_vain = outcome.status == OutcomeStatus::Failed && !outcome.infrastructure && all_ok;
    let attempts = u32::try_from(outcome.gap_trajectory.len()).unwrap_or(u32::MAX);
    SubtaskMeasure {
        status: match outcome.status {
            OutcomeStatus::Matched => SubtaskStatus::Matched,
            OutcomeStatus::Failed => SubtaskStatus::Failed,
        },
        infrastructure: outcome.infrastructure,
        criteria: outcome
            .criteria_verdicts
            .iter()
            .map(|v| {
                let failed_attempts = verdict::failed_attempts(&outcome.gap_trajectory, &v.criterion.claim());
                CriterionMeasure { failed_attempts: failed_attempts.min(attempts), attempts, ..task_criterion(v) }
            })
            .collect(),
        calls: outcome
            .tool_calls
            .iter()
            .map(|call| ToolTarget {
                tool: call.tool.clone(),
                target: call.target.clone(),
                failed: in_vain || call.status != CallStatus::Ok,
            })
            .collect(),
        tools: planned_tools(outcome.subtask_id, manifest),
    }
}

fn not_reported(missing: &MissingOutcome, manifest: Option<&DispatchManifest>) -> SubtaskMeasure {
    let (status, infrastructure) = match missing.reason {
        MissingReason::EarlierGroupFailed => (SubtaskStatus::NotRun, false),
        MissingReason::NoReport | MissingReason::Deadline => (SubtaskStatus::Failed, true),
    };
    SubtaskMeasure {
        status,
        infrastructure,
        criteria: missing.criteria.iter().map(undecided).collect(),
        calls: Vec::new(),
        tools: planned_tools(missing.subtask_id, manifest),
    }
}

fn planned_tools(id: artoo_proto::SubTaskId, manifest: Option<&DispatchManifest>) -> Vec<String> {
    let entry = manifest.and_then(|manifest| manifest.subtasks.iter().find(|entry| entry.subtask_id == id));
    entry.map(|entry| entry.tools.clone()).unwrap_or_default()
}

/// One verdict; judged once, so a plausible one that failed weighs in full.
fn task_criterion(v: &CriterionVerdict) -> CriterionMeasure {
    let verdict = match (v.verdict, v.source) {
        (artoo_proto::Verdict::Pass, _) => Verdict::Pass,
        (artoo_proto::Verdict::Fail, VerdictSource::Missing) => Verdict::Missing,
        (artoo_proto::Verdict::Fail, VerdictSource::Check | VerdictSource::Rule | VerdictSource::Model) => {
            Verdict::Fail
        }
    };
    CriterionMeasure {
        verdict,
        class: v.failure_class.map(class),
        failed_attempts: u32::from(verdict != Verdict::Pass),
        attempts: 1,
        ..undecided(&v.criterion)
    }
}

fn undecided(criterion: &Criterion) -> CriterionMeasure {
    CriterionMeasure {
        claim: criterion.claim(),
        mode: match criterion.mode() {
            artoo_proto::Mode::Verifiable => Mode::Verifiable,
            artoo_proto::Mode::Plausible => Mode::Plausible,
        },
        required: criterion.required(),
        verdict: Verdict::Missing,
        class: None,
        failed_attempts: 0,
        attempts: 0,
    }
}

fn class(class: artoo_proto::FailureClass) -> FailureClass {
    match class {
        artoo_proto::FailureClass::Logical => FailureClass::Logical,
        artoo_proto::FailureClass::Environmental => FailureClass::Environmental,
    }
}
