//! Tests of what a check decides, when a model's verdict counts, and what it must cite.

use artoo_proto::{
    CallStatus, Check, Criterion, EffectClass, ExecutionResult, ExecutionStatus, FileChange, OutcomeStatus, SubTask,
    ToolCall, Verdict, VerdictSource,
};

use super::super::Input;
use super::{assigned, checked, judged, matched, outcome, step};
use crate::machine::RoleEffect;
use crate::testing::bench::{
    asked, checking, contains, count_of, judgement, look, prose, result, said, subtask, written,
};

#[doc = "holds: design D6"]
#[test]
fn pass_needs_evidence_of_this_machine() {
    let calls = || vec![look(1, "12")];
    assert!(matched(calls(), &[(1, "pass", &["e1"])]));
    assert!(matched(calls(), &[(1, "pass", &[" e1 "])]), "blanks around an id are nothing");
    assert!(!matched(calls(), &[(1, "pass", &[])]), "cites nothing");
    assert!(!matched(calls(), &[(1, "pass", &["e2"])]), "cites what there is not");
    assert!(matched(calls(), &[(1, "pass", &["e9", "e1"])]), "a bad citation is left out beside a good one");
    assert!(!matched(calls(), &[(2, "pass", &["e1"])]), "the verdict is missing");
    assert!(!matched(calls(), &[]), "no verdict at all");
    assert!(!matched(calls(), &[(1, "pass", &["e1"]), (1, "fail", &[])]), "one fail beats any pass");
    assert!(!matched(calls(), &[(1, "fail", &["e1"]), (1, "pass", &["e1"])]));
    assert!(matched(calls(), &[(1, "pass", &["e1"]), (1, "pass", &["e1"])]));
    let echo = ToolCall { measures: false, ..look(1, "created notes.txt") };
    assert!(!matched(vec![echo, look(2, "x")], &[(1, "pass", &["e1"])]), "an echo measures nothing");
    let barred = ToolCall { status: CallStatus::Failed, ..look(1, "12") };
    assert!(!matched(vec![barred, look(2, "x")], &[(1, "pass", &["e1"])]), "a failed call shows nothing");
    assert!(matched(vec![written(1, "/ws/a.txt")], &[(1, "pass", &["e1"])]), "an act shows itself");
}

/// A truncated output can't prove a claim about all, none or how many, but can prove that a name is listed.
#[doc = "holds: law 0.11"]
#[test]
fn truncated_output_proves_neither_all_nor_none() {
    let judge = |claim: &str, calls: Vec<ToolCall>, cites: &[&str]| {
        let mut bench = assigned(subtask(&["glob"], vec![prose(claim)]));
        let effects = bench.step(Input::Reported(result(1, calls, "a list")));
        let effects = judged(&mut bench, &effects, &[(1, "pass", cites)]);
        matches!(said(&effects)[..], [artoo_proto::Message::SubTaskOutcome(_)])
    };
    let cut = || ToolCall { truncated: true, ..look(1, "a … z") };
    assert!(!judge("all names are listed", vec![cut()], &["e1"]));
    assert!(!judge("no PDF is among them", vec![cut()], &["e1"]));
    assert!(!judge("it states how many there are", vec![cut()], &["e1"]));
    assert!(judge("the name a.txt is listed", vec![cut()], &["e1"]), "what is there is there");
    assert!(judge("all names are listed", vec![cut(), look(2, "3")], &["e1", "e2"]));
    assert!(judge("all names are listed", vec![look(1, "a b")], &["e1"]));
}

/// If the executor is uncertain, a passed check still matches the subtask; a model's pass does not.
#[test]
fn uncertain_work_matches_only_on_checks() {
    let uncertain = |criteria: Vec<Criterion>| {
        let mut bench = assigned(subtask(&["glob"], criteria));
        let unsure = ExecutionResult { status: ExecutionStatus::Uncertain, ..result(1, vec![look(1, "12")], "12") };
        let effects = bench.step(Input::Reported(unsure));
        (bench, effects)
    };
    let (mut bench, effects) = uncertain(vec![count_of("/home/u")]);
    let (id, _) = checking(&effects);
    assert_eq!(outcome(&bench.step(Input::Checked(id, vec![checked(true)]))).status, OutcomeStatus::Matched);
    let (mut bench, effects) = uncertain(vec![prose("a number is named")]);
    let effects = judged(&mut bench, &effects, &[(1, "pass", &["e1"])]);
    assert!(matches!(said(&effects)[..], [artoo_proto::Message::CorrectionSignal(_)]));
}

#[doc = "holds: design G17"]
#[test]
fn no_model_judges_when_checks_decide() {
    let mut bench = assigned(subtask(&["glob"], vec![count_of("/home/u"), count_of("/home/v")]));
    let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
    let (id, order) = checking(&effects);
    assert_eq!(order.checks.len(), 2);
    let outcome = outcome(&bench.step(Input::Checked(id, vec![checked(true), checked(true)])));
    assert_eq!(outcome.status, OutcomeStatus::Matched);
    let cites: Vec<&str> = outcome.criteria_verdicts[0].cites.iter().map(|id| id.0.as_str()).collect();
    assert_eq!(cites, ["e1"], "a recount cites the call that measured");
}

#[doc = "holds: design G19"]
#[test]
fn check_without_outcome_counts_as_failed() {
    for outcomes in [vec![], vec![checked(true)], vec![checked(true), checked(false)]] {
        let mut bench =
            assigned(subtask(&["glob"], vec![count_of("/home/u"), count_of("/home/v"), prose("x is named")]));
        let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
        let (id, _) = checking(&effects);
        let effects = bench.step(Input::Checked(id, outcomes));
        assert!(matches!(said(&effects)[..], [artoo_proto::Message::CorrectionSignal(_)]), "no model can mend it");
    }
}

