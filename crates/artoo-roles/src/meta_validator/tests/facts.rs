//! Tests of coverage: facts decide before the criteria of a plan, and the user may confirm what code can't read.

use artoo_proto::{
    Check, CheckOutcome, Coverage, CoverageState, Covered, Criterion, EvidenceId, ManifestEntry, Message,
    MissingReason, ReadingAnswer, ReadingRequest, SubTaskMissing, SubTaskOutcome, ToolCall, Unasked, Verdict,
    VerdictSource,
};

use super::super::{Input, MetaValidator, Part};
use super::{ACT, arrive, bench, covered, declared, judged, replan, summary};
use crate::machine::{Lifecycle, RoleEffect};
use crate::testing::bench::{
    Bench, asked, checking, complete_coverage, coverage, covering, look, manifest, offered, only, outcome, subtask_id,
    task_id, written,
};

/// A row of coverage for these words with this state.
fn row(words: &str, state: CoverageState) -> Covered {
    let row = coverage(state).rows.remove(0);
    Covered { words: words.to_owned(), act: Some(format!("do {words}")), ..row }
}

/// A coverage with these rows.
fn rows(rows: &[(&str, CoverageState)]) -> Coverage {
    Coverage { rows: rows.iter().map(|(words, state)| row(words, *state)).collect(), ..Coverage::default() }
}

/// R4b after a round with one matched and one failed subtask, and this comparison.
fn half_failed(coverage: Coverage) -> (Bench<Lifecycle<MetaValidator>>, Vec<RoleEffect>) {
    let mut bench = bench(ACT);
    let outcomes = vec![outcome(1, true, "one", vec![look(1, "1")]), outcome(2, false, "two", vec![look(2, "2")])];
    let effects = arrive(&mut bench, manifest(0, 2, declared()), outcomes);
    let effects = covered(&mut bench, &effects, coverage);
    (bench, effects)
}

/// R4b after a round with one matched subtask, and this comparison.
fn matched(coverage: Coverage) -> (Bench<Lifecycle<MetaValidator>>, Vec<RoleEffect>) {
    let mut bench = bench(ACT);
    let effects =
        arrive(&mut bench, manifest(0, 1, declared()), vec![outcome(1, true, "12", vec![written(1, "/ws/notes.txt")])]);
    let effects = covered(&mut bench, &effects, coverage);
    (bench, effects)
}

#[doc = "holds: law 0.18"]
#[test]
fn covered_request_needs_no_judge() {
    for (_, effects) in [matched(complete_coverage()), half_failed(complete_coverage())] {
        let summary = summary(&effects);
        assert_eq!(summary.coverage, complete_coverage());
        let verdicts: Vec<_> =
            summary.task_verdicts.iter().map(|v| (v.criterion.claim(), v.verdict, v.source)).collect();
        assert_eq!(verdicts, [("count the reports".to_owned(), Verdict::Pass, VerdictSource::Check)]);
        assert_eq!(summary.task_verdicts[0].cites, [EvidenceId("e1".to_owned())]);
    }
}

/// A skill whose calls succeeded is done only if facts cover the request; no criterion and no model helps it.
#[doc = "holds: law 0.18"]
#[test]
fn skill_is_judged_by_coverage_alone() {
    let by_skill = |coverage: Coverage| {
        let mut bench = bench(ACT);
        let mut plan = manifest(0, 1, declared());
        let skill = Some("skill:tidy-0".to_owned());
        plan.subtasks[0] = ManifestEntry { recipe: true, skill, ..plan.subtasks[0].clone() };
        let calls = vec![written(1, "/ws/notes.txt")];
        let effects = arrive(&mut bench, plan, vec![outcome(1, true, "12", calls)]);
        covered(&mut bench, &effects, coverage)
    };
    assert_eq!(summary(&by_skill(complete_coverage())).coverage, complete_coverage());
    let unasked =
        vec![Unasked { path: "/x".to_owned(), change: "created".to_owned(), by: EvidenceId("e1".to_owned()) }];
    let also = Coverage { unasked, ..complete_coverage() };
    for open in [CoverageState::NotShown, CoverageState::NotRead, CoverageState::Judged] {
        let request = replan(&by_skill(coverage(open)));
        assert!(request.task_verdicts.iter().any(|verdict| verdict.verdict == Verdict::Fail), "{open:?}");
    }
    assert_eq!(replan(&by_skill(also)).task_verdicts[0].criterion.claim(), "nothing else changed");
}

