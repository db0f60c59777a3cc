//! Tests of endings: no ending claims more than was proven, and each has a next step.

use artoo_proto::{
    AbandonReason, Abstention, Basis, Criterion, CriterionMark, Ending, FailureClass, Message, ModelFailure,
    PerceptionFailed, PerceptionFailure, PlanRejected, ReplanRequest, Role, RoleFailed, SubTaskOutcome,
    UnverifiedOutput, Verdict, VerdictSource,
};
use proptest::prelude::*;

use super::super::{Input, Solver, ending};
use super::{begun, closing, directive, finished, megrams, met, missed, next, plan, reason, short, wrong};
use crate::testing::bench::{
    Bench, count_of, look, outcome, prose, said, spec, task_id, unreachable_model, unreadable, verdict, verifiable,
};
use crate::testing::world::config;

/// The message that the planner has no plan.
fn rejected(model_failure: Option<ModelFailure>, abstention: Option<Abstention>) -> Input {
    let problems = vec!["the plan has no subtask".to_owned()];
    Input::NotPlanned(PlanRejected { task_id: task_id(), round: 0, problems, model_failure, abstention })
}

/// An abstention of the embedded parser.
fn abstention() -> Abstention {
    let not_understood = vec!["frobnicate".to_owned()];
    Abstention {
        understood: "count".to_owned(),
        not_understood,
        remedy: "set up a language model".to_owned(),
        offer: None,
    }
}

/// The message that the request was not understood.
fn perceived(failure: PerceptionFailure) -> Input {
    Input::NotPerceived(PerceptionFailed { task_id: task_id(), raw_input: "x".to_owned(), failure })
}

/// A task that ends before any round states its reason and a next step, and writes no memory record.
#[doc = "holds: design D17"]
#[test]
fn early_end_has_reason_and_no_record() {
    let model = |failure| perceived(PerceptionFailure::Model { failure });
    let bad = perceived(PerceptionFailure::BadInput { detail: "the request is empty".to_owned() });
    let cases: Vec<(Input, &str)> = vec![
        (model(unreachable_model()), "The model can't be reached: connection refused"),
        (model(unreadable()), "The model's reply could not be read: no JSON"),
        (bad, "The request is empty"),
        (
            perceived(PerceptionFailure::Abstained { abstention: abstention() }),
            "I don't know the word “frobnicate”. Without it I read: count",
        ),
        (rejected(None, None), "I found no way to do this: the plan has no subtask"),
        (rejected(Some(unreachable_model()), None), "The model can't be reached: connection refused"),
        (rejected(None, Some(abstention())), "I don't know the word “frobnicate”. Without it I read: count"),
        (Input::Cancel, "Cancelled"),
        (
            Input::RoleFailed(RoleFailed {
                task_id: task_id(),
                role: Role::Planner,
                detail: "index".to_owned(),
                effect_id: None,
            }),
            "An internal error ended the task: R2: index",
        ),
    ];
    for (input, summary) in cases {
        let effects = begun().step(input);
        let result = finished(&effects);
        assert_eq!(result.summary, summary);
        assert!(!result.next_steps.is_empty() && result.next_steps.iter().all(|step| !step.trim().is_empty()));
        assert!((result.loss.d - 1.0).abs() < 1e-9, "[67] nothing was achieved: {:?}", result.loss);
        assert!(megrams(&effects).is_empty(), "m18: {summary}");
    }
    let silent = Abstention { remedy: " ".to_owned(), ..abstention() };
    let result = finished(&begun().step(perceived(PerceptionFailure::Abstained { abstention: silent })));
    assert!(!result.next_steps[0].trim().is_empty());
}

/// A declined request gets the reason as its summary, and the parser's offered request as a next step.
#[test]
fn decline_states_its_reason_and_the_offer() {
    let offer = artoo_proto::Offer {
        request: "show Documents/Work/contract.txt".to_owned(),
        reading: "show the lines".to_owned(),
        change: "“contract.txt” read as “Work/contract.txt”".to_owned(),
    };
    let missing = Abstention {
        not_understood: Vec::new(),
        remedy: format!("There is no contract.txt. {}", Abstention::SETUP),
        offer: Some(Box::new(offer)),
        ..abstention()
    };
    let ended =
        |abstention: Abstention| finished(&begun().step(perceived(PerceptionFailure::Abstained { abstention })));
    let result = ended(missing);
    assert_eq!(result.summary, "There is no contract.txt");
    let offered = "say: show Documents/Work/contract.txt (“contract.txt” read as “Work/contract.txt”)";
    assert_eq!(result.next_steps, [offered, Abstention::SETUP]);
    let several = vec!["paint".to_owned(), "house".to_owned()];
    let result = ended(Abstention { understood: String::new(), not_understood: several, ..abstention() });
    assert_eq!(result.summary, "I don't know the words “paint” and “house”");
    let run = ended(Abstention { not_understood: vec!["do not".to_owned()], ..abstention() });
    assert_eq!(run.summary, "I can't read “do not”. Without it I read: count");
}

