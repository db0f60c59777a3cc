//! Tests of R7: decisions after a round, endings, and memory records.

mod control;
mod coverage;
mod endings;
mod experience;
mod words;

use artoo_ggs::Profile;
use artoo_proto::{
    AbandonReason, Basis, ConsentHash, Coverage, CriterionVerdict, DispatchManifest, Ending, FailureClass, FinalResult,
    MegramDraft, Message, OutcomeStatus, OutcomeSummary, PlanDirective, PrevDirective, ReplanDirective, ReplanRequest,
    SubTaskOutcome, ToolCall, UserRequest, Verdict, VerdictSource,
};

use super::{Input, Solver};
use crate::machine::RoleEffect;
use crate::testing::bench::only;
use crate::testing::bench::{
    Bench, failed, look, manifest, outcome, prose, said, spec, subtask_id, task_id, timers, verdict,
};
use crate::testing::world::config;
use artoo_proto::{EffectId, ModelWords, Wording};

const REQUEST: &str = "how many reports are there";

/// A user's request with this time limit.
fn request(hard_limit_ms: u64) -> UserRequest {
    UserRequest {
        task_id: task_id(),
        raw_input: REQUEST.to_owned(),
        session: Vec::new(),
        material: None,
        interactive: true,
        hard_limit_ms,
        required: Vec::new(),
        by_required: false,
    }
}

/// A solver whose task has begun, with the manifest of round 0.
fn begun() -> Bench<Solver> {
    begun_with(REQUEST)
}

/// A Solver that waits for the outcomes of the first round of this request.
fn begun_with(words: &str) -> Bench<Solver> {
    let mut bench = Bench::new(Solver::new(Profile::default(), &config(1).tools, "/home/u", task_id()));
    bench.step(Input::Request(request(1_800_000)));
    bench.step(Input::Task(spec(words)));
    bench.step(Input::Manifest(plan(0)));
    bench
}

/// The manifest of a round with two subtasks.
fn plan(round: u32) -> DispatchManifest {
    manifest(round, 2, vec![prose("the reports are counted")])
}

/// A replan request with these outcomes, as of a round that no model judged.
fn short(round: u32, outcomes: Vec<SubTaskOutcome>) -> ReplanRequest {
    ReplanRequest {
        task_id: task_id(),
        round,
        merged_output: format!("output of round {round}"),
        unverified: Vec::new(),
        gap_summary: "a gap".to_owned(),
        missing: Vec::new(),
        outcomes: outcomes.into_iter().map(|outcome| SubTaskOutcome { round, ..outcome }).collect(),
        task_verdicts: Vec::new(),
        model_failure: None,
        coverage: artoo_proto::Coverage::default(),
    }
}

/// A replan request in which subtask 1 failed with this class and these calls; subtask 2 matched.
fn one_failed(round: u32, class: FailureClass, calls: Vec<ToolCall>) -> ReplanRequest {
    let mut bad = outcome(1, false, "", calls);
    bad.criteria_verdicts[0].failure_class = Some(class);
    short(round, vec![bad, outcome(2, true, "two", vec![look(9, "two")])])
}

/// A replan request whose subtask 1 failed since the target does not exist.
fn missed(round: u32, target: &str) -> ReplanRequest {
    let call = ToolCall { target: target.to_owned(), ..failed(look(1, "no such file"), true) };
    one_failed(round, FailureClass::Environmental, vec![call])
}

/// A replan request whose subtask 1 gave a wrong answer.
fn wrong(round: u32) -> ReplanRequest {
    one_failed(round, FailureClass::Logical, vec![look(1, "names")])
}

/// An outcome summary in which all criteria are met.
fn met(round: u32) -> OutcomeSummary {
    let criterion = prose("the reports are counted");
    OutcomeSummary {
        task_id: task_id(),
        round,
        merged_output: "12".to_owned(),
        answers: Vec::new(),
        summary: REQUEST.to_owned(),
        outcomes: vec![
            SubTaskOutcome { round, ..outcome(1, true, "12", vec![look(1, "12")]) },
            SubTaskOutcome { round, ..outcome(2, true, "two", vec![look(2, "two")]) },
        ],
        task_verdicts: vec![verdict(&criterion, Verdict::Pass, VerdictSource::Model)],
        coverage: artoo_proto::Coverage::default(),
    }
}

