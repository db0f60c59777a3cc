//! Tests of memory records: those of each row of the matrix, and cases without a record.

use artoo_proto::{
    AbandonReason, DeniedAction, Ending, FailureClass, MacroState, MegramDraft, OutcomeSummary, ReplanDirective,
    SubTaskOutcome, ToolCall,
};

use super::super::Input;
use super::{
    begun, closing, covered, directive, finished, megrams, met, missed, next, one_failed, plan, reason, short, wrong,
};
use crate::testing::bench::{complete_coverage, failed, look, outcome};

/// The space, entity and state of each memory record.
fn tags(drafts: &[MegramDraft]) -> Vec<(String, String, MacroState)> {
    drafts.iter().map(|draft| (draft.space.clone(), draft.entity.clone(), draft.state)).collect()
}

/// A space, an entity and a state, in the form that [`tags`] returns.
fn row(space: &str, entity: &str, state: MacroState) -> (String, String, MacroState) {
    (space.to_owned(), entity.to_owned(), state)
}

/// A replan that changes the path writes one memory record for each (tool, target) whose call failed.
#[doc = "holds: invariant 16; design M1"]
#[test]
fn action_state_records_each_failed_pair() {
    let calls = vec![
        ToolCall { target: "/a".to_owned(), ..failed(look(1, ""), true) },
        ToolCall { target: "/b".to_owned(), ..failed(look(2, ""), true) },
        ToolCall { target: "/a".to_owned(), ..failed(look(3, ""), true) },
        look(4, "fine"),
    ];
    let effects = begun().step(Input::FellShort(one_failed(0, FailureClass::Environmental, calls)));
    assert_eq!(directive(&effects).directive, ReplanDirective::ChangePath);
    let drafts = megrams(&effects);
    let path = |target: &str| row("tool:glob", &format!("path:{target}"), MacroState::ChangePath);
    assert_eq!(tags(&drafts), [path("/a"), path("/b")]);
    assert!(drafts.iter().all(|draft| draft.failure_class == Some(FailureClass::Environmental)), "m13");
}

/// A replan that changes the approach writes one memory record for each (tool, target) of the failed subtasks.
#[doc = "holds: design M1"]
#[test]
fn change_approach_writes_its_records() {
    let mut bench = begun();
    let wide = |round: u32, failing: u128| {
        let outcomes = (1..=4)
            .map(|n| {
                let mut made = outcome(n, n > failing, "x", vec![look(u32::try_from(n).unwrap(), "x")]);
                made.criteria_verdicts[0].failure_class = (n <= failing).then_some(FailureClass::Logical);
                made
            })
            .collect();
        short(round, outcomes)
    };
    bench.step(Input::FellShort(wide(0, 4)));
    next(&mut bench, 1);
    let effects = bench.step(Input::FellShort(wide(1, 2)));
    assert_eq!(directive(&effects).directive, ReplanDirective::ChangeApproach);
    let drafts: Vec<_> =
        tags(&megrams(&effects)).into_iter().filter(|(_, _, state)| *state == MacroState::ChangeApproach).collect();
    let path = |n: u32| row("tool:glob", &format!("path:/home/u/{n}"), MacroState::ChangeApproach);
    assert_eq!(drafts, [path(1), path(2)]);
}

/// After `break_symmetry`, the tools of a next round with a smaller D get memory records that credit them.
#[doc = "holds: design M2"]
#[test]
fn break_symmetry_credits_the_next_round() {
    let mut bench = begun();
    let effects = bench.step(Input::FellShort(wrong(0)));
    assert_eq!(directive(&effects).directive, ReplanDirective::BreakSymmetry);
    assert!(megrams(&effects).is_empty());
    next(&mut bench, 1);
    let mut summary = covered(1, complete_coverage());
    for made in &mut summary.outcomes {
        for call in &mut made.tool_calls {
            call.tool = "shell".to_owned();
        }
    }
    let drafts = tags(&megrams(&bench.step(Input::Met(summary))));
    assert!(drafts.contains(&row("tool:shell", "path:/home/u/2", MacroState::BreakSymmetry)), "{drafts:?}");
    assert!(!drafts.iter().any(|(space, _, _)| space == "tool:glob"), "not to what was blocked: {drafts:?}");
}

