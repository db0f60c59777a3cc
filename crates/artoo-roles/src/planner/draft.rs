//! From what a model or the embedded parser wrote to planned subtasks; nothing is judged here.

use std::collections::BTreeSet;

use artoo_proto::{Check, Criterion, Environment, PlannedSubtask, RecipeSubtask, SubtaskDraft};

/// A draft as a planned subtask; nothing is checked yet.
pub(super) fn planned(draft: SubtaskDraft, environment: &Environment) -> PlannedSubtask {
    PlannedSubtask {
        intent: draft.intent,
        context: draft.context,
        sequence: draft.sequence,
        tools: draft.tools,
        success_criteria: criteria(draft.success_criteria, environment),
        confirm: false,
        recipe: None,
    }
}

/// A model's criteria with whole paths, so that the file a check names, the file it reads and the file a call is
/// recorded to have changed are compared under one name.
pub(super) fn criteria(drafted: Vec<Criterion>, environment: &Environment) -> Vec<Criterion> {
    let resolved = |criterion: Criterion| match without_recompute(criterion) {
        Criterion::Checked { check, required } => {
            Criterion::Checked { check: with_whole_path(check, environment), required }
        }
        prose @ Criterion::Prose { .. } => prose,
    };
    drafted.into_iter().map(resolved).collect()
}

fn with_whole_path(check: Check, environment: &Environment) -> Check {
    // New files go into the workspace; a folder or file to be counted is looked for where the user stands.
    let written = |path: String| whole_path(&path, &environment.workspace, &environment.home);
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

/// A path from the root, `.` and `..` resolved by their letters; an empty one stays empty, to be refused.
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

/// Only code builds recomputation queries; a model's becomes the prose it would have hidden behind.
fn without_recompute(criterion: Criterion) -> Criterion {
    match criterion {
        Criterion::Checked { check: Check::Recompute { reading, .. } | Check::Performed { reading, .. }, required } => {
            Criterion::Prose { text: reading, mode: artoo_proto::Mode::Verifiable, required }
        }
        Criterion::Checked { .. } | Criterion::Prose { .. } => criterion,
    }
}

/// A recipe's subtask as a planned one: its tools are those its calls name.
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
    }
}
