//! Tests of the exit code of every ending.

use artoo_proto::{
    AbandonReason, Abstention, Basis, Coverage, CoverageState, Covered, Ending, EvidenceId, FinalResult, ModelFailure,
    PerceptionFailure, Unasked, Usage,
};

use super::Exit;
use crate::display::testing::result_with;

/// Asserts the exit code of a task with this ending.
fn check(ending: Ending, expected: u8) {
    let shown = format!("{ending:?}");
    assert_eq!(Exit::of(&result_with(ending), false).code(), expected, "{shown}");
}

/// Asserts the exit code of a task that was abandoned for this reason.
fn abandon(reason: AbandonReason, expected: u8) {
    check(Ending::Abandon { reason, unmet: Vec::new() }, expected);
}

#[doc = "holds: law 0.4, 0.9"]
#[test]
fn every_ending_has_its_documented_code() {
    check(Ending::Accept { basis: Basis::Checked }, 0);
    check(Ending::Accept { basis: Basis::Mixed }, 4);
    check(Ending::Accept { basis: Basis::Judged }, 4);
    check(Ending::Accept { basis: Basis::WordsOnly }, 4);
    check(Ending::Success { unmet: Vec::new() }, 3);
    let abstention =
        Abstention { understood: String::new(), not_understood: Vec::new(), remedy: String::new(), offer: None };
    let text = || "x".to_owned();
    abandon(AbandonReason::NotUnderstood { failure: PerceptionFailure::Abstained { abstention } }, 5);
    abandon(AbandonReason::NotUnderstood { failure: PerceptionFailure::BadInput { detail: text() } }, 5);
    abandon(AbandonReason::ConsentNeeded, 6);
    abandon(AbandonReason::Deadline, 8);
    abandon(AbandonReason::BudgetExhausted, 9);
    abandon(AbandonReason::MaxReplans, 9);
    abandon(AbandonReason::Diverging, 9);
    abandon(AbandonReason::ToolsExhausted, 9);
    abandon(AbandonReason::NoPlan { problems: Vec::new() }, 9);
    abandon(AbandonReason::NoOtherWay { failed: text(), next_steps: Vec::new() }, 9);
    abandon(AbandonReason::Cancelled, 130);
    abandon(AbandonReason::RoleFailed { detail: text() }, 1);
    for (failure, expected) in [
        (ModelFailure::Unreachable { detail: text() }, 7),
        (ModelFailure::Unauthorized { status: 401, detail: text() }, 7),
        (ModelFailure::Rejected { status: 400, detail: text() }, 7),
        (ModelFailure::Overloaded { status: 503, detail: text() }, 7),
        (ModelFailure::TimedOut { after_ms: 1, usage: Usage::default() }, 7),
        (ModelFailure::Cut { detail: text(), usage: Usage::default() }, 7),
        (ModelFailure::Unreadable { detail: text(), excerpt: text(), usage: Usage::default() }, 7),
        (ModelFailure::NotRecorded { detail: text() }, 7),
        (ModelFailure::Cancelled, 130),
    ] {
        abandon(AbandonReason::Provider { failure: failure.clone() }, expected);
        abandon(AbandonReason::NotUnderstood { failure: PerceptionFailure::Model { failure } }, expected);
    }
}

/// Exit codes have their documented numbers; only an accepted result has 0.
#[doc = "holds: law 0.9"]
#[test]
fn exit_code_zero_needs_evidence() {
    // Scripts rely on the numbers.
    let codes = [
        (Exit::Accepted, 0),
        (Exit::Internal, 1),
        (Exit::Usage, 2),
        (Exit::Partial, 3),
        (Exit::Unchecked, 4),
        (Exit::NotUnderstood, 5),
        (Exit::ConsentNeeded, 6),
        (Exit::Model, 7),
        (Exit::Deadline, 8),
        (Exit::NotAchieved, 9),
        (Exit::Unwritten, 10),
        (Exit::Cancelled, 130),
    ];
    for (exit, code) in codes {
        assert_eq!(exit.code(), code, "{exit:?}");
    }
}

/// With `--accept judged`, a text judged by a model gives exit code 0 only if the request asks for nothing else.
#[test]
fn judged_texts_are_accepted_on_request_alone() {
    let row = |state: CoverageState| Covered {
        span: (0, 4),
        words: "text".to_owned(),
        act: None,
        state,
        by: Vec::new(),
        why: String::new(),
        confirmed: false,
        required: false,
    };
    let ended = |states: &[CoverageState], unasked: usize, output: &str, ending: Ending| {
        let change = Unasked { path: "/a".to_owned(), change: "made".to_owned(), by: EvidenceId("c1".to_owned()) };
        let rows = states.iter().map(|state| row(*state)).collect();
        let coverage = Coverage { rows, unasked: vec![change; unasked], ..Coverage::default() };
        let result = FinalResult { output: output.to_owned(), coverage: Some(coverage), ..result_with(ending) };
        assert_ne!(Exit::of(&result, false), Exit::Accepted, "only on request");
        Exit::of(&result, true)
    };
    use CoverageState as S;
    let (judged, mixed) = (|| Ending::Accept { basis: Basis::Judged }, || Ending::Accept { basis: Basis::Mixed });
    assert_eq!(ended(&[S::Words], 0, "a poem", judged()), Exit::Accepted);
    assert_eq!(ended(&[S::Courtesy, S::Words, S::Shown], 0, "a poem", mixed()), Exit::Accepted);
    for state in [S::Judged, S::NotRead, S::NotShown, S::Vague, S::Described, S::Refuted] {
        assert_eq!(ended(&[S::Words, state], 0, "a poem", mixed()), Exit::Unchecked, "{state:?}");
        assert_eq!(ended(&[state], 0, "done", judged()), Exit::Unchecked, "{state:?}");
    }
    assert_eq!(ended(&[S::Words], 1, "a poem", judged()), Exit::Unchecked, "something was changed");
    assert_eq!(ended(&[S::Words], 0, " \n", judged()), Exit::Unchecked, "nothing was delivered");
    let partly = Ending::Success { unmet: Vec::new() };
    assert_eq!(ended(&[S::Words], 0, "a poem", partly), Exit::Partial, "not judged to be met");
}
