//! Tests that every rule finds the event it is for, and does not find a similar correct one.

use artoo_bus::{Observed, Refusal, TapEvent};
use artoo_proto::{
    Address, CallStatus, CorrectionSignal, CriterionMark, CriterionReport, EffectFinished, EffectId, EffectKind,
    EffectStarted, ExecutionStatus, FailureClass, GapTrend, MacroState, MegramDraft, MessageKind, MissingReason,
    OutcomeStatus, ReplanDirective, Role, SubTaskId, SubTaskMissing, Usage,
};
use uuid::Uuid;

use super::Detector;
use crate::finding::Rule;
use crate::testing::{
    Bench, abandon, accept, at, call, correction, directive, execution, id, outcome, request, result, sent, spec,
    subtask, task,
};

/// The rules that a new detector finds broken by these events, in order.
fn rules(events: &[Observed]) -> Vec<Rule> {
    let mut detector = Detector::default();
    events.iter().flat_map(|event| detector.observe(event).findings).map(|finding| finding.rule).collect()
}

/// The first events of task 1: its request and its specification; also returns the maker of further events.
fn opened() -> (Bench, Vec<Observed>) {
    let mut bench = Bench::default();
    let events = vec![bench.publish(request(1)), bench.publish(spec(1))];
    (bench, events)
}

/// Asserts which rules are found broken by one more event after the first events of task 1.
fn check(expected: &[Rule], event: impl FnOnce(&mut Bench) -> Observed) {
    let (mut bench, mut events) = opened();
    assert_eq!(rules(&events), [], "an honest beginning");
    events.push(event(&mut bench));
    assert_eq!(rules(&events), expected);
}

/// Each of these is found: an unknown or missing cause, a repeated id, a wrong route, task or sequence number, a
/// refusal.
#[doc = "holds: design D3"]
#[test]
fn broken_bus_rules_are_violations() {
    check(&[], |bench| bench.publish(outcome(1, 0, OutcomeStatus::Matched)));
    check(&[Rule::UnknownCause], |bench| bench.says_with(spec(1), |envelope| envelope.causation_id = Some(id(99))));
    check(&[Rule::UnknownCause], |bench| bench.says_with(spec(1), |envelope| envelope.causation_id = None));
    check(&[Rule::UnknownCause], |bench| {
        // A message can't be its own cause.
        bench.says_with(spec(1), |envelope| envelope.causation_id = Some(envelope.id))
    });
    check(&[Rule::RepeatedId], |bench| bench.says_with(spec(1), |envelope| envelope.id = id(0)));
    check(&[Rule::RouteNotInTable], |bench| bench.says_with(spec(1), |envelope| envelope.to.push(Role::Memory)));
    check(&[Rule::RouteNotInTable], |bench| {
        bench.says_with(spec(1), |envelope| envelope.from = Address::of(Role::Auditor, None, None))
    });
    check(&[Rule::ForeignTask], |bench| bench.says_with(spec(1), |envelope| envelope.from.task_id = Some(task(2))));
    check(&[Rule::ForeignTask], |bench| bench.says_with(spec(1), |envelope| envelope.correlation_id = Some(task(2))));
    check(&[Rule::SequenceGap], |bench| {
        bench.skip(0, 1);
        bench.says_with(spec(1), |envelope| envelope.causation_id = Some(id(1)))
    });
    check(&[Rule::SequenceGap], |bench| bench.says_with(spec(1), |envelope| envelope.seq = 0));
    check(&[Rule::Refused], |bench| {
        let from = Address::of(Role::Executor, Some(&task(1)), None);
        let kind = MessageKind::FinalResult;
        let refusal = Refusal::WrongSender { kind, from: Role::Executor, owner: Role::Solver };
        bench.sees(TapEvent::Refused { from, kind, task_id: Some(task(1)), refusal })
    });
}

