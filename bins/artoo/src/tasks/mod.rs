//! The records of tasks: `artoo resume`, `replay`, `tasks`, `report` and `gc`.

mod facts;
mod report;

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use artoo_proto::{Ending, FinalResult, SessionTurn, escape, units};
use artoo_roles::memory::Memory;
use artoo_roles::record::{Record, RecordError, collect, find, list, replay};
use artoo_roles::runtime::{TASKS, UNDO};
use artoo_tools::EvidenceStore;
use artoo_tools::undo::DAYS_MAX;
use serde_json::{Value, json};

use crate::args::{Options, TasksCommand};
use crate::display::user_format::{UserFormat, when};
use crate::model::Models;
use crate::task::{self, RequestedTask};
use crate::{Exit, Failure, Line, Screen, Settings, Variables, leftovers, session, texts};
use facts::Facts;

/// Name of the schema of these commands' JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.tasks/0";

/// Maximum number of tasks that `artoo tasks` lists.
const LISTED_MAX: usize = 30;

/// Maximum length of a request in the list of tasks, in characters.
const WORDS_CHARS: usize = 80;

/// Path of the folder with the records of tasks, in the data folder.
pub(crate) fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(TASKS)
}

/// A line about the newest task that was interrupted (by a crash), so that `artoo resume` can continue it; `None` if
/// there is none.
pub(crate) fn interrupted(settings: &Settings) -> Option<Line> {
    let record = newest_open(&settings.data_dir)?;
    let (ended, open) = Facts::of(&record).counts();
    let words = escape::shorten(&escape::one_line(&record.request().raw_input), WORDS_CHARS);
    Some(Line::warning(texts::interrupted(&when(record.begun.at), &words, ended, open)))
}

/// The record of the newest task that has no result and is not running; `None` if there is none.
fn newest_open(data_dir: &Path) -> Option<Record> {
    let records = list(&folder(data_dir), true).into_iter().filter_map(|path| Record::read(&path).ok());
    records.into_iter().find(|record| !record.is_running())
}

/// Runs `artoo resume`: continues an interrupted task in the folder and under the profile that it began with.
pub(crate) async fn resume(
    task: Option<&str>,
    mut options: Options,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let settings = Settings::resolve(&options, variables)?;
    let record = match task {
        Some(given) => Some(find(&folder(&settings.data_dir), given)?),
        None => newest_open(&settings.data_dir),
    };
    let Some(record) = record else { return Err(Failure::NothingToResume {}) };
    let cwd = PathBuf::from(&record.begun.config.environment.cwd);
    options.data_dir = Some(settings.data_dir);
    options.workspace = Some(PathBuf::from(&record.begun.config.environment.workspace));
    std::env::set_current_dir(&cwd).map_err(|source| Failure::NotEntered { path: cwd, source })?;
    let settings = Settings::resolve(&options, variables)?;
    let models = Models::build(&settings, variables)?;
    let words = record.request().raw_input.clone();
    if !settings.json {
        screen.tell(&[Line::faint(texts::resuming(&when(record.begun.at), &escape::one_line(&words)))]);
    }
    let asked = RequestedTask { words, resume: Some(Box::new(record)), ..RequestedTask::default() };
    task::run(&settings, models, asked, screen).await
}

/// Runs `artoo replay`: passes the recorded inputs to a new System, and reports the first decision that differs.
pub(crate) fn run_again(task: &str, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let record = find(&folder(&settings.data_dir), task)?;
    let again = replay(&record, Memory::unavailable());
    let did =
        |did: &Option<artoo_roles::record::Did>| did.as_ref().map_or("nothing".to_owned(), |did| did.what.clone());
    let mut lines = Vec::new();
    match &again.difference {
        None => lines.push(Line::good(texts::replayed(again.inputs as u64))),
        Some(difference) => {
            let (then, now) = (did(&difference.recorded), did(&difference.now));
            lines.push(Line::warning(texts::differs(difference.input as u64, &then, &now)));
        }
    }
    if record.damaged_bytes > 0 {
        lines.push(Line::warning(texts::damaged(record.damaged_bytes)));
    }
    let difference = again.difference.as_ref().map(|difference| {
        json!({"input": difference.input, "at": difference.at, "recorded": difference.recorded, "now": difference.now})
    });
    let value = json!({
        "task_id": record.task_id(), "inputs": again.inputs, "difference": difference,
        "damaged_bytes": record.damaged_bytes
    });
    screen.report(settings.json, SCHEMA, value, &lines);
    Ok(if again.difference.is_none() && record.damaged_bytes == 0 { Exit::Accepted } else { Exit::NotAchieved })
}

