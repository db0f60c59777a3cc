//! Tests of R5, the memory, as a machine: queries, records and failed writes.

use artoo_mkct::{
    Engine,
    record::{path_tag, tool_tag, via_tag},
};
use artoo_proto::{
    FailureClass, MacroState, MegramDraft, MemoryAction, MemoryCorrection, MemoryFeedbackKind, MemoryQuery,
    MemoryRecall, Message, TaskId,
};

use super::{Input, Memory};
use crate::limits::ADVICE_MAX;
use crate::machine::{RoleEffect, Work};
use crate::testing::bench::{Bench, only, said, task_id};

/// R5 (the memory) without records, on a bench.
fn bench() -> Bench<Memory> {
    Bench::new(Memory::new(Engine::new()))
}

/// A record under a tag with this state.
fn draft(space: &str, entity: &str, state: MacroState) -> MegramDraft {
    MegramDraft {
        space: space.to_owned(),
        entity: entity.to_owned(),
        content: "what happened".to_owned(),
        state,
        failure_class: Some(FailureClass::Logical),
        task_id: task_id(),
        intent: "how many reports are there".to_owned(),
        lesson: None,
    }
}

/// The same record for another task.
fn again(draft: MegramDraft) -> MegramDraft {
    MegramDraft { task_id: TaskId::new("another task", uuid::Uuid::from_u128(2)), ..draft }
}

/// A query about an intent.
fn query() -> MemoryQuery {
    MemoryQuery {
        task_id: task_id(),
        round: 2,
        intent: "how many reports are there".to_owned(),
        tools: vec!["glob".to_owned(), "shell".to_owned()],
        targets: vec!["/home/u/docs".to_owned()],
    }
}

/// The recall that memory publishes.
fn recall(effects: &[RoleEffect]) -> MemoryRecall {
    let Message::MemoryRecall(recall) = only(effects) else { panic!("{effects:#?}") };
    recall.clone()
}

/// The answer to a query has the round of the query, and is empty for an empty memory.
#[doc = "holds: invariant 18"]
#[test]
fn recall_is_data_with_its_round_number() {
    let recall = recall(&bench().step(Input::Query(query())));
    assert_eq!((recall.round, recall.advice.len(), recall.sops.len(), recall.megrams_total), (2, 0, 0, 0));
}

#[doc = "holds: design M7, M8"]
#[test]
fn recall_finds_approach_and_exact_pair() {
    let mut bench = bench();
    let intent = artoo_mkct::record::intent_tag("how many reports are there");
    let approach = draft(&intent, &via_tag(&["glob"]), MacroState::Abandon);
    let pair = draft(&tool_tag("glob"), &path_tag("/home/u/docs"), MacroState::ChangeApproach);
    for draft in [approach.clone(), pair.clone()] {
        bench.step(Input::Record(draft));
    }
    let once = recall(&bench.step(Input::Query(query())));
    assert!(once.advice.iter().all(|advice| advice.potentials.action == MemoryAction::Caution), "{once:#?}");
    for draft in [approach, pair] {
        bench.step(Input::Record(again(draft)));
    }
    let found = recall(&bench.step(Input::Query(query())));
    assert_eq!(found.megrams_total, 4);
    let action = |entity: &str| {
        let advice = found.advice.iter().find(|advice| advice.entity == entity);
        advice.unwrap_or_else(|| panic!("{entity}: {found:#?}")).potentials.action
    };
    assert_eq!((action("via:glob"), action("path:/home/u/docs")), (MemoryAction::Avoid, MemoryAction::Avoid));
    assert_eq!(action("*"), MemoryAction::Caution, "m7: a tool's sum advises caution at most");
    assert!(found.advice.len() + found.sops.len() <= ADVICE_MAX, "m16");
}

