//! `artoo memory`: shows, explains, corrects, exports and imports what artoo learned from earlier tasks.

mod words;

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use artoo_proto::units::count;
use artoo_proto::{MemoryFeedbackKind, TaskId, Timestamp, escape};
use artoo_roles::runtime::{
    Detail, Durability, Engine, Megram, MegramId, MemoryError, MemoryForgetError, Selector, StoredMemory, System,
    export_memory_index, open_memory,
};
use artoo_roles::skill::SPACE;
use serde_json::{Value, json};

use crate::args::{LearnedCommand, MemoryCommand, Options};
use crate::display::user_format::when;
use crate::terminal::person::approves;
use crate::{Exit, Failure, Line, Screen, Settings, Variables, clock, config_edit, task};

pub(crate) use words::MemoryText;

/// Name of the schema of `artoo memory`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.memory/0";

/// Name of the schema of `artoo memory index`'s JSON output, which is not stable yet.
const INDEX_SCHEMA: &str = "artoo.memory_index/0";

/// Maximum number of records that one `artoo memory forget` deletes.
#[doc(alias = "limit")]
const FORGOTTEN_MAX: usize = 1_000;

/// Maximum number of records that `artoo memory forget` lists before it asks whether to delete them.
const LISTED_MAX: usize = 20;

/// Maximum length of a task's intent quoted in a sentence of `artoo memory`, in characters.
const INTENT_CHARS: usize = 80;

/// Text of a correction stored in memory if the user marks a result as wrong without saying why.
const WRONG: &str = "the result was wrong";

/// Task id stored with a user's notes in memory, since a note belongs to no task.
pub(super) const NOTE_TASK: &str = "note-00000000-0000-0000-0000-000000000000";

/// Reason shown if nothing was deleted because no user could be asked.
const UNATTENDED: &str = "nothing was forgotten: there is nobody to ask; artoo memory forget --yes does it unasked";

/// The output of a subcommand: lines of text, the JSON value, the exit code.
pub(crate) type CommandOutput = (Vec<Line>, Value, Exit);

/// Runs a subcommand of `artoo memory`.
pub(crate) async fn run(
    command: MemoryCommand,
    options: &Options,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    if matches!(command, MemoryCommand::Off | MemoryCommand::On) {
        return switch(command == MemoryCommand::On, options, variables, screen);
    }
    let settings = &Settings::resolve(options, variables)?;
    let schema = if matches!(command, MemoryCommand::Index { .. }) { INDEX_SCHEMA } else { SCHEMA };
    let (lines, value, exit) = if let MemoryCommand::Wrong { words, undo: false } = command {
        with_system(settings, screen, |system| async move {
            let memory = system.stored_memory().ok_or(Failure::MemoryOff {})?;
            let (task, words) = task_in(&memory.engine(), &words);
            wrong(&system, task, &words, "artoo memory wrong --undo").await.map(|told| (system, told))
        })
        .await?
    } else if let MemoryCommand::Remember { words } = command {
        with_system(settings, screen, |system| async move {
            remember(&system, &words.join(" "), "artoo memory forget").await.map(|told| (system, told))
        })
        .await?
    } else {
        stored(command, settings, screen)?
    };
    screen.report(settings.json, schema, value, &lines);
    Ok(exit)
}

