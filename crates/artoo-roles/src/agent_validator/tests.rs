//! Tests of R4a: what it rejects, when it asks a model, and when it asks for a correction.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for the few things it knows")]

mod objections;
mod verdicts;

use artoo_proto::{
    CheckOutcome, CorrectionSignal, Criterion, ExecutionResult, ExecutionStatus, FailureClass, Message, OutcomeStatus,
    RoleContext, SubTask, SubTaskOutcome, ToolCall, Verdict, VerdictSource,
};
use serde_json::json;

use super::{AgentValidator, Input, prompt};
use crate::limits::RETRIES_MAX;
use crate::machine::{Lifecycle, RoleEffect};
use crate::testing::bench::{
    Bench, HOSTILE, asked, assert_tame, body, checking, contains, judgement, look, only, prose, reply, result, subtask,
    unreachable_model, unreadable,
};

/// R4a with an assigned subtask.
fn assigned(subtask: SubTask) -> Bench<Lifecycle<AgentValidator>> {
    let mut bench = Bench::new(Lifecycle::<AgentValidator>::new(()));
    assert!(bench.step(Input::Assigned(subtask)).is_empty());
    bench
}

/// A subtask with one criterion in words.
fn step() -> SubTask {
    subtask(&["glob"], vec![prose("a number of files is named")])
}

/// The outcome that R4a publishes.
fn outcome(effects: &[RoleEffect]) -> SubTaskOutcome {
    let Message::SubTaskOutcome(outcome) = only(effects) else { panic!("{effects:#?}") };
    outcome.clone()
}

/// The correction that R4a publishes.
fn correction(effects: &[RoleEffect]) -> CorrectionSignal {
    let Message::CorrectionSignal(signal) = only(effects) else { panic!("{effects:#?}") };
    signal.clone()
}

/// Answers R4a's model request with these verdicts and returns the effects that follow.
fn judged(
    bench: &mut Bench<Lifecycle<AgentValidator>>,
    effects: &[RoleEffect],
    views: &[(u32, &str, &[&str])],
) -> Vec<RoleEffect> {
    let (id, _) = asked(effects);
    bench.step(Input::Replied(id, judgement(views)))
}

/// The outcome of a check that passed or failed.
fn checked(pass: bool) -> CheckOutcome {
    CheckOutcome { pass, evidence: "looked".to_owned(), environmental: false }
}

/// Whether an attempt with these calls counts as matched when a model judges it with these verdicts.
fn matched(calls: Vec<ToolCall>, views: &[(u32, &str, &[&str])]) -> bool {
    let mut bench = assigned(step());
    let effects = bench.step(Input::Reported(result(1, calls, "12 files")));
    let effects = judged(&mut bench, &effects, views);
    match only(&effects) {
        Message::SubTaskOutcome(outcome) => outcome.status == OutcomeStatus::Matched,
        Message::CorrectionSignal(_) => false,
        other => panic!("{other:?}"),
    }
}

