//! `artoo try`: runs a shell command in a view, shows what it would change, and asks whether to keep the changes. No
//! model.

use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use artoo_proto::{Answer, CallStatus, EffectClass, FOLDER, FileChange, KeptOutput, ToolCall, ToolRequest, escape};
use artoo_roles::runtime::{Operator, SingleCall, Unattended, call_once};
use artoo_tools::EvidenceStore;
use serde_json::json;

use crate::display::{Line, result};
use crate::signals::Signals;
use crate::terminal::{Terminal, consent};
use crate::{Exit, Failure, Screen, Settings, audit, leftovers, undo};

/// Name of the schema of `artoo try`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.try/0";

/// Time limit of a command if the user gives none, in milliseconds: that of a task.
const LIMIT_MS: u64 = 30 * 60 * 1_000;

/// Reason shown if a command was denied because no user could be asked.
const UNATTENDED: &str = "There is no terminal to ask on; in one, artoo try asks you.";

/// Number added to that of the signal that ended a command to give its exit code, as shells do.
const SIGNALLED: i32 = 128;

/// Runs `artoo try`: runs the user's command to its end, or until a signal ends artoo; returns the exit code.
pub(crate) async fn run(words: &[String], settings: &Settings, screen: &Screen) -> Result<u8, Failure> {
    let (mut signals, command) = (Signals::listen()?, command(words));
    if has_input() {
        screen.insist(&[Line::warning("The command gets no input: artoo try passes none on.")]);
    }
    leftovers::remove(&settings.data_dir);
    let mut tools = settings.tools.clone();
    // No model sees the output.
    tools.trusts_model = true;
    tools.call_timeout = Duration::from_millis(settings.limit_ms.unwrap_or(LIMIT_MS));
    let request = ToolRequest { tool: "shell".to_owned(), input: json!({"command": command}) };
    let person = Terminal::detect(screen).filter(|_| !settings.json);
    let operator: &dyn Operator = person.as_ref().map_or(&Unattended, |person| person);
    let label = format!("try {command}");
    let (ended, unlogged) = tokio::select! {
        ended = call_once(tools, &settings.data_dir, operator, request, &label) => ended?,
        () = signals.stop() => return Ok(Exit::Cancelled.code()),
    };
    if let Some(error) = &unlogged {
        screen.insist(&[Line::warning(format!("problem: {error}; {}", audit::MAKE_ROOM))]);
    }
    let logged = |exit| if unlogged.is_some() { Exit::Internal.code() } else { exit };
    let (call, task_id) = match ended {
        SingleCall::Called { call, task_id } => (call, task_id),
        SingleCall::NotApproved(asked) => {
            if person.is_none() {
                screen.report(settings.json, SCHEMA, json!({"ran": false, "asked": asked}), &consent::in_full(&asked));
            }
            let why = if person.is_some() { "You said no." } else { UNATTENDED };
            screen.insist(&[Line::plain(format!("{why} Nothing was changed."))]);
            return Ok(logged(Exit::ConsentNeeded.code()));
        }
    };
    let (exit, has_run) = (logged(exit(&call)), call.status != CallStatus::Denied);
    if settings.json {
        let value = json!({"ran": has_run, "exit_code": exit, "task_id": task_id, "call": call});
        screen.report(true, SCHEMA, value, &[]);
    } else if has_run {
        let evidence = EvidenceStore::new(&settings.data_dir);
        screen.deliver(&shown(&call), &answers(&call), &evidence);
        screen.tell(&changes(&call));
        screen.tell(&undo::capped(result::incidental(&call)));
        let entry = undo::store(settings).find(task_id.as_str()).ok();
        screen.tell(&entry.iter().flat_map(result::undoable).collect::<Vec<_>>());
    } else {
        screen.insist(&[Line::warning(format!("It did not run: {}", call.output))]);
    }
    Ok(exit)
}

/// The output of the tried command as answers: in full from the evidence store if the call's record is truncated.
fn answers(call: &ToolCall) -> Vec<Answer> {
    if call.truncated && !call.kept.is_empty() {
        let whole = |kept: &KeptOutput| Answer { whole: Some(kept.clone()), ..Answer::default() };
        return call.kept.iter().map(whole).collect();
    }
    (!call.output.is_empty()).then(|| Answer::text("", call.output.as_str())).into_iter().collect()
}

/// The tried command's output as lines for a terminal; empty without output.
fn shown(call: &ToolCall) -> Vec<Line> {
    let output = call.output.strip_suffix('\n').unwrap_or(&call.output);
    (!output.is_empty()).then(|| Line::answer(output)).into_iter().collect()
}

/// Whether standard input is a pipe or a file, which the tried command does not get, unlike one run without artoo.
fn has_input() -> bool {
    let input = std::fs::metadata("/dev/stdin").map(|found| found.file_type());
    input.is_ok_and(|input| input.is_file() || input.is_fifo())
}

/// Builds the shell command line: a single argument unchanged (it may be a script); several are each quoted as one
/// word.
fn command(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    match words {
        [one] => one.clone(),
        several => several.iter().map(quoted).collect::<Vec<_>>().join(" "),
    }
}

/// Lines that name each file change that the tried command made.
fn changes(call: &ToolCall) -> Vec<Line> {
    if call.changed.is_empty() {
        let is_known = call.changes_known || call.class == EffectClass::ReadOnly;
        return vec![Line::plain(if is_known { "It changed nothing." } else { "No change by it was found." })];
    }
    let line = |change: &FileChange| {
        let path = escape::one_line(&change.path);
        let text = match (&change.before, &change.after) {
            (None, _) => match renamed(call, change) {
                Some((from, _)) => format!("renamed {} → {path}", escape::one_line(&from.path)),
                None => format!("created {path}"),
            },
            (_, None) if renamed(call, change).is_some() => return None,
            (_, None) => format!("deleted {path}"),
            _ => format!("changed {path}"),
        };
        Some(Line::plain(text))
    };
    undo::capped(call.changed.iter().filter_map(line).collect())
}

/// The deleted and the created file if this change is one half of a rename: the only two changes with the same content.
fn renamed<'a>(call: &'a ToolCall, change: &FileChange) -> Option<(&'a FileChange, &'a FileChange)> {
    let content = change.before.as_ref().xor(change.after.as_ref()).filter(|content| *content != FOLDER)?;
    let mut gone = call.changed.iter().filter(|other| other.after.is_none() && other.before.as_ref() == Some(content));
    let mut new = call.changed.iter().filter(|other| other.before.is_none() && other.after.as_ref() == Some(content));
    let pair = gone.next().zip(new.next());
    pair.filter(|_| gone.next().is_none() && new.next().is_none())
}

/// The exit code of `artoo try`: that of the command if it ran and its changes were made (a signal as 128 + number),
/// otherwise one of artoo's own.
fn exit(call: &ToolCall) -> u8 {
    let code = call.exit_code.or(call.signal.map(|signal| SIGNALLED + signal));
    match (call.status, code.map(u8::try_from)) {
        (CallStatus::TimedOut, _) => Exit::Deadline.code(),
        // The program succeeded, and artoo could not make its changes.
        (CallStatus::Failed, Some(Ok(0))) => Exit::NotAchieved.code(),
        (_, Some(Ok(code))) => code,
        _ => Exit::NotAchieved.code(),
    }
}
