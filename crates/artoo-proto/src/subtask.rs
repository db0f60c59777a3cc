//! R2's contract: drafts from a model, checked plans, and what the dispatcher makes of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Criterion, ModelFailure, Recipe, SubTaskId, TaskId, Timestamp};

/// A plan as a model wrote it: nothing in it has been checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDraft {
    /// Assertions about the combined output.
    #[serde(default)]
    pub task_criteria: Vec<Criterion>,
    /// The steps.
    pub subtasks: Vec<SubtaskDraft>,
}

/// A step as a model wrote it. It has no id (the dispatcher assigns one) and no recipe (only code writes those).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubtaskDraft {
    /// What to do.
    pub intent: String,
    /// Everything the executor needs beyond the intent.
    #[serde(default)]
    pub context: String,
    /// Group: equal runs in parallel, lower runs first.
    #[serde(default)]
    pub sequence: i64,
    /// Tools its executor may use; empty = an answer in words.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Assertions about this step's output.
    #[serde(default)]
    pub success_criteria: Vec<Criterion>,
}

/// A step of a validated plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedSubtask {
    /// What to do.
    pub intent: String,
    /// Context from R2, memory's advice included.
    pub context: String,
    /// Group.
    pub sequence: i64,
    /// Tools its executor may use.
    pub tools: Vec<String>,
    /// Assertions about the output.
    pub success_criteria: Vec<Criterion>,
    /// Memory says Caution: the first call that is not read-only asks.
    pub confirm: bool,
    /// Calls that need no model.
    pub recipe: Option<Recipe>,
}

/// A plan that passed the validator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The task.
    pub task_id: TaskId,
    /// 0 for the first plan, +1 a replan.
    pub round: u32,
    /// At least one step.
    pub subtasks: Vec<PlannedSubtask>,
    /// Assertions about the combined output; at least one.
    pub task_criteria: Vec<Criterion>,
    /// Defaults taken where the request was silent.
    pub assumptions: Vec<String>,
    /// Tools no call of this round may use.
    pub blocked_tools: Vec<String>,
    /// Targets no call of this round may use.
    pub blocked_targets: Vec<String>,
}

/// R2 could not produce an acceptable plan; R7 ends the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRejected {
    /// The task.
    pub task_id: TaskId,
    /// The round that could not be planned.
    pub round: u32,
    /// What was wrong with each draft.
    pub problems: Vec<String>,
    /// Set where the model itself failed.
    pub model_failure: Option<ModelFailure>,
    /// Set where the embedded parser abstained.
    pub abstention: Option<crate::Abstention>,
}

/// One subtask on its way to its executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubTask {
    /// Assigned by the dispatcher.
    pub subtask_id: SubTaskId,
    /// Its task.
    pub parent_task_id: TaskId,
    /// The round it belongs to.
    pub round: u32,
    /// What to do.
    pub intent: String,
    /// Prior outputs, memory that concerns it, known paths.
    pub context: String,
    /// Assertions about its output.
    pub success_criteria: Vec<Criterion>,
    /// Group.
    pub sequence: i64,
    /// Tools its executor may use.
    pub tools: Vec<String>,
    /// Tools that must not be called.
    pub blocked_tools: Vec<String>,
    /// Targets that must not be used.
    pub blocked_targets: Vec<String>,
    /// The first call that is not read-only asks.
    pub confirm: bool,
    /// Calls that need no model.
    pub recipe: Option<Recipe>,
}

/// What R4b and R7 must know of a dispatched plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DispatchManifest {
    /// The task.
    pub task_id: TaskId,
    /// The round.
    pub round: u32,
    /// Every subtask of the round, in sequence order.
    pub subtasks: Vec<ManifestEntry>,
    /// Assertions about the combined output.
    pub task_criteria: Vec<Criterion>,
    /// Defaults taken where the request was silent.
    pub assumptions: Vec<String>,
    /// When it left.
    pub dispatched_at: Timestamp,
}

/// One subtask in a manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Its id.
    pub subtask_id: SubTaskId,
    /// What it does.
    pub intent: String,
    /// Its group.
    pub sequence: i64,
    /// Tools it may use.
    pub tools: Vec<String>,
    /// Its criteria.
    pub success_criteria: Vec<Criterion>,
    /// Whether it is a recipe: its checks came from code.
    pub recipe: bool,
}

/// A subtask that will not report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubTaskMissing {
    /// Its task.
    pub parent_task_id: TaskId,
    /// Which one.
    pub subtask_id: SubTaskId,
    /// The round.
    pub round: u32,
    /// Why.
    pub reason: MissingReason,
}

/// Why a subtask has no outcome of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    /// An earlier group failed, so it never started.
    EarlierGroupFailed,
    /// It started and was not heard of in its time.
    NoReport,
    /// The task's hard limit was reached.
    Deadline,
}

impl fmt::Display for MissingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EarlierGroupFailed => "not run, since an earlier step failed",
            Self::NoReport => "started, and not heard of in its time",
            Self::Deadline => "the time limit was reached first",
        })
    }
}