/// After lost events, messages whose cause was lost are not reported.
#[doc = "holds: design B2"]
#[test]
fn lost_events_do_not_cause_findings() {
    check(&[Rule::EventsMissing], |bench| bench.sees(TapEvent::Gap { missing: 3 }));
    let (mut bench, mut events) = opened();
    events.push(bench.sees(TapEvent::Gap { missing: 5 }));
    bench.skip(0, 5);
    events.push(bench.publish(outcome(1, 0, OutcomeStatus::Matched)));
    events.push(bench.publish(result(1, 0, 0.0, accept())));
    // A task whose beginning was lost, and an effect whose start was.
    events
        .push(bench.says_with(outcome(2, 0, OutcomeStatus::Matched), |envelope| envelope.causation_id = Some(id(98))));
    events.push(bench.sees(TapEvent::EffectFinished(finished(9, false))));
    assert_eq!(rules(&events), [Rule::EventsMissing]);
    // After the gap the rules are checked again.
    bench.skip(0, 1);
    events.push(bench.publish(request(3)));
    assert_eq!(rules(&events), [Rule::EventsMissing, Rule::SequenceGap]);

    let (mut bench, mut events) = opened();
    bench.skip(2, 0);
    events.push(bench.publish(outcome(1, 0, OutcomeStatus::Matched)));
    assert_eq!(rules(&events), [Rule::EventsMissing], "a hole in the positions is a loss too");
}

/// The directive `break_symmetry` twice without a smaller distance is reported as thrashing.
#[test]
fn repeated_break_symmetry_is_thrashing() {
    use ReplanDirective::{BreakSymmetry, ChangePath};
    let thrashing = |directives: &[(ReplanDirective, f64)]| {
        let (mut bench, mut events) = opened();
        for (round, (kind, d)) in (1..).zip(directives) {
            events.push(bench.publish(directive(1, round, *d, *kind)));
        }
        rules(&events)
    };
    assert_eq!(thrashing(&[(BreakSymmetry, 0.5), (BreakSymmetry, 0.5)]), [Rule::GgsThrashing]);
    assert_eq!(thrashing(&[(BreakSymmetry, 0.5), (BreakSymmetry, 0.6)]), [Rule::GgsThrashing]);
    assert_eq!(thrashing(&[(BreakSymmetry, 0.5), (BreakSymmetry, 0.4)]), []);
    assert_eq!(thrashing(&[(BreakSymmetry, 0.5), (BreakSymmetry, 0.5), (BreakSymmetry, 0.5)]), [Rule::GgsThrashing; 2]);
    // Another directive in between, and a D that does not fall.
    assert_eq!(thrashing(&[(BreakSymmetry, 0.5), (ChangePath, 0.5), (BreakSymmetry, 0.5)]), [Rule::StalledReplan]);
    // Compared as `f64`, this would be a fall.
    assert_eq!(thrashing(&[(BreakSymmetry, 0.1 + 0.2), (BreakSymmetry, 0.3)]), [Rule::GgsThrashing]);
}

/// A replan although the distance D did not fall is reported once.
#[test]
fn replan_without_smaller_distance_is_found_once() {
    use ReplanDirective::{ChangeApproach, ChangePath, Refine};
    let stalled = |gaps: &[f64]| {
        let (mut bench, mut events) = opened();
        for ((round, d), kind) in (1..).zip(gaps).zip([Refine, ChangePath, ChangeApproach]) {
            events.push(bench.publish(directive(1, round, *d, kind)));
        }
        rules(&events)
    };
    assert_eq!(stalled(&[0.5]), [], "the first replan");
    assert_eq!(stalled(&[0.8, 0.5, 0.2]), []);
    assert_eq!(stalled(&[0.5, 0.5]), [Rule::StalledReplan]);
    assert_eq!(stalled(&[0.5, 0.5, 0.6]), [Rule::StalledReplan]);
    assert_eq!(stalled(&[0.5, 0.4, 0.5]), [Rule::StalledReplan]);
}

/// More than six retries in a task are reported once; so is a fourth attempt at a subtask.
#[test]
fn many_retries_are_found_once_per_task() {
    let retried = |number: usize, attempt: u32| {
        let (mut bench, mut events) = opened();
        for _ in 0..number {
            let correction = CorrectionSignal { attempt_number: attempt, ..correction(1, FailureClass::Logical) };
            events.push(bench.publish(correction));
        }
        rules(&events)
    };
    assert_eq!(retried(6, 3), []);
    assert_eq!(retried(7, 2), [Rule::ExcessiveRetries]);
    assert_eq!(retried(9, 2), [Rule::ExcessiveRetries]);
    // A fourth attempt is more than the fast loop allows.
    assert_eq!(retried(1, 4), [Rule::ExcessiveRetries]);
}

