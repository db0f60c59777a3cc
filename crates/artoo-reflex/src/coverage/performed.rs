//! Checks after an act that exactly the requested changes were made.
//!
//! The disk before the act is reconstructed from the records. The act is simulated on it, and the result is compared
//! with the records and with the current disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, CoverageState, FOLDER, Timestamp, ToolCall};
use serde_json::Value;

use super::compare::{self, StepResult};
use super::overlay::{Content, ModeRule, Overlay, PathState, shown};
use super::records::{Records, content, path};
use super::report::RequestedChanges;
use super::simulate::{Expectation, Simulation, Simulator, paths};
use crate::algebra::{Act, NameChange, Pred, Query};
use crate::ensure::ensure;
use crate::eval::{Answer, Entry, EntryKind, EvalError, FileSystem, FileSystemError, Verification};
use crate::eval::{digest, evaluate, rename, text, verify};

/// The JSON key under which an act has the contents of files before it, by path.
pub(crate) const HELD: &str = "held";

/// Contents of files before an act, by path. A content is used only if its digest is that of the recorded change.
type Held = BTreeMap<PathBuf, String>;

/// Checks that an act was performed as requested, and that nothing else was changed.
///
/// `calls` are all tool calls made for the act: the listings of the selection and the calls of `files` with their
/// recorded changes. The selection is computed again on the reconstructed disk; of deleted files only the names are
/// known.
#[must_use]
pub fn performed(act: &Value, calls: &[ToolCall], fs: &dyn FileSystem) -> Verification {
    let held: Held = act.get(HELD).and_then(|held| serde_json::from_value(held.clone()).ok()).unwrap_or_default();
    let Ok(act) = serde_json::from_value::<Act>(act.clone()) else {
        return Verification::fail("the check holds no act");
    };
    check(&act, &held, calls, fs).map_or_else(Verification::fail, Verification::pass)
}

/// Compares the recorded changes of an act with its simulation; returns the evidence, or why they differ.
fn check(act: &Act, held: &Held, calls: &[ToolCall], fs: &dyn FileSystem) -> Result<String, String> {
    let listed = listed(calls)?;
    let records = Records::of(calls, fs);
    let real: Vec<PathBuf> = listed.iter().map(|path| fs.real(path)).collect();
    let modified = |path: &Path| match act {
        Act::Rename { change: change @ NameChange::Template(_), .. } => day(path, change, &real, &records),
        _ => None,
    };
    let start = before(&records, held, &BTreeMap::new(), &modified);
    let mut simulator = Simulator::of(&start, BTreeMap::new());
    simulator.disk.is_limited = false;
    simulator.chosen = Some(&real);
    let row = match act {
        Act::Replace { path, find, with, to } => {
            let content = text::content(Path::new(path), fs).map_err(unreadable)?;
            let replaced = text::replace(&content, find.as_bytes(), with.as_bytes());
            paths(simulator.new_text(to, vec![replaced])?)
        }
        act => simulator.act(act)?,
    };
    let Simulator { disk: Overlay { mut nodes, .. }, moved, .. } = simulator;
    for node in nodes.values_mut() {
        if !matches!(act, Act::SetMode { .. }) {
            node.mode = ModeRule::Any;
        }
        if let Content::OneOf(texts) = &mut node.content {
            texts.truncate(1);
        }
    }
    let result = match row {
        Expectation::Paths(paths, _) => compare::paths(&paths, None, &nodes, &records, &|_| false, false),
        Expectation::Nothing(why) => StepResult::shown(Vec::new(), why),
        _ => StepResult::not_shown("no recipe carries this out"),
    };
    ensure(result.state == CoverageState::Shown, || result.why.clone())?;
    let mut requested = RequestedChanges::default();
    requested.add(&Simulation { nodes, rows: Vec::new() }, &[]);
    if let Some(other) = requested.unrequested(&records).0.iter().find(|other| !other.path.is_empty()) {
        return Err(format!("{} was {}, which was not asked for", other.path, other.change));
    }
    let evidence = format!("looked again: {}; nothing else was changed", result.why);
    Ok(match (act, act.selection()) {
        (Act::Delete { of }, _) => evidence + deleted(of, &listed, &start, fs)?,
        (_, Some(of)) => {
            let query = serde_json::to_value(of).map_err(|problem| problem.to_string())?;
            let lines: String = listed.iter().map(|path| shown(path) + "\n").collect();
            let found = verify(&query, &lines, &before(&records, held, &moved, &modified));
            ensure(found.pass, || format!("the selection, computed again: {}", found.evidence))?;
            evidence + "; it is what was selected"
        }
        (_, None) => evidence,
    })
}