/// A task cancelled before its request was understood still gets a final result.
#[test]
fn task_can_end_before_its_spec() {
    let mut bench = Bench::new(Solver::new(artoo_ggs::Profile::default(), &[], "/home/u", task_id()));
    let result = finished(&bench.step(Input::Cancel));
    assert_eq!((reason(&result), result.task_id.clone()), (&AbandonReason::Cancelled, task_id()));
}

#[test]
fn dead_provider_ends_task_without_replan() {
    let mut dead = short(0, vec![outcome(1, false, "", Vec::new())]);
    dead.outcomes[0].model_failure = Some(unreachable_model());
    dead.outcomes[0].infrastructure = true;
    let effects = begun().step(Input::FellShort(dead));
    let result = finished(&effects);
    assert_eq!((reason(&result), result.replans), (&AbandonReason::Provider { failure: unreachable_model() }, 0));
    assert!(megrams(&effects).is_empty(), "m18");

    let mut judge = short(0, met(0).outcomes);
    judge.task_verdicts = vec![verdict(&prose("x"), Verdict::Fail, VerdictSource::Missing)];
    judge.model_failure = Some(unreachable_model());
    assert!(matches!(reason(&finished(&begun().step(Input::FellShort(judge)))), AbandonReason::Provider { .. }));

    let babble = |round: u32| {
        let mut request = short(round, vec![outcome(1, false, "", vec![look(1, "x")])]);
        request.outcomes[0].model_failure = Some(unreadable());
        request
    };
    let mut bench = begun();
    for round in 0..3 {
        directive(&bench.step(Input::FellShort(babble(round))));
        next(&mut bench, round + 1);
    }
    let effects = bench.step(Input::FellShort(babble(3)));
    assert_eq!(reason(&finished(&effects)), &AbandonReason::Provider { failure: unreadable() });
    assert!(megrams(&effects).is_empty(), "m18: the approach was never tried");
}

/// An abandoned task delivers the output and criteria of its round with the lowest D, not of the last one.
#[doc = "holds: design G11"]
#[test]
fn abandon_delivers_and_names_best_round() {
    let with = |round: u32, failing: usize| {
        let outcomes = (1..=4).map(|n| outcome(n, n > failing as u128, "x", vec![look(1, "x")])).collect();
        let mut request = short(round, outcomes);
        request.unverified = vec![UnverifiedOutput { intent: "part".to_owned(), output: format!("draft {round}") }];
        for bad in &mut request.outcomes[..failing] {
            bad.criteria_verdicts[0].failure_class = Some(FailureClass::Logical);
        }
        request
    };
    let mut bench = begun();
    for (round, failing) in [(0, 4), (1, 2), (2, 3)] {
        directive(&bench.step(Input::FellShort(with(round, failing))));
        next(&mut bench, round + 1);
    }
    let result = finished(&closing(&mut bench, Input::FellShort(with(3, 3))));
    assert_eq!((result.delivered_round, result.output.as_str()), (1, "output of round 1"));
    assert_eq!(result.unverified[0].output, "draft 1");
    let unmet = result.criteria.iter().filter(|report| report.mark == CriterionMark::Unmet).count();
    assert_eq!(unmet, 2 + 1, "two subtasks' and the task's, which nobody judged");
}

#[doc = "holds: law 0.5; design G10"]
#[test]
fn success_names_unmet_and_unjudged_criteria() {
    let outcomes = (1..=6).map(|n| outcome(n, n != 3, "x", vec![look(1, "x")])).collect();
    let effects = begun().step(Input::FellShort(short(0, outcomes)));
    let result = finished(&effects);
    let Ending::Success { unmet } = &result.ending else { panic!("{:#?}", result.ending) };
    let claims: Vec<&str> = unmet.iter().map(|report| report.claim.as_str()).collect();
    assert_eq!(claims, ["part 3 is shown", "the reports are counted"]);
    assert_eq!(unmet[1].evidence, "not judged: a subtask failed");
    assert_eq!(result.summary, "delivered, with 2 criteria unmet (1 of them not judged): how many reports are there");
    assert!(!result.next_steps.is_empty());
}

