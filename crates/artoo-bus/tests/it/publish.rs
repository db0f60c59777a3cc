//! Which messages the bus accepts, in which order it delivers them, and how it reports drops.

use artoo_proto::{
    Abort, Address, Basis, CancelRequest, ConsentAnswer, ConsentHash, Constraints, Ending, FinalResult, Loss,
    MemoryQuery, Message, MessageId, MissingReason, PlanRejected, PrevDirective, Role, RoleFailed, SubTaskId,
    SubTaskMissing, TaskId, TaskSpec, Timestamp, UserRequest, route,
};
use uuid::Uuid;

use artoo_bus::{Bus, Delivery, MAILBOX_CAPACITY, Refusal, TASK_END_RESERVE, TASK_MESSAGES_MAX, TapEvent};

/// A time in milliseconds since 1970.
pub(crate) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

/// Message id number `n`.
pub(crate) fn id(n: u64) -> MessageId {
    MessageId(Uuid::from_u128(u128::from(n)))
}

/// Task id number `n`.
pub(crate) fn task(n: u8) -> TaskId {
    TaskId::new("sort the photos", Uuid::from_u128(u128::from(n)))
}

/// Subtask id number `n`.
fn subtask(n: u8) -> SubTaskId {
    SubTaskId(Uuid::from_u128(u128::from(n)))
}

/// The user's request of task `n`.
pub(crate) fn request(n: u8) -> Message {
    UserRequest {
        task_id: task(n),
        raw_input: String::new(),
        session: vec![],
        material: None,
        interactive: false,
        hard_limit_ms: 1,
        required: vec![],
        by_required: false,
    }
    .into()
}

/// The specification of task `n`.
pub(crate) fn spec(n: u8) -> Message {
    TaskSpec {
        task_id: task(n),
        label: String::new(),
        intent: String::new(),
        constraints: Constraints::default(),
        raw_input: String::new(),
        session: Vec::new(),
        material: None,
        reading: artoo_proto::Reading::default(),
        interactive: true,
    }
    .into()
}

/// The report that a subtask is missing.
pub(crate) fn missing(n: u8, s: u8) -> Message {
    let reason = MissingReason::NoReport;
    SubTaskMissing { parent_task_id: task(n), subtask_id: subtask(s), round: 0, reason }.into()
}

/// The user's denial of a call of this task and subtask.
pub(crate) fn consent(n: u8, s: u8) -> Message {
    let hash = ConsentHash(String::new());
    let scope = artoo_proto::ConsentScope::Once;
    ConsentAnswer {
        task_id: task(n),
        subtask_id: subtask(s),
        hash,
        allowed: false,
        scope,
        note: None,
        readings: vec![],
    }
    .into()
}

/// The planner's query to memory.
pub(crate) fn memory_query(n: u8) -> Message {
    MemoryQuery { task_id: task(n), round: 0, intent: String::new(), tools: vec![], targets: vec![] }.into()
}

/// The final result of task `n`.
fn result(n: u8) -> Message {
    FinalResult {
        task_id: task(n),
        summary: String::new(),
        output: String::new(),
        answers: vec![],
        unverified: vec![],
        loss: Loss::default(),
        grad_l: 0.0,
        replans: 0,
        prev_directive: PrevDirective::Init,
        decision: String::new(),
        ending: Ending::Accept { basis: Basis::WordsOnly },
        delivered_round: 0,
        suspect: false,
        criteria: vec![],
        denied: vec![],
        assumptions: vec![],
        next_steps: vec![],
        coverage: None,
        model_words: None,
        skill: None,
    }
    .into()
}

/// The address of the role instance that the route table lets publish this message.
pub(crate) fn sender(message: &Message) -> Address {
    Address::of(route::route(message.kind()).unwrap().from, message.task_id(), message.subtask_id())
}

/// A bus on which the request of task 1 was published, with id 0.
pub(crate) fn opened() -> Bus {
    let mut bus = Bus::new();
    publish(&mut bus, 0, None, request(1)).unwrap();
    bus.take_events();
    bus
}

/// Publishes a message from its regular sender.
pub(crate) fn publish(bus: &mut Bus, n: u64, cause: Option<u64>, message: Message) -> Result<(), Refusal> {
    let from = sender(&message);
    bus.publish(at(0), id(n), &from, cause.map(id), message)
}

/// Takes all queued deliveries off the bus.
pub(crate) fn drain(bus: &mut Bus) -> Vec<Delivery> {
    std::iter::from_fn(|| bus.take(0)).collect()
}

