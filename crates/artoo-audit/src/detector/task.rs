//! The detector's state of one task, and the rules that need this state.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use artoo_proto::{
    CallStatus, CorrectionSignal, CriterionMark, Ending, Envelope, ExecutionResult, FinalResult, GapTrend, Message,
    MessageId, MessageKind, OutcomeStatus, PlanDirective, ReplanDirective, Role, SubTaskId, Timestamp,
};

use super::Observation;
use crate::finding::Rule;
use crate::words;

/// Number by which D (distance from the goal) is multiplied to be compared as an integer, as in the solver.
const MICRO: f64 = 1e6;

/// Maximum number of attempts at a subtask that the fast loop allows: the first and two retries.
const ATTEMPTS_MAX: u32 = 3;

/// Number of retries of one task above which the detector reports it, once: all that three subtasks may have in a
/// round.
const RETRIES_MANY: u64 = 6;

/// The detector's state of one task: what the rules need to know of its earlier messages.
#[derive(Debug, Default)]
pub(super) struct TaskView {
    /// Events of this task may be missing, so an unknown cause or a missing result proves nothing.
    pub(super) incomplete: bool,
    /// Ids of the task's published messages.
    published: HashSet<MessageId>,
    /// When the request was published, and the hard limit in milliseconds; `None` if no request was seen.
    opened: Option<(Timestamp, u64)>,
    /// Whether the task was already reported as overdue.
    overdue_reported: bool,
    /// Number of final results.
    results: u32,
    /// Number of corrections, which are retries of subtasks.
    corrections: u64,
    /// Ids of the subtasks sent to executors.
    subtasks: BTreeSet<SubTaskId>,
    /// Whether the task was already reported for a replan without a smaller D.
    is_stalled: bool,
    /// D (distance from the goal) of each round, in millionths.
    gaps: BTreeMap<u32, i64>,
    /// The last replan directive, with its D in millionths.
    last_directive: Option<(ReplanDirective, i64)>,
    /// For each round, the first subtask that failed or never reported.
    failed: BTreeMap<u32, String>,
}

impl TaskView {
    /// Creates the state of a task without messages; `incomplete` if events of the task may have been lost.
    pub(super) fn new(incomplete: bool) -> Self {
        Self { incomplete, ..Self::default() }
    }

    /// Whether a message with this id was published in the task.
    pub(super) fn has_published(&self, id: MessageId) -> bool {
        self.published.contains(&id)
    }

    /// Whether the task's request was seen and no final result.
    pub(super) fn is_open(&self) -> bool {
        self.opened.is_some() && self.results == 0
    }

    /// The task's hard limit in ms if it has passed by `grace_ms` without a result; `None` otherwise and on later
    /// calls.
    pub(super) fn newly_overdue(&mut self, now: Timestamp, grace_ms: i64) -> Option<u64> {
        let (since, limit_ms) = self.opened?;
        let end = since.plus_millis(i64::try_from(limit_ms).unwrap_or(i64::MAX)).plus_millis(grace_ms);
        if !self.is_open() || self.incomplete || self.overdue_reported || now <= end {
            return None;
        }
        self.overdue_reported = true;
        Some(limit_ms)
    }

    /// Checks a message of the task against the rules and updates the task's state.
    pub(super) fn message(&mut self, envelope: &Envelope, seen: &mut Observation) {
        self.check_cause(envelope, seen);
        self.check_after_result(envelope, seen);
        if !self.published.insert(envelope.id) {
            seen.find(Rule::RepeatedId, super::name(envelope));
        }
        // Only these kinds change the state.
        if let Message::UserRequest(request) = &envelope.message {
            self.opened.get_or_insert((envelope.sent_at, request.hard_limit_ms));
        } else if let Message::SubTask(subtask) = &envelope.message {
            if !self.subtasks.insert(subtask.subtask_id) {
                let detail = format!("{}: {}", subtask.parent_task_id, subtask.subtask_id);
                seen.find(Rule::RepeatedSubtask, detail);
            }
        } else if let Message::CorrectionSignal(correction) = &envelope.message {
            self.correction(correction, seen);
        } else if let Message::ExecutionResult(result) = &envelope.message {
            tool_failures(result, seen);
        } else if let Message::SubTaskOutcome(outcome) = &envelope.message {
            if outcome.status == OutcomeStatus::Failed {
                let reason = outcome.failure_reason.as_deref().unwrap_or("no reason given");
                self.failed.entry(outcome.round).or_insert_with(|| format!("{} failed: {reason}", outcome.subtask_id));
            }
        } else if let Message::SubTaskMissing(missing) = &envelope.message {
            self.failed.entry(missing.round).or_insert_with(|| format!("{} never reported", missing.subtask_id));
        } else if let Message::PlanDirective(directive) = &envelope.message {
            self.directive(directive, seen);
        } else if let Message::FinalResult(result) = &envelope.message {
            self.result(result, seen);
        }
    }

    /// Reports a message that names no cause, unless operator or runtime sent it, or a cause that was not published in
    /// the task before, unless events may be missing.
    fn check_cause(&self, envelope: &Envelope, seen: &mut Observation) {
        let outside = matches!(envelope.from.role, Role::Operator | Role::Runtime);
        match envelope.causation_id {
            Some(cause) if self.incomplete || self.has_published(cause) => {}
            Some(cause) => seen.find(Rule::UnknownCause, format!("{} names {cause}", super::name(envelope))),
            None if outside => {}
            None => seen.find(Rule::UnknownCause, format!("{} names no cause", super::name(envelope))),
        }
    }

