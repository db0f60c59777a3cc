//! Tests of decisions under the profile `anytime`, and of the log of the controller's calls.

use super::*;

/// A Solver with the decision parameters `anytime`, whose first round was dispatched.
fn begun_anytime() -> Bench<Solver> {
    let mut bench = Bench::new(Solver::new(Profile::anytime(), &config(1).tools, "/home/u", task_id()));
    bench.step(Input::Request(request(1_800_000)));
    bench.step(Input::Task(spec(REQUEST)));
    bench.step(Input::Manifest(plan(0)));
    bench
}

#[test]
fn each_failing_subtask_gets_its_own_directive() {
    let directive = directive(&begun_anytime().step(Input::FellShort(wrong(0))));
    let [failed, met] = &directive.tried[..] else { panic!("{:#?}", directive.tried) };
    assert!(failed.directive.is_some() && failed.failure.is_some(), "{failed:#?}");
    assert_eq!((met.directive, met.failure.as_ref()), (None, None));
    assert!(!directive.same_again);
}

/// If the infrastructure failed, the directive allows the same plan again and blocks nothing.
#[test]
fn unjudged_round_may_be_repeated() {
    let mut round = wrong(0);
    round.outcomes.iter_mut().for_each(|outcome| {
        outcome.status = artoo_proto::OutcomeStatus::Failed;
        outcome.infrastructure = true;
        outcome.criteria_verdicts.clear();
    });
    let directive = directive(&begun_anytime().step(Input::FellShort(round)));
    assert!(directive.same_again && directive.blocked_targets.is_empty(), "{directive:#?}");
}

/// Under the profile `anytime`, a rejected plan unblocks a target and planning goes on; under v0.8 the task ends.
#[test]
fn failed_planning_releases_a_blocked_target() {
    let rejected = |round| {
        Input::NotPlanned(artoo_proto::PlanRejected {
            task_id: task_id(),
            round,
            problems: vec!["subtask 1 uses a blocked target".to_owned()],
            model_failure: None,
            abstention: None,
        })
    };
    let blocked =
        |bench: &mut Bench<Solver>| directive(&bench.step(Input::FellShort(missed(0, "/gone")))).blocked_targets;
    let mut bench = begun_anytime();
    let before = blocked(&mut bench);
    assert!(!before.is_empty());
    let released = directive(&bench.step(rejected(1)));
    assert!(released.blocked_targets.len() < before.len() && released.round == 2, "{released:#?}");
    let mut pinned = begun();
    blocked(&mut pinned);
    assert!(matches!(reason(&finished(&pinned.step(rejected(1)))), AbandonReason::NoPlan { .. }), "v0.8 releases none");
}

/// R7 hands out the log entries of its controller calls, with their replies, when the task ends and not before.
#[test]
fn controller_calls_are_logged_at_the_end() {
    let mut bench = begun();
    assert!(bench.records.is_empty());
    bench.step(Input::Met(met(0)));
    assert_eq!(bench.records.len(), 2, "{:#?}", bench.records);
    let entry: artoo_ggs::LogEntry<artoo_proto::TaskId> = serde_json::from_value(bench.records[1].clone()).unwrap();
    assert!(matches!(entry.reply, artoo_ggs::ControllerReply::Decided(_)));
}

/// If no plan is found after a round close to the goal, its output is delivered as a success with gaps.
#[test]
fn near_success_is_delivered_without_further_plan() {
    let nearly = |solver: Bench<Solver>| {
        let mut bench = solver;
        let outcomes = (1..=4).map(|n| {
            let mut made = outcome(n, n > 1, "x", vec![look(u32::try_from(n).unwrap(), "x")]);
            made.criteria_verdicts[0].failure_class = (n == 1).then_some(FailureClass::Logical);
            made
        });
        bench.step(Input::FellShort(short(0, outcomes.collect())));
        bench
    };
    let mut bench = nearly(begun_anytime());
    let mut rounds = 1..6;
    let result = loop {
        let effects = bench.step(Input::NotPlanned(artoo_proto::PlanRejected {
            task_id: task_id(),
            round: rounds.next().expect("each blocked target is released once"),
            problems: vec!["the plan has no subtask".to_owned()],
            model_failure: None,
            abstention: None,
        }));
        if !said(&effects).iter().any(|message| matches!(message, Message::PlanDirective(_))) {
            break finished(&effects);
        }
    };
    assert!(matches!(&result.ending, Ending::Success { unmet } if !unmet.is_empty()), "{:#?}", result.ending);
}