/// After `break_symmetry`, a round whose D did not fall credits no tool in memory.
#[doc = "holds: design M2"]
#[test]
fn no_credit_without_a_smaller_gap() {
    let mut bench = begun();
    bench.step(Input::FellShort(wrong(0)));
    next(&mut bench, 1);
    let drafts = megrams(&bench.step(Input::FellShort(wrong(1))));
    assert!(drafts.iter().all(|draft| draft.state != MacroState::BreakSymmetry), "{drafts:?}");
}

/// The memory record of an accepted task credits the tools that ran, not those that the plan only names.
#[doc = "holds: design M8"]
#[test]
fn terminal_state_credits_run_tools() {
    let mut bench = begun();
    bench.step(Input::FellShort(wrong(0)));
    let mut second = plan(1);
    second.subtasks[0].tools = vec!["shell".to_owned(), "mdfind".to_owned()];
    bench.step(Input::Manifest(second));
    let mut summary = covered(1, complete_coverage());
    summary.outcomes[0].tool_calls[0].tool = "shell".to_owned();
    summary.outcomes[1].tool_calls[0].tool = "read_file".to_owned();
    let drafts = megrams(&bench.step(Input::Met(summary)));
    let approach = |draft: &&MegramDraft| draft.entity.starts_with("via:");
    let approaches: Vec<&MegramDraft> = drafts.iter().filter(approach).collect();
    assert_eq!(approaches.len(), 1);
    assert_eq!(approaches[0].entity, "via:read_file,shell", "neither planned tools nor those of the round before");
    assert!(drafts.iter().all(|draft| draft.intent == "how many reports are there"), "{drafts:#?}");
}

/// An accepted and an abandoned task each write their own memory records, with the class of the failure.
#[test]
fn terminal_states_have_distinct_records() {
    let drafts = megrams(&begun().step(Input::Met(covered(0, complete_coverage()))));
    assert!(drafts.iter().all(|draft| draft.state == MacroState::Accept) && drafts.len() == 3);

    let mut bench = begun();
    for round in 0..3 {
        bench.step(Input::FellShort(missed(round, &format!("/{round}"))));
        next(&mut bench, round + 1);
    }
    let effects = closing(&mut bench, Input::FellShort(missed(3, "/3")));
    let terminal: Vec<_> = megrams(&effects).into_iter().filter(|d| d.state == MacroState::Abandon).collect();
    assert_eq!(terminal.len(), 2);
    assert!(terminal.iter().all(|d| d.failure_class == Some(FailureClass::Environmental)), "m13: whose fault is kept");
}

/// The lessons among these records.
fn lessons(drafts: &[MegramDraft]) -> Vec<&artoo_proto::Lesson> {
    drafts.iter().filter_map(|draft| draft.lesson.as_ref()).collect()
}

/// After a corrected subtask, memory gets a lesson: the unmet criterion, the fault, and the call that met it, without
/// secrets.
#[test]
fn correction_record_has_the_passing_call() {
    let corrected = |complete: bool| {
        let mut summary = covered(0, if complete { complete_coverage() } else { artoo_proto::Coverage::default() });
        let point = |attempt, unmet: &[&str]| artoo_proto::GapPoint {
            attempt,
            score: 0.0,
            unmet_criteria: unmet.iter().map(|claim| (*claim).to_owned()).collect(),
            failure_class: None,
            wrong: Some("column 1 was summed".to_owned()),
        };
        summary.outcomes[0].gap_trajectory = vec![point(1, &["the sum is right"]), point(2, &[])];
        summary.outcomes[0].tool_calls = vec![
            failed(look(1, "no"), false),
            ToolCall { input: serde_json::json!({"token": "sk-ant-api03-secret-AAAA"}), ..look(2, "7") },
        ];
        megrams(&begun().step(Input::Met(summary)))
    };
    let drafts = corrected(true);
    let [lesson] = lessons(&drafts)[..] else { panic!("{drafts:#?}") };
    assert_eq!((lesson.criterion.as_str(), lesson.wrong.as_str()), ("the sum is right", "column 1 was summed"));
    assert_eq!(lesson.tool, "glob");
    assert!(!lesson.input.contains("AAAA"), "{}", lesson.input);
    assert!(lessons(&corrected(false)).is_empty(), "only covered work teaches");
    assert!(lessons(&megrams(&begun().step(Input::Met(covered(0, complete_coverage()))))).is_empty(), "nothing failed");
}