/// A subtask id sent twice in one task is reported, also in another round; the same id in two tasks is not.
#[test]
fn repeated_subtask_id_is_found() {
    let (first, second) = (SubTaskId(Uuid::from_u128(1)), SubTaskId(Uuid::from_u128(2)));
    let found = |subtasks: &[(u128, u32, SubTaskId)]| {
        let (mut bench, mut events) = opened();
        events.push(bench.publish(request(2)));
        for (n, round, subtask) in subtasks {
            // The specification of task 1, or the request of task 2.
            let cause = id(u64::try_from(*n).unwrap());
            let sent = sent(*n, *round, *subtask);
            events.push(bench.says_with(sent, |envelope| envelope.causation_id = Some(cause)));
        }
        rules(&events)
    };
    assert_eq!(found(&[(1, 0, first), (1, 0, second), (2, 0, first)]), []);
    assert_eq!(found(&[(1, 0, first), (1, 0, first)]), [Rule::RepeatedSubtask]);
    assert_eq!(found(&[(1, 0, first), (1, 1, first)]), [Rule::RepeatedSubtask], "also in another round");
}

/// A result that is accepted although a subtask of its round failed or is missing, D is above 0 or a criterion is unmet
/// is reported.
#[doc = "holds: invariant 6"]
#[test]
fn accept_after_a_failure_is_found() {
    let ending = |events: &[fn(&mut Bench) -> Observed]| {
        let (mut bench, mut seen) = opened();
        seen.extend(events.iter().map(|event| event(&mut bench)));
        rules(&seen)
    };
    let failed: fn(&mut Bench) -> Observed = |bench| bench.publish(outcome(1, 0, OutcomeStatus::Failed));
    let missing: fn(&mut Bench) -> Observed = |bench| {
        let reason = MissingReason::NoReport;
        bench.publish(SubTaskMissing { parent_task_id: task(1), subtask_id: subtask(), round: 0, reason })
    };
    assert_eq!(ending(&[failed, |bench| bench.publish(result(1, 0, 0.0, accept()))]), [Rule::AcceptAfterFailure]);
    assert_eq!(ending(&[missing, |bench| bench.publish(result(1, 0, 0.0, accept()))]), [Rule::AcceptAfterFailure]);
    // The next round repaired the failure, or the result admits it.
    assert_eq!(ending(&[failed, |bench| bench.publish(result(1, 1, 0.0, accept()))]), []);
    assert_eq!(ending(&[failed, |bench| bench.publish(result(1, 0, 0.7, abandon()))]), []);
    assert_eq!(ending(&[|bench| bench.publish(result(1, 0, 0.2, accept()))]), [Rule::AcceptWithUnmet]);
    assert_eq!(
        ending(&[|bench| {
            let unmet = CriterionReport {
                claim: "it is there".to_owned(),
                mark: CriterionMark::Unmet,
                evidence: String::new(),
            };
            let mut result = result(1, 0, 0.0, accept());
            result.criteria.push(unmet);
            bench.publish(result)
        }]),
        [Rule::AcceptWithUnmet]
    );
}

/// Messages after a task's final result are reported, except those that belong there.
#[doc = "holds: law 0.7"]
#[test]
fn messages_after_the_result_are_found() {
    let after = |last: fn(&mut Bench) -> Observed| {
        let (mut bench, mut events) = opened();
        events.push(bench.publish(result(1, 0, 0.0, accept())));
        events.push(last(&mut bench));
        rules(&events)
    };
    assert_eq!(after(|bench| bench.publish(result(1, 0, 0.0, accept()))), [Rule::RepeatedFinalResult]);
    assert_eq!(
        after(|bench| bench.publish(execution(1, ExecutionStatus::Completed, vec![]))),
        [Rule::AfterFinalResult]
    );
    assert_eq!(after(|bench| bench.publish(directive(1, 1, 0.5, ReplanDirective::Refine))), [Rule::AfterFinalResult]);
    assert_eq!(after(|bench| bench.publish(artoo_proto::Abort { task_id: task(1) })), []);
    assert_eq!(after(|bench| bench.publish(artoo_proto::CancelRequest { task_id: task(1) })), []);
    let experience: fn(&mut Bench) -> Observed = |bench| {
        bench.publish(MegramDraft {
            space: "tool:shell".to_owned(),
            entity: "path:/tmp".to_owned(),
            content: String::new(),
            state: MacroState::Accept,
            failure_class: None,
            task_id: task(1),
            intent: String::new(),
            lesson: None,
        })
    };
    assert_eq!(after(experience), []);
}

