//! Checks after an act that the disk shows what was asked for, and nothing else.
//!
//! The records say what the disk held before the act, as far as the check needs it. The act is simulated on that, and
//! the result is compared with the records and with the disk as it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, CoverageState, FOLDER, Timestamp, ToolCall};
use serde_json::Value;

use super::compare::{self, Looked};
use super::cover::Claims;
use super::net::{Found, content, path};
use super::overlay::{Content, ModeRule, Node, Overlay, shown};
use super::simulate::{Expect, Simulation, Simulator, paths};
use crate::algebra::{Act, NameChange, Pred, Query};
use crate::eval::{Answer, Entry, EntryKind, EvalError, FileSystem, FileSystemError, Verification};
use crate::eval::{evaluate, rename, text, verify};

/// Checks that an act was performed as asked, and that nothing else was changed.
///
/// `calls` are all tool calls made for the act: the listings of the selection and the calls of `files` with their
/// recorded changes. The disk is read again. The selection is computed again on the disk as it was before; of deleted
/// files only the names are known.
#[must_use]
pub fn performed(act: &Value, calls: &[ToolCall], fs: &dyn FileSystem) -> Verification {
    let Ok(act) = serde_json::from_value::<Act>(act.clone()) else {
        return Verification::fail("the check holds no act");
    };
    check(&act, calls, fs).map_or_else(Verification::fail, Verification::pass)
}

/// Compares the recorded changes of an act with its simulation; returns the evidence, or why they differ.
fn check(act: &Act, calls: &[ToolCall], fs: &dyn FileSystem) -> Result<String, String> {
    let listed = listed(calls)?;
    let found = Found::of(calls, fs);
    let real: Vec<PathBuf> = listed.iter().map(|path| fs.real(path)).collect();
    let modified = |path: &Path| {
        if let Act::Rename { change: change @ NameChange::Template(_), .. } = act {
            day(path, change, &real, &found)
        } else {
            None
        }
    };
    let start = before(&found, &BTreeMap::new(), &modified);
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
        node.mode = ModeRule::Any;
        if let Content::OneOf(texts) = &mut node.content {
            texts.truncate(1);
        }
    }
    let looked = match row {
        Expect::Paths(paths, _) => compare::paths(&paths, None, &nodes, &found, &|_| false, false),
        Expect::Nothing(why) => Looked::shown(Vec::new(), why),
        _ => Looked::not_shown("no recipe carries this out"),
    };
    if looked.state != CoverageState::Shown {
        return Err(looked.why);
    }
    let mut claims = Claims::default();
    claims.add(&Simulation { nodes, rows: Vec::new() }, &[]);
    if let Some(other) = claims.others(&found).0.iter().find(|other| !other.path.is_empty()) {
        return Err(format!("{} was {}, which was not asked for", other.path, other.change));
    }
    let evidence = format!("looked again: {}; nothing else was changed", looked.why);
    Ok(match (act, act.selection()) {
        (Act::Delete { of }, _) => evidence + deleted(of, &listed, &start, fs)?,
        (_, Some(of)) => {
            let query = serde_json::to_value(of).map_err(|problem| problem.to_string())?;
            let lines: String = listed.iter().map(|path| shown(path) + "\n").collect();
            let found = verify(&query, &lines, &before(&found, &moved, &modified));
            if !found.pass {
                return Err(format!("the selection, computed again: {}", found.evidence));
            }
            evidence + "; it is what was selected"
        }
        (_, None) => evidence,
    })
}

fn unreadable(problem: EvalError) -> String {
    format!("could not be read again: {problem}")
}

/// The paths that were listed and then acted on; an error if the calls are not those of one act.
fn listed(calls: &[ToolCall]) -> Result<Vec<PathBuf>, String> {
    let (mut listed, mut changed, mut listing, mut acts) = (Vec::new(), BTreeSet::new(), None, 0);
    for call in calls {
        if call.status != CallStatus::Ok {
            return Err(format!("a call of {} did not succeed", call.tool));
        }
        if call.tool != "files" {
            if !call.changed.is_empty() {
                return Err(format!("a call of {} changed something", call.tool));
            }
            listing = Some(call);
            continue;
        }
        acts += 1;
        // An act that names its path itself has no listing.
        if let (Some(listing), Some(acted_on)) = (listing.take(), call.input.get("paths")) {
            let lines: Vec<&str> = listing.output.lines().filter(|line| !line.is_empty()).collect();
            if listing.truncated || *acted_on != Value::from(lines.clone()) {
                return Err("what was acted on is not what was listed".to_owned());
            }
            listed.extend(lines.into_iter().map(path));
        }
        if let Some(change) = call.changed.iter().find(|change| !changed.insert(&change.path)) {
            return Err(format!("{} was changed twice", change.path));
        }
    }
    if acts == 0 { Err("no call did it".to_owned()) } else { Ok(listed) }
}

