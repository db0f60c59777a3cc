//! Answers the roles (perceiver, planner) that ask this crate instead of a language model.

use artoo_proto::{
    Abstention, Check, Column, Criterion, PerceiveContext, PlanContext, Recipe, RecipePlan, RecipeStep, RecipeSubtask,
    ReplyBody, RoleContext, ToolRequest,
};
use serde_json::json;

use crate::algebra::{Act, Function, Key, Order, Query, SortKey, Step, Ty};
use crate::coverage::{HELD, Written, after, written};
use crate::english::{english, english_act};
use crate::eval::FileSystem;
use crate::lower::{Unsupported, lower};
use crate::parse::{Parsed, offer, parse};
use crate::perform::perform;
use crate::suggest;
use crate::texts::{self, decline};

/// The tool that lists the files an act is about to change.
const LISTING_TOOL: &str = "glob";

/// Answers the request of a role (perceiver or planner), or abstains.
///
/// The perceiver gets the task restated; the planner gets a plan of one recipe with its checks. Recipes run and are
/// checked without a model, so the other roles get no answer. `fs` is only read.
#[must_use]
pub fn respond(context: &RoleContext, fs: &dyn FileSystem) -> ReplyBody {
    let answer = match context {
        RoleContext::Perceive(perceive) => restate(perceive, fs),
        RoleContext::Plan(plan) => recipes(plan, fs),
        RoleContext::Execute(_)
        | RoleContext::ValidateSubtask(_)
        | RoleContext::ValidateTask(_)
        | RoleContext::Word(_)
        | RoleContext::WordRule(_) => Err(decline("", Vec::new(), texts::JUDGES_NOTHING)),
    };
    answer.unwrap_or_else(|abstention| ReplyBody::Abstain { abstention })
}

/// Answers the first request of a role to understand or plan a task, if every word of the task is read in one way and
/// every step has a recipe; `None` otherwise, and for a task with anything besides its words.
#[must_use]
pub fn respond_in_full(context: &RoleContext, fs: &dyn FileSystem) -> Option<ReplyBody> {
    match context {
        RoleContext::Perceive(perceive) if perceive.material.is_none() && perceive.clarifications.is_empty() => {
            understand(perceive, fs).ok()
        }
        RoleContext::Plan(plan) if plan.spec.material.is_none() && plan.problems.is_empty() => recipes(plan, fs).ok(),
        RoleContext::Perceive(_)
        | RoleContext::Plan(_)
        | RoleContext::Execute(_)
        | RoleContext::ValidateSubtask(_)
        | RoleContext::ValidateTask(_)
        | RoleContext::Word(_)
        | RoleContext::WordRule(_) => None,
    }
}

/// The perceiver's answer, or the refusal with the nearest request that would be answered.
fn restate(context: &PerceiveContext, fs: &dyn FileSystem) -> Result<ReplyBody, Abstention> {
    let PerceiveContext { raw_input, session, environment, now, .. } = context;
    understand(context, fs).map_err(|declined| {
        let accepts = |parsed: &Parsed| plan(parsed, &environment.os, fs).is_ok();
        Abstention { offer: offer(raw_input, session, environment, *now, fs, &accepts).map(Box::new), ..declined }
    })
}

/// The perceiver's answer: the task restated as one English sentence per step.
fn understand(context: &PerceiveContext, fs: &dyn FileSystem) -> Result<ReplyBody, Abstention> {
    let PerceiveContext { raw_input, session, environment, now, .. } = context;
    let parsed = parse(raw_input, session, environment, *now, fs)?;
    // Refuse here what can't be carried out, before anything is planned.
    plan(&parsed, &environment.os, fs)?;
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
    for (at, step) in parsed.steps.iter().enumerate() {
        let before = after(parsed.steps.get(..at).unwrap_or_default(), fs);
        let pieces = match step {
            Step::Ask(query) => lower(query, os).and_then(|call| answered(query, call)).map(|piece| vec![piece]),
            Step::Do(act) => acted(act, os, &before),
        };
        subtasks.extend(
            pieces.map_err(|reason| decline(&parsed.reading, Vec::new(), &texts::unsupported(&reason.to_string())))?,
        );
    }
    for (sequence, subtask) in (1..).zip(&mut subtasks) {
        subtask.sequence = sequence;
    }
    let task_criteria = subtasks.iter().flat_map(|subtask| subtask.success_criteria.iter().cloned()).collect();
    Ok(RecipePlan { subtasks, task_criteria, assumptions: parsed.assumptions.clone(), readings: Vec::new() })
}

/// The subtask of a plan for a question: one tool call, and a check that evaluates the query again.
fn answered(query: &Query, call: ToolRequest) -> Result<RecipeSubtask, Unsupported> {
    let steps = vec![RecipeStep { call, answers: true, paths_from: None }];
    subtask(english(query), steps, recompute(query)?, Some(query.columns()))
}

/// The subtasks of a plan for an act: its files are listed and checked; then they are listed again and changed.
fn acted(act: &Act, os: &str, fs: &dyn FileSystem) -> Result<Vec<RecipeSubtask>, Unsupported> {
    let steps = perform(act, fs)?;
    let reading = english_act(act);
    let held = written(act, fs).ok().and_then(|Written { path, before, .. }| Some(json!({ path: before? })));
    let mut pieces = Vec::new();
    if let Some(selection) = act.selection() {
        // Files in several folders are listed by one call per folder.
        let listings = steps.iter().filter(|step| step.call.tool == LISTING_TOOL);
        let listed = listings.map(|listing| RecipeStep { answers: true, ..listing.clone() }).collect();
        pieces.push(subtask(english(selection), listed, recompute(selection)?, None)?);
    }
    // What is written is computed by programs too.
    if let Act::Save { of, .. } = act
        && let Ok(call) = lower(of, os)
    {
        pieces.push(RecipeSubtask { answers: None, ..answered(of, call)? });
    }
    let mut act = serde_json::to_value(act).map_err(|_| Unsupported::Arrangement("this act"))?;
    if let (Some(fields), Some(held)) = (act.as_object_mut(), held) {
        fields.insert(HELD.to_owned(), held);
    }
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
        recipe: Recipe { steps, reading, skill: None },
        success_criteria: vec![criterion],
        answers,
    })
}

/// A label for the task of these steps, such as `list_files`.
fn label(steps: &[Step]) -> &'static str {
    match steps {
        [Step::Ask(query)] => label_of(query),
        [Step::Do(act)] => label_of_act(act),
        _ => "several_steps",
    }
}

/// A label for the task that does an act, such as `delete_files`.
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
        Act::Insert { .. } | Act::Save { .. } | Act::SetValue { .. } => "edit_text",
        Act::SetMode { .. } => "set_permissions",
        Act::Link { .. } => "create_link",
        // No recipe carries out another act.
        _ => "other_change",
    }
}

/// A label for the task that answers a query, such as `count_files`.
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
