//! Tests of R4b: complete rounds, the joined output, and that only facts and evidence lead to success.

mod facts;
mod fan_in;

use artoo_proto::{
    CheckOutcome, Column, Coverage, CoverageState, Covered, Criterion, CriterionVerdict, DeniedAction,
    DispatchManifest, EvidenceId, KeptOutput, ManifestEntry, Message, ModelFailure, OutcomeSummary, ReplanRequest,
    RoleContext, SubTaskOutcome, TaskSpec, ToolCall, Verdict, VerdictSource,
};

use super::{Input, MetaValidator, Part, prompt};
use crate::machine::{Lifecycle, RoleEffect};
use crate::testing::bench::{
    Bench, HOSTILE, asked, assert_tame, body, checking, contains, count_of, covering, failed, judgement, look,
    manifest, only, outcome, prose, said, spec, unreachable_model, unreadable, verdict, written,
};

const QUESTION: &str = "how many reports are there";
const ACT: &str = "create a file notes.txt with hello";

/// R4b with a task whose request is `raw_input`, on a bench.
fn bench(raw_input: &str) -> Bench<Lifecycle<MetaValidator>> {
    let mut bench = Bench::new(Lifecycle::<MetaValidator>::new(()));
    assert!(bench.step(Input::Task(spec(raw_input))).is_empty());
    bench
}

/// Feeds a complete round and answers the comparison with an empty coverage. A round of recipes has no comparison.
fn gather(
    bench: &mut Bench<Lifecycle<MetaValidator>>,
    manifest: DispatchManifest,
    outcomes: Vec<SubTaskOutcome>,
) -> Vec<RoleEffect> {
    let is_compared = manifest.subtasks.iter().any(|subtask| !subtask.recipe);
    let effects = arrive(bench, manifest, outcomes);
    if is_compared { covered(bench, &effects, Coverage::default()) } else { effects }
}

/// Answers R4b's request for a comparison with this coverage.
fn covered(bench: &mut Bench<Lifecycle<MetaValidator>>, effects: &[RoleEffect], coverage: Coverage) -> Vec<RoleEffect> {
    let (id, _) = covering(effects);
    bench.step(Input::Covered(id, coverage))
}

/// Feeds the manifest and then the outcomes of a round; returns the effects of the last one.
fn arrive(
    bench: &mut Bench<Lifecycle<MetaValidator>>,
    manifest: DispatchManifest,
    outcomes: Vec<SubTaskOutcome>,
) -> Vec<RoleEffect> {
    let mut effects = bench.step(Input::Arrived(Part::Manifest(manifest)));
    for outcome in outcomes {
        assert!(effects.is_empty(), "released before it was complete");
        effects = bench.step(Input::Arrived(Part::Outcome(outcome)));
    }
    effects
}

/// The replan request that R4b publishes.
fn replan(effects: &[RoleEffect]) -> ReplanRequest {
    let Message::ReplanRequest(request) = only(effects) else { panic!("{effects:#?}") };
    request.clone()
}

/// The outcome summary that R4b publishes.
fn summary(effects: &[RoleEffect]) -> OutcomeSummary {
    let Message::OutcomeSummary(summary) = only(effects) else { panic!("{effects:#?}") };
    summary.clone()
}

/// Answers the request to judge with these verdicts.
fn judged(
    bench: &mut Bench<Lifecycle<MetaValidator>>,
    effects: &[RoleEffect],
    views: &[(u32, &str, &[&str])],
) -> Vec<RoleEffect> {
    let (id, _) = asked(effects);
    bench.step(Input::Replied(id, judgement(views)))
}

/// The success criteria of the task in these tests.
fn declared() -> Vec<Criterion> {
    vec![prose("a number of reports is stated")]
}

/// Whether R4b accepts a round of one matched subtask with these calls when a model judges it with these verdicts.
fn accepts(raw_input: &str, calls: Vec<ToolCall>, views: &[(u32, &str, &[&str])]) -> bool {
    let mut bench = bench(raw_input);
    let mut effects = gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", calls)]);
    if said(&effects).is_empty() {
        effects = judged(&mut bench, &effects, views);
    }
    matches!(only(&effects), Message::OutcomeSummary(_))
}

const BOTH: &[(u32, &str, &[&str])] = &[(1, "pass", &["e1"]), (2, "pass", &["e1"])];

