//! Reports of executors and verdicts of validators: results, corrections, outcomes.

use serde::{Deserialize, Serialize};

use crate::{Answer, Coverage, Criterion, DeniedAction, EvidenceId, ModelFailure, SubTaskId, TaskId, ToolCall};

/// Whether a failure was caused by the approach (logical) or by the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The approach was wrong.
    Logical,
    /// The environment caused the failure: network, permission, missing file, time.
    Environmental,
}

/// Whether an executor believes that it completed its subtask, is uncertain, or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// The executor believes that it succeeded.
    Completed,
    /// The executor does not know whether it succeeded.
    Uncertain,
    /// The executor could not carry out the subtask.
    Failed,
}

/// An executor's report: its claim (`output`) and the recorded calls (`tool_calls`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// The task that the subtask belongs to.
    pub parent_task_id: TaskId,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The executor's opinion of its own work.
    pub status: ExecutionStatus,
    /// The answer as the executor claims it.
    pub output: String,
    /// Whether code copied `output` from a tool, so that it is not a model's words.
    pub output_from_tool: bool,
    /// Every call of this attempt, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Calls that were not allowed: the user or a rule denied them, or there was no user to ask.
    pub denied: Vec<DeniedAction>,
    /// The model's failure, if that is why the executor failed.
    pub model_failure: Option<ModelFailure>,
    /// Why the executor failed; `null` if it did not.
    pub reason: Option<String>,
}

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The criterion is met.
    Pass,
    /// The criterion is not met, or not shown to be met.
    Fail,
}

/// What decided a verdict: a check, a rule, a model, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictSource {
    /// Code that read the state again or recomputed it.
    Check,
    /// Code, by a rule about evidence (a failed call, a missing citation …).
    Rule,
    /// A model judged the criterion.
    Model,
    /// Nothing decided it: the subtask never ran or was never judged.
    Missing,
}

/// The verdict on one criterion, with its source, evidence and cited calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionVerdict {
    /// The criterion that was judged.
    pub criterion: Criterion,
    /// Whether the criterion is met.
    pub verdict: Verdict,
    /// What decided the verdict.
    pub source: VerdictSource,
    /// The cause, if the criterion failed.
    pub failure_class: Option<FailureClass>,
    /// What supports the verdict, in words.
    pub evidence: String,
    /// Ids of the tool calls that support the verdict.
    pub cites: Vec<EvidenceId>,
}

/// An agent-validator asks the executor for another attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrectionSignal {
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// The task that the subtask belongs to.
    pub parent_task_id: TaskId,
    /// The number of the next attempt, 2 or 3.
    pub attempt_number: u32,
    /// The claim of the first criterion that failed.
    pub failed_criterion: String,
    /// The cause of the failure.
    pub failure_class: FailureClass,
    /// What was wrong with the last attempt.
    pub what_was_wrong: String,
    /// What the executor must do now, with the required output format repeated.
    pub what_to_do: String,
    /// Calls already made, which must not be repeated.
    pub avoid_calls: Vec<String>,
}

/// Whether a subtask met its criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// Every criterion is met.
    Matched,
    /// At least one criterion is not met.
    Failed,
}

/// The share of criteria that one attempt met, and the claims it did not meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GapPoint {
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Share of criteria met, from 0 to 1.
    pub score: f64,
    /// Claims that are not met, in declaration order.
    pub unmet_criteria: Vec<String>,
    /// The cause of the first unmet criterion.
    pub failure_class: Option<FailureClass>,
    /// What was wrong with the first unmet criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

/// An agent-validator's final verdict on a subtask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubTaskOutcome {
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// The task that the subtask belongs to.
    pub parent_task_id: TaskId,
    /// The round, 0 for the first plan.
    pub round: u32,
    /// Whether the subtask met its criteria.
    pub status: OutcomeStatus,
    /// What the subtask produced; unverified if the subtask failed.
    pub output: String,
    /// Why the subtask failed; `null` if it did not.
    pub failure_reason: Option<String>,
    /// How many criteria were met, attempt by attempt.
    pub gap_trajectory: Vec<GapPoint>,
    /// One verdict for each criterion, in declaration order.
    pub criteria_verdicts: Vec<CriterionVerdict>,
    /// Calls of every attempt, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Calls that were not allowed: the user or a rule denied them, or there was no user to ask.
    pub denied: Vec<DeniedAction>,
    /// Whether infrastructure (model provider, time limit, cancellation) caused the failure and not the work.
    pub infrastructure: bool,
    /// The model's failure, if that is why the subtask failed.
    pub model_failure: Option<ModelFailure>,
    /// Whether the output is words only: no tool was planned or called.
    pub words_only: bool,
}

/// The meta-validator's report to the solver that a subtask failed, a criterion of the task is not met, or facts refute
/// a part of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplanRequest {
    /// The task's id.
    pub task_id: TaskId,
    /// The round, 0 for the first plan.
    pub round: u32,
    /// Every outcome of the round, failed and matched; D (the distance from the goal) is computed over all.
    pub outcomes: Vec<SubTaskOutcome>,
    /// Subtasks that never reported, with their criteria.
    pub missing: Vec<MissingOutcome>,
    /// Verdicts on the task's criteria. If a failed subtask kept the model from judging: empty, or the rule that
    /// nothing was done.
    pub task_verdicts: Vec<CriterionVerdict>,
    /// Outputs of matched subtasks, joined by code in sequence order.
    pub merged_output: String,
    /// Outputs of failed subtasks.
    pub unverified: Vec<UnverifiedOutput>,
    /// What is missing, in one paragraph.
    pub gap_summary: String,
    /// Set if the failure is that of a model.
    pub model_failure: Option<ModelFailure>,
    /// Which parts of the request are shown to be done.
    #[serde(default)]
    pub coverage: Coverage,
}

/// A subtask that has no outcome, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingOutcome {
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// What the subtask was to do.
    pub intent: String,
    /// Why the subtask did not report.
    pub reason: crate::MissingReason,
    /// The subtask's criteria, all unmet.
    pub criteria: Vec<Criterion>,
}

/// The output of a subtask that was not verified, delivered apart from the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnverifiedOutput {
    /// What the subtask was to do.
    pub intent: String,
    /// What the executor claimed.
    pub output: String,
}

/// The meta-validator's report to the solver that the task is done: facts cover the request, or every criterion that
/// decides is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeSummary {
    /// The task's id.
    pub task_id: TaskId,
    /// The round, 0 for the first plan.
    pub round: u32,
    /// The joined output itself, not a summary of it.
    pub merged_output: String,
    /// The outputs that answer the request, in order.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// One line on what was done.
    pub summary: String,
    /// The outcome of every subtask.
    pub outcomes: Vec<SubTaskOutcome>,
    /// Verdicts on the task's criteria; only a check that the plan added may have failed.
    pub task_verdicts: Vec<CriterionVerdict>,
    /// Which parts of the request are shown to be done.
    #[serde(default)]
    pub coverage: Coverage,
}

/// Number of attempts in which a claim was unmet: the k in the penalty k/N of a plausible criterion.
#[must_use]
pub fn failed_attempts(trajectory: &[GapPoint], claim: &str) -> u32 {
    let k = trajectory.iter().filter(|point| point.unmet_criteria.iter().any(|c| c == claim)).count();
    u32::try_from(k).unwrap_or(u32::MAX)
}