/// The disk before the act, as far as it was recorded. `moved` has the new paths of moved entries, which still show
/// their facts; of other removed entries only path and kind are known, and the time of the last change if `modified`
/// tells it.
fn before<'a>(
    found: &Found<'a>,
    moved: &BTreeMap<PathBuf, PathBuf>,
    modified: &dyn Fn(&Path) -> Option<Timestamp>,
) -> Overlay<'a> {
    let node = |path: &PathBuf, now, content| {
        (path.clone(), Node { was: None, digest: None, now, content, mode: ModeRule::Any })
    };
    let nodes = found.touched.iter().filter_map(|(path, change)| match (change.before.as_deref(), &change.after) {
        (None, _) => Some(node(path, None, Content::None)),
        (Some(state), None) => {
            let kind = match content(state) {
                FOLDER => EntryKind::Folder,
                state if state.starts_with("link to ") => EntryKind::Link,
                _ => EntryKind::File,
            };
            let at = moved.get(path).and_then(|at| found.fs.metadata(at).ok());
            let unknown = Entry { kind, modified: modified(path).unwrap_or_default(), ..Entry::default() };
            let content = match &at {
                _ if kind == EntryKind::Folder => Content::None,
                Some(at) => Content::Original(at.path.clone()),
                None => Content::Any,
            };
            Some(node(path, Some(Entry { path: path.clone(), ..at.unwrap_or(unknown) }), content))
        }
        (Some(_), Some(_)) => None,
    });
    let mut disk = Overlay::new(found.fs, nodes.collect());
    disk.is_limited = false;
    disk
}

/// The time of the last change of a renamed file: that of the new file beside it whose name the change gives.
fn day(path: &Path, change: &NameChange, listed: &[PathBuf], found: &Found<'_>) -> Option<Timestamp> {
    let position = listed.iter().position(|listed| listed == path)? + 1;
    let name = path.file_name()?.to_str()?;
    let made = found.touched.keys().filter(|made| made.parent() == path.parent());
    let times = made.filter_map(|made| Some((made, found.fs.metadata(made).ok()?.modified)));
    let is_named = |made: &Path, modified| {
        let new = rename::new_name(change, name, modified, position);
        new.is_some_and(|new| made.file_name().is_some_and(|made| *made == *new))
    };
    times.into_iter().find(|(made, modified)| is_named(made, *modified)).map(|(_, modified)| modified)
}

/// Checks that the deleted paths have the names that the query asks for, and that nothing it selects is left.
fn deleted(of: &Query, listed: &[PathBuf], before: &Overlay<'_>, fs: &dyn FileSystem) -> Result<&'static str, String> {
    let files = |query: &Query, fs: &dyn FileSystem| match evaluate(query, fs) {
        Ok(Answer::Files(files)) => Ok(files),
        // A folder that was removed holds no matching files.
        Err(EvalError::Unreadable { source: FileSystemError::NotFound, .. }) => Ok(Vec::new()),
        Ok(_) => Err("it selects no files".to_owned()),
        Err(problem) => Err(unreadable(problem)),
    };
    let fitting = files(&by_known_conditions(of), before)?;
    let fitting: BTreeSet<&Path> = fitting.iter().map(|entry| entry.path.as_path()).collect();
    if let Some(path) = listed.iter().find(|path| !fitting.contains(path.as_path())) {
        return Err(format!("{} does not belong to what was to be deleted", shown(path)));
    }
    if has_stretch(of) {
        return Ok("; their order can't be computed any more");
    }
    match files(of, fs)?.first() {
        Some(entry) => Err(format!("{} was to be deleted too and is still there", entry.shown())),
        None => Ok("; nothing of what was asked for is left"),
    }
}

/// Whether the query limits the number of elements.
fn has_stretch(query: &Query) -> bool {
    matches!(query, Query::Limit { .. }) || query.operand().is_some_and(has_stretch)
}

/// The query with only those conditions that can be tested on deleted files: those on paths and names.
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
    match pred {
        Pred::All(parts) => Pred::All(parts.iter().map(name_conditions).collect()),
        Pred::Any(parts) => Pred::Any(parts.iter().map(name_conditions).collect()),
        Pred::Not(inner) if matches!(**inner, Pred::Name(_) | Pred::Extension(_) | Pred::Below(_)) => pred.clone(),
        Pred::Name(_) | Pred::Extension(_) | Pred::Below(_) => pred.clone(),
        _ => Pred::All(Vec::new()),
    }
}