/// R4b adds the user's request as a required criterion to those of the plan, and a model judges it too.
#[test]
fn users_request_is_always_judged() {
    let mut bench = bench(QUESTION);
    let effects = gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", vec![look(1, "12")])]);
    let (_, question) = asked(&effects);
    let RoleContext::ValidateTask(context) = &question.context else { panic!() };
    let claims: Vec<String> = context.open.iter().map(Criterion::claim).collect();
    let goal = "the evidence shows that the request is fulfilled: how many reports are there";
    assert_eq!(claims, ["a number of reports is stated", goal]);
    assert!(context.open[1].required());
    let effects = judged(&mut bench, &effects, &[(1, "pass", &["e1"]), (2, "fail", &[])]);
    assert_eq!(replan(&effects).task_verdicts[1].verdict, Verdict::Fail, "a plan that answers only a part");

    let mut bench = Bench::new(Lifecycle::<MetaValidator>::new(()));
    bench.step(Input::Task(TaskSpec { intent: "count the reports".to_owned(), ..spec("do it again") }));
    let effects = gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", vec![look(1, "12")])]);
    let (_, question) = asked(&effects);
    assert!(question.prompt.user.contains("fulfilled: do it again (understood as: count the reports)"));
}

/// A criterion passes only if the model's verdict is `pass` and cites an existing call that can prove it.
#[doc = "holds: invariant 5; fault L29; design D6"]
#[test]
fn only_a_cited_pass_passes() {
    let calls = || vec![look(1, "12")];
    assert!(accepts(QUESTION, calls(), BOTH));
    assert!(!accepts(QUESTION, calls(), &[(1, "pass", &["e1"])]), "the verdict on the request is missing");
    assert!(!accepts(QUESTION, calls(), &[(2, "pass", &["e1"])]));
    assert!(!accepts(QUESTION, calls(), &[]));
    assert!(!accepts(QUESTION, calls(), &[(1, "pass", &["e1"]), (2, "pass", &[])]), "uncited");
    assert!(!accepts(QUESTION, calls(), &[(1, "pass", &["e1"]), (2, "pass", &["e7"])]));
    assert!(!accepts(QUESTION, calls(), &[(1, "pass", &["e1"]), (2, "pass", &["e1"]), (2, "fail", &[])]));
    let echo = ToolCall { measures: false, ..look(1, "12") };
    assert!(!accepts(QUESTION, vec![echo], BOTH), "an echo is no evidence");
    let cut = ToolCall { truncated: true, ..look(1, "12") };
    assert!(!accepts(QUESTION, vec![cut], BOTH), "how many can't be told from a cut output");
}

#[doc = "holds: invariant 6; design G21"]
#[test]
fn failed_round_is_not_judged() {
    let mut bench = bench(QUESTION);
    let outcomes = vec![
        outcome(1, true, "one\n", vec![look(1, "one")]),
        outcome(2, false, "I think two", vec![look(2, "?")]),
        outcome(3, true, "three", vec![look(3, "three")]),
    ];
    let effects = gather(&mut bench, manifest(0, 3, declared()), outcomes);
    assert_eq!(effects.len(), 1, "no model and no check");
    let request = replan(&effects);
    assert_eq!(request.outcomes.len(), 3, "g9: all of them, not the failed ones");
    assert_eq!(request.merged_output, "one\nthree", "g21: matched outputs, in order, by code");
    assert_eq!((request.unverified.len(), request.unverified[0].output.as_str()), (1, "I think two"));
    assert_eq!(request.unverified[0].intent, "do part 2");
    assert!(request.task_verdicts.is_empty());
    assert_eq!(request.gap_summary, "do part 2: not shown");
}

/// A round with an outcome that contradicts itself, or without outcomes, leads to a replan without asking a model.
#[test]
fn contradictory_outcome_is_not_judged() {
    let mut two_faced = outcome(1, true, "12", vec![look(1, "12")]);
    two_faced.criteria_verdicts[0].verdict = Verdict::Fail;
    replan(&gather(&mut bench(QUESTION), manifest(0, 1, declared()), vec![two_faced]));
    let mut given_up = outcome(1, true, "12", vec![look(1, "12")]);
    given_up.status = artoo_proto::OutcomeStatus::Failed;
    replan(&gather(&mut bench(QUESTION), manifest(0, 1, declared()), vec![given_up]));
    let empty = gather(&mut bench(QUESTION), manifest(0, 0, declared()), Vec::new());
    replan(&empty);
}

