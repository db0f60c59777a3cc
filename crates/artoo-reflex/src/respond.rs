//! The model seam: what this crate answers when a role asks it instead of a language model.

#![expect(clippy::wildcard_enum_match_arm, reason = "it takes off the operators it names and hands on the rest")]

use artoo_proto::{
    Abstention, Check, Criterion, PerceiveContext, PlanContext, Recipe, RecipePlan, RecipeStep, RecipeSubtask,
    ReplyBody, RoleContext,
};
use serde_json::json;

use crate::algebra::{Function, Key, Order, Query};
use crate::lower::lower;
use crate::parse::{Parsed, parse};

/// Answers a role, or abstains.
///
/// R1 gets the task restated, R2 a plan of one recipe with its checks. Executors and validators never need this crate:
/// a recipe runs and is checked without a model.
#[must_use]
pub fn respond(context: &RoleContext) -> ReplyBody {
    let answer = match context {
        RoleContext::Perceive(perceive) => restate(perceive),
        RoleContext::Plan(plan) => recipes(plan),
        RoleContext::Execute(_) | RoleContext::ValidateSubtask(_) | RoleContext::ValidateTask(_) => Err(no_judgement()),
    };
    answer.unwrap_or_else(|abstention| ReplyBody::Abstain { abstention })
}

fn no_judgement() -> Abstention {
    Abstention {
        understood: String::new(),
        not_understood: Vec::new(),
        remedy: "The built-in reader plans recipes and judges nothing. For judgement artoo needs a language model: set OPENAI_BASE_URL and OPENAI_API_KEY, and name the model with --model.".to_owned(),
    }
}

fn restate(context: &PerceiveContext) -> Result<ReplyBody, Abstention> {
    let parsed = parse(&context.raw_input, &context.environment, context.now)?;
    let value = json!({
        "task_id": label(&parsed.query),
        "intent": parsed.reading,
        "constraints": { "scope": parsed.scope, "deadline": null },
    });
    Ok(ReplyBody::Json { value })
}

fn recipes(context: &PlanContext) -> Result<ReplyBody, Abstention> {
    // A recipe is all this crate has: where it failed, or memory forbids it, there is no second way.
    if context.directive.is_some() {
        return Err(no_other_way());
    }
    let parsed = parse(&context.spec.raw_input, &context.environment, context.now)?;
    plan(&parsed).map(|plan| ReplyBody::Recipes { plan })
}

fn no_other_way() -> Abstention {
    Abstention {
        understood: String::new(),
        not_understood: Vec::new(),
        remedy: "The built-in reader knows one way to answer a request, and it failed. For another way artoo needs a language model: set OPENAI_BASE_URL and OPENAI_API_KEY, and name the model with --model.".to_owned(),
    }
}

/// The plan of a request: one call, and one check that computes its answer a second time.
fn plan(parsed: &Parsed) -> Result<RecipePlan, Abstention> {
    // Parsing already lowers every query, so neither step fails here.
    let call = lower(&parsed.query).map_err(|_| no_judgement())?;
    let query = serde_json::to_value(&parsed.query).map_err(|_| no_judgement())?;
    let check = Criterion::checked(Check::Recompute { query, reading: parsed.reading.clone() });
    let subtask = RecipeSubtask {
        intent: parsed.reading.clone(),
        sequence: 1,
        recipe: Recipe { steps: vec![RecipeStep { call, answers: true }], reading: parsed.reading.clone() },
        success_criteria: vec![check.clone()],
    };
    Ok(RecipePlan { subtasks: vec![subtask], task_criteria: vec![check], assumptions: parsed.assumptions.clone() })
}

/// A short name of the task.
fn label(query: &Query) -> &'static str {
    match query {
        Query::Aggregate { of, function: Function::Count } if is_text(of) => "count_lines",
        Query::Aggregate { function: Function::Count, .. } => "count_files",
        Query::Aggregate { function: Function::TotalBytes, .. } => "total_size",
        Query::Details { of } | Query::Limit { of, .. } => label(of),
        Query::Sort { by: Key::Size, order: Order::Descending, .. } => "largest_files",
        Query::Sort { by: Key::Size, order: Order::Ascending, .. } => "smallest_files",
        Query::Sort { by: Key::Modified, order: Order::Descending, .. } => "newest_files",
        Query::Sort { by: Key::Modified, order: Order::Ascending, .. } => "oldest_files",
        text if is_text(text) => "show_lines",
        _ => "list_files",
    }
}

fn is_text(query: &Query) -> bool {
    match query {
        Query::TextFile { .. } => true,
        Query::Filter { of, .. } | Query::Part { of, .. } => is_text(of),
        _ => false,
    }
}
