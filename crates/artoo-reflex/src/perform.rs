//! Turns acts into tool calls: calls that list the selected files, then a call of `files` for exactly these paths.

use artoo_proto::{RecipeStep, ToolRequest, escape};
use serde_json::{Value, json};

use crate::algebra::{Act, ModeChange, NameChange, Query, Target};
use crate::coverage::{Written, written};
use crate::ensure::ensure;
use crate::eval::{Answer, FileSystem, digest, evaluate};
use crate::lower::{Unsupported, typed};
use crate::place::parent;

/// The tool calls that carry out an act, in order.
///
/// The files are listed only by `glob`, whose output names every path unambiguously. What an edit writes is computed
/// from the content that `fs` shows.
///
/// # Errors
/// `Unsupported` if `glob` can't list the selection, or the `files` tool can't do exactly this.
pub fn perform(act: &Act, fs: &dyn FileSystem) -> Result<Vec<RecipeStep>, Unsupported> {
    match act {
        Act::Insert { .. } | Act::Save { .. } | Act::SetValue { .. } => {
            let Written { path, before, after } = written(act, fs).map_err(Unsupported::Edit)?;
            let input = match before {
                None => json!({ "act": "create_file", "to": path, "text": after }),
                Some(before) => {
                    let before = digest::of_bytes(before.as_bytes());
                    json!({ "act": "write", "to": path, "text": after, "before": before })
                }
            };
            Ok(vec![step(input, None)])
        }
        Act::SetMode { of, mode } => {
            let mode = match mode {
                ModeChange::Bits(bits) => format!("{bits:04o}"),
                ModeChange::Added(bits) => format!("+{bits:04o}"),
                ModeChange::Removed(bits) => format!("-{bits:04o}"),
                ModeChange::Executable => "executable".to_owned(),
                ModeChange::NotExecutable => "not_executable".to_owned(),
                ModeChange::ReadOnly => "read_only".to_owned(),
            };
            over(of, fs, json!({ "act": "set_mode", "mode": mode }), false)
        }
        Act::Link { target, path } => Ok(vec![step(json!({ "act": "link", "to": path, "target": target }), None)]),
        Act::CreateFolder { paths } => {
            let make = |path: &String| step(json!({ "act": "create_folder", "to": path }), None);
            Ok(paths.iter().map(make).collect())
        }
        Act::CreateFile { path, text } => {
            Ok(vec![step(json!({ "act": "create_file", "to": path, "text": text }), None)])
        }
        Act::Replace { path, find, with, to } => {
            let path = escape::path_line(path.as_bytes());
            let input = json!({ "act": "replace", "paths": [path], "find": find, "with": with, "to": to });
            Ok(vec![step(input, None)])
        }
        Act::Copy { of, to } => over(of, fs, json!({ "act": "copy", "to": target(to) }), false),
        Act::Move { of, to } => over(of, fs, json!({ "act": "move", "to": target(to) }), false),
        Act::Rename { of, change } => over(of, fs, rename(change)?, true),
        Act::Archive { of, to } => over(of, fs, json!({ "act": "archive", "to": to }), true),
        Act::Extract { of, to } => over(of, fs, json!({ "act": "extract", "to": to }), false),
        Act::Delete { of } => over(of, fs, json!({ "act": "delete" }), false),
        _ => Err(Unsupported::Arrangement("this change needs a language model to carry it out")),
    }
}

/// The destination as the `files` tool expects it: the path of a folder ends in a slash.
fn target(to: &Target) -> String {
    match to {
        Target::Into(folder) => format!("{}/", folder.trim_end_matches('/')),
        Target::As(path) => path.clone(),
    }
}

/// The tool calls that list a selection, folder by folder, and act on all its files together; an error if `at_once` and
/// they lie in several folders.
fn over(of: &Query, fs: &dyn FileSystem, input: Value, at_once: bool) -> Result<Vec<RecipeStep>, Unsupported> {
    let mut steps = Vec::new();
    for selection in by_folder(&listable(of, fs)?, at_once)? {
        let call = typed::call(&selection)?;
        ensure(call.tool == "glob", || Unsupported::Arrangement("an act on what is no file"))?;
        steps.push(RecipeStep { call, answers: false, paths_from: None });
    }
    steps.push(step(input, Some(0)));
    Ok(steps)
}

/// The selection as `glob` can list it: as it is, else its elements one by one.
fn listable(of: &Query, fs: &dyn FileSystem) -> Result<Query, Unsupported> {
    /// Maximum number of elements that are listed one by one.
    const MAX_LISTED: usize = 500;
    let unsupported = match typed::call(of) {
        Err(problem) if !matches!(of.source(), Query::Paths { .. }) => problem,
        _ => return Ok(of.clone()),
    };
    let Ok(Answer::Files(files)) = evaluate(of, fs) else { return Err(unsupported) };
    let paths: Option<Vec<String>> = files.iter().map(|file| Some(file.path.to_str()?.to_owned())).collect();
    let paths = paths.filter(|paths| (1..=MAX_LISTED).contains(&paths.len())).ok_or(unsupported)?;
    Ok(Query::Paths { paths, kind: of.kind() })
}

/// Splits files listed by path into one query per folder; an error if `at_once` and there are several folders.
fn by_folder(of: &Query, at_once: bool) -> Result<Vec<Query>, Unsupported> {
    let Query::Paths { paths, kind } = of else { return Ok(vec![of.clone()]) };
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for path in paths {
        match groups.iter_mut().find(|(folder, _)| *folder == parent(path)) {
            Some((_, group)) => group.push(path.clone()),
            None => groups.push((parent(path), vec![path.clone()])),
        }
    }
    ensure(!at_once || groups.len() <= 1, || Unsupported::Arrangement("this act on things in several folders"))?;
    Ok(groups.into_iter().map(|(_, paths)| Query::Paths { paths, kind: *kind }).collect())
}

/// The input of the tool `files` for a change of names.
fn rename(change: &NameChange) -> Result<Value, Unsupported> {
    let plain = |text: &str| match text.contains(['{', '}']) {
        true => Err(Unsupported::Predicate("a name with braces")),
        false => Ok(text.to_owned()),
    };
    let template = match change {
        NameChange::To(name) => plain(name)?,
        NameChange::Template(template) => template.clone(),
        NameChange::Extension(extension) => format!("{{stem}}.{}", plain(extension)?),
        NameChange::Prefix(text) => format!("{}{{name}}", plain(text)?),
        NameChange::Suffix(text) => format!("{{stem}}{}.{{ext}}", plain(text)?),
        NameChange::LowerCase => "{name|lower}".to_owned(),
        NameChange::UpperCase => "{name|upper}".to_owned(),
        NameChange::Replace { find, with } => {
            return Ok(json!({ "act": "rename", "find": find, "with": with }));
        }
    };
    Ok(json!({ "act": "rename", "template": template }))
}

/// A call of the tool `files`; `paths_from` is the number of the first step whose output lists the files.
fn step(input: Value, paths_from: Option<usize>) -> RecipeStep {
    RecipeStep { call: ToolRequest { tool: "files".to_owned(), input }, answers: true, paths_from }
}