/// The message for a query that can't be evaluated.
fn unreadable(problem: EvalError) -> String {
    format!("could not be read again: {problem}")
}

/// The paths that calls listed and a later call acted on; an error if the calls are not those of one act.
fn listed(calls: &[ToolCall]) -> Result<Vec<PathBuf>, String> {
    let (mut listed, mut changed, mut listings, mut acts) = (Vec::new(), BTreeSet::new(), Vec::new(), 0);
    for call in calls {
        ensure(call.status == CallStatus::Ok, || format!("a call of {} did not succeed", call.tool))?;
        if call.tool != "files" {
            ensure(call.changed.is_empty(), || format!("a call of {} changed something", call.tool))?;
            listings.push(call);
            continue;
        }
        acts += 1;
        // An act on given paths has no listing.
        let listings = std::mem::take(&mut listings);
        if let Some(acted_on) = call.input.get("paths").filter(|_| !listings.is_empty()) {
            let lines = listings.iter().flat_map(|listing| listing.output.lines());
            let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            let is_whole = listings.iter().all(|listing| !listing.truncated);
            ensure(is_whole && *acted_on == Value::from(lines.clone()), || {
                "what was acted on is not what was listed".to_owned()
            })?;
            listed.extend(lines.into_iter().map(path));
        }
        if let Some(change) = call.changed.iter().find(|change| !changed.insert(&change.path)) {
            return Err(format!("{} was changed twice", change.path));
        }
    }
    if acts == 0 { Err("no call did it".to_owned()) } else { Ok(listed) }
}

/// The disk before the act, reconstructed from the records. `moved` has the new paths of moved entries, whose metadata
/// is still readable; of other removed entries only path and kind are known, and the modification time if `modified`
/// returns it.
fn before<'a>(
    records: &Records<'a>,
    held: &Held,
    moved: &BTreeMap<PathBuf, PathBuf>,
    modified: &dyn Fn(&Path) -> Option<Timestamp>,
) -> Overlay<'a> {
    let node = |path: &PathBuf, now, content| {
        (path.clone(), PathState { was: None, digest: None, now, content, mode: ModeRule::Any })
    };
    let nodes = records.touched.iter().filter_map(|(path, change)| match (change.before.as_deref(), &change.after) {
        (None, _) => Some(node(path, None, Content::None)),
        (Some(state), None) => {
            let kind = match content(state) {
                FOLDER => EntryKind::Folder,
                state if state.starts_with("link to ") => EntryKind::Link,
                _ => EntryKind::File,
            };
            let at = moved.get(path).and_then(|at| records.fs.metadata(at).ok());
            let unknown = Entry { kind, modified: modified(path).unwrap_or_default(), ..Entry::default() };
            let content = match &at {
                _ if kind == EntryKind::Folder => Content::None,
                Some(at) => Content::Original(at.path.clone()),
                None => Content::Any,
            };
            Some(node(path, Some(Entry { path: path.clone(), ..at.unwrap_or(unknown) }), content))
        }
        (Some(state), Some(_)) => {
            let mode = state.split_once(" mode ").and_then(|(_, mode)| u32::from_str_radix(mode.get(..4)?, 8).ok());
            let is = records.fs.metadata(path).ok()?;
            let was = Entry { mode: mode.unwrap_or(is.mode), ..is };
            let text = held.get(path).filter(|text| digest::of_bytes(text.as_bytes()) == content(state));
            let content =
                text.map_or(Content::Original(path.clone()), |text| Content::OneOf(vec![text.as_bytes().to_vec()]));
            (mode.is_some() || text.is_some()).then(|| node(path, Some(was), content))
        }
    });
    let mut disk = Overlay::new(records.fs, nodes.collect());
    disk.is_limited = false;
    disk
}

