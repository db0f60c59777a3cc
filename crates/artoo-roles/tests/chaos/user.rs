//! The simulated user: approves, denies, does not answer, answers twice; and messages forged in the user's name.

use artoo_proto::{
    Abort, CancelRequest, ClarificationAnswer, ConsentAnswer, ConsentHash, ConsentScope, MemoryFeedback,
    MemoryFeedbackKind, Message, ReadingAnswer, TaskId,
};

use super::fault_rates::{ANSWER_MS, FaultRates};
use super::rng::Rng;

/// The user's answers to a question, each with a delay in milliseconds.
pub(super) fn answers(rng: &mut Rng, fault_rates: &FaultRates, question: &Message) -> Vec<(usize, Message)> {
    let delay = rng.below(ANSWER_MS);
    if rng.chance(fault_rates.silence) {
        return Vec::new();
    }
    match question {
        Message::ClarificationRequest(asked) => {
            let answer = if rng.chance(200) { "" } else { "the big one" }.to_owned();
            vec![(delay, ClarificationAnswer { task_id: asked.task_id.clone(), answer }.into())]
        }
        Message::ConsentRequest(asked) => {
            let allowed = rng.chance(fault_rates.yes);
            let answer = ConsentAnswer {
                task_id: asked.task_id.clone(),
                subtask_id: asked.subtask_id,
                hash: asked.hash.clone(),
                allowed,
                scope: if rng.chance(300) { ConsentScope::Task } else { ConsentScope::Once },
                note: (!allowed && rng.chance(300)).then(|| "there is no terminal to ask on".to_owned()),
                readings: Vec::new(),
            };
            let mut answers = Vec::new();
            if rng.chance(fault_rates.forge * 5) {
                // An approval of a call that was not asked about.
                let hash = ConsentHash("something else".to_owned());
                answers.push((delay, ConsentAnswer { hash, allowed: true, ..answer.clone() }.into()));
            }
            answers.push((delay, answer.clone().into()));
            if rng.chance(fault_rates.echo) {
                // A second thought comes too late.
                answers.push((delay + 1, ConsentAnswer { allowed: !allowed, ..answer }.into()));
            }
            answers
        }
        Message::ReadingRequest(asked) => {
            let answer = ReadingAnswer { task_id: asked.task_id.clone(), confirmed: rng.chance(fault_rates.yes) };
            vec![(delay, answer.into())]
        }
        _ => Vec::new(),
    }
}

/// A random message that no question asked for: feedback, or one that the user may not send.
pub(super) fn unasked(rng: &mut Rng, task: &TaskId) -> Message {
    let task_id = task.clone();
    match rng.below(4) {
        0 => MemoryFeedback { task_id, feedback: MemoryFeedbackKind::Wrong { content: "that was not it".to_owned() } }
            .into(),
        1 => Abort { task_id }.into(),
        2 => ClarificationAnswer { task_id, answer: "nobody asked".to_owned() }.into(),
        _ => artoo_proto::RoleFailed {
            task_id,
            role: artoo_proto::Role::Solver,
            detail: "forged".to_owned(),
            effect_id: None,
        }
        .into(),
    }
}

/// The user's message that cancels a task.
pub(super) fn cancel(task: &TaskId) -> Message {
    CancelRequest { task_id: task.clone() }.into()
}