/// A task check of a file passes on a change that an earlier round made.
#[test]
fn changes_of_earlier_rounds_count() {
    let mut bench = bench(ACT);
    let outcomes =
        vec![outcome(1, true, "wrote", vec![written(1, "/ws/notes.txt")]), outcome(2, false, "", vec![look(2, "")])];
    assert!(
        replan(&gather(&mut bench, manifest(0, 2, vec![contains("/ws/notes.txt")]), outcomes)).task_verdicts.is_empty()
    );
    let second = SubTaskOutcome { round: 1, ..outcome(3, true, "there", vec![look(3, "hello")]) };
    let mut third = manifest(1, 3, vec![contains("/ws/notes.txt")]);
    third.subtasks.drain(..2);
    let effects = gather(&mut bench, third, vec![second]);
    let (id, _) = checking(&effects);
    let seen = CheckOutcome { pass: true, evidence: "it is in".to_owned(), environmental: false };
    let effects = bench.step(Input::Checked(id, vec![seen]));
    let summary = summary(&judged(&mut bench, &effects, &[(1, "pass", &["e3"])]));
    assert_eq!((summary.round, summary.task_verdicts[0].source), (1, VerdictSource::Check));
}

/// For a question, a file that the task wrote itself is no evidence; for a request to write it is.
#[test]
fn own_writes_prove_no_fact() {
    let calls = || {
        let read_back = ToolCall { target: "/ws/facts.txt".to_owned(), ..look(2, "42 reports") };
        vec![written(1, "/ws/facts.txt"), read_back]
    };
    let cite = |cites: &'static [&'static str]| accepts(QUESTION, calls(), &[(1, "pass", cites), (2, "pass", cites)]);
    assert!(!cite(&["e2"]) && !cite(&["e1"]) && !cite(&["e1", "e2"]));
    let mut with_a_look = calls();
    with_a_look.push(look(3, "42"));
    let own_too = &["e1", "e3"];
    assert!(accepts(QUESTION, with_a_look.clone(), &[(1, "pass", &["e3"]), (2, "pass", own_too)]));
    let mut bench = bench(QUESTION);
    let effects = gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "42", with_a_look)]);
    let summary = summary(&judged(&mut bench, &effects, &[(1, "pass", own_too), (2, "pass", own_too)]));
    assert_eq!(summary.task_verdicts[0].cites, [EvidenceId("e3".to_owned())], "its own file is left out");
    let act = "write the number of reports to facts.txt";
    assert!(
        accepts(act, calls(), &[(1, "pass", &["e1"]), (2, "pass", &["e2"])]),
        "for an act it is what was asked for"
    );
    for act in ["count the reports, then write the number to facts.txt", "find the reports and fix them"] {
        assert!(accepts(act, calls(), &[(1, "pass", &["e1"]), (2, "pass", &["e1"])]), "{act}");
    }
}

/// Checks of a recipe decide the task without a model; checks that a model planned leave the request to the judge.
#[doc = "holds: design G19"]
#[test]
fn only_recipe_checks_replace_the_judge() {
    let run = |recipe: bool, pass: bool| {
        let mut bench = bench(QUESTION);
        let mut plan = manifest(0, 1, vec![count_of("/home/u")]);
        plan.subtasks[0] = ManifestEntry { recipe, ..plan.subtasks[0].clone() };
        let effects = gather(&mut bench, plan, vec![outcome(1, true, "12", vec![look(1, "12")])]);
        let (id, order) = checking(&effects);
        assert_eq!(order.output, "12");
        let seen = CheckOutcome { pass, evidence: "counted".to_owned(), environmental: false };
        bench.step(Input::Checked(id, vec![seen]))
    };
    assert_eq!(summary(&run(true, true)).task_verdicts[0].source, VerdictSource::Check);
    replan(&run(true, false));
    asked(&run(false, true));
    let (_, question) = asked(&run(false, false));
    let RoleContext::ValidateTask(context) = &question.context else { panic!() };
    assert!(context.open[0].claim().contains("fulfilled"), "a model's own check fails nothing: the judge decides");
}

/// The summary that R4b publishes after a round whose only subtask failed by this verdict, if a judge passes the rest;
/// `None` if it publishes a replan request.
fn failed_by(verdict: CriterionVerdict, change: impl Fn(&mut SubTaskOutcome)) -> Option<OutcomeSummary> {
    let mut bench = bench(ACT);
    let mut failed = outcome(1, true, "wrote it", vec![written(1, "/ws/notes.txt")]);
    failed.status = artoo_proto::OutcomeStatus::Failed;
    failed.criteria_verdicts.push(verdict);
    change(&mut failed);
    let effects = gather(&mut bench, manifest(0, 1, declared()), vec![failed]);
    if !said(&effects).is_empty() {
        replan(&effects);
        return None;
    }
    Some(summary(&judged(&mut bench, &effects, BOTH)))
}