/// Runs a subcommand of `artoo memory` that needs only the memory in the data folder, without starting the runtime.
fn stored(command: MemoryCommand, settings: &Settings, screen: &Screen) -> Result<CommandOutput, Failure> {
    let open = |create| open_memory(&settings.data_dir, create);
    // Where nothing was learned yet, there is nothing to show and nothing to delete, which is no error.
    let memory = match open(false) {
        Err(MemoryError::Missing { .. }) => None,
        opened => Some(opened?),
    };
    let engine = memory.as_ref().map(StoredMemory::engine).unwrap_or_default();
    let teller = MemoryText::new(&engine, clock::now(), settings);
    let needed = || memory.as_ref().ok_or_else(|| MemoryError::Missing { folder: settings.data_dir.clone() });
    Ok(match command {
        MemoryCommand::Show { words } if words.is_empty() => teller.overview(),
        MemoryCommand::Show { words } => teller.recalled(&words.join(" "), Exit::Accepted),
        MemoryCommand::Why { what } => teller.why(&what.join(" ")),
        MemoryCommand::Forecast { words } => teller.forecast(&words.join(" ")),
        MemoryCommand::AsOf { date, words } => {
            let at = moment(&date)?;
            let then = needed()?.as_of(at.as_millis()).map_err(MemoryError::from)?;
            let (mut lines, value, exit) =
                MemoryText::new(&then.engine, at, settings).recalled(&words.join(" "), Exit::NotAchieved);
            if then.engine.is_empty() {
                lines = vec![Line::plain("Memory was empty then.")];
            }
            lines.insert(0, Line::plain(format!("On {}:", when(at))));
            if then.complete_from_ms.is_some_and(|from_ms| from_ms > at.as_millis()) {
                lines.push(Line::warning("Records that were deleted since are missing."));
            }
            (lines, value, exit)
        }
        MemoryCommand::Forget { what, yes } => {
            let chosen = chosen(&engine, &what.join(" "));
            let Some(memory) = memory.as_ref().filter(|_| !chosen.is_empty()) else {
                return Ok(teller.none(&what.join(" "), Exit::NotAchieved));
            };
            forget(memory, &chosen, yes, settings, screen)?
        }
        MemoryCommand::Wrong { words, .. } => match (task_in(&engine, &words).0, &memory) {
            (Some((task, _)), Some(memory)) => take_back(memory, &task)?,
            _ => teller.none("an earlier task", Exit::NotAchieved),
        },
        MemoryCommand::Rules { command: None } => {
            let (mut lines, value, exit) = teller.rules();
            let none = "No rules yet: one is made when several tasks of a kind ended alike.";
            lines.extend(lines.is_empty().then(|| Line::plain(none)));
            (lines, value, exit)
        }
        MemoryCommand::Rules { command: Some(command) } => learned(needed()?, &command, &teller)?,
        MemoryCommand::Export { file } => export(needed()?, file.as_deref(), screen)?,
        MemoryCommand::Import { file } => import(&memory.map_or_else(|| open(true), Ok)?, &file)?,
        MemoryCommand::Verify => verify(needed()?)?,
        MemoryCommand::Index { folder } => {
            drop(memory);
            let records = export_memory_index(&settings.data_dir, &folder)?;
            let path = escape::one_line(&folder.display().to_string());
            let line = Line::plain(format!("{} written to {path}", count(records as u64, "record", "records")));
            (vec![line], json!({"records": records, "path": folder}), Exit::Accepted)
        }
        // `run` does these.
        MemoryCommand::Remember { .. } | MemoryCommand::Off | MemoryCommand::On => teller.overview(),
    })
}

/// Runs `artoo memory verify`: reads the memory's file again and compares it with the memory that was loaded.
fn verify(memory: &StoredMemory) -> Result<CommandOutput, Failure> {
    let (found, records) = (memory.verify().map_err(MemoryError::from)?, memory.engine().len());
    let (line, exit) = match found.is_sound() {
        true => {
            let records = count(records as u64, "record", "records");
            (Line::good(format!("Sound: {records}, and reading the file again gives the same.")), Exit::Accepted)
        }
        false => (Line::warning("DAMAGED: the next task repairs it and sets the damaged part aside."), Exit::Internal),
    };
    Ok((vec![line], json!({"records": records, "sound": found.is_sound(), "found": found}), exit))
}

/// Runs `artoo memory on` and `off`: sets `memory` in the configuration file.
fn switch(on: bool, options: &Options, variables: &Variables, screen: &Screen) -> Result<Exit, Failure> {
    let said = config_edit::set("memory", &on.to_string(), options, variables)?;
    let line = match on {
        true => "Memory is on: artoo learns from tasks and tells plans what it learned.",
        false => "Memory is off: artoo neither reads nor writes it. What it holds stays; artoo memory on turns it on.",
    };
    screen.report(options.json, SCHEMA, json!({"memory": on}), &[Line::plain(line)]);
    // Whether a variable wins over the file.
    screen.insist(said.get(1..).unwrap_or_default());
    Ok(Exit::Accepted)
}

