//! Tests of endings by facts: covered requests are checked, refuted parts are never accepted, gaps are listed.

use artoo_proto::{
    AbandonReason, Answer, Basis, Coverage, CoverageState, Covered, Criterion, CriterionMark, Ending, EvidenceId, Mode,
    OutcomeSummary, ReplanRequest, SubTaskOutcome, Unasked, Verdict, VerdictSource,
};

use super::super::{Input, ending};
use super::{begun, begun_with, closing, covered, directive, finished, megrams, met, next, reason, short};
use crate::testing::bench::{complete_coverage, coverage, look, outcome, verdict};

use CoverageState::{Courtesy, Described, Judged, NotRead, NotShown, Refuted, Shown, Vague};

const OPEN: [CoverageState; 5] = [NotShown, Vague, Described, NotRead, Judged];

/// A coverage with one row for each state.
fn rows(states: &[CoverageState]) -> Coverage {
    let of = |(at, state): (usize, &CoverageState)| Covered {
        words: format!("part {at}"),
        act: Some(format!("do {at}")),
        why: format!("why {at}"),
        ..coverage(*state).rows.remove(0)
    };
    Coverage { rows: states.iter().enumerate().map(of).collect(), ..Coverage::default() }
}

/// A recorded change of a file that no part of the request asks for.
fn unasked() -> Unasked {
    Unasked { path: "/ws/.envrc".to_owned(), change: "made".to_owned(), by: EvidenceId("e1".to_owned()) }
}

/// The basis on which a round with this coverage is accepted.
fn basis(coverage: Coverage) -> Basis {
    let Ending::Accept { basis } = ending::accept(&covered(0, coverage)) else { panic!() };
    basis
}

/// The basis of an accept is checked, mixed, judged or words only, according to the states of the request's parts.
#[doc = "holds: law 0.1, 0.18; design G19"]
#[test]
fn accept_states_its_evidence() {
    assert_eq!(basis(rows(&[Shown, Courtesy, Shown])), Basis::Checked);
    assert_eq!(basis(Coverage { unasked: vec![unasked()], ..complete_coverage() }), Basis::Mixed);
    for open in OPEN {
        assert_eq!(basis(rows(&[Shown, open])), Basis::Mixed, "{open:?}");
        assert_eq!(basis(rows(&[Courtesy, open])), Basis::Judged, "{open:?}");
    }
    assert_eq!(basis(rows(&[Courtesy])), Basis::Judged, "who asks for nothing is shown nothing");
    assert_eq!(basis(Coverage::default()), Basis::Judged);
    let words = |coverage| {
        let mut summary = covered(0, coverage);
        summary.outcomes.iter_mut().for_each(|outcome| outcome.words_only = true);
        ending::accept(&summary)
    };
    assert_eq!(words(Coverage::default()), Ending::Accept { basis: Basis::WordsOnly });
    // Checks of a recipe cover nothing either, but no model judged.
    let mut checked = met(0);
    let of_outcomes = checked.outcomes.iter_mut().flat_map(|outcome| &mut outcome.criteria_verdicts);
    of_outcomes.chain(&mut checked.task_verdicts).for_each(|verdict| verdict.source = VerdictSource::Check);
    assert_eq!(ending::accept(&checked), Ending::Accept { basis: Basis::Mixed });
    checked.task_verdicts[0].source = VerdictSource::Model;
    assert_eq!(ending::accept(&checked), Ending::Accept { basis: Basis::Judged });
}

/// If the caller requires checks, they alone decide the basis of an accept, and not the words of the request.
#[test]
fn required_checks_override_coverage() {
    let mut by_required = rows(&[NotRead, Shown]);
    by_required.by_required = true;
    assert_eq!(basis(by_required.clone()), Basis::Judged);
    by_required.rows[1].required = true;
    assert_eq!(basis(by_required), Basis::Checked);
}

