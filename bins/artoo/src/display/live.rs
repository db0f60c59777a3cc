//! The progress of a running task: one updated line with its stage, and with `-v` a line for each event.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_proto::{
    ConsentAnswer, EffectId, EffectKind, Envelope, Message, OutcomeStatus, Plan, Role, SubTaskId, escape, units,
};
use artoo_tools::{Activity, Unit};

use super::bar::Work;
use super::{Line, result};
use crate::texts;

/// Maximum length of a progress line, in characters.
const LINE_CHARS: usize = 200;

/// Maximum length of a subtask's intent in the status line, in characters.
const INTENT_CHARS: usize = 48;

/// Time after a task's start in which no status is shown on a terminal whose lines can't be redrawn.
const STILL_AFTER: Duration = Duration::from_secs(1);

/// Time that a tool must have run before the status line shows how far its work is.
const BAR_AFTER: Duration = Duration::from_secs(1);

/// Frames of the spinner, one for each update.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Tracks a task's events: the text of its status line, and with `-v` a line for each event. Other code prints them.
#[derive(Debug)]
pub(crate) struct TaskProgress {
    began: Instant,
    frame: usize,
    running: BTreeMap<EffectId, Running>,
    /// What the steps of the current plan do.
    intents: BTreeMap<SubTaskId, String>,
    /// Number of replans so far.
    replans: u32,
}

/// An effect of the task that is running: the stage it belongs to, and when it began.
#[derive(Debug)]
struct Running {
    stage: String,
    since: Instant,
}

impl TaskProgress {
    /// Creates the progress of a task that begins at `now`.
    pub(crate) fn new(now: Instant) -> Self {
        Self { began: now, frame: 0, running: BTreeMap::new(), intents: BTreeMap::new(), replans: 0 }
    }

    /// Takes an event of the task into account; returns its line for `-v`, which most events don't have.
    pub(crate) fn event(&mut self, event: &TapEvent, now: Instant) -> Vec<Line> {
        match event {
            TapEvent::Message { envelope } => {
                self.learn(envelope);
                of_message(envelope)
            }
            TapEvent::EffectStarted(started) => {
                let intent = started.subtask_id.and_then(|id| self.intents.get(&id)).map(String::as_str);
                let Some(stage) = stage(&started.effect, started.by, intent, self.replans) else { return Vec::new() };
                self.running.insert(started.effect_id, Running { stage, since: now });
                let is_call = matches!(started.effect, EffectKind::Tool { .. });
                is_call.then(|| faint(&format!("  → {}", started.digest))).into_iter().collect()
            }
            TapEvent::EffectFinished(finished) => {
                let was_running = self.running.remove(&finished.effect_id).is_some();
                // A question about the call follows, or that it was not allowed.
                let failed = was_running && !finished.ok && !finished.digest.starts_with("needs consent: ");
                failed.then(|| faint(&format!("  ✗ {}", finished.digest))).into_iter().collect()
            }
            TapEvent::Panicked { address, .. } => vec![Line::warning(format!("{} failed inside", address.role))],
            TapEvent::Dropped { to, .. } => vec![Line::warning(format!("a message to {} was lost", to.role))],
            TapEvent::Refused { .. } | TapEvent::Ignored { .. } | TapEvent::Gap { .. } => Vec::new(),
        }
    }

    /// Updates the state behind the status line by a message: the intents of subtasks and the number of replans.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the moving line needs two kinds of message")]
    fn learn(&mut self, envelope: &Envelope) {
        match &envelope.message {
            Message::SubTask(subtask) => {
                let intent = escape::shorten(&escape::one_line(&subtask.intent), INTENT_CHARS);
                self.intents.insert(subtask.subtask_id, intent);
            }
            Message::PlanDirective(directive) => self.replans = directive.round,
            _ => {}
        }
    }

    /// The status line: the latest stage, its duration, and the task's tokens. `tool` has the progress of tools. `None`
    /// if a terminal without redrawn lines has nothing to show yet.
    pub(crate) fn status(
        &mut self,
        now: Instant,
        tokens: u64,
        tool: Option<String>,
        is_moving: bool,
    ) -> Option<String> {
        if !is_moving && now.saturating_duration_since(self.began) < STILL_AFTER {
            return None;
        }
        self.frame = (self.frame + 1) % SPINNER.len();
        let last = self.running.values().max_by_key(|running| running.since);
        let (stage, since) = last.map_or((texts::WORKING, self.began), |last| (last.stage.as_str(), last.since));
        let more = match self.running.len().saturating_sub(1) {
            0 => String::new(),
            more => format!(" (+{more})"),
        };
        let spinner = SPINNER.get(self.frame).filter(|_| is_moving).map(|c| format!("{c} ")).unwrap_or_default();
        let seconds = now.saturating_duration_since(since).as_secs();
        let tokens =
            if tokens == 0 { String::new() } else { format!(" · {}", units::count(tokens, "token", "tokens")) };
        let stage = tool.unwrap_or_else(|| format!("{stage}{more} · {seconds} s"));
        Some(format!("{spinner}{stage}{tokens}"))
    }
}

/// The progress of the longest-running tool call; `None` without one, or if it has run for less than a second.
pub(crate) fn tool_line(activity: &[Activity], now: Instant) -> Option<String> {
    let oldest = activity.iter().min_by_key(|work| work.started)?;
    let elapsed = now.saturating_duration_since(oldest.started);
    let is_in_bytes = matches!(oldest.unit, Unit::Bytes);
    let work = Work { done: oldest.done, total: oldest.total, new: oldest.done, elapsed, is_in_bytes };
    (elapsed >= BAR_AFTER).then(|| format!("{} {}", oldest.verb, work.line()))
}

/// The name of the task's stage, such as planning, to which a running effect belongs; `None` for effects that take
/// little time.
fn stage(effect: &EffectKind, by: Role, intent: Option<&str>, replans: u32) -> Option<String> {
    let about = |stage: &str| intent.map_or_else(|| stage.to_owned(), |intent| format!("{stage}: {intent}"));
    Some(match effect {
        EffectKind::Model { .. } => match by {
            Role::Perceiver => texts::UNDERSTANDING.to_owned(),
            Role::Planner if replans > 0 => texts::planning_again(replans),
            Role::Planner => texts::PLANNING.to_owned(),
            Role::AgentValidator => about(texts::CHECKING),
            Role::MetaValidator => texts::CHECKING_ALL.to_owned(),
            Role::Executor
            | Role::Dispatcher
            | Role::Memory
            | Role::Auditor
            | Role::Solver
            | Role::Operator
            | Role::Runtime => about(texts::WORKING),
        },
        EffectKind::Tool { tool } => texts::using(tool),
        EffectKind::Checks { .. } => texts::CHECKING.to_owned(),
        EffectKind::Timer { .. } | EffectKind::Persist | EffectKind::Read | EffectKind::Cover => return None,
    })
}

/// Progress lines for a message, with `-v`.
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
            vec![line(&format!("not allowed: {why}"))]
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

/// Makes one line of a text, cut after `LINE_CHARS` characters with a note of the rest.
fn shortened(text: &str) -> String {
    escape::shorten(&escape::one_line(text), LINE_CHARS)
}

/// A progress line with this text, shortened.
fn line(text: &str) -> Line {
    Line::plain(shortened(text))
}

/// A progress line with this text in faint letters, shortened.
fn faint(text: &str) -> Line {
    Line::faint(shortened(text))
}

/// Lines that name the incidental changes (such as compiled modules) of a subtask's programs that were discarded, once
/// the subtask has ended.
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
