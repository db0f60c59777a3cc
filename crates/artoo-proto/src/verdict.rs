//! R3's, R4a's and R4b's contracts: results, verdicts, corrections, outcomes.

use serde::{Deserialize, Serialize};

use crate::{Criterion, DeniedAction, EvidenceId, ModelFailure, SubTaskId, TaskId, ToolCall};

/// Whose fault a failure is: the approach's, or the environment's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Wrong approach.
    Logical,
    /// Network, permission, missing file, time.
    Environmental,
}

/// What R3 says of its own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// It believes it is done.
    Completed,
    /// It can't tell.
    Uncertain,
    /// It could not do it.
    Failed,
}

/// R3's report: a claim (`output`) and the ground truth (`tool_calls`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// Which subtask.
    pub subtask_id: SubTaskId,
    /// Its task.
    pub parent_task_id: TaskId,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// R3's own word.
    pub status: ExecutionStatus,
    /// What R3 says the answer is.
    pub output: String,
    /// Whether `output` is a tool's output, copied by code, rather than a model's words.
    pub output_from_tool: bool,
    /// Every call of this attempt, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Calls a person or the guard refused.
    pub denied: Vec<DeniedAction>,
    /// Set where the model itself failed.
    pub model_failure: Option<ModelFailure>,
    /// Why it failed, in words.
    pub reason: Option<String>,
}

/// Met or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Met.
    Pass,
    /// Not met, or not shown to be.
    Fail,
}

/// Who decided a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictSource {
    /// Code, by re-reading state or recomputing.
    Check,
    /// Code, by a rule about evidence (a failed call, a missing citation …).
    Rule,
    /// A model.
    Model,
    /// Nobody: it never ran or was never decided.
    Missing,
}

/// The verdict on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionVerdict {
    /// The criterion.
    pub criterion: Criterion,
    /// Met or not.
    pub verdict: Verdict,
    /// Who said so.
    pub source: VerdictSource,
    /// For a failure: whose fault.
    pub failure_class: Option<FailureClass>,
    /// What was seen.
    pub evidence: String,
    /// Calls the verdict rests on.
    pub cites: Vec<EvidenceId>,
}

/// R4a to R3: try again, differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrectionSignal {
    /// Which subtask.
    pub subtask_id: SubTaskId,
    /// Its task.
    pub parent_task_id: TaskId,
    /// The attempt that is to follow (2 or 3).
    pub attempt_number: u32,
    /// The first criterion that failed, as claimed.
    pub failed_criterion: String,
    /// Whose fault.
    pub failure_class: FailureClass,
    /// What was wrong.
    pub what_was_wrong: String,
    /// What to do, format constraints repeated.
    pub what_to_do: String,
    /// Calls already made, to avoid.
    pub avoid_calls: Vec<String>,
}

/// Matched or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// Every criterion is met.
    Matched,
    /// At least one is not.
    Failed,
}

/// The gap after one attempt of the fast loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GapPoint {
    /// 1 for the first attempt.
    pub attempt: u32,
    /// Share of criteria met, 0 to 1.
    pub score: f64,
    /// Claims not met, in declaration order.
    pub unmet_criteria: Vec<String>,
    /// Whose fault, by the first unmet criterion.
    pub failure_class: Option<FailureClass>,
}

/// R4a's final word on one subtask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubTaskOutcome {
    /// Which subtask.
    pub subtask_id: SubTaskId,
    /// Its task.
    pub parent_task_id: TaskId,
    /// The round.
    pub round: u32,
    /// Matched or failed.
    pub status: OutcomeStatus,
    /// What it produced; unverified where failed.
    pub output: String,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// The gap, attempt by attempt.
    pub gap_trajectory: Vec<GapPoint>,
    /// One verdict a declared criterion, in order.
    pub criteria_verdicts: Vec<CriterionVerdict>,
    /// Calls of every attempt, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Calls that were refused.
    pub denied: Vec<DeniedAction>,
    /// Whether it failed by infrastructure (provider, time, cancel) rather than by its work.
    pub infrastructure: bool,
    /// Set where a model itself failed.
    pub model_failure: Option<ModelFailure>,
    /// Whether the output is words only: no tool was called and none was planned.
    pub words_only: bool,
}

/// A verdict on one task-level criterion.
pub type TaskVerdict = CriterionVerdict;

/// R4b to R7: the gate is shut or a task criterion is not met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplanRequest {
    /// The task.
    pub task_id: TaskId,
    /// The round that fell short.
    pub round: u32,
    /// Every outcome of the round, failed and matched (D is computed over all).
    pub outcomes: Vec<SubTaskOutcome>,
    /// Subtasks that never reported, with their criteria.
    pub missing: Vec<MissingOutcome>,
    /// Verdicts on the task's criteria. Where the gate kept R4b from judging: empty, or the rule that nothing was done.
    pub task_verdicts: Vec<TaskVerdict>,
    /// Matched outputs, joined in sequence order by code.
    pub merged_output: String,
    /// Failed outputs, apart and marked.
    pub unverified: Vec<UnverifiedOutput>,
    /// The gap in one paragraph.
    pub gap_summary: String,
    /// Set where R4b's own model failed.
    pub model_failure: Option<ModelFailure>,
}

/// A subtask without an outcome, as R7 must count it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingOutcome {
    /// Which subtask.
    pub subtask_id: SubTaskId,
    /// What it was to do.
    pub intent: String,
    /// Why it has none.
    pub reason: crate::MissingReason,
    /// Its criteria, all unmet.
    pub criteria: Vec<Criterion>,
}

/// An output nobody verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnverifiedOutput {
    /// What it was for.
    pub intent: String,
    /// What R3 said.
    pub output: String,
}

/// R4b to R7: every outcome matched and every task criterion is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeSummary {
    /// The task.
    pub task_id: TaskId,
    /// The round that got there.
    pub round: u32,
    /// The joined output: data, not a summary of it.
    pub merged_output: String,
    /// One line on what was done.
    pub summary: String,
    /// Every outcome.
    pub outcomes: Vec<SubTaskOutcome>,
    /// Verdicts on the task's criteria, all passed.
    pub task_verdicts: Vec<TaskVerdict>,
}

/// The k of k/N: in how many attempts a claim was unmet.
#[must_use]
pub fn failed_attempts(trajectory: &[GapPoint], claim: &str) -> u32 {
    let k = trajectory.iter().filter(|point| point.unmet_criteria.iter().any(|c| c == claim)).count();
    u32::try_from(k).unwrap_or(u32::MAX)
}