/// If facts cover the request, the task is accepted as checked, with the answer by code, although a planned criterion
/// failed.
#[test]
fn covered_request_is_accepted_despite_failed_criterion() {
    let mut summary = covered(0, Coverage { answers: vec![Answer::text("count", "3 files\n")], ..complete_coverage() });
    let failed = outcome(2, false, "it failed, I think", vec![look(2, "x")]);
    summary.outcomes[1] = SubTaskOutcome { infrastructure: true, ..failed };
    let row = Criterion::Prose { text: "count the reports".to_owned(), mode: Mode::Verifiable, required: true };
    summary.task_verdicts = vec![verdict(&row, Verdict::Pass, VerdictSource::Check)];
    let result = finished(&begun().step(Input::Met(summary)));
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Checked }, "{result:#?}");
    assert_eq!(result.output, "3 files\n", "the answer that code composed");
    assert_eq!(result.coverage.map(|coverage| coverage.rows), Some(complete_coverage().rows));
    let reports: Vec<_> = result.criteria.iter().map(|report| (report.claim.as_str(), report.mark)).collect();
    assert_eq!(reports, [("count the reports", CriterionMark::Checked)], "the plan's own criteria are left out");
    assert!(result.next_steps.is_empty() && result.loss.d.abs() < 1e-9);
}

/// The answer that code composed is delivered only if the whole request is covered; otherwise the plan's outputs are.
#[test]
fn composed_answer_needs_a_covered_request() {
    let told = |coverage: Coverage| {
        let answers = vec![Answer::text("count the reports", "12"), Answer::text("name them", "two\nnames")];
        let by_code = vec![Answer::text("count", "3")];
        let summary = OutcomeSummary { answers, ..covered(0, Coverage { answers: by_code, ..coverage }) };
        let result = finished(&begun().step(Input::Met(summary)));
        (result.output, result.answers.len())
    };
    assert_eq!(told(complete_coverage()), ("3".to_owned(), 1));
    let labelled = "count the reports: 12\nname them:\ntwo\nnames".to_owned();
    assert_eq!(told(rows(&[Shown, NotRead])), (labelled, 2));
    let done = finished(&begun().step(Input::Met(covered(0, complete_coverage()))));
    assert_eq!(done.output, "12", "without a question there is no answer by code");
}

/// A success report whose coverage has a refuted part ends the task as an internal failure.
#[doc = "holds: design D8"]
#[test]
fn refuted_part_is_never_accepted() {
    for states in [&[Refuted][..], &[Shown, Refuted], &[Refuted, Judged]] {
        let result = finished(&begun().step(Input::Met(covered(0, rows(states)))));
        assert!(matches!(reason(&result), AbandonReason::RoleFailed { .. }), "{result:#?}");
    }
}

/// A round of matched subtasks in which facts refute one of `all` parts of the request.
fn refuted(round: u32, all: usize) -> ReplanRequest {
    let states: Vec<CoverageState> = (0..all).map(|at| if at == 0 { Refuted } else { Shown }).collect();
    let coverage = rows(&states);
    let verdict_of = |row: &Covered| {
        let text = row.act.clone().unwrap();
        let criterion = Criterion::Prose { text, mode: Mode::Verifiable, required: round == 0 };
        let found = if row.state == Shown { Verdict::Pass } else { Verdict::Fail };
        verdict(&criterion, found, VerdictSource::Check)
    };
    let task_verdicts = coverage.rows.iter().map(verdict_of).collect();
    ReplanRequest { task_verdicts, coverage, ..short(round, met(round).outcomes) }
}

/// A refuted part leads to a replan, and in the end to a success or abandon that lists it as unmet.
#[test]
fn refuted_part_is_retried_then_unmet() {
    let mut bench = begun();
    let told = directive(&bench.step(Input::FellShort(refuted(0, 4))));
    assert!((told.loss.d - 0.25).abs() < 1e-9, "its share: {:?}", told.loss);
    assert_eq!(told.failed_criterion, "do 0: why 0", "the planner is told what was found");
    next(&mut bench, 1);
    let effects = bench.step(Input::FellShort(refuted(1, 4)));
    let result = finished(&effects);
    let Ending::Success { unmet } = &result.ending else { panic!("{:#?}", result.ending) };
    assert_eq!(unmet[0].claim, "do 0");
    assert_eq!(unmet[1].evidence, "not judged: not all of the request is done");
    assert_eq!(result.coverage, Some(refuted(1, 4).coverage));
    assert!(megrams(&effects).is_empty(), "and memory learns no success");

    let mut bench = begun();
    for round in 0..3 {
        directive(&bench.step(Input::FellShort(refuted(round, 2))));
        next(&mut bench, round + 1);
    }
    let result = finished(&closing(&mut bench, Input::FellShort(refuted(3, 2))));
    let Ending::Abandon { unmet, .. } = &result.ending else { panic!("{:#?}", result.ending) };
    assert_eq!((unmet[0].claim.as_str(), result.coverage.is_some()), ("do 0", true));
}

