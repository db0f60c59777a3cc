//! A task's events and result as JSON lines, schema `artoo.events/0`.
//!
//! The first line names the schema, the last one is `result` or `error`. Fields may come, go and change until the
//! schema's number is 1.

use artoo_bus::TapEvent;
use artoo_proto::{AuditReport, Ending, Message};
use artoo_roles::runtime::{CloseReport, TaskOutcome};
use artoo_tools::undo::Entry;
use serde_json::{Value, json};

use super::Line;
use super::result::{Questions, ResultView};
use super::user_format::UserFormat;
use crate::{Exit, Failure, texts};

/// Name of the schema of a task's JSON lines.
pub(crate) const SCHEMA: &str = "artoo.events/0";

/// The first JSON line of a task, which names the schema.
pub(crate) fn schema() -> Value {
    json!({
        "event": "schema", "schema": SCHEMA, "stable": false, "artoo": env!("CARGO_PKG_VERSION"),
        "note": "unstable: fields may change with any release"
    })
}

/// The JSON line for an event of the message bus.
pub(crate) fn event(event: &TapEvent) -> Value {
    match event {
        TapEvent::Message { envelope } => {
            let mut line = json!({
                "event": "message", "seq": envelope.seq, "at": envelope.sent_at, "kind": envelope.message.kind(),
                "from": envelope.from.role, "to": envelope.to
            });
            set(&mut line, "subtask_id", json!(envelope.message.subtask_id()));
            #[expect(clippy::wildcard_enum_match_arm, reason = "only consent carries its content here")]
            match &envelope.message {
                Message::ConsentRequest(asked) => {
                    set(&mut line, "event", json!("consent_asked"));
                    set(&mut line, "action", json!(asked.shown));
                    set(&mut line, "effects", json!(asked.effects));
                    set(&mut line, "details", json!(asked.details));
                    set(&mut line, "reason", json!(asked.reason));
                    set(&mut line, "offers", json!(asked.offers));
                    set(&mut line, "readings", json!(asked.readings));
                }
                Message::ConsentAnswer(answer) => {
                    set(&mut line, "event", json!("consent_answered"));
                    set(&mut line, "allowed", json!(answer.allowed));
                    set(&mut line, "scope", json!(answer.scope));
                    set(&mut line, "note", json!(answer.note));
                    set(&mut line, "confirmed", json!(answer.readings));
                }
                _ => {}
            }
            line
        }
        TapEvent::EffectStarted(started) => json!({
            "event": "effect_started", "effect_id": started.effect_id, "by": started.by,
            "subtask_id": started.subtask_id, "effect": started.effect, "digest": started.digest
        }),
        TapEvent::EffectFinished(finished) => json!({
            "event": "effect_finished", "effect_id": finished.effect_id, "by": finished.by, "ok": finished.ok,
            "digest": finished.digest, "usage": finished.usage
        }),
        TapEvent::Refused { from, kind, .. } => json!({"event": "refused", "from": from.role, "kind": kind}),
        TapEvent::Dropped { seq, to, reason } => {
            json!({"event": "dropped", "seq": seq, "to": to.role, "reason": reason})
        }
        TapEvent::Panicked { address, .. } => json!({"event": "role_panicked", "role": address.role}),
        TapEvent::Ignored { address, detail } => json!({"event": "ignored", "by": address.role, "detail": detail}),
        TapEvent::Gap { missing } => json!({"event": "gap", "missing": missing}),
    }
}

/// The JSON line with the audit report, which precedes the last line.
pub(crate) fn audit(report: &AuditReport) -> Value {
    json!({"event": "audit", "report": report})
}

/// The JSON line with the estimate of a task's cost, shown before the first model call or, with `--estimate`, in place
/// of a task.
pub(crate) fn estimate(estimate: &Value) -> Value {
    json!({"event": "estimate", "estimate": estimate})
}

