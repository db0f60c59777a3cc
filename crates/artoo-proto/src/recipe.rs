//! Recipes: typed calls and checks that run without a model.

use serde::{Deserialize, Serialize};

use crate::{Criterion, ToolRequest};

/// How one subtask is carried out without a model. Only code builds these; a model's draft has no such field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Calls in order; the first that fails ends the recipe.
    pub steps: Vec<RecipeStep>,
    /// The request as understood, in English, rendered from the typed query.
    pub reading: String,
}

/// One call of a recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipeStep {
    /// What to call.
    pub call: ToolRequest,
    /// Whether this call's output is (part of) the answer.
    pub answers: bool,
    /// An earlier step, from 0, whose output lines (one [`path_line`](crate::escape::path_line) each) become the call's
    /// `paths`. A list that is not whole ends the recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths_from: Option<usize>,
}

/// A whole plan made of recipes: what the embedded parser answers R2 with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipePlan {
    /// One entry a step of the request, in order.
    pub subtasks: Vec<RecipeSubtask>,
    /// Assertions about the combined output.
    pub task_criteria: Vec<Criterion>,
    /// Defaults taken where the request was silent (depth, letter case …), each in one sentence.
    pub assumptions: Vec<String>,
}

/// One subtask of a recipe plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipeSubtask {
    /// What it does.
    pub intent: String,
    /// Its group.
    pub sequence: i64,
    /// Its calls.
    pub recipe: Recipe,
    /// Its criteria, each with a check from code.
    pub success_criteria: Vec<Criterion>,
}
