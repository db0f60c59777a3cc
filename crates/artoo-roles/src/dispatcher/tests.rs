//! Tests of the dispatcher: ids, order of groups, context for later groups, and timeouts of subtasks.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for the few things it knows")]

use artoo_proto::{DispatchManifest, Message, MissingReason, Plan, SubTask, SubTaskOutcome};
use proptest::prelude::*;

use super::{Dispatcher, Input};
use crate::limits::SUBTASK_WAIT_MS;
use crate::machine::{Lifecycle, RoleEffect};
use crate::testing::bench::{Bench, HOSTILE, outcome, plan, planned, said, subtask_id, timers};

/// A dispatcher that waits for its first message, on a bench.
fn bench() -> Bench<Lifecycle<Dispatcher>> {
    Bench::new(Lifecycle::new(()))
}

/// The subtasks that the dispatcher starts.
fn dispatched(effects: &[RoleEffect]) -> Vec<SubTask> {
    said(effects).into_iter().filter_map(|m| if let Message::SubTask(s) = m { Some(s.clone()) } else { None }).collect()
}

/// The manifest that the dispatcher publishes.
fn manifest(effects: &[RoleEffect]) -> DispatchManifest {
    let found =
        said(effects).into_iter().find_map(|m| if let Message::DispatchManifest(m) = m { Some(m) } else { None });
    found.unwrap_or_else(|| panic!("no manifest: {effects:#?}")).clone()
}

/// The subtasks that the dispatcher reports as missing, with the reasons.
fn missing(effects: &[RoleEffect]) -> Vec<(String, MissingReason)> {
    let reason = |m: &Message| match m {
        Message::SubTaskMissing(missing) => Some((missing.subtask_id.to_string(), missing.reason)),
        _ => None,
    };
    said(effects).into_iter().filter_map(reason).collect()
}

/// A plan with one subtask for each sequence number.
fn of_sequences(sequences: &[i64]) -> Plan {
    plan(0, sequences.iter().enumerate().map(|(at, sequence)| planned(&format!("step {at}"), *sequence)).collect())
}

/// The outcome message that ends a subtask.
fn end_of(subtask: &SubTask, matched: bool) -> SubTaskOutcome {
    SubTaskOutcome {
        subtask_id: subtask.subtask_id,
        round: subtask.round,
        ..outcome(1, matched, &format!("output of {}", subtask.intent), Vec::new())
    }
}

/// Starts a plan of subtasks with these sequence numbers and returns the groups in the order in which they start.
fn groups(sequences: &[i64]) -> Vec<Vec<String>> {
    let mut bench = bench();
    let mut running = dispatched(&bench.step(Input::Planned(of_sequences(sequences))));
    let mut groups = Vec::new();
    while !running.is_empty() {
        groups.push(running.iter().map(|subtask| subtask.intent.clone()).collect());
        let mut next = Vec::new();
        for (at, subtask) in running.iter().enumerate() {
            assert!(next.is_empty(), "a group starts before the one before it has ended");
            next = dispatched(&bench.step(Input::Outcome(end_of(subtask, true))));
            assert!(next.is_empty() || at + 1 == running.len());
        }
        running = next;
    }
    groups
}

#[doc = "holds: design D9"]
#[test]
fn equal_sequence_numbers_form_one_group() {
    let check = |sequences: &[i64], expected: &[&[&str]]| assert_eq!(groups(sequences), expected, "{sequences:?}");
    check(&[0], &[&["step 0"]]);
    check(&[1, 1, 1], &[&["step 0", "step 1", "step 2"]]);
    check(&[3, 1, 2], &[&["step 1"], &["step 2"], &["step 0"]]);
    check(&[0, -5, 0, i64::MAX, i64::MIN], &[&["step 4"], &["step 1"], &["step 0", "step 2"], &["step 3"]]);
}

proptest! {
    #[doc = "holds: design D9"]
    #[test]
    fn steps_run_once_in_sequence_order(sequences in prop::collection::vec(-3_i64..3, 1..12)) {
        let groups = groups(&sequences);
        let mut expected: Vec<i64> = sequences.clone();
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(groups.len(), expected.len());
        let mut all: Vec<String> = groups.concat();
        all.sort();
        let mut every: Vec<String> = (0..sequences.len()).map(|at| format!("step {at}")).collect();
        every.sort();
        prop_assert_eq!(all, every);
        for (group, sequence) in groups.iter().zip(expected) {
            for intent in group {
                let at: usize = intent.trim_start_matches("step ").parse().unwrap();
                prop_assert_eq!(sequences[at], sequence);
            }
        }
    }
}

#[doc = "holds: design D9"]
#[test]
fn failed_group_stops_later_groups() {
    let mut bench = bench();
    let effects = bench.step(Input::Planned(of_sequences(&[0, 0, 1, 2])));
    let first = dispatched(&effects);
    let manifest = manifest(&effects);
    assert!(bench.step(Input::Outcome(end_of(&first[0], false))).is_empty(), "the group is not over yet");
    let effects = bench.step(Input::Outcome(end_of(&first[1], true)));
    assert!(dispatched(&effects).is_empty());
    let not_run = |at: usize| (manifest.subtasks[at].subtask_id.to_string(), MissingReason::EarlierGroupFailed);
    assert_eq!(missing(&effects), [not_run(2), not_run(3)]);
    assert!(bench.step(Input::Outcome(end_of(&first[1], true))).is_empty(), "a second word changes nothing");
}

