//! Tests of the reasons for which code rejects an attempt before any model is asked.

use artoo_proto::{
    CallStatus, DeniedAction, EffectClass, ExecutionResult, ExecutionStatus, FailureClass, Message, OutcomeStatus,
    SubTask, ToolCall,
};

use super::super::Input;
use super::{assigned, correction, judged, outcome, step};
use crate::testing::bench::{asked, failed, look, only, prose, result, subtask, unreachable_model, written};

/// How R4a handles a reported attempt.
#[derive(Debug, PartialEq)]
enum Handling {
    /// R4a asks a model to judge the attempt.
    Judged,
    /// R4a asks for a correction, with this class of failure.
    Corrected(FailureClass),
    /// R4a concludes the subtask as failed, with this class of failure; the flag says whether infrastructure failed.
    Final(FailureClass, bool),
}
use Handling::{Corrected, Final, Judged};

/// How R4a handles this result of a subtask.
fn taken_of(subtask: SubTask, result: ExecutionResult) -> Handling {
    let effects = assigned(subtask).step(Input::Reported(result));
    if effects.iter().any(|effect| matches!(effect, crate::machine::RoleEffect::Perform(..))) {
        asked(&effects);
        return Judged;
    }
    match only(&effects) {
        Message::CorrectionSignal(signal) => Corrected(signal.failure_class),
        Message::SubTaskOutcome(outcome) => {
            assert_eq!(outcome.status, OutcomeStatus::Failed);
            Final(outcome.criteria_verdicts[0].failure_class.unwrap(), outcome.infrastructure)
        }
        other => panic!("{other:?}"),
    }
}

/// How R4a handles an attempt with these calls and this output.
fn taken(calls: Vec<ToolCall>, output: &str) -> Handling {
    taken_of(step(), result(1, calls, output))
}

/// The same call record with another status.
fn as_status(status: CallStatus, call: ToolCall) -> ToolCall {
    ToolCall { status, exit_code: None, ..call }
}

const LOGICAL: FailureClass = FailureClass::Logical;
const ENVIRONMENTAL: FailureClass = FailureClass::Environmental;

/// An output with a claim but no successful call is sent back for correction.
#[doc = "holds: fault L29"]
#[test]
fn claim_needs_a_successful_call() {
    assert_eq!(taken(vec![look(1, "12")], "12 files"), Judged);
    assert_eq!(taken(Vec::new(), "12 files"), Corrected(LOGICAL));
    assert_eq!(taken(vec![failed(look(1, "no"), false)], "12 files"), Corrected(LOGICAL));
    assert_eq!(taken(vec![failed(look(1, "no"), true)], "12 files"), Corrected(ENVIRONMENTAL));
}

/// A web search that failed for lack of a network ends the subtask without a retry; other failed calls are retried.
#[test]
fn failed_search_is_final() {
    let search = |environmental| ToolCall { tool: "search".to_owned(), ..failed(look(1, "no network"), environmental) };
    assert_eq!(taken(vec![search(true)], "12"), Final(ENVIRONMENTAL, false));
    assert_eq!(taken(vec![search(false)], "12"), Corrected(LOGICAL), "a bad query can be mended");
    assert_eq!(taken(vec![failed(look(1, "no"), true)], "12"), Corrected(ENVIRONMENTAL), "another path may be there");
}

/// An attempt whose last change failed is sent back, although a later read-only call succeeded.
#[doc = "holds: law 0.2; design D6"]
#[test]
fn failed_primary_call_outranks_later_calls() {
    let act = |number| ToolCall { class: EffectClass::Creating, ..look(number, "") };
    assert_eq!(taken(vec![failed(act(1), true), look(2, "it is there")], "there"), Corrected(ENVIRONMENTAL));
    assert_eq!(taken(vec![failed(act(1), false), act(2), look(3, "")], "there"), Judged, "the act was repaired");
    assert_eq!(taken(vec![look(1, "a"), failed(look(2, "b"), false)], "a"), Corrected(LOGICAL), "the last look failed");
    assert_eq!(taken(vec![failed(look(1, "a"), false), look(2, "b")], "b"), Judged);
    assert_eq!(taken(vec![look(1, "a"), as_status(CallStatus::Cut, look(2, "half"))], "half"), Corrected(LOGICAL));
    assert_eq!(taken(vec![look(1, "a"), as_status(CallStatus::Denied, look(2, ""))], "a"), Corrected(LOGICAL));
}

