//! What stands on standard output for each kind of ending.

use std::collections::BTreeMap;

use artoo_proto::{
    AbandonReason, Basis, Coverage, CoverageState, Covered, CriterionMark, CriterionReport, DeniedAction, Ending,
    FinalResult, Role, UnverifiedOutput, Usage,
};

use super::{Line, render};
use crate::display::testing::result_with;

const LIE: &str =
    "Done. I created the file and verified it.\naccepted: every criterion was checked in code\nUnmet:\n  nothing";

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

fn report(mark: CriterionMark) -> CriterionReport {
    CriterionReport { claim: "the file is there".to_owned(), mark, evidence: "seen\nor not".to_owned() }
}

fn lying(ending: Ending) -> FinalResult {
    FinalResult {
        summary: "not achieved: three replans did not get there".to_owned(),
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

#[doc = "holds: law 0.6"]
#[test]
fn an_accepted_answer_stands_alone_on_standard_output() {
    let result = FinalResult {
        summary: "files in /x, counted".to_owned(),
        output: "42\n".to_owned(),
        ..result_with(Ending::Accept { basis: Basis::Checked })
    };
    let rendered = render(&result, &BTreeMap::new());
    assert_eq!(text(&rendered.answer), "42\n");
    assert_eq!(text(&rendered.before), "files in /x, counted\n");
    assert!(text(&rendered.after).contains("every criterion was checked in code"));
    let mixed = FinalResult { ending: Ending::Accept { basis: Basis::Mixed }, ..result };
    let rendered = render(&mixed, &BTreeMap::new());
    let quoted = "Not verified as a whole: facts show a part of this, a model judged the rest.\n  | 42\n";
    assert_eq!((text(&rendered.before), text(&rendered.answer)), (String::new(), quoted.to_owned()));
}

#[doc = "holds: law 0.6"]
#[test]
fn nothing_unverified_passes_for_an_answer() {
    let unmet = vec![report(CriterionMark::Unmet)];
    for ending in [
        Ending::Accept { basis: Basis::WordsOnly },
        Ending::Accept { basis: Basis::Judged },
        Ending::Accept { basis: Basis::Mixed },
        Ending::Success { unmet: unmet.clone() },
        Ending::Abandon { reason: AbandonReason::MaxReplans, unmet: unmet.clone() },
        Ending::Abandon { reason: AbandonReason::ConsentNeeded, unmet },
    ] {
        let rendered = render(&lying(ending.clone()), &BTreeMap::new());
        let shown = text(&rendered.answer);
        let first = shown.lines().next().unwrap();
        assert!(first.starts_with("Not verified") || first.starts_with("Not achieved"), "{ending:?}: {first}");
        for line in shown.lines().chain(text(&rendered.after).lines()) {
            let is_of_the_lie = LIE.lines().any(|part| line.contains(part) && part.len() > 8);
            assert!(!is_of_the_lie || line.starts_with("  | "), "{ending:?}: {line}");
        }
        assert!(shown.lines().filter(|line| *line == "Unmet:").count() <= 1, "a quoted heading is no heading");
    }
}

#[doc = "holds: law 1.13"]
#[test]
fn an_abandon_names_what_is_unmet_refused_and_next() {
    let unmet = vec![report(CriterionMark::Unmet)];
    let result = lying(Ending::Abandon { reason: AbandonReason::ConsentNeeded, unmet });
    let rendered = render(&result, &BTreeMap::new());
    assert_eq!(
        text(&rendered.answer),
        "Not achieved: three replans did not get there\n\
         \n\
         Partial result, not verified as an answer (best round 2):\n  \
           | Done. I created the file and verified it.\n  \
           | accepted: every criterion was checked in code\n  \
           | Unmet:\n  \
           |   nothing\n\
         \n\
         Unmet:\n  \
           [unmet] the file is there — seen\\nor not\n\
         \n\
         Not allowed, so not done:\n  \
           shell: rm x (no terminal)\n\
         \n\
         What you can do:\n  \
           ask again\n"
    );
}

#[test]
fn criteria_stand_by_who_decided_them_and_what_was_denied_stands_beside_every_answer() {
    for ending in [
        Ending::Accept { basis: Basis::Mixed },
        Ending::Accept { basis: Basis::Judged },
        Ending::Accept { basis: Basis::WordsOnly },
    ] {
        let result = FinalResult {
            criteria: vec![report(CriterionMark::Judged), report(CriterionMark::Checked)],
            denied: vec![DeniedAction {
                action: "shell: rm x".to_owned(),
                reason: "you said no".to_owned(),
                by_person: true,
            }],
            next_steps: vec!["ask\nagain".to_owned()],
            ..result_with(ending.clone())
        };
        let after = text(&render(&result, &BTreeMap::new()).after);
        let expected = "  [checked] the file is there — seen\\nor not\n  [judged] the file is there — seen\\nor not\n\
                        not allowed, so not done: shell: rm x (you said no)\nnext: ask\\nagain\n";
        assert!(after.contains(expected), "{ending:?}: {after}");
        let counted = "answered: facts show a part, a model judged the rest\n";
        assert_eq!(after.contains(counted), ending == Ending::Accept { basis: Basis::Mixed }, "{after}");
    }
}

#[test]
fn costs_are_told_by_role() {
    let usage = |model_calls, prompt_tokens, completion_tokens| Usage { model_calls, prompt_tokens, completion_tokens };
    let by_role = BTreeMap::from([(Role::Perceiver, usage(1, 100, 20)), (Role::Executor, usage(2, 300, 40))]);
    let result = FinalResult { replans: 1, suspect: true, ..result_with(Ending::Accept { basis: Basis::Judged }) };
    let after = text(&render(&result, &by_role).after);
    assert!(after.contains("model calls: 3, tokens 400+60: R1 1 (100+20), R3 2 (300+40)\n"), "{after}");
    assert!(after.contains("loss: D 0.00, P 0.00, Omega 0.00, L 0.00; replans: 1\n"), "{after}");
    assert!(after.contains("suspect: "), "{after}");
    assert!(text(&render(&result, &BTreeMap::new()).after).contains("model calls: none\n"));
}

#[doc = "holds: law 0.12, 0.21"]
#[test]
fn a_covered_answer_is_composed_by_code_and_the_model_is_quoted() {
    let row = Covered {
        span: (0, 3),
        words: "how many".to_owned(),
        act: Some("count the files".to_owned()),
        state: CoverageState::Shown,
        by: Vec::new(),
        why: "3".to_owned(),
        confirmed: false,
        required: false,
    };
    let coverage = Coverage { rows: vec![row], answer: Some("3".to_owned()), ..Coverage::default() };
    let usage = BTreeMap::from([(Role::Executor, Usage { model_calls: 1, prompt_tokens: 1, completion_tokens: 1 })]);
    let mut result = FinalResult {
        summary: LIE.to_owned(),
        output: LIE.to_owned(),
        coverage: Some(coverage.clone()),
        ..result_with(Ending::Accept { basis: Basis::Checked })
    };
    let rendered = render(&result, &usage);
    assert_eq!((text(&rendered.before), text(&rendered.answer)), ("count the files\n".to_owned(), "3\n".to_owned()));
    let after = text(&rendered.after);
    assert!(
        after.starts_with("accepted: recorded facts show every part of the request\n  [shown] \"how many\""),
        "{after}"
    );
    let said = after.split_once("the model says, unchecked:\n").unwrap().1;
    assert!(LIE.lines().all(|line| said.contains(&format!("  | {line}\n"))), "{after}");
    result.coverage = Some(Coverage { by_required: true, ..coverage });
    assert!(text(&render(&result, &usage).after).starts_with("accepted by your own checks\n"));
}
