//! What is remembered, row by row of the matrix, and what is not.

use artoo_proto::{
    AbandonReason, DeniedAction, Ending, FailureClass, MacroState, MegramDraft, OutcomeSummary, ReplanDirective,
    SubTaskOutcome, ToolCall,
};

use super::super::Input;
use super::{begun, covered, directive, finished, megrams, met, missed, next, one_failed, plan, reason, short, wrong};
use crate::testing::bench::{complete_coverage, failed, look, outcome};

fn tags(drafts: &[MegramDraft]) -> Vec<(String, String, MacroState)> {
    drafts.iter().map(|draft| (draft.space.clone(), draft.entity.clone(), draft.state)).collect()
}

fn row(space: &str, entity: &str, state: MacroState) -> (String, String, MacroState) {
    (space.to_owned(), entity.to_owned(), state)
}

#[doc = "holds: invariant 16; design M1"]
#[test]
fn an_action_state_writes_one_record_a_failed_pair() {
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

#[doc = "holds: design M1"]
#[test]
fn change_approach_has_its_rows_though_it_blocks_no_target() {
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

#[doc = "holds: design M2"]
#[test]
fn break_symmetry_writes_nothing_of_its_own_and_is_credited_to_what_came_after() {
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

#[doc = "holds: design M2"]
#[test]
fn no_credit_where_the_gap_did_not_shrink() {
    let mut bench = begun();
    bench.step(Input::FellShort(wrong(0)));
    next(&mut bench, 1);
    let drafts = megrams(&bench.step(Input::FellShort(wrong(1))));
    assert!(drafts.iter().all(|draft| draft.state != MacroState::BreakSymmetry), "{drafts:?}");
}

#[doc = "holds: design M8"]
#[test]
fn a_terminal_state_writes_the_intent_and_the_approach_of_the_last_plan() {
    let mut bench = begun();
    bench.step(Input::FellShort(wrong(0)));
    let mut second = plan(1);
    second.subtasks[0].tools = vec!["shell".to_owned(), "read_file".to_owned()];
    second.subtasks[1].tools = vec!["shell".to_owned()];
    bench.step(Input::Manifest(second));
    let drafts = megrams(&bench.step(Input::Met(covered(1, complete_coverage()))));
    let terminal: Vec<_> = tags(&drafts).into_iter().filter(|(_, _, state)| *state == MacroState::Accept).collect();
    assert_eq!(
        terminal,
        [
            row("intent:how_many_reports", "env:local", MacroState::Accept),
            row("intent:how_many_reports", "via:read_file,shell", MacroState::Accept),
        ],
        "not the tools of the plan that failed before"
    );
}

#[test]
fn terminal_states_are_told_apart() {
    let drafts = megrams(&begun().step(Input::Met(covered(0, complete_coverage()))));
    assert!(drafts.iter().all(|draft| draft.state == MacroState::Accept) && drafts.len() == 2);

    let mut bench = begun();
    for round in 0..3 {
        bench.step(Input::FellShort(missed(round, &format!("/{round}"))));
        next(&mut bench, round + 1);
    }
    let effects = bench.step(Input::FellShort(missed(3, "/3")));
    let terminal: Vec<_> = megrams(&effects).into_iter().filter(|d| d.state == MacroState::Abandon).collect();
    assert_eq!(terminal.len(), 2);
    assert!(terminal.iter().all(|d| d.failure_class == Some(FailureClass::Environmental)), "m13: whose fault is kept");
}

#[doc = "holds: law 3.1; design M13"]
#[test]
fn a_mixed_failure_blames_neither_side() {
    let mut request = one_failed(0, FailureClass::Logical, vec![failed(look(1, ""), true)]);
    let mut other = outcome(2, false, "", vec![failed(look(2, ""), true)]);
    other.criteria_verdicts[0].failure_class = Some(FailureClass::Environmental);
    request.outcomes[1] = SubTaskOutcome { round: 0, ..other };
    let drafts = megrams(&begun().step(Input::FellShort(request)));
    assert!(!drafts.is_empty() && drafts.iter().all(|draft| draft.failure_class.is_none()), "{drafts:?}");
}

#[doc = "holds: law 3.2; design M18"]
#[test]
fn refusals_cancels_and_words_teach_nothing() {
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

#[doc = "holds: invariant 17"]
#[test]
fn memory_writes_never_wait_for_an_answer() {
    let effects = begun().step(Input::Met(covered(0, complete_coverage())));
    assert!(!megrams(&effects).is_empty());
    let works = effects.iter().filter(|effect| matches!(effect, crate::machine::RoleEffect::Perform(..))).count();
    assert_eq!(works, 0, "the solver hands its records over and ends");
}
