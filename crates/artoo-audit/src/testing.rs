//! Makes bus events for tests, numbered and with causes as the bus would publish them.

use std::path::Path;
use std::sync::Arc;

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{
    AbandonReason, Address, Basis, CallStatus, Constraints, CorrectionSignal, EffectClass, Ending, Envelope,
    EvidenceId, ExecutionResult, ExecutionStatus, FailureClass, FailureMix, FinalResult, Loss, Message, MessageId,
    OutcomeStatus, PlanDirective, PrevDirective, Reading, ReplanDirective, SubTask, SubTaskId, SubTaskOutcome, TaskId,
    TaskSpec, Timestamp, ToolCall, Urgency, UserRequest, route,
};
use serde_json::Value;
use uuid::Uuid;

/// A time `ms` milliseconds after 2026-01-01.
pub(crate) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + ms)
}

/// The id of sample task number `n`.
pub(crate) fn task(n: u128) -> TaskId {
    TaskId::new("count files", Uuid::from_u128(n))
}

/// The message id with number `n`.
pub(crate) fn id(n: u64) -> MessageId {
    MessageId(Uuid::from_u128(u128::from(n) + 1))
}

/// The id of the only subtask in these tests.
pub(crate) fn subtask() -> SubTaskId {
    SubTaskId(Uuid::from_u128(7))
}

/// Makes events as the bus would publish them, with consecutive numbers.
#[derive(Default)]
pub(crate) struct Bench {
    n: u64,
    seq: u64,
}

impl Bench {
    /// Publishes a message from its regular sender; returns its event. The cause is the message published before;
    /// messages of operator and runtime have none.
    pub(crate) fn publish(&mut self, message: impl Into<Message>) -> Observed {
        let message = message.into();
        let row = route::route(message.kind()).unwrap();
        let outside = matches!(row.from, artoo_proto::Role::Operator | artoo_proto::Role::Runtime);
        let envelope = Envelope {
            seq: self.seq,
            id: id(self.seq),
            sent_at: at(self.seq.cast_signed()),
            from: Address::of(row.from, message.task_id(), message.subtask_id()),
            to: row.to.to_vec(),
            correlation_id: message.task_id().cloned(),
            causation_id: (!outside).then(|| id(self.seq.saturating_sub(1))),
            message,
        };
        self.seq += 1;
        self.sees(TapEvent::Message { envelope: Arc::new(envelope) })
    }

    /// Publishes a message whose envelope `change` alters, for instance to forge its sender; returns its event.
    pub(crate) fn says_with(&mut self, message: impl Into<Message>, change: impl FnOnce(&mut Envelope)) -> Observed {
        let mut observed = self.publish(message);
        if let TapEvent::Message { envelope } = &mut observed.event {
            change(Arc::make_mut(envelope));
        }
        observed
    }

    /// Puts any event at the next position on the tap.
    pub(crate) fn sees(&mut self, event: TapEvent) -> Observed {
        let observed = Observed { n: self.n, at: at(self.n.cast_signed()), event };
        self.n += 1;
        observed
    }

    /// Leaves out numbers, as if events were lost: of positions on the tap and of sequence numbers on the bus.
    pub(crate) fn skip(&mut self, tap: u64, bus: u64) {
        self.n += tap;
        self.seq += bus;
    }
}

/// The user's request of task `n`, with a hard limit of one minute.
pub(crate) fn request(n: u128) -> UserRequest {
    UserRequest {
        task_id: task(n),
        raw_input: "how many files are here?".to_owned(),
        session: vec![],
        material: None,
        interactive: false,
        hard_limit_ms: 60_000,
        required: Vec::new(),
        by_required: false,
    }
}

/// The specification of task `n`, as the perceiver sends it.
pub(crate) fn spec(n: u128) -> TaskSpec {
    TaskSpec {
        task_id: task(n),
        label: "count_files".to_owned(),
        intent: "count the files here".to_owned(),
        constraints: Constraints::default(),
        raw_input: "how many files are here?".to_owned(),
        session: Vec::new(),
        material: None,
        reading: Reading::default(),
        interactive: true,
    }
}

/// The solver's directive for `round` of task `n`; `d` is the distance from the goal in the round before.
pub(crate) fn directive(n: u128, round: u32, d: f64, directive: ReplanDirective) -> PlanDirective {
    PlanDirective {
        task_id: task(n),
        round,
        loss: Loss { d, p: 1.0, omega: 0.2, l: d },
        prev_directive: PrevDirective::Init,
        directive,
        blocked_tools: vec![],
        blocked_targets: vec![],
        released_tools: vec![],
        failed_criterion: "the count is right".to_owned(),
        failure_class: FailureMix::Logical,
        budget_pressure: 0.2,
        grad_l: 0.0,
        urgency: Urgency::Normal,
        suggested_alternatives: vec![],
        rationale: "another class of tool".to_owned(),
        tried: vec![],
        same_again: false,
    }
}

