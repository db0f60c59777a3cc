//! D, P and the list of unmet criteria in single cases.

use artoo_ggs::*;

use crate::build::*;

/// `(D, P, unmet)` of a round under the default rules.
fn measured(round: &Round) -> (f64, f64, u32) {
    let m = round.measure(&Rules::DEFAULT).expect("a measurable round");
    (m.d.value(), m.p.value(), m.unmet)
}

#[test]
fn distance_and_blame_of_single_rounds() {
    use SubtaskStatus::*;
    let missing = |claim| CriterionMeasure::undecided(claim);
    let unstated = |claim| CriterionMeasure::unmet(claim);
    let with = |status, infrastructure, criteria| {
        let mut measure = SubtaskMeasure::failed(criteria);
        (measure.status, measure.infrastructure) = (status, infrastructure);
        measure
    };
    let tasked = |subtasks, task_criteria| Round::new(subtasks).with_task_criteria(task_criteria);
    let table = [
        ("one of two, logical", round(vec![subtask(vec![logical("a"), pass("b")])]), (0.5, 1.0, 1)),
        ("g14 a tie", shares(1, 1, 2), (1.0, 0.5, 2)),
        ("g18 plausible k/N", round(vec![subtask(vec![plausible("a", 1, 3), pass("b")])]), (1.0 / 3.0 / 2.0, 1.0, 1)),
        ("g18 N = 0 weighs 1", round(vec![subtask(vec![plausible("a", 0, 0)])]), (1.0, 1.0, 1)),
        ("a final failure is one of N", round(vec![subtask(vec![plausible("a", 0, 2)])]), (0.5, 1.0, 1)),
        ("g7 nothing failed", round(vec![subtask(vec![pass("a")])]), (0.0, 0.0, 0)),
        ("g7 missing verdict", round(vec![subtask(vec![missing("a"), pass("b")])]), (0.5, 0.0, 1)),
        (
            "g7 infrastructure, verdicts missing",
            round(vec![with(Failed, true, vec![missing("a"), missing("b")]), subtask(vec![logical("c")])]),
            (1.0, 1.0 / 3.0, 3),
        ),
        ("g7 failed without criteria", round(vec![with(Failed, false, vec![])]), (1.0, 0.0, 1)),
        ("g7 … is not diluted away", round(vec![with(Failed, false, vec![]), subtask(vec![pass("a")])]), (0.5, 0.0, 1)),
        ("failed although all passed", round(vec![with(Failed, false, vec![pass("a")])]), (0.5, 0.0, 1)),
        (
            "g7 not run counts in D, not in P",
            round(vec![subtask(vec![environmental("a")]), with(NotRun, false, vec![logical("b"), pass("c")])]),
            (1.0, 0.0, 3),
        ),
        (
            "g7 not run without criteria",
            round(vec![with(NotRun, false, vec![]), subtask(vec![pass("a")])]),
            (0.5, 0.0, 1),
        ),
        ("unstated class stays out of P", round(vec![subtask(vec![unstated("a"), environmental("b")])]), (1.0, 0.0, 2)),
        (
            "g8 rejected as a whole",
            tasked(vec![subtask(vec![pass("a")])], vec![unstated("t"), pass("u")]),
            (0.5, 1.0, 1),
        ),
        ("g8 stated class stands", tasked(vec![], vec![environmental("t")]), (1.0, 0.0, 1)),
        (
            "g8 the greater of the two",
            tasked(vec![subtask(vec![logical("a")])], vec![pass("t"), logical("u")]),
            (1.0, 1.0, 2),
        ),
        (
            "g9 matched ones dilute: 1 of 6",
            round((0..6).map(|i| subtask(vec![if i == 0 { logical("a") } else { pass("b") }])).collect()),
            (1.0 / 6.0, 1.0, 1),
        ),
    ];
    for (name, round, expected) in table {
        assert_eq!(measured(&round), expected, "{name}");
    }
}

#[doc = "holds: design G14"]
#[test]
fn failure_mix_follows_the_counts() {
    for (l, e, mix) in [(2, 1, FailureMix::Logical), (1, 2, FailureMix::Environmental), (1, 1, FailureMix::Mixed)] {
        assert_eq!(shares(l, e, 3).measure(&Rules::DEFAULT).unwrap().failure_mix(), mix);
    }
}