/// R4a asks for a correction after each failed attempt; after the third it publishes the subtask as failed.
#[doc = "holds: principle 4"]
#[test]
fn third_failed_attempt_is_final() {
    let mut bench = assigned(step());
    for attempt in 1..=RETRIES_MAX {
        let effects = bench.step(Input::Reported(result(attempt, vec![look(attempt, "names")], "names")));
        let signal = correction(&judged(&mut bench, &effects, &[(1, "fail", &[])]));
        assert_eq!(signal.attempt_number, attempt + 1);
        assert_eq!(signal.avoid_calls.len(), attempt as usize, "every call made so far is to be avoided");
        assert!(signal.what_to_do.starts_with("look again\n"), "the judge's advice: {}", signal.what_to_do);
        assert!(signal.what_to_do.contains("- a number of files is named"), "format constraints are repeated");
    }
    let effects = bench.step(Input::Reported(result(3, vec![look(3, "names")], "names")));
    let outcome = outcome(&judged(&mut bench, &effects, &[(1, "fail", &[])]));
    assert_eq!((outcome.status, outcome.tool_calls.len(), outcome.infrastructure), (OutcomeStatus::Failed, 3, false));
    let attempts: Vec<u32> = outcome.gap_trajectory.iter().map(|point| point.attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert!(bench.step(Input::Reported(result(4, Vec::new(), ""))).is_empty(), "one last word");
}

/// The outcome of a subtask lists for each attempt the share of criteria met and the claims not met.
#[doc = "holds: design G18"]
#[test]
fn trajectory_has_gap_of_each_attempt() {
    let mut bench = assigned(subtask(&["glob"], vec![prose("one is named"), prose("two is named")]));
    let rounds: [&[(u32, &str, &[&str])]; 3] = [
        &[(1, "fail", &[]), (2, "pass", &["e1"])],
        &[(1, "fail", &[]), (2, "fail", &[])],
        &[(1, "pass", &["e3"]), (2, "fail", &[])],
    ];
    let mut effects = Vec::new();
    for (attempt, views) in (1..).zip(rounds) {
        effects = bench.step(Input::Reported(result(attempt, vec![look(attempt, "x")], "x")));
        effects = judged(&mut bench, &effects, views);
    }
    let outcome = outcome(&effects);
    let trajectory = &outcome.gap_trajectory;
    assert_eq!(trajectory.iter().map(|point| point.score).collect::<Vec<_>>(), [0.5, 0.0, 0.5]);
    let k = |claim: &str| artoo_proto::verdict::failed_attempts(trajectory, claim);
    assert_eq!((k("one is named"), k("two is named")), (2, 2));
    assert_eq!(trajectory[1].unmet_criteria, ["one is named", "two is named"]);
}

/// A retry without calls may cite the calls of an earlier attempt, for example to correct only the answer's form.
#[test]
fn retry_may_use_earlier_measurements() {
    let mut bench = assigned(subtask(&["glob"], vec![prose("a bare count is given")]));
    let effects = bench.step(Input::Reported(result(1, vec![look(1, "12 files")], "12 files")));
    correction(&judged(&mut bench, &effects, &[(1, "fail", &[])]));
    // The executor may not repeat its call, so a mere change of form has no call of its own.
    let effects = bench.step(Input::Reported(result(2, Vec::new(), "12")));
    let (_, question) = asked(&effects);
    let RoleContext::ValidateSubtask(context) = &question.context else { panic!() };
    assert_eq!(context.result.tool_calls.len(), 1, "the judge sees what was measured");
    let outcome = outcome(&judged(&mut bench, &effects, &[(1, "pass", &["e1"])]));
    assert_eq!((outcome.status, outcome.output.as_str()), (OutcomeStatus::Matched, "12"));
}

/// Runs a subtask whose check fails in all three attempts, until R4a asks a model about the other criterion.
fn failed_check_and_open_criterion() -> (Bench<Lifecycle<AgentValidator>>, Vec<RoleEffect>) {
    let write = contains("/ws/notes.txt");
    let mut bench = assigned(subtask(&["glob"], vec![prose("a greeting is shown"), write.clone()]));
    for attempt in 1..=RETRIES_MAX {
        let signal = correction(&bench.step(Input::Reported(result(attempt, vec![look(attempt, "x")], "x"))));
        assert_eq!(signal.failed_criterion, write.claim());
        assert_eq!(signal.what_was_wrong, "no successful call changed /ws/notes.txt");
    }
    let effects = bench.step(Input::Reported(result(3, vec![look(3, "x")], "x")));
    (bench, effects)
}

/// After the third attempt a model judges the open criteria although a check failed; the subtask fails all the same.
#[doc = "holds: design G7, G18"]
#[test]
fn last_attempt_is_judged_despite_failed_check() {
    let (mut bench, effects) = failed_check_and_open_criterion();
    let (_, question) = asked(&effects);
    let RoleContext::ValidateSubtask(context) = &question.context else { panic!() };
    assert_eq!(context.open, [prose("a greeting is shown")], "only what code could not decide");
    let outcome = outcome(&judged(&mut bench, &effects, &[(1, "pass", &["e3"])]));
    assert_eq!(outcome.status, OutcomeStatus::Failed);
    assert!(outcome.failure_reason.unwrap().contains("no successful call changed"));
    let verdicts: Vec<_> = outcome.criteria_verdicts.iter().map(|v| (v.verdict, v.source)).collect();
    assert_eq!(verdicts, [(Verdict::Pass, VerdictSource::Model), (Verdict::Fail, VerdictSource::Check)]);
}

/// If a check failed and then the judging model failed, the subtask failed by its work, not by the infrastructure.
#[test]
fn failed_check_outranks_a_judge_failure() {
    let (mut bench, effects) = failed_check_and_open_criterion();
    let (id, _) = asked(&effects);
    let outcome = outcome(&bench.step(Input::Replied(id, Err(unreachable_model()))));
    assert_eq!((outcome.infrastructure, outcome.model_failure), (false, None));
    assert!(outcome.failure_reason.unwrap().contains("no successful call changed"));
    let classes: Vec<_> = outcome.criteria_verdicts.iter().map(|v| (v.source, v.failure_class)).collect();
    assert_eq!(
        classes,
        [(VerdictSource::Missing, None), (VerdictSource::Check, Some(FailureClass::Logical))],
        "g7: what never came to a verdict counts in D and not in P"
    );
}

/// A recipe whose check failed fails its subtask at the first attempt.
#[test]
fn recipes_are_never_retried() {
    let recipe = artoo_proto::Recipe { steps: Vec::new(), reading: String::new(), skill: None };
    let count = crate::testing::bench::count_of("/home/u");
    let mut bench = assigned(SubTask { recipe: Some(recipe), ..subtask(&["glob"], vec![count]) });
    let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
    let (id, order) = checking(&effects);
    assert_eq!((order.checks.len(), order.output.as_str()), (1, "12"));
    let outcome = outcome(&bench.step(Input::Checked(id, vec![checked(false)])));
    assert_eq!((outcome.status, outcome.criteria_verdicts[0].source), (OutcomeStatus::Failed, VerdictSource::Check));
}

/// If the judging model fails, the subtask fails and no criterion counts as passed.
#[doc = "holds: design D6"]
#[test]
fn failed_judge_leaves_no_pass() {
    for (failure, infrastructure) in [(unreachable_model(), true), (unreadable(), false)] {
        let mut bench = assigned(step());
        let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
        let (id, _) = asked(&effects);
        let mut effects = bench.step(Input::Replied(id, Err(failure.clone())));
        if !infrastructure {
            let (id, _) = asked(&effects);
            effects = bench.step(Input::Replied(id, Err(failure.clone())));
        }
        let outcome = outcome(&effects);
        assert_eq!((outcome.status, outcome.infrastructure), (OutcomeStatus::Failed, infrastructure));
        assert_eq!(outcome.model_failure, Some(failure));
        let verdict = &outcome.criteria_verdicts[0];
        assert_eq!(
            (verdict.source, verdict.failure_class),
            (VerdictSource::Missing, Some(FailureClass::Environmental))
        );
    }
}

/// If the judge abstains (the embedded parser can't judge), the subtask fails.
#[test]
fn declining_judge_gives_no_pass() {
    let abstention = artoo_proto::Abstention {
        understood: String::new(),
        not_understood: Vec::new(),
        remedy: String::new(),
        offer: None,
    };
    let mut bench = assigned(step());
    let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
    let (id, _) = asked(&effects);
    let reply = body(artoo_proto::ReplyBody::Abstain { abstention });
    assert_eq!(outcome(&bench.step(Input::Replied(id, reply))).status, OutcomeStatus::Failed);
}

#[doc = "holds: design B5"]
#[test]
fn unexpected_and_late_reports_are_ignored() {
    let mut bench = Bench::new(Lifecycle::<AgentValidator>::new(()));
    let first = || result(1, vec![look(1, "12")], "12");
    assert!(bench.step(Input::Reported(first())).is_empty());
    let effects = bench.step(Input::Assigned(step()));
    let (id, _) = asked(&effects);
    assert!(bench.step(Input::Reported(first())).is_empty(), "a report that overtook its subtask counts once");
    assert!(bench.step(Input::Assigned(step())).is_empty());
    assert!(bench.step(Input::Checked(id, Vec::new())).is_empty(), "a completion of another kind");
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Replied(id, judgement(&[(1, "pass", &["e1"])]))).is_empty());

    let mut bench = assigned(step());
    assert!(bench.step(Input::Reported(ExecutionResult { attempt: 2, ..first() })).is_empty());
    assert!(!bench.step(Input::Reported(first())).is_empty(), "the first attempt is still awaited");
}