/// An outcome summary with this coverage.
fn covered(round: u32, coverage: Coverage) -> OutcomeSummary {
    OutcomeSummary { coverage, ..met(round) }
}

/// The directive that R7 publishes.
fn directive(effects: &[RoleEffect]) -> PlanDirective {
    let found = said(effects).into_iter().find_map(|m| if let Message::PlanDirective(d) = m { Some(d) } else { None });
    found.unwrap_or_else(|| panic!("no directive: {effects:#?}")).clone()
}

/// The result that R7 publishes.
fn finished(effects: &[RoleEffect]) -> FinalResult {
    let found = said(effects).into_iter().find_map(|m| if let Message::FinalResult(r) = m { Some(r) } else { None });
    found.unwrap_or_else(|| panic!("no result: {effects:#?}")).clone()
}

/// Steps R7 and answers its request for an ending text with none.
fn closing(bench: &mut Bench<Solver>, input: Input) -> Vec<RoleEffect> {
    let effects = bench.step(input);
    if said(&effects).iter().any(|message| matches!(message, Message::WordingRequest(_))) {
        return bench.step(Input::Worded(Wording { task_id: task_id(), words: None }));
    }
    effects
}

/// The memory records that R7 publishes.
fn megrams(effects: &[RoleEffect]) -> Vec<MegramDraft> {
    said(effects).into_iter().filter_map(|m| if let Message::Megram(d) = m { Some(d.clone()) } else { None }).collect()
}

/// The reason of an abandoned task.
fn reason(result: &FinalResult) -> &AbandonReason {
    let Ending::Abandon { reason, .. } = &result.ending else { panic!("{:#?}", result.ending) };
    reason
}

/// Announces the next round's plan.
fn next(bench: &mut Bench<Solver>, round: u32) {
    assert!(bench.step(Input::Manifest(plan(round))).is_empty());
}

/// The first directive of a task is for round 1, has a gradient of 0, and names `Init` as the one before it.
#[doc = "holds: invariant 21; design G6"]
#[test]
fn first_replan_follows_directive_init() {
    for (request, expected) in
        [(missed(0, "/gone"), ReplanDirective::ChangePath), (wrong(0), ReplanDirective::BreakSymmetry)]
    {
        let directive = directive(&begun().step(Input::FellShort(request)));
        assert_eq!((directive.directive, directive.prev_directive), (expected, PrevDirective::Init));
        assert_eq!((directive.round, directive.grad_l.abs() < 1e-9), (1, true));
    }
}

#[doc = "holds: invariant 12"]
#[test]
fn blocked_targets_accumulate_over_rounds() {
    let mut bench = begun();
    let first = directive(&bench.step(Input::FellShort(missed(0, "/a"))));
    assert_eq!(first.blocked_targets, ["*:/a"], "[73] never empty after an environmental failure");
    next(&mut bench, 1);
    let second = directive(&bench.step(Input::FellShort(missed(1, "/b"))));
    assert!(second.blocked_targets.contains(&"*:/a".to_owned()));
    assert!(second.blocked_targets.iter().any(|target| target.ends_with(":/b")));
    assert_eq!(second.prev_directive, PrevDirective::ChangePath);
}

/// If a subtask failed for the environment and none of its calls failed, the targets of its calls are blocked instead.
#[test]
fn insufficient_calls_count_as_failed_inputs() {
    let empty = one_failed(0, FailureClass::Environmental, vec![look(1, "")]);
    let directive = directive(&begun().step(Input::FellShort(empty)));
    assert_eq!(directive.blocked_targets, ["*:/home/u/1"]);
    let mixed = vec![look(1, "x"), ToolCall { target: "/gone".to_owned(), ..failed(look(2, ""), true) }];
    let mixed = one_failed(0, FailureClass::Environmental, mixed);
    let directive = self::directive(&begun().step(Input::FellShort(mixed)));
    assert_eq!(directive.blocked_targets, ["*:/gone"], "where a call failed, the others are not to blame");
}

