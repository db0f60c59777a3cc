//! Answers the roles (perceiver, planner) that ask this crate instead of a language model.

use artoo_proto::{
    Abstention, Check, Column, Criterion, PerceiveContext, PlanContext, Recipe, RecipePlan, RecipeStep, RecipeSubtask,
    ReplyBody, RoleContext, ToolRequest,
};
use serde_json::json;

use crate::algebra::{Act, Function, Key, Order, Query, SortKey, Step, Ty};
use crate::english::{english, english_act};
use crate::eval::FileSystem;
use crate::lower::{Unsupported, lower, perform};
use crate::parse::{Parsed, offer, parse};
use crate::suggest;
use crate::texts::{self, decline};

/// The tool that lists the files an act is about to change.
const LISTING_TOOL: &str = "glob";

/// Answers the request of a role, or abstains.
///
/// The perceiver gets the task restated; the planner gets a plan of one recipe with its checks. Recipes run and are
/// checked without a model, so the other roles get no answer. `fs` is only read.
#[must_use]
pub fn respond(context: &RoleContext, fs: &dyn FileSystem) -> ReplyBody {
    let answer = match context {
        RoleContext::Perceive(perceive) => restate(perceive, fs),
        RoleContext::Plan(plan) => recipes(plan, fs),
        RoleContext::Execute(_) | RoleContext::ValidateSubtask(_) | RoleContext::ValidateTask(_) => {
            Err(decline("", Vec::new(), texts::JUDGES_NOTHING))
        }
    };
    answer.unwrap_or_else(|abstention| ReplyBody::Abstain { abstention })
}

/// The perceiver's answer: the task restated as one English sentence per step.
fn restate(context: &PerceiveContext, fs: &dyn FileSystem) -> Result<ReplyBody, Abstention> {
    let PerceiveContext { raw_input, session, environment, now, .. } = context;
    // Refuse here what can't be carried out, before anything is planned.
    let planned = |parsed: &Parsed| plan(parsed, &environment.os, fs).map(|_| ());
    let parsed = parse(raw_input, session, environment, *now, fs).and_then(|parsed| planned(&parsed).map(|()| parsed));
    let parsed = parsed.map_err(|declined| {
        let accepts = |parsed: &Parsed| planned(parsed).is_ok();
        Abstention { offer: offer(raw_input, session, environment, *now, fs, &accepts).map(Box::new), ..declined }
    })?;
    let value = json!({
        "task_id": label(&parsed.steps),
        "intent": parsed.reading,
        "constraints": { "scope": parsed.scope, "deadline": null },
    });
    Ok(ReplyBody::Json { value })
}

/// The planner's answer: a plan of fixed recipes for the request.
fn recipes(context: &PlanContext, fs: &dyn FileSystem) -> Result<ReplyBody, Abstention> {
    // This crate has only recipes: if one failed, or memory forbids it, there is no alternative.
    if context.directive.is_some() {
        return Err(decline("", Vec::new(), texts::ONE_WAY));
    }
    let parsed = parse(&context.spec.raw_input, &context.spec.session, &context.environment, context.now, fs)?;
    plan(&parsed, &context.environment.os, fs).map(|plan| ReplyBody::Recipes { plan })
}

/// The plan for a parsed request: its steps in order, each with a check.
fn plan(parsed: &Parsed, os: &str, fs: &dyn FileSystem) -> Result<RecipePlan, Abstention> {
    if let Some(path) = suggest::missing(&parsed.steps, fs) {
        return Err(decline(&parsed.reading, Vec::new(), &suggest::advice(&path, fs)));
    }
    let mut subtasks = Vec::new();
    for step in &parsed.steps {
        let pieces = match step {
            Step::Ask(query) => lower(query, os).and_then(|call| answered(query, call)).map(|piece| vec![piece]),
            Step::Do(act) => acted(act),
        };
        subtasks.extend(
            pieces.map_err(|reason| decline(&parsed.reading, Vec::new(), &texts::unsupported(&reason.to_string())))?,
        );
    }
    for (sequence, subtask) in (1..).zip(&mut subtasks) {
        subtask.sequence = sequence;
    }
    let task_criteria = subtasks.iter().flat_map(|subtask| subtask.success_criteria.iter().cloned()).collect();
    Ok(RecipePlan { subtasks, task_criteria, assumptions: parsed.assumptions.clone() })
}

/// The subtask for a question: one tool call, and a check that evaluates the query again.
fn answered(query: &Query, call: ToolRequest) -> Result<RecipeSubtask, Unsupported> {
    let steps = vec![RecipeStep { call, answers: true, paths_from: None }];
    subtask(english(query), steps, recompute(query)?, Some(query.columns()))
}

