//! Progress lines while a task runs: intent, plan, calls, corrections, replans and waits.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_proto::{ConsentAnswer, EffectId, EffectKind, Envelope, Message, OutcomeStatus, Plan, escape};

use super::{Line, result};

/// Maximum length of a progress line, in characters.
const LINE_CHARS: usize = 200;

/// Interval between progress lines about a model or tool call that is still running.
const WAIT_SHOWN_EVERY: Duration = Duration::from_secs(10);

/// Makes the progress lines of a task from its events; other code prints them. Remembers which model calls, tool calls and
/// checks are running.
#[derive(Debug, Default)]
pub(crate) struct Live {
    waiting: BTreeMap<EffectId, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    what: String,
    since: Instant,
    shown: u32,
}

impl Live {
    /// The progress lines for an event of the task; most events have none.
    pub(crate) fn lines(&mut self, event: &TapEvent, now: Instant) -> Vec<Line> {
        match event {
            TapEvent::Message { envelope } => of_message(envelope),
            TapEvent::EffectStarted(started) => {
                let what = match &started.effect {
                    EffectKind::Model { .. } => format!("the model's answer to {}", started.by),
                    EffectKind::Tool { tool } => tool.clone(),
                    EffectKind::Checks { .. } => "a check".to_owned(),
                    EffectKind::Timer { .. } | EffectKind::Persist | EffectKind::Read | EffectKind::Cover => {
                        return Vec::new();
                    }
                };
                self.waiting.insert(started.effect_id, Waiting { what, since: now, shown: 0 });
                let is_call = matches!(started.effect, EffectKind::Tool { .. });
                is_call.then(|| faint(&format!("  → {}", started.digest))).into_iter().collect()
            }
            TapEvent::EffectFinished(finished) => {
                let was_waiting = self.waiting.remove(&finished.effect_id).is_some();
                // A question about the call follows, or that it was not allowed.
                let failed = was_waiting && !finished.ok && !finished.digest.starts_with("needs consent: ");
                failed.then(|| faint(&format!("  ✗ {}", finished.digest))).into_iter().collect()
            }
            TapEvent::Panicked { address, .. } => vec![Line::warning(format!("{} failed inside", address.role))],
            TapEvent::Dropped { to, .. } => vec![Line::warning(format!("a message to {} was lost", to.role))],
            TapEvent::Refused { .. } | TapEvent::Ignored { .. } | TapEvent::Gap { .. } => Vec::new(),
        }
    }

    /// Progress lines about running calls, one for each call and ten seconds of waiting.
    pub(crate) fn waits(&mut self, now: Instant) -> Vec<Line> {
        let mut lines = Vec::new();
        for waiting in self.waiting.values_mut() {
            let waited = now.saturating_duration_since(waiting.since);
            if waited >= WAIT_SHOWN_EVERY * (waiting.shown + 1) {
                waiting.shown += 1;
                lines.push(faint(&format!("  … waiting for {} ({} s)", waiting.what, waited.as_secs())));
            }
        }
        lines
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a display chooses what it shows; the audit log has every message")]
fn of_message(envelope: &Envelope) -> Vec<Line> {
    match &envelope.message {
        Message::TaskSpec(spec) => vec![line(&format!("understood: {}", spec.intent))],
        Message::Plan(plan) => of_plan(plan),
        Message::CorrectionSignal(signal) => {
            let number = signal.attempt_number;
            vec![line(&format!("correction, attempt {number}: {}", signal.what_was_wrong))]
        }
        Message::PlanDirective(directive) => {
            vec![line(&format!("replan {}: {}", directive.round, directive.rationale))]
        }
        Message::SubTaskOutcome(outcome) if outcome.status == OutcomeStatus::Failed => {
            let reason = outcome.failure_reason.as_deref().unwrap_or("it was not verified");
            vec![line(&format!("fell short: {reason}"))]
        }
        Message::ConsentAnswer(ConsentAnswer { allowed: false, note, .. }) => {
            let why = note.as_deref().unwrap_or("you said no");
            vec![Line::warning(shortened(&format!("not allowed: {why}")))]
        }
        _ => Vec::new(),
    }
}

/// Progress lines for a plan: its round, and its subtasks by group with their tools.
fn of_plan(plan: &Plan) -> Vec<Line> {
    let round = if plan.round == 0 { String::new() } else { format!(", round {}", plan.round + 1) };
    let mut lines = vec![line(&format!("plan{round}:"))];
    let mut groups: Vec<i64> = plan.subtasks.iter().map(|subtask| subtask.sequence).collect();
    groups.sort_unstable();
    groups.dedup();
    for (number, group) in (1..).zip(groups) {
        for subtask in plan.subtasks.iter().filter(|subtask| subtask.sequence == group) {
            let tools = if subtask.tools.is_empty() { "words only".to_owned() } else { subtask.tools.join(", ") };
            lines.push(line(&format!("  {number}. {} [{tools}]", subtask.intent)));
        }
    }
    lines
}

fn shortened(text: &str) -> String {
    escape::shorten(&escape::one_line(text), LINE_CHARS)
}

fn line(text: &str) -> Line {
    Line::plain(shortened(text))
}

fn faint(text: &str) -> Line {
    Line::faint(shortened(text))
}

/// Lines about the changes that were not kept of a subtask's calls, once it has ended.
pub(crate) fn incidental(event: &TapEvent) -> Vec<Line> {
    let TapEvent::Message { envelope } = event else { return Vec::new() };
    let Message::ExecutionResult(ended) = &envelope.message else { return Vec::new() };
    ended.tool_calls.iter().flat_map(result::incidental).collect()
}

/// Whether an event belongs to a task; true for an event that belongs to no task.
pub(crate) fn belongs_to_task(event: &TapEvent, task_id: &artoo_proto::TaskId) -> bool {
    let of = match event {
        TapEvent::Message { envelope } => envelope.correlation_id.as_ref(),
        TapEvent::Refused { task_id, .. } => task_id.as_ref(),
        TapEvent::Dropped { to: address, .. }
        | TapEvent::Panicked { address, .. }
        | TapEvent::Ignored { address, .. } => address.task_id.as_ref(),
        TapEvent::EffectStarted(started) => started.task_id.as_ref(),
        TapEvent::EffectFinished(finished) => finished.task_id.as_ref(),
        TapEvent::Gap { .. } => None,
    };
    // An event without a task (memory, a gap) concerns every task.
    of.is_none_or(|of| of == task_id)
}
