//! The simulated embedded parser: plans of recipes; it abstains from every other question.

use artoo_proto::{
    Abstention, Check, Criterion, ModelRequest, Recipe, RecipePlan, RecipeStep, RecipeSubtask, ReplyBody, RoleContext,
    ToolRequest,
};
use serde_json::json;

use super::rng::Rng;

/// The parser's reply: a plan of recipes or an abstention for the planner, an abstention for other roles.
pub(super) fn reply(rng: &mut Rng, request: &ModelRequest) -> ReplyBody {
    let RoleContext::Plan(context) = &request.context else { return abstain() };
    let has = |name: &str| context.tools.iter().any(|tool| tool.name == name);
    if !has("glob") || rng.chance(100) {
        return abstain();
    }
    let subtasks: Vec<RecipeSubtask> = (0..rng.between(1, 2)).map(|number| subtask(rng, number)).collect();
    let task_criteria = subtasks.iter().flat_map(|subtask| subtask.success_criteria.clone()).collect();
    ReplyBody::Recipes {
        plan: RecipePlan {
            subtasks,
            task_criteria,
            assumptions: vec!["hidden files are left out".to_owned()],
            readings: Vec::new(),
        },
    }
}

/// A subtask with a recipe of one to three calls.
fn subtask(rng: &mut Rng, number: usize) -> RecipeSubtask {
    let folder = format!("/home/u/d{}", rng.below(3));
    let call = |depth: usize| ToolRequest { tool: "glob".to_owned(), input: json!({"root": folder, "depth": depth}) };
    let steps = (0..rng.between(1, 3))
        .map(|depth| RecipeStep { call: call(depth), answers: depth == 0, paths_from: None })
        .collect();
    let check = match rng.below(3) {
        0 => Check::Recompute { query: json!({"count": folder}), reading: format!("how many files are in {folder}") },
        1 => Check::FileCount { path: folder.clone(), pattern: String::new(), recursive: false },
        _ => Check::LineCount { path: format!("{folder}/f.txt") },
    };
    let reading = format!("count the files in {folder}");
    RecipeSubtask {
        intent: format!("{reading}, step {number}"),
        sequence: i64::try_from(number).unwrap(),
        recipe: Recipe { steps, reading, skill: None },
        success_criteria: vec![Criterion::checked(check)],
        answers: Some(Vec::new()),
    }
}

/// The reply that declines a request.
fn abstain() -> ReplyBody {
    ReplyBody::Abstain {
        abstention: Abstention {
            understood: "count".to_owned(),
            not_understood: vec!["frobnicate".to_owned()],
            remedy: "set up a model, or say it in other words".to_owned(),
            offer: None,
        },
    }
}
