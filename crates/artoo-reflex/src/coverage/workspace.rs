//! Places new files that a request names without a folder in the workspace instead of the current folder.

use std::path::Path;

use artoo_proto::{Clause, Environment};
use serde_json::Value;

use crate::algebra::{Act, Step, Target};
use crate::eval::FileSystem;
use crate::place::{file_name, parent, resolve};

/// Words that refer to the current folder.
const HERE: [&str; 6] = ["here", "current", "this", "working", "cwd", "pwd"];

/// Words that refer to the home folder, if that is the current folder.
const HOME: [&str; 3] = ["home", "user", "personal"];

/// The steps with new files that were named without a folder moved to the workspace; `None` if there are none.
pub(super) fn in_workspace(
    steps: &[(usize, Step)],
    clauses: &[Clause],
    environment: &Environment,
    fs: &dyn FileSystem,
) -> Option<Vec<(usize, Step)>> {
    let (cwd, workspace) = (&environment.cwd, &environment.workspace);
    if cwd == workspace {
        return None;
    }
    let exists = |path: &str| fs.metadata(Path::new(path)).is_ok();
    let moves: Vec<(String, String)> = steps
        .iter()
        .flat_map(|(at, step)| made(step).into_iter().map(move |path| (*at, path)))
        .filter(|(_, path)| parent(path) == cwd)
        .filter_map(|(at, path)| {
            let name = file_name(path)?;
            let there = format!("{workspace}/{name}");
            let is_bare = clauses.get(at).is_some_and(|clause| is_bare(name, &clause.words, environment));
            (is_bare && !exists(path) && !exists(&there)).then(|| (path.clone(), there))
        })
        .collect();
    if moves.is_empty() {
        return None;
    }
    steps
        .iter()
        .map(|(at, step)| {
            let mut value = serde_json::to_value(step).ok()?;
            replace(&mut value, &moves);
            Some((*at, serde_json::from_value(value).ok()?))
        })
        .collect()
}

/// The paths of files and folders that a step creates.
fn made(step: &Step) -> Vec<&String> {
    let Step::Do(act) = step else { return Vec::new() };
    match act {
        Act::CreateFolder { paths } => paths.iter().collect(),
        Act::CreateFile { path, .. } | Act::Insert { path, .. } | Act::Link { path, .. } => vec![path],
        Act::Save { to, .. } | Act::Replace { to, .. } | Act::Archive { to, .. } => vec![to],
        Act::Run { to: Some(to), .. } | Act::Fetch { to: Some(to), .. } => vec![to],
        Act::Copy { to: Target::As(to), .. } => vec![to],
        _ => Vec::new(),
    }
}

/// Whether a clause names a file without a folder, and no word of the clause refers to the current folder.
fn is_bare(name: &str, words: &str, environment: &Environment) -> bool {
    let mut places = words.match_indices(name).peekable();
    let is_alone = |at: usize| !words.get(..at).is_some_and(|before| before.ends_with('/'));
    let is_named = places.peek().is_some() && places.all(|(at, _)| is_alone(at));
    is_named && !words.split_whitespace().any(|word| says_here(word, environment))
}

/// Whether a word refers to the current folder, such as "here", or by its name or path.
fn says_here(word: &str, environment: &Environment) -> bool {
    let Environment { cwd, home, .. } = environment;
    let plain = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_path = |typed: &str| resolve(typed, environment).is_some_and(|place| place.path == *cwd);
    // "The download folder" refers to a folder named Downloads.
    let is_name = |name: &str| {
        let name = name.to_lowercase();
        plain == name || name.strip_suffix('s') == Some(&plain)
    };
    HERE.contains(&plain.as_str())
        || cwd == home && HOME.contains(&plain.as_str())
        || file_name(cwd).is_some_and(is_name)
        || is_path(word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '~' | '/')))
}

/// Replaces each path of `moves`, and each path below it, in all strings of a JSON value.
fn replace(value: &mut Value, moves: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (from, to) in moves {
                if let Some(rest) =
                    text.strip_prefix(from.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))
                {
                    *text = format!("{to}{rest}");
                    return;
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, moves)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, moves)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