/// The subtasks for an act: its files are listed and checked; then they are listed again and changed.
fn acted(act: &Act) -> Result<Vec<RecipeSubtask>, Unsupported> {
    let steps = perform(act)?;
    let reading = english_act(act);
    let mut pieces = Vec::new();
    if let Some(selection) = act.selection() {
        // Files in several folders are listed by one call per folder.
        let listings = steps.iter().filter(|step| step.call.tool == LISTING_TOOL);
        let listed = listings.map(|listing| RecipeStep { answers: true, ..listing.clone() }).collect();
        pieces.push(subtask(english(selection), listed, recompute(selection)?, None)?);
    }
    let act = serde_json::to_value(act).map_err(|_| Unsupported::Arrangement("this act"))?;
    let done = Criterion::checked(Check::Performed { act, reading: reading.clone() });
    pieces.push(subtask(reading, steps, done, Some(vec![Column::Sentence]))?);
    Ok(pieces)
}

/// The success criterion that evaluates a query again and compares the results.
fn recompute(query: &Query) -> Result<Criterion, Unsupported> {
    let value = serde_json::to_value(query).map_err(|_| Unsupported::Arrangement("this query"))?;
    Ok(Criterion::checked(Check::Recompute { query: value, reading: english(query) }))
}

/// A plan's subtask from its English description, its calls, its check, and the columns of its answer; `None` if it only
/// prepares the next subtask.
fn subtask(
    reading: String,
    steps: Vec<RecipeStep>,
    criterion: Criterion,
    answers: Option<Vec<Column>>,
) -> Result<RecipeSubtask, Unsupported> {
    if steps.is_empty() {
        return Err(Unsupported::Arrangement("a step without a call"));
    }
    Ok(RecipeSubtask {
        intent: reading.clone(),
        sequence: 1,
        recipe: Recipe { steps, reading },
        success_criteria: vec![criterion],
        answers,
    })
}

/// A short name of the task.
fn label(steps: &[Step]) -> &'static str {
    match steps {
        [Step::Ask(query)] => label_of(query),
        [Step::Do(act)] => label_of_act(act),
        _ => "several_steps",
    }
}

/// A short name of an act.
fn label_of_act(act: &Act) -> &'static str {
    match act {
        Act::CreateFolder { .. } => "create_folder",
        Act::CreateFile { .. } => "create_file",
        Act::Copy { .. } => "copy_files",
        Act::Move { .. } => "move_files",
        Act::Rename { .. } => "rename_files",
        Act::Archive { .. } => "pack_files",
        Act::Extract { .. } => "unpack_archive",
        Act::Delete { .. } => "delete_files",
        Act::Replace { .. } => "replace_text",
        // No recipe carries out another act.
        _ => "other_change",
    }
}

/// A short name of a query.
fn label_of(query: &Query) -> &'static str {
    match query {
        Query::System { .. } => "machine_fact",
        Query::Processes => "list_processes",
        Query::Aggregate { of, function: Function::Count } if matches!(of.source(), Query::Processes) => {
            "count_processes"
        }
        Query::Aggregate { of, function: Function::Count } if is_text(of) => "count_lines",
        Query::Aggregate { function: Function::Count, .. } => "count_files",
        Query::Aggregate { function: Function::TotalBytes, .. } => "total_size",
        Query::Aggregate { .. } => "compute_number",
        Query::Group { .. } => "count_groups",
        Query::Field { .. } => "file_properties",
        Query::Duplicates { .. } => "find_duplicates",
        Query::Compare { .. } => "compare_texts",
        text if is_text(text) => "show_lines",
        Query::Details { of } | Query::Limit { of, .. } => label_of(of),
        Query::Sort { keys, .. } => match keys.first() {
            Some(SortKey { by: Key::Size, order: Order::Descending }) => "largest_files",
            Some(SortKey { by: Key::Size, order: Order::Ascending }) => "smallest_files",
            Some(SortKey { by: Key::Modified, order: Order::Descending }) => "newest_files",
            Some(SortKey { by: Key::Modified, order: Order::Ascending }) => "oldest_files",
            _ => "list_files",
        },
        Query::Filter { of, .. } if matches!(of.source(), Query::Processes) => "list_processes",
        _ => "list_files",
    }
}

/// Whether a query yields lines.
fn is_text(query: &Query) -> bool {
    query.ty() == Ok(Ty::Lines)
}
