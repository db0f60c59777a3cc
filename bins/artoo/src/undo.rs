//! `artoo undo`: shows a task's changes, asks, reverts them, and lists those that can't be reverted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use artoo_audit::Note;
use artoo_proto::{escape, units};
use artoo_roles::runtime::UNDO;
use artoo_tools::undo::{Entry, Item, ItemOutcome, Report, UndoConfig, UndoStore};
use serde_json::{Value, json};

use crate::args::UndoOptions;
use crate::display::json::undo_entry;
use crate::display::user_format::{self, UserFormat};
use crate::display::{Line, live};
use crate::terminal::person::approves;
use crate::{Exit, Failure, Screen, Settings, audit, texts};

/// Name of the schema of `artoo undo`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.undo/0";

/// Reason shown if nothing was undone because no user could be asked.
const UNATTENDED: &str = "nothing was undone: there is nobody to ask; artoo undo --yes does it unasked";

/// Interval at which the status line shows the progress of an undo.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Maximum number of paths listed in the preview of an undo.
const SHOWN_MAX: usize = 40;

/// Maximum number of a task's actions listed for an entry of the undo journal.
const ACTS_MAX: usize = 5;

/// Opens the undo journal, which is in the data folder.
pub(crate) fn store(settings: &Settings) -> UndoStore {
    UndoStore::open(UndoConfig::new(settings.data_dir.join(UNDO)), &settings.environment)
}

/// Runs `artoo undo`: lists the entries of the undo journal, or undoes the given or the last one.
pub(crate) fn run(asked: &UndoOptions, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let store = store(settings);
    if asked.list {
        return list(&store, settings, screen);
    }
    let entry = match &asked.task {
        Some(given) => Some(store.find(given)?),
        None => store.last()?,
    };
    let Some(entry) = entry else {
        let line = Line::plain("There is nothing to undo.");
        screen.report(settings.json, SCHEMA, json!({"undone": false, "entry": null, "items": []}), &[line]);
        return Ok(Exit::NotAchieved);
    };
    let preview = store.preview(&entry.id)?;
    let is_anything = preview.items.iter().any(|item| item.outcome == ItemOutcome::Done);
    if !settings.json {
        screen.tell(&before(&entry, &preview, &UserFormat::of(&settings.environment, settings.exact)));
    }
    if is_anything && !asked.yes && !approves("Bring this back?", UNATTENDED, settings.json, screen) {
        show_outcome(&entry, &preview, false, settings, screen);
        return Ok(Exit::ConsentNeeded);
    }
    if !is_anything {
        show_outcome(&entry, &preview, false, settings, screen);
        return Ok(if is_whole(&preview) { Exit::Accepted } else { Exit::NotAchieved });
    }
    let report = with_progress(&store, screen, || store.undo(&entry.id))?;
    let is_noted = note(&entry, &report, settings, screen);
    show_outcome(&entry, &report, true, settings, screen);
    let is_done = report.items.iter().any(|item| item.outcome == ItemOutcome::Done);
    Ok(match (is_whole(&report), is_done) {
        _ if !is_noted => Exit::Internal,
        (true, _) => Exit::Accepted,
        (false, true) => Exit::Partial,
        (false, false) => Exit::NotAchieved,
    })
}

/// Runs the work of an undo while another thread shows its progress.
fn with_progress<T>(store: &UndoStore, screen: &Screen, work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(LOOK_EVERY);
                let activity: Vec<_> = store.activity().into_iter().collect();
                screen.status(&live::tool_line(&activity, Instant::now()).unwrap_or_default());
            }
            screen.status("");
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

/// Whether a path is the trash folder or a parent that was created for it; an undo does not list it.
fn is_of_trash(item: &Item) -> bool {
    std::env::home_dir().is_some_and(|home| home.join(".local/share/Trash").starts_with(&item.path))
}

/// Whether a path stays changed after an undo, because it was changed since (conflict) or can't be reverted.
fn is_left(item: &Item) -> bool {
    matches!(item.outcome, ItemOutcome::Conflict { .. } | ItemOutcome::Impossible { .. })
}

/// Whether an undo reverts all changes of its task; false if any is left.
fn is_whole(report: &Report) -> bool {
    report.not_undoable.is_empty() && !report.items.iter().any(is_left)
}

/// The preview of an undo as lines: the task's actions, the paths to revert, and those that can't be reverted.
fn before(entry: &Entry, preview: &Report, user_format: &UserFormat) -> Vec<Line> {
    let mut lines = vec![Line::strong(texts::reverting(&user_format::when(entry.at)))];
    lines.extend(acts(entry));
    if entry.interrupted {
        let text = "artoo ended in the middle of it; what was changed in its places since counts as its doing";
        lines.push(Line::warning(text));
    }
    let ready = preview.items.iter().filter(|item| item.outcome == ItemOutcome::Done && !is_of_trash(item));
    let row = |item: &Item| Line::plain(format!("  would be {}: {}", item.action, user_format.path(&item.path)));
    lines.extend(capped(ready.map(row).collect()));
    lines.extend(left(preview));
    lines
}