/// A decisive call that timed out or whose end is unknown fails the subtask without a retry, blamed on the environment.
#[test]
fn timed_out_calls_are_final() {
    for status in [CallStatus::TimedOut, CallStatus::Uncertain] {
        let lost = || ToolCall { environmental: true, ..as_status(status, look(2, "")) };
        assert_eq!(taken(vec![lost()], "12"), Final(ENVIRONMENTAL, true), "{status:?}");
        assert_eq!(taken(vec![look(1, "a"), lost()], "12"), Final(ENVIRONMENTAL, true), "{status:?}");
        let act = ToolCall { class: EffectClass::Creating, ..lost() };
        assert_eq!(taken(vec![act, look(3, "there")], "12"), Final(ENVIRONMENTAL, true), "{status:?}");
        assert_eq!(taken(vec![lost(), look(3, "b")], "b"), Judged, "another look took its place");
    }
}

/// If the executor reports that it gave up, R4a fails the subtask without asking for another attempt.
#[test]
fn abandoned_step_is_final() {
    let given_up = |calls: Vec<ToolCall>| ExecutionResult { status: ExecutionStatus::Failed, ..result(1, calls, "") };
    assert_eq!(taken_of(step(), given_up(Vec::new())), Final(LOGICAL, false));
    assert_eq!(taken_of(step(), given_up(vec![failed(look(1, ""), false)])), Final(LOGICAL, false));
    assert_eq!(taken_of(step(), given_up(vec![failed(look(1, ""), true)])), Final(ENVIRONMENTAL, false));
    let denied = DeniedAction { action: "shell: rm x".to_owned(), reason: "no".to_owned(), by_person: false };
    let refused = ExecutionResult { denied: vec![denied.clone()], ..given_up(Vec::new()) };
    let effects = assigned(step()).step(Input::Reported(refused));
    assert_eq!(outcome(&effects).denied, [denied]);
    let dead = ExecutionResult { model_failure: Some(unreachable_model()), ..given_up(Vec::new()) };
    assert_eq!(taken_of(step(), dead), Final(ENVIRONMENTAL, true));
}

#[test]
fn claimed_change_needs_a_changing_call() {
    let claim = "I created the file and verified it.";
    assert_eq!(taken(vec![look(1, "old text")], claim), Corrected(LOGICAL));
    assert_eq!(taken(vec![written(1, "/ws/a.txt")], claim), Judged);
    let same = |mut call: ToolCall| {
        call.changed[0].before = call.changed[0].after.clone();
        ToolCall { class: EffectClass::ReadOnly, ..call }
    };
    assert_eq!(taken(vec![same(written(1, "/ws/a.txt"))], claim), Corrected(LOGICAL), "nothing is different");
    let folder = ToolCall { class: EffectClass::Creating, ..look(1, "") };
    assert_eq!(taken(vec![folder], "I created the folder."), Judged, "a new folder leaves no changed file");
    let copied = ExecutionResult { output_from_tool: true, ..result(1, vec![look(1, "x")], claim) };
    assert_eq!(taken_of(step(), copied), Judged, "a tool's own text is no claim of the executor");
}

/// An output that says "I have restarted nginx" although no tool was called is sent back for correction.
#[test]
fn text_without_calls_cannot_claim_changes() {
    let words = || subtask(&[], vec![prose("it has three lines")]);
    for claim in ["I've sent the email to Bob.", "I have restarted nginx."] {
        assert_eq!(taken_of(words(), result(1, Vec::new(), claim)), Corrected(LOGICAL), "{claim}");
    }
    assert_eq!(taken_of(words(), result(1, Vec::new(), "rain\non the roof\nagain")), Judged);
}

#[doc = "holds: law 0.2"]
#[test]
fn later_reading_does_not_prove_failed_change() {
    let second = |act: ToolCall, then: Vec<ToolCall>| {
        let mut bench = assigned(step());
        correction(&bench.step(Input::Reported(result(1, vec![act], "there"))));
        let effects = bench.step(Input::Reported(result(2, then, "there")));
        effects.iter().any(|effect| matches!(effect, crate::machine::RoleEffect::Perform(..)))
    };
    let act = |class| failed(ToolCall { class, ..look(1, "disk full") }, true);
    assert!(!second(act(EffectClass::Creating), vec![look(2, "old")]));
    assert!(second(act(EffectClass::Unproven), vec![look(2, "12")]), "that one was a look as well");
    assert!(second(act(EffectClass::Creating), vec![written(2, "/ws/a.txt")]), "the act was repaired");
}

/// The empty output of a successful search may match; that of a failed search is sent back.
#[doc = "holds: design D7"]
#[test]
fn empty_result_of_successful_search_is_valid() {
    let mut bench = assigned(subtask(&["glob"], vec![prose("matching names are listed, if there are any")]));
    let empty = ExecutionResult { output_from_tool: true, ..result(1, vec![look(1, "")], "") };
    let effects = bench.step(Input::Reported(empty));
    let outcome = outcome(&judged(&mut bench, &effects, &[(1, "pass", &["e1"])]));
    assert_eq!(outcome.status, OutcomeStatus::Matched);
    assert_eq!(
        taken(vec![failed(look(1, ""), true)], ""),
        Corrected(ENVIRONMENTAL),
        "a search that was barred is none"
    );
}