/// Paths similar to a missing one, as the failed call named them, are suggested in the directive, sorted and once each.
#[doc = "holds: law 2.6; design G22"]
#[test]
fn directive_carries_similar_names() {
    let mut request = missed(0, "/gone");
    let names = ["/b", "/a", "/b"].map(str::to_owned);
    request.outcomes[0].tool_calls[0].alternatives = names.to_vec();
    assert_eq!(directive(&begun().step(Input::FellShort(request))).suggested_alternatives, ["/a", "/b"]);
}

#[test]
fn directive_lists_what_each_subtask_did() {
    let request = missed(0, "/gone");
    let directive = directive(&begun().step(Input::FellShort(request.clone())));
    let outcomes = &request.outcomes;
    assert_eq!(directive.tried.len(), plan(0).subtasks.len());
    let failures: Vec<_> = directive.tried.iter().map(|tried| tried.failure.clone()).collect();
    assert_eq!(failures, outcomes.iter().map(|outcome| outcome.failure_reason.clone()).collect::<Vec<_>>());
    assert!(failures.iter().any(Option::is_some), "{failures:?}");
    assert!(directive.tried[0].calls[0].contains("no such file"), "{:?}", directive.tried);
}

/// If every subtask matched but the task's criterion failed, D is 1 and the directive names that criterion.
#[doc = "holds: design G8"]
#[test]
fn rejected_task_is_a_gap_despite_matches() {
    let mut request = short(0, met(0).outcomes);
    request.task_verdicts = vec![verdict(&prose("the reports are counted"), Verdict::Fail, VerdictSource::Model)];
    let directive = directive(&begun().step(Input::FellShort(request)));
    assert!((directive.loss.d - 1.0).abs() < 1e-9);
    assert_eq!(directive.failed_criterion, "the reports are counted");
}

/// With one of six subtasks failed, the distance D is one sixth.
#[doc = "holds: principle 1; design G9"]
#[test]
fn loss_is_share_of_failed_subtasks() {
    let mut outcomes: Vec<_> = (1..=6).map(|n| outcome(n, n != 1, "x", vec![look(1, "x")])).collect();
    outcomes[0].criteria_verdicts[0].failure_class = Some(FailureClass::Logical);
    let result = finished(&begun().step(Input::FellShort(short(0, outcomes))));
    assert!((result.loss.d - 1.0 / 6.0).abs() < 1e-9, "{:?}", result.loss);
}

/// A subtask without verdicts because a model or tool failed counts as not done (D is 1), blamed on the environment.
#[doc = "holds: design G7"]
#[test]
fn infrastructure_failure_is_no_success() {
    let mut request = short(0, vec![outcome(1, false, "", Vec::new())]);
    request.outcomes[0].criteria_verdicts.clear();
    request.outcomes[0].infrastructure = true;
    let directive = directive(&begun().step(Input::FellShort(request)));
    assert!((directive.loss.d - 1.0).abs() < 1e-9 && directive.loss.p.abs() < 1e-9, "{:?}", directive.loss);
}

/// A task ends as abandoned after its fourth round (the first plan and three replans).
#[doc = "holds: design G2"]
#[test]
fn a_fifth_execution_is_impossible() {
    let mut bench = begun();
    for round in 0..3 {
        directive(&bench.step(Input::FellShort(missed(round, &format!("/{round}")))));
        next(&mut bench, round + 1);
    }
    let result = finished(&closing(&mut bench, Input::FellShort(missed(3, "/3"))));
    assert_eq!((reason(&result), result.replans), (&AbandonReason::MaxReplans, 3));
}

/// Time with open approval questions does not count for the time budget; two at once are subtracted only once.
#[doc = "holds: design G16"]
#[test]
fn overlapping_questions_stop_the_clock_once() {
    let hash = |text: &str| ConsentHash(text.to_owned());
    let mut bench = begun();
    let id = subtask_id(1);
    bench.wait(1_000);
    bench.step(Input::ConsentAsked(id, hash("a")));
    bench.step(Input::ConsentAsked(id, hash("b")));
    bench.wait(400_000);
    for _ in 0..3 {
        bench.step(Input::ConsentAnswered(id, hash("a")));
    }
    bench.wait(400_000);
    bench.step(Input::ConsentAnswered(id, hash("b")));
    bench.step(Input::ConsentAnswered(id, hash("never asked")));
    bench.wait(1_000);
    let waited = directive(&bench.step(Input::FellShort(missed(0, "/a"))));
    let mut bench = begun();
    bench.wait(2_000);
    let worked = directive(&bench.step(Input::FellShort(missed(0, "/a"))));
    assert!((waited.budget_pressure - worked.budget_pressure).abs() < 1e-9, "{waited:?}");
    assert!(worked.budget_pressure > 0.0, "work does count");
}