/// A finished task with all that its result shows: outcome, cost, questions, and entry of the undo journal.
#[derive(Debug)]
pub(crate) struct EndedTask {
    pub(crate) outcome: TaskOutcome,
    /// Tokens and cost of the task with its estimate, as JSON; null if no language model is used.
    pub(crate) spending: Value,
    /// Model calls, tokens and cost in one line; `None` if no model was called.
    pub(crate) cost: Option<String>,
    /// The cost by role and model.
    pub(crate) costs: Vec<Line>,
    pub(crate) questions: Questions,
    /// Whether text on standard input came with the request.
    pub(crate) with_material: bool,
    /// The task's entry in the undo journal; `None` if there is none or it can't be read.
    pub(crate) undo: Option<Entry>,
    /// False if reading the undo journal failed; `undo` is then `None` although the task may have changed files.
    pub(crate) is_journal_read: bool,
}

impl EndedTask {
    /// The parts of the task from which its text for a person is made.
    pub(crate) fn shown<'a>(&'a self, user_format: &'a UserFormat) -> ResultView<'a> {
        ResultView {
            result: &self.outcome.result,
            usage: &self.outcome.usage,
            undo: self.undo.as_ref(),
            is_journal_read: self.is_journal_read,
            questions: self.questions,
            with_material: self.with_material,
            cost: self.cost.clone(),
            saved: None,
            user_format,
        }
    }

    /// Who answered: `reflex` (the embedded parser), `skill` or `model`; `None` if the task was abandoned.
    fn answered_by(&self) -> Option<&'static str> {
        match &self.outcome.result.ending {
            Ending::Abandon { .. } => None,
            Ending::Accept { .. } if self.outcome.result.skill.is_some() && self.outcome.usage.is_empty() => {
                Some("skill")
            }
            Ending::Accept { .. } | Ending::Success { .. } if self.outcome.usage.is_empty() => Some("reflex"),
            Ending::Accept { .. } | Ending::Success { .. } => Some("model"),
        }
    }

    /// Lines with everything known of the task that is not shown by default: criteria, loss, costs.
    pub(crate) fn details(&self, user_format: &UserFormat) -> Vec<Line> {
        let mut lines = self.shown(user_format).details();
        // Without a language model there is no other way.
        if self.answered_by() == Some("reflex") && !self.spending.is_null() {
            lines.push(Line::faint(texts::BY_REFLEX));
        }
        if let Some(skill) = &self.outcome.result.skill {
            lines.push(Line::faint(texts::by_skill(skill)));
        }
        lines.extend(self.costs.iter().cloned());
        lines
    }
}

/// An entry of the undo journal as JSON.
pub(crate) fn undo_entry(entry: &Entry) -> Value {
    json!({
        "id": entry.id, "at": entry.at, "acts": entry.acts, "changes": entry.changes,
        "not_undoable": entry.not_undoable, "interrupted": entry.interrupted, "undone": entry.undone,
        "undoes": entry.undoes
    })
}

/// The last JSON line of a task: its result.
pub(crate) fn result(performed: &EndedTask, exit: Exit, close: &CloseReport) -> Value {
    let outcome = &performed.outcome;
    json!({
        "event": "result", "exit_code": exit.code(), "result": outcome.result, "usage": outcome.usage,
        "answered_by": performed.answered_by(),
        "undo": performed.undo.as_ref().map(undo_entry),
        "coverage": outcome.result.coverage.as_ref().map(|coverage| &coverage.rows),
        "unasked": outcome.result.coverage.as_ref().map(|coverage| &coverage.unasked), "spending": performed.spending,
        "questions": { "asked": performed.questions.asked, "denied": performed.questions.denied },
        "problems": close.problems, "audit_log": close.audit.as_ref().map(|audit| &audit.log)
    })
}

/// The last JSON line of a run that ended with an error instead of a result: its exit code, message and remedy.
pub(crate) fn error(failure: &Failure) -> Value {
    json!({
        "event": "error", "exit_code": failure.exit().code(), "message": failure.message(), "remedy": failure.remedy()
    })
}

/// Sets a field of a JSON object.
pub(crate) fn set(line: &mut Value, name: &str, value: Value) {
    if let Some(fields) = line.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