/// A task without a final result is reported once, five seconds after its limit, and when the bus closes.
#[test]
fn missing_result_is_found() {
    let (mut bench, mut events) = opened();
    events.push(bench.publish(request(2)));
    events.push(bench.publish(result(2, 0, 0.0, accept())));
    let mut detector = Detector::default();
    for event in &events {
        detector.observe(event);
    }
    assert_eq!(detector.overdue(at(65_000)), [], "the limit and its grace are not over");
    let late: Vec<Rule> = detector.overdue(at(65_001)).iter().map(|finding| finding.rule).collect();
    assert_eq!(late, [Rule::NoFinalResult]);
    assert_eq!(detector.overdue(at(99_000)), [], "reported once");
    let open = detector.without_result();
    assert_eq!(open.len(), 1);
    assert!(open[0].detail.contains(task(1).as_str()), "{}", open[0]);
}

/// Failed calls, panics of a role and dropped messages are reported.
#[doc = "holds: design R6.87"]
#[test]
fn failures_panics_and_drops_are_found() {
    check(&[], |bench| bench.publish(execution(1, ExecutionStatus::Completed, vec![call("glob", CallStatus::Ok, "")])));
    for (status, rule) in [
        (CallStatus::Failed, Rule::ToolFailed),
        (CallStatus::TimedOut, Rule::ToolFailed),
        (CallStatus::Cut, Rule::ToolFailed),
        (CallStatus::Uncertain, Rule::ToolFailed),
        (CallStatus::Denied, Rule::CallDenied),
    ] {
        check(&[rule], |bench| {
            bench.publish(execution(1, ExecutionStatus::Completed, vec![call("shell", status, "")]))
        });
    }
    let address = Address::of(Role::Planner, Some(&task(1)), None);
    check(&[Rule::Panicked], |bench| {
        bench.sees(TapEvent::Panicked { address: address.clone(), detail: "index out of bounds".to_owned() })
    });
    check(&[Rule::Ignored], |bench| {
        bench.sees(TapEvent::Ignored { address: address.clone(), detail: "a recall nobody awaits".to_owned() })
    });
    check(&[Rule::DeliveryDropped], |bench| {
        bench.sees(TapEvent::Dropped { seq: 1, to: address.clone(), reason: "mailbox full".to_owned() })
    });
}

/// An effect (work outside the System) is reported if its role may not ask for it, its cause is unknown, or it never
/// started.
#[test]
fn effects_need_authority_cause_and_start() {
    let tool = EffectKind::Tool { tool: "shell".to_owned() };
    let model = EffectKind::Model { schema: "plan".to_owned() };
    let effect = |by: Role, kind: &EffectKind, cause: u64, end: Option<bool>| {
        let (mut bench, mut events) = opened();
        events.push(bench.sees(TapEvent::EffectStarted(EffectStarted {
            effect_id: EffectId(Uuid::from_u128(5)),
            cause: id(cause),
            by,
            task_id: Some(task(1)),
            subtask_id: None,
            effect: kind.clone(),
            digest: String::new(),
        })));
        events.extend(end.map(|ok| bench.sees(TapEvent::EffectFinished(finished(5, ok)))));
        rules(&events)
    };
    assert_eq!(effect(Role::Executor, &tool, 1, Some(true)), []);
    assert_eq!(effect(Role::Executor, &tool, 1, None), []);
    assert_eq!(effect(Role::Planner, &tool, 1, Some(true)), [Rule::EffectOutsideAuthority]);
    assert_eq!(effect(Role::Executor, &tool, 50, Some(true)), [Rule::UnknownCause]);
    assert_eq!(effect(Role::Planner, &model, 1, Some(false)), [Rule::EffectFailed]);
    // The record of the call says how the tool ended.
    assert_eq!(effect(Role::Executor, &tool, 1, Some(false)), []);
    check(&[Rule::UnknownEffect], |bench| bench.sees(TapEvent::EffectFinished(finished(6, true))));
}