/// Lines with the first actions of a journal entry, and how many more there are.
fn acts(entry: &Entry) -> Vec<Line> {
    let more = entry.acts.len().saturating_sub(ACTS_MAX);
    let named = entry.acts.iter().take(ACTS_MAX);
    let mut lines: Vec<Line> = named.map(|act| Line::faint(format!("  {}", escape::one_line(act)))).collect();
    lines.extend((more > 0).then(|| Line::faint(format!("  and {more} more acts"))));
    lines
}

/// Warnings about changes that an undo can't revert, each with the reason.
fn left(report: &Report) -> Vec<Line> {
    let mut lines: Vec<Line> =
        report.not_undoable.iter().map(|reason| Line::warning(format!("not undoable: {reason}"))).collect();
    lines.extend(report.items.iter().filter_map(|item| match &item.outcome {
        ItemOutcome::Conflict { reason } => {
            Some(Line::warning(format!("left as it is: {} ({})", item.path, escape::one_line(reason))))
        }
        ItemOutcome::Impossible { reason } => {
            Some(Line::warning(format!("can't be {}: {} ({})", item.action, item.path, escape::one_line(reason))))
        }
        ItemOutcome::Done | ItemOutcome::Already => None,
    }));
    lines
}

/// Shortens a list of lines to the maximum number of listed paths; a last line says how many more there are.
pub(crate) fn capped(mut lines: Vec<Line>) -> Vec<Line> {
    let more = lines.len().saturating_sub(SHOWN_MAX);
    lines.truncate(SHOWN_MAX);
    lines.extend((more > 0).then(|| Line::plain(format!("  and {more} more"))));
    lines
}

/// Shows the outcome of an undo as text or JSON; `is_done` is false if nothing was undone.
fn show_outcome(entry: &Entry, report: &Report, is_done: bool, settings: &Settings, screen: &Screen) {
    let value = json!({
        "undone": is_done, "entry": undo_entry(entry),
        "items": report.items.iter().map(of_item).collect::<Vec<_>>(), "redo": report.redo
    });
    let count = |wanted: fn(&Item) -> bool| report.items.iter().filter(|item| wanted(item)).count();
    let (back, already) = (
        count(|item| item.outcome == ItemOutcome::Done && !is_of_trash(item)),
        count(|item| item.outcome == ItemOutcome::Already),
    );
    if !is_done {
        let text = if back > 0 { "nothing was undone" } else { "nothing to bring back" };
        return screen.report(settings.json, SCHEMA, value, &[Line::plain(text)]);
    }
    let mut lines = vec![Line::strong(texts::reverted(back as u64, already as u64, count(is_left) as u64))];
    lines.extend(left(report));
    lines.extend(report.redo.iter().map(|redo| Line::plain(format!("To redo it: artoo undo {redo}"))));
    screen.report(settings.json, SCHEMA, value, &lines);
}

/// Lists the entries of the undo journal.
fn list(store: &UndoStore, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let (entries, forgotten) = (store.entries()?, store.forgotten());
    let mut lines = Vec::new();
    for entry in &entries {
        let state = match (entry.undone, entry.not_undoable.is_empty()) {
            (true, _) => "undone",
            (false, true) => "can be undone",
            (false, false) => "can be undone in part",
        };
        let paths = units::count(entry.changes as u64, "path", "paths");
        lines.push(Line::strong(format!("{}  {}  {paths}, {state}", entry.at, entry.id)));
        lines.extend(acts(entry));
        lines.extend(entry.not_undoable.iter().map(|reason| Line::warning(format!("  not undoable: {reason}"))));
    }
    if entries.is_empty() {
        lines.push(Line::plain("no task has changed anything"));
    }
    if forgotten > 0 {
        lines.push(Line::plain(format!("{forgotten} older are no longer kept")));
    }
    let entries: Vec<Value> = entries.iter().map(undo_entry).collect();
    screen.report(settings.json, SCHEMA, json!({"entries": entries, "forgotten": forgotten}), &lines);
    Ok(Exit::Accepted)
}

/// A changed path with the outcome of its undo, as JSON.
fn of_item(item: &Item) -> Value {
    let (outcome, reason) = match &item.outcome {
        ItemOutcome::Done => ("done", None),
        ItemOutcome::Already => ("already", None),
        ItemOutcome::Conflict { reason } => ("conflict", Some(reason)),
        ItemOutcome::Impossible { reason } => ("impossible", Some(reason)),
    };
    json!({"path": item.path, "action": item.action, "outcome": outcome, "reason": reason})
}

/// Notes a finished undo in the audit log; if that fails, shows a warning and returns false.
fn note(entry: &Entry, report: &Report, settings: &Settings, screen: &Screen) -> bool {
    let count = |wanted: fn(&Item) -> bool| report.items.iter().filter(|item| wanted(item)).count() as u64;
    let note = Note::Undone {
        entry: entry.id.clone(),
        by: report.redo.clone(),
        brought_back: count(|item| item.outcome == ItemOutcome::Done),
        left: count(is_left),
    };
    let noted = audit::record(&settings.data_dir, [note]);
    if let Err(error) = &noted {
        screen.insist(&[Line::warning(format!("the undo is not in the audit log: {error}; {}", audit::MAKE_ROOM))]);
    }
    noted.is_ok()
}