/// Complete coverage does not end a round in which a subtask ran without reporting its calls.
#[test]
fn unreported_calls_are_not_covered() {
    for (reason, is_done) in
        [(MissingReason::EarlierGroupFailed, true), (MissingReason::NoReport, false), (MissingReason::Deadline, false)]
    {
        let mut bench = bench(ACT);
        bench.step(Input::Arrived(Part::Manifest(manifest(0, 2, declared()))));
        bench.step(Input::Arrived(Part::Outcome(outcome(1, true, "one", vec![look(1, "1")]))));
        let missing = SubTaskMissing { parent_task_id: task_id(), subtask_id: subtask_id(2), round: 0, reason };
        let effects = bench.step(Input::Arrived(Part::Missing(missing)));
        let effects = covered(&mut bench, &effects, complete_coverage());
        assert_eq!(matches!(only(&effects), Message::OutcomeSummary(_)), is_done, "{reason:?}");
    }
}

/// A part of the request that facts refute leads to a replan although all subtasks matched; only decided parts get
/// verdicts.
#[doc = "holds: law 1.2"]
#[test]
fn refuted_part_is_a_gap_despite_matches() {
    use CoverageState::{Judged, NotRead, Refuted, Shown, Vague};
    let mixed = rows(&[("a", Shown), ("b", Refuted), ("c", NotRead), ("d", Judged), ("e", Vague), ("f", Shown)]);
    for (_, effects) in [matched(mixed.clone()), half_failed(mixed.clone())] {
        let request = replan(&effects);
        let verdicts: Vec<_> =
            request.task_verdicts.iter().map(|v| (v.criterion.claim(), v.verdict, v.source, v.failure_class)).collect();
        let check = VerdictSource::Check;
        assert_eq!(
            verdicts,
            [
                ("do a".to_owned(), Verdict::Pass, check, None),
                ("do b".to_owned(), Verdict::Fail, check, None),
                ("do f".to_owned(), Verdict::Pass, check, None)
            ],
            "only what code decided"
        );
        assert!(request.task_verdicts[1].criterion.required(), "one more round follows");
        assert!(request.gap_summary.ends_with("do b: seen"), "{}", request.gap_summary);
        assert_eq!(request.coverage, mixed);
    }
}

/// In later rounds facts compare the calls of all rounds, and a refuted part still is a gap.
#[test]
fn later_rounds_use_the_refuted_share() {
    let refuted = || rows(&[("a", CoverageState::Refuted)]);
    let (mut bench, effects) = matched(refuted());
    replan(&effects);
    let mut second = manifest(1, 2, declared());
    second.subtasks.remove(0);
    let again = SubTaskOutcome { round: 1, ..outcome(2, true, "", vec![look(2, "x")]) };
    let effects = arrive(&mut bench, second, vec![again]);
    let calls: Vec<String> = covering(&effects).1.calls.into_iter().map(|call| call.evidence_id.0).collect();
    assert_eq!(calls, ["e1", "e2"], "the calls of all rounds, in order");
    let request = replan(&covered(&mut bench, &effects, refuted()));
    assert!(!request.task_verdicts[0].criterion.required());
}

/// If facts neither show nor refute a part of the request, a model judges the criteria of the plan.
#[test]
fn unproven_parts_go_to_the_judge() {
    use CoverageState::{Described, Judged, NotRead, NotShown, Shown, Vague};
    for state in [NotShown, Vague, Described, NotRead, Judged] {
        let partly = rows(&[("a", Shown), ("b", state)]);
        let (mut bench, effects) = matched(partly.clone());
        asked(&effects);
        let summary = summary(&judged(&mut bench, &effects, &[(1, "pass", &["e1"]), (2, "pass", &["e1"])]));
        assert_eq!(summary.coverage, partly, "{state:?}");
        let (_, effects) = half_failed(partly.clone());
        let request = replan(&effects);
        assert_eq!((request.task_verdicts, request.coverage), (Vec::new(), partly), "the gate");
    }
}

#[doc = "holds: law 0.9"]
#[test]
fn unrequested_change_prevents_acceptance_by_coverage() {
    let change = Unasked { path: "/x".to_owned(), change: "made".to_owned(), by: EvidenceId("e1".to_owned()) };
    let (_, effects) = matched(Coverage { unasked: vec![change], ..complete_coverage() });
    asked(&effects);
}