/// A number that the executor only echoed, without a call that measured it, fails its count check.
#[doc = "holds: design G19"]
#[test]
fn unmeasured_number_fails() {
    let mut bench = assigned(subtask(&["shell"], vec![count_of("/home/u")]));
    let echo = ToolCall { measures: false, ..look(1, "12") };
    let effects = bench.step(Input::Reported(result(1, vec![echo], "12")));
    assert_eq!(super::correction(&effects).what_was_wrong, "no call measured it");
}

#[doc = "holds: law 0.3; design G19"]
#[test]
fn file_check_needs_own_change() {
    let checks = |calls: Vec<ToolCall>, path: &str| {
        let mut bench = assigned(subtask(&["write_file"], vec![contains(path)]));
        let effects = bench.step(Input::Reported(result(1, calls, "written")));
        effects.iter().any(|effect| matches!(effect, RoleEffect::Perform(..)))
    };
    let own = || written(1, "/ws/notes.txt");
    assert!(checks(vec![own()], "/ws/notes.txt"));
    assert!(!checks(vec![own()], "/home/u/notes.txt"), "another file of the same name");
    assert!(!checks(vec![own()], "notes.txt"), "the planner names whole paths; nothing is matched by its end");
    assert!(!checks(vec![look(1, "hello")], "/ws/notes.txt"), "it was there before");
    assert!(!checks(vec![ToolCall { status: CallStatus::Failed, ..own() }, look(2, "")], "/ws/notes.txt"));
    let mut same = own();
    same.changed =
        vec![FileChange { path: "/ws/notes.txt".to_owned(), before: Some("a".into()), after: Some("a".into()) }];
    assert!(!checks(vec![same], "/ws/notes.txt"), "the same before and after");
}

/// A check of a file that the subtask did not write runs, and its outcome decides the subtask.
#[test]
fn plan_may_check_an_unchanged_file() {
    let there = Criterion::checked(Check::FileExists { path: "/home/u/there.txt".to_owned() });
    for (pass, status) in [(true, OutcomeStatus::Matched), (false, OutcomeStatus::Failed)] {
        let mut bench = assigned(subtask(&["write_file"], vec![there.clone()]));
        for attempt in 1.. {
            let effects =
                bench.step(Input::Reported(result(attempt, vec![written(attempt, "/ws/new.txt")], "written")));
            let (id, order) = checking(&effects);
            assert_eq!(order.checks.len(), 1);
            let effects = bench.step(Input::Checked(id, vec![checked(pass)]));
            if let [artoo_proto::Message::SubTaskOutcome(outcome)] = said(&effects)[..] {
                assert_eq!((outcome.status, outcome.criteria_verdicts[0].cites.len()), (status, 0));
                break;
            }
            assert!(!pass, "a retry might do the act twice");
        }
    }
}

/// If all criteria are about the output's format, a model still judges whether the work was done.
#[doc = "holds: design G19"]
#[test]
fn format_checks_never_replace_a_judgement() {
    let form = || {
        vec![
            Criterion::checked(Check::OutputNotEmpty {}),
            Criterion::checked(Check::OutputIsNumber {}),
            Criterion::checked(Check::ExitCode { code: 0 }),
        ]
    };
    let mut bench = assigned(SubTask { intent: "count the reports".to_owned(), ..subtask(&["glob"], form()) });
    let effects = bench.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
    let (id, question) = asked(&effects);
    assert!(question.prompt.user.contains("1. the evidence shows that this was done: count the reports"));
    let outcome = outcome(&bench.step(Input::Replied(id, judgement(&[(1, "pass", &["e1"])]))));
    let sources: Vec<VerdictSource> = outcome.criteria_verdicts.iter().map(|verdict| verdict.source).collect();
    assert_eq!(sources, [VerdictSource::Check, VerdictSource::Check, VerdictSource::Check, VerdictSource::Model]);
    let empty = ExecutionResult { output_from_tool: true, ..result(1, vec![look(1, " ")], " ") };
    let effects = assigned(subtask(&["glob"], form())).step(Input::Reported(empty));
    assert!(matches!(said(&effects)[..], [artoo_proto::Message::CorrectionSignal(_)]));
}

#[test]
fn text_only_work_is_judged_without_citations() {
    let mut bench = assigned(subtask(&[], vec![prose("it has three lines")]));
    let effects = bench.step(Input::Reported(result(1, Vec::new(), "rain\non the roof\nagain")));
    let outcome = outcome(&judged(&mut bench, &effects, &[(1, "pass", &["e1"])]));
    assert!(outcome.words_only && outcome.status == OutcomeStatus::Matched);
    let verdict = &outcome.criteria_verdicts[0];
    assert_eq!((verdict.verdict, verdict.cites.len()), (Verdict::Pass, 0));
    assert_eq!(verdict.evidence, "in words only: I saw it");
    let mut with_tools = assigned(step());
    let effects = with_tools.step(Input::Reported(result(1, vec![look(1, "12")], "12")));
    assert!(!super::outcome(&judged(&mut with_tools, &effects, &[(1, "pass", &["e1"])])).words_only);
    assert_eq!(look(1, "").class, EffectClass::ReadOnly);
}

#[test]
fn file_name_with_spaces_is_checked() {
    let wrote = written(1, "/ws/my notes.txt");
    let reads = |words: &str| {
        let read = ToolCall { target: words.to_owned(), ..look(2, "17") };
        crate::agent_validator::independent(&[wrote.clone(), read]).is_empty()
    };
    assert!(reads("wc -l '/ws/my notes.txt'") && reads("/ws/my notes.txt"));
    assert!(!reads("/ws/other notes.txt") && !reads("/etc/hosts"));
}
