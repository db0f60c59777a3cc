//! Recipes: tool calls and checks that code composes and that run without a model.

use serde::{Deserialize, Serialize};

use crate::{Column, Criterion, ProposedReading, ToolRequest};

/// How a subtask is carried out without a model. Only code builds these; a model's draft has no such field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Calls in order; the first that fails ends the recipe.
    pub steps: Vec<RecipeStep>,
    /// The request as the parser understood it, in English.
    pub reading: String,
    /// The space tag of the skill that the recipe comes from; `null` for a recipe of the embedded parser. Only facts
    /// that cover the whole request show that a skill worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// One tool call of a recipe, and whether its output answers the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipeStep {
    /// The tool and its input.
    pub call: ToolRequest,
    /// Whether this call's output is the answer, or a part of it.
    pub answers: bool,
    /// Index of the first of the earlier steps, all of those from it up to this one, whose output lines (one
    /// [`path_line`](crate::escape::path_line) each) become the `paths` of this call. If one of these lists is
    /// truncated, the recipe ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths_from: Option<usize>,
}

/// A plan of recipes, as the embedded parser sends it to the planner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipePlan {
    /// One subtask for each step of the request, in order.
    pub subtasks: Vec<RecipeSubtask>,
    /// Assertions about the combined output.
    pub task_criteria: Vec<Criterion>,
    /// Defaults chosen where the request said nothing (depth, letter case …), one sentence each.
    pub assumptions: Vec<String>,
    /// Readings of clauses that the user confirmed in earlier tasks and with the skill; empty for the embedded parser.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<ProposedReading>,
}

/// One subtask of a recipe plan: its recipe, group number and criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipeSubtask {
    /// What the subtask does.
    pub intent: String,
    /// Group number of the subtask: lower numbers run first, equal ones in parallel.
    pub sequence: i64,
    /// The tool calls of the subtask.
    pub recipe: Recipe,
    /// Criteria of the subtask, each with a check written by code.
    pub success_criteria: Vec<Criterion>,
    /// The columns of the output's lines if the output answers the user; `null` for a preparation, such as the list of
    /// files that the next subtask changes.
    #[serde(default)]
    pub answers: Option<Vec<Column>>,
}