/// The trend of a task compares the distance D of its last two rounds.
#[test]
fn trend_compares_the_last_two_rounds() {
    let trend = |directives: &[f64], end: Option<(u32, f64)>| {
        let (mut bench, mut events) = opened();
        for (round, d) in (1..).zip(directives) {
            events.push(bench.publish(directive(1, round, *d, ReplanDirective::Refine)));
        }
        events.extend(end.map(|(round, d)| bench.publish(result(1, round, d, abandon()))));
        let mut detector = Detector::default();
        events.iter().filter_map(|event| detector.observe(event).trend).last()
    };
    assert_eq!(trend(&[0.5], None), None, "one point is no trend");
    assert_eq!(trend(&[0.5, 0.4], None), Some(GapTrend::Improving));
    assert_eq!(trend(&[0.5, 0.5], None), Some(GapTrend::Stable));
    assert_eq!(trend(&[0.4, 0.5], None), Some(GapTrend::Worsening));
    assert_eq!(trend(&[0.5], Some((1, 0.0))), Some(GapTrend::Improving));
    // The best round is delivered, although D was growing.
    assert_eq!(trend(&[0.4, 0.5], Some((0, 0.4))), Some(GapTrend::Worsening));
    assert_eq!(trend(&[0.4, f64::NAN], None), Some(GapTrend::Worsening));
}

/// When the detector holds too many tasks, it drops the state of ended ones first.
#[test]
fn ended_tasks_are_forgotten_first() {
    let mut bench = Bench::default();
    let mut detector = Detector::default();
    detector.observe(&bench.publish(request(0)));
    for n in 1..3_000 {
        detector.observe(&bench.publish(request(n)));
        detector.observe(&bench.publish(result(n, 0, 0.0, accept())));
    }
    assert_eq!(detector.tasks.len(), super::TASKS_REMEMBERED);
    assert_eq!(detector.oldest_first.len(), super::TASKS_REMEMBERED);
    assert!(detector.tasks.contains_key(&task(0)), "a task under way is not forgotten");
    // A message of a forgotten task proves nothing.
    let late = bench.says_with(outcome(1, 0, OutcomeStatus::Matched), |envelope| envelope.causation_id = Some(id(2)));
    assert_eq!(detector.observe(&late).findings, []);
}

/// Timers of ended tasks that never finished don't fill the detector's memory.
#[test]
fn unfinished_timers_of_ended_tasks_are_forgotten() {
    let mut bench = Bench::default();
    let mut detector = Detector::default();
    for n in 0..10_000 {
        let asked = bench.publish(request(n));
        detector.observe(&asked);
        let timer = EffectStarted {
            effect_id: EffectId(Uuid::from_u128(n)),
            cause: id(u64::try_from(n).unwrap() * 2),
            by: Role::Dispatcher,
            task_id: Some(task(n)),
            subtask_id: None,
            effect: EffectKind::Timer { after_ms: 60_000 },
            digest: String::new(),
        };
        assert_eq!(detector.observe(&bench.sees(TapEvent::EffectStarted(timer))).findings, []);
        assert_eq!(detector.observe(&bench.publish(result(n, 0, 0.0, accept()))).findings, []);
    }
    assert!(detector.effects.len() <= super::EFFECTS_REMEMBERED);
    let mut fresh = Detector::default();
    fresh.observe(&bench.publish(request(1)));
    for n in 0..6_000 {
        let effect = EffectStarted {
            effect_id: EffectId(Uuid::from_u128(n)),
            cause: id(20_000),
            by: Role::Memory,
            task_id: None,
            subtask_id: None,
            effect: EffectKind::Persist,
            digest: String::new(),
        };
        fresh.observe(&bench.sees(TapEvent::EffectStarted(effect)));
    }
    assert!(fresh.incomplete && fresh.effects.len() == super::EFFECTS_REMEMBERED, "more than can be remembered");
}

/// The end of an effect (work outside the System) with this number, successful or not.
fn finished(effect: u128, ok: bool) -> EffectFinished {
    EffectFinished {
        effect_id: EffectId(Uuid::from_u128(effect)),
        by: Role::Planner,
        task_id: Some(task(1)),
        ok,
        digest: "no answer".to_owned(),
        usage: Usage::default(),
    }
}