/// The outcome of a subtask with this output, of whose `all` criteria the first `unmet` are not met.
fn part(number: u128, output: &str, unmet: usize, all: usize) -> SubTaskOutcome {
    let verdicts = (0..all).map(|at| {
        let claim = verifiable(&format!("claim {number}.{at}"));
        verdict(&claim, if at < unmet { Verdict::Fail } else { Verdict::Pass }, VerdictSource::Model)
    });
    let criteria_verdicts = verdicts.collect();
    SubTaskOutcome { criteria_verdicts, ..outcome(number, unmet == 0, output, vec![look(1, "x")]) }
}

/// A success delivers the outputs of subtasks with at least half of their criteria met, and the others as unverified.
#[doc = "holds: law 0.5; design G10"]
#[test]
fn success_delivers_the_near_parts() {
    let unverified = |request: &ReplanRequest| {
        let failed = request.outcomes.iter().filter(|made| made.status == artoo_proto::OutcomeStatus::Failed);
        failed.map(|made| UnverifiedOutput { intent: "part".to_owned(), output: made.output.clone() }).collect()
    };
    let delivered = |outcomes: Vec<SubTaskOutcome>| {
        let mut request = short(0, outcomes);
        request.unverified = unverified(&request);
        let result = finished(&begun().step(Input::FellShort(request)));
        assert!(matches!(result.ending, Ending::Success { .. }), "{result:#?}");
        let apart: Vec<String> = result.unverified.into_iter().map(|claimed| claimed.output).collect();
        (result.output, apart)
    };
    assert_eq!(delivered(vec![part(1, "a b c\n", 1, 4)]), ("a b c".to_owned(), Vec::new()), "the only part");
    let several = delivered(vec![part(1, "one", 0, 6), part(2, "two", 1, 4), part(3, "three", 2, 3)]);
    let near = "one\n(in this part unmet: claim 2.0)\ntwo".to_owned();
    assert_eq!(several, (near, vec!["three".to_owned()]), "what is far from its goal stays apart");
}

/// A cancelled task delivers the verified output, and the outputs of failed subtasks apart as unverified.
#[test]
fn abandon_separates_failed_criteria() {
    let mut bench = begun();
    let mut request = short(0, vec![part(1, "one", 1, 2), part(2, "two", 1, 2)]);
    request.outcomes[0].criteria_verdicts[0].failure_class = Some(FailureClass::Environmental);
    request.unverified = vec![UnverifiedOutput { intent: "part".to_owned(), output: "one".to_owned() }];
    bench.step(Input::FellShort(request));
    let result = finished(&bench.step(Input::Cancel));
    assert_eq!((result.output.as_str(), result.unverified.len()), ("output of round 0", 1));
}

#[doc = "holds: design G10"]
#[test]
fn unmet_required_criterion_is_no_success() {
    let mut outcomes: Vec<_> = (1..=6).map(|n| outcome(n, n != 3, "x", vec![look(1, "x")])).collect();
    let required = Criterion::Prose { text: "x".to_owned(), mode: artoo_proto::Mode::Plausible, required: true };
    outcomes[2].criteria_verdicts[0] = verdict(&required, Verdict::Fail, VerdictSource::Model);
    directive(&begun().step(Input::FellShort(short(0, outcomes))));
}

/// A success without unmet criteria to list ends as an internal failure instead.
#[doc = "holds: law 0.5; design G10"]
#[test]
fn success_without_named_gaps_is_withheld() {
    let ending = ending::success(&ending::Account::default());
    assert!(matches!(ending, Ending::Abandon { reason: AbandonReason::RoleFailed { .. }, .. }));
}

#[doc = "holds: law 2.5; design D19"]
#[test]
fn abandon_lists_met_and_unmet_criteria() {
    let mut bench = begun();
    directive(&bench.step(Input::FellShort(missed(0, "/gone"))));
    let result = finished(&bench.step(Input::Cancel));
    assert_eq!(result.output, "output of round 0", "the verified part");
    let Ending::Abandon { unmet, .. } = &result.ending else { panic!() };
    assert!(unmet.iter().any(|report| report.claim == "part 1 is shown"));
    assert!(!result.next_steps.is_empty());
}

