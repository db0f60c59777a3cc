//! What is remembered of one task, and the rules that need it.

use std::collections::{BTreeMap, HashSet};

use artoo_proto::{
    CallStatus, CriterionMark, Ending, Envelope, ExecutionResult, FinalResult, GapTrend, Message, MessageId,
    MessageKind, OutcomeStatus, PlanDirective, ReplanDirective, Role, Timestamp,
};

use super::Seen;
use crate::finding::Rule;

/// D is compared in millionths, as the controller compares it.
const MICRO: f64 = 1e6;

/// One task as seen so far.
#[derive(Debug, Default)]
pub(super) struct TaskView {
    /// Events of this task may have been missed: an unknown cause or a missing result proves nothing.
    pub(super) blind: bool,
    passed: HashSet<MessageId>,
    opened: Option<(Timestamp, u64)>,
    overdue_told: bool,
    results: u32,
    /// D by round, in millionths.
    gaps: BTreeMap<u32, i64>,
    last_directive: Option<(ReplanDirective, i64)>,
    /// Per round, the first subtask that failed or never reported.
    failed: BTreeMap<u32, String>,
}

impl TaskView {
    pub(super) fn new(blind: bool) -> Self {
        Self { blind, ..Self::default() }
    }

    pub(super) fn passed(&self, id: MessageId) -> bool {
        self.passed.contains(&id)
    }

    /// Opened here, and without a final result.
    pub(super) fn is_open(&self) -> bool {
        self.opened.is_some() && self.results == 0
    }

    /// The hard limit in milliseconds, the first time the task is found to be past it and its grace.
    pub(super) fn newly_overdue(&mut self, now: Timestamp, grace_ms: i64) -> Option<u64> {
        let (since, limit_ms) = self.opened?;
        let end = since.plus_millis(i64::try_from(limit_ms).unwrap_or(i64::MAX)).plus_millis(grace_ms);
        if !self.is_open() || self.blind || self.overdue_told || now <= end {
            return None;
        }
        self.overdue_told = true;
        Some(limit_ms)
    }

    pub(super) fn message(&mut self, envelope: &Envelope, seen: &mut Seen) {
        self.check_cause(envelope, seen);
        self.check_after_result(envelope, seen);
        if !self.passed.insert(envelope.id) {
            seen.find(Rule::RepeatedId, super::name(envelope));
        }
        // Only these kinds tell something the rules remember.
        if let Message::UserRequest(request) = &envelope.message {
            self.opened.get_or_insert((envelope.sent_at, request.hard_limit_ms));
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

    fn check_cause(&self, envelope: &Envelope, seen: &mut Seen) {
        let outside = matches!(envelope.from.role, Role::Operator | Role::Runtime);
        match envelope.causation_id {
            Some(cause) if self.blind || self.passed(cause) => {}
            Some(cause) => seen.find(Rule::UnknownCause, format!("{} names {cause}", super::name(envelope))),
            None if outside => {}
            None => seen.find(Rule::UnknownCause, format!("{} names none", super::name(envelope))),
        }
    }

    /// After the result only the human, the runtime and what R7 owes memory and the instances may still be heard.
    fn check_after_result(&self, envelope: &Envelope, seen: &mut Seen) {
        let kind = envelope.message.kind();
        let expected = match envelope.from.role {
            Role::Operator | Role::Runtime => true,
            Role::Solver => matches!(kind, MessageKind::Megram | MessageKind::Abort | MessageKind::FinalResult),
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

    fn directive(&mut self, directive: &PlanDirective, seen: &mut Seen) {
        let d = micro(directive.loss.d);
        if let Some((ReplanDirective::BreakSymmetry, before)) = self.last_directive
            && directive.directive == ReplanDirective::BreakSymmetry
            && d >= before
        {
            let (before, now) = (before as f64 / MICRO, directive.loss.d);
            let detail = format!("{}: break_symmetry again, D {before:.3} before and {now:.3} now", directive.task_id);
            seen.find(Rule::GgsThrashing, detail);
        }
        self.last_directive = Some((directive.directive, d));
        // The directive opens a round; its loss is that of the round before.
        seen.trend = self.trend_with(directive.round.saturating_sub(1), d);
    }

    fn result(&mut self, result: &FinalResult, seen: &mut Seen) {
        self.results = self.results.saturating_add(1);
        seen.first_result = self.results == 1;
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

    /// Where the gap is heading once round `round` is known: its last two rounds compared.
    ///
    /// A delivered round that is not the last adds nothing, since it was known already.
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

fn tool_failures(result: &ExecutionResult, seen: &mut Seen) {
    for call in &result.tool_calls {
        let how = match call.status {
            CallStatus::Ok => continue,
            CallStatus::Failed => "failed",
            CallStatus::Denied => "was denied",
            CallStatus::TimedOut => "ran out of time",
            CallStatus::Cut => "was cut off",
            CallStatus::Uncertain => "began and no end was seen",
        };
        seen.find(Rule::ToolFailed, format!("{} {how}", call.tool));
    }
}

/// D in millionths; what is no number counts as a full gap.
fn micro(d: f64) -> i64 {
    if d.is_finite() { (d * MICRO).round() as i64 } else { MICRO as i64 }
}
