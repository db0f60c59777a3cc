//! Random messages about planning, dispatching, executing and judging.

use artoo_proto::{
    Answer, Approval, CallStatus, Clause, Column, Constraints, CorrectionSignal, Coverage, CoverageState, Covered,
    CriterionVerdict, DispatchManifest, EffectClass, ExecutionResult, ExecutionStatus, FailureClass, FileChange,
    GapPoint, KeptOutput, ManifestEntry, MissingOutcome, MissingReason, Obligation, OfferedReading, OutcomeStatus,
    OutcomeSummary, PerceptionFailed, PerceptionFailure, Plan, PlanRejected, PlannedSubtask, ProposedReading, Reading,
    Recipe, RecipeStep, ReplanRequest, SubTask, SubTaskMissing, SubTaskOutcome, TaskSpec, ToolCall, ToolRequest,
    Unasked, Unread, UnverifiedOutput, Verdict, VerdictSource,
};
use proptest::prelude::*;

use super::control::session_turn;
use super::{
    abstention, criterion, denied, evidence_id, json, list, model_failure, moment, number, one_of, option, record,
    subtask_id, task_id, text, texts,
};

/// Random values of `TaskSpec`.
pub(crate) fn task_spec() -> BoxedStrategy<TaskSpec> {
    let constraints = record!(Constraints { scope: option(text()), deadline: option(moment()) });
    record!(TaskSpec {
        task_id: task_id(),
        label: text(),
        intent: text(),
        constraints: constraints,
        raw_input: text(),
        session: list(session_turn()),
        material: option(text()),
        reading: reading(),
        interactive: any::<bool>(),
    })
}

/// Random values of `PerceptionFailed`.
pub(crate) fn perception_failed() -> BoxedStrategy<PerceptionFailed> {
    let failure = prop_oneof![
        model_failure().prop_map(|failure| PerceptionFailure::Model { failure }),
        abstention().prop_map(|abstention| PerceptionFailure::Abstained { abstention }),
        text().prop_map(|detail| PerceptionFailure::BadInput { detail }),
    ];
    record!(PerceptionFailed { task_id: task_id(), raw_input: text(), failure: failure })
}

/// Random values of `Recipe`.
fn recipe() -> BoxedStrategy<Recipe> {
    let call = record!(ToolRequest { tool: text(), input: json() });
    let step = record!(RecipeStep { call: call, answers: any::<bool>(), paths_from: option(any::<usize>()) });
    record!(Recipe { steps: list(step), reading: text(), skill: option(text()) })
}

/// Random values of `Plan`.
pub(crate) fn plan() -> BoxedStrategy<Plan> {
    let subtask = record!(PlannedSubtask {
        intent: text(),
        context: text(),
        sequence: any::<i64>(),
        tools: texts(),
        success_criteria: list(criterion()),
        confirm: any::<bool>(),
        recipe: option(recipe()),
        answers: option(columns()),
    });
    record!(Plan {
        task_id: task_id(),
        round: any::<u32>(),
        subtasks: list(subtask),
        task_criteria: list(criterion()),
        assumptions: texts(),
        blocked_tools: texts(),
        blocked_targets: texts(),
    })
}

/// Random values of `PlanRejected`.
pub(crate) fn plan_rejected() -> BoxedStrategy<PlanRejected> {
    record!(PlanRejected {
        task_id: task_id(),
        round: any::<u32>(),
        problems: texts(),
        model_failure: option(model_failure()),
        abstention: option(abstention()),
    })
}

/// Random values of `DispatchManifest`.
pub(crate) fn dispatch_manifest() -> BoxedStrategy<DispatchManifest> {
    let entry = record!(ManifestEntry {
        subtask_id: subtask_id(),
        intent: text(),
        sequence: any::<i64>(),
        tools: texts(),
        success_criteria: list(criterion()),
        recipe: any::<bool>(),
        skill: option(text()),
        answers: option(columns()),
    });
    record!(DispatchManifest {
        task_id: task_id(),
        round: any::<u32>(),
        subtasks: list(entry),
        task_criteria: list(criterion()),
        assumptions: texts(),
        dispatched_at: moment(),
    })
}

