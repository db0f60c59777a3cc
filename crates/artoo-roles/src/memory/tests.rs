//! Tests of R5, the memory, as a machine: queries, records and failed writes.

use artoo_mkct::{
    Engine,
    record::{path_tag, tool_tag, via_tag},
};
use artoo_proto::{FailureClass, MacroState, MegramDraft, MemoryAction, MemoryQuery, MemoryRecall, Message};

use super::{Input, Memory};
use crate::limits::ADVICE_MAX;
use crate::machine::{RoleEffect, Work};
use crate::testing::bench::{Bench, only, said, task_id};

fn bench() -> Bench<Memory> {
    Bench::new(Memory::new(Engine::new()))
}

fn draft(space: &str, entity: &str, state: MacroState) -> MegramDraft {
    MegramDraft {
        space: space.to_owned(),
        entity: entity.to_owned(),
        content: "what happened".to_owned(),
        state,
        failure_class: Some(FailureClass::Logical),
        task_id: task_id(),
    }
}

fn query() -> MemoryQuery {
    MemoryQuery {
        task_id: task_id(),
        round: 2,
        intent: "how many reports are there".to_owned(),
        tools: vec!["glob".to_owned(), "shell".to_owned()],
        targets: vec!["/home/u/docs".to_owned()],
    }
}

fn recall(effects: &[RoleEffect]) -> MemoryRecall {
    let Message::MemoryRecall(recall) = only(effects) else { panic!("{effects:#?}") };
    recall.clone()
}

#[doc = "holds: invariant 18"]
#[test]
fn a_recall_is_data_and_repeats_the_round_that_asked() {
    let recall = recall(&bench().step(Input::Query(query())));
    assert_eq!((recall.round, recall.advice.len(), recall.sops.len(), recall.megrams_total), (2, 0, 0, 0));
}

#[doc = "holds: design M7, M8"]
#[test]
fn what_is_recorded_is_found_again_by_approach_and_by_exact_pair() {
    let mut bench = bench();
    let intent = artoo_mkct::record::intent_tag("how many reports are there");
    bench.step(Input::Record(draft(&intent, &via_tag(&["glob"]), MacroState::Abandon)));
    bench.step(Input::Record(draft(&tool_tag("glob"), &path_tag("/home/u/docs"), MacroState::ChangeApproach)));
    let found = recall(&bench.step(Input::Query(query())));
    assert_eq!(found.megrams_total, 2);
    let action = |entity: &str| {
        let advice = found.advice.iter().find(|advice| advice.entity == entity);
        advice.unwrap_or_else(|| panic!("{entity}: {found:#?}")).potentials.action
    };
    assert_eq!((action("via:glob"), action("path:/home/u/docs")), (MemoryAction::Avoid, MemoryAction::Avoid));
    assert_eq!(action("*"), MemoryAction::Caution, "m7: a tool's sum advises caution at most");
    assert!(found.advice.len() + found.sops.len() <= ADVICE_MAX, "m16");
}

#[doc = "holds: invariant 17; design M14"]
#[test]
fn a_record_is_visible_before_it_is_on_disk_and_a_lost_one_is_counted() {
    let mut bench = bench();
    let effects = bench.step(Input::Record(draft("tool:glob", "path:/x", MacroState::ChangePath)));
    assert!(said(&effects).is_empty(), "nobody waits for an answer");
    let [RoleEffect::Perform(id, Work::Persist { frames })] = &effects[..] else { panic!("{effects:#?}") };
    assert_eq!(frames.len(), 1);
    assert_eq!(recall(&bench.step(Input::Query(query()))).megrams_total, 1);
    assert!(bench.step(Input::Persisted(*id, Err("disk full".to_owned()))).is_empty());
    assert_eq!(bench.machine.losses(), (0, 1));
    let refused = bench.step(Input::Record(draft("", "", MacroState::ChangePath)));
    assert!(refused.is_empty());
    assert_eq!(bench.machine.losses(), (1, 1));
}

#[test]
fn a_memory_that_is_not_there_answers_at_once_and_counts_what_it_could_not_keep() {
    let mut bench = Bench::new(Memory::unavailable());
    assert!(bench.step(Input::Record(draft("tool:glob", "path:/x", MacroState::Accept))).is_empty());
    assert_eq!(recall(&bench.step(Input::Query(query()))).round, 2);
    assert_eq!(bench.machine.losses(), (1, 0));
}

#[test]
fn what_was_persisted_brings_the_memory_back() {
    let mut first = bench();
    let effects = first.step(Input::Record(draft("tool:glob", "path:/home/u/docs", MacroState::ChangeApproach)));
    let [RoleEffect::Perform(_, Work::Persist { frames })] = &effects[..] else { panic!("{effects:#?}") };
    let mut engine = Engine::new();
    for frame in frames {
        engine.apply(&serde_json::from_value(frame.clone()).unwrap()).unwrap();
    }
    let again = recall(&Bench::new(Memory::new(engine)).step(Input::Query(query())));
    assert_eq!(again, recall(&first.step(Input::Query(query()))));
}
