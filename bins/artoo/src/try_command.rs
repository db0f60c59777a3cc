//! `artoo try`: runs a command without a model, shows what it would change, and asks before that is done.

use std::time::Duration;

use artoo_proto::{
    CallStatus, ConsentOffers, ConsentRequest, ConsentScope, EffectClass, EvidenceId, FileChange, SubTaskId, TaskId,
    ToolCall, ToolOrder, ToolOutcome, ToolRequest, escape,
};
use artoo_roles::runtime::{Operator, tools_in};
use artoo_tools::{EvidenceStore, Registry};
use serde_json::json;
use uuid::Uuid;

use crate::display::writer::Screen;
use crate::display::{Line, result};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::signals::Signals;
use crate::terminal::{Terminal, consent};
use crate::undo;

/// Name of the schema of `artoo try`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.try/0";

/// Time limit of a command if the user gives none, in milliseconds: that of a task.
const LIMIT_MS: u64 = 30 * 60 * 1_000;

/// Added to the number of the signal that ended a command, as shells do.
const SIGNALLED: i32 = 128;

/// Runs the command to its end, or until a signal ends artoo.
pub(crate) async fn run(words: &[String], settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let (mut signals, command) = (Signals::listen()?, command(words));
    tokio::select! {
        ended = attempt(&command, settings, screen) => ended,
        () = signals.stop() => Ok(Exit::Cancelled),
    }
}

/// The command line: a single word as it is; of several, each stays one word.
fn command(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            return word.clone();
        }
        format!("'{}'", word.replace('\'', r"'\''"))
    };
    match words {
        [one] => one.clone(),
        several => several.iter().map(quoted).collect::<Vec<_>>().join(" "),
    }
}

async fn attempt(command: &str, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let mut tools = settings.tools.clone();
    // No model sees the output.
    tools.trusts_model = true;
    tools.call_timeout = Duration::from_millis(settings.limit_ms.unwrap_or(LIMIT_MS));
    let registry = Registry::detect(tools_in(&settings.data_dir, tools)?);
    let order = ToolOrder {
        task_id: TaskId::new(&format!("try {command}"), Uuid::new_v4()),
        request: ToolRequest { tool: "shell".to_owned(), input: json!({"command": command}) },
        evidence_id: EvidenceId("e1".to_owned()),
        allowed_tools: vec!["shell".to_owned()],
        blocked_tools: Vec::new(),
        blocked_targets: Vec::new(),
        confirm: false,
        consent: None,
        scope: ConsentScope::Once,
    };
    let mut grant = None;
    loop {
        let asked = match registry.call(&order, "", grant).await {
            ToolOutcome::Called { call } => return Ok(show(&call, &order.task_id, settings, screen)),
            ToolOutcome::NeedsConsent { hash, shown, effects, details, reason, .. } => ConsentRequest {
                task_id: order.task_id.clone(),
                subtask_id: SubTaskId(Uuid::new_v4()),
                hash,
                shown,
                effects,
                details,
                reason,
                // Nothing follows that a wider approval could cover.
                offers: ConsentOffers::default(),
            },
        };
        if !approves(&asked, settings, screen).await {
            registry.refuse(&order.task_id, &asked.hash);
            return Ok(Exit::ConsentNeeded);
        }
        grant = Some(registry.grant(&asked.hash, ConsentScope::Once));
    }
}

/// Asks the user; without a terminal, or with JSON, shows what would be changed and denies it.
async fn approves(asked: &ConsentRequest, settings: &Settings, screen: &Screen) -> bool {
    let Some(person) = Terminal::detect(screen).filter(|_| !settings.json) else {
        let value = json!({
            "ran": false, "action": asked.shown, "effects": asked.effects, "details": asked.details, "reason": asked.reason
        });
        screen.report(settings.json, SCHEMA, value, &consent::in_full(asked));
        let text = "Nothing was changed: there is no terminal to ask on. In one, artoo try asks you.";
        screen.insist(&[Line::warning(text)]);
        return false;
    };
    let is_approved = person.consent(asked).await.is_some();
    if !is_approved {
        screen.tell(&[Line::plain("You said no. Nothing was changed.")]);
    }
    is_approved
}

/// Shows the output of a command that ended and what it changed; returns its exit code.
fn show(call: &ToolCall, task_id: &TaskId, settings: &Settings, screen: &Screen) -> Exit {
    let exit = exit(call);
    if settings.json {
        let value = json!({
            "ran": call.status != CallStatus::Denied, "task_id": task_id, "exit_code": exit.code(), "call": call
        });
        screen.report(true, SCHEMA, value, &[]);
        return exit;
    }
    if call.status == CallStatus::Denied {
        screen.insist(&[Line::warning(format!("It did not run: {}", call.output))]);
        return exit;
    }
    if !call.output.is_empty() {
        let whole = if call.truncated { call.kept.as_slice() } else { &[] };
        let output = call.output.strip_suffix('\n').unwrap_or(&call.output);
        screen.answer_with(&[Line::answer(output)], whole, &EvidenceStore::new(&settings.data_dir));
    }
    screen.tell(&changes(call));
    let entry = undo::store(settings).find(task_id.as_str()).ok();
    screen.tell(&entry.iter().flat_map(result::undoable).collect::<Vec<_>>());
    exit
}

/// Lines that name each change.
fn changes(call: &ToolCall) -> Vec<Line> {
    if call.changed.is_empty() {
        let is_known = call.changes_known || call.class == EffectClass::ReadOnly;
        return vec![Line::plain(if is_known { "It changed nothing." } else { "No change by it was found." })];
    }
    let line = |change: &FileChange| {
        let verb = match (&change.before, &change.after) {
            (None, _) => "created",
            (_, None) => "deleted",
            _ => "changed",
        };
        Line::plain(format!("{verb} {}", escape::one_line(&change.path)))
    };
    undo::capped(call.changed.iter().map(line).collect())
}

/// The exit code of the command if it ran; a signal is added to 128.
fn exit(call: &ToolCall) -> Exit {
    let code = call.exit_code.or(call.signal.map(|signal| SIGNALLED + signal));
    match (call.status, code.map(u8::try_from)) {
        (CallStatus::Denied, _) => Exit::NotAchieved,
        (CallStatus::TimedOut, _) => Exit::Deadline,
        (_, Some(Ok(code))) => Exit::Command(code),
        (CallStatus::Ok, _) => Exit::Accepted,
        _ => Exit::NotAchieved,
    }
}
