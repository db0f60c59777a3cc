//! Sample results for tests of the display.

use artoo_proto::{Ending, FinalResult, Loss, PrevDirective, TaskId};

/// A task result for tests, with this ending and all other fields empty.
pub(crate) fn result_with(ending: Ending) -> FinalResult {
    FinalResult {
        task_id: TaskId::try_from("a_test-00000000-0000-4000-8000-000000000001".to_owned()).unwrap(),
        summary: String::new(),
        output: String::new(),
        answers: Vec::new(),
        unverified: Vec::new(),
        loss: Loss::default(),
        grad_l: 0.0,
        replans: 0,
        prev_directive: PrevDirective::Init,
        decision: String::new(),
        ending,
        delivered_round: 0,
        suspect: false,
        criteria: Vec::new(),
        denied: Vec::new(),
        assumptions: Vec::new(),
        next_steps: Vec::new(),
        coverage: None,
        model_words: None,
        skill: None,
    }
}