/// A failed check that the model's plan added is listed as unmet and fails the task only if no work was done either.
#[test]
fn planned_check_alone_fails_no_task() {
    let own = || verdict(&contains("/ws/notes.txt"), Verdict::Fail, VerdictSource::Check);
    let summary = failed_by(own(), |_| {}).unwrap();
    assert_eq!(summary.merged_output, "wrote it");
    assert_eq!(summary.outcomes[0].status, artoo_proto::OutcomeStatus::Matched);
    assert_eq!(summary.outcomes[0].criteria_verdicts[1], own(), "it stays unmet in the result");
    let count = verdict(&count_of("/home/u"), Verdict::Fail, VerdictSource::Check);
    assert!(failed_by(count.clone(), |one| one.tool_calls = vec![look(1, "12")]).is_some());

    assert!(failed_by(own(), |one| one.tool_calls = vec![look(1, "12")]).is_none(), "the act did not happen");
    assert!(failed_by(count, |one| one.tool_calls = vec![failed(look(1, ""), true)]).is_none(), "no call succeeded");
    assert!(failed_by(own(), |one| one.infrastructure = true).is_none());
    assert!(failed_by(own(), |one| one.model_failure = Some(unreadable())).is_none());
    let no = DeniedAction { action: "shell: rm x".to_owned(), reason: "no".to_owned(), by_person: true };
    assert!(failed_by(own(), |one| one.denied = vec![no.clone()]).is_none(), "an act was refused");
    let by_rule = verdict(&contains("/ws/notes.txt"), Verdict::Fail, VerdictSource::Rule);
    assert!(failed_by(by_rule, |_| {}).is_none(), "an objection to the whole attempt");
    let by_judge = verdict(&prose("it is short"), Verdict::Fail, VerdictSource::Model);
    assert!(failed_by(by_judge, |_| {}).is_none());
    assert!(failed_by(own(), |one| one.criteria_verdicts.pop().map_or((), drop)).is_none(), "given up");
}

/// The evidence of a recipe's check says so if a later step changed something after the check ran.
#[doc = "holds: design G19"]
#[test]
fn check_older_than_a_change_is_marked() {
    let evidence = |later: ToolCall| {
        let of_step = [count_of("/home/u"), count_of("/home/v")];
        let outcomes =
            [look(1, "12"), later].into_iter().zip((1..).zip(&of_step)).map(|(call, (number, criterion))| {
                let seen = CriterionVerdict {
                    evidence: "counted".to_owned(),
                    ..verdict(criterion, Verdict::Pass, VerdictSource::Check)
                };
                SubTaskOutcome { criteria_verdicts: vec![seen], ..outcome(number, true, "12", vec![call]) }
            });
        let outcomes: Vec<SubTaskOutcome> = outcomes.collect();
        let mut plan = manifest(0, 2, of_step.to_vec());
        plan.subtasks.iter_mut().for_each(|entry| entry.recipe = true);
        let verdicts = summary(&gather(&mut bench(QUESTION), plan, outcomes)).task_verdicts;
        verdicts.into_iter().map(|verdict| verdict.evidence).collect::<Vec<_>>()
    };
    assert_eq!(evidence(look(2, "12")), ["counted", "counted"]);
    let after_a_change = evidence(written(2, "/home/u/new"));
    assert!(after_a_change[0].contains("a later step has changed"), "{after_a_change:?}");
    assert_eq!(after_a_change[1], "counted");
}

#[doc = "holds: invariant 5; design D6"]
#[test]
fn failed_judge_fails_the_criteria() {
    let run = |failures: &[ModelFailure]| {
        let mut bench = bench(QUESTION);
        let mut effects =
            gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", vec![look(1, "12")])]);
        for failure in failures {
            let (id, _) = asked(&effects);
            effects = bench.step(Input::Replied(id, Err(failure.clone())));
        }
        replan(&effects)
    };
    for failures in [vec![unreachable_model()], vec![unreadable(), unreadable()]] {
        let request = run(&failures);
        assert_eq!(request.model_failure.as_ref(), failures.last());
        assert!(request.task_verdicts.iter().all(|v| v.source == VerdictSource::Missing));
    }
    let abstention = artoo_proto::Abstention {
        understood: String::new(),
        not_understood: Vec::new(),
        remedy: String::new(),
        offer: None,
    };
    let mut bench = bench(QUESTION);
    let effects = gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", vec![look(1, "12")])]);
    let (id, _) = asked(&effects);
    replan(&bench.step(Input::Replied(id, body(artoo_proto::ReplyBody::Abstain { abstention }))));
}

