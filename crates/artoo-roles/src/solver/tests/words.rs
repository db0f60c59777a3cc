//! Tests of the ending text that a model writes for a partly done task.

use super::*;

/// R7 with a task that is abandoned after four rounds, each of which met one criterion.
fn partly_done() -> (Bench<Solver>, Vec<RoleEffect>) {
    let mut bench = begun();
    for round in 0..3 {
        bench.step(Input::FellShort(missed(round, &format!("/{round}"))));
        next(&mut bench, round + 1);
    }
    let effects = bench.step(Input::FellShort(missed(3, "/3")));
    (bench, effects)
}

#[test]
fn partly_done_task_has_models_ending_text() {
    let (mut bench, effects) = partly_done();
    let Message::WordingRequest(request) = only(&effects) else { panic!("{effects:#?}") };
    assert!(!request.met.is_empty() && !request.unmet.is_empty() && !request.tried.is_empty(), "{request:#?}");
    let words = ModelWords { summary: "half".to_owned(), next_steps: vec!["ask for the rest".to_owned()] };
    let wording = Wording { task_id: task_id(), words: Some(words.clone()) };
    let result = finished(&bench.step(Input::Worded(wording)));
    assert_eq!(result.model_words, Some(Box::new(words)));
    assert_eq!(reason(&result), &AbandonReason::MaxReplans);
    assert!(!result.next_steps.is_empty() && !result.summary.contains("half"), "code's words stay beside them");
}

#[test]
fn task_ends_without_late_ending_text() {
    let timer = |effects: &[RoleEffect]| {
        effects.iter().find_map(|e| if let RoleEffect::Perform(id, _) = e { Some(*id) } else { None }).unwrap()
    };
    let endings: [fn(EffectId) -> Input; 3] =
        [Input::TimerFired, |_| Input::Cancel, |_| Input::Worded(Wording { task_id: task_id(), words: None })];
    for ending in endings {
        let (mut bench, effects) = partly_done();
        let result = finished(&bench.step(ending(timer(&effects))));
        assert_eq!((reason(&result), &result.model_words), (&AbandonReason::MaxReplans, &None));
    }
}

#[test]
fn ending_text_needs_a_verified_part() {
    let mut bench = begun();
    let none = |round: u32| {
        let mut request = missed(round, &format!("/{round}"));
        request.outcomes.truncate(1);
        request
    };
    for round in 0..3 {
        bench.step(Input::FellShort(none(round)));
        next(&mut bench, round + 1);
    }
    finished(&bench.step(Input::FellShort(none(3))));
}