/// A new record is recalled before its write ends; failed writes and invalid records are counted.
#[doc = "holds: invariant 17; design M14"]
#[test]
fn records_are_visible_before_written() {
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

/// A memory that can't be used answers queries with an empty recall and counts every record as refused.
#[test]
fn absent_memory_answers_and_counts_refused_records() {
    let mut bench = Bench::new(Memory::unavailable());
    assert!(bench.step(Input::Record(draft("tool:glob", "path:/x", MacroState::Accept))).is_empty());
    assert_eq!(recall(&bench.step(Input::Query(query()))).round, 2);
    assert_eq!(bench.machine.losses(), (1, 0));
}

#[test]
fn memory_is_restored_from_stored_frames() {
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

/// A lesson from a correction in a task.
fn lesson(task: u128, wrong: &str) -> MegramDraft {
    MegramDraft {
        task_id: TaskId::new("a task", uuid::Uuid::from_u128(task)),
        lesson: Some(artoo_proto::Lesson {
            criterion: "the number is right".to_owned(),
            wrong: wrong.to_owned(),
            tool: "glob".to_owned(),
            input: "{}".to_owned(),
        }),
        failure_class: None,
        ..draft("intent:how_many_reports", "env:local", MacroState::Accept)
    }
}

/// The record that R7 (the Solver) writes at the end of a task.
fn ended(task: u128, state: MacroState, failure_class: Option<FailureClass>) -> MegramDraft {
    MegramDraft {
        task_id: TaskId::new("a task", uuid::Uuid::from_u128(task)),
        failure_class,
        ..draft("intent:how_many_reports", "env:local", state)
    }
}

/// The recall for a query of a task.
fn recall_of(bench: &mut Bench<Memory>, task: u128) -> MemoryRecall {
    let query = MemoryQuery { task_id: TaskId::new("a task", uuid::Uuid::from_u128(task)), ..query() };
    recall(&bench.step(Input::Query(query)))
}

/// A lesson is recalled until tasks it was recalled for fail by their own fault; an outage does not count.
#[test]
fn lesson_is_recalled_until_it_fails() {
    let mut bench = bench();
    bench.step(Input::Record(lesson(2, "a level was missing")));
    let known = recall_of(&mut bench, 3).lessons;
    assert_eq!(known.len(), 1);
    assert_eq!(
        (known[0].lesson.wrong.as_str(), known[0].intent.as_str()),
        ("a level was missing", "how many reports are there")
    );
    bench.step(Input::Record(ended(3, MacroState::Abandon, Some(FailureClass::Environmental))));
    assert_eq!(recall_of(&mut bench, 4).lessons.len(), 1, "the environment is not the lesson's fault");
    for task in 4..7 {
        recall_of(&mut bench, task);
        bench.step(Input::Record(ended(task, MacroState::Abandon, Some(FailureClass::Logical))));
    }
    assert!(recall_of(&mut bench, 8).lessons.is_empty());
}

#[test]
fn new_lesson_replaces_a_corrected_one() {
    let mut bench = bench();
    bench.step(Input::Record(lesson(2, "old")));
    for task in 3..5 {
        recall_of(&mut bench, task);
        bench.step(Input::Record(lesson(task, "new")));
        bench.step(Input::Record(ended(task, MacroState::Accept, None)));
    }
    let known = recall_of(&mut bench, 6).lessons;
    assert_eq!(known.iter().map(|known| known.lesson.wrong.as_str()).collect::<Vec<_>>(), ["new"]);
}

/// Journal entries that another writer added are recalled at once, and an entry passed twice counts once.
#[test]
fn dreamer_changes_are_visible_immediately() {
    let mut known = bench();
    let effects = known.step(Input::Record(lesson(2, "a level was missing")));
    let [RoleEffect::Perform(_, Work::Persist { frames })] = &effects[..] else { panic!("{effects:#?}") };
    let mut other = bench();
    other.machine.changed(frames.clone());
    other.machine.changed(frames.clone());
    let recalled = recall_of(&mut other, 3);
    assert_eq!((recalled.lessons.len(), recalled.megrams_total), (1, 1), "a frame counts once");
}

/// After the user calls a task's result wrong, memory no longer advises to prefer its approach; repeated feedback
/// counts once.
#[test]
fn corrected_result_is_not_preferred() {
    let mut bench = bench();
    let intent = artoo_mkct::record::intent_tag("how many reports are there");
    let worked = MegramDraft { failure_class: None, ..draft(&intent, &via_tag(&["glob"]), MacroState::Accept) };
    bench.step(Input::Record(worked.clone()));
    let action = |bench: &mut Bench<Memory>| {
        let found = recall(&bench.step(Input::Query(query())));
        found.advice.iter().find(|advice| advice.entity == "via:glob").map(|advice| advice.potentials.action)
    };
    assert_eq!(action(&mut bench), Some(MemoryAction::Exploit));
    let wrong = |task_id: TaskId| {
        let feedback = MemoryFeedbackKind::Wrong { content: "one was a link".to_owned() };
        Input::Correct(MemoryCorrection { task_id, feedback })
    };
    assert!(bench.step(wrong(TaskId::new("unknown", uuid::Uuid::from_u128(9)))).is_empty());
    let before = bench.machine.records();
    assert!(!bench.step(wrong(worked.task_id.clone())).is_empty());
    assert_ne!(action(&mut bench), Some(MemoryAction::Exploit));
    assert!(bench.machine.records() > before);
    assert!(bench.step(wrong(worked.task_id)).is_empty(), "the same feedback counts once");
}

#[test]
fn matching_user_note_is_recalled() {
    let mut bench = bench();
    let note = MemoryFeedbackKind::Remember { content: "reports are in ~/docs/reports".to_owned() };
    bench.step(Input::Correct(MemoryCorrection { task_id: task_id(), feedback: note }));
    assert_eq!(recall(&bench.step(Input::Query(query()))).notes, ["reports are in ~/docs/reports"]);
}

/// A text that the user adopted at level T is among the notes of a recall.
#[test]
fn adopted_habit_reaches_every_plan() {
    let mut engine = Engine::new();
    let tag = artoo_mkct::Tag::new("habit:count", "via:glob");
    engine.write_thinking(&tag, "count with glob", 1).unwrap();
    let mut bench = Bench::new(Memory::new(engine));
    assert_eq!(recall(&bench.step(Input::Query(query()))).notes, ["count with glob"]);
}
