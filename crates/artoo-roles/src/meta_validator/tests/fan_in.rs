//! Tests of fan-in in every order of arrival, with duplicates, unknown subtasks and late outcomes.

use artoo_proto::{Coverage, Message, MissingReason, SubTaskMissing, SubTaskOutcome};
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{Input, MetaValidator, Part};
use super::{QUESTION, covered, declared, replan, summary};
use crate::machine::{Lifecycle, RoleEffect, Work};
use crate::testing::bench::{Bench, judgement, look, manifest, outcome, said, spec, subtask_id, task_id};

/// The message that a subtask has no outcome.
fn missing(number: u128, round: u32) -> Input {
    let reason = MissingReason::NoReport;
    Input::Arrived(Part::Missing(SubTaskMissing {
        parent_task_id: task_id(),
        subtask_id: subtask_id(number),
        round,
        reason,
    }))
}

/// The matched outcome of a subtask.
fn matched(number: u128, round: u32) -> Input {
    let calls = vec![look(u32::try_from(number).unwrap(), "x")];
    Input::Arrived(Part::Outcome(SubTaskOutcome { round, ..outcome(number, true, &format!("output {number}"), calls) }))
}

/// Feeds all inputs, answers every comparison with an empty one and every judgement with passes; returns the published
/// messages.
fn run(inputs: Vec<Input>) -> Vec<Message> {
    let mut bench = Bench::new(Lifecycle::<MetaValidator>::new(()));
    let mut messages = Vec::new();
    let mut queue: std::collections::VecDeque<Input> = inputs.into();
    while let Some(input) = queue.pop_front() {
        let effects = bench.step(input);
        messages.extend(said(&effects).into_iter().cloned());
        for effect in &effects {
            if let RoleEffect::Perform(id, Work::Model { .. }) = effect {
                let yes: &[(u32, &str, &[&str])] = &[(1, "pass", &["e1"]), (2, "pass", &["e1"])];
                queue.push_front(Input::Replied(*id, judgement(yes)));
            }
            if let RoleEffect::Perform(id, Work::Cover { .. }) = effect {
                queue.push_front(Input::Covered(*id, Coverage::default()));
            }
        }
    }
    messages
}

/// The items in the order of these random indexes.
fn shuffled<T>(mut items: Vec<T>, order: &[Index]) -> Vec<T> {
    let mut out = Vec::new();
    for index in order {
        if items.is_empty() {
            break;
        }
        let at = index.index(items.len());
        out.push(items.swap_remove(at));
    }
    out.extend(items);
    out
}

proptest! {
    #[doc = "holds: design B5"]
    #[test]
    fn fan_in_ignores_order_and_duplicates(
        order in prop::collection::vec(any::<Index>(), 16),
        doubled in prop::collection::vec(1_u128..=4, 0..6),
    ) {
        let mut inputs = vec![Input::Task(spec(QUESTION)), Input::Arrived(Part::Manifest(manifest(0, 4, declared())))];
        inputs.extend((1..=4).map(|number| matched(number, 0)));
        inputs.extend(doubled.iter().map(|number| matched(*number, 0)));
        inputs.push(matched(77, 0));
        let messages = run(shuffled(inputs, &order));
        let [Message::OutcomeSummary(summary)] = &messages[..] else { panic!("{messages:#?}") };
        prop_assert_eq!(&summary.merged_output, "output 1\noutput 2\noutput 3\noutput 4");
        prop_assert_eq!(summary.outcomes.len(), 4);
    }

    #[doc = "holds: design D1"]
    #[test]
    fn missing_subtask_completes_the_round(
        order in prop::collection::vec(any::<Index>(), 8),
    ) {
        let mut inputs = vec![Input::Task(spec(QUESTION)), Input::Arrived(Part::Manifest(manifest(0, 3, declared())))];
        inputs.extend([matched(1, 0), missing(2, 0), missing(2, 0), matched(3, 0)]);
        let messages = run(shuffled(inputs, &order));
        let [Message::ReplanRequest(request)] = &messages[..] else { panic!("{messages:#?}") };
        prop_assert_eq!(request.missing.len(), 1);
        prop_assert_eq!(&request.missing[0].intent, "do part 2");
        prop_assert_eq!(request.missing[0].criteria.len(), 1);
        prop_assert_eq!(&request.merged_output, "output 1\noutput 3");
    }
}

#[test]
fn first_outcome_of_a_subtask_counts() {
    let mut inputs = vec![Input::Task(spec(QUESTION)), missing(1, 0), matched(1, 0)];
    inputs.push(Input::Arrived(Part::Manifest(manifest(0, 1, declared()))));
    let [Message::ReplanRequest(request)] = &run(inputs)[..] else { panic!("not a replan") };
    assert!(request.outcomes.is_empty() && request.missing.len() == 1, "{request:#?}");
    let inputs = vec![
        Input::Task(spec(QUESTION)),
        matched(1, 0),
        missing(1, 0),
        Input::Arrived(Part::Manifest(manifest(0, 1, declared()))),
        matched(1, 0),
        Input::Arrived(Part::Manifest(manifest(0, 1, declared()))),
    ];
    assert!(matches!(run(inputs)[..], [Message::OutcomeSummary(_)]), "and a round is released once");
}

#[test]
fn outcomes_of_older_rounds_are_ignored() {
    let mut bench = Bench::new(Lifecycle::<MetaValidator>::new(()));
    bench.step(Input::Task(spec(QUESTION)));
    bench.step(Input::Arrived(Part::Manifest(manifest(0, 1, declared()))));
    let effects = bench.step(missing(1, 0));
    replan(&covered(&mut bench, &effects, Coverage::default()));
    // The same ids again, as if a plan had been dispatched twice: only parts of round 1 count.
    assert!(bench.step(Input::Arrived(Part::Manifest(manifest(1, 2, declared())))).is_empty());
    assert!(bench.step(matched(1, 0)).is_empty());
    assert!(bench.step(matched(1, 1)).is_empty());
    let effects = bench.step(matched(2, 1));
    let effects = covered(&mut bench, &effects, Coverage::default());
    let (id, _) = crate::testing::bench::asked(&effects);
    let yes: &[(u32, &str, &[&str])] = &[(1, "pass", &["e1"]), (2, "pass", &["e2"])];
    let summary = summary(&bench.step(Input::Replied(id, judgement(yes))));
    assert_eq!((summary.round, summary.outcomes.iter().all(|outcome| outcome.round == 1)), (1, true));
}