/// The modification time of a renamed file, read from the new file whose name `change` makes of the old one.
fn day(path: &Path, change: &NameChange, listed: &[PathBuf], records: &Records<'_>) -> Option<Timestamp> {
    let position = listed.iter().position(|listed| listed == path)? + 1;
    let name = path.file_name()?.to_str()?;
    let made = records.touched.keys().filter(|made| made.parent() == path.parent());
    let times = made.filter_map(|made| Some((made, records.fs.metadata(made).ok()?.modified)));
    let is_named = |made: &Path, modified| {
        let new = rename::new_name(change, name, modified, position);
        new.is_some_and(|new| made.file_name().is_some_and(|made| *made == *new))
    };
    times.into_iter().find(|(made, modified)| is_named(made, *modified)).map(|(_, modified)| modified)
}

/// Checks that the query selects the deleted paths by their names, and selects no remaining file.
fn deleted(of: &Query, listed: &[PathBuf], before: &Overlay<'_>, fs: &dyn FileSystem) -> Result<&'static str, String> {
    let files = |query: &Query, fs: &dyn FileSystem| match evaluate(query, fs) {
        Ok(Answer::Files(files)) => Ok(files),
        // A removed folder has no matching files.
        Err(EvalError::Unreadable { source: FileSystemError::NotFound, .. }) => Ok(Vec::new()),
        Ok(_) => Err("it selects no files".to_owned()),
        Err(problem) => Err(unreadable(problem)),
    };
    let fitting = files(&by_known_conditions(of), before)?;
    let fitting: BTreeSet<&Path> = fitting.iter().map(|entry| entry.path.as_path()).collect();
    if let Some(path) = listed.iter().find(|path| !fitting.contains(path.as_path())) {
        return Err(format!("{} does not belong to what was to be deleted", shown(path)));
    }
    if has_limit(of) {
        return Ok("; their order can't be computed any more");
    }
    // Deleted files are moved to a trash folder, which may be below the searched folder.
    let is_trashed = |entry: &&Entry| {
        let folders: Vec<&Path> = entry.path.ancestors().collect();
        folders.windows(2).any(|pair| matches!(pair, [below, at] if below.ends_with("files") && is_trash(at)))
    };
    // A folder may be empty only because its files were deleted.
    let was_above = |entry: &&Entry| listed.iter().any(|path| path != &entry.path && path.starts_with(&entry.path));
    match files(of, fs)?.iter().find(|entry| !is_trashed(entry) && !was_above(entry)) {
        Some(entry) => Err(format!("{} was to be deleted too and is still there", entry.shown())),
        None => Ok("; nothing of what was asked for is left"),
    }
}

/// Whether a folder has the name of a trash folder.
fn is_trash(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name == "Trash" || name.starts_with(".Trash")
}

/// Whether the query limits the number of elements.
fn has_limit(query: &Query) -> bool {
    matches!(query, Query::Limit { .. }) || query.operand().is_some_and(has_limit)
}

/// The query without limit and order and with only its conditions on names, which can be tested on deleted files.
fn by_known_conditions(query: &Query) -> Query {
    match query {
        Query::Limit { of, .. } | Query::Sort { of, .. } => by_known_conditions(of),
        Query::Filter { of, keep } => {
            Query::Filter { of: Box::new(by_known_conditions(of)), keep: name_conditions(&keep.clone().normalise()) }
        }
        other => other.clone(),
    }
}

/// The predicate with every condition that is not on a name replaced by one that always holds.
fn name_conditions(pred: &Pred) -> Pred {
    let is_of_name = |pred: &Pred| matches!(pred, Pred::Name(_) | Pred::Extension(_) | Pred::Below(_));
    match pred {
        Pred::All(parts) => Pred::All(parts.iter().map(name_conditions).collect()),
        Pred::Any(parts) => Pred::Any(parts.iter().map(name_conditions).collect()),
        Pred::Not(inner) if is_of_name(inner) => pred.clone(),
        leaf if is_of_name(leaf) => leaf.clone(),
        _ => Pred::All(Vec::new()),
    }
}