/// A judge may pass text without citations only if no subtask of the round called a tool.
#[test]
fn citations_are_needed_after_any_call() {
    let words = |number| SubTaskOutcome { words_only: true, ..outcome(number, true, "rain", Vec::new()) };
    let run = |outcomes: Vec<SubTaskOutcome>| {
        let mut bench = bench("write a haiku about rain");
        let effects = gather(&mut bench, manifest(0, 2, vec![prose("it speaks of rain")]), outcomes);
        matches!(only(&judged(&mut bench, &effects, &[(1, "pass", &[]), (2, "pass", &[])])), Message::OutcomeSummary(_))
    };
    assert!(run(vec![words(1), words(2)]));
    assert!(!run(vec![words(1), outcome(2, true, "x", vec![look(2, "x")])]));
}

#[doc = "holds: fault L38"]
#[test]
fn no_message_after_an_abort() {
    let mut bench = bench(QUESTION);
    let effects = gather(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", vec![look(1, "12")])]);
    let (id, _) = asked(&effects);
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Replied(id, judgement(BOTH))).is_empty());
    assert!(bench.step(Input::Task(spec(QUESTION))).is_empty());
}

#[doc = "holds: design H8"]
#[test]
fn prompt_snapshot_with_hostile_text() {
    let context = artoo_proto::ValidateTaskContext {
        raw_input: HOSTILE.to_owned(),
        intent: HOSTILE.to_owned(),
        material: Some(HOSTILE.to_owned()),
        open: vec![prose(HOSTILE)],
        merged_output: HOSTILE.to_owned(),
        outcomes: vec![outcome(1, true, HOSTILE, vec![look(1, HOSTILE)]), outcome(2, true, "", Vec::new())],
    };
    let prompt = prompt::render(&context);
    assert_tame(&prompt);
    insta::assert_snapshot!(prompt.user);
}

#[test]
fn many_calls_share_the_prompt_limit() {
    let calls = |number: u128| (0..24).map(|at| look(at, &format!("{number} {}", "x".repeat(5_000)))).collect();
    let outcomes = (1..=32).map(|number| outcome(number, true, &"y".repeat(50_000), calls(number))).collect();
    let context = artoo_proto::ValidateTaskContext {
        raw_input: QUESTION.to_owned(),
        intent: QUESTION.to_owned(),
        material: None,
        open: vec![prose("x")],
        merged_output: "z".repeat(1_000_000),
        outcomes,
    };
    let chars = prompt::render(&context).user.chars().count();
    assert!(chars < 600_000, "{chars} characters");
}

#[test]
fn recipe_outputs_become_the_answer() {
    let kept = |left_out| KeptOutput { stream: "output".to_owned(), sha256: "ab".repeat(32), bytes: 9, left_out };
    let told = |recipe: bool, truncated: bool, kept: Vec<KeptOutput>| {
        let mut bench = bench(QUESTION);
        let checked = count_of("/home/u");
        let mut plan = manifest(0, 3, vec![checked.clone()]);
        let columns = [None, Some(vec![Column::Count]), Some(Vec::new())];
        for (entry, answers) in plan.subtasks.iter_mut().zip(columns) {
            (entry.recipe, entry.answers) = (recipe, answers);
        }
        let outcomes = (1_u32..=3).map(|number| {
            let call = ToolCall { truncated, kept: kept.clone(), ..look(number, "12\n") };
            let passed = verdict(&checked, Verdict::Pass, VerdictSource::Check);
            SubTaskOutcome { criteria_verdicts: vec![passed], ..outcome(number.into(), true, "12\n", vec![call]) }
        });
        let effects = arrive(&mut bench, plan, outcomes.collect());
        if recipe {
            return summary(&effects).answers;
        }
        let row = Covered {
            span: (0, 3),
            words: "how".to_owned(),
            act: None,
            state: CoverageState::Shown,
            by: Vec::new(),
            why: String::new(),
            confirmed: false,
            required: false,
        };
        summary(&covered(&mut bench, &effects, Coverage { rows: vec![row], ..Coverage::default() })).answers
    };
    assert_eq!(told(false, true, vec![kept(0)]), [], "facts that cover a request show no word of a model");
    let answers = told(true, true, vec![kept(0)]);
    let columns: Vec<&[Column]> = answers.iter().map(|answer| answer.columns.as_slice()).collect();
    assert_eq!(columns, [[Column::Count].as_slice(), &[]], "a preparation is no answer");
    assert!(answers.iter().all(|answer| answer.text == "12" && answer.whole == Some(kept(0))), "{answers:?}");
    for (truncated, kept) in [(false, vec![kept(0)]), (true, vec![kept(1)]), (true, vec![kept(0), kept(0)])] {
        let answers = told(true, truncated, kept);
        assert!(answers.iter().all(|answer| answer.whole.is_none()), "one whole output or none: {answers:?}");
    }
}
