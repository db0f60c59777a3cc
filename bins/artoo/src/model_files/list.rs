//! `artoo model list`: what is here, whether it still is what was recorded, which answers, and what could be fetched.

use artoo_llm::files::{self, Entry, Found, Gguf, Model, ModelFolder, Standing};
use serde_json::{Value, json};

use super::{SCHEMA, in_words, memory, sized, vouched};
use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::ModelKind;
use crate::model::file::{self, HAS_ENGINE};
use crate::settings::Settings;

/// A model with what was found out about its file.
struct Seen {
    model: Model,
    standing: Standing,
    /// Whether all of it is as recorded; `None`: not looked at.
    verified: Option<bool>,
    facts: Option<Gguf>,
    is_in_use: bool,
}

/// Shows it.
pub(super) fn run(verify: bool, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let folder = ModelFolder::new(&settings.data_dir);
    let (mut models, mut parts, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for found in folder.list()? {
        match found {
            Found::Model(model) => models.push(seen(*model, verify, settings)),
            Found::Part { name, bytes } => parts.push((name, bytes)),
            Found::Problem(problem) => problems.push(problem.to_string()),
        }
    }
    let memory = memory::bytes();
    let suggested = files::suggested(memory).map(|entry| &entry.name);
    let is_here = |entry: &Entry| models.iter().any(|seen| seen.model.name == entry.name);
    let entries: Vec<&Entry> = files::catalog().iter().filter(|entry| !is_here(entry)).collect();
    if settings.json {
        screen.json(&json!({
            "schema": SCHEMA, "stable": false, "folder": folder.path(), "runs_files": HAS_ENGINE,
            "memory_bytes": memory, "suggested": suggested,
            "models": models.iter().map(of_model).collect::<Vec<_>>(),
            "begun": parts.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect::<Vec<_>>(),
            "problems": problems, "catalog": entries,
        }));
    } else {
        let mut lines = vec![Line::strong(format!("On this machine, in {}:", folder.path().display()))];
        lines.extend(models.iter().flat_map(lines_of_model));
        lines.extend(models.is_empty().then(|| Line::plain("  none")));
        lines.extend(parts.iter().map(|(name, bytes)| {
            Line::plain(format!("  {name}  not whole yet, {} so far; artoo model pull goes on with it", sized(*bytes)))
        }));
        lines.extend(problems.iter().map(Line::warning));
        let memory = memory.map_or_else(|| "is not known".to_owned(), |bytes| format!("is {}", sized(bytes)));
        lines.push(Line::strong(format!("Can be fetched (this machine's memory {memory}):")));
        lines.extend(entries.iter().flat_map(|entry| lines_of_entry(entry, Some(&entry.name) == suggested)));
        if !HAS_ENGINE {
            lines.push(Line::warning(NO_ENGINE));
        }
        screen.answer(&lines);
    }
    let is_sound = models.iter().all(|seen| seen.standing == Standing::Kept && seen.verified != Some(false));
    Ok(if is_sound && problems.is_empty() || !verify { Exit::Accepted } else { Exit::NotAchieved })
}

/// Said wherever a file could be taken for one that answers.
pub(super) const NO_ENGINE: &str = "This build of artoo can't run model files itself; that needs a build with --features local-llm. A server \
     on this machine, such as llama.cpp's, can serve them to it.";

fn seen(model: Model, verify: bool, settings: &Settings) -> Seen {
    let standing = model.standing();
    let verified = (verify && standing != Standing::Gone).then(|| model.verify(&|_| {}).unwrap_or(false));
    let choice = &settings.model;
    let mut all = std::iter::once(&choice.kind).chain(&choice.worker).chain(&choice.fallback);
    let is_in_use = all.any(|kind| match kind {
        ModelKind::File { model: given } => file::find(given, settings).is_ok_and(|chosen| chosen.path == model.path),
        ModelKind::Reflex | ModelKind::Remote { .. } | ModelKind::Cassette { .. } => false,
    });
    Seen { facts: Gguf::read(&model.path).ok(), standing, verified, is_in_use, model }
}

fn lines_of_model(seen: &Seen) -> Vec<Line> {
    let Model { name, path, record } = &seen.model;
    let in_use = if seen.is_in_use { "  (in use)" } else { "" };
    let facts = seen.facts.as_ref().map(|facts| format!("  {}", in_words(facts))).unwrap_or_default();
    let mut lines = vec![Line::strong(format!("  {name}  {}{facts}{in_use}", sized(record.bytes)))];
    let place = record.path.as_ref().map(|_| format!(", used where it lies: {}", path.display())).unwrap_or_default();
    let state = match (seen.standing, seen.verified) {
        (Standing::Gone, _) => Err("the file is gone"),
        (_, Some(false)) => Err("its content is not what was recorded; fetch it again, or record it anew"),
        (Standing::Changed, _) => Err("it has changed since it was recorded; fetch it again, or record it anew"),
        (Standing::Kept, Some(true)) => Ok("all of it read, and as recorded"),
        (Standing::Kept, None) => Ok("size and time are as recorded"),
    };
    lines.push(match state {
        Ok(state) => Line::plain(format!("      {state}; {}{place}", vouched(record))),
        Err(problem) => Line::warning(format!("      {problem}{place}")),
    });
    let licence = record.licence.as_ref().map(|licence| format!(", licence {licence}")).unwrap_or_default();
    lines.push(Line::faint(format!("      from {} on {}{licence}", record.from, record.at)));
    lines
}

fn lines_of_entry(entry: &Entry, is_suggested: bool) -> Vec<Line> {
    let suggested = if is_suggested { "  (suggested for this machine)" } else { "" };
    let head = format!("  {}  {}  {}{suggested}", entry.name, entry.title, sized(entry.to_come()));
    let vouched = match (&entry.sha256, &entry.checked) {
        (Some(_), Some(checked)) => format!("its sha256: {checked}"),
        (Some(_), None) => "its sha256 is pinned".to_owned(),
        (None, _) => "nothing vouches for it yet: the first sha256 that comes is kept".to_owned(),
    };
    vec![
        Line::strong(head),
        Line::plain(format!("      for {}", entry.good_for)),
        Line::faint(format!("      wants {} GB of memory; licence {}; {vouched}", entry.memory_gb, entry.licence)),
    ]
}

fn of_model(seen: &Seen) -> Value {
    let Model { name, path, record } = &seen.model;
    json!({
        "name": name, "path": path, "in_place": record.path.is_some(), "bytes": record.bytes, "sha256": record.sha256,
        "vouched": record.vouched, "from": record.from, "at": record.at, "licence": record.licence,
        "standing": seen.standing, "verified": seen.verified, "in_use": seen.is_in_use,
        "facts": seen.facts
    })
}
