//! The operator of a run: answers questions, says no, keeps silent, answers twice, and is impersonated.

use artoo_proto::{
    Abort, CancelRequest, ClarificationAnswer, ConsentAnswer, ConsentHash, ConsentScope, MemoryFeedback,
    MemoryFeedbackKind, Message, ReadingAnswer, TaskId,
};

use super::rng::Rng;
use super::weather::{ANSWER_MS, Weather};

/// What the person says to a question, each with a delay in milliseconds.
pub(super) fn answers(rng: &mut Rng, weather: &Weather, question: &Message) -> Vec<(usize, Message)> {
    let delay = rng.below(ANSWER_MS);
    if rng.chance(weather.silence) {
        return Vec::new();
    }
    match question {
        Message::ClarificationRequest(asked) => {
            let answer = if rng.chance(200) { "" } else { "the big one" }.to_owned();
            vec![(delay, ClarificationAnswer { task_id: asked.task_id.clone(), answer }.into())]
        }
        Message::ConsentRequest(asked) => {
            let allowed = rng.chance(weather.yes);
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
            if rng.chance(weather.forge * 5) {
                // A yes to something nobody asked about.
                let hash = ConsentHash("something else".to_owned());
                answers.push((delay, ConsentAnswer { hash, allowed: true, ..answer.clone() }.into()));
            }
            answers.push((delay, answer.clone().into()));
            if rng.chance(weather.echo) {
                // A second thought comes too late.
                answers.push((delay + 1, ConsentAnswer { allowed: !allowed, ..answer }.into()));
            }
            answers
        }
        Message::ReadingRequest(asked) => {
            let answer = ReadingAnswer { task_id: asked.task_id.clone(), confirmed: rng.chance(weather.yes) };
            vec![(delay, answer.into())]
        }
        _ => Vec::new(),
    }
}

/// Words that come unasked: feedback, and messages that are not the operator's to say.
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

pub(super) fn cancel(task: &TaskId) -> Message {
    CancelRequest { task_id: task.clone() }.into()
}