/// Starts the runtime without a model, runs `work` with it, and shuts it down.
async fn with_system<F: Future<Output = Result<(System, CommandOutput), Failure>>>(
    settings: &Settings,
    screen: &Screen,
    work: impl FnOnce(System) -> F,
) -> Result<CommandOutput, Failure> {
    let builder = System::builder().environment(settings.environment.clone()).tools(settings.tools.clone());
    let builder = builder.data_dir(settings.data_dir.clone()).without_memory(!settings.memory);
    let (system, (lines, value, exit)) = work(builder.start()?).await?;
    screen.tell(&task::noted(system.notes()));
    let close = system.close().await;
    screen.tell(&task::closing(&close, settings.verbose));
    Ok((lines, value, exit.after(&close)))
}

/// Splits the words after a first word that begins a known task's id and has a `-` or `_`: that task's id and intent
/// (else those of the newest task, `None` without tasks), and the other words.
fn task_in(engine: &Engine, words: &[String]) -> (Option<(String, String)>, String) {
    let mut tasks = engine.tasks(usize::MAX);
    tasks.retain(|task| task.task != NOTE_TASK);
    let named = words.first().filter(|word| word.contains(['-', '_']));
    let found = named.and_then(|word| tasks.iter().position(|task| task.task.starts_with(word)));
    let rest = words.get(usize::from(found.is_some())..).unwrap_or_default().join(" ");
    let task = tasks.into_iter().nth(found.unwrap_or_default());
    (task.map(|task| (task.task, task.intent.unwrap_or_default())), rest)
}

/// Records in memory that the result of a task was wrong; `undo` is the command shown to retract that.
pub(crate) async fn wrong(
    system: &System,
    task: Option<(String, String)>,
    words: &str,
    undo: &str,
) -> Result<CommandOutput, Failure> {
    let memory = system.stored_memory().ok_or(Failure::MemoryOff {})?;
    let known = task.filter(|(task, _)| !memory.engine().find(&Selector::Task(task.clone()), 1).is_empty());
    let Some((task, intent)) = known else {
        let line = Line::plain("Memory holds nothing about that task, so there is nothing to correct.");
        return Ok((vec![line], json!({"noted": false}), Exit::NotAchieved));
    };
    let said = if words.is_empty() { WRONG } else { words };
    let failed = |problem| Failure::NotNoted { problem };
    let task_id = TaskId::try_from(task.clone()).map_err(|error| failed(error.to_string()))?;
    if system.feedback(task_id, MemoryFeedbackKind::Wrong { content: said.to_owned() }).await? == 0 {
        let line = Line::plain(format!("That was noted before; {undo} takes it back."));
        return Ok((vec![line], json!({"noted": false, "task": task}), Exit::Accepted));
    }
    let intent = escape::short_line(&intent, INTENT_CHARS);
    let line = format!(
        "Noted: the result of “{intent}” was wrong; its way is taken with care until it works again. {undo} takes that back."
    );
    Ok((vec![Line::plain(line)], json!({"noted": true, "task": task, "words": said}), Exit::Accepted))
}

/// Stores a note of the user in memory; `forget` is the command shown to delete it.
pub(crate) async fn remember(system: &System, text: &str, forget: &str) -> Result<CommandOutput, Failure> {
    system.stored_memory().ok_or(Failure::MemoryOff {})?;
    let failed = |problem| Failure::NotNoted { problem };
    let task_id = TaskId::try_from(NOTE_TASK.to_owned()).map_err(|error| failed(error.to_string()))?;
    if system.feedback(task_id, MemoryFeedbackKind::Remember { content: text.to_owned() }).await? == 0 {
        return Err(failed("memory did not take it; a note has up to 64 KiB".to_owned()));
    }
    let shown = escape::one_line(text);
    // A command may be pasted into a shell, which must not read the note as a command.
    let words = if forget.starts_with('/') { shown.clone() } else { format!("'{}'", shown.replace('\'', r"'\''")) };
    let line = Line::plain(format!("Noted: “{shown}”. {forget} {words} takes it back."));
    Ok((vec![line], json!({"noted": true, "note": text}), Exit::Accepted))
}

