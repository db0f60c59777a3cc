//! R5 on the bus: answers the planner's queries, keeps what R7 records, hands frames to be written.
//!
//! The engine is `artoo-mkct`'s; this machine only translates. A record is visible as soon as it is accepted and on
//! disk when its write completes; the two are not the same, and a failed write is said.

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

/// What R5 may be told. Only R7's records and R2's queries reach it.
#[derive(Debug)]
pub enum Input {
    /// R2 asks.
    Query(MemoryQuery),
    /// R7 records.
    Record(MegramDraft),
    /// Frames are on disk, or not.
    Persisted(EffectId, Result<(), String>),
}

/// What R5 may do. It has no way to word a prompt or ask a model.
#[derive(Debug)]
pub enum Effect {
    /// What is known.
    Recall(MemoryRecall),
    /// Write frames.
    Persist(EffectId, Vec<Value>),
}

/// The memory of one process.
#[derive(Debug)]
pub struct Memory {
    engine: Option<Engine>,
    refused: u64,
    unwritten: u64,
}

impl Memory {
    /// A memory on this engine, as replayed from its journal.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine: Some(engine), refused: 0, unwritten: 0 }
    }

    /// A memory that knows nothing and keeps nothing, for when the store can't be used.
    #[must_use]
    pub fn unavailable() -> Self {
        Self { engine: None, refused: 0, unwritten: 0 }
    }

    /// Records that were not taken, and writes that failed, since the start.
    #[must_use]
    pub fn losses(&self) -> (u64, u64) {
        (self.refused, self.unwritten)
    }

    fn recall(&mut self, cx: &mut Context<'_>, query: MemoryQuery) -> Vec<Effect> {
        let Some(engine) = &mut self.engine else {
            return vec![Effect::Recall(nothing(&query.task_id, query.round))];
        };
        let question = RecallQuery::new(&query.intent).tools(&query.tools).targets(&query.targets).limit(ADVICE_MAX);
        let now_ms = cx.now.wall.as_millis();
        let recall = engine.recall(&question, now_ms);
        for frame in &recall.frames {
            // A recalled rule stands, so that it was recalled fits.
            drop(engine.apply(frame));
        }
        let total = u64::try_from(engine.len()).unwrap_or(u64::MAX);
        let mut effects = vec![Effect::Recall(translate::recall(&query, &recall, total))];
        effects.extend(persist(cx, &recall.frames));
        effects
    }

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

/// A recall without any advice: memory can't be used or did not answer.
pub(crate) fn nothing(task_id: &TaskId, round: u32) -> MemoryRecall {
    MemoryRecall { task_id: task_id.clone(), round, sops: Vec::new(), advice: Vec::new(), megrams_total: 0 }
}

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