/// Random values of `SubTask`.
pub(crate) fn sub_task() -> BoxedStrategy<SubTask> {
    record!(SubTask {
        subtask_id: subtask_id(),
        parent_task_id: task_id(),
        round: any::<u32>(),
        intent: text(),
        context: text(),
        success_criteria: list(criterion()),
        sequence: any::<i64>(),
        tools: texts(),
        blocked_tools: texts(),
        blocked_targets: texts(),
        confirm: any::<bool>(),
        recipe: option(recipe()),
    })
}

/// Random values of `KeptOutput`.
pub(crate) fn kept_output() -> BoxedStrategy<KeptOutput> {
    record!(KeptOutput { stream: text(), sha256: text(), bytes: any::<u64>(), left_out: any::<u64>() })
}

/// Random values of `ToolCall`.
fn tool_call() -> BoxedStrategy<ToolCall> {
    use CallStatus as S;
    let change = record!(FileChange { path: text(), before: option(text()), after: option(text()) });
    let leave = prop_oneof![Just(Approval::Once), Just(Approval::Task), text().prop_map(|id| Approval::Rule { id })];
    record!(ToolCall {
        tool: text(),
        input: json(),
        target: text(),
        status: one_of(&[S::Ok, S::Failed, S::Denied, S::TimedOut, S::Cut, S::Uncertain]),
        class: one_of(&[EffectClass::ReadOnly, EffectClass::Creating, EffectClass::Unproven]),
        measures: any::<bool>(),
        exit_code: option(any::<i32>()),
        signal: option(any::<i32>()),
        output: text(),
        output_bytes: any::<u64>(),
        truncated: any::<bool>(),
        evidence_id: evidence_id(),
        elapsed_ms: any::<u64>(),
        environmental: any::<bool>(),
        changed: list(change),
        changes_known: any::<bool>(),
        incidental: texts(),
        alternatives: texts(),
        leave: option(leave),
        kept: list(kept_output()),
    })
}

/// Random values of `ExecutionResult`.
pub(crate) fn execution_result() -> BoxedStrategy<ExecutionResult> {
    record!(ExecutionResult {
        subtask_id: subtask_id(),
        parent_task_id: task_id(),
        attempt: any::<u32>(),
        status: one_of(&[ExecutionStatus::Completed, ExecutionStatus::Uncertain, ExecutionStatus::Failed]),
        output: text(),
        output_from_tool: any::<bool>(),
        tool_calls: list(tool_call()),
        denied: list(denied()),
        model_failure: option(model_failure()),
        reason: option(text()),
    })
}

/// Random values of `FailureClass`.
pub(super) fn failure_class() -> BoxedStrategy<FailureClass> {
    one_of(&[FailureClass::Logical, FailureClass::Environmental])
}

/// Random values of `CorrectionSignal`.
pub(crate) fn correction_signal() -> BoxedStrategy<CorrectionSignal> {
    record!(CorrectionSignal {
        subtask_id: subtask_id(),
        parent_task_id: task_id(),
        attempt_number: any::<u32>(),
        failed_criterion: text(),
        failure_class: failure_class(),
        what_was_wrong: text(),
        what_to_do: text(),
        avoid_calls: texts(),
    })
}

/// Random values of `CriterionVerdict`.
fn verdict() -> BoxedStrategy<CriterionVerdict> {
    use VerdictSource as S;
    record!(CriterionVerdict {
        criterion: criterion(),
        verdict: one_of(&[Verdict::Pass, Verdict::Fail]),
        source: one_of(&[S::Check, S::Rule, S::Model, S::Missing]),
        failure_class: option(failure_class()),
        evidence: text(),
        cites: list(evidence_id()),
    })
}

/// Random values of `SubTaskOutcome`.
pub(crate) fn sub_task_outcome() -> BoxedStrategy<SubTaskOutcome> {
    let point = record!(GapPoint {
        attempt: any::<u32>(),
        score: number(),
        unmet_criteria: texts(),
        failure_class: option(failure_class()),
        wrong: option(text()),
    });
    record!(SubTaskOutcome {
        subtask_id: subtask_id(),
        parent_task_id: task_id(),
        round: any::<u32>(),
        status: one_of(&[OutcomeStatus::Matched, OutcomeStatus::Failed]),
        output: text(),
        failure_reason: option(text()),
        gap_trajectory: list(point),
        criteria_verdicts: list(verdict()),
        tool_calls: list(tool_call()),
        denied: list(denied()),
        infrastructure: any::<bool>(),
        model_failure: option(model_failure()),
        words_only: any::<bool>(),
    })
}