/// A passed verdict that neither a check nor a model decided is shown to the user as unmet.
#[test]
fn unproven_pass_is_not_shown_as_met() {
    let mut summary = met(0);
    summary.task_verdicts[0].source = VerdictSource::Rule;
    summary.outcomes[0].criteria_verdicts[0].source = VerdictSource::Missing;
    let result = finished(&begun().step(Input::Met(summary)));
    let unmet = result.criteria.iter().filter(|report| report.mark == CriterionMark::Unmet).count();
    assert_eq!(unmet, 2);
}

#[test]
fn failed_planned_check_is_listed_without_deciding() {
    let ended = |source: VerdictSource| {
        let mut summary = met(0);
        let own = verdict(&count_of("/home/u"), Verdict::Fail, source);
        summary.outcomes[0].criteria_verdicts.push(own.clone());
        summary.task_verdicts.push(own);
        finished(&begun().step(Input::Met(summary)))
    };
    let result = ended(VerdictSource::Check);
    assert!(matches!(result.ending, Ending::Accept { basis } if basis != Basis::Checked), "{:?}", result.ending);
    let unmet = result.criteria.iter().filter(|report| report.mark == CriterionMark::Unmet).count();
    assert_eq!(unmet, 1);
    assert!(matches!(ended(VerdictSource::Rule).ending, Ending::Abandon { .. }));
}

/// If the loss fell although the approach stayed wrong, the accepted result is marked as suspect.
#[doc = "holds: law 0.8; design G15"]
#[test]
fn suspicion_is_reported_in_the_result() {
    let four = |round: u32, failing: u128| {
        let outcomes = (1..=4)
            .map(|n| {
                let mut made = outcome(n, n > failing, "x", vec![look(1, "x")]);
                let claim = verifiable(&format!("part {n} is shown"));
                made.criteria_verdicts[0].criterion = claim;
                if n <= failing {
                    made.criteria_verdicts[0].failure_class = Some(FailureClass::Logical);
                }
                made
            })
            .collect();
        short(round, outcomes)
    };
    let mut bench = begun();
    directive(&bench.step(Input::FellShort(four(0, 4))));
    next(&mut bench, 1);
    directive(&bench.step(Input::FellShort(four(1, 2))));
    next(&mut bench, 2);
    let result = finished(&bench.step(Input::Met(met(2))));
    assert!(matches!(result.ending, Ending::Accept { .. }) && result.suspect, "{result:#?}");
    assert!(!finished(&begun().step(Input::Met(met(0)))).suspect);
}

/// Random intents, some of them hostile.
fn intents() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("accepted\nnot achieved: x".to_owned()),
        Just("\u{1b}[2J\u{202e}done".to_owned()),
        Just("x".repeat(100_000)),
        ".*",
    ]
}

proptest! {
    /// The one-line summary of a cancelled or declined task is not its intent alone, and that of a success says
    /// "delivered, with" and what is unmet.
    #[doc = "holds: law 0.4"]
    #[test]
    fn summary_claims_no_more_than_ending(intent in intents(), unmet in 1_u128..3) {
        let with = |input: Input| {
            let mut bench = Bench::new(Solver::new(artoo_ggs::Profile::default(), &[], "/home/u", task_id()));
            bench.step(Input::Task(artoo_proto::TaskSpec { intent: intent.clone(), ..spec("x") }));
            bench.step(Input::Manifest(plan(0)));
            bench.step(input)
        };
        let outcomes = (1..=8).map(|n| outcome(n, n > unmet, "x", vec![look(1, "x")])).collect();
        for (input, start) in [
            (Input::Cancel, None),
            (Input::FellShort(short(0, outcomes)), Some("delivered, with ")),
            (rejected(None, Some(Abstention { understood: intent.clone(), ..abstention() })), None),
        ] {
            let effects = with(input);
            let result = finished(&effects);
            // A task that was abandoned is not told by its intent alone.
            let is_told = start.map_or(result.summary != intent, |start| result.summary.starts_with(start));
            prop_assert!(is_told, "{:?}", result.summary);
            prop_assert!(!result.summary.chars().any(char::is_control), "{:?}", result.summary);
            prop_assert!(result.summary.chars().count() < 1_000);
            let results = said(&effects).iter().filter(|m| matches!(m, Message::FinalResult(_))).count();
            prop_assert_eq!(results, 1);
        }
    }
}

