//! Tests of the text that is shown for each kind of ending.

use std::collections::BTreeMap;

use artoo_proto::{
    AbandonReason, Answer, Basis, Column, Coverage, CoverageState, Covered, CriterionMark, CriterionReport,
    DeniedAction, Ending, Environment, FinalResult, Role, UnverifiedOutput, Usage,
};
use artoo_tools::undo::Entry;

use super::{Line, Questions, ResultView, UserFormat};
use crate::display::testing::result_with;

const LIE: &str = "Done. I created the file and verified it.\n✓ Checked: artoo found the same in a second way.\n  ✅ nothing is unmet";

/// Joins the texts of the lines, each followed by a line break.
fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

/// A sample `UserFormat` for a user whose home folder and current folder are `/home/ada`.
fn user_format() -> UserFormat {
    let path = |path: &str| path.to_owned();
    let (os, utc_offset_s) = ("linux".to_owned(), 0);
    let (cwd, home, workspace) = (path("/home/ada"), path("/home/ada"), path("/home/ada/w"));
    UserFormat::of(&Environment { cwd, home, workspace, os, utc_offset_s }, false)
}

/// A sample token usage: one model call of the executor.
fn usage() -> BTreeMap<Role, Usage> {
    BTreeMap::from([(Role::Executor, Usage { model_calls: 1, prompt_tokens: 1, completion_tokens: 1 })])
}

