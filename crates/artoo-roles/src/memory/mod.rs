//! R5, the memory: answers the Planner's queries, stores what R7 (the Solver) records, and requests writes to disk.
//!
//! The work is done by the engine of `artoo-mkct`; this machine translates between it and the bus. A record can be
//! recalled as soon as it is accepted, but it is on disk only when its write completes; failed writes are counted.

#[cfg(test)]
mod tests;
mod translate;
mod view;

pub use view::{MemoryView, RememberedIntent};

use artoo_mkct::{Engine, NewMegram, RecallQuery, Tag, record::Frame};
use artoo_proto::{EffectId, MegramDraft, MemoryQuery, MemoryRecall, TaskId};
use serde_json::Value;

use crate::limits::ADVICE_MAX;
use crate::machine::{Completion, Context, Machine, adapters};

/// The inputs of R5 (the memory). Only records of R7 (the Solver) and queries of R2 (the Planner) reach it.
#[derive(Debug)]
pub enum Input {
    /// R2 (the Planner) asks what memory knows about an intent.
    Query(MemoryQuery),
    /// R7 (the Solver) records an experience.
    Record(MegramDraft),
    /// A write of frames to disk completed, or failed with this message.
    Persisted(EffectId, Result<(), String>),
}

/// The effects of R5 (the memory). It can't write a prompt or ask a model.
#[derive(Debug)]
pub enum Effect {
    /// Answers a query with rules and advice from memory.
    Recall(MemoryRecall),
    /// Writes frames (entries of memory's journal, as JSON) to disk.
    Persist(EffectId, Vec<Value>),
}

/// The memory of one process.
#[derive(Debug)]
pub struct Memory {
    /// The memory engine; `None` if the store can't be used.
    engine: Option<Engine>,
    /// Number of records that were not accepted since the start.
    refused: u64,
    /// Number of failed writes since the start.
    unwritten: u64,
}

impl Memory {
    /// A memory that uses this engine, which was loaded from the journal.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine: Some(engine), refused: 0, unwritten: 0 }
    }

    /// A memory for a store that can't be used: it recalls nothing and refuses all records.
    #[must_use]
    pub fn unavailable() -> Self {
        Self { engine: None, refused: 0, unwritten: 0 }
    }

    /// Number of records that were not accepted, and number of writes that failed, since the start.
    #[must_use]
    pub fn losses(&self) -> (u64, u64) {
        (self.refused, self.unwritten)
    }

    /// Answers a query, and requests a write of the fact that rules were recalled.
    fn recall(&mut self, cx: &mut Context<'_>, query: MemoryQuery) -> Vec<Effect> {
        let Some(engine) = &mut self.engine else {
            return vec![Effect::Recall(nothing(&query.task_id, query.round))];
        };
        let question = RecallQuery::new(&query.intent).tools(&query.tools).targets(&query.targets).limit(ADVICE_MAX);
        let now_ms = cx.now.wall.as_millis();
        let recall = engine.recall(&question, now_ms);
        for frame in &recall.frames {
            // The frames only note that existing rules were recalled, so they can't fail to apply.
            drop(engine.apply(frame));
        }
        let total = u64::try_from(engine.len()).unwrap_or(u64::MAX);
        let mut effects = vec![Effect::Recall(translate::recall(&query, &recall, total))];
        effects.extend(persist(cx, &recall.frames));
        effects
    }

    /// Adds a record to memory and requests its write; a record that is not accepted is counted as refused.
    fn record(&mut self, cx: &mut Context<'_>, draft: MegramDraft) -> Vec<Effect> {
        let Some(engine) = &mut self.engine else {
            self.refused += 1;
            return Vec::new();
        };
        let mut megram =
            NewMegram::new(Tag::new(draft.space, draft.entity), translate::state(draft.state), draft.content);
        megram.failure_class = draft.failure_class.map(translate::failure_class);
        megram.task = Some(draft.task_id.to_string());
        match engine.write(megram, cx.now.wall.as_millis()) {
            Ok(frame) => persist(cx, &[frame]).into_iter().collect(),
            Err(_) => {
                self.refused += 1;
                Vec::new()
            }
        }
    }
}

/// A recall without rules and advice, for when memory can't be used or did not answer.
pub(crate) fn nothing(task_id: &TaskId, round: u32) -> MemoryRecall {
    MemoryRecall { task_id: task_id.clone(), round, sops: Vec::new(), advice: Vec::new(), megrams_total: 0 }
}

/// The effect that writes these frames to disk; `None` if there are no frames.
fn persist(cx: &mut Context<'_>, frames: &[Frame]) -> Option<Effect> {
    let frames: Vec<_> = frames.iter().filter_map(|frame| serde_json::to_value(frame).ok()).collect();
    (!frames.is_empty()).then(|| Effect::Persist(cx.ids.next_effect(), frames))
}

impl Machine for Memory {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match input {
            Input::Query(query) => self.recall(cx, query),
            Input::Record(draft) => self.record(cx, draft),
            Input::Persisted(_, Ok(())) => Vec::new(),
            Input::Persisted(_, Err(_)) => {
                self.unwritten += 1;
                Vec::new()
            }
        }
    }
}

adapters! {
    messages {
        MemoryQuery(query) => Input::Query(query.clone()),
        Megram(draft) => Input::Record(draft.clone()),
    }
    completions { (id, Completion::Persisted(result)) => Input::Persisted(id, result), }
    publishes { Recall }
    performs { Persist }
}
