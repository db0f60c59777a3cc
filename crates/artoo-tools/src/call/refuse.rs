//! Step 2, refuse: a call must not use a blocked tool or a blocked target, whatever the plan said.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, ToolOrder, escape};

use super::{Context, EarlyOutcome};
use crate::command_line;
use crate::config::ToolConfig;
use crate::effects;
use crate::record::Record;
use crate::tool::Request;
use crate::{paths, texts};

/// Denies a tool that is blocked (letter case and blanks at the ends ignored), or that is not exactly one of the
/// allowed.
pub(super) fn tool(order: &ToolOrder) -> Result<(), EarlyOutcome> {
    let tool = order.request.tool.as_str();
    if order.blocked_tools.iter().any(|entry| entry.trim().eq_ignore_ascii_case(tool)) {
        return Err(EarlyOutcome::refused(&format!("the tool {tool} is blocked for this task")));
    }
    if !order.allowed_tools.iter().any(|entry| entry == tool) {
        return Err(EarlyOutcome::refused(&format!("the tool {tool} is not among this subtask's tools")));
    }
    Ok(())
}

/// Denies a call whose target, paths or commands are blocked in the task, in any spelling.
pub(super) fn target(context: &Context, request: &Request) -> Result<(), EarlyOutcome> {
    let blocked = &context.order.blocked_targets;
    if blocked.is_empty() {
        return Ok(());
    }
    let config = &context.machine.config;
    let tool = context.tool_name();
    let mut spellings = BTreeSet::from([single_spaced(&request.target)]);
    let mut places: Vec<PathBuf> = Vec::new();
    for path in &request.effects.paths {
        let real = paths::real(path);
        spellings.extend([paths::line(path), paths::line(&real)]);
        places.extend([path.clone(), real]);
    }
    let is_blocking = |entry: &&String| {
        let entry = entry.strip_prefix(tool).and_then(|rest| rest.strip_prefix(':')).unwrap_or(entry);
        spellings.contains(&single_spaced(entry))
            || blocks_path(&config.environment, entry, &places)
            || is_same_command(config, entry, &request.effects.commands)
    };
    let Some(entry) = blocked.iter().find(is_blocking) else { return Ok(()) };
    let reason = texts::blocked_target(escape::one_line(entry));
    Err(EarlyOutcome::record(Record::denied(&reason).class(request.effects.class)))
}

/// Whether a blocked target that is spelled as a path covers one of these paths; one that ends with `/` covers
/// everything below it.
fn blocks_path(environment: &Environment, entry: &str, places: &[PathBuf]) -> bool {
    if !entry.starts_with(['/', '~']) {
        return false;
    }
    let Ok(path) = paths::absolute(environment, entry.trim()) else { return false };
    let real = paths::real(&path);
    if entry.trim_end().ends_with('/') && path != Path::new("/") {
        return places.iter().any(|place| place.starts_with(&path) || place.starts_with(&real));
    }
    places.iter().any(|place| effects::matches(place, &path) || effects::matches(place, &real))
}

/// Whether a blocked target, read as a command line, has the same commands, spelled with other quotes, links, variables
/// or wrappers.
fn is_same_command(config: &ToolConfig, entry: &str, commands: &[Vec<String>]) -> bool {
    !commands.is_empty() && command_line::read(config, entry).commands == commands
}

/// The text with each run of blanks as one space, and none at the ends.
fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
