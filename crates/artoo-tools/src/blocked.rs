//! MUST NOT at the hand: which tools and targets a call may not use, whatever a plan said.

mod named;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use globset::GlobBuilder;

use crate::config::ToolConfig;
use crate::paths;

pub(crate) use named::{Named, is_pattern, named};

/// What a call would act on, in every form it may have been blocked under.
#[derive(Debug, Clone, Default)]
pub(crate) struct Touched {
    /// The target as the record shows it.
    pub(crate) target: String,
    /// Paths the call would use, absolute; a pattern stands for what it matches.
    pub(crate) paths: Vec<PathBuf>,
    /// What a command line consists of, however it is spelled; empty for other tools.
    pub(crate) commands: Vec<Vec<String>>,
}

/// Why the tool may not be called, if so. A plan may not widen a block by spelling, so blocks ignore case and blanks.
pub(crate) fn tool_refusal(tool: &str, allowed: &[String], blocked: &[String]) -> Option<String> {
    if blocked.iter().any(|entry| entry.trim().eq_ignore_ascii_case(tool)) {
        return Some(format!("the tool {tool} is blocked for this task"));
    }
    if !allowed.iter().any(|entry| entry == tool) {
        return Some(format!("the tool {tool} is not among this subtask's tools"));
    }
    None
}

/// Why the target may not be used, if so.
pub(crate) fn target_refusal(config: &ToolConfig, tool: &str, touched: &Touched, blocked: &[String]) -> Option<String> {
    if blocked.is_empty() {
        return None;
    }
    let mut forms = BTreeSet::from([single_spaced(&touched.target)]);
    let mut places: Vec<PathBuf> = Vec::new();
    for path in &touched.paths {
        let real = paths::real(path);
        forms.extend([paths::line(path), paths::line(&real)]);
        places.extend([path.clone(), real]);
    }
    let hit = blocked.iter().find(|entry| {
        let entry = entry.strip_prefix(tool).and_then(|rest| rest.strip_prefix(':')).unwrap_or(entry);
        is_hit(&config.environment, entry, &forms, &places) || is_same_command(config, entry, &touched.commands)
    })?;
    Some(format!("the target {} is blocked for this task", artoo_proto::escape::one_line(hit)))
}

fn is_hit(environment: &Environment, entry: &str, forms: &BTreeSet<String>, places: &[PathBuf]) -> bool {
    if forms.contains(&single_spaced(entry)) {
        return true;
    }
    // Only what is spelled as a path is resolved as one; a blocked command is no path of the working folder.
    if !entry.starts_with(['/', '~']) {
        return false;
    }
    let Ok(path) = paths::absolute(environment, entry.trim()) else { return false };
    let real = paths::real(&path);
    if entry.trim_end().ends_with('/') && path != Path::new("/") {
        return places.iter().any(|place| place.starts_with(&path) || place.starts_with(&real));
    }
    places.iter().any(|place| is_at(place, &path) || is_at(place, &real))
}

/// Whether the place is this path, or a pattern that matches it.
pub(crate) fn is_at(place: &Path, path: &Path) -> bool {
    let Some(pattern) = place.to_str().filter(|text| is_pattern(text)) else { return place == path };
    place == path
        || GlobBuilder::new(pattern).literal_separator(true).build().is_ok_and(|glob| {
            let matcher = glob.compile_matcher();
            matcher.is_match(path)
        })
}

/// Quotes, `./`, links, variables and wrappers do not make another command of it.
fn is_same_command(config: &ToolConfig, entry: &str, commands: &[Vec<String>]) -> bool {
    !commands.is_empty() && named(config, entry).commands == commands
}

/// Runs of blanks as one space, none at the ends: `ls  -l ` is the command `ls -l`.
pub(crate) fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
