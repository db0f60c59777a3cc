//! Plans: drafts from a model, validated plans, and the subtasks that the dispatcher releases.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Column, Criterion, ModelFailure, ProposedReading, Recipe, SubTaskId, TaskId, Timestamp};

/// A plan as a model wrote it, before any check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDraft {
    /// Assertions about the combined output.
    #[serde(default)]
    pub task_criteria: Vec<Criterion>,
    /// The steps of the plan.
    pub subtasks: Vec<SubtaskDraft>,
    /// The model's readings of those parts of the request that code can't read.
    #[serde(default, deserialize_with = "usable")]
    pub readings: Vec<ProposedReading>,
}

/// A step as a model wrote it. It has no id (the dispatcher assigns it) and no recipe (only code writes those).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubtaskDraft {
    /// What to do.
    pub intent: String,
    /// What the executor needs to know beyond the intent.
    #[serde(default)]
    pub context: String,
    /// Group number: lower numbers run first, equal ones in parallel.
    #[serde(default)]
    pub sequence: i64,
    /// Tools the executor may use; empty for an answer in words.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Assertions about this step's output.
    #[serde(default)]
    pub success_criteria: Vec<Criterion>,
    /// Numbers of the parts of the request that the step is meant for; nothing is trusted from it.
    #[serde(default, deserialize_with = "usable")]
    pub meets: Vec<u32>,
}

/// The valid entries of a list; invalid ones are skipped, since nothing in the list is trusted. Empty for no list.
fn usable<'de, D: Deserializer<'de>, T: DeserializeOwned>(list: D) -> Result<Vec<T>, D::Error> {
    let Value::Array(entries) = Value::deserialize(list)? else { return Ok(Vec::new()) };
    Ok(entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect())
}

/// A step of a validated plan: intent, tools, group number and success criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedSubtask {
    /// What to do.
    pub intent: String,
    /// What the executor needs to know, with memory's advice.
    pub context: String,
    /// Group number: lower numbers run first, equal ones in parallel.
    pub sequence: i64,
    /// Tools the executor may use.
    pub tools: Vec<String>,
    /// Assertions about this step's output.
    pub success_criteria: Vec<Criterion>,
    /// Memory advises caution: the first call that is not read-only asks the user.
    pub confirm: bool,
    /// Calls that run without a model, written by code.
    pub recipe: Option<Recipe>,
    /// The columns of the output's lines if the output answers the user; `null` if it only prepares a later step.
    #[serde(default)]
    pub answers: Option<Vec<Column>>,
}

/// A plan that passed the validator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The task's id.
    pub task_id: TaskId,
    /// 0 for the first plan, one more for each replan.
    pub round: u32,
    /// The steps; at least one.
    pub subtasks: Vec<PlannedSubtask>,
    /// Assertions about the combined output.
    pub task_criteria: Vec<Criterion>,
    /// Defaults chosen where the request said nothing.
    pub assumptions: Vec<String>,
    /// Tools that no call of this round may use.
    pub blocked_tools: Vec<String>,
    /// Targets that no call of this round may use.
    pub blocked_targets: Vec<String>,
}

impl Plan {
    /// Whether the plan comes from a skill (calls learned from earlier tasks).
    #[must_use]
    pub fn is_by_skill(&self) -> bool {
        self.subtasks.iter().filter_map(|subtask| subtask.recipe.as_ref()).any(|recipe| recipe.skill.is_some())
    }
}

/// The planner's report to the solver that it could not produce an acceptable plan, with the reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRejected {
    /// The task's id.
    pub task_id: TaskId,
    /// The round that could not be planned.
    pub round: u32,
    /// What was wrong with each draft.
    pub problems: Vec<String>,
    /// The model's failure, if that is why there is no plan.
    pub model_failure: Option<ModelFailure>,
    /// What the embedded parser did not understand, if that is why there is no plan.
    pub abstention: Option<crate::Abstention>,
}

/// One subtask as the dispatcher sends it to its executor, with context, tools and blocked targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubTask {
    /// The subtask id that the dispatcher assigned.
    pub subtask_id: SubTaskId,
    /// The task that the subtask belongs to.
    pub parent_task_id: TaskId,
    /// The round that the subtask belongs to; 0 for the first plan.
    pub round: u32,
    /// What to do.
    pub intent: String,
    /// Earlier outputs, advice from memory, known paths.
    pub context: String,
    /// Assertions about this step's output.
    pub success_criteria: Vec<Criterion>,
    /// Group number: lower numbers run first, equal ones in parallel.
    pub sequence: i64,
    /// Tools the executor may use.
    pub tools: Vec<String>,
    /// Tools that must not be called.
    pub blocked_tools: Vec<String>,
    /// Targets that must not be used.
    pub blocked_targets: Vec<String>,
    /// Whether the first call that is not read-only must ask the user.
    pub confirm: bool,
    /// Calls that run without a model, written by code.
    pub recipe: Option<Recipe>,
}

/// The subtasks of a round, for the meta-validator and the solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DispatchManifest {
    /// The task's id.
    pub task_id: TaskId,
    /// The round, 0 for the first plan.
    pub round: u32,
    /// Every subtask of the round, in sequence order.
    pub subtasks: Vec<ManifestEntry>,
    /// Assertions about the combined output.
    pub task_criteria: Vec<Criterion>,
    /// Defaults chosen where the request said nothing.
    pub assumptions: Vec<String>,
    /// When the manifest was sent.
    pub dispatched_at: Timestamp,
}

impl DispatchManifest {
    /// The space tag of the skill that the plan comes from; `None` for another plan.
    #[must_use]
    pub fn skill(&self) -> Option<&str> {
        self.subtasks.iter().find_map(|subtask| subtask.skill.as_deref())
    }
}

/// One subtask in a manifest: its id, intent, group and criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// What to do.
    pub intent: String,
    /// Group number: lower numbers run first, equal ones in parallel.
    pub sequence: i64,
    /// Tools that the subtask may use.
    pub tools: Vec<String>,
    /// Assertions about this step's output.
    pub success_criteria: Vec<Criterion>,
    /// Whether the subtask is a recipe, so that code wrote its checks.
    pub recipe: bool,
    /// The space tag of the skill that the recipe comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The columns of the output's lines if the output answers the user; `null` if it only prepares a later step.
    #[serde(default)]
    pub answers: Option<Vec<Column>>,
}

/// The dispatcher's report about a subtask that will not report itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubTaskMissing {
    /// The task that the subtask belongs to.
    pub parent_task_id: TaskId,
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// The round, 0 for the first plan.
    pub round: u32,
    /// Why the subtask will not report.
    pub reason: MissingReason,
}

/// Why a subtask has no outcome: an earlier group failed, it did not report, or the time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    /// A subtask of an earlier group failed, so this one never started.
    EarlierGroupFailed,
    /// The subtask started and did not report in time.
    NoReport,
    /// The task's hard time limit was reached.
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
