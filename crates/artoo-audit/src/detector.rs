//! The detector: checks bus events one by one against the rules of the bus and of tasks. After lost events, rules that
//! need them report nothing.

mod task;

use std::collections::{BTreeMap, VecDeque};

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{
    Address, EffectFinished, EffectId, EffectKind, EffectStarted, Envelope, GapTrend, MessageKind, Role, TaskId,
    Timestamp, route,
};

use crate::finding::{Finding, Rule};
use crate::words::effect_label;
use task::TaskView;

/// Maximum number of tasks whose state the detector holds, ended ones included, to check late messages. A task takes
/// some hundred message ids of 16 bytes.
const TASKS_REMEMBERED: usize = 2_048;

/// Maximum number of running effects (work outside the System) that the detector tracks: far more than a plan can have
/// running.
const EFFECTS_REMEMBERED: usize = 4_096;

/// Time after its hard limit at which a task without a result counts as overdue, in milliseconds.
const OVERDUE_GRACE_MS: i64 = 5_000;

/// What the rules found in one event, and what the event adds to the auditor's counts.
#[derive(Debug, Default)]
pub(crate) struct Observation {
    /// What the rules found wrong with the event.
    pub(crate) findings: Vec<Finding>,
    /// Whether the event opened a task not seen before.
    pub(crate) new_task: bool,
    /// Number of corrections in the task, if the event is its first final result.
    pub(crate) ended_after: Option<u64>,
    /// The task's trend, if the event contains a new D (distance from the goal).
    pub(crate) trend: Option<GapTrend>,
}

/// Checks events against the rules of the bus and of tasks; it holds the state that the rules need.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// Expected position of the next event on the tap; `None` before the first.
    next_on_tap: Option<u64>,
    /// Expected sequence number of the next message; `None` before the first.
    next_seq: Option<u64>,
    /// Remembered tasks, open and ended.
    tasks: BTreeMap<TaskId, TaskView>,
    /// Ids of the remembered tasks in the order in which they were first seen.
    oldest_first: VecDeque<TaskId>,
    /// Running work outside the System.
    effects: BTreeMap<EffectId, Effect>,
    /// Events were lost since the last message, so the next sequence number may be higher.
    resync: bool,
    /// Events were lost or tasks forgotten, so an unknown task or effect proves nothing.
    incomplete: bool,
}

/// A running effect (work outside the System, such as a tool call) and its task.
#[derive(Debug)]
struct Effect {
    kind: EffectKind,
    task_id: Option<TaskId>,
}

impl Detector {
    /// Checks one event against all rules and updates the detector's state.
    pub(crate) fn observe(&mut self, observed: &Observed) -> Observation {
        let mut seen = Observation::default();
        self.check_position(observed.n, &mut seen);
        match &observed.event {
            TapEvent::Message { envelope } => self.message(envelope, &mut seen),
            TapEvent::Refused { from, kind, refusal, .. } => {
                seen.find(Rule::Refused, format!("{kind} from {from}: {refusal}"));
            }
            TapEvent::Dropped { seq, to, reason } => {
                seen.find(Rule::DeliveryDropped, format!("message {seq} to {to}: {reason}"));
            }
            TapEvent::EffectStarted(started) => self.effect_started(started, &mut seen),
            TapEvent::EffectFinished(finished) => self.effect_finished(finished, &mut seen),
            TapEvent::Panicked { address, detail } => seen.find(Rule::Panicked, format!("{address}: {detail}")),
            TapEvent::Ignored { address, detail } => seen.find(Rule::Ignored, format!("{address}: {detail}")),
            TapEvent::Gap { missing } => {
                seen.find(Rule::EventsMissing, format!("{missing} events: the auditor was too slow for the bus"));
                self.mark_incomplete();
            }
        }
        seen
    }

    /// Findings for tasks without a final result whose hard limit and grace time have passed at `now`; each task is
    /// found once. Tasks of which events may be missing are left out.
    pub(crate) fn overdue(&mut self, now: Timestamp) -> Vec<Finding> {
        let late = self.tasks.iter_mut().filter_map(|(id, task)| {
            let limit_ms = task.newly_overdue(now, OVERDUE_GRACE_MS)?;
            Some(Finding::new(Rule::NoFinalResult, format!("{id} is past its hard limit of {limit_ms} ms")))
        });
        late.collect()
    }

    /// Findings for tasks that were requested and have no final result; tasks of which events may be missing are left
    /// out.
    pub(crate) fn without_result(&self) -> Vec<Finding> {
        let open = self.tasks.iter().filter(|(_, task)| task.is_open() && !task.incomplete);
        open.map(|(id, _)| Finding::new(Rule::NoFinalResult, format!("{id} had none when the bus was closed")))
            .collect()
    }

    /// Prepares for a new tap, whose event numbers begin again at any number.
    pub(crate) fn restart_positions(&mut self) {
        self.next_on_tap = None;
    }

    /// Reports missing events if the event's number on the tap is not the one after the last.
    fn check_position(&mut self, n: u64, seen: &mut Observation) {
        if let Some(expected) = self.next_on_tap
            && n != expected
        {
            seen.find(Rule::EventsMissing, format!("event {n} arrived where {expected} was expected"));
            self.mark_incomplete();
        }
        self.next_on_tap = Some(n + 1);
    }

    /// Records that events were lost, so that from now on rules that need them report nothing.
    fn mark_incomplete(&mut self) {
        self.resync = true;
        self.incomplete = true;
        for task in self.tasks.values_mut() {
            task.incomplete = true;
        }
    }