/// Runs a subcommand of `artoo tasks`: lists, shows, exports or deletes records of tasks.
pub(crate) fn run(command: Option<TasksCommand>, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let folder = folder(&settings.data_dir);
    match command.unwrap_or(TasksCommand::List) {
        TasksCommand::List => {
            let paths = list(&folder, false);
            let read = paths.iter().take(LISTED_MAX).map(|path| (path, Record::read(path)));
            let (mut lines, mut values, undone) = (Vec::new(), Vec::new(), undone(settings));
            for (path, record) in read {
                match record {
                    Ok(record) => {
                        lines.extend(listed(&record, &undone));
                        values.push(summary(&record, &undone));
                    }
                    Err(error) => {
                        lines.push(Line::warning(error.to_string()));
                        values.push(json!({"path": path, "problem": error.to_string()}));
                    }
                }
            }
            let more = paths.len().saturating_sub(LISTED_MAX);
            lines.extend((more > 0).then(|| Line::plain(format!("and {more} older"))));
            if paths.is_empty() {
                lines.push(Line::plain("no task is recorded"));
            }
            screen.report(settings.json, SCHEMA, json!({"tasks": values, "older": more}), &lines);
        }
        TasksCommand::Show { task } => {
            let record = find(&folder, &task)?;
            let user_format = UserFormat::of(&settings.environment, settings.exact);
            let facts = Facts::of(&record);
            let value = json!({"task": summary(&record, &undone(settings)), "result": record.result()});
            screen.report(settings.json, SCHEMA, value, &shown(&record, &facts, settings, &user_format));
        }
        TasksCommand::Export { task, file } => {
            let record = find(&folder, &task)?;
            let lines = exported(&record)?;
            match file.or_else(|| settings.output.clone()) {
                Some(path) => {
                    let failed = |source| Failure::NotWritten { path: path.clone(), source };
                    fs::File::create_new(&path)
                        .and_then(|mut file| io::Write::write_all(&mut file, lines.as_bytes()))
                        .map_err(failed)?;
                }
                None => screen.answer(&[Line::answer(lines.trim_end())]),
            }
        }
        TasksCommand::Forget { task } => {
            let record = find(&folder, &task)?;
            if record.is_running() {
                return Err(Failure::StillRunning {});
            }
            fs::remove_file(&record.path)
                .map_err(|source| Failure::NotWritten { path: record.path.clone(), source })?;
            let line = Line::plain(texts::forgotten(record.task_id().as_str()));
            screen.report(settings.json, SCHEMA, json!({"forgotten": record.task_id()}), &[line]);
        }
    }
    Ok(Exit::Accepted)
}

/// Runs `artoo report`: writes a page about a task.
pub(crate) fn report(task: Option<&str>, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let folder = folder(&settings.data_dir);
    let record = match task {
        Some(given) => find(&folder, given)?,
        None => list(&folder, false).first().map_or(Err(Failure::NoTask {}), |path| Ok(Record::read(path)?))?,
    };
    let page = report::page(&record, &Facts::of(&record), settings, &exported(&record)?);
    let is_named = settings.output.is_some();
    if !is_named && !io::stdout().is_terminal() {
        screen.answer(&[Line::answer(page)]);
        return Ok(Exit::Accepted);
    }
    let in_workspace = || Path::new(&settings.environment.workspace).join(format!("{}.html", record.task_id()));
    let path = settings.output.clone().unwrap_or_else(in_workspace);
    let file = if is_named { fs::File::create(&path) } else { new_in_place(&path) };
    let written = file.and_then(|mut file| io::Write::write_all(&mut file, page.as_bytes()));
    written.map_err(|source| Failure::Output { path: path.clone(), source })?;
    screen.tell(&[Line::plain(texts::saved(&path.to_string_lossy(), page.len() as u64))]);
    Ok(Exit::Accepted)
}

/// Creates a file; whatever is at the path is removed first, and a symlink there is not followed.
fn new_in_place(path: &Path) -> io::Result<fs::File> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    // An error shows again when the file is created.
    let _ = fs::remove_file(path);
    fs::File::create_new(path)
}

/// Runs `artoo gc`: deletes records of tasks, undo entries and evidence older than the undo journal's limit (a record
/// stays while its undo entry does), and temporary files of killed processes.
pub(crate) fn collect_garbage(settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let days = u64::try_from(DAYS_MAX).unwrap_or_default();
    let undo = settings.data_dir.join(UNDO);
    let is_free = |task: &str| !undo.join(task).exists();
    let before = sizes(&settings.data_dir);
    let (records, _) = collect(&folder(&settings.data_dir), Some(Duration::from_secs(days * 24 * 60 * 60)), &is_free);
    EvidenceStore::new(&settings.data_dir).clean();
    crate::undo::store(settings).clean()?;
    leftovers::remove(&settings.data_dir);
    let after = sizes(&settings.data_dir);
    let total = |sizes: &[(&str, u64)]| sizes.iter().map(|(_, bytes)| bytes).sum::<u64>();
    let freed = total(&before).saturating_sub(total(&after));
    let mut lines = vec![Line::strong(texts::collected(records as u64, freed, days))];
    lines.extend(after.iter().map(|(what, bytes)| Line::plain(format!("  {what}: {}", units::bytes(*bytes)))));
    let kept: serde_json::Map<String, Value> =
        after.iter().map(|(what, bytes)| ((*what).to_owned(), json!(bytes))).collect();
    screen.report(settings.json, SCHEMA, json!({"records": records, "freed_bytes": freed, "kept": kept}), &lines);
    Ok(Exit::Accepted)
}