/// An agent-validator's correction in task `n`.
pub(crate) fn correction(n: u128, failure_class: FailureClass) -> CorrectionSignal {
    CorrectionSignal {
        subtask_id: subtask(),
        parent_task_id: task(n),
        attempt_number: 2,
        failed_criterion: "the count is right".to_owned(),
        failure_class,
        what_was_wrong: "no number".to_owned(),
        what_to_do: "print a number".to_owned(),
        avoid_calls: vec![],
    }
}

/// A sample tool call that only reads, with this status and output.
pub(crate) fn call(tool: &str, status: CallStatus, output: &str) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        input: Value::Null,
        target: ".".to_owned(),
        status,
        class: EffectClass::ReadOnly,
        measures: true,
        exit_code: Some(0),
        signal: None,
        output: output.to_owned(),
        output_bytes: output.len() as u64,
        truncated: false,
        evidence_id: EvidenceId("e1".to_owned()),
        elapsed_ms: 3,
        environmental: false,
        changed: vec![],
        changes_known: false,
        incidental: Vec::new(),
        alternatives: vec![],
        leave: None,
        kept: vec![],
    }
}

/// Task `n`'s subtask for `round`, as the dispatcher sends it to an executor.
pub(crate) fn sent(n: u128, round: u32, subtask_id: SubTaskId) -> SubTask {
    SubTask {
        subtask_id,
        parent_task_id: task(n),
        round,
        intent: "count the files".to_owned(),
        context: String::new(),
        success_criteria: vec![],
        sequence: 0,
        tools: vec![],
        blocked_tools: vec![],
        blocked_targets: vec![],
        confirm: false,
        recipe: None,
    }
}

/// An executor's result in task `n` with this status and these tool calls.
pub(crate) fn execution(n: u128, status: ExecutionStatus, tool_calls: Vec<ToolCall>) -> ExecutionResult {
    ExecutionResult {
        subtask_id: subtask(),
        parent_task_id: task(n),
        attempt: 1,
        status,
        output: "41".to_owned(),
        output_from_tool: true,
        tool_calls,
        denied: vec![],
        model_failure: None,
        reason: None,
    }
}

/// The outcome of the only subtask of task `n`.
pub(crate) fn outcome(n: u128, round: u32, status: OutcomeStatus) -> SubTaskOutcome {
    SubTaskOutcome {
        subtask_id: subtask(),
        parent_task_id: task(n),
        round,
        status,
        output: "41".to_owned(),
        failure_reason: None,
        gap_trajectory: vec![],
        criteria_verdicts: vec![],
        tool_calls: vec![],
        denied: vec![],
        infrastructure: false,
        model_failure: None,
        words_only: false,
    }
}

/// A sample ending: the task was accepted, and all criteria were checked in code.
pub(crate) fn accept() -> Ending {
    Ending::Accept { basis: Basis::Checked }
}

/// A sample ending: the task was abandoned at the limit of replans.
pub(crate) fn abandon() -> Ending {
    Ending::Abandon { reason: AbandonReason::MaxReplans, unmet: vec![] }
}

/// The final result of task `n`; `d` is the distance from the goal in the delivered round.
pub(crate) fn result(n: u128, delivered_round: u32, d: f64, ending: Ending) -> FinalResult {
    FinalResult {
        task_id: task(n),
        summary: "41 files".to_owned(),
        output: "41".to_owned(),
        answers: vec![],
        unverified: vec![],
        loss: Loss { d, p: 0.0, omega: 0.0, l: d },
        grad_l: 0.0,
        replans: delivered_round,
        prev_directive: PrevDirective::Init,
        decision: String::new(),
        ending,
        delivered_round,
        suspect: false,
        criteria: vec![],
        denied: vec![],
        assumptions: vec![],
        next_steps: vec![],
        coverage: None,
        model_words: None,
        skill: None,
    }
}

/// A log's lines, without line breaks.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    std::io::read_to_string(crate::verify::open(path).unwrap()).unwrap().lines().map(str::to_owned).collect()
}

/// A log's lines as JSON values.
pub(crate) fn values(path: &Path) -> Vec<Value> {
    lines(path).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}