    /// Checks a message against the rules: sequence number, route, and those of its task.
    fn message(&mut self, envelope: &Envelope, seen: &mut Observation) {
        self.check_sequence(envelope, seen);
        check_route(envelope, seen);
        let Some(task_id) = envelope.message.task_id() else {
            return;
        };
        if envelope.correlation_id.as_ref() != Some(task_id) {
            seen.find(Rule::ForeignTask, format!("{} carries another task's id", name(envelope)));
        }
        let kind = envelope.message.kind();
        if !self.tasks.contains_key(task_id) {
            self.remember(task_id, kind);
            seen.new_task = opens_task(kind);
        }
        if let Some(task) = self.tasks.get_mut(task_id) {
            task.message(envelope, seen);
        }
    }

    /// Reports a message whose sequence number on the bus is not the one after the last; after lost events, a higher
    /// one is allowed.
    fn check_sequence(&mut self, envelope: &Envelope, seen: &mut Observation) {
        if let Some(expected) = self.next_seq {
            let fits = envelope.seq == expected || (self.resync && envelope.seq > expected);
            if !fits {
                let detail = format!("{} has number {} where {expected} was expected", name(envelope), envelope.seq);
                seen.find(Rule::SequenceGap, detail);
            }
        }
        self.resync = false;
        self.next_seq = Some(envelope.seq.saturating_add(1));
    }

    /// Begins to hold the state of a task. If there are too many, that of the oldest ended task is dropped, or of the
    /// oldest task if none has ended.
    fn remember(&mut self, task_id: &TaskId, first: MessageKind) {
        if self.tasks.len() >= TASKS_REMEMBERED {
            let ended = self.oldest_first.iter().position(|id| self.tasks.get(id).is_some_and(|task| !task.is_open()));
            if let Some(forgotten) = self.oldest_first.remove(ended.unwrap_or(0)) {
                self.tasks.remove(&forgotten);
                self.incomplete = true;
            }
        }
        let incomplete = self.incomplete && !opens_task(first);
        self.tasks.insert(task_id.clone(), TaskView::new(incomplete));
        self.oldest_first.push_back(task_id.clone());
    }

    /// Checks that a tool call was asked for by the executor, and that an effect (work outside the System) of a task
    /// names a known cause; tracks the effect.
    fn effect_started(&mut self, started: &EffectStarted, seen: &mut Observation) {
        let label = effect_label(&started.effect);
        if matches!(started.effect, EffectKind::Tool { .. }) && started.by != Role::Executor {
            seen.find(Rule::EffectOutsideAuthority, format!("{} asked for {label}", started.by));
        }
        if let Some(task_id) = &started.task_id {
            let knows = self.tasks.get(task_id).map(|task| task.incomplete || task.has_published(started.cause));
            if !knows.unwrap_or(self.incomplete) {
                seen.find(
                    Rule::UnknownCause,
                    format!("{label} of {} names a cause that was never published", started.by),
                );
            }
        }
        if self.effects.len() >= EFFECTS_REMEMBERED {
            // Work of an ended task was stopped, so its result never arrives.
            let tasks = &self.tasks;
            let open = |task_id: &TaskId| tasks.get(task_id).is_some_and(TaskView::is_open);
            self.effects.retain(|_, effect| effect.task_id.as_ref().is_none_or(open));
        }
        if self.effects.len() < EFFECTS_REMEMBERED {
            let effect = Effect { kind: started.effect.clone(), task_id: started.task_id.clone() };
            self.effects.insert(started.effect_id, effect);
        } else {
            self.incomplete = true;
        }
    }

    /// Reports failed effects (work outside the System) other than tool calls, timers and checks; and results of
    /// effects that were never started, unless events may be missing.
    fn effect_finished(&mut self, finished: &EffectFinished, seen: &mut Observation) {
        match self.effects.remove(&finished.effect_id).map(|effect| effect.kind) {
            // A tool call is judged by its record in the ExecutionResult; a timer that fired and a check that found a
            // claim false have not failed.
            Some(EffectKind::Tool { .. } | EffectKind::Timer { .. } | EffectKind::Checks { .. }) => {}
            Some(kind) if !finished.ok => {
                let detail = format!("{} of {}: {}", effect_label(&kind), finished.by, finished.digest);
                seen.find(Rule::EffectFailed, detail);
            }
            Some(_) => {}
            None if self.incomplete => {}
            None => seen.find(Rule::UnknownEffect, format!("for {}: {}", finished.by, finished.digest)),
        }
    }
}

impl Observation {
    /// Adds a finding of a rule to the observation.
    pub(crate) fn find(&mut self, rule: Rule, detail: impl AsRef<str>) {
        self.findings.push(Finding::new(rule, detail));
    }
}

/// Checks a message's publisher, receivers and sending instance against the route table.
fn check_route(envelope: &Envelope, seen: &mut Observation) {
    let kind = envelope.message.kind();
    let fits = route::ROUTES
        .iter()
        .any(|row| row.kind == kind && row.from == envelope.from.role && row.to == envelope.to.as_slice());
    if !fits {
        let to: Vec<&str> = envelope.to.iter().map(|role| role.code()).collect();
        seen.find(Rule::RouteNotInTable, format!("{} to {}", name(envelope), to.join(", ")));
    }
    let home = Address::of(envelope.from.role, envelope.message.task_id(), envelope.message.subtask_id());
    if envelope.from != home {
        seen.find(Rule::ForeignTask, format!("{} should come from {home}", name(envelope)));
    }
}

/// Whether a message of this kind can be the first of a task.
fn opens_task(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::UserRequest | MessageKind::TaskSpec)
}

/// The kind and the sender of a message, for the text of a finding.
fn name(envelope: &Envelope) -> String {
    format!("{} from {}", envelope.message.kind(), envelope.from)
}

#[cfg(test)]
mod tests;