#[doc = "holds: invariant 1"]
#[test]
fn manifest_precedes_subtasks_with_generated_ids() {
    let mut bench = bench();
    let effects = bench.step(Input::Planned(of_sequences(&[1, 0, 0])));
    assert!(matches!(said(&effects)[0], Message::DispatchManifest(_)));
    let manifest = manifest(&effects);
    let intents: Vec<&str> = manifest.subtasks.iter().map(|entry| entry.intent.as_str()).collect();
    assert_eq!(intents, ["step 1", "step 2", "step 0"], "in sequence order");
    let mut ids: Vec<_> = manifest.subtasks.iter().map(|entry| entry.subtask_id).collect();
    assert_eq!(dispatched(&effects).iter().map(|s| s.subtask_id).collect::<Vec<_>>(), ids[..2]);
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(manifest.task_criteria, of_sequences(&[0]).task_criteria);
}

#[test]
fn outputs_reach_only_later_groups() {
    let mut bench = bench();
    let first = dispatched(&bench.step(Input::Planned(of_sequences(&[0, 0, 1]))));
    assert!(first.iter().all(|subtask| subtask.context.is_empty()));
    let hostile = SubTaskOutcome { output: HOSTILE.to_owned(), ..end_of(&first[0], true) };
    bench.step(Input::Outcome(hostile));
    let next = dispatched(&bench.step(Input::Outcome(end_of(&first[1], true))));
    let context = &next[0].context;
    assert!(
        context.contains("Output of the earlier step \"step 1\":\n<<DATA-0\noutput of step 1\nDATA-0>>"),
        "{context}"
    );
    assert!(context.contains("<<DATA-2\nDATA-0>>") && !context.contains('\u{1b}'), "{context}");
}

#[doc = "holds: law 3.12; design D1"]
#[test]
fn subtask_without_outcome_fails_at_timeout() {
    let mut bench = bench();
    let effects = bench.step(Input::Planned(of_sequences(&[0, 0, 1])));
    let first = dispatched(&effects);
    let [(timer, wait), _] = timers(&effects)[..] else { panic!("one timer a subtask") };
    assert_eq!(wait, SUBTASK_WAIT_MS);
    let effects = bench.step(Input::TimerFired(timer));
    assert_eq!(missing(&effects), [(first[0].subtask_id.to_string(), MissingReason::NoReport)]);
    assert!(bench.step(Input::Outcome(end_of(&first[0], true))).is_empty(), "too late to count");
    assert!(bench.step(Input::TimerFired(timer)).is_empty(), "a timer rings once");
    let effects = bench.step(Input::Outcome(end_of(&first[1], true)));
    assert_eq!(missing(&effects)[0].1, MissingReason::EarlierGroupFailed);
}

#[doc = "holds: design B5"]
#[test]
fn unknown_and_old_outcomes_change_nothing() {
    let mut bench = bench();
    let first = dispatched(&bench.step(Input::Planned(of_sequences(&[0, 1]))));
    assert!(bench.step(Input::Outcome(outcome(99, true, "", Vec::new()))).is_empty());
    let old = SubTaskOutcome { round: 7, ..end_of(&first[0], true) };
    assert!(bench.step(Input::Outcome(old)).is_empty());
    assert!(bench.step(Input::Planned(of_sequences(&[0]))).is_empty(), "a plan of a round that is under way");
    let next = Plan { round: 1, ..of_sequences(&[5]) };
    let second = dispatched(&bench.step(Input::Planned(next)));
    assert_eq!((second.len(), second[0].round), (1, 1));
    assert!(bench.step(Input::Outcome(end_of(&first[0], true))).is_empty(), "a straggler of the round before");
}

#[test]
fn subtasks_carry_blocked_targets_and_confirmation() {
    let mut blocked = of_sequences(&[0]);
    blocked.blocked_tools = vec!["shell".to_owned()];
    blocked.blocked_targets = vec!["*:/x".to_owned()];
    blocked.subtasks[0].confirm = true;
    let first = dispatched(&bench().step(Input::Planned(blocked)));
    assert_eq!((first[0].blocked_tools.len(), first[0].blocked_targets.len(), first[0].confirm), (1, 1, true));
}

#[doc = "holds: fault L38"]
#[test]
fn no_subtask_starts_after_an_abort() {
    let mut bench = bench();
    let effects = bench.step(Input::Planned(of_sequences(&[0, 1])));
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Outcome(end_of(&dispatched(&effects)[0], true))).is_empty());
    assert!(bench.step(Input::TimerFired(timers(&effects)[0].0)).is_empty());
    assert!(bench.step(Input::Planned(Plan { round: 3, ..of_sequences(&[0]) })).is_empty());
    assert_ne!(subtask_id(1), subtask_id(2));
}