/// The refusal of a message from `from`; checks that observers see it and that nothing is delivered.
fn refused(from: &Address, n: u64, cause: Option<u64>, message: Message) -> Refusal {
    let mut bus = opened();
    let waiting = bus.pending();
    let (kind, task_id) = (message.kind(), message.task_id().cloned());
    let refusal = bus.publish(at(5), id(n), from, cause.map(id), message).unwrap_err();
    let event = TapEvent::Refused { from: from.clone(), kind, task_id, refusal: refusal.clone() };
    assert_eq!(bus.take_events(), [(at(5), event)]);
    assert_eq!(bus.pending(), waiting);
    refusal
}

#[doc = "holds: invariant 13; principle 7; design B7"]
#[test]
fn role_cannot_publish_anothers_message() {
    let check = |from: Role, message: Message| {
        let (kind, owner) = (message.kind(), sender(&message).role);
        let address = Address::of(from, message.task_id(), message.subtask_id());
        assert_eq!(refused(&address, 1, Some(0), message), Refusal::WrongSender { kind, from, owner });
    };
    check(Role::Executor, Abort { task_id: task(1) }.into());
    check(Role::Planner, spec(1));
    check(Role::Executor, memory_query(1));
    check(Role::Solver, request(1));
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Dispatcher) {
        check(role, missing(1, 1));
    }
    for message in [request(1), spec(1), Abort { task_id: task(1) }.into()] {
        check(Role::Auditor, message);
    }
}

#[doc = "holds: design B5"]
#[test]
fn instance_publishes_only_for_its_task() {
    let check = |from: Address, message: Message| {
        assert_eq!(refused(&from, 1, Some(0), message), Refusal::ForeignTask, "{from}");
    };
    check(Address::of(Role::Perceiver, Some(&task(2)), None), spec(1));
    check(Address::of(Role::Perceiver, None, None), spec(1));
    check(Address { subtask_id: Some(subtask(1)), ..sender(&spec(1)) }, spec(1));
    check(Address { task_id: Some(task(2)), ..sender(&consent(1, 1)) }, consent(1, 1));
}

#[doc = "holds: principle 7; design D3, B6"]
#[test]
fn message_needs_a_published_cause() {
    let check = |n: u64, cause: Option<u64>, message: Message| {
        assert_eq!(refused(&sender(&message), n, cause, message), Refusal::UnknownCause);
    };
    check(1, None, spec(1));
    check(1, Some(9), spec(1));
    // A message can't be its own cause.
    check(1, Some(1), spec(1));
    // A cause must belong to the same task.
    check(1, Some(0), spec(2));
    check(1, Some(9), request(1));
    // Only input from outside needs no cause.
    let mut bus = opened();
    publish(&mut bus, 1, Some(0), spec(1)).unwrap();
    publish(&mut bus, 2, None, CancelRequest { task_id: task(1) }.into()).unwrap();
    let failed = RoleFailed { task_id: task(1), role: Role::Planner, detail: String::new(), effect_id: None };
    publish(&mut bus, 4, None, failed.into()).unwrap();
}

#[doc = "holds: design B5"]
#[test]
fn repeated_id_is_refused() {
    assert_eq!(refused(&sender(&spec(1)), 0, Some(0), spec(1)), Refusal::RepeatedId);
    // Another task may use the same id.
    let mut bus = opened();
    publish(&mut bus, 0, None, request(2)).unwrap();
}

#[doc = "holds: principle 7"]
#[test]
fn receivers_come_from_the_route_table() {
    let mut bus = opened();
    publish(&mut bus, 1, Some(9), spec(1)).unwrap_err();
    publish(&mut bus, 2, Some(0), spec(1)).unwrap();
    publish(&mut bus, 3, Some(2), missing(1, 4)).unwrap();
    publish(&mut bus, 4, None, consent(1, 4)).unwrap();
    let seen: Vec<(u64, String)> =
        drain(&mut bus).iter().map(|delivery| (delivery.envelope.seq, delivery.to.to_string())).collect();
    let (t, s) = (task(1), subtask(4));
    let expected = [
        (0, format!("R1/{t}")),
        (0, format!("R7/{t}")),
        (1, format!("R2/{t}")),
        (1, format!("R4b/{t}")),
        (1, format!("R7/{t}")),
        (2, format!("R4b/{t}")),
        (3, format!("R3/{t}/{s}")),
        (3, format!("R7/{t}")),
    ];
    assert_eq!(seen, expected);
    let published: Vec<u64> = bus
        .take_events()
        .into_iter()
        .filter_map(|(_, event)| if let TapEvent::Message { envelope } = event { Some(envelope.seq) } else { None })
        .collect();
    assert_eq!(published, [1, 2, 3]);
}