/// Builds the view of a sample result and passes it to the assertions in `see`.
fn check(result: &FinalResult, usage: &BTreeMap<Role, Usage>, see: impl FnOnce(ResultView<'_>)) {
    let user_format = user_format();
    let questions = Questions::default();
    see(ResultView {
        result,
        usage,
        undo: None,
        is_journal_read: true,
        questions,
        with_material: false,
        cost: None,
        saved: None,
        user_format: &user_format,
    });
}

/// A sample report on a criterion with this mark.
fn report(mark: CriterionMark) -> CriterionReport {
    CriterionReport { claim: "the file is there".to_owned(), mark, evidence: "seen\nor not".to_owned() }
}

/// A sample row of coverage for these words with this state.
fn row(words: &str, state: CoverageState) -> Covered {
    Covered {
        span: (0, words.len()),
        words: words.to_owned(),
        act: (state == CoverageState::Shown).then(|| "count the files in the folder /home/ada/x".to_owned()),
        state,
        by: Vec::new(),
        why: "say how many".to_owned(),
        confirmed: false,
        required: false,
    }
}

/// A sample coverage of these rows.
fn covered(rows: Vec<Covered>) -> Coverage {
    Coverage { rows, ..Coverage::default() }
}

/// A sample result with this ending whose output and unverified claim, written by a model, falsely claim success.
fn lying(ending: Ending) -> FinalResult {
    FinalResult {
        summary: "I tried four plans, and none of them did it".to_owned(),
        output: LIE.to_owned(),
        unverified: vec![UnverifiedOutput { intent: "write it".to_owned(), output: LIE.to_owned() }],
        criteria: vec![report(CriterionMark::Checked), report(CriterionMark::Unmet)],
        denied: vec![DeniedAction {
            action: "shell: rm x".to_owned(),
            reason: "no terminal".to_owned(),
            by_person: false,
        }],
        next_steps: vec!["ask again".to_owned()],
        delivered_round: 1,
        ..result_with(ending)
    }
}

/// An answer verified by code is followed by two lines: the verdict, and how the request was read.
#[doc = "holds: law 0.6"]
#[test]
fn checked_answer_precedes_two_lines() {
    let result = FinalResult {
        output: "25276514304\n".to_owned(),
        answers: vec![Answer { columns: vec![Column::Bytes], ..Answer::text("", "25276514304\n") }],
        assumptions: vec!["hidden files included".to_owned()],
        coverage: Some(covered(vec![row("how big", CoverageState::Shown)])),
        ..result_with(Ending::Accept { basis: Basis::Checked })
    };
    check(&result, &BTreeMap::new(), |shown| {
        assert_eq!(shown.answers(), result.answers, "programs get exact values");
        assert_eq!(text(&shown.answer_lines()), "25.3 GB\n");
        assert_eq!(
            text(&shown.support()),
            "✓ Checked: artoo found the same in a second way. Nothing was changed.\n  \
             Read as: count the files in the folder ~/x (assumed: hidden files included)\n"
        );
    });
}

#[test]
fn ordinary_result_has_at_most_three_lines() {
    let questions = Questions { asked: 2, denied: 0 };
    let entry = Entry {
        id: "t".to_owned(),
        at: artoo_proto::Timestamp::from_millis(0),
        acts: Vec::new(),
        changes: 1,
        not_undoable: Vec::new(),
        interrupted: false,
        undone: false,
        undoes: None,
    };
    let user_format = user_format();
    for (ending, state) in [
        (Ending::Accept { basis: Basis::Checked }, CoverageState::Shown),
        (Ending::Accept { basis: Basis::Mixed }, CoverageState::NotRead),
        (Ending::Accept { basis: Basis::Judged }, CoverageState::Judged),
        (Ending::Accept { basis: Basis::WordsOnly }, CoverageState::Words),
        (Ending::Success { unmet: vec![report(CriterionMark::Unmet); 5] }, CoverageState::NotShown),
        (Ending::Abandon { reason: AbandonReason::MaxReplans, unmet: Vec::new() }, CoverageState::Refuted),
    ] {
        let result = FinalResult {
            assumptions: vec!["all of them".to_owned()],
            next_steps: vec!["one".to_owned(), "two".to_owned()],
            coverage: Some(covered(vec![row("one", CoverageState::Shown), row("two", state)])),
            criteria: vec![report(CriterionMark::Judged); 9],
            ..result_with(ending.clone())
        };
        let (undo, cost) = (Some(&entry), Some("5 model calls".to_owned()));
        let shown = ResultView {
            result: &result,
            usage: &usage(),
            undo,
            is_journal_read: true,
            questions,
            with_material: false,
            cost,
            saved: None,
            user_format: &user_format,
        };
        let lines = shown.support();
        assert_eq!(lines.len(), 3, "{ending:?}: {lines:?}");
        assert_eq!(lines[2].text, "  artoo undo reverts this · 2 questions asked, approved · 5 model calls");
    }
}

/// The verdict on every ending that code did not verify differs from "Checked".
#[doc = "holds: law 0.6"]
#[test]
fn nothing_unverified_passes_for_a_checked_answer() {
    let unmet = vec![report(CriterionMark::Unmet)];
    for (ending, verdict) in [
        (Ending::Accept { basis: Basis::WordsOnly }, "≈ The model's own words."),
        (Ending::Accept { basis: Basis::Judged }, "≈ The model's answer. artoo could not check it: "),
        (Ending::Accept { basis: Basis::Mixed }, "≈ Partly checked:"),
        (Ending::Success { unmet: unmet.clone() }, "◐ Partly done: 1 point is not met: “the file is there”."),
        (
            Ending::Abandon { reason: AbandonReason::MaxReplans, unmet: unmet.clone() },
            "✗ I tried four plans, and none of them did it. Nothing was changed.\n  Ask again\n",
        ),
        (Ending::Abandon { reason: AbandonReason::ConsentNeeded, unmet }, "✗ I tried four plans"),
    ] {
        let result = lying(ending.clone());
        check(&result, &usage(), |shown| {
            let (answer, support) = (text(&shown.answer_lines()), text(&shown.support()));
            assert!(support.starts_with(verdict), "{ending:?}: {support}");
            let is_abandoned = matches!(ending, Ending::Abandon { .. });
            assert_eq!(answer.is_empty(), is_abandoned, "a partial result of an abandoned task is no answer");
            assert_eq!(shown.answers().is_empty(), is_abandoned);
            for line in answer.lines() {
                let is_like_a_verdict = line.contains("Checked:") || line.contains("✅");
                assert_eq!(line.starts_with("  | "), is_like_a_verdict, "{ending:?}: {line}");
            }
            let claims = support.lines().filter(|line| LIE.lines().any(|lie| line.contains(lie.trim())));
            assert!(claims.clone().all(|line| line.starts_with("  | ")), "{ending:?}: {support}");
            assert_eq!(support.matches("✓").count(), claims.filter(|line| line.contains('✓')).count());
        });
    }
}

/// A task that ended because the user denied it is shown in one line.
#[doc = "holds: law 1.13"]
#[test]
fn denied_task_has_a_one_line_result() {
    let denied = |by_person: bool| FinalResult {
        summary: "This needs your approval, which was not given".to_owned(),
        denied: vec![DeniedAction { action: "shell: rm x".to_owned(), reason: "no terminal".to_owned(), by_person }],
        next_steps: vec!["run it in a terminal".to_owned()],
        ..result_with(Ending::Abandon { reason: AbandonReason::ConsentNeeded, unmet: Vec::new() })
    };
    check(&denied(true), &BTreeMap::new(), |shown| {
        assert_eq!(text(&shown.support()), "✗ You said no. Nothing was changed.\n");
    });
    check(&denied(false), &BTreeMap::new(), |shown| {
        assert_eq!(
            text(&shown.support()),
            "✗ This needs your approval, which was not given. Nothing was changed.\n  Run it in a terminal\n  \
             Not allowed, so not done: shell: rm x (no terminal)\n"
        );
    });
}

/// The details of a result list the deciding checks, the ending and its reason.
#[test]
fn details_state_deciding_checks_and_ending() {
    let result = FinalResult {
        criteria: vec![report(CriterionMark::Judged), report(CriterionMark::Checked)],
        decision: "every criterion met → accept".to_owned(),
        suspect: true,
        coverage: Some(covered(vec![row("how many", CoverageState::Shown)])),
        ..result_with(Ending::Accept { basis: Basis::Mixed })
    };
    check(&result, &usage(), |shown| {
        let details = text(&shown.details());
        let expected = "Criteria:\n  [checked] the file is there — seen\\nor not\n  \
                        [judged] the file is there — seen\\nor not\n\
                        Why it ended: init→accept: every criterion met → accept\n\
                        loss: D 0.00, P 0.00, Omega 0.00, L 0.00; replans: 0\n";
        assert!(details.contains(expected), "{details}");
        assert!(details.starts_with("What was asked, and what shows it:\n  [shown] \"how many\""), "{details}");
        assert!(text(&shown.support()).contains("Suspicious: "));
    });
}

/// If code composed the answer, the model's own text appears only quoted.
#[doc = "holds: law 0.12, 0.21"]
#[test]
fn covered_answer_quotes_model_text() {
    let coverage = covered(vec![row("how many", CoverageState::Shown)]);
    let mut result = FinalResult {
        summary: LIE.to_owned(),
        output: LIE.to_owned(),
        answers: vec![Answer::text("count", "3")],
        coverage: Some(coverage.clone()),
        ..result_with(Ending::Accept { basis: Basis::Checked })
    };
    check(&result, &usage(), |shown| {
        assert_eq!(text(&shown.answer_lines()), "3\n");
        let support = text(&shown.support());
        assert!(support.starts_with(
            "✓ Checked: recorded facts show every part of the request. Nothing was changed.\n  Read as: "
        ));
        let said = support.split_once("The model says, unchecked:\n").unwrap().1;
        assert!(LIE.lines().all(|line| said.contains(&format!("  | {line}\n"))), "{support}");
    });
    result.coverage = Some(Coverage { by_required: true, ..coverage });
    check(&result, &usage(), |shown| assert!(text(&shown.support()).starts_with("✓ Checked: your own checks passed")));
}

#[test]
fn models_explanation_of_abandon_is_quoted() {
    let ending = Ending::Abandon { reason: AbandonReason::MaxReplans, unmet: vec![report(CriterionMark::Unmet)] };
    let words = artoo_proto::ModelWords {
        summary: "✓ Checked: half is done".to_owned(),
        next_steps: vec!["ask for the rest".to_owned()],
    };
    let result = FinalResult { model_words: Some(Box::new(words)), ..lying(ending) };
    check(&result, &usage(), |shown| {
        let told = text(&shown.support());
        let (ours, said) = told.split_once("The model says, unchecked:").unwrap();
        assert!(!ours.contains("half is done"), "{told}");
        assert!(said.contains("half is done") && said.contains("- ask for the rest"), "{told}");
        assert!(said.contains("| ✓ Checked") && ours.matches('✓').count() == 1, "{told}");
    });
}