/// After the failed check of a model's plan, a model judges the task if the round changed something.
#[test]
fn judge_decides_after_planned_check_failed() {
    let missing = |call: ToolCall| {
        let mut bench = bench(ACT);
        let there = Criterion::checked(Check::FileExists { path: "/home/u/x".to_owned() });
        let effects = arrive(&mut bench, manifest(0, 1, vec![there]), vec![outcome(1, true, "12", vec![call])]);
        let effects = covered(&mut bench, &effects, coverage(CoverageState::NotRead));
        let (id, _) = checking(&effects);
        let gone = CheckOutcome { pass: false, evidence: "gone".to_owned(), environmental: false };
        let effects = bench.step(Input::Checked(id, vec![gone]));
        (bench, effects)
    };
    replan(&missing(look(1, "12")).1);
    let (mut bench, effects) = missing(written(1, "/home/u/y"));
    replan(&judged(&mut bench, &effects, &[(1, "fail", &[])]));
    let (mut bench, effects) = missing(written(1, "/home/u/y"));
    let summary = summary(&judged(&mut bench, &effects, &[(1, "pass", &["e1"])]));
    let verdicts: Vec<_> = summary.task_verdicts.iter().map(|v| (v.verdict, v.source)).collect();
    assert_eq!(verdicts, [(Verdict::Fail, VerdictSource::Check), (Verdict::Pass, VerdictSource::Model)]);
}

/// The question about readings that R4b publishes.
fn question(effects: &[RoleEffect]) -> ReadingRequest {
    let Message::ReadingRequest(request) = only(effects) else { panic!("{effects:#?}") };
    request.clone()
}

/// The user's answer to the question about readings.
fn answer(confirmed: bool) -> Input {
    Input::Answered(ReadingAnswer { task_id: task_id(), confirmed })
}

/// A coverage in which only a reading of "b" is unconfirmed, with a change that no part of the request asks for.
fn to_confirm() -> Coverage {
    let change = Unasked { path: "/x".to_owned(), change: "made".to_owned(), by: EvidenceId("e1".to_owned()) };
    let rows = rows(&[("a", CoverageState::Shown), ("b", CoverageState::NotRead), ("c", CoverageState::Judged)]);
    Coverage { offered: vec![offered("b")], unasked: vec![change], ..rows }
}

/// After the user confirms a reading, R4b compares the request again, and that coverage decides.
#[test]
fn confirmed_reading_repeats_the_comparison() {
    for (_, round) in [(0, matched(to_confirm())), (1, half_failed(to_confirm()))] {
        let (mut bench, effects) = round;
        assert_eq!(question(&effects).readings, [offered("b")]);
        let effects = bench.step(answer(true));
        let (id, order) = covering(&effects);
        assert!(!order.calls.is_empty());
        assert_eq!(summary(&bench.step(Input::Covered(id, complete_coverage()))).coverage, complete_coverage());
    }
    let (mut bench, _) = matched(to_confirm());
    let effects = bench.step(answer(true));
    replan(&covered(&mut bench, &effects, coverage(CoverageState::Refuted)));
}

/// After the user denies a reading, a model judges the task, and R4b does not ask again.
#[test]
fn denied_reading_is_not_asked_again() {
    let (mut bench, _) = matched(to_confirm());
    let effects = bench.step(answer(false));
    asked(&effects);
    let accepted = judged(&mut bench, &effects, &[(1, "pass", &["e1"]), (2, "pass", &["e1"])]);
    assert_eq!(summary(&accepted).coverage, to_confirm());
    assert!(bench.step(answer(true)).is_empty(), "a late answer");

    let (mut bench, _) = matched(to_confirm());
    let effects = bench.step(answer(true));
    asked(&covered(&mut bench, &effects, to_confirm()));
}

/// The user is not asked about a reading if other parts of the request would stay unproven or are refuted.
#[test]
fn insufficient_reading_is_not_asked_about() {
    for state in [CoverageState::NotRead, CoverageState::NotShown, CoverageState::Vague] {
        let mut more = to_confirm();
        more.rows.push(row("d", state));
        asked(&matched(more).1);
    }
    let mut refuted = to_confirm();
    refuted.rows.push(row("d", CoverageState::Refuted));
    replan(&matched(refuted).1);
}
