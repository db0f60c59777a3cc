//! Replaying a record: the recorded inputs again, compared with the recorded effects.
#![expect(clippy::wildcard_enum_match_arm, reason = "a replay looks for the few messages it needs")]

use std::collections::BTreeMap;

use artoo_bus::Observed;
use artoo_proto::{EffectId, FinalResult, Message, Now, Role, Timestamp, Usage};
use serde_json::Value;

use super::format::{Did, Frame};
use super::read::Record;
use crate::machine::Work;
use crate::memory::Memory;
use crate::system::{self, Effect, Input, System};

/// The result of replaying a record: the System after the recorded inputs, and the effects and messages it waits for.
#[derive(Debug)]
pub struct Replay {
    /// The System, as it was when the record ended.
    pub system: System,
    /// Work that was started and has not completed, with the time it was started at, in order.
    pub open: Vec<(EffectId, Work, Now)>,
    /// Questions to the user without an answer, in order.
    pub questions: Vec<Message>,
    /// Writes of memory that the replay asked for and that the store does not have.
    pub writes: Vec<(EffectId, Vec<Value>)>,
    /// The task's result; `None` if the replayed inputs did not end it.
    pub result: Option<FinalResult>,
    /// Events of the bus in order.
    pub events: Vec<Observed>,
    /// Clock readings of the last input.
    pub last: Now,
    /// Model calls and tokens by role.
    pub usage: BTreeMap<Role, Usage>,
    /// Number of inputs replayed.
    pub inputs: usize,
    /// The first effect that differs from the recorded one; the inputs after it were not replayed.
    pub difference: Option<Difference>,
}

/// The first effect of a replay that differs from the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the input, from 1.
    pub input: usize,
    /// When it was taken in.
    pub at: Timestamp,
    /// What was recorded there; `None` if nothing was.
    pub recorded: Option<Did>,
    /// What was done now; `None` if nothing was.
    pub now: Option<Did>,
}

/// Replays a task record on a new System; memory's answers are taken from the record.
#[must_use]
pub fn replay(record: &Record, memory: Memory) -> Replay {
    let recalls = record.said().filter_map(|(_, message)| match message {
        Message::MemoryRecall(recall) => Some(recall.clone()),
        _ => None,
    });
    let memory = memory.replaying(recalls.collect());
    let mut replay = Replay {
        system: System::new(record.begun.config.clone(), memory),
        open: Vec::new(),
        questions: Vec::new(),
        writes: Vec::new(),
        result: None,
        events: Vec::new(),
        last: Now { wall: record.begun.at, uptime_ms: 0 },
        usage: BTreeMap::new(),
        inputs: 0,
        difference: None,
    };
    let mut frames = record.frames.iter().peekable();
    while let Some(frame) = frames.next() {
        let Frame::Input { now, input } = frame else { continue };
        let did = replay.step(*now, input);
        // The frames of one input: the messages it caused, then its effects.
        let recorded = loop {
            match frames.peek() {
                Some(Frame::Did { effects }) => break Some(effects),
                None | Some(Frame::Input { .. }) => break None,
                Some(_) => drop(frames.next()),
            }
        };
        if let Some(recorded) = recorded
            && let Some(at) = (0..recorded.len().max(did.len())).find(|at| recorded.get(*at) != did.get(*at))
        {
            let (recorded, done) = (recorded.get(at).cloned(), did.get(at).cloned());
            replay.difference = Some(Difference { input: replay.inputs, at: now.wall, recorded, now: done });
            break;
        }
    }
    replay.system.end_replay();
    replay
}

impl Replay {
    /// Passes an input to the System and notes which effects and answers it waits for afterwards.
    fn step(&mut self, now: Now, input: &Input) -> Vec<Did> {
        self.inputs += 1;
        self.last = now;
        match input {
            Input::Completed { effect_id, .. } => self.open.retain(|(id, ..)| id != effect_id),
            Input::Operator { message } => self.questions.retain(|question| !answers(message, question)),
            Input::MemoryChanged { .. } => {}
        }
        let effects = self.system.step(now, input.clone());
        let did = effects.iter().filter_map(Did::of).collect();
        for effect in effects {
            match effect {
                Effect::Perform { effect_id, work: Work::Persist { frames }, .. } => {
                    self.writes.push((effect_id, frames));
                }
                Effect::Perform { effect_id, work, .. } => self.open.push((effect_id, work, now)),
                Effect::Deliver { message: Message::FinalResult(result), .. } => self.result = Some(result),
                Effect::CancelTask { .. } => {
                    self.open.clear();
                    self.questions.clear();
                }
                Effect::Deliver { message, .. } => self.questions.push(message),
                Effect::Observe { at, event } => {
                    system::add_usage(&mut self.usage, &event);
                    self.events.push(Observed { n: self.events.len() as u64, at, event });
                }
                Effect::Decided { .. } => {}
            }
        }
        did
    }
}

/// Whether a message of the user answers this question (an approval, a clarification or a question about readings).
fn answers(message: &Message, question: &Message) -> bool {
    match (message, question) {
        (Message::ConsentAnswer(answer), Message::ConsentRequest(asked)) => {
            answer.subtask_id == asked.subtask_id && answer.hash == asked.hash
        }
        (Message::ClarificationAnswer(_), Message::ClarificationRequest(_))
        | (Message::ReadingAnswer(_), Message::ReadingRequest(_)) => true,
        _ => false,
    }
}