/// The size in bytes of each part of the data folder, with its name.
pub(crate) fn sizes(data_dir: &Path) -> Vec<(&'static str, u64)> {
    /// The size of a file, or of all files below a folder, in bytes.
    fn size(path: &Path) -> u64 {
        let Ok(metadata) = path.symlink_metadata() else { return 0 };
        if !metadata.is_dir() {
            return metadata.len();
        }
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
    }
    let begins = |prefix: &str| {
        let entries = fs::read_dir(data_dir).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| size(&entry.path()))
            .sum()
    };
    vec![
        ("records of tasks", size(&folder(data_dir))),
        ("undo", size(&data_dir.join(UNDO))),
        ("evidence", size(&data_dir.join("evidence"))),
        ("audit log", begins("audit")),
        ("memory", begins("memory")),
    ]
}

/// The turns of the last session with an answer: those that its last task could refer to, and that task itself. A session
/// of another folder is refused: its relative paths would name other files here.
pub(crate) fn last_turns(settings: &Settings) -> Result<Vec<SessionTurn>, Failure> {
    let records = list(&folder(&settings.data_dir), false).into_iter().filter_map(|path| Record::read(&path).ok());
    let Some((record, result)) = records.into_iter().find_map(|record| {
        let result = record.result().filter(|result| !matches!(result.ending, Ending::Abandon { .. })).cloned()?;
        Some((record, result))
    }) else {
        return Ok(Vec::new());
    };
    let folder = &record.begun.config.environment.cwd;
    if *folder != settings.environment.cwd {
        return Err(Failure::OtherFolder { folder: escape::one_line(folder) });
    }
    let mut turns = record.request().session.clone();
    turns.push(session::turn(&record.request().raw_input, &result));
    Ok(turns)
}

/// Two lines about a recorded task for the list: its time and request, and its state.
fn listed(record: &Record, undone: &[String]) -> [Line; 2] {
    let words = escape::shorten(&escape::one_line(&record.request().raw_input), WORDS_CHARS);
    [
        Line::strong(format!("{}  {words}", when(record.begun.at))),
        Line::faint(format!("  {}: {}", record.task_id(), state(record, undone))),
    ]
}

/// Ids of the tasks whose changes were undone.
fn undone(settings: &Settings) -> Vec<String> {
    let entries = crate::undo::store(settings).entries().unwrap_or_default();
    entries.into_iter().filter(|entry| entry.undone).map(|entry| entry.id).collect()
}

/// The state of a recorded task as text: how it ended and whether it was undone later, or that it has not ended.
fn state(record: &Record, undone: &[String]) -> String {
    let undone = if undone.iter().any(|task| task == record.task_id().as_str()) { ", then undone" } else { "" };
    let ended = match record.result() {
        Some(FinalResult { ending: Ending::Accept { .. }, .. }) => "done".to_owned(),
        Some(FinalResult { ending: Ending::Success { .. }, .. }) => "partly done".to_owned(),
        Some(FinalResult { ending: Ending::Abandon { .. }, summary, .. }) => {
            format!("not done: {}", escape::shorten(&escape::one_line(summary), WORDS_CHARS))
        }
        None if record.is_running() => "running".to_owned(),
        None => "interrupted; artoo resume continues it".to_owned(),
    };
    format!("{ended}{undone}")
}

/// A recorded task in brief, as JSON.
fn summary(record: &Record, undone: &[String]) -> Value {
    json!({
        "task_id": record.task_id(), "at": record.begun.at, "request": record.request().raw_input,
        "state": state(record, undone), "path": record.path, "damaged_bytes": record.damaged_bytes
    })
}

/// The output of `artoo tasks show`: the task's answer with what supports it, then its tool calls.
fn shown(record: &Record, facts: &Facts, settings: &Settings, user_format: &UserFormat) -> Vec<Line> {
    let mut lines = listed(record, &undone(settings)).to_vec();
    if let Some(result) = record.result() {
        let entry = crate::undo::store(settings).find(record.task_id().as_str()).ok();
        let shown = facts.shown(result, entry.as_ref(), user_format);
        lines.extend(shown.answer_lines());
        lines.extend(shown.support());
    }
    lines.extend(facts.call_lines());
    lines
}

/// The record of a task as JSON lines: first its beginning (request and settings), then its frames.
fn exported(record: &Record) -> Result<String, Failure> {
    let text = |value: serde_json::Result<String>| value.map_err(|error| Failure::NotJson { source: error });
    let mut lines = text(serde_json::to_string(&record.begun))?;
    for frame in &record.frames {
        lines.push('\n');
        lines.push_str(&text(serde_json::to_string(frame))?);
    }
    lines.push('\n');
    Ok(lines)
}

impl From<RecordError> for Failure {
    fn from(source: RecordError) -> Self {
        Self::Record { source }
    }
}