#[doc = "holds: principle 7; design B1"]
#[test]
fn full_mailbox_drops_only_its_own_deliveries() {
    let mut bus = opened();
    drain(&mut bus);
    let extra = 3;
    for n in 1..=(MAILBOX_CAPACITY + extra) as u64 {
        publish(&mut bus, n, None, consent(1, 1)).unwrap();
        // The solver reads its delivery, the executor never does.
        let solver = bus.waiting().position(|delivery| delivery.to.role == Role::Solver).unwrap();
        bus.take(solver).unwrap();
    }
    assert_eq!((bus.dropped(), bus.pending()), (extra as u64, MAILBOX_CAPACITY));
    let dropped: Vec<TapEvent> = bus
        .take_events()
        .into_iter()
        .map(|(_, event)| event)
        .filter(|e| matches!(e, TapEvent::Dropped { .. }))
        .collect();
    let to = Address::of(Role::Executor, Some(&task(1)), Some(subtask(1)));
    let lost = |seq| TapEvent::Dropped { seq, to: to.clone(), reason: "mailbox full".to_owned() };
    let first = MAILBOX_CAPACITY as u64 + 1;
    assert_eq!(dropped, [lost(first), lost(first + 1), lost(first + 2)]);
    // Another subtask of the same task has its own mailbox, and capacity that was freed can be used again.
    publish(&mut bus, 9_000, None, consent(1, 2)).unwrap();
    bus.take(0).unwrap();
    publish(&mut bus, 9_001, None, consent(1, 1)).unwrap();
    assert_eq!(bus.dropped(), extra as u64);
}

#[doc = "holds: law 3.14"]
#[test]
fn forget_removes_only_the_tasks_own_data() {
    let mut bus = opened();
    publish(&mut bus, 1, None, request(2)).unwrap();
    publish(&mut bus, 2, Some(0), memory_query(1)).unwrap();
    bus.forget(&task(1));
    let to: Vec<Address> = drain(&mut bus).into_iter().map(|delivery| delivery.to).collect();
    // Memory has one instance for all tasks, so the query to it remains.
    let of = |role, n| Address::of(role, Some(&task(n)), None);
    assert_eq!(to, [of(Role::Perceiver, 2), of(Role::Solver, 2), Address::of(Role::Memory, None, None)]);
    assert_eq!(publish(&mut bus, 3, Some(0), spec(1)), Err(Refusal::UnknownCause), "a late message for an ended task");
    publish(&mut bus, 4, Some(1), spec(2)).unwrap();
    // A forgotten address starts with an empty mailbox.
    for n in 10..(10 + MAILBOX_CAPACITY as u64) {
        publish(&mut bus, n, None, CancelRequest { task_id: task(1) }.into()).unwrap();
    }
    assert_eq!(bus.dropped(), 0);
}

/// A task over its limit of messages can still publish those that end it: a failed role, the abort and the result.
#[test]
fn task_over_its_limit_can_end() {
    let mut bus = opened();
    for n in 1..TASK_MESSAGES_MAX as u64 {
        publish(&mut bus, n, Some(0), missing(1, 1)).unwrap();
        drain(&mut bus);
        bus.take_events();
    }
    let max = TASK_MESSAGES_MAX;
    assert_eq!(publish(&mut bus, 50_000, Some(0), missing(1, 1)), Err(Refusal::TooManyMessages { max }));
    let rejected = PlanRejected { task_id: task(1), round: 0, problems: vec![], model_failure: None, abstention: None };
    assert_eq!(publish(&mut bus, 50_001, Some(0), rejected.into()), Err(Refusal::TooManyMessages { max }));
    publish(&mut bus, 50_002, None, request(2)).unwrap();
    // However often it is repeated, RoleFailed leaves room for Abort, and Abort for the result.
    let failed = RoleFailed { task_id: task(1), role: Role::Planner, detail: String::new(), effect_id: None };
    let ending: [Message; 3] = [failed.into(), Abort { task_id: task(1) }.into(), result(1)];
    for (which, (message, passes)) in (0..).zip(ending.into_iter().zip([8, 4, 4])) {
        let cause = (sender(&message).role == Role::Solver).then_some(0);
        let ids = (0..TASK_END_RESERVE as u64).map(|n| 60_000 + 100 * which + n);
        let let_on = ids.filter(|n| publish(&mut bus, *n, cause, message.clone()).is_ok()).count();
        assert_eq!(let_on, passes, "{}", message.kind());
    }
}