/// Time spent waiting for the user's approval does not count for the time budget.
#[test]
fn a_single_question_stops_the_clock() {
    let pressure = |asks: bool| {
        let mut bench = begun();
        bench.wait(1_000);
        if asks {
            bench.step(Input::ConsentAsked(subtask_id(1), ConsentHash("a".to_owned())));
            bench.wait(400_000);
            bench.step(Input::ConsentAnswered(subtask_id(1), ConsentHash("a".to_owned())));
        }
        directive(&bench.step(Input::FellShort(missed(0, "/a")))).budget_pressure
    };
    assert!((pressure(true) - pressure(false)).abs() < 1e-9);
}

/// The target of a call that was denied stays blocked in all later plans of the task.
#[doc = "holds: law 1.14; design D10"]
#[test]
fn refused_target_stays_blocked() {
    let refused = |round: u32| {
        let call = ToolCall {
            tool: "shell".to_owned(),
            target: "rm x".to_owned(),
            status: artoo_proto::CallStatus::Denied,
            ..look(1, "[LAW1]")
        };
        let mut request = one_failed(round, FailureClass::Environmental, vec![call]);
        request.outcomes[0].denied = vec![artoo_proto::DeniedAction {
            action: "shell: rm x".to_owned(),
            reason: "no".to_owned(),
            by_person: false,
        }];
        request
    };
    let mut bench = begun();
    bench.step(Input::FellShort(refused(0)));
    for round in 1..3 {
        next(&mut bench, round);
        let directive = directive(&bench.step(Input::FellShort(wrong(round))));
        assert!(directive.blocked_targets.iter().any(|t| t.ends_with(":rm x")), "{:?}", directive.blocked_targets);
    }
    next(&mut bench, 3);
    let result = finished(&bench.step(Input::FellShort(refused(3))));
    assert_eq!(reason(&result), &AbandonReason::ConsentNeeded);
    assert_eq!(result.denied.len(), 1, "each refused action is listed once");
}

/// After a denied approval and an abstention of the parser, the reason of the ending is the denial.
#[doc = "holds: design D10"]
#[test]
fn denied_consent_ends_task_as_consent_needed() {
    let ended_after_a_no = |by_person: bool| {
        let mut request = one_failed(0, FailureClass::Environmental, vec![look(1, "[LAW1]")]);
        request.outcomes[0].denied = vec![artoo_proto::DeniedAction {
            action: "files: makes a.txt".to_owned(),
            reason: "no".to_owned(),
            by_person,
        }];
        let mut bench = begun();
        directive(&bench.step(Input::FellShort(request)));
        let abstention = artoo_proto::Abstention {
            understood: String::new(),
            not_understood: Vec::new(),
            remedy: "set up a model".to_owned(),
            offer: None,
        };
        finished(&bench.step(Input::NotPlanned(artoo_proto::PlanRejected {
            task_id: task_id(),
            round: 1,
            problems: Vec::new(),
            model_failure: None,
            abstention: Some(abstention),
        })))
    };
    let (said_no, nobody_there) = (ended_after_a_no(true), ended_after_a_no(false));
    assert_eq!(reason(&said_no), &AbandonReason::ConsentNeeded);
    assert_eq!(reason(&nobody_there), &AbandonReason::ConsentNeeded);
    assert!(said_no.next_steps[0].contains("change your mind"), "{:?}", said_no.next_steps);
    assert!(nobody_there.next_steps[0].contains("in a terminal"), "{:?}", nobody_there.next_steps);
}