/// The memory records that `what` selects, at most [`FORGOTTEN_MAX`]: by a record's id, by the beginning of a task's
/// id, or by words that all occur in them.
pub(crate) fn chosen(engine: &Engine, what: &str) -> Vec<Megram> {
    let task = || match task_in(engine, &[what.to_owned()]) {
        (Some((task, _)), rest) if rest.is_empty() => Some(Selector::Task(task)),
        _ => None,
    };
    let selector = what.parse().map(Selector::Id).ok().or_else(task);
    engine.find(&selector.unwrap_or_else(|| Selector::Words(what.to_owned())), FORGOTTEN_MAX)
}

/// Deletes memory records and erases their texts, after asking the user, or with `unasked` at once.
pub(crate) fn forget(
    memory: &StoredMemory,
    records: &[Megram],
    unasked: bool,
    settings: &Settings,
    screen: &Screen,
) -> Result<CommandOutput, Failure> {
    let engine = memory.engine();
    let teller = MemoryText::new(&engine, clock::now(), settings);
    let mut lines: Vec<Line> = records.iter().take(LISTED_MAX).map(|record| teller.record(record)).collect();
    let more = records.len().saturating_sub(LISTED_MAX);
    lines.extend((more > 0).then(|| Line::plain(format!("  and {} more", count(more as u64, "record", "records")))));
    if !settings.json {
        screen.tell(&lines);
    }
    let number = count(records.len() as u64, "record", "records");
    let question = format!("Forget {number}? This can't be taken back.");
    if !unasked && !approves(&question, UNATTENDED, settings.json, screen) {
        return Ok((
            vec![Line::plain("Nothing was forgotten.")],
            json!({"forgotten": [], "matches": records}),
            Exit::ConsentNeeded,
        ));
    }
    let ids: Vec<_> = records.iter().map(|record| record.id).collect();
    let erased = delete(memory, &ids)?;
    let text = match erased {
        true => format!("Forgot {number}; the texts are erased from memory. It can't be brought back."),
        false => {
            format!("Forgot {number}; the artoo that has the memory open erases the texts, at the latest when it ends.")
        }
    };
    Ok((vec![Line::plain(text)], json!({"forgotten": ids, "erased": erased}), Exit::Accepted))
}

/// Deletes memory records and erases their texts. False if another artoo process has the memory open, which erases the
/// texts later.
pub(crate) fn delete(memory: &StoredMemory, ids: &[MegramId]) -> Result<bool, MemoryError> {
    match memory.forget_all(ids, clock::now().as_millis()) {
        Err(MemoryForgetError::HeldElsewhere) => Ok(false),
        done => Ok(done.map(|()| true)?),
    }
}

/// Deletes the records by which the user marked a task's result as wrong.
pub(crate) fn take_back(memory: &StoredMemory, task: &str) -> Result<CommandOutput, Failure> {
    let records = memory.engine().find(&Selector::Task(task.to_owned()), FORGOTTEN_MAX);
    let corrections = records.iter().filter(|record| record.detail == Some(Detail::Correction));
    let ids: Vec<_> = corrections.map(|record| record.id).collect();
    if ids.is_empty() {
        let line = Line::plain("Nobody said that the result of that task was wrong.");
        return Ok((vec![line], json!({"taken_back": false, "task": task}), Exit::NotAchieved));
    }
    delete(memory, &ids)?;
    let line = Line::plain("Taken back: the result of that task is no longer noted as wrong.");
    Ok((vec![line], json!({"taken_back": true, "task": task}), Exit::Accepted))
}