#[test]
fn impossible_rounds_are_rejected() {
    assert_eq!(Round::default().validate(), Err(RoundError::Empty));
    let impossible = shares(1, 0, 1).with_task_criteria(vec![plausible("t", 3, 2)]);
    let error = impossible.measure(&Rules::DEFAULT).unwrap_err();
    assert_eq!(error.to_string(), "task: failed_attempts is 3 but attempts is 2 for \"t\"");
    let in_subtask = round(vec![subtask(vec![pass("a")]), subtask(vec![plausible("b", 1, 0)])]);
    let error = in_subtask.validate().unwrap_err();
    assert_eq!(error.to_string(), "subtask 2: failed_attempts is 1 but attempts is 0 for \"b\"");
}

#[test]
fn failed_pairs_are_distinct_without_successful_retries() {
    let first = calls(subtask(vec![logical("a")]), &["!read /x", "glob *", "!read /x", "!read /y", "read /y"]);
    let second = calls(subtask(vec![pass("b")]), &["!read /x", "!shell ls", "read /z", "!read /z"]);
    let pairs = round(vec![first, second]).failed_pairs();
    assert!(pairs.iter().all(|pair| pair.failed));
    let pairs: Vec<_> = pairs.into_iter().map(|p| (p.tool, p.target)).collect();
    let expected = [("read", "/x"), ("shell", "ls"), ("read", "/z")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(pairs, expected);
}

#[doc = "holds: invariant 8"]
#[test]
fn loss_equals_the_published_formula() {
    let parameters = Hyperparameters::DEFAULT;
    let unit = |x| Unit::try_new(x).unwrap();
    let loss = Loss::new(unit(0.5), unit(1.0), unit(0.2), &parameters);
    assert!((loss.l - (0.6 * 0.5 + 0.3 * 0.8 * 1.0 + 0.4 * 0.2)).abs() < 1e-15);
    for (replans, elapsed_ms, expected) in [
        (0, 0, 0.0),
        (1, 0, 0.2),
        (3, 0, 0.6),
        (3, 150_000, 0.8),
        (0, 150_000, 0.2),
        (3, 600_000, 1.0),
        (u32::MAX, u64::MAX, 1.0),
    ] {
        let omega = parameters.omega(replans, elapsed_ms);
        assert!((omega.value() - expected).abs() < 1e-12, "g1/g3: {replans} replans, {elapsed_ms} ms: {omega}");
    }
}

#[test]
fn constructors_set_what_they_name() {
    let subtask = |subtask: SubtaskMeasure| (subtask.status, subtask.infrastructure);
    assert_eq!(subtask(SubtaskMeasure::matched(vec![])), (SubtaskStatus::Matched, false));
    assert_eq!(subtask(SubtaskMeasure::failed(vec![])), (SubtaskStatus::Failed, false));
    assert_eq!(subtask(SubtaskMeasure::failed_by_infrastructure(vec![])), (SubtaskStatus::Failed, true));
    assert_eq!(subtask(SubtaskMeasure::not_run(vec![])), (SubtaskStatus::NotRun, false));
    let criterion = CriterionMeasure::met("a");
    assert_eq!((criterion.mode, criterion.required, criterion.class), (CriterionMode::Verifiable, false, None));
    let criterion = CriterionMeasure::unmet("a").plausible(1, 3).required();
    assert_eq!((criterion.mode, criterion.required), (CriterionMode::Plausible, true));
    assert_eq!((criterion.failed_attempts, criterion.attempts), (1, 3));
    let verdicts =
        [CriterionMeasure::met, CriterionMeasure::unmet, CriterionMeasure::undecided].map(|new| new("a").verdict);
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail, Verdict::Missing]);
    assert_eq!([ToolTarget::worked("t", "x").failed, ToolTarget::failed("t", "x").failed], [false, true]);
}

/// A failed call of a subtask that failed by infrastructure has its target blocked for every tool.
#[test]
fn failed_call_blocks_its_target_under_infrastructure() {
    let criteria = vec![CriterionMeasure::undecided("a")];
    let failed = calls(SubtaskMeasure::failed_by_infrastructure(criteria), &["!read /srv/a"]);
    let decision = run(Profile::default(), 0, &[round(vec![failed])]).remove(0);
    assert_eq!((decision.state(), decision.loss.p), (MacroState::ChangePath, Unit::ZERO));
    assert!(replan(&decision).blocks("any", "/srv/a"), "documented at SubtaskMeasure::infrastructure");
}
