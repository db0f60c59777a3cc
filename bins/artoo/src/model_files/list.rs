//! `artoo model list`: the installed models with their state, and the catalog.

use artoo_llm::files::{self, Checksum, Entry, FileState, Found, Gguf, Model, ModelFolder};
use artoo_proto::units;
use serde_json::{Value, json};

use super::{SCHEMA, describe, memory};
use crate::model::ModelKind;
use crate::model::file::{self, HAS_ENGINE};
use crate::{Exit, Failure, Line, Screen, Settings};

/// Message that this build can't run model files.
pub(super) const NO_ENGINE: &str = "This build of artoo can't run model files itself; that needs a build with --features local-llm. A server \
     on this machine, such as llama.cpp's, can serve them to it.";

/// An installed model with the state of its file, as `artoo model list` shows it.
struct Installed {
    model: Model,
    state: FileState,
    /// Whether the content has the recorded checksum; `None` if it was not read.
    verified: Option<bool>,
    gguf: Option<Gguf>,
    is_in_use: bool,
}

/// Lists the installed model files and the catalog; `verify` also compares each file with its recorded checksum.
pub(super) fn run(verify: bool, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let folder = ModelFolder::new(&settings.data_dir);
    let (mut models, mut parts, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for found in folder.list()? {
        match found {
            Found::Model(model) => models.push(installed(*model, verify, settings)),
            Found::Part { name, bytes } => parts.push((name, bytes)),
            Found::Problem(problem) => problems.push(problem.to_string()),
        }
    }
    let memory = memory::bytes();
    let suggested = files::suggested(memory).map(|entry| &entry.name);
    let is_installed = |entry: &Entry| models.iter().any(|installed| installed.model.name == entry.name);
    let entries: Vec<&Entry> = files::catalog().iter().filter(|entry| !is_installed(entry)).collect();
    if settings.json {
        screen.json(&json!({
            "schema": SCHEMA, "stable": false, "folder": folder.path(), "runs_files": HAS_ENGINE,
            "memory_bytes": memory, "suggested": suggested,
            "models": models.iter().map(model_json).collect::<Vec<_>>(),
            "begun": parts.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect::<Vec<_>>(),
            "problems": problems, "catalog": entries,
        }));
    } else {
        let mut lines = vec![Line::strong(format!("On this machine, in {}:", folder.path().display()))];
        lines.extend(models.iter().flat_map(model_lines));
        lines.extend(models.is_empty().then(|| Line::plain("  none")));
        lines.extend(parts.iter().map(|(name, bytes)| {
            Line::plain(format!(
                "  {name}  not whole yet, {} so far; artoo model pull goes on with it",
                units::bytes(*bytes)
            ))
        }));
        lines.extend(problems.iter().map(Line::warning));
        let memory = memory.map_or_else(|| "is not known".to_owned(), |bytes| format!("is {}", units::bytes(bytes)));
        lines.push(Line::strong(format!("Can be fetched (this machine's memory {memory}):")));
        lines.extend(entries.iter().flat_map(|entry| entry_lines(entry, Some(&entry.name) == suggested)));
        lines.extend((!HAS_ENGINE).then(|| Line::warning(NO_ENGINE)));
        screen.answer(&lines);
    }
    let is_sound = |model: &Installed| model.state == FileState::Unchanged && model.verified != Some(false);
    let is_failed = verify && !(models.iter().all(is_sound) && problems.is_empty());
    Ok(if is_failed { Exit::NotAchieved } else { Exit::Accepted })
}

/// An installed model with its state, verified if requested.
fn installed(model: Model, verify: bool, settings: &Settings) -> Installed {
    let state = model.state();
    let is_recorded = || Checksum::of_file(&model.path, &|_| {}).is_ok_and(|found| found == model.record.sha256);
    let verified = (verify && state != FileState::Missing).then(is_recorded);
    let mut given = settings.model.all().filter_map(ModelKind::file);
    let is_in_use = given.any(|given| file::find(given, settings).is_ok_and(|chosen| chosen.path == model.path));
    Installed { gguf: Gguf::read(&model.path).ok(), state, verified, is_in_use, model }
}

/// The lines that `artoo model list` shows about an installed model.
fn model_lines(installed: &Installed) -> [Line; 3] {
    let Model { name, path, record } = &installed.model;
    let in_use = if installed.is_in_use { "  (in use)" } else { "" };
    let metadata = installed.gguf.as_ref().map(|gguf| format!("  {}", describe(gguf))).unwrap_or_default();
    let place = record.path.as_ref().map(|_| format!(", used where it lies: {}", path.display())).unwrap_or_default();
    let (state, style): (_, fn(String) -> Line) = match (installed.state, installed.verified) {
        (FileState::Missing, _) => ("the file is gone", Line::warning),
        (_, Some(false)) => ("its content is not what was recorded; fetch it again, or record it anew", Line::warning),
        (FileState::Changed, _) => {
            ("it has changed since it was recorded; fetch it again, or record it anew", Line::warning)
        }
        (FileState::Unchanged, Some(true)) => ("all of it read, and as recorded", Line::plain),
        (FileState::Unchanged, None) => ("size and time are as recorded", Line::plain),
    };
    let licence = record.licence.as_ref().map(|licence| format!(", licence {licence}")).unwrap_or_default();
    [
        Line::strong(format!("  {name}  {}{metadata}{in_use}", units::bytes(record.bytes))),
        style(format!("      {state}{place}")),
        Line::faint(format!("      from {} on {}{licence}", record.from, record.at)),
    ]
}

/// The lines that `artoo model list` shows about a model of the catalog, which can be downloaded.
fn entry_lines(entry: &Entry, is_suggested: bool) -> [Line; 3] {
    let Entry { name, title, good_for, memory_gb, licence, checked, .. } = entry;
    let suggested = if is_suggested { "  (suggested for this machine)" } else { "" };
    [
        Line::strong(format!("  {name}  {title}  {}{suggested}", units::bytes(entry.download_bytes()))),
        Line::plain(format!("      for {good_for}")),
        Line::faint(format!("      wants {memory_gb} GB of memory; licence {licence}; its sha256: {checked}")),
    ]
}

/// An installed model as JSON.
fn model_json(installed: &Installed) -> Value {
    let Model { name, path, record } = &installed.model;
    json!({
        "name": name, "path": path, "in_place": record.path.is_some(), "bytes": record.bytes, "sha256": record.sha256,
        "from": record.from, "at": record.at, "licence": record.licence, "standing": installed.state,
        "verified": installed.verified, "in_use": installed.is_in_use, "facts": installed.gguf
    })
}