#[doc = "holds: design D3"]
#[test]
fn solver_ignores_other_rounds_and_ends_once() {
    let mut bench = begun();
    assert!(bench.step(Input::FellShort(wrong(1))).is_empty(), "a round that is not due");
    assert!(bench.step(Input::Met(met(5))).is_empty());
    directive(&bench.step(Input::FellShort(wrong(0))));
    assert!(bench.step(Input::FellShort(wrong(0))).is_empty(), "the same round again");
    assert!(bench.step(Input::Met(met(0))).is_empty());
    next(&mut bench, 1);
    let effects = bench.step(Input::Met(met(1)));
    let kinds: Vec<String> = said(&effects).iter().rev().take(2).map(|m| m.kind().to_string()).collect();
    assert_eq!(kinds, ["FinalResult", "Abort"], "the result comes last");
    for late in [Input::Met(met(1)), Input::FellShort(wrong(1)), Input::Cancel] {
        assert!(bench.step(late).is_empty());
    }
}

/// A summary that reports success beside a failed verdict ends the task as an internal failure, without output.
#[doc = "holds: design D8"]
#[test]
fn accept_contradicting_its_verdicts_is_withheld() {
    let fail = |v: &mut CriterionVerdict| v.verdict = Verdict::Fail;
    let mut of_task = met(0);
    fail(&mut of_task.task_verdicts[0]);
    let mut of_subtask = met(0);
    fail(&mut of_subtask.outcomes[1].criteria_verdicts[0]);
    let mut of_status = met(0);
    of_status.outcomes[0].status = OutcomeStatus::Failed;
    for lie in [of_task, of_subtask, of_status] {
        let result = finished(&begun().step(Input::Met(lie)));
        assert!(matches!(reason(&result), AbandonReason::RoleFailed { .. }), "{:#?}", result.ending);
        assert!(result.output.is_empty());
    }
    let result = finished(&begun().step(Input::Met(met(0))));
    assert_eq!((result.ending, result.output.as_str()), (Ending::Accept { basis: Basis::Judged }, "12"));
}

#[doc = "holds: design G11"]
#[test]
fn accept_ignores_an_exhausted_budget() {
    let mut bench = begun();
    bench.wait(1_000_000);
    let result = finished(&bench.step(Input::Met(met(0))));
    assert!(matches!(result.ending, Ending::Accept { .. }) && result.loss.omega > 0.3);
}

#[doc = "holds: design G20"]
#[test]
fn hard_limit_or_earlier_deadline_ends_task() {
    let mut bench = Bench::new(Solver::new(Profile::default(), &config(1).tools, "/home/u", task_id()));
    let mut task = spec(REQUEST);
    task.constraints.deadline = Some(bench.now.wall.plus_millis(5_000));
    let [(deadline, ms)] = timers(&bench.step(Input::Task(task)))[..] else { panic!() };
    assert_eq!(ms, 5_000);
    let [(limit, ms)] = timers(&bench.step(Input::Request(request(60_000))))[..] else { panic!("overtaken") };
    assert_eq!(ms, 60_000);
    assert_ne!(limit, deadline);
    assert!(bench.step(Input::TimerFired(artoo_proto::EffectId(uuid::Uuid::nil()))).is_empty());
    bench.step(Input::Manifest(plan(0)));
    let result = finished(&bench.step(Input::TimerFired(deadline)));
    assert_eq!(reason(&result), &AbandonReason::Deadline);
    let Ending::Abandon { unmet, .. } = &result.ending else { panic!() };
    assert_eq!(unmet.len(), 3, "everything that was planned is unmet");
}

/// When every tool would be blocked, the directive releases the one that was blocked first, each at most once.
#[doc = "holds: design G12"]
#[test]
fn oldest_blocked_tool_is_released_first() {
    let tools: Vec<_> =
        config(1).tools.iter().filter(|tool| ["glob", "shell"].contains(&&*tool.name)).cloned().collect();
    let mut bench = Bench::new(Solver::new(Profile::default(), &tools, "/home/u", task_id()));
    bench.step(Input::Task(spec(REQUEST)));
    next(&mut bench, 0);
    let with = |round: u32, tool: &str| {
        let mut request = wrong(round);
        request.outcomes[0].tool_calls[0].tool = tool.to_owned();
        request
    };
    let first = directive(&bench.step(Input::FellShort(with(0, "glob"))));
    assert_eq!((first.blocked_tools, first.released_tools), (vec!["glob".to_owned()], Vec::new()));
    next(&mut bench, 1);
    let second = directive(&bench.step(Input::FellShort(with(1, "shell"))));
    assert_eq!(second.released_tools, ["glob"], "each at most once, the oldest first");
    assert_eq!(second.blocked_tools, ["shell"]);
}