    /// Reports a message after the task's final result, except for those of operator and runtime and the solver's last
    /// ones.
    fn check_after_result(&self, envelope: &Envelope, seen: &mut Observation) {
        let kind = envelope.message.kind();
        let expected = match envelope.from.role {
            Role::Operator | Role::Runtime => true,
            Role::Solver => matches!(
                kind,
                MessageKind::Megram | MessageKind::MemoryCorrection | MessageKind::Abort | MessageKind::FinalResult
            ),
            Role::Perceiver
            | Role::Planner
            | Role::Dispatcher
            | Role::Executor
            | Role::AgentValidator
            | Role::MetaValidator
            | Role::Memory
            | Role::Auditor => false,
        };
        if self.results > 0 && !expected {
            seen.find(Rule::AfterFinalResult, super::name(envelope));
        }
    }

    /// Counts a correction; reports it if its attempt is beyond [`ATTEMPTS_MAX`], or if it is the first above
    /// [`RETRIES_MANY`].
    fn correction(&mut self, correction: &CorrectionSignal, seen: &mut Observation) {
        self.corrections += 1;
        if correction.attempt_number > ATTEMPTS_MAX || self.corrections == RETRIES_MANY + 1 {
            let detail = words::retries(&correction.parent_task_id, self.corrections, correction.attempt_number);
            seen.find(Rule::ExcessiveRetries, detail);
        }
    }

    /// Reports a directive if D did not fall since the one before: as thrashing if both are `break_symmetry`, else as a
    /// stalled replan, once in a task. Stores the D of the round before.
    fn directive(&mut self, directive: &PlanDirective, seen: &mut Observation) {
        let d = micro(directive.loss.d);
        if let Some((kind, before)) = self.last_directive
            && d >= before
        {
            let is_thrashing = [kind, directive.directive] == [ReplanDirective::BreakSymmetry; 2];
            let rule = if is_thrashing { Rule::GgsThrashing } else { Rule::StalledReplan };
            if is_thrashing || !self.is_stalled {
                let (before, now) = (before as f64 / MICRO, directive.loss.d);
                seen.find(rule, format!("{}: D {before:.3} before and {now:.3} now", directive.task_id));
            }
            self.is_stalled = true;
        }
        self.last_directive = Some((directive.directive, d));
        // The directive opens a round; its loss belongs to the round before.
        seen.trend = self.trend_with(directive.round.saturating_sub(1), d);
    }

    /// Reports a second final result, and a result accepted despite a failed subtask of the delivered round, unmet
    /// criteria or D above 0.
    fn result(&mut self, result: &FinalResult, seen: &mut Observation) {
        self.results = self.results.saturating_add(1);
        seen.ended_after = (self.results == 1).then_some(self.corrections);
        if self.results > 1 {
            seen.find(Rule::RepeatedFinalResult, format!("{}: result number {}", result.task_id, self.results));
            return;
        }
        seen.trend = self.trend_with(result.delivered_round, micro(result.loss.d));
        if !matches!(result.ending, Ending::Accept { .. }) {
            return;
        }
        if let Some(failure) = self.failed.get(&result.delivered_round) {
            seen.find(Rule::AcceptAfterFailure, format!("{}: {failure}", result.task_id));
        }
        let unmet = result.criteria.iter().filter(|criterion| criterion.mark == CriterionMark::Unmet).count();
        if unmet > 0 || micro(result.loss.d) > 0 {
            let detail = format!("{}: {unmet} criteria unmet, D {:.3}", result.task_id, result.loss.d);
            seen.find(Rule::AcceptWithUnmet, detail);
        }
    }

    /// Stores D (distance from the goal) of `round`; returns the trend between the task's last two rounds, `None` in
    /// the first.
    ///
    /// A delivered round that is not the last was added before, so it changes nothing.
    fn trend_with(&mut self, round: u32, d: i64) -> Option<GapTrend> {
        self.gaps.insert(round, d);
        let mut last = self.gaps.values().rev();
        let (now, before) = (last.next()?, last.next()?);
        Some(match now.cmp(before) {
            std::cmp::Ordering::Less => GapTrend::Improving,
            std::cmp::Ordering::Equal => GapTrend::Stable,
            std::cmp::Ordering::Greater => GapTrend::Worsening,
        })
    }
}

/// Reports each tool call in an execution result that was denied or failed.
fn tool_failures(result: &ExecutionResult, seen: &mut Observation) {
    for call in &result.tool_calls {
        let rule = match call.status {
            CallStatus::Ok => continue,
            CallStatus::Denied => Rule::CallDenied,
            CallStatus::Failed | CallStatus::TimedOut | CallStatus::Cut | CallStatus::Uncertain => Rule::ToolFailed,
        };
        seen.find(rule, words::call_ended(&call.tool, call.status));
    }
}

/// Converts D (distance from the goal) to millionths; a value that is not finite counts as 1.
fn micro(d: f64) -> i64 {
    if d.is_finite() { (d * MICRO).round() as i64 } else { MICRO as i64 }
}