/// Runs `artoo memory rules`: adopts a proposed habit as a lasting one, or deletes a rule or a habit.
fn learned(memory: &StoredMemory, command: &LearnedCommand, teller: &MemoryText<'_>) -> Result<CommandOutput, Failure> {
    let engine = memory.engine();
    let line = match command {
        LearnedCommand::Adopt { id } => {
            let mut proposals = engine.thinking_proposals().into_iter();
            let Some(proposal) = proposals.find(|proposal| proposal.tag.entity == format!("via:{id}")) else {
                return Ok(teller.none(id, Exit::NotAchieved));
            };
            memory.adopt_thinking(&proposal, clock::now().as_millis()).map_err(MemoryError::from)?;
            memory.flush(Durability::Synced).map_err(MemoryError::from)?;
            format!("Adopted; artoo memory rules drop {id} takes it back.")
        }
        LearnedCommand::Drop { id } => {
            let habits = engine.thinking().filter(|text| text.detail == Some(Detail::Learned));
            let habit = habits.into_iter().find(|text| text.entity == format!("via:{id}")).map(|text| text.id);
            let rule = engine.sop_records().into_iter().map(|rule| rule.id);
            let Some(found) = habit.or_else(|| rule.into_iter().find(|rule| rule.to_string() == *id)) else {
                return Ok(teller.none(id, Exit::NotAchieved));
            };
            delete(memory, &[found])?;
            "Dropped; the records that it was made of stay.".to_owned()
        }
    };
    Ok((vec![Line::plain(line)], json!({"done": true}), Exit::Accepted))
}

/// Runs `artoo memory export`: writes the memory into a new file that only its owner may read, or to standard output.
fn export(memory: &StoredMemory, file: Option<&Path>, screen: &Screen) -> Result<CommandOutput, Failure> {
    let mut text = Vec::new();
    memory.export(&mut text).map_err(MemoryError::from)?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let Some(path) = file else {
        lines.for_each(|line| screen.json_line(&String::from_utf8_lossy(line)));
        return Ok((Vec::new(), json!({"exported": true}), Exit::Accepted));
    };
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let failed = |source| MemoryError::File { path: path.to_owned(), source };
    written.and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all())).map_err(failed)?;
    let records = memory.engine().len();
    let shown = escape::one_line(&path.display().to_string());
    let line = Line::plain(format!("{} written to {shown}", count(records as u64, "record", "records")));
    Ok((vec![line], json!({"records": records, "path": path}), Exit::Accepted))
}

/// Runs `artoo memory import`: adds the records of an exported file, all or none, then deletes those among them that
/// approve skills.
fn import(memory: &StoredMemory, path: &Path) -> Result<CommandOutput, Failure> {
    let failed = |source| MemoryError::File { path: path.to_owned(), source };
    let known = approved_skills(&memory.engine());
    let (report, _) =
        memory.import(&mut BufReader::new(File::open(path).map_err(failed)?)).map_err(MemoryError::from)?;
    memory.flush(Durability::Synced).map_err(MemoryError::from)?;
    // A file can't approve what a person has not seen here.
    let mut brought = approved_skills(&memory.engine());
    brought.retain(|id| !known.contains(id));
    if !brought.is_empty() {
        delete(memory, &brought)?;
    }
    let added = count(report.applied, "entry", "entries");
    let line =
        Line::plain(format!("{added} added, {} skipped, which were there already or forgotten here", report.skipped));
    Ok((vec![line], json!({"added": report.applied, "skipped": report.skipped}), Exit::Accepted))
}

/// Ids of the memory records by which the user approved skills.
fn approved_skills(engine: &Engine) -> Vec<MegramId> {
    engine.thinking().filter(|text| text.entity.starts_with(SPACE)).map(|text| text.id).collect()
}

/// Parses a date as the end of that day in UTC, or an exact time; an error if it is neither.
fn moment(given: &str) -> Result<Timestamp, Failure> {
    let day = || Timestamp::parse(&format!("{given}T23:59:59.999Z"));
    Timestamp::parse(given).or_else(|_| day()).map_err(|_| Failure::NoDate { given: given.to_owned() })
}