/// A plan that succeeds after a failed one leaves exactly one lesson, which carries the successful call.
#[test]
fn replan_record_has_the_successful_call() {
    let mut bench = begun();
    bench.step(Input::FellShort(wrong(0)));
    next(&mut bench, 1);
    let drafts = megrams(&bench.step(Input::Met(covered(1, complete_coverage()))));
    assert_eq!(lessons(&drafts).len(), 1, "{drafts:#?}");
}

/// Memory records the folder before a wildcard and the path inside a command, not the pattern or the command.
#[test]
fn path_tag_omits_globs_and_commands() {
    let recorded = |target: &str| {
        let call = ToolCall { target: target.to_owned(), ..failed(look(1, ""), true) };
        let effects = begun().step(Input::FellShort(one_failed(0, FailureClass::Environmental, vec![call])));
        megrams(&effects).into_iter().map(|draft| draft.entity).collect::<Vec<_>>()
    };
    assert_eq!(recorded("/home/u/nope/**"), ["path:/home/u/nope"]);
    assert_eq!(recorded("/home/u/nope/**/*.pdf"), ["path:/home/u/nope"]);
    assert_eq!(recorded("/*"), ["path:/"]);
    assert_eq!(recorded("wc -l /home/u/nope/a.txt"), ["path:/home/u/nope/a.txt"]);
    assert_eq!(recorded("uname -a"), ["path:uname -a"]);
    assert_eq!(recorded("/home/u/a b.txt"), ["path:/home/u/a b.txt"]);
}

/// Memory records of a round that failed for both causes equally blame neither the approach nor the environment.
#[doc = "holds: law 3.1; design M13"]
#[test]
fn mixed_failure_has_no_class() {
    let mut request = one_failed(0, FailureClass::Logical, vec![failed(look(1, ""), true)]);
    let mut other = outcome(2, false, "", vec![failed(look(2, ""), true)]);
    other.criteria_verdicts[0].failure_class = Some(FailureClass::Environmental);
    request.outcomes[1] = SubTaskOutcome { round: 0, ..other };
    let drafts = megrams(&begun().step(Input::FellShort(request)));
    assert!(!drafts.is_empty() && drafts.iter().all(|draft| draft.failure_class.is_none()), "{drafts:?}");
}

#[doc = "holds: law 3.2; design M18"]
#[test]
fn refusals_and_cancellations_are_not_recorded() {
    let call = ToolCall {
        tool: "shell".to_owned(),
        target: "rm x".to_owned(),
        status: artoo_proto::CallStatus::Denied,
        environmental: true,
        ..look(1, "[LAW1]")
    };
    let refused = |round: u32| {
        let mut request = one_failed(round, FailureClass::Environmental, vec![call.clone()]);
        request.outcomes[0].denied =
            vec![DeniedAction { action: "shell: rm x".to_owned(), reason: "no".to_owned(), by_person: false }];
        request
    };
    let mut bench = begun();
    let mut drafts = Vec::new();
    for round in 0..3 {
        drafts.extend(megrams(&bench.step(Input::FellShort(refused(round)))));
        next(&mut bench, round + 1);
    }
    let effects = bench.step(Input::FellShort(refused(3)));
    drafts.extend(megrams(&effects));
    assert_eq!(reason(&finished(&effects)), &AbandonReason::ConsentNeeded);
    assert!(drafts.is_empty(), "{drafts:?}");

    let mut bench = begun();
    bench.step(Input::FellShort(wrong(0)));
    assert!(megrams(&bench.step(Input::Cancel)).is_empty());

    let words = OutcomeSummary {
        outcomes: met(0)
            .outcomes
            .into_iter()
            .map(|made| SubTaskOutcome { words_only: true, tool_calls: Vec::new(), ..made })
            .collect(),
        ..met(0)
    };
    let effects = begun().step(Input::Met(words));
    assert!(matches!(finished(&effects).ending, Ending::Accept { .. }) && megrams(&effects).is_empty());
}

/// R7 publishes its memory records as messages and starts no work that it would wait for.
#[doc = "holds: invariant 17"]
#[test]
fn memory_writes_never_wait_for_an_answer() {
    let effects = begun().step(Input::Met(covered(0, complete_coverage())));
    assert!(!megrams(&effects).is_empty());
    let works = effects.iter().filter(|effect| matches!(effect, crate::machine::RoleEffect::Perform(..))).count();
    assert_eq!(works, 0, "the solver hands its records over and ends");
}