/// An attempt that the executor itself reports as failed fails the subtask at once, without a retry or a model.
#[doc = "holds: design D6"]
#[test]
fn failed_work_is_never_matched() {
    let mut bench = assigned(step());
    let given_up = ExecutionResult { status: ExecutionStatus::Failed, ..result(1, vec![look(1, "12")], "12 files") };
    let effects = bench.step(Input::Reported(given_up));
    assert_eq!(outcome(&effects).status, OutcomeStatus::Failed, "at once: no retry and no question to a model");
}

#[test]
fn second_unreadable_verdict_fails() {
    for bad in [
        json!({"verdicts": [{"number": 1, "verdict": "maybe", "cites": ["e1"]}]}),
        json!({"verdicts": {"1": "pass"}}),
        json!({"all": "pass"}),
        json!("pass"),
    ] {
        let mut bench = assigned(step());
        let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
        let (id, _) = asked(&effects);
        let effects = bench.step(Input::Replied(id, reply(bad.clone())));
        let (id, _) = asked(&effects);
        assert_eq!(outcome(&bench.step(Input::Replied(id, reply(bad)))).status, OutcomeStatus::Failed, "l30");
    }
}

#[doc = "holds: design H8"]
#[test]
fn prompt_snapshot_with_hostile_text() {
    let mut subtask = subtask(&["glob"], Vec::new());
    subtask.intent = HOSTILE.to_owned();
    subtask.context = HOSTILE.to_owned();
    let mut call = look(1, HOSTILE);
    call.input = json!({"query": HOSTILE});
    call.changed = crate::testing::bench::written(1, HOSTILE).changed;
    let context = artoo_proto::ValidateSubtaskContext {
        subtask,
        result: result(1, vec![call], HOSTILE),
        open: vec![prose(HOSTILE), Criterion::prose("it is shown")],
    };
    let prompt = prompt::render(&context);
    assert_tame(&prompt);
    insta::assert_snapshot!(prompt.user);
}
