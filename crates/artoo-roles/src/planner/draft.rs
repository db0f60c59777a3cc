//! Conversion of the proposals of a model or the embedded parser to planned subtasks, without validation.

use std::collections::BTreeSet;

use artoo_proto::{
    Check, Clause, CoverageState, Criterion, Environment, PlannedSubtask, Reading, RecipeSubtask, SubtaskDraft,
    TaskSpec, escape,
};

use crate::limits::{MATERIAL_CHARS, REPLY_ITEMS};
use crate::prompt::bullets;

/// Converts a model's draft of a subtask to a planned subtask, without validation.
pub(super) fn planned(draft: SubtaskDraft, environment: &Environment) -> PlannedSubtask {
    let success_criteria = criteria(draft.success_criteria, &draft.tools, environment);
    PlannedSubtask {
        intent: draft.intent,
        context: draft.context,
        sequence: draft.sequence,
        tools: draft.tools,
        success_criteria,
        confirm: false,
        recipe: None,
        answers: None,
    }
}

/// The tool whose relative paths start in the workspace; those of the others start in the current folder.
const WORKSPACE_TOOL: &str = "write_file";

/// A model's criteria with absolute paths, so that the paths in checks can be compared with those in call records.
/// Checks that only code may build become prose. `tools` are those of the subtask, or of the whole plan.
pub(super) fn criteria(drafted: Vec<Criterion>, tools: &[String], environment: &Environment) -> Vec<Criterion> {
    let is_workspace = tools.iter().any(|tool| tool == WORKSPACE_TOOL);
    let folder = if is_workspace { &environment.workspace } else { &environment.cwd };
    let resolved = |criterion: Criterion| match without_recompute(criterion) {
        Criterion::Checked { check, required } => {
            Criterion::Checked { check: with_whole_path(check, folder, environment), required }
        }
        prose @ Criterion::Prose { .. } => prose,
    };
    drafted.into_iter().map(resolved).collect()
}

/// The check with an absolute path: that of a file which the subtask writes starts in `folder`, that of files which it
/// counts in the current folder.
fn with_whole_path(check: Check, folder: &str, environment: &Environment) -> Check {
    let written = |path: String| whole_path(&path, folder, &environment.home);
    let found = |path: String| whole_path(&path, &environment.cwd, &environment.home);
    match check {
        Check::FileExists { path } => Check::FileExists { path: written(path) },
        Check::FileContains { path, text } => Check::FileContains { path: written(path), text },
        Check::FileEquals { path, text } => Check::FileEquals { path: written(path), text },
        Check::FileCount { path, pattern, recursive } => Check::FileCount { path: found(path), pattern, recursive },
        Check::LineCount { path } => Check::LineCount { path: found(path) },
        other @ (Check::OutputNotEmpty {}
        | Check::OutputIsNumber {}
        | Check::ExitCode { .. }
        | Check::Recompute { .. }
        | Check::Performed { .. }) => other,
    }
}

/// Makes a path absolute, relative to `folder` or (with `~`) to `home`, and resolves `.` and `..` without reading the
/// disk. An empty path stays empty, and the validator rejects it.
fn whole_path(path: &str, folder: &str, home: &str) -> String {
    let path = path.trim();
    let joined = match path.strip_prefix('~') {
        _ if path.is_empty() => return String::new(),
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        Some(_) | None => format!("{folder}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Replaces the checks `Recompute` and `Performed`, which only code may build, by their description as prose; other
/// criteria are returned unchanged.
fn without_recompute(criterion: Criterion) -> Criterion {
    match criterion {
        Criterion::Checked { check: Check::Recompute { reading, .. } | Check::Performed { reading, .. }, required } => {
            Criterion::Prose { text: reading, mode: artoo_proto::Mode::Verifiable, required }
        }
        Criterion::Checked { .. } | Criterion::Prose { .. } => criterion,
    }
}

/// Converts a subtask with a recipe to a planned subtask, whose tools are those of the recipe's calls.
pub(super) fn from_recipe(subtask: RecipeSubtask) -> PlannedSubtask {
    let tools: BTreeSet<String> = subtask.recipe.steps.iter().map(|step| step.call.tool.clone()).collect();
    PlannedSubtask {
        intent: subtask.intent,
        context: String::new(),
        sequence: subtask.sequence,
        tools: tools.into_iter().collect(),
        success_criteria: subtask.success_criteria,
        confirm: false,
        recipe: Some(subtask.recipe),
        answers: subtask.answers,
    }
}

/// Marks the subtasks of a model's plan whose outputs answer the user: those of the last group, and of the earlier ones
/// each that is meant for a part of the request that none of the last group is meant for. A plan that does not say what
/// its subtasks are meant for may answer several parts in any group, so that all of them count.
pub(super) fn mark_answers(subtasks: &mut [PlannedSubtask], meets: &[Vec<u32>], reading: &Reading) {
    let last = subtasks.iter().map(|subtask| subtask.sequence).max();
    let of_last = subtasks.iter().zip(meets).filter(|(subtask, _)| Some(subtask.sequence) == last);
    let met: BTreeSet<u32> = of_last.flat_map(|(_, meets)| meets.iter().copied()).collect();
    let is_said = meets.iter().any(|meets| !meets.is_empty());
    let asks = |clause: &&Clause| clause.unread.as_ref().is_none_or(|unread| unread.state != CoverageState::Courtesy);
    let all_count = !is_said && reading.clauses.iter().filter(asks).count() > 1;
    for (subtask, meets) in subtasks.iter_mut().zip(meets) {
        let answers = all_count || Some(subtask.sequence) == last || meets.iter().any(|part| !met.contains(part));
        subtask.answers = answers.then(Vec::new);
    }
}

/// Adds to a subtask's context the user's own words of the parts of the request that it is meant for, and the material
/// that came with the request.
pub(super) fn add_parts(subtask: &mut PlannedSubtask, meets: &[u32], spec: &TaskSpec) {
    let parts = spec.reading.clauses.iter().filter(|clause| meets.contains(&clause.number));
    let words: Vec<&str> = parts.map(|clause| clause.words.as_str()).take(REPLY_ITEMS).collect();
    if !words.is_empty() {
        subtask.context.push_str(&format!("\nIn the user's own words:\n{}", bullets(&words)));
    }
    if let Some(material) = &spec.material {
        let (text, _) = escape::head_tail(material, MATERIAL_CHARS);
        subtask.context.push_str(&format!("\nMaterial that the user gave with the request:\n{text}"));
    }
}