/// If no other plan is found after a wrong approach, the task ends for lack of a plan and delivers the round's output.
#[test]
fn task_without_another_plan_delivers_its_round() {
    let mut bench = begun();
    directive(&bench.step(Input::FellShort(wrong(0))));
    let input =
        PlanRejected { task_id: task_id(), round: 1, problems: Vec::new(), model_failure: None, abstention: None };
    assert!(bench.step(Input::NotPlanned(PlanRejected { round: 0, ..input.clone() })).is_empty(), "an old round");
    let result = finished(&bench.step(Input::NotPlanned(input)));
    assert!(matches!(reason(&result), AbandonReason::NoPlan { .. }));
    assert_eq!(result.output, "output of round 0");
}

#[test]
fn failed_recipe_names_fault_and_similar_names() {
    let ended = |mut request: ReplanRequest, near: &[&str]| {
        for call in request.outcomes.iter_mut().flat_map(|outcome| &mut outcome.tool_calls) {
            call.alternatives = near.iter().map(|path| (*path).to_owned()).collect();
        }
        let mut bench = begun();
        directive(&bench.step(Input::FellShort(request)));
        let abstention = Some(Abstention { understood: String::new(), not_understood: Vec::new(), ..abstention() });
        let declined =
            PlanRejected { task_id: task_id(), round: 1, problems: Vec::new(), model_failure: None, abstention };
        let result = finished(&bench.step(Input::NotPlanned(declined)));
        assert!(matches!(reason(&result), AbandonReason::NoOtherWay { .. }), "{result:#?}");
        (result.summary, result.next_steps)
    };
    let near = ended(missed(0, "/gone"), &["/docs/work/gone"]);
    assert_eq!(near, ("No such file".to_owned(), vec!["there is /docs/work/gone".to_owned()]));
    let unknown = ended(missed(0, "/gone"), &[]);
    assert_eq!(unknown, ("No such file".to_owned(), vec!["set up a language model".to_owned()]));
    // A call that ended well and whose check failed: what the check saw.
    let (summary, _) = ended(wrong(0), &[]);
    let seen = wrong(0).outcomes[0].criteria_verdicts[0].evidence.clone();
    assert_eq!(summary.to_lowercase(), seen.to_lowercase());
}

/// When a recipe's task ends since no tool is left, its reason is the failed call, not the lack of tools.
#[test]
fn recipe_without_tools_left_names_failure() {
    let ended = |recipe: bool, near: &[&str]| {
        let tools: Vec<_> = config(1).tools.iter().filter(|tool| &*tool.name == "glob").cloned().collect();
        let mut bench = Bench::new(Solver::new(artoo_ggs::Profile::default(), &tools, "/home/u", task_id()));
        bench.step(Input::Task(spec("x")));
        for round in 0..2 {
            let mut manifest = plan(round);
            manifest.subtasks.iter_mut().for_each(|entry| entry.recipe = recipe);
            bench.step(Input::Manifest(manifest));
            let mut request = wrong(round);
            let mut failed = crate::testing::bench::failed(look(1, "no such folder: docs"), false);
            failed.alternatives = near.iter().map(|path| (*path).to_owned()).collect();
            request.outcomes[0].tool_calls = vec![failed];
            let effects = closing(&mut bench, Input::FellShort(request));
            if said(&effects).iter().any(|message| matches!(message, Message::FinalResult(_))) {
                let result = finished(&effects);
                return (result.summary, result.next_steps);
            }
        }
        panic!("the tools never ran out")
    };
    let (summary, steps) = ended(true, &["/docs2"]);
    assert_eq!((summary.as_str(), steps), ("No such folder: docs", vec!["there is /docs2".to_owned()]));
    let (summary, steps) = ended(true, &[]);
    assert_eq!((summary.as_str(), steps.len()), ("No such folder: docs", 1));
    assert_eq!(ended(false, &[]).0, "Every tool that could do this was tried, and failed");
}

/// A criterion declared for a subtask and for the task is listed only once among the unmet ones.
#[test]
fn duplicate_criterion_is_unmet_once() {
    let mut bench = begun();
    let mut twice = plan(0);
    twice.task_criteria = twice.subtasks[0].success_criteria.clone();
    bench.step(Input::Manifest(twice));
    let result = finished(&bench.step(Input::Cancel));
    let Ending::Abandon { unmet, .. } = &result.ending else { panic!("{result:#?}") };
    let mut claims: Vec<&str> = unmet.iter().map(|report| report.claim.as_str()).collect();
    claims.dedup();
    assert_eq!(claims.len(), unmet.len(), "{unmet:#?}");
    assert!(!claims.is_empty());
}