/// A second round after which facts cover the whole request ends the task as checked, with one replan.
#[test]
fn second_round_completes_the_first() {
    let mut bench = begun();
    directive(&bench.step(Input::FellShort(refuted(0, 2))));
    next(&mut bench, 1);
    let result = finished(&bench.step(Input::Met(covered(1, complete_coverage()))));
    assert_eq!((result.ending, result.replans), (Ending::Accept { basis: Basis::Checked }, 1));
}

/// The next step quotes the first words of the request that no fact shows, or names a change nobody asked for.
#[test]
fn next_step_names_first_uncovered_words() {
    let step = |coverage: Coverage| finished(&begun().step(Input::Met(covered(0, coverage)))).next_steps;
    for open in OPEN {
        assert_eq!(step(rows(&[Shown, open, NotRead])), ["\"part 1\" is not shown: why 1"], "{open:?}");
    }
    let also = |made: Unasked| Coverage { unasked: vec![made], ..complete_coverage() };
    assert_eq!(step(also(unasked())), ["look at /ws/.envrc: made, and nobody asked for it"]);
    let unknown = Unasked { path: String::new(), change: "shell may have changed more".to_owned(), ..unasked() };
    assert_eq!(step(also(unknown)), ["look at what was done: shell may have changed more"]);
    assert_eq!(step(Coverage::default()), ["artoo evidence list names what it rests on"]);
    let mut hostile = rows(&[NotRead]);
    hostile.rows[0].words = format!("a\n\u{1b}[2J{}", "x".repeat(1_000));
    let [step] = &step(hostile)[..] else { panic!() };
    assert!(!step.chars().any(char::is_control) && step.chars().count() < 500, "{step}");
}

#[test]
fn partly_covered_result_states_its_share() {
    let result = finished(&begun().step(Input::Met(covered(0, rows(&[Shown, NotRead, Judged])))));
    assert_eq!(result.summary, "how many reports are there (facts show 1 of 3 parts of the request)");
    assert_eq!(result.coverage, Some(rows(&[Shown, NotRead, Judged])));
    assert_eq!(finished(&begun().step(Input::Met(met(0)))).coverage, None, "nothing was compared");
}

/// Memory records success only if facts cover the request and a tool ran, and no episode for words like "today".
#[doc = "holds: law 3.2"]
#[test]
fn only_covered_work_is_recorded_as_success() {
    let taught = |coverage: Coverage| megrams(&begun().step(Input::Met(covered(0, coverage)))).len();
    assert_eq!(taught(complete_coverage()), 3, "the request, the tools, and an episode for a skill");
    // What "today" meant is in the calls, and would be done again on another day.
    let dated = begun_with("how many reports are there today").step(Input::Met(covered(0, complete_coverage())));
    assert_eq!(megrams(&dated).len(), 2, "no episode");
    for open in OPEN {
        assert_eq!(taught(rows(&[Shown, open])), 0, "{open:?}");
    }
    assert_eq!(taught(Coverage { unasked: vec![unasked()], ..complete_coverage() }), 0);
    assert_eq!(taught(Coverage::default()), 0);
    let near = (1..=6).map(|n| outcome(n, n != 3, "x", vec![look(1, "x")])).collect();
    let effects = begun().step(Input::FellShort(short(0, near)));
    assert!(matches!(finished(&effects).ending, Ending::Success { .. }) && megrams(&effects).is_empty());
    let mut words = covered(0, complete_coverage());
    words.outcomes.iter_mut().for_each(|outcome| outcome.tool_calls.clear());
    assert!(megrams(&begun().step(Input::Met(words))).is_empty(), "no tool ran");
}