/// Random values of `MissingReason`.
fn missing_reason() -> BoxedStrategy<MissingReason> {
    one_of(&[MissingReason::EarlierGroupFailed, MissingReason::NoReport, MissingReason::Deadline])
}

/// Random values of `SubTaskMissing`.
pub(crate) fn sub_task_missing() -> BoxedStrategy<SubTaskMissing> {
    record!(SubTaskMissing {
        parent_task_id: task_id(),
        subtask_id: subtask_id(),
        round: any::<u32>(),
        reason: missing_reason(),
    })
}

/// Random values of `UnverifiedOutput`.
pub(super) fn unverified() -> BoxedStrategy<UnverifiedOutput> {
    record!(UnverifiedOutput { intent: text(), output: text() })
}

/// Random values of `ReplanRequest`.
pub(crate) fn replan_request() -> BoxedStrategy<ReplanRequest> {
    let missing = record!(MissingOutcome {
        subtask_id: subtask_id(),
        intent: text(),
        reason: missing_reason(),
        criteria: list(criterion()),
    });
    record!(ReplanRequest {
        task_id: task_id(),
        round: any::<u32>(),
        outcomes: list(sub_task_outcome()),
        missing: list(missing),
        task_verdicts: list(verdict()),
        merged_output: text(),
        unverified: list(unverified()),
        gap_summary: text(),
        model_failure: option(model_failure()),
        coverage: coverage(),
    })
}

/// Random values of `OutcomeSummary`.
pub(crate) fn outcome_summary() -> BoxedStrategy<OutcomeSummary> {
    record!(OutcomeSummary {
        task_id: task_id(),
        round: any::<u32>(),
        merged_output: text(),
        answers: list(answer()),
        summary: text(),
        outcomes: list(sub_task_outcome()),
        task_verdicts: list(verdict()),
        coverage: coverage(),
    })
}

/// Random values of `Vec<Column>`.
fn columns() -> BoxedStrategy<Vec<Column>> {
    list(one_of(&[Column::Text, Column::Path, Column::Bytes, Column::Time, Column::Count, Column::Sentence]))
}

/// Random values of `Answer`.
pub(super) fn answer() -> BoxedStrategy<Answer> {
    record!(Answer { label: text(), text: text(), columns: columns(), whole: option(kept_output()) })
}

/// Random values of `Obligation`.
fn obligation() -> BoxedStrategy<Obligation> {
    record!(Obligation { step: json(), reading: text() })
}

/// Random values of `CoverageState`.
fn state() -> BoxedStrategy<CoverageState> {
    use CoverageState as S;
    one_of(&[S::Shown, S::Refuted, S::NotShown, S::Vague, S::Described, S::NotRead, S::Judged, S::Words, S::Courtesy])
}

/// Random values of `OfferedReading`.
pub(super) fn offered() -> BoxedStrategy<OfferedReading> {
    record!(OfferedReading { clause: any::<u32>(), words: text(), obligations: list(obligation()) })
}

/// Random values of `Reading`.
fn reading() -> BoxedStrategy<Reading> {
    let clause = record!(Clause {
        number: any::<u32>(),
        span: any::<(usize, usize)>(),
        words: text(),
        obligations: list(obligation()),
        unread: option(record!(Unread { state: state(), why: text() })),
    });
    record!(Reading { clauses: list(clause), simulated: any::<bool>(), offered: list(offered()), refused: texts() })
}

/// Random values of `Coverage`.
pub(super) fn coverage() -> BoxedStrategy<Coverage> {
    let row = record!(Covered {
        span: any::<(usize, usize)>(),
        words: text(),
        act: option(text()),
        state: state(),
        by: list(evidence_id()),
        why: text(),
        confirmed: any::<bool>(),
        required: any::<bool>(),
    });
    let unasked = record!(Unasked { path: text(), change: text(), by: evidence_id() });
    record!(Coverage {
        rows: list(row),
        unasked: list(unasked),
        run_by_others: texts(),
        answers: list(answer()),
        by_required: any::<bool>(),
        offered: list(offered()),
        confirmed: list(record!(ProposedReading { clause: any::<u32>(), checks: list(json()) })),
    })
}
